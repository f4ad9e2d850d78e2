"""Runs the application on a socket."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from collections.abc import Callable

import uvicorn
from fastapi import FastAPI

from equilibrist.errors import NetworkError
from equilibrist.stopping import Stop, noted_signals
from equilibrist.storage.ownership import owned
from equilibrist.web.app import create_app
from equilibrist.web.settings import Settings


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens at an address; port 0 is any free one."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        door = socket.create_server((host, port), family=family, backlog=256)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise NetworkError(f"cannot listen on {host[:80]} port {port}: {reason}") from None
    # Connections inherit it; without it the end of an answer waits 40 ms for the browser.
    door.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return door


def address(door: socket.socket, host: str) -> str:
    """Return the address of a page that is served by a socket."""
    name = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{name}:{door.getsockname()[1]}/"


class _WithoutCutOff(logging.Filter):
    """Drops what is logged of requests that were cut off when the server ended."""

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        is_count = str(record.msg).startswith("Cancel %s running task")
        return not (is_count or isinstance(error, asyncio.CancelledError))


class _Server(uvicorn.Server):
    """A server that says when it answers and when it is about to end; signals are its caller's."""

    def __init__(
        self, config: uvicorn.Config, started: Callable[[], None], ending: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self._say_started, self._say_ending = started, ending

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then say so."""
        await super().startup(sockets=sockets)
        if self.started:
            self._say_started()

    def capture_signals(self) -> contextlib.AbstractContextManager[None]:  # type: ignore[override]
        """Leave the handlers of signals as they are."""
        return contextlib.nullcontext()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Say so, so that streams end, then shut down."""
        self._say_ending()
        await super().shutdown(sockets=sockets)


def serve(
    settings: Settings,
    door: socket.socket,
    started: Callable[[], None],
    ending: Callable[[], None] = lambda: None,
) -> Stop:
    """Answer requests until a signal ends the server; return the signal, if there was one.

    `started` is called when the server answers, `ending` at the signal; a second one ends the
    process at once. Raises `StorageError` if another server uses the folder of tables or of jobs.
    """
    app = create_app(settings)
    server = _Server(_config(app, settings), started, app.state.jobs.end)

    def end() -> None:
        server.should_exit = True
        ending()

    logging.getLogger("uvicorn.error").addFilter(_WithoutCutOff())
    jobs = None if settings.is_public else settings.jobs
    with owned(settings.tables), owned(jobs), noted_signals(end) as stop:
        server.run(sockets=[door])
    return stop


def _config(app: FastAPI, settings: Settings) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=settings.is_public,  # only those of a proxy on this machine are believed
        ws="websockets-sansio",
        timeout_graceful_shutdown=3,
    )

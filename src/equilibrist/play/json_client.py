"""A client that sends JSON to an HTTP server and receives JSON, with total time limits.

Every problem is one `NetworkError`; if asking again may help, it is a `LostConnectionError`. An
answer may have 64 KiB and must arrive within a total time, however it is split.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import socket
import ssl
import threading
from collections.abc import Iterator
from typing import Any, Self
from urllib.parse import urlsplit

from equilibrist.cards.numbers import shown
from equilibrist.errors import NetworkError, ParseError
from equilibrist.version import __version__

MOST_ANSWER = 65536  # bytes
_CONNECTING = 10.0  # seconds


class LostConnectionError(NetworkError):
    """A request whose answer did not arrive; the server may have acted on it."""


class JsonClient:
    """A connection to a server, opened when it is needed and again after an error.

    Example:
        >>> JsonClient("https://slumbot.com").address
        'https://slumbot.com'
        >>> JsonClient("ftp://slumbot.com")
        Traceback (most recent call last):
          ...
        equilibrist.errors.ParseError: 'ftp://slumbot.com' is not an address of a server, such as
        https://slumbot.com or http://127.0.0.1:8081
    """

    def __init__(self, url: str, seconds: float = 60.0) -> None:
        """Set up a client; `seconds` is the total time for each answer."""
        self.seconds = seconds
        self._host, self._port, self._is_secure = _split(url)
        scheme = "https" if self._is_secure else "http"
        name = f"[{self._host}]" if ":" in self._host else self._host
        self.address = f"{scheme}://{name}" + (f":{self._port}" if self._port else "")
        self._link: http.client.HTTPConnection | None = None

    def connect(self) -> None:
        """Open the connection; raise `LostConnectionError` if nobody answers."""
        self._connect()

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Send a JSON object and return the one that the server answers."""
        link = self._connect()
        try:
            with _limited(link, self.seconds) as is_late:
                link.request("POST", path, json.dumps(body), _HEADERS)
                answer = link.getresponse()
                data = answer.read(MOST_ANSWER + 1)
                is_cut = not data and answer.getheader("Content-Length") is None
                if is_cut or (answer.length and len(data) <= MOST_ANSWER):
                    raise http.client.IncompleteRead(data, answer.length)
        except (OSError, http.client.HTTPException, ValueError) as error:
            self.close()
            reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
            if is_late():
                reason = f"no answer in {self.seconds:.3g} s"
            raise LostConnectionError(f"{self.address} does not answer: {reason}") from None
        if answer.will_close or len(data) > MOST_ANSWER:
            self.close()
        return self._read(path, answer, data)

    def close(self) -> None:
        """Close the connection."""
        if self._link is not None:
            self._link.close()
            self._link = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _connect(self) -> http.client.HTTPConnection:
        """Return the open connection, or open one."""
        if self._link is not None:
            return self._link
        seconds = min(self.seconds, _CONNECTING)
        kind = http.client.HTTPSConnection if self._is_secure else http.client.HTTPConnection
        link = kind(self._host, self._port, timeout=seconds)
        try:
            link.connect()
            link.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            link.sock.settimeout(self.seconds)
        except (OSError, ValueError) as error:
            link.close()
            reason = getattr(error, "strerror", None) or str(error)
            if isinstance(error, ssl.SSLError):
                reason = f"no secure connection ({error.reason or reason}); is it http://?"
            raise LostConnectionError(
                f"nobody answers at {self.address}: {reason}", value=self.address
            ) from None
        self._link = link
        return link

    def _read(self, path: str, answer: http.client.HTTPResponse, data: bytes) -> dict[str, Any]:
        """Return the object of an answer; one with `error_msg` may have any status."""
        kind = answer.getheader("Content-Type", "no type").partition(";")[0]
        try:
            found = json.loads(data) if len(data) <= MOST_ANSWER else None
        except (ValueError, RecursionError):
            found = None
        if isinstance(found, dict) and (answer.status == 200 or "error_msg" in found):
            return found
        if answer.status >= 500:
            raise LostConnectionError(f"{self.address}{path} answers with status {answer.status}")
        what = f"status {answer.status} and {shown(kind)}"
        raise NetworkError(
            f"{self.address}{path} answers with {what} instead of a JSON object: is it a server of "
            "Slumbot's API?",
            value=self.address,
        )


_HEADERS = {"Content-Type": "application/json", "User-Agent": f"equilibrist/{__version__}"}


@contextlib.contextmanager
def _limited(link: http.client.HTTPConnection, seconds: float) -> Iterator[Any]:
    """Shut a connection down after some seconds; yields a function: whether that happened."""
    late = threading.Event()
    # Another descriptor of the connection: `link` closes its own before the answer is read.
    twin = socket.socket(fileno=os.dup(link.sock.fileno()))

    def cut() -> None:
        late.set()
        with contextlib.suppress(OSError):
            twin.shutdown(socket.SHUT_RDWR)

    timer = threading.Timer(seconds, cut)
    timer.daemon = True
    timer.start()
    try:
        yield late.is_set
    finally:
        timer.cancel()
        timer.join()
        twin.close()


def _split(url: str) -> tuple[str, int | None, bool]:
    """Return host, port and whether it is https; raise `ParseError` for other texts."""
    try:
        found = urlsplit(url)
        host, port = found.hostname, found.port
    except ValueError:
        host, port = None, None
    is_plain = host is not None and not (found.query or found.fragment or found.username)
    if not is_plain or found.scheme not in ("http", "https") or found.path not in ("", "/"):
        raise ParseError(
            f"{shown(url)} is not an address of a server, such as https://slumbot.com or "
            "http://127.0.0.1:8081",
            value=url,
        )
    assert host is not None
    return host, port, found.scheme == "https"

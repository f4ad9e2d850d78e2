"""A small HTTP server whose requests and answers are JSON objects, without other packages.

It answers POST requests with `application/json` and closes every connection that does anything
else, after one sentence as `error_msg`. Nothing that a client sends takes more memory than
`HttpLimits` allow, and no time limit is extended by single bytes: a request has a total time, and
so has reading its answer. Requests of web pages are refused: those with an Origin, or whose Host is
not a name of this server (DNS rebinding).

Answers are computed one after another in another thread, so that slow ones do not stop the clocks.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from equilibrist.errors import NetworkError
from equilibrist.play.wire import GLANCE, ShouldStop, never_stop

Json: TypeAlias = dict[str, Any]
# (path, body) -> answer; `RequestError` refuses.
Answer: TypeAlias = Callable[[str, Json], Json]

_LINGER = 1.0  # seconds to read what a refused client still sends
_MOST_LINGER = 1000  # pieces of it
LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")

_REASONS = {
    200: "OK", 400: "Bad Request", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed",
    408: "Request Timeout", 411: "Length Required", 413: "Content Too Large",
    415: "Unsupported Media Type", 431: "Request Header Fields Too Large",
    500: "Internal Server Error", 503: "Service Unavailable",
}  # fmt: skip


class RequestError(Exception):
    """A request that is refused, with its HTTP status and the reason in one sentence."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


@dataclass(frozen=True)
class HttpLimits:
    """What one client may cost: bytes, seconds and connections."""

    head: int = 8192  # bytes of the request line and the headers
    body: int = 4096  # bytes
    request: float = 10.0  # seconds from the first byte of a request to its last, in all
    answer: float = 10.0  # seconds for reading an answer, in all
    idle: float = 600.0  # seconds between two requests of a connection
    connections: int = 256  # at once


class JsonServer:
    """The listening socket of a server and its names; `with` closes it.

    Example:
        >>> with JsonServer(lambda path, body: {"path": path}) as server:
        ...     server.address.startswith("http://127.0.0.1:")
        True
    """

    def __init__(
        self,
        answer: Answer,
        host: str = "127.0.0.1",
        port: int = 0,
        *,
        names: tuple[str, ...] = (),
        limits: HttpLimits | None = None,
        warn: Callable[[str], None] = lambda line: None,
    ) -> None:
        self.answer, self.limits, self.warn = answer, limits or HttpLimits(), warn
        self._name = f"[{host}]" if ":" in host else host.lower()
        self.names = (*LOOPBACK_NAMES, self._name, *names)
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        try:
            self._door = socket.create_server((host, port), family=family)
            self._door.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise NetworkError(
                f"cannot listen at {host} port {port}: {reason}; choose another, or 0 for any",
                value=port,
            ) from None
        self.port: int = self._door.getsockname()[1]
        self._open: set[asyncio.Task[None]] = set()

    @property
    def address(self) -> str:
        """The address of the server as a URL."""
        return f"http://{self._name}:{self.port}"

    def __enter__(self) -> JsonServer:
        return self

    def __exit__(self, *_: object) -> None:
        self._door.close()

    def serve(self, should_stop: ShouldStop = never_stop) -> None:
        """Answer requests until `should_stop`; then close all connections."""
        asyncio.run(self._serve(should_stop))

    async def _serve(self, should_stop: ShouldStop) -> None:
        with ThreadPoolExecutor(1, "answers") as worker:
            self._worker = worker
            server = await asyncio.start_server(
                self._begin, sock=self._door, limit=self.limits.head
            )
            try:
                while not should_stop():
                    await asyncio.sleep(GLANCE)
            finally:
                server.close()
                for task in self._open:
                    task.cancel()
                await asyncio.gather(*self._open, return_exceptions=True)

    async def _begin(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection to its end; whatever a client does raises no error."""
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            if len(self._open) > self.limits.connections:
                await self._refuse(writer, RequestError(503, "this server has no free connection"))
                return
            while await self._one(reader, writer):
                pass
        except TimeoutError:  # idle for too long, or does not read its answers
            writer.transport.abort()
        except (OSError, asyncio.IncompleteReadError):  # it has hung up
            pass
        finally:
            self._open.discard(task)
            with contextlib.suppress(OSError):
                writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; return whether the connection goes on."""
        try:
            async with asyncio.timeout(self.limits.idle):
                first = await reader.read(1)
            if not first:
                return False
            try:
                async with asyncio.timeout(self.limits.request):
                    request = await self._read(reader, first)
            except TimeoutError:
                raise RequestError(
                    408, f"this request was not complete within {self.limits.request:g} s"
                ) from None
        except RequestError as error:
            await self._refuse(writer, error)
            await self._linger(reader, writer)
            return False
        status, data = await self._answer(request)
        await self._send(writer, status, data, goes_on=request.goes_on)
        return request.goes_on

    async def _answer(self, request: _Request) -> tuple[int, Json]:
        loop = asyncio.get_running_loop()
        try:
            path, body = request.path, request.body
            return 200, await loop.run_in_executor(self._worker, self.answer, path, body)
        except RequestError as error:
            return error.status, {"error_msg": str(error)}
        except Exception as error:  # a defect, or a player that fails: the server goes on
            self.warn(f"{request.path}: {type(error).__name__}: {error}")
            return 500, {"error_msg": "this server failed; its terminal says why"}

    async def _read(self, reader: asyncio.StreamReader, first: bytes) -> _Request:
        """Read a whole request whose first byte has arrived."""
        if not first.isupper():  # for example a client that speaks TLS
            raise RequestError(400, "this is not a request of HTTP/1.1")
        try:
            head = first + await reader.readuntil(b"\r\n\r\n")
        except asyncio.LimitOverrunError:
            raise RequestError(
                431, f"the headers are longer than {self.limits.head:,} bytes"
            ) from None
        line, *rest = head[:-4].decode("latin-1").split("\r\n")
        words, headers = line.split(" "), _headers(rest)
        if len(words) != 3 or not words[2].startswith("HTTP/1."):
            raise RequestError(400, f"{line[:40]!r} is not a request of HTTP/1.1")
        self._check(words[0], headers)
        size = headers.get("content-length", "")
        if "transfer-encoding" in headers or not (size.isascii() and size.isdecimal()):
            raise RequestError(411, "send the body with a Content-Length")
        if len(size) > 9 or int(size) > self.limits.body:
            raise RequestError(413, f"the body is longer than {self.limits.body:,} bytes")
        if headers.get("expect", "").lower() == "100-continue":
            raise RequestError(400, "send the body at once, without Expect")
        body = _object(await reader.readexactly(int(size)))
        path = words[1].partition("?")[0]
        is_new = words[2] != "HTTP/1.0"
        wish = headers.get("connection", "").lower()
        return _Request(path, body, wish != "close" and (is_new or wish == "keep-alive"))

    def _check(self, method: str, headers: dict[str, str]) -> None:
        """Raise `RequestError` for requests of other programs than clients of the API."""
        host = headers.get("host", "")
        if host_name(host) not in self.names:
            raise RequestError(403, f"this server does not answer to the host {host[:80]!r}")
        if "origin" in headers:
            raise RequestError(403, "requests of web pages are refused")
        if method != "POST":
            raise RequestError(405, f"this server answers POST requests only, not {method[:20]!r}")
        media = headers.get("content-type", "").partition(";")[0].strip().lower()
        if media != "application/json":
            raise RequestError(415, f"send application/json, not {media[:40]!r}")

    async def _refuse(self, writer: asyncio.StreamWriter, error: RequestError) -> None:
        await self._send(writer, error.status, {"error_msg": str(error)}, goes_on=False)

    async def _linger(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Read what a refused client still sends, for a moment.

        Closing a connection with unread data would delete the answer on its way.
        """
        if writer.can_write_eof():
            writer.write_eof()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_LINGER):
                for _ in range(_MOST_LINGER):
                    if not await reader.read(self.limits.head):
                        return

    async def _send(
        self, writer: asyncio.StreamWriter, status: int, data: Json, *, goes_on: bool
    ) -> None:
        body = json.dumps(data, allow_nan=False).encode()
        lines = (
            f"HTTP/1.1 {status} {_REASONS.get(status, 'Error')}",
            "Content-Type: application/json",
            f"Content-Length: {len(body)}",
            "Cache-Control: no-store",
            "X-Content-Type-Options: nosniff",
            f"Connection: {'keep-alive' if goes_on else 'close'}",
        )
        writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
        async with asyncio.timeout(self.limits.answer):
            await writer.drain()


class _Request(NamedTuple):
    path: str
    body: Json
    goes_on: bool  # whether the client wants to send more requests


def _headers(lines: list[str]) -> dict[str, str]:
    """Return headers by lower-case name; raise `RequestError` if one is malformed or repeated."""
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        name = name.lower()
        if not colon or not name or name != name.strip():
            raise RequestError(400, f"{line[:40]!r} is not a header")
        if name in headers and name in ("host", "content-length", "content-type", "origin"):
            raise RequestError(400, f"the header {name} occurs twice")
        headers[name] = value.strip()
    return headers


def host_name(host: str) -> str:
    """Return a Host header without its port, in lower case.

    Example:
        >>> host_name("LOCALHOST:8000"), host_name("[::1]:80"), host_name("evil.example")
        ('localhost', '[::1]', 'evil.example')
    """
    name, colon, port = host.rpartition(":")
    return (name if colon and port.isdecimal() else host).lower()


def _object(body: bytes) -> Json:
    """Parse a body as a JSON object; raise `RequestError` if it is none."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        raise RequestError(400, "the body is not JSON") from None
    if not isinstance(found, dict):
        raise RequestError(400, f"the body is a {type(found).__name__}, not a JSON object")
    return found

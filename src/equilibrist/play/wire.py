"""Sending and receiving lines over TCP, with time limits.

Sockets are wrapped so that every problem is one `NetworkError`, and so that the other end can
neither fill the memory nor stop the clock: at most one line is buffered, and sending has a time
limit too. Time limits are totals: single bytes do not extend them. A waiting call also checks every
tenth of a second for a stop request, and then raises `WaitingStopped`.
"""

from __future__ import annotations

import contextlib
import select
import socket
import time
from collections.abc import Callable
from typing import Self, TypeAlias

from equilibrist.errors import NetworkError

LONGEST_LINE = 4096  # bytes, including the line end: a longer line is split into several
_MOST_PENDING = 256  # maximum number of longest lines that are discarded at a time
_SHORTEST_WAIT = 1e-3  # seconds; zero has another meaning for a socket
GLANCE = 0.1  # seconds between two checks for other events

ShouldStop: TypeAlias = Callable[[], bool]  # returns whether to stop waiting


def never_stop() -> bool:
    """Return False: never request a stop."""
    return False


class WaitingStopped(Exception):  # noqa: N818
    """Raised when waiting ends because of a stop request, not because of an error."""


class Wire:
    """A connected socket that carries lines; a context manager that closes it."""

    def __init__(self, link: socket.socket, should_stop: ShouldStop = never_stop) -> None:
        with contextlib.suppress(OSError):  # the other end has gone
            link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.should_stop = should_stop
        self.address = "somebody"
        with contextlib.suppress(OSError, IndexError):  # a local socket has no address
            self.address = str(link.getpeername()[0])
        self._link = link
        self._held = bytearray()

    def send(self, line: str, seconds: float | None = None) -> None:
        """Send a line and its end; raise `NetworkError` if it is not read in time."""
        deadline = None if seconds is None else time.monotonic() + seconds
        data = memoryview(line.encode(errors="replace") + b"\r\n")
        while data:
            try:
                self._wait(deadline)
                data = data[self._link.send(data) :]
            except TimeoutError:
                if deadline is not None and time.monotonic() >= deadline:
                    reason = f"does not read its lines for {seconds:.3g} s"
                    raise NetworkError(reason) from None
            except OSError:
                raise NetworkError("has hung up") from None

    def receive(self, seconds: float | None = None) -> str | None:
        """Receive the next line without its end, None after the last; `NetworkError` if late."""
        deadline = None if seconds is None else time.monotonic() + seconds
        while (line := self._first()) is None:
            try:
                self._wait(deadline)
                received = self._link.recv(LONGEST_LINE)
            except TimeoutError:
                if deadline is not None and time.monotonic() >= deadline:
                    raise NetworkError(f"sends nothing for {seconds:.3g} s") from None
                continue
            except OSError:
                return None
            if not received:
                return None
            self._held += received
        del self._held[: len(line)]
        return line.decode(errors="replace").rstrip("\r\n")

    def peek(self) -> str | None:
        """Return the next line if available, without removing it; `NetworkError` at the end."""
        self._link.setblocking(False)
        while (line := self._first()) is None:
            try:
                received = self._link.recv(LONGEST_LINE)
            except BlockingIOError:
                return None
            except OSError:
                received = b""
            if not received:
                raise NetworkError("has hung up")
            self._held += received
        return line.decode(errors="replace").rstrip("\r\n")

    @property
    def is_open(self) -> bool:
        """Return whether the other end still seems to be connected."""
        self._link.setblocking(False)
        try:
            return bool(self._link.recv(1, socket.MSG_PEEK))
        except BlockingIOError:
            return True
        except OSError:
            return False

    def fileno(self) -> int:
        """Return the file descriptor of the socket, for `select`."""
        return self._link.fileno()

    def _first(self) -> bytes | None:
        """Return the first buffered line, truncated if too long; None if it is incomplete."""
        end = self._held.find(b"\n", 0, LONGEST_LINE) + 1
        if end or len(self._held) >= LONGEST_LINE:
            return bytes(self._held[: end or LONGEST_LINE])
        return None

    def drop_pending(self) -> None:
        """Discard the data received so far; raise `NetworkError` if it does not end."""
        self._held.clear()
        self._link.setblocking(False)
        for _ in range(_MOST_PENDING):
            try:
                if not self._link.recv(LONGEST_LINE):
                    return
            except OSError:  # no more data, or no connection
                return
        raise NetworkError("sends too many unrequested lines")

    def close(self) -> None:
        """Close the connection; data already sent still arrives."""
        with contextlib.suppress(OSError):
            self._link.shutdown(socket.SHUT_WR)
        with contextlib.suppress(OSError, NetworkError):
            self.drop_pending()  # closing with unread data would delete what is on its way
        self._link.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _wait(self, deadline: float | None) -> None:
        """Set the timeout of the next call to a short time, or to the deadline if sooner."""
        if self.should_stop():
            raise WaitingStopped
        left = GLANCE if deadline is None else min(GLANCE, deadline - time.monotonic())
        self._link.settimeout(max(left, _SHORTEST_WAIT))


def connect(host: str, port: int, seconds: float = 10.0) -> Wire:
    """Connect to a listening port and return the wire."""
    try:
        return Wire(socket.create_connection((host, port), timeout=seconds))
    except OSError as error:
        reason = error.strerror or str(error)
        raise NetworkError(
            f"nobody answers at {host} port {port}: {reason}", value=(host, port)
        ) from None


class Listener:
    """A port that accepts connections; port 0 selects any free port."""

    def __init__(self, host: str = "127.0.0.1", port: int = 0) -> None:
        self.host = host
        try:
            self._socket = socket.create_server((host, port), family=_family(host))
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise NetworkError(
                f"cannot listen at {host} port {port}: {reason}; choose another, or 0 for any",
                value=port,
            ) from None
        self.port: int = self._socket.getsockname()[1]

    def accept(self, seconds: float | None = None) -> Wire:
        """Wait for the next connection; raise `NetworkError` if there is none in time."""
        deadline = None if seconds is None else time.monotonic() + seconds
        while True:
            left = GLANCE if deadline is None else min(GLANCE, deadline - time.monotonic())
            if left <= 0:
                raise self.timeout_error(seconds)
            if select.select([self._socket], [], [], left)[0] and (wire := self.take()):
                return wire

    def take(self) -> Wire | None:
        """Return a waiting connection; None if there is none or it has gone again."""
        self._socket.setblocking(False)
        try:
            return Wire(self._socket.accept()[0])
        except OSError:
            return None

    def timeout_error(self, seconds: float | None) -> NetworkError:
        """Build the error for a wait without a connection."""
        return NetworkError(f"nobody connects to port {self.port} in {seconds or 0:.3g} s")

    def fileno(self) -> int:
        """Return the file descriptor of the socket, for `select`."""
        return self._socket.fileno()

    def close(self) -> None:
        """Stop listening."""
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET

"""Lines over TCP, in both directions, each within a time.

Sockets are wrapped so that what goes wrong is one `NetworkError`, and so that nobody at the other
end can fill the memory or stop the clock: at most one line is held, sending has a time limit too.
Times are totals: a byte now and then does not make them longer. Whoever waits also looks every
tenth of a second whether it is to stop, and then raises `Stopped`.
"""

from __future__ import annotations

import contextlib
import select
import socket
import time
from collections.abc import Callable
from typing import Self, TypeAlias

from equilibrist.errors import NetworkError

LONGEST_LINE = 4096  # bytes, its end included: a longer one is cut into several
_MOST_PENDING = 256  # lines of the longest kind that are forgotten at a time
_SHORTEST_WAIT = 1e-3  # seconds; zero would mean something else to a socket
GLANCE = 0.1  # seconds between two looks at what else may have happened

ShouldStop: TypeAlias = Callable[[], bool]  # whether to give up waiting, because somebody says so


def go_on() -> bool:
    """Never stop."""
    return False


class Stopped(Exception):  # noqa: N818
    """Waiting was given up because it was asked for, not because anything went wrong."""


class Wire:
    """A connected socket that carries lines; to be closed, or used in a `with`."""

    def __init__(self, link: socket.socket, should_stop: ShouldStop = go_on) -> None:
        with contextlib.suppress(OSError):  # nobody is there any more
            link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.should_stop = should_stop
        self.address = "somebody"
        with contextlib.suppress(OSError, IndexError):  # a socket without a network has none
            self.address = str(link.getpeername()[0])
        self._link = link
        self._held = bytearray()

    def send(self, line: str, seconds: float | None = None) -> None:
        """Send a line and its end; `NetworkError` where nobody reads it in time."""
        deadline = None if seconds is None else time.monotonic() + seconds
        data = memoryview(line.encode(errors="replace") + b"\r\n")
        while data:
            try:
                self._wait(deadline)
                data = data[self._link.send(data) :]
            except TimeoutError:
                if deadline is not None and time.monotonic() >= deadline:
                    reason = f"does not read what it is sent for {seconds:.3g} s"
                    raise NetworkError(reason) from None
            except OSError:
                raise NetworkError("has hung up") from None

    def receive(self, seconds: float | None = None) -> str | None:
        """The next line without its end, None after the last; `NetworkError` if it is late."""
        deadline = None if seconds is None else time.monotonic() + seconds
        while (line := self._first()) is None:
            try:
                self._wait(deadline)
                received = self._link.recv(LONGEST_LINE)
            except TimeoutError:
                if deadline is not None and time.monotonic() >= deadline:
                    raise NetworkError(f"says nothing for {seconds:.3g} s") from None
                continue
            except OSError:
                return None
            if not received:
                return None
            self._held += received
        del self._held[: len(line)]
        return line.decode(errors="replace").rstrip("\r\n")

    def peek(self) -> str | None:
        """The next line if it is there, which stays; `NetworkError` where none will come."""
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
        """Whether the other end is still there, as far as one can see from here."""
        self._link.setblocking(False)
        try:
            return bool(self._link.recv(1, socket.MSG_PEEK))
        except BlockingIOError:
            return True
        except OSError:
            return False

    def fileno(self) -> int:
        """The number of the socket, for `select`."""
        return self._link.fileno()

    def _first(self) -> bytes | None:
        """The first line that is held, cut where it is too long; None before it is whole."""
        end = self._held.find(b"\n", 0, LONGEST_LINE) + 1
        if end or len(self._held) >= LONGEST_LINE:
            return bytes(self._held[: end or LONGEST_LINE])
        return None

    def drop_pending(self) -> None:
        """Forget what has arrived so far; `NetworkError` where there is no end of it."""
        self._held.clear()
        self._link.setblocking(False)
        for _ in range(_MOST_PENDING):
            try:
                if not self._link.recv(LONGEST_LINE):
                    return
            except OSError:  # nothing more is there, or nobody
                return
        raise NetworkError("sends more than anybody asked for")

    def close(self) -> None:
        """Hang up; what was sent still arrives."""
        with contextlib.suppress(OSError):
            self._link.shutdown(socket.SHUT_WR)
        self._link.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _wait(self, deadline: float | None) -> None:
        """Let the next call wait for a glance, or until the deadline if that is sooner."""
        if self.should_stop():
            raise Stopped
        left = GLANCE if deadline is None else min(GLANCE, deadline - time.monotonic())
        self._link.settimeout(max(left, _SHORTEST_WAIT))


def connect(host: str, port: int, seconds: float = 10.0) -> Wire:
    """A connection to whoever listens there."""
    try:
        return Wire(socket.create_connection((host, port), timeout=seconds))
    except OSError as error:
        reason = error.strerror or str(error)
        raise NetworkError(
            f"nobody answers at {host} port {port}: {reason}", value=(host, port)
        ) from None


class Listener:
    """A port at which others may connect; 0 takes any that is free."""

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
        """The next connection; `NetworkError` if none is made in time."""
        deadline = None if seconds is None else time.monotonic() + seconds
        while True:
            left = GLANCE if deadline is None else min(GLANCE, deadline - time.monotonic())
            if left <= 0:
                raise self.nobody(seconds)
            if select.select([self._socket], [], [], left)[0] and (wire := self.take()):
                return wire

    def take(self) -> Wire | None:
        """A connection that was made; None if there is none, or it is gone again."""
        self._socket.setblocking(False)
        try:
            return Wire(self._socket.accept()[0])
        except OSError:
            return None

    def nobody(self, seconds: float | None) -> NetworkError:
        """The error of a wait in vain."""
        return NetworkError(f"nobody connects to port {self.port} in {seconds or 0:.3g} s")

    def fileno(self) -> int:
        """The number of the socket, for `select`."""
        return self._socket.fileno()

    def close(self) -> None:
        """Listen no more."""
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET

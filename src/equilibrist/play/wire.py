"""Lines over TCP, in both directions, each within a time.

Sockets are wrapped so that what goes wrong is one `NetworkError`, and so that nobody at the other
end can fill the memory or stop the clock: at most one line is held, sending has a time limit too.
"""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Callable
from typing import Self

from equilibrist.errors import NetworkError

LONGEST_LINE = 4096  # bytes, its end included: a longer one is cut into several
_MOST_PENDING = 256  # lines of the longest kind that are forgotten at a time
_SHORTEST_WAIT = 1e-3  # seconds; zero would mean something else to a socket
_GLANCE = 0.1  # seconds between two looks at what else may have happened


class Wire:
    """A connected socket that carries lines; to be closed, or used in a `with`."""

    def __init__(self, link: socket.socket) -> None:
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._link = link
        self._held = bytearray()

    def send(self, line: str, seconds: float | None = None) -> None:
        """Send a line and its end; `NetworkError` where nobody reads it in time."""
        self._wait(seconds)
        try:
            self._link.sendall(line.encode() + b"\r\n")
        except TimeoutError:
            raise NetworkError(f"does not read what it is sent for {seconds:.3g} s") from None
        except OSError:
            raise NetworkError("has hung up") from None

    def receive(self, seconds: float | None = None) -> str | None:
        """The next line without its end, None after the last; `NetworkError` if it is late."""
        deadline = None if seconds is None else time.monotonic() + seconds
        while True:
            end = self._held.find(b"\n", 0, LONGEST_LINE) + 1
            if end or len(self._held) >= LONGEST_LINE:
                line = bytes(self._held[: end or LONGEST_LINE])
                del self._held[: end or LONGEST_LINE]
                return line.decode(errors="replace").rstrip("\r\n")
            self._wait(None if deadline is None else deadline - time.monotonic())
            try:
                received = self._link.recv(LONGEST_LINE)
            except TimeoutError:
                raise NetworkError(f"says nothing for {seconds:.3g} s") from None
            except OSError:
                return None
            if not received:
                return None
            self._held += received

    def drop_pending(self) -> None:
        """Forget what has arrived so far; `NetworkError` where it does not end."""
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

    def _wait(self, seconds: float | None) -> None:
        self._link.settimeout(None if seconds is None else max(seconds, _SHORTEST_WAIT))


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

    def accept(self, seconds: float | None = None, check: Callable[[], None] | None = None) -> Wire:
        """The next connection; `check` is called now and then, and may raise to end the waiting."""
        deadline = None if seconds is None else time.monotonic() + seconds
        while True:
            left = _GLANCE if deadline is None else min(_GLANCE, deadline - time.monotonic())
            if left <= 0:
                raise NetworkError(f"nobody connects to port {self.port} in {seconds:.3g} s")
            self._socket.settimeout(left)
            try:
                return Wire(self._socket.accept()[0])
            except TimeoutError:
                if check is not None:
                    check()

    def close(self) -> None:
        """Listen no more."""
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET

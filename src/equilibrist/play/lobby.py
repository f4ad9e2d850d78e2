"""The lobby of a match over TCP: two seats for clients that have greeted correctly.

A connection takes a seat after its greeting: an ACPC client by its VERSION line; a Pokerbots
client, which sends nothing first, by staying connected for a moment. Any other connection (a port
scan, a browser, a client of the other protocol) receives the reason in a comment line and is
closed, and the seat stays free. A client that leaves before the match starts frees its seat.

Connections are served concurrently, each has a time limit for its greeting, and at most
`MOST_WAITING` of them stay open, so that a silent client cannot block others.
"""

from __future__ import annotations

import contextlib
import select
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self, TypeAlias

from equilibrist.errors import NetworkError
from equilibrist.play.wire import GLANCE, Listener, ShouldStop, WaitingStopped, Wire, never_stop

# (first line, None before it is complete; seconds since the connection) -> whether the client may
# take a seat. A `NetworkError` gives the reason why it never can.
Greeting: TypeAlias = Callable[[str | None, float], bool]
Say: TypeAlias = Callable[[str], None]

MOST_WAITING = 20  # connections without a seat
_PATIENCE = 0.1  # seconds for a client to receive the reason of a refusal


@dataclass(eq=False)
class _Guest:
    """A connection without a seat."""

    wire: Wire
    door: Listener
    since: float  # by the monotonic clock
    is_ready: bool = False


class Lobby:
    """Two seats and the clients that wait for them; a `with` closes all connections at its end.

    Seat 0 is reached by the first door and seat 1 by the second, which may be the same.
    """

    def __init__(
        self,
        doors: tuple[Listener, Listener],
        greeting: Greeting,
        *,
        names: tuple[str, str] = ("seat 1", "seat 2"),
        warn: Say = lambda line: None,
        should_stop: ShouldStop = never_stop,
    ) -> None:
        self.doors, self.greeting, self.names = doors, greeting, names
        self.warn, self.should_stop = warn, should_stop
        self.wires: list[Wire | None] = [None, None]
        self._guests: list[_Guest] = []  # in the order in which they connected

    def free_seats(self, seats: int = 2) -> list[int]:
        """Return which of the first `seats` seats are free."""
        return [seat for seat in range(seats) if self.wires[seat] is None]

    def fill(
        self,
        seats: int = 2,
        seconds: float | None = None,
        check: Callable[[], None] = lambda: None,
    ) -> list[Wire]:
        """Wait until the first `seats` seats are taken, and return their connections.

        `check` is called from time to time and may raise an error to end the waiting.
        """
        deadline = None if seconds is None else time.monotonic() + seconds
        while free := self.free_seats(seats):
            if self.should_stop():
                raise WaitingStopped
            if deadline is not None and time.monotonic() >= deadline:
                raise self.doors[free[0]].timeout_error(seconds)
            self._update(seats)
            if self.free_seats(seats):
                check()
        return [wire for wire in self.wires[:seats] if wire is not None]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for wire in (*self.wires, *(guest.wire for guest in self._guests)):
            if wire is not None:
                wire.close()

    def _update(self, seats: int) -> None:
        """Wait a moment, accept connections, and give free seats to clients that have greeted."""
        doors = list(dict.fromkeys(self.doors))
        unknown = [guest.wire for guest in self._guests if not guest.is_ready]
        watched: list[Listener | Wire] = [*doors, *unknown]
        found = select.select(watched, [], [], GLANCE)[0]
        for door in doors:
            if door in found and (wire := door.take()) is not None:
                wire.should_stop = self.should_stop
                self._guests.append(_Guest(wire, door, time.monotonic()))
        for guest in tuple(self._guests):
            self._greet(guest)
        for seat, wire in enumerate(self.wires):
            if wire is not None and not wire.is_open:
                self.warn(f"{self.names[seat]} has left before the match; its seat is free again")
                wire.close()
                self.wires[seat] = None
        for seat in self.free_seats(seats):
            ready = [g for g in self._guests if g.is_ready and g.door is self.doors[seat]]
            if ready:
                self._guests.remove(ready[0])
                self.wires[seat] = ready[0].wire

    def _greet(self, guest: _Guest) -> None:
        """Determine whether a client may take a seat; refuse it if it never can."""
        try:
            if guest.is_ready:
                if not guest.wire.is_open:
                    raise NetworkError("has hung up")
                return
            if self._guests.index(guest) >= MOST_WAITING:
                raise NetworkError(f"comes after {MOST_WAITING} others that wait for a seat")
            guest.is_ready = self.greeting(guest.wire.peek(), time.monotonic() - guest.since)
        except NetworkError as error:
            self._guests.remove(guest)
            self.warn(f"{guest.wire.address} at port {guest.door.port} {error}: it gets no seat")
            with contextlib.suppress(NetworkError, WaitingStopped):
                guest.wire.send(f"# no seat, because this client {error}", _PATIENCE)
            guest.wire.close()

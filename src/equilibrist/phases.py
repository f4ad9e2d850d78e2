"""Phases of long work: what is done now, how much of it is finished, and how long the rest takes.

Functions declare a phase around anything that may take longer than two seconds:

    with phase("counting deals", total=1755, unit="flops") as counted:
        for flop in flops:
            ...
            counted.advance()

Nothing is printed here. `under_way` returns the phases at this moment, so that a program can show
them whenever it likes, also from another thread, as the command line does. `heard_phases` calls a
function with each phase that begins.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator

_LEAST_SHARE = 0.005  # the speed is not known before this share is done
clock = time.monotonic  # seconds; tests replace it


class Phase:
    """A piece of work that is under way.

    Example:
        >>> counted = Phase("counting deals", total=40, unit="flops")
        >>> counted.advance(10)
        >>> counted.text, counted.share
        ('counting deals', 0.25)
    """

    def __init__(
        self,
        text: str,
        *,
        total: float | None = None,
        unit: str = "",
        done: float = 0.0,
        seconds: float | None = None,
    ) -> None:
        """Begin to count from `done` to `total` of a `unit`; or forecast `seconds`, if known."""
        self.text = text
        self.total = total  # None: the amount of work is not known
        self.unit = unit  # of the total; empty: show per cent
        self.seconds = seconds  # forecast of the whole phase; None: not known
        self.start = clock()
        self.done = self._before = done  # what was done before the start says nothing of the speed
        self._first = self._last = (self.start, done)  # when how much was done

    def update(self, done: float) -> None:
        """State how much of the total is done."""
        if done == self.done:
            return
        now = clock()
        if self.done == self._before:
            self._first = (now, done)  # later pieces show the speed without any warm-up
        self.done, self._last = done, (now, done)

    def advance(self, more: float = 1) -> None:
        """State that more of the total is done."""
        self.update(self.done + more)

    @property
    def share(self) -> float | None:
        """Return the share that is done, from 0 to 1; None if it is not known."""
        if not self.total:
            return None
        return min(max(self.done / self.total, 0.0), 1.0)

    @property
    def elapsed(self) -> float:
        """Return the seconds since the phase began."""
        return clock() - self.start

    @property
    def left(self) -> float | None:
        """Return the remaining seconds by the speed so far or by the forecast; None: not known."""
        if self.total and self.done - self._before >= _LEAST_SHARE * self.total:
            (since, before), (until, after) = self._first, self._last
            if after <= before:  # one piece so far
                since, before = self.start, self._before
            speed = (until - since) / (after - before)
            return max(speed * (self.total - self.done) - (clock() - until), 0.0)
        return None if self.seconds is None else max(self.seconds - self.elapsed, 0.0)


_under_way: list[Phase] = []  # each inside the one before it
_listeners: list[Callable[[Phase], None]] = []
_lock = threading.Lock()


def under_way() -> tuple[Phase, ...]:
    """Return the phases that are under way, each inside the one before it; empty: nothing is."""
    return tuple(_under_way)


def begin(phase: Phase) -> Phase:
    """Put a phase under way, inside those that already are; `end` ends it."""
    with _lock:
        _under_way.append(phase)
    for listener in tuple(_listeners):
        listener(phase)
    return phase


def end(phase: Phase) -> None:
    """End a phase and those inside it; does nothing if it is not under way."""
    with _lock:
        if phase in _under_way:
            del _under_way[_under_way.index(phase) :]


def end_all() -> None:
    """End all phases."""
    with _lock:
        _under_way.clear()


@contextlib.contextmanager
def phase(
    text: str,
    *,
    total: float | None = None,
    unit: str = "",
    done: float = 0.0,
    seconds: float | None = None,
) -> Iterator[Phase]:
    """Declare what is done inside the context; the arguments are those of `Phase`.

    Example:
        >>> with phase("reading 3 files", total=3):
        ...     [each.text for each in under_way()]
        ['reading 3 files']
    """
    found = begin(Phase(text, total=total, unit=unit, done=done, seconds=seconds))
    try:
        yield found
    finally:
        end(found)


@contextlib.contextmanager
def heard_phases(listener: Callable[[Phase], None]) -> Iterator[None]:
    """Call a function with each phase that begins inside the context.

    Example:
        >>> with heard_phases(lambda each: print(each.text)), phase("sorting"):
        ...     pass
        sorting
    """
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)

"""Signals that end a match: recorded on arrival, acted on at a consistent point."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterator

import typer

from equilibrist.storage.stopping import SAME, SIGNALS


class Signals:
    """The first signal that arrived, if any."""

    def __init__(self) -> None:
        self.first: signal.Signals | None = None
        self.since = 0.0  # time of its arrival by the monotonic clock

    def has_come(self) -> bool:
        """Return whether a signal has arrived and the program should end."""
        return self.first is not None

    def exit_if_come(self) -> None:
        """Exit the command with a signal's usual code (130, 143 or 129) if one has arrived."""
        if self.first is not None:
            raise typer.Exit(128 + self.first)


@contextlib.contextmanager
def noted_signals(
    on_first: Callable[[], None] = lambda: None, on_second: Callable[[], None] = lambda: None
) -> Iterator[Signals]:
    """Record signals inside the context; a second one ends the process after `on_second`.

    Signals that were ignored before, as `nohup` ignores SIGHUP, stay ignored.
    """
    signals = Signals()

    def handle(number: int, _: object) -> None:
        if signals.first is None:
            signals.first, signals.since = signal.Signals(number), time.monotonic()
            on_first()
        elif time.monotonic() - signals.since > SAME:
            on_second()
            os._exit(128 + number)

    before = {
        number: signal.signal(number, handle)
        for number in SIGNALS
        if signal.getsignal(number) not in (signal.SIG_IGN, None)
    }
    try:
        yield signals
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

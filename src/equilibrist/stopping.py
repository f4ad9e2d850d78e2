"""Stops long work at a consistent point: signals set a flag, and loops check it.

Inside `on_signals` SIGINT (Ctrl-C), SIGTERM and SIGHUP no longer interrupt the program. The first
of them wakes a thread, even while compiled code runs, which prints when the work will end and sets
the flag. Loops check the flag between iterations, when arrays and counters are consistent: those
that can return a partial result use `is_requested`, the others call `check`, which raises
`Stopped`. A second signal ends the process at once; the files on disk stay valid, because artefacts
are replaced atomically.

Without `on_signals` nothing changes: no flag is ever set, and Ctrl-C raises `KeyboardInterrupt`
anywhere, perhaps between two arrays that belong together.

`noted_signals` is for commands that end a match or leave a table: it records the first signal, and
the command decides what to do.

`pause_after` requests a stop by the clock, early enough for the current piece of work to end in
time: on a machine that is lent for some minutes, the same command continues the work next time.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_SHOW_CURSOR = b"\x1b[?25h\n"  # a panel on a terminal hides the cursor
_MOMENT = 0.5  # shorter times, in seconds, are not announced
_SAME = 0.25  # seconds within which signals count as one; a closing terminal sends several
_PATIENCE = 0.2  # seconds to wait until the terminal shows the cursor again


class Stopped(KeyboardInterrupt):
    """Long work was stopped on request, at a consistent point.

    `partial` is the partial result, if there is one. Never raised by a signal itself, only by
    `check` and by loops that were requested to stop.
    """

    def __init__(
        self, message: str = "stopped; nothing is half written", *, partial: Any = None
    ) -> None:
        super().__init__(message)
        self.partial = partial


class Stop:
    """A request to stop, and the expected end of the current piece of work.

    Example:
        >>> stop = Stop()
        >>> stop.expect("iteration", 3.0)
        >>> stop.request()
        >>> stop.is_requested, stop.exit_code, stop.announcement()
        (True, 130, 'stopping after this iteration, about 3 s; press Ctrl-C again to stop at once')
    """

    def __init__(self) -> None:
        self.signal: signal.Signals | None = None  # the request; None if there is none
        self.is_late = False  # whether the time of `pause_after` is used up
        self._piece = ""
        self._seconds = 0.0  # duration of the current piece, which the next one may take too
        self._end: float | None = None  # of the current piece, by the monotonic clock
        self._pause: float | None = None  # when the work should have ended, by the same clock

    @property
    def is_requested(self) -> bool:
        """Return whether the work should stop: after a signal, or before it would be late."""
        if self._pause is not None and time.monotonic() + self._seconds >= self._pause:
            self.is_late = True  # for good, also if later pieces are shorter
        return self.signal is not None or self.is_late

    @property
    def exit_code(self) -> int:
        """Return the exit code of the process by shell convention: 130, 143 or 129; 0: a pause."""
        if self.signal is None and self.is_late:
            return 0
        return 128 + (self.signal or signal.SIGINT)

    def pause_after(self, seconds: float) -> None:
        """Request a stop such that the work ends within `seconds`; pieces are not cut."""
        self._pause = time.monotonic() + seconds

    def request(self, number: int = signal.SIGINT) -> None:
        """Request that the work stops, as a signal does."""
        self.signal = signal.Signals(number)

    def expect(self, piece: str, seconds: float | None = None) -> None:
        """Record the piece of work that cannot be interrupted, and its duration if known."""
        self._seconds = seconds or 0.0
        self._end = None if seconds is None else time.monotonic() + seconds
        self._piece = piece

    def announcement(self) -> str:
        """Return a sentence that says when the work will end."""
        text = f"stopping after this {self._piece}" if self._piece else "stopping as soon as I can"
        left = 0.0 if self._end is None else self._end - time.monotonic()
        if left >= _MOMENT:
            text += f", about {left:.0f} s" if left < 100 else f", about {left / 60:.0f} min"
        is_key = self.signal in (None, signal.SIGINT)
        again = "press Ctrl-C again" if is_key else "send a second signal"
        return f"{text}; {again} to stop at once"


_current: Stop | None = None


def is_requested() -> bool:
    """Return whether the work of this process should stop; false outside `on_signals`."""
    return _current is not None and _current.is_requested


def check() -> None:
    """Raise `Stopped` if the work should stop; call it only at a consistent point."""
    if is_requested():
        raise Stopped


def expect(piece: str, seconds: float | None = None) -> None:
    """Announce a piece of work that cannot be interrupted ("iteration"), and its duration."""
    if _current is not None:
        _current.expect(piece, seconds)


def pause_after(seconds: float | None) -> None:
    """Request a stop such that the work ends within `seconds` from now; None: no such limit."""
    if _current is not None and seconds is not None:
        _current.pause_after(seconds)


def is_pause() -> bool:
    """Return whether the work stops because of `pause_after` and not because of a signal."""
    return _current is not None and _current.is_requested and _current.signal is None


@contextlib.contextmanager
def on_signals(say: Callable[[str], None] | None = None) -> Iterator[Stop]:
    """Let signals request the work inside to stop; `say` prints, on stderr by default.

    Signals that were ignored before, as `nohup` ignores SIGHUP, stay ignored. Inside another
    `on_signals` the outer one applies. Only the main thread can receive signals: elsewhere this
    raises `ValueError`.
    """
    global _current
    if _current is not None:
        yield _current
        return
    stop = Stop()
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    try:
        earlier_writer = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    except ValueError:  # this is not the main thread
        os.close(reader)
        os.close(writer)
        raise
    watcher = threading.Thread(target=_watch, args=(reader, stop, say or _say), daemon=True)
    watcher.start()
    try:
        with _handled(_wake):
            _current = stop
            try:
                yield stop
            finally:
                _current = None
    finally:
        signal.set_wakeup_fd(earlier_writer)
        os.close(writer)  # ends the watcher
        watcher.join()
        os.close(reader)


@contextlib.contextmanager
def noted_signals(
    on_first: Callable[[], None] = lambda: None, on_second: Callable[[], None] = lambda: None
) -> Iterator[Stop]:
    """Record the first signal inside the context; a second one ends the process.

    Python calls `on_first` and `on_second` in the main thread, between two of its instructions.
    Signals that were ignored before stay ignored.
    """
    stop, since = Stop(), 0.0

    def handle(number: int, frame: FrameType | None) -> None:
        nonlocal since
        if not stop.is_requested:
            since = time.monotonic()
            stop.request(number)
            on_first()
        elif time.monotonic() - since > _SAME:
            on_second()
            os._exit(128 + number)

    with _handled(handle):
        yield stop


@contextlib.contextmanager
def _handled(handle: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Let a function handle the signals that are not ignored, and restore the earlier handlers."""
    earlier = {
        number: signal.signal(number, handle)
        for number in SIGNALS
        if signal.getsignal(number) not in (signal.SIG_IGN, None)
    }
    try:
        yield
    finally:
        for number, handler in earlier.items():
            signal.signal(number, handler)


def _wake(number: int, frame: FrameType | None) -> None:
    """Set the flag; Python has already written the signal to the watcher's pipe."""
    if _current is not None and not _current.is_requested:
        _current.request(number)


def _watch(reader: int, stop: Stop, say: Callable[[str], None]) -> None:
    """Set the flag at the first signal, and end the process at the second."""
    first: float | None = None
    while numbers := os.read(reader, 64):
        for number in numbers:
            if number not in SIGNALS:
                continue
            if first is None:
                first = time.monotonic()
                if not stop.is_requested:  # the main thread is busy and has not run `_wake` yet
                    stop.request(number)
                _run_aside(say, stop.announcement())
            elif time.monotonic() - first > _SAME:
                _leave(number)


def _run_aside(work: Callable[..., object], *arguments: object) -> threading.Thread:
    """Run a function in its own thread, so that a blocked pipe or terminal cannot delay us."""
    thread = threading.Thread(target=work, args=arguments, daemon=True)
    thread.start()
    return thread


def _leave(number: int) -> None:
    """Show the cursor again and end the process now."""
    if os.isatty(2):
        _run_aside(os.write, 2, _SHOW_CURSOR).join(_PATIENCE)
    os._exit(128 + number)


def _say(text: str) -> None:
    with contextlib.suppress(OSError, ValueError):
        print(text, file=sys.stderr, flush=True)

"""Says what a command is doing whenever it has been silent for about two seconds.

The library declares the phases of its work (`equilibrist.phases`). A thread looks at them four
times per second, also while compiled code runs. After 1.5 s without output it shows the current
phase, how much of it is done and how long the rest takes, or how long it has taken so far if nobody
can know: on a terminal as one line that is overwritten, elsewhere as a line when the phase changes
and every ten seconds. Everything goes to stderr. Numba's compilations are phases too.

This module loads neither NumPy nor Numba.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TextIO, cast

from equilibrist import phases
from equilibrist.cli.supervised import is_supervised, report
from equilibrist.phases import Phase

_PATIENCE = 1.5  # seconds without output after which the phase is shown, by default
_VARIABLE = "EQUILIBRIST_PATIENCE"  # of the environment: other seconds, or inf
_AGAIN = 10.0  # seconds after which an unchanged phase is printed again, except on a terminal
_REPORTED = 2.0  # the same for a program that supervises the command
_TICK = 0.25  # seconds between two looks at the phases
_FAREWELL = 1.0  # seconds to wait for a thread that is blocked, by a pipe that nobody reads
_WIDTH = 80  # characters per line of a terminal that does not know its width
_CLEAR = "\r\x1b[K"
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_COMPILING = "compiling kernels"


# --- words ----------------------------------------------------------------------------------------


def duration(seconds: float) -> str:
    """Return seconds as a short text; negative times become zero.

    Example:
        >>> [duration(seconds) for seconds in (-1, 3.21, 75, 7300, 200_000)]
        ['0.0 s', '3.2 s', '1 min 15 s', '2 h 1 min', '2 d 7 h']
    """
    if seconds < 60:
        return f"{max(seconds, 0.0):.1f} s"
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    if days:
        return f"{days:,} d {hours} h"
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def compiling_text() -> str:
    """Return what is said while kernels are compiled: once, unless they cannot be kept."""
    cache = sys.modules.get("equilibrist.kernels.cache")
    return _COMPILING if getattr(cache, "refusal", "") else f"{_COMPILING}, first run only"


def status(stack: Sequence[Phase]) -> str:
    """Return phases as one line: the innermost, and the one around it that is counted.

    Example:
        >>> outer, inner = Phase("4 best responses", total=4), Phase("reading 2 files")
        >>> outer.update(2)
        >>> status([outer, inner])
        '4 best responses (50 %, about 0 s left): reading 2 files … (0 s so far)'
    """
    inner = stack[-1]
    around = next((each for each in reversed(stack[:-1]) if each.share), None)  # it has begun
    before = "" if around is None else f"{around.text} ({_progress(around)}): "
    text = f"{before}{inner.text} … ({_progress(inner)})"
    return "".join(character if character.isprintable() else "?" for character in text)


def status_data(stack: Sequence[Phase]) -> dict[str, Any]:
    """Return phases as JSON: the line of `status`, and how much is done of what is counted.

    Example:
        >>> counted = Phase("reading files", total=4)
        >>> counted.update(1)
        >>> data = status_data([counted, Phase("ranking hands")])
        >>> data["name"], data["share"]
        ('ranking hands', 0.25)
    """
    counted = next((each for each in reversed(stack) if each.share is not None), stack[-1])
    return {
        "name": stack[-1].text,
        "text": status(stack),
        "share": counted.share,
        "seconds_left": counted.left,
    }


def _progress(phase: Phase) -> str:
    """Return how much of a phase is done, and how long the rest takes, if either is known."""
    parts = []
    if phase.share is not None and phase.total is not None:
        counted = f"{phase.done:,.0f} of {phase.total:,.0f} {phase.unit}"
        parts.append(counted if phase.unit else f"{100 * phase.share:.0f} %")
    if phase.left is None or (phase.share is None and phase.left == 0):
        parts.append(f"{_seconds(phase.elapsed)} so far")
    else:
        parts.append(f"about {_seconds(phase.left)} left")
    return ", ".join(parts)


def _seconds(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 59.5 else duration(seconds)


# --- showing it -----------------------------------------------------------------------------------


class Heartbeat:
    """Shows the current phase on a stream after seconds without output."""

    def __init__(
        self,
        stream: TextIO,
        *,
        is_terminal: bool,
        width: Callable[[], int] = lambda: _WIDTH,
        clock: Callable[[], float] = time.monotonic,
        patience: float = _PATIENCE,
    ) -> None:
        self._stream, self._is_terminal, self._width, self._clock = (
            stream, is_terminal, width, clock
        )  # fmt: skip
        self._patience = patience  # seconds without output after which the phase is shown
        self._lock = threading.RLock()  # a signal handler may print while a print is under way
        self._last = clock()  # of the last output, ours or others'
        self._said: dict[str, float] = {}  # when each phase was last printed, by its text
        self._live = ""  # the line that is on the terminal now
        self._is_at_start = True  # whether the last output ended its line

    def pass_on(self, stream: TextIO, text: str) -> int:
        """Write a text of others to a stream, in the place of our own line."""
        if not self._lock.acquire(timeout=_FAREWELL):
            return stream.write(text)  # our thread is blocked by a pipe that nobody reads
        try:
            self._clear()
            self._last = self._clock()
            shown = _ESCAPES.sub("", text)
            if shown:
                self._is_at_start = shown.endswith(("\n", "\r"))
            for each in phases.under_way()[-1:]:
                if each.text in text:  # this output says it already
                    self._said[each.text] = self._last
            return stream.write(text)
        finally:
            self._lock.release()

    def tick(self) -> None:
        """Show the current phase if a line is due."""
        stack = phases.under_way()
        with self._lock:
            if not stack:
                self._clear()
            elif self._is_terminal:
                self._draw(stack)
            else:
                self._print(stack)

    def finish(self) -> None:
        """Remove our line from the terminal."""
        with self._lock:
            self._clear()

    def _draw(self, stack: Sequence[Phase]) -> None:
        """Overwrite our line on the terminal, or begin it after a silence."""
        is_due = self._live or self._clock() - self._last >= self._patience
        if not is_due or not self._is_at_start:
            return
        width = max(self._width() - 1, 1)
        text = status(stack)
        if len(text) > width:
            text = status(stack[-1:])  # whose end tells that time passes
        text = text[:width]
        if text != self._live:
            self._live = text
            self._stream.write(f"{_CLEAR}{text}")
            self._stream.flush()

    def _print(self, stack: Sequence[Phase]) -> None:
        """Print a line after a silence: at once for a new phase, later for the same one."""
        now, text = self._clock(), stack[-1].text
        again = _REPORTED if is_supervised() else _AGAIN
        if now - self._last < self._patience or now - self._said.get(text, -again) < again:
            return
        if is_supervised():
            report("phase", status_data(stack), self._stream)
        else:
            self._stream.write(f"{status(stack)}\n")
            self._stream.flush()
        self._last = self._said[text] = now

    def _clear(self) -> None:
        if self._live:
            self._live = ""
            self._stream.write(_CLEAR)
            self._stream.flush()


class _Noted:
    """A stream that reports to a heartbeat what is written to it."""

    def __init__(self, stream: TextIO, heart: Heartbeat) -> None:
        self._stream, self._heart = stream, heart

    def write(self, text: str) -> int:
        return self._heart.pass_on(self._stream, text)

    def writelines(self, lines: Sequence[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextlib.contextmanager
def beating() -> Iterator[None]:
    """Show the phases of the work inside the context on stderr whenever it is silent."""
    out, err = sys.stdout, sys.stderr
    is_terminal = err.isatty() and os.environ.get("TERM") != "dumb"
    heart = Heartbeat(
        err, is_terminal=is_terminal, width=lambda: _width(err), patience=_given_patience()
    )
    noted_err = cast(TextIO, _Noted(err, heart))
    # Only what is printed on the same terminal counts as output, and must not meet our line.
    noted_out = cast(TextIO, _Noted(out, heart)) if is_terminal and out.isatty() else out
    ended = threading.Event()
    thread = threading.Thread(target=_beat, args=(heart, ended), daemon=True)
    sys.stdout, sys.stderr = noted_out, noted_err
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(_FAREWELL)  # it may be blocked by a pipe that nobody reads
        if not thread.is_alive():
            with contextlib.suppress(OSError, ValueError):
                heart.finish()
        # Others may have replaced a stream in the meantime; that is theirs.
        sys.stdout = out if sys.stdout is noted_out else sys.stdout
        sys.stderr = err if sys.stderr is noted_err else sys.stderr


def _beat(heart: Heartbeat, ended: threading.Event) -> None:
    with contextlib.suppress(OSError, ValueError):  # the stream was closed
        while not ended.wait(_TICK):
            note_compilations()
            heart.tick()


def _given_patience() -> float:
    """Return the seconds of silence that the environment allows; 1.5 if it does not say."""
    try:
        return float(os.environ[_VARIABLE])
    except (KeyError, ValueError):
        return _PATIENCE


def _width(stream: TextIO) -> int:
    try:
        return os.get_terminal_size(stream.fileno()).columns or _WIDTH
    except (OSError, ValueError):
        return _WIDTH


def announce(text: str) -> None:
    """Print on stderr what is done next, and make it the current phase until the next one."""
    announced(text)


def announced(text: str, *, total: float | None = None) -> Phase:
    """Do as `announce`, and return the phase, of which `total` is to be done."""
    global _announced
    if _announced is not None:
        phases.end(_announced)
    _announced = phases.begin(Phase(text, total=total))
    print(f"{text} …", file=sys.stderr, flush=True)
    return _announced


_announced: Phase | None = None


# --- compilations ---------------------------------------------------------------------------------


class Compilations:
    """Makes Numba's compilations a phase; they nest, and their seconds add up."""

    def __init__(self) -> None:
        self._depth, self._seconds = 0, 0.0
        self._phase: Phase | None = None

    def on_start(self) -> None:
        """Begin the phase with the first kernel."""
        self._depth += 1
        if self._depth == 1:
            self._phase = Phase(compiling_text())
            self._phase.start -= self._seconds  # of earlier kernels
            phases.begin(self._phase)

    def on_end(self) -> None:
        """End the phase with the kernel that began it."""
        self._depth = max(self._depth - 1, 0)
        if self._depth == 0 and self._phase is not None:
            self._seconds = self._phase.elapsed
            phases.end(self._phase)
            self._phase = None


_is_listening = False


def note_compilations() -> None:
    """Listen to Numba's compilations from now on, if Numba is loaded."""
    global _is_listening
    event: Any = sys.modules.get("numba.core.event")
    # Another thread may still be importing it: then it has no `register` yet.
    if _is_listening or not all(hasattr(event, name) for name in ("Listener", "register")):
        return
    _is_listening, noted = True, Compilations()

    class Listener(event.Listener):  # type: ignore[misc]
        def on_start(self, _: object) -> None:
            noted.on_start()

        def on_end(self, _: object) -> None:
            noted.on_end()

    event.register("numba:compile", Listener())

"""Run command lines in forked children and record exit code, output and files.

Importing the package and loading its compiled kernels takes seconds, a trial a tenth of a second.
So a process loads everything once (`prepare`) and forks a child for every command. Numba's
`workqueue` layer with one thread is the only one that survives a fork.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

SOURCES = Path(__file__).resolve().parent.parent / "src"

_POLL = 0.002  # seconds between two checks of a child
_TICKS = os.sysconf("SC_CLK_TCK")  # per second, in which the system counts processor time
Action = Callable[[], None]


@dataclass(frozen=True)
class Ending:
    """Ending of a child process."""

    code: int  # exit code; minus the signal's number if one ended it
    out: str
    error: str
    seconds: float
    is_late: bool = False  # it was killed because its time was up


def prepare() -> None:
    """Choose threads that survive a fork, and the sources beside this folder; call it first."""
    os.environ["NUMBA_NUM_THREADS"] = "1"
    os.environ["NUMBA_THREADING_LAYER"] = "workqueue"
    os.environ["EQUILIBRIST_PATIENCE"] = "inf"  # no lines because the machine is busy
    if str(SOURCES) not in sys.path:
        sys.path.insert(0, str(SOURCES))


def command(*arguments: str) -> Action:
    """Return an action that runs the command line `equilibrist` with arguments."""

    def run() -> None:
        from equilibrist.cli import main

        sys.argv = ["equilibrist", *arguments]
        main()

    return run


def start(action: Action, out: Path, folder: Path, memory: int | None = None) -> int:
    """Fork a child that acts in a folder, with output to `out` and `out`.err; return its id."""
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        with open(os.devnull, "rb") as nothing:
            os.dup2(nothing.fileno(), 0)
        for number, path in ((1, out), (2, error_file(out))):
            with open(path, "wb") as stream:
                os.dup2(stream.fileno(), number)
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        os.chdir(folder)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            default = signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
            signal.signal(number, default)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if memory is not None:
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        action()
        code = 0
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(BaseException):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def finish(child: int, out: Path, started: float, limit: float) -> Ending:
    """Wait for a child of `start`, and kill it when its seconds are used up."""
    code, is_late = wait(child, limit)
    texts = [path.read_bytes().decode("utf-8", "replace") for path in (out, error_file(out))]
    return Ending(code, texts[0], texts[1], time.perf_counter() - started, is_late)


def run(
    action: Action, out: Path, folder: Path, *, limit: float = 60, memory: int | None = None
) -> Ending:
    """Fork a child, let it act and wait for its end."""
    started = time.perf_counter()
    return finish(start(action, out, folder, memory), out, started, limit)


def wait(child: int, limit: float) -> tuple[int, bool]:
    """Return the exit code of a child, and whether it was killed because its time was up.

    Its time is the time that it computes or sleeps, for example before a pipe that nobody writes
    to. Time that it waits for a busy processor does not count.
    """
    is_late, pause = False, _POLL
    slept, before = 0.0, time.perf_counter()
    while True:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status), is_late
        now = time.perf_counter()
        is_asleep, computed = _activity(child)
        slept, before = slept + (now - before) * is_asleep, now
        if slept + computed > limit and not is_late:
            is_late = True
            os.kill(child, signal.SIGKILL)
        time.sleep(pause)
        pause = min(pause * 1.1, 0.02)


def _activity(child: int) -> tuple[bool, float]:
    """Return whether a process sleeps now, and the seconds that it has computed so far."""
    try:
        fields = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
    except OSError:  # a system without /proc: all of its time counts
        return True, 0.0
    return fields[0] in "SDTt", (int(fields[11]) + int(fields[12])) / _TICKS


def error_file(out: Path) -> Path:
    """Return the file for the standard error of a child whose output goes to `out`."""
    return out.with_name(out.name + ".err")


def expect(ending: Ending, arguments: Sequence[str]) -> Ending:
    """Return the ending of a command; raise `RuntimeError` if it did not succeed."""
    if ending.code:
        raise RuntimeError(f"{' '.join(arguments)}: exit {ending.code}\n{ending.error[-2000:]}")
    return ending

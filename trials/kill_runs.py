"""Kill long commands at any moment, resume them, and compare the end with a clean run.

    python trials/kill_runs.py --trials 500 --seed 1

A trial is one kill. Kills come in chains: a run is killed, resumed, killed again, and finally runs
to its end; then every array must equal that of a clean run, bit for bit. Three ways to choose the
moment take turns: at a random time, mostly between the first and the last checkpoint; just after
something was written; and at the n-th file that is opened, flushed, renamed or removed (the process
then sends the signal to itself, so that a kill falls between any two steps of a write). Signals are
KILL, TERM, INT and HUP; of the last three some are sent twice.

What may go wrong:

    numbers    the end differs from that of the clean run
    refused    the run could not be resumed
    traceback, hang
    exit       INT, TERM or HUP did not end the run with 130, 143 or 129
    wordless   they did, but nothing was printed about what is saved
    late       nothing was printed within a second after the signal
    deaf       a second signal did not end the process within three seconds
    lost       a log that was there is neither the old one nor a whole new one
    two owners another process continued the folder of a run that had not ended

Seconds that a process was ready to run, but waited for a core, do not count: the machine may be
busy with other work.
"""

from __future__ import annotations

import argparse
import builtins
import collections
import contextlib
import dataclasses
import io
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import children
import numpy as np
import specimens
from forgery import MANIFEST, read_tables

OUT = "it"
LOG = "match.log"
CSV = "table.csv"
SIGNALS = {"KILL": 9, "TERM": 15, "INT": 2, "HUP": 1}
EXITS = {"TERM": 143, "INT": 130, "HUP": 129}
BAD = ("numbers", "refused", "traceback", "hang", "exit", "wordless", "late", "deaf", "lost",
       "two owners")  # fmt: skip
_KEPT = re.compile(r"sav|kept|keep|checkpoint|resume|continue|goes on|go on|written", re.IGNORECASE)
_LIMIT = 300.0  # seconds of a run
_LATE, _DEAF = 1.0, 3.0  # seconds, without those of waiting for a core
_MOST_LATE = 20.0  # seconds with them
_POLL = 0.01  # seconds between two looks at a process
_FRESH = 2  # kills of a chain of processes of their own, which take seconds to begin
_BEGINNING = 0.3  # seconds in which a command of a version without handlers may not have started


@dataclasses.dataclass(frozen=True)
class Job:
    """A long command."""

    name: str
    arguments: tuple[str, ...]
    resume: tuple[str, ...] = ("--resume",)  # more arguments when something is there
    group: str = ""  # of the genuine set, to run beside
    weight: int = 2  # chains in proportion
    log: str = ""  # file that it writes instead of artefacts
    is_log_partial: bool = True  # a log of fewer hands is written if a signal ends the match
    is_warmed: bool = True  # may run in the process that forks: it starts no threads that stay


def _solve(method: str, game: str, iterations: int, every: int, weight: int = 2) -> Job:
    arguments = ("solve", game, "--method", method, "--iterations", str(iterations),
                 "--every", str(every), "--out", OUT)  # fmt: skip
    has_threads = method in ("lp", "double-oracle", "range-of-skill")  # of the program HiGHS
    return Job(f"solve {method}", arguments, weight=weight, is_warmed=not has_threads)


def _spot(bits: str) -> Job:
    arguments = (*specimens.TURN, "--bits", bits, "--iterations", "2500", "--out", OUT)
    return Job(f"spot {bits} bits", arguments)


JOBS = {
    job.name: job
    for job in (
        _solve("cfr+", "leduc", 30_000, 500, weight=3),
        _solve("dcfr", "leduc", 30_000, 500),
        _solve("pcfr+", "leduc", 30_000, 500, weight=1),
        _solve("mccfr", "leduc", 300_000, 5000, weight=3),
        _solve("pcs", "leduc", 60_000, 1000, weight=3),
        _solve("egt", "leduc", 2000, 100),
        _solve("lp", "leduc", 5, 1, weight=1),
        _solve("double-oracle", "leduc", 60, 1),
        _solve("range-of-skill", "leduc", 25, 1),
        _spot("32"),
        _spot("16"),
        Job(
            "abstract",
            ("abstract", "potential-aware", "--buckets", "5,25,125", "--game", "rhode-island",
             "--out", OUT),
            weight=3,
        ),
        Job("joint", ("joint", "buckets", "--out", OUT), group="expectation", weight=3),
        Job("transitions", ("transitions", "classes", "counts", "--out", OUT), resume=(),
            group="buckets", weight=1),
        Job("train tiny", ("train", "tiny", "--to", "0.05", "--out", OUT), resume=(), weight=3),
        Job("train glued", ("train", "glued", "--out", OUT), resume=()),
        Job("train two-phases", ("train", "two-phases", "--out", OUT), resume=()),
        Job("train ectomynx", (*specimens.LEVELS, OUT, "--cycles", "3"), resume=(), weight=1),
        Job("train ectomynx-frc", (*specimens.DECISIONS, OUT, "--cycles", "2"), resume=(),
            weight=1),
        Job("exploit --real-game", (*specimens.REAL, OUT), resume=()),
        Job("solve --split", (*specimens.SPLIT, OUT, "--iterations", "60"), weight=3),
        Job("counter", (*specimens.COUNTER, "--to", "1e-4", "--out", OUT), weight=2),
        Job("flops", (*specimens.FLOPS, "--iterations", "60", "--out", OUT)),
        Job("train nine", ("train", "nine", "--out", OUT), resume=()),
        Job("match --log", ("match", "uniform", "mix:0.1,0.6,0.3", "--game", "leduc", "--hands",
                            "1500", "--log", LOG), resume=("--force",), log=LOG),
        Job("match --duplicate", ("match", "uniform", "always-call", "--game", "leduc", "--hands",
                                  "1500", "--duplicate", "--log", LOG), resume=("--force",),
            log=LOG, weight=1),
        Job("tournament", ("tournament", "cup.toml", "--csv", CSV), resume=(), log=CSV,
            is_log_partial=False, weight=1),
        Job("dealer", ("dealer", "leduc", "--hands", "400", "--seed", "5", "--bot",
                       f"{sys.executable} caller.py", "--bot", f"{sys.executable} caller.py",
                       "--log", LOG), resume=("--force",), log=LOG, weight=1),
    )
}  # fmt: skip
CUP = 'game = "leduc"\nplayers = ["uniform", "always-call", "mix:0.1,0.6,0.3"]\nhands = 30000\n'
# A client of the dealer that always calls, without the seconds that the package takes to load.
CALLER = """
import contextlib, socket, sys

address = sys.argv[1], int(sys.argv[2])
with contextlib.suppress(ConnectionError), socket.create_connection(address) as wire:
    lines = wire.makefile("rw", newline="\\r\\n")
    lines.write("VERSION:2.0.0\\r\\n")
    lines.flush()
    for line in lines:
        _, seat, _, betting, _ = line.rstrip().split(":")
        actions = betting.rpartition("/")[2]
        if len(actions) < 2 and len(actions) % 2 == int(seat):
            lines.write(line.rstrip() + ":c\\r\\n")
            lines.flush()
"""


@dataclasses.dataclass
class Kill:
    """The effect of one signal."""

    seed: int
    job: str
    way: str  # how the moment was chosen
    signal: str
    code: int
    seconds_run: float  # from the start to the end
    seconds: float  # from the signal to the end
    is_working: bool  # the command had started: it handled signals, if it ever does
    is_between: bool  # it worked, there was a checkpoint, and the last one was still to come
    is_fresh: bool  # a process of its own instead of a fork
    answered: float | None  # seconds from the signal to the next line or the end, if they were seen
    faults: list[str]
    tail: str


# --- the child ------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Injection:
    """The signal that a process sends to itself."""

    number: int  # of the step of writing at which, from 1
    signal: int
    again: bool = False  # sent again at the next step


def acting(arguments: tuple[str, ...], injection: Injection | None, handling: Path,
           counter: Path | None = None) -> Callable[[], None]:  # fmt: skip
    """Return an action that runs a command without waiting for the disk; it may signal itself.

    A killed process loses nothing that it has written, flushed or not. Not waiting makes
    checkpoints cheap and therefore frequent. `handling` is a file that is created when the command
    handles signals, `counter` one for the number of steps.
    """

    def act() -> None:
        steps = [0]

        def step() -> None:
            steps[0] += 1
            if injection is not None:
                is_next = injection.again and steps[0] == injection.number + 1
                if steps[0] == injection.number or is_next:
                    os.kill(os.getpid(), injection.signal)

        def around(function: Any) -> Any:
            def wrapped(*arguments: Any, **options: Any) -> Any:
                step()
                found = function(*arguments, **options)
                step()
                return found

            return wrapped

        def opened(file: Any, mode: str = "r", *arguments: Any, **options: Any) -> Any:
            is_ours = isinstance(file, str | Path) and not str(file).startswith(("/dev", "/proc"))
            if not is_ours or not set(mode) & set("wxa+"):
                return _open(file, mode, *arguments, **options)
            step()
            found = _open(file, mode, *arguments, **options)
            step()
            return found

        def handled(number: int, handler: Any) -> Any:
            found = _signal(number, handler)
            if number == signal.SIGTERM and callable(handler):
                handling.touch()
            return found

        signal.signal = handled
        os.replace, os.rename = around(os.replace), around(os.rename)
        os.unlink = os.remove = around(os.unlink)
        os.fsync = around(lambda descriptor: None)
        builtins.open = io.open = opened  # type: ignore[assignment]
        _signal(signal.SIGINT, signal.default_int_handler)  # if it was ignored at our start
        try:
            children.command(*arguments, "--json")()
        finally:
            if counter is not None:
                with _open(counter, "w") as file:
                    file.write(str(steps[0]))

    return act


_open, _signal = builtins.open, signal.signal


class Child:
    """A running command, forked from this process or a separate one."""

    def __init__(
        self, arguments: tuple[str, ...], home: Path, injection: Injection | None, fresh: bool,
        counter: Path | None = None,
    ) -> None:  # fmt: skip
        self.home, self.started = home, time.perf_counter()
        self.out = home.parent / f"{home.name}-{os.urandom(4).hex()}.out"
        self.process: subprocess.Popen[bytes] | None = None
        self.handling = self.out.with_suffix(".handling")
        self.code: int | None = None
        self.is_late = False
        if fresh:
            marker = self.out.with_suffix(".started")
            own = None if injection is None else dataclasses.astuple(injection)
            spec = [list(arguments), own, str(marker), str(self.handling)]
            with open(self.out, "wb") as out, open(children.error_file(self.out), "wb") as error:
                self.process = subprocess.Popen(
                    [sys.executable, __file__, "--child", json.dumps(spec)],
                    stdin=subprocess.DEVNULL, stdout=out, stderr=error, cwd=home,
                )  # fmt: skip
            self.pid = self.process.pid
            while not marker.exists() and not self.poll():  # it imports the package
                time.sleep(0.005)
            self.started = time.perf_counter()
        else:
            for path in (self.out, children.error_file(self.out)):
                path.touch()  # a signal may come before the child has opened them
            action = acting(arguments, injection, self.handling, counter)
            self.pid = children.start(action, self.out, home)

    def poll(self) -> bool:
        """Return whether it has ended."""
        if self.code is None:
            if self.process is not None:
                self.code = self.process.poll()
            else:
                found, status = os.waitpid(self.pid, os.WNOHANG)
                self.code = os.waitstatus_to_exitcode(status) if found else None
        return self.code is not None

    def send(self, number: int) -> bool:
        """Send a signal; return whether the command was still running."""
        if self.poll():
            return False
        os.kill(self.pid, number)
        return True

    def wait(self, seconds: float) -> bool:
        """Wait for its end; return whether it came."""
        until = time.perf_counter() + seconds
        while not self.poll():
            if time.perf_counter() > until:
                return False
            time.sleep(_POLL)
        return True

    def waited(self) -> float:
        """Return the seconds that its threads waited for a core; 0 if that is not known."""
        waited = 0.0
        for path in Path(f"/proc/{self.pid}/task").glob("*/schedstat"):
            with contextlib.suppress(OSError, ValueError, IndexError):
                waited += int(path.read_text().split()[1]) / 1e9
        return waited

    def finish(self) -> int:
        """Wait for its end, or kill it; return its exit code."""
        if not self.wait(_LIMIT):
            self.is_late = True
            self.send(signal.SIGKILL)
            self.wait(60)
        assert self.code is not None
        return self.code

    @property
    def text(self) -> str:
        """Return its standard output."""
        return self.out.read_text(errors="replace")

    @property
    def error(self) -> str:
        """Return its standard error."""
        return children.error_file(self.out).read_text(errors="replace")


# --- a clean run ----------------------------------------------------------------------------------


@dataclasses.dataclass
class Clean:
    """A run that was not killed: its end, its duration, and when it wrote."""

    home: Path
    seconds: float
    checkpoints: list[float]  # seconds after the start
    steps: int  # of writing
    handles: bool  # signals
    result: dict[str, Any]


def writings(home: Path) -> set[tuple[str, int]]:
    """Return the manifests of a run, with the times at which they were written."""
    found = set()
    for path in (home / OUT).rglob(MANIFEST):
        try:
            found.add((str(path), path.stat().st_mtime_ns))
        except OSError:
            continue
    return found


def clean_run(job: Job, home: Path) -> Clean:
    """Run a command to its end and record when it writes."""
    counter = home.parent / f"{home.name}.steps"
    child = Child(job.arguments, home, None, False, counter)
    seen, times = writings(home), []
    while not child.poll():
        now = writings(home)
        if now != seen:
            seen = now
            times.append(time.perf_counter() - child.started)
        time.sleep(_POLL)
    seconds = time.perf_counter() - child.started
    if child.code:
        raise RuntimeError(f"{job.name}: exit {child.code}\n{child.error[-3000:]}")
    steps = int(counter.read_text())
    return Clean(home, seconds, times, steps, child.handling.exists(), contents(home))


def warm(job: Job, home: Path) -> None:
    """Run a command in this process, so that its forks find its kernels loaded."""
    here, out = os.getcwd(), home.parent / "warm"
    os.chdir(home)
    try:
        with (
            open(out, "w") as stream,
            contextlib.redirect_stdout(stream),
            contextlib.redirect_stderr(stream),
        ):
            children.command(*job.arguments, "--json")()
    except SystemExit as ended:
        if ended.code:
            text = out.read_text()[-3000:]
            raise RuntimeError(f"{job.name}: exit {ended.code}\n{text}") from None
    finally:
        os.chdir(here)


def contents(home: Path) -> dict[str, Any]:
    """Return what a run wrote, without times: checksums of arrays, settings, traces, the log."""
    found: dict[str, Any] = {}
    for log in (home / LOG, home / CSV):
        if log.exists():
            found[log.name] = log.read_bytes()
    for path in sorted((home / OUT).rglob(MANIFEST)):
        manifest = json.loads(path.read_bytes())
        name = str(path.parent.relative_to(home))
        manifest["configuration"].pop("run", None)  # the name of a run is drawn
        found[f"{name} settings"] = [manifest[k] for k in ("kind", "configuration", "info", "seed")]
        for array, entry in manifest["arrays"].items():
            if array == "trace":
                rows = np.load(path.parent / entry["file"])
                found[f"{name} trace"] = {int(row[0]): row[2:].tolist() for row in rows}
            else:
                found[f"{name} {array}"] = [entry["dtype"], entry["shape"], entry["sha256"]]
    for path in sorted((home / OUT).rglob("*.tables")):
        header, _ = read_tables(path)
        found[path.name] = [header["epoch"], header["parts"]]
    return found


def differences(clean: dict[str, Any], found: dict[str, Any], *, extra_rows: bool) -> list[str]:
    """Return the names of differences; an interrupted run may have evaluated more often."""
    wrong = []
    for name in sorted(clean.keys() | found.keys()):
        ours, theirs = found.get(name), clean.get(name)
        if name.endswith(" trace") and ours is not None and theirs is not None and extra_rows:
            ours = {iteration: row for iteration, row in ours.items() if iteration in theirs}
        if ours != theirs:
            wrong.append(name)
    return wrong


# --- a chain of kills -----------------------------------------------------------------------------


class Killer:
    """Clean runs of all commands, and chains of kills."""

    def __init__(self, place: Path, options: argparse.Namespace) -> None:
        self.place, self.options = place, options
        self.genuine = specimens.genuine(["abstraction"], _say)
        self.clean: dict[str, Clean] = {}
        self.has_force = _takes_force()

    def home(self, job: Job, name: str) -> Path:
        """Create a new folder to run in."""
        home = self.place / name
        shutil.rmtree(home, ignore_errors=True)
        if job.group == "buckets":
            shutil.copytree(self.genuine / "buckets", home)
        elif job.group:
            home.mkdir()
            os.symlink(self._expectation(), home / "buckets")
        else:
            home.mkdir()
        for file, text in specimens.GAMES.items():
            (home / file).write_text(text)
        (home / "cup.toml").write_text(CUP)
        (home / "caller.py").write_text(CALLER)
        return home

    def _expectation(self) -> Path:
        """Build buckets of Rhode Island hold'em whose joint counts take a few seconds."""
        found = self.place / "expectation"
        if not found.exists():
            arguments = ("abstract", "expectation", "--buckets", "13,130,1300", "--game",
                         "rhode-island", "--out", str(found))  # fmt: skip
            ending = children.run(children.command(*arguments), self.place / "log", self.place,
                                  limit=900)  # fmt: skip
            children.expect(ending, arguments)
        return found

    def measure(self, job: Job) -> None:
        """Return a clean run, after a run that compiles and loads the kernels."""
        cold = self.home(job, "cold")
        if job.is_warmed and not job.log:
            warm(job, cold)
        else:
            clean_run(job, cold)
        name = f"clean-{job.name.replace(' ', '-')}"
        self.clean[job.name] = clean = clean_run(job, self.home(job, name))
        _say(f"{job.name}: {clean.seconds:.1f} s, {len(clean.checkpoints)} checkpoints, "
             f"{clean.steps} steps of writing")  # fmt: skip

    def chain(self, seed: int, job: Job, kills: int, is_fresh: bool) -> list[Kill]:
        """Kill a run up to a number of times, let it end, and compare."""
        rng, home = random.Random(seed), self.home(job, f"chain-{seed}")
        clean, found = self.clean[job.name], []
        if job.log:
            (home / job.log).write_bytes(b"precious\n")
        child = None
        for _ in range(min(kills, _FRESH) if is_fresh else kills):
            kill, child = self._leg(rng, seed, job, home, is_fresh)
            if kill is not None:
                found.append(kill)
            if child.code in (0, 2) and kill is None:
                break
        ended = found[-1] if found else None
        if ended is None:
            shutil.rmtree(home)
            return []
        last = Child(self._arguments(job, home), home, None, False)
        last.finish()
        is_done = _is_done(last)
        if last.is_late:
            ended.faults.append("hang")
        elif "Traceback" in last.error:
            ended.faults.append("traceback")
            ended.tail = last.error[-900:]
        elif last.code and not is_done:
            ended.faults.append("refused")
            ended.tail = last.error[-900:]
        else:
            extra = any(kill.signal != "KILL" for kill in found)
            wrong = differences(clean.result, contents(home), extra_rows=extra)
            if wrong:
                ended.faults.append("numbers")
                signals = " ".join(kill.signal for kill in found)
                ended.tail = f"after {signals}: {', '.join(wrong)[:600]}"
        if not self.options.keep:
            shutil.rmtree(home)
        return found

    def _arguments(self, job: Job, home: Path) -> tuple[str, ...]:
        if job.log:
            return (*job.arguments, *(job.resume if self.has_force else ()))
        more = job.resume if (home / OUT / MANIFEST).exists() else ()
        return (*job.arguments, *more)

    def _leg(
        self, rng: random.Random, seed: int, job: Job, home: Path, is_fresh: bool
    ) -> tuple[Kill | None, Child]:
        """Start one run and kill it, unless it ends before."""
        clean = self.clean[job.name]
        name = rng.choice(["KILL", "KILL", "TERM", "INT", "INT", "HUP"])
        number = SIGNALS[name]
        way = rng.choice(["time", "time", "write", "step", "step"])
        twice = name != "KILL" and rng.random() < 0.25
        injection = None
        if way == "step":
            injection = Injection(rng.randint(1, max(clean.steps, 1)), number, twice)
        before = writings(home)
        old_log = (home / job.log).read_bytes() if job.log else b""
        child = Child(self._arguments(job, home), home, injection, is_fresh)
        sent = 0.0
        if injection is None:
            self._wait(rng, job, home, child, way, is_first=not before)
            had = writings(home)
            said = len(child.error)
            if child.send(number):
                sent = time.perf_counter()
            acknowledged = self._after(child, number, twice, sent, said)
        else:
            acknowledged = None
            if not child.wait(_LIMIT):
                child.finish()
            had, sent = writings(home), time.perf_counter()
        child.finish()
        is_working = child.handling.exists() or not clean.handles
        is_between = is_working and bool(had)
        is_between &= bool(differences(clean.result, contents(home), extra_rows=True))
        code = child.code or 0
        if _is_done(child):
            return None, child
        was_killed = code == -number or (name in EXITS and code == EXITS[name])
        if not sent or (injection is not None and not was_killed and code == 0 and name == "KILL"):
            return None, child  # it had ended, or never got to that step
        if injection is not None and code == 0 and "interrupted" not in child.text:
            return None, child
        if injection is None and code == 0 and "interrupted" not in child.text and _is_over(child):
            return None, child
        kill = Kill(seed, job.name, way + (" twice" if twice else ""), name, code,
                    round(time.perf_counter() - child.started, 2),
                    round(time.perf_counter() - sent, 2), is_working, is_between, is_fresh,
                    None, [],
                    child.error[-500:])  # fmt: skip
        self._judge(kill, child, job, home, old_log, acknowledged, twice)
        return kill, child

    def _wait(
        self, rng: random.Random, job: Job, home: Path, child: Child, way: str, is_first: bool
    ) -> None:
        """Wait until the signal is due."""
        clean = self.clean[job.name]
        if clean.handles and rng.random() < 0.95:
            while not child.poll() and not child.handling.exists():
                time.sleep(_POLL)
        start = time.perf_counter()
        if way == "write":
            seen, skipped = writings(home), rng.randrange(3)
            until = start + 3 * clean.seconds
            while not child.poll() and time.perf_counter() < until:
                now = writings(home)
                if now != seen:
                    seen = now
                    if not skipped:
                        break
                    skipped -= 1
                time.sleep(_POLL)
            time.sleep(rng.random() * 0.02)
            return
        first = clean.checkpoints[0] if clean.checkpoints else 0.1 * clean.seconds
        last = clean.checkpoints[-2] if len(clean.checkpoints) > 2 else 0.9 * clean.seconds
        if is_first and rng.random() < 0.8:
            moment = rng.uniform(first, max(first, last))
        else:
            moment = rng.uniform(0, 0.5 * clean.seconds)
        until = start + moment
        while not child.poll() and time.perf_counter() < until:
            time.sleep(0.002)

    def _after(self, child: Child, number: int, twice: bool, sent: float, said: int
               ) -> tuple[float, float] | None:  # fmt: skip
        """Watch what follows a signal: the seconds until something is said, or until the end.

        All of them, and those in which the process did not wait for a core.
        """
        if not sent or number == signal.SIGKILL:
            return None
        waited, acknowledged = child.waited(), None
        while not child.poll() and time.perf_counter() < sent + _MOST_LATE:
            if len(child.error) > said:
                seconds = time.perf_counter() - sent
                acknowledged = seconds, seconds - max(0.0, child.waited() - waited)
                break
            time.sleep(0.005)
        if acknowledged is None and child.poll():
            acknowledged = time.perf_counter() - sent, 0.0  # the end says enough
        if twice:
            child.wait(0.4)  # two signals at once may be one
            again, waited = time.perf_counter(), child.waited()
            child.send(number)
            while not child.wait(0.1):
                seconds = time.perf_counter() - again
                if seconds - (child.waited() - waited) > _DEAF or seconds > _MOST_LATE:
                    child.is_late = True
                    break
        return acknowledged or (_MOST_LATE, _MOST_LATE)

    def _judge(
        self, kill: Kill, child: Child, job: Job, home: Path, old_log: bytes,
        acknowledged: tuple[float, float] | None, twice: bool,
    ) -> None:  # fmt: skip
        """Find faults with how a run ended."""
        error = child.error
        # Before the command handles signals, and after it printed its result, a signal ends it.
        clean = self.clean[job.name]
        has_died = kill.code == -SIGNALS[kill.signal]
        is_outside = not kill.is_working or (has_died and _is_over(child))
        is_outside |= has_died and not clean.handles and kill.seconds_run < _BEGINNING
        if "Traceback" in error and not (is_outside and "KeyboardInterrupt" in error):
            kill.faults.append("traceback")
        if child.is_late:
            kill.faults.append("deaf" if twice else "hang")
        if acknowledged is not None:
            kill.answered = round(acknowledged[0], 3)
            if acknowledged[1] > _LATE:
                kill.faults.append("late")
        if kill.signal != "KILL" and not is_outside:
            if kill.code != EXITS[kill.signal]:
                kill.faults.append("exit")
            elif not twice and not _KEPT.search(error) and not job.log:
                kill.faults.append("wordless")
                kill.tail = f"stdout {child.text[-300:]!r}, stderr {error[-900:]!r}"
        if job.log:
            now = (home / job.log).read_bytes() if (home / job.log).exists() else b""
            whole = clean.result[job.log]
            is_part = kill.signal != "KILL" and now.endswith(b"\n") and len(now) > 100
            is_part = is_part and job.is_log_partial
            if now not in (old_log, whole) and not is_part:
                kill.faults.append("lost")

    def two_owners(self, seed: int, job: Job) -> Kill | None:
        """Start a run, stop it for a while, and let another run try to continue its folder."""
        rng, home = random.Random(seed), self.home(job, f"owners-{seed}")
        clean = self.clean[job.name]
        first = Child(self._arguments(job, home), home, None, False)
        until = first.started + _LIMIT
        while not first.poll() and not writings(home) and time.perf_counter() < until:
            time.sleep(0.002)
        time.sleep(rng.random() * 0.3 * clean.seconds)
        if not first.send(signal.SIGSTOP):
            shutil.rmtree(home)
            return None
        second = Child(self._arguments(job, home), home, None, False)
        second.finish()
        first.send(signal.SIGCONT)
        first.finish()
        faults = []
        is_refused = second.code == 2 and str(first.pid) in second.error
        if not is_refused:
            faults.append("two owners")
        if "Traceback" in first.error + second.error:
            faults.append("traceback")
        elif differences(clean.result, contents(home), extra_rows=False):
            faults.append("numbers")
        if not self.options.keep:
            shutil.rmtree(home)
        return Kill(seed, job.name, "two owners", "STOP", second.code or 0, 0.0, 0.0, True, False,
                    False, None, faults, (second.error or second.text)[-400:])  # fmt: skip


def _is_done(child: Child) -> bool:
    """Return whether a command found its folder complete; `transitions` cannot be resumed."""
    complete = ("nothing is left to do", "exists; choose another folder for the transitions\n")
    return any(text in child.error for text in complete)


def _is_over(child: Child) -> bool:
    """Return whether a command had printed its result: the signal came too late."""
    return bool(child.text.strip()) or "equilibrist: stopped" in child.error


def _takes_force() -> bool:
    """Return whether `match` has an option to overwrite a log."""
    place = Path(tempfile.mkdtemp())
    try:
        return (
            "--force" in children.run(children.command("match", "--help"), place / "o", place).out
        )
    finally:
        shutil.rmtree(place)


# --- all of them ----------------------------------------------------------------------------------


def table(found: list[Kill], by: str) -> str:
    """Return a table of kills and faults by command, or by signal."""
    groups: dict[str, list[Kill]] = collections.defaultdict(list)
    for kill in found:
        groups[getattr(kill, by)].append(kill)
    columns = [fault for fault in BAD if any(fault in kill.faults for kill in found)]
    rows = [[by, "kills", "between", "faulty", *columns]]
    for key, kills in [*sorted(groups.items()), ("all", found)]:
        counts = collections.Counter(fault for kill in kills for fault in kill.faults)
        between, faulty = sum(k.is_between for k in kills), sum(bool(k.faults) for k in kills)
        rows.append([key, len(kills), between, faulty, *(counts[c] for c in columns)])
    widths = [max(len(str(row[i])) for row in rows) for i in range(len(rows[0]))]
    return "\n".join(
        "  ".join(str(cell).ljust(w) if i == 0 else str(cell).rjust(w)
                  for i, (cell, w) in enumerate(zip(row, widths, strict=True)))
        for row in rows
    )  # fmt: skip


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _child(spec: str) -> None:
    """Run a command in this process, as a fork would."""
    arguments, injection, marker, handling = json.loads(spec)
    specimens.prepare()
    Path(marker).touch()
    acting(tuple(arguments), Injection(*injection) if injection else None, Path(handling))()


def main() -> int:
    """Run the trials; return exit code 1 if one failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=500, help="kills (default: 500)")
    parser.add_argument("--seed", type=int, default=1, help="random seed (default: 1)")
    parser.add_argument("--only", type=int, help="repeat the chain of this seed")
    parser.add_argument("--jobs", help="commands to kill, with commas (default: all)")
    parser.add_argument("--chain", type=int, default=4, help="kills per run at most (default: 4)")
    parser.add_argument("--json", type=Path, help="add every kill to this file, one per line")
    parser.add_argument("--keep", action="store_true", help="keep the folders of trials")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child is not None:
        _child(options.child)
        return 0
    names = options.jobs.split(",") if options.jobs else list(JOBS)
    specimens.prepare()
    place = Path(tempfile.mkdtemp(prefix="equilibrist-killed-"))
    try:
        found = _run(Killer(place, options), names, options)
    finally:
        if not options.keep:
            shutil.rmtree(place, ignore_errors=True)
    print(f"{table(found, 'job')}\n\n{table(found, 'signal')}\n\n{table(found, 'way')}")
    faulty = [kill for kill in found if kill.faults]
    kills = [kill for kill in found if kill.signal != "STOP"]
    early = sum(not kill.is_working for kill in kills)
    answered = [kill.answered for kill in kills if kill.answered is not None and kill.is_working]
    between = sum(kill.is_between for kill in kills)
    print(f"\n{len(kills)} kills, {between} of them between the first and the last checkpoint, "
          f"{early} before the command began;\n"
          f"{sum(seconds <= 1 for seconds in answered)} of {len(answered)} signals answered within "
          f"a second, waiting for a core included;\n{len(found) - len(kills)} stopped runs met a "
          f"second owner;\n{len(faulty)} of all with faults, "
          f"{sum('numbers' in kill.faults for kill in found)} with other numbers")  # fmt: skip
    return int(bool(faulty))


def _run(killer: Killer, names: list[str], options: argparse.Namespace) -> list[Kill]:
    ring = [name for name in names for _ in range(JOBS[name].weight)]
    random.Random(options.seed).shuffle(ring)
    if options.only is not None:
        ring = [ring[options.only % 10**6 % len(ring)]]
    for name in dict.fromkeys(ring):
        killer.measure(JOBS[name])
    found: list[Kill] = []
    number, start = 0, time.perf_counter()
    while len(found) < options.trials:
        seed = 10**6 * options.seed + number if options.only is None else options.only
        job = JOBS[ring[seed % 10**6 % len(ring)]]
        new = killer.chain(seed, job, options.chain, is_fresh=number % 10 == 9)
        if number % 8 == 7 and not job.log and job.name != "transitions":
            kill = killer.two_owners(seed, job)
            new += [] if kill is None else [kill]
        found += new
        for kill in new:
            if kill.faults:
                _say(f"seed {kill.seed}, {kill.job}, {kill.signal} ({kill.way}), exit {kill.code}: "
                     f"{', '.join(kill.faults)}\n{kill.tail}")  # fmt: skip
        if options.json is not None:
            with open(options.json, "a") as stream:
                stream.writelines(json.dumps(dataclasses.asdict(kill)) + "\n" for kill in new)
        number += 1
        if number % 10 == 0:
            faulty = sum(bool(kill.faults) for kill in found)
            _say(f"{len(found)} kills, {time.perf_counter() - start:.0f} s, {faulty} with faults")
        if options.only is not None:
            break
    return found


if __name__ == "__main__":
    sys.exit(main())

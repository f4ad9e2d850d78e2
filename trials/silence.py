"""Measure how long commands are silent: nothing may run longer than two seconds without a word.

    python trials/silence.py                      # the list below, in a new folder
    python trials/silence.py --only spot,equity   # those whose line contains one of these words
    python trials/silence.py --pipe               # without a terminal
    python trials/silence.py --folder DIR         # reuse the folders of an earlier run
    python trials/silence.py -- verify some/dir   # one command of your own

Each command runs under a pseudo-terminal of 80 columns. The script notes when bytes arrive on
stdout and stderr, and prints for each command its seconds, its longest silence, when that began
and the last text before it. It exits with 1 if a silence is longer than the limit. A busy machine
makes silences longer: judge by the phase that was silent.
"""

from __future__ import annotations

import argparse
import errno
import fcntl
import os
import pty
import re
import select
import shlex
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
from dataclasses import dataclass
from pathlib import Path

SOURCES = Path(__file__).resolve().parent.parent / "src"
LIMIT = 2.0  # seconds of silence that are allowed on a terminal
PIPE_LIMIT = 10.0  # elsewhere: a phase that lasts is printed again after ten seconds
SLACK = 1.0  # seconds by which a busy machine may be late
COLUMNS = 80

# Run in this order: some read what those before them wrote.
COMMANDS = (
    "--help",
    "games show holdem-limit",
    'tree holdem-nolimit --bets "33%,75%,a" --rounds 1-3',
    "rank KhKd4c4d9hJsQc",
    "index AhKh2c7d9h",
    "equity AhAd --random",
    "equity 22+,A2s+,K2s+,A2o+ QQ+,AKs,72o,T2s+",
    "solve leduc --iterations 2000 --out leduc-solution",
    "solve leduc --method lp",
    "exploit leduc-solution",
    "verify leduc-solution",
    "compare leduc --seconds 3",
    "abstract percentile --buckets 5,25,125,250 --out quintiles",
    "buckets quintiles AhKd 7h8h9c",
    "buckets quintiles --plot quintiles.png",
    "joint quintiles --boards 2000 --out quintiles-joint",
    "solve quintiles --joint quintiles-joint --iterations 20 --out quintiles-solution",
    "exploit quintiles-solution",
    "verify quintiles",
    "train smallbot-quick",
    "bots",
    "show smallbot-quick --node r",
    "verify bots/smallbot-quick/solution",
    "exploit bots/smallbot-quick/solution",
    "exploit smallbot-quick --real-game --flops 6 --out response",
    "match smallbot-quick poki --hands 200 --duplicate --aivat",
    "spot --board Td9d6hQc --oop 22+,A2s+,K9s+,QTs+,ATo+ --ip 22+,A2s+,K9s+,QTs+,ATo+ --pot 60"
    ' --stack 470 --bets "33%,75%,150%" --raises "2x,3x" --iterations 20 --out turn',
    "spot turn --node c",
    "spot turn --node cc --runouts",
    "exploit turn",
    "transitions quintiles --flops 2 --out quintiles-transitions",
    "reproduce range-of-skill --quick",
    "reproduce cfr-plus --quick",
    "reproduce ectomynx --quick",
    "reproduce abstractions --quick",
)
# Commands that take longer than anybody waits here: only their first minutes are measured.
STARTS = ("train psopti1", "train gs3-small")
START_SECONDS = 150.0


@dataclass(frozen=True)
class Silence:
    """The longest time without output of one command."""

    code: int  # exit code
    total: float  # seconds from start to end
    longest: float  # seconds
    begin: float  # seconds from the start
    before: str  # the last line before it


class Watch:
    """Finds the longest silence in the moments at which bytes arrive."""

    def __init__(self) -> None:
        self.last, self.longest, self.begin, self.before = 0.0, 0.0, 0.0, ""
        self._text = ""

    def hear(self, seconds: float, data: bytes) -> None:
        """Receive bytes, none at the end, at a number of seconds from the start."""
        if seconds - self.last > self.longest:
            self.longest, self.begin, self.before = seconds - self.last, self.last, self.line
        self.last = seconds
        self._text = (self._text + data.decode(errors="replace"))[-4000:]

    @property
    def line(self) -> str:
        """Return the last line so far, without the codes of a terminal."""
        text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", self._text)
        lines = [line.strip() for line in re.split(r"[\r\n]", text) if line.strip()]
        return lines[-1] if lines else "(nothing yet)"


def measure(command: list[str], folder: Path, *, terminal: bool = True, limit: float) -> Silence:
    """Run a program in a folder and return its longest silence; kill it after `limit` seconds."""
    if terminal:
        reader, writer = pty.openpty()
        fcntl.ioctl(writer, termios.TIOCSWINSZ, struct.pack("HHHH", 24, COLUMNS, 0, 0))
    else:
        reader, writer = os.pipe()
    environment = os.environ | {"PYTHONPATH": str(SOURCES), "TERM": "xterm"}
    environment.pop("EQUILIBRIST_PATIENCE", None)
    watch, start = Watch(), time.monotonic()
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=writer, stderr=writer
    )
    os.close(writer)
    try:
        while data := _read(reader, start + limit - time.monotonic()):
            watch.hear(time.monotonic() - start, data)
    finally:
        if time.monotonic() - start >= limit or sys.exc_info()[0]:
            process.kill()
        code = process.wait()
        os.close(reader)
    watch.hear(time.monotonic() - start, b"")
    return Silence(code, watch.last, watch.longest, watch.begin, watch.before)


def _read(reader: int, seconds: float) -> bytes:
    """Return what arrives within some seconds; empty at the end or when they are over."""
    if not select.select([reader], [], [], max(seconds, 0))[0]:
        return b""
    try:
        return os.read(reader, 65536)
    except OSError as error:  # how Linux ends a pseudo-terminal
        if error.errno != errno.EIO:
            raise
        return b""


def main() -> int:
    """Measure the commands and print one line for each; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="words, separated by commas")
    parser.add_argument("--pipe", action="store_true", help="run without a terminal")
    parser.add_argument("--folder", type=Path, help="where the commands run; default: a new one")
    parser.add_argument("--limit", type=float, default=900, help="seconds per command")
    parser.add_argument("own", nargs="*", help="a command of your own")
    given = parser.parse_args()
    folder = given.folder or Path(tempfile.mkdtemp(prefix="silence-"))
    folder.mkdir(exist_ok=True)
    lines = [shlex.join(given.own)] if given.own else [*COMMANDS, *STARTS]
    words = [word for word in given.only.split(",") if word]
    failures = 0
    for line in lines:
        if words and not any(word in line for word in words):
            continue
        program = [sys.executable, "-m", "equilibrist", *shlex.split(line)]
        limit = min(given.limit, START_SECONDS) if line in STARTS else given.limit
        found = measure(program, folder, terminal=not given.pipe, limit=limit)
        is_long = found.longest > (PIPE_LIMIT if given.pipe else LIMIT) + SLACK
        is_cut = line in STARTS and found.code == -signal.SIGKILL
        failures += is_long or (found.code != 0 and not is_cut)
        print(
            f"{'LONG' if is_long else 'ok':4} {found.longest:6.1f} s of {found.total:6.1f} s"
            f"{f', exit {found.code}' if found.code else ''}: {line[:70]}",
            flush=True,
        )
        if is_long:
            print(f"       from {found.begin:.1f} s on, after: {found.before[:100]}", flush=True)
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())

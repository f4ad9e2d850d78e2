"""Measure the figures that the page promises: a table with each goal beside its figure.

    python trials/web_figures.py --folder DIR                              # DIR/bots has smallbot
    python trials/web_figures.py --folder DIR --player smallbot-quick      # trained in two minutes
    python trials/web_figures.py --schemathesis DIR                        # where it is installed
    python trials/web_figures.py --only actions,paint --json

Times depend on what else runs, so the load of the machine is printed first: run it with nothing
else. The parts are `actions` (500 tables), `beside` (50 tables beside a spot that is solved),
`paint` (first paint, size of the page, new grids), `smoke` (the short tests in Chromium), `hidden`
(10,000 hands, every byte), `kill` (hands and jobs after kill -9) and `calls` (generated requests to
the whole API). A part that cannot run here says why. The script exits with 1 if a goal is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
BROWSER = ("tests/web/test_browser.py", "tests/web/test_browser_spots.py")


@dataclass(frozen=True)
class Figure:
    """A goal and what was measured; `is_met` is None if it could not be measured."""

    what: str
    goal: str
    figure: str
    is_met: bool | None


@dataclass(frozen=True)
class Trial:
    """Where the trial runs and with what."""

    folder: Path
    player: str
    schemathesis: str

    def run(self, *words: str, more: str = "") -> subprocess.CompletedProcess[str]:
        """Run Python in the folder with the sources of this repository."""
        paths = [str(ROOT / "src"), *([more] if more else [])]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
        environment["PYTHONDONTWRITEBYTECODE"] = ""  # as in `make test`
        return subprocess.run(
            [sys.executable, *words], cwd=self.folder, env=environment, text=True,
            capture_output=True,
        )  # fmt: skip

    def load(self, *options: str) -> dict[str, Any]:
        """Run `load_page.py`; return its figures."""
        script, folder = str(ROOT / "trials" / "load_page.py"), str(self.folder)
        done = self.run(script, "--folder", folder, "--player", self.player, *options)
        found: dict[str, Any] = json.loads(last_line(done.stdout) or "{}")
        if not found:
            raise RuntimeError(last_line(done.stderr))
        return found

    def tests(self, *words: str) -> tuple[bool, str, float]:
        """Run tests; return whether they passed, their last line and the seconds."""
        begin = time.monotonic()
        files = [str(ROOT / word) if word.startswith("tests/") else word for word in words]
        done = self.run(
            "-m", "pytest", "-q", "-p", "no:xdist", "-rs", "--rootdir", str(ROOT),
            "-c", str(ROOT / "pyproject.toml"), *files,
        )  # fmt: skip
        said = last_line(done.stdout) or last_line(done.stderr)
        is_run = done.returncode == 0 and "skipped" not in said
        return is_run, said, time.monotonic() - begin


def last_line(text: str) -> str:
    """Return the last line of a text that is not empty."""
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""


# --- the parts ------------------------------------------------------------------------------------


def actions(trial: Trial) -> Iterator[Figure]:
    """Yield the time of an action with 500 tables."""
    found = trial.load("--tables", "500", "--seconds", "30")
    yield Figure(
        f"an action, 500 tables against {trial.player}: 95 % within",
        "100 ms",
        f"{found['p95_ms']} ms (median {found['median_ms']}, 99 % {found['p99_ms']}; "
        f"{found['per_second']} per second, {found['failures']} failures)",
        found["p95_ms"] <= 100 and found["failures"] == 0,
    )
    yield Figure("memory of the server with them", "reported", f"{found['memory_mb']} MB", True)


def beside(trial: Trial) -> Iterator[Figure]:
    """Yield the time of an action while a spot is solved."""
    found = trial.load("--tables", "50", "--spot", "--seconds", "30")
    yield Figure(
        "an action, 50 tables beside a turn that is solved: 95 % within",
        "200 ms",
        f"{found['p95_ms']} ms (median {found['median_ms']}, 99 % {found['p99_ms']}; "
        f"{found['memory_mb']} MB)",
        found["p95_ms"] <= 200 and found["failures"] == 0,
    )


def paint(trial: Trial) -> Iterator[Figure]:
    """Yield the figures of the page in Chromium."""
    found = trial.load("--paint")
    times, sizes, grids = found["first_paint_ms"], found["loaded_bytes"], found["grid_ms"]
    yield Figure(
        "first paint of five views", "1 s", f"{min(times)} to {max(times)} ms", max(times) <= 1000
    )
    yield Figure(
        "what a view loads", "300 kB", f"at most {max(sizes) / 1000:.0f} kB", max(sizes) <= 300_000
    )
    yield Figure(
        "new grid of a solved turn with all hands",
        "100 ms",
        f"{min(grids)} to {max(grids)} ms",
        max(grids) <= 100,
    )


def smoke(trial: Trial) -> Iterator[Figure]:
    """Yield the time of the short tests in Chromium; a first run compiles kernels."""
    is_met, said, seconds = trial.tests(*BROWSER)
    yield Figure(
        "smoke test in Chromium", "30 s", f"{seconds:.1f} s: {said}", is_met and seconds <= 30
    )


def hidden(trial: Trial) -> Iterator[Figure]:
    """Yield whether a hidden card was sent in 10,000 hands."""
    is_met, said, _ = trial.tests("-m", "slow", "-k", "10000_hands", "tests/web/test_tables.py")
    yield Figure(
        "hidden cards sent in 10,000 hands: limit, no-limit and discards", "none", said, is_met
    )


def kill(trial: Trial) -> Iterator[Figure]:
    """Yield whether hands and jobs are there after kill -9."""
    is_met, said, _ = trial.tests("-k", "killed", "tests/web/test_serve.py")
    yield Figure("hands and jobs after kill -9 of the server", "all", said, is_met)


def calls(trial: Trial) -> Iterator[Figure]:
    """Yield the failures of generated requests."""
    script = str(ROOT / "trials" / "call_api.py")
    done = trial.run(script, "--calls", "10000", more=trial.schemathesis)
    if "No module named 'schemathesis'" in done.stderr:
        raise RuntimeError("schemathesis is not installed: pip install --target DIR schemathesis")
    said = next(
        (line for line in done.stdout.splitlines() if " calls, " in line), last_line(done.stderr)
    )
    if done.returncode:
        print(done.stdout.partition(" failures\n")[2], file=sys.stderr)  # each failure on a line
    yield Figure(
        "generated requests to the whole API",
        "10,000 calls, 0 failures",
        said,
        done.returncode == 0,
    )


PARTS: dict[str, Callable[[Trial], Iterator[Figure]]] = {
    part.__name__: part for part in (actions, beside, paint, smoke, hidden, kill, calls)
}


def measured(part: str, trial: Trial) -> Iterator[Figure]:
    """Yield the figures of a part, or why there are none."""
    print(f"{part} …", file=sys.stderr, flush=True)
    try:
        for figure in PARTS[part](trial):
            print(f"  {figure.what}: {figure.figure}", file=sys.stderr, flush=True)
            yield figure
    except (RuntimeError, KeyError, ValueError) as error:
        yield Figure(part, "", f"not measured: {error}", None)


def main() -> int:
    """Run the trial."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--folder", type=Path, help="folder with the bot; default: a new one")
    parser.add_argument("--player", default="smallbot", help="opponent at the tables")
    parser.add_argument("--schemathesis", default="", help="folder in which it is installed")
    parser.add_argument("--only", default=",".join(PARTS), help="parts, separated by commas")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    begin, load = time.monotonic(), os.getloadavg()
    with tempfile.TemporaryDirectory() as scratch:
        folder = (options.folder or Path(scratch)).resolve()
        more = options.schemathesis and str(Path(options.schemathesis).resolve())
        trial = Trial(folder, options.player, more)
        rows = [row for part in options.only.split(",") for row in measured(part, trial)]
    seconds = time.monotonic() - begin
    if options.json:
        data = {"load": load, "seconds": seconds, "figures": [asdict(row) for row in rows]}
        print(json.dumps(data))
    else:
        print(
            f"load before {load[0]:.1f}, {load[1]:.1f}, {load[2]:.1f}; measured in {seconds:.0f} s"
        )
        for row in rows:
            mark = {True: "met   ", False: "MISSED", None: "      "}[row.is_met]
            print(f"{mark} {row.what} · goal {row.goal or '-'} · {row.figure}")
    return 1 if any(row.is_met is False for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())

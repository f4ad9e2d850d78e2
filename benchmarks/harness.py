"""Code that all benchmarks share: best-of timing, one table, one JSON line per row.

A row compares ours with a named rival measured in the same run; a figure stands alone, or in a line
of figures under a header of their own. All are appended to `benchmarks/results.jsonl` with the
commit and the machine, so that they can be traced.
"""

from __future__ import annotations

import json
import platform
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import numba

RESULTS = Path(__file__).with_name("results.jsonl")
RIVALS = f"{'ours':>16}  {'rival':<24}{'theirs':>16}{'ratio':>11}"


def best_seconds(function: Callable[[], object], repeats: int = 3) -> float:
    """Return the shortest time of some runs, after a run that compiles and warms up."""
    function()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


class Report:
    """The table of one benchmark, printed row by row under a header."""

    def __init__(self, title: str, header: str = RIVALS) -> None:
        self.title = title
        self.stamp = {
            "date": time.strftime("%Y-%m-%d"),
            "commit": _commit(),
            "machine": f"{_processor()}, {numba.config.NUMBA_NUM_THREADS} cores",
            "python": platform.python_version(),
        }
        print(f"\n{title} ({self.stamp['machine']}, commit {self.stamp['commit']})")
        if header:
            print(f"{'':<42}{header}")

    def row(self, name: str, ours: float, rival: str, theirs: float, unit: str) -> None:
        """Print a row beside a rival; less is better for times, more for rates (…/s)."""
        ratio = ours / theirs if unit.endswith("/s") else theirs / ours
        left, right = f"{ours:>10,.4g} {unit:<5}", f"{theirs:>10,.4g} {unit:<5}"
        print(f"{name:<42}{left}  {rival:<24}{right}{ratio:>10,.1f}×", flush=True)
        self._record(name, ours, unit, {"rival": rival, "theirs": theirs, "ratio": ratio})

    def figure(self, name: str, ours: float, unit: str) -> None:
        """Print a row without a rival."""
        print(f"{name:<42}{ours:>10,.4g} {unit}", flush=True)
        self._record(name, ours, unit, {})

    def line(self, name: str, figures: Mapping[str, float | None], unit: str) -> None:
        """Print a row of figures by the names of their columns; None leaves a cell empty."""
        cells = [f"{'—' if ours is None else f'{ours:,.3g}':>12}" for ours in figures.values()]
        print(f"{name:<42}{''.join(cells)}", flush=True)
        for column, ours in figures.items():
            if ours is not None:
                self._record(f"{name} {column}", ours, unit, {})

    def _record(self, name: str, ours: float, unit: str, rival: Mapping[str, object]) -> None:
        line = {"benchmark": self.title, "name": name, "ours": ours, "unit": unit, **rival}
        with RESULTS.open("a") as file:
            file.write(json.dumps(line | self.stamp) + "\n")


def _commit() -> str:
    command = ["git", "describe", "--always", "--dirty"]
    result = subprocess.run(
        command, cwd=RESULTS.parent, capture_output=True, text=True, check=False
    )
    return result.stdout.strip() or "unknown"


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":")[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()

"""Shows the progress of a run: a panel on a terminal, occasional lines elsewhere.

Plain functions of a `Run` compute the texts; rich is loaded only to draw them. A program that
supervises the command gets lines of JSON instead (`supervised.py`).
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from equilibrist import phases
from equilibrist.cli.heartbeat import duration
from equilibrist.cli.supervised import is_supervised, report
from equilibrist.solving.evaluation_times import next_evaluation
from equilibrist.solving.solve import Budget, Row, Run
from equilibrist.solving.target import NO_GOAL, Goal
from equilibrist.storage.memory import gigabytes
from equilibrist.strategies.evaluation import Evaluation

if TYPE_CHECKING:
    from rich.console import RenderableType

_WIDTH = 64  # maximum width of the panel in characters
_PATIENCE = 2.0  # minimum seconds between two plain lines
_SILENCE = 10.0  # seconds after which a line is printed even without a new evaluation
_PAUSE, _PAUSE_SHARE = 0.25, 0.002  # between two lines of JSON: seconds, share of the time so far
_MOST_POINTS = 100  # evaluations on a line of JSON
_FRAMES = 4.0  # drawings of the panel per second
_MOMENT = 0.1  # shorter remaining times, in seconds, are not shown
_FARTHEST = 100.0  # a trend is extrapolated to at most this multiple of the iterations so far
_SLOWEST_FALL = 0.1  # smallest slope of log exploitability by log iteration that counts as a fall


@dataclass(frozen=True)
class Standing:
    """The progress of a run at one moment."""

    iteration: int
    seconds: float  # spent in the solver's iterations
    rate: float | None  # recent iterations per second; None before the first iteration
    row: Row | None  # the latest evaluation
    left: str  # the remaining time in words; empty if unknown


def standing(run: Run, budget: Budget) -> Standing:
    """Return the progress of a run so far."""
    return Standing(
        iteration=int(run.state["iteration"]),
        seconds=run.seconds,
        rate=_rate(run),
        row=run.trace[-1] if run.trace else None,
        left=_left(run, budget),
    )


def _rate(run: Run) -> float | None:
    """Return iterations per second since about a third of the run; some methods slow down."""
    now = int(run.state["iteration"])
    start = next((row for row in run.trace if now <= 3 * row.iteration < 3 * now), None)
    steps = now - start.iteration if start else now
    seconds = run.seconds - start.seconds if start else run.seconds
    return steps / seconds if steps > 0 and seconds > 0 else None


def _left(run: Run, budget: Budget) -> str:
    """Return the remaining time in words: to the target by the trend, or to a limit."""
    rate = _rate(run)
    if rate is None:
        return ""
    now = int(run.state["iteration"])
    if any(run.state.get(name, False) for name in ("finished", "breakdown")):
        return ""  # the method has ended by itself and does not use the rest of the budget
    ends = [] if budget.seconds is None else [budget.seconds - run.seconds]
    ends += [] if budget.iterations is None else [(budget.iterations - now) / rate]
    end, ends_sooner = min(ends, default=np.inf), "finished" in run.state
    if budget.target is not None:
        goal = iterations_to(budget.target, run.trace, 1 if budget.cost else budget.every)
        if goal is not None and now < goal <= now + rate * end:
            return f"about {duration((goal - now) / rate)} to the target"
        ends_sooner |= goal is None
    if not _MOMENT <= end < np.inf:
        return ""
    return f"{'at most ' if ends_sooner else ''}about {duration(end)} left"


def iterations_to(target: float, trace: list[Row], every: int | None = None) -> int | None:
    """Return the iteration of the evaluation that meets `target`, extrapolated by a power law.

    The power is fitted to the evaluations since a tenth of the iterations. Returns None if it
    cannot be estimated: fewer than three evaluations, no fall, or a target that is met or too far
    away.

    Example:
        >>> from equilibrist.strategies.evaluation import Evaluation
        >>> rows = [Row(t, t, Evaluation(0, (2 / t, 2 / t), "chips")) for t in (10, 20, 50)]
        >>> iterations_to(0.01, rows)  # 2 / t = 0.01 at 200
        200
    """
    if not trace or trace[-1].iteration < 1:
        return None
    now, found = trace[-1].iteration, trace[-1].evaluation.exploitability
    levels = {
        row.iteration: row.evaluation.exploitability
        for row in trace
        if 10 * row.iteration >= now and row.evaluation.exploitability > 0
    }
    if len(levels) < 3 or found <= target:
        return None
    slope = np.polyfit(np.log([*levels]), np.log([*levels.values()]), 1)[0]
    if not slope <= -_SLOWEST_FALL:
        return None
    times = np.log(found / target) / -slope
    if not times <= np.log(_FARTHEST):
        return None
    return next_evaluation(round(now * np.exp(times)) - 1, every)


# --- words ----------------------------------------------------------------------------------------


def share_of_pot(found: Evaluation, pot: float | None) -> str:
    """Return exploitability in per cent of the pot, in brackets; empty without a pot."""
    return "" if pot is None else f" ({100 * found.exploitability / pot:.3g} % of the pot)"


def line(name: str, now: Standing, pot: float | None = None) -> str:
    """Return the progress of a run as one line.

    Example:
        >>> line("cfr+", Standing(100, 2.0, 50.0, None, "about 3.0 s left"))
        'cfr+ 100: 50.0 iterations/s, 2.0 s, about 3.0 s left'
    """
    parts = []
    if now.row is not None:
        found = now.row.evaluation
        first, second = found.best_response
        at = "" if now.row.iteration == now.iteration else f" at {now.row.iteration:,}"
        worth = f"{found.exploitability:.3e} {found.unit}{share_of_pot(found, pot)}"
        parts.append(f"{found.measure} {worth} ({first:.4g}, {second:.4g}){at}")
    parts += [speed(now.rate), duration(now.seconds), now.left]
    return f"{name} {now.iteration:,}: {', '.join(part for part in parts if part)}"


def details(
    now: Standing,
    budget: Budget,
    elapsed: float,
    memory: int | None,
    pot: float | None = None,
    goal: Goal | None = None,
) -> list[tuple[str, str]]:
    """Return progress as rows of label and text; `elapsed` in seconds, `memory` in bytes."""
    iteration = f"{now.iteration:,}"
    if budget.iterations is not None:
        iteration += f" of {budget.iterations:,}"
    measure, exploitability, responses = "evaluation", "not yet", ""
    if now.row is not None:
        found = now.row.evaluation
        measure = found.measure
        exploitability = f"{found.exploitability:.3e} {found.unit}{share_of_pot(found, pot)}"
        first, second = found.best_response
        responses = f"{first:.4g} and {second:.4g} {found.unit}"
        if now.row.iteration != now.iteration:
            exploitability += f" at {now.row.iteration:,}"
    rows = [
        ("iteration", iteration),
        (measure, exploitability),
        ("target", "" if goal is None else str(goal)),
        ("best responses", responses),
        ("speed", speed(now.rate)),
        ("time", ", ".join(part for part in (duration(elapsed), now.left) if part)),
        ("memory", "" if memory is None else gigabytes(memory)),
    ]
    return [row for row in rows if row[1]]


def speed(rate: float | None) -> str:
    """Return iterations per second as text, or seconds per iteration; empty if unknown.

    Example:
        >>> speed(35_123.4), speed(7.25), speed(0.02), speed(None)
        ('35,123 iterations/s', '7.2 iterations/s', '50.0 s per iteration', '')
    """
    if rate is None:
        return ""
    if rate < 1:
        return f"{duration(1 / rate)} per iteration"
    return f"{rate:,.0f} iterations/s" if rate >= 100 else f"{rate:.1f} iterations/s"


def memory_in_use() -> int | None:
    """Return the bytes of memory that this process uses; None if the system does not say."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return None


# --- showing it -----------------------------------------------------------------------------------


class Lines:
    """Prints a line on stderr after an evaluation, at most every 2 s, and at least every 10 s."""

    def __init__(self, pot: float | None = None, goal: Goal | None = None) -> None:
        self.pot = pot
        self.goal = goal
        self.begin("", Budget())

    def begin(self, name: str, budget: Budget, above: str = "") -> None:
        """Start to show the run of a method: print its target, if it has one."""
        if name and self.goal is not None:
            print(f"{name}: target {self.goal}", file=sys.stderr, flush=True)
        self.name = name
        self.budget = budget
        self.evaluations = 0
        self.printed = time.monotonic() - _PATIENCE

    def __call__(self, run: Run) -> None:
        """Receive the state of the run, and print a line if one is due."""
        now = time.monotonic()
        silence = now - self.printed
        is_new = len(run.trace) > self.evaluations
        if (is_new and silence >= _PATIENCE) or silence >= _SILENCE:
            text = line(self.name, standing(run, self.budget), self.pot)
            print(text, file=sys.stderr, flush=True)
            self.printed = now
        self.evaluations = len(run.trace)


class JsonLines:
    """Writes progress on stderr as lines of JSON; every evaluation is a point on one of them.

    Lines come at most four times per second, and more slowly in long runs. A line has at most 100
    points: of more, it has some at equal distances and the last.
    """

    def __init__(self, pot: float | None = None, goal: Goal | None = None) -> None:
        self.pot = pot
        self.goal = goal
        self.begin("", Budget())

    def begin(self, name: str, budget: Budget, above: str = "") -> None:
        """Start to show the run of a method: report its target, if it has one."""
        goal = NO_GOAL if self.goal is None else self.goal.data()
        if name:
            report("run", {"method": name, "pot": self.pot, **goal})
        self.name = name
        self.budget = budget
        self.run: Run | None = None
        self.num_shown = 0  # evaluations on the lines so far
        self.start = self.written = time.monotonic()
        self.written -= _PAUSE

    def __call__(self, run: Run) -> None:
        """Receive the state of the run, and write a line if one is due."""
        self.run, now = run, time.monotonic()
        if now - self.written >= max(_PAUSE, _PAUSE_SHARE * (now - self.start)):
            self.written = now
            self._write(run)

    def finish(self) -> None:
        """Write the evaluations that no line had yet."""
        if self.run is not None and self.num_shown < len(self.run.trace):
            self._write(self.run)

    def _write(self, run: Run) -> None:
        now, new = standing(run, self.budget), run.trace[self.num_shown :]
        self.num_shown = len(run.trace)
        step = -(-len(new) // _MOST_POINTS) or 1
        data = {
            "method": self.name,
            "iteration": now.iteration,
            "seconds": round(now.seconds, 3),
            "rate": now.rate,
            "left": now.left,
            "bytes": memory_in_use(),
            "unit": None if now.row is None else now.row.evaluation.unit,
            "points": [_point(row) for row in new[::-1][::step][::-1]],
        }
        report("iterations", data)


def _point(row: Row) -> list[float]:
    """Return iteration, seconds and exploitability of an evaluation."""
    return [row.iteration, round(row.seconds, 6), row.evaluation.exploitability]


class Screen:
    """A panel about the current run, below the results of earlier runs."""

    def __init__(
        self, game: str, hint: str, pot: float | None = None, goal: Goal | None = None
    ) -> None:
        self.pot = pot
        self.goal = goal
        self.game = game
        self.hint = hint
        self.begin("", Budget())

    def begin(self, name: str, budget: Budget, above: str = "") -> None:
        """Start to show the run of a method; `above` is text to show over its panel."""
        self.name = name
        self.budget = budget
        self.above = above
        self.run: Run | None = None
        self.start = time.monotonic()

    def __call__(self, run: Run) -> None:
        """Receive the state of the run, to be drawn next time."""
        self.run = run

    def render(self) -> RenderableType:
        """Return what to draw now; called several times per second, from another thread."""
        from rich.console import Group
        from rich.panel import Panel
        from rich.table import Table
        from rich.text import Text

        elapsed = time.monotonic() - self.start
        now_doing = [each.text for each in phases.under_way()[1:]] or ["preparing"]
        rows = [("time", f"{duration(elapsed)}, {now_doing[-1]}")]
        if self.run is not None:
            now = standing(self.run, self.budget)
            rows = details(now, self.budget, elapsed, memory_in_use(), self.pot, self.goal)
        grid = Table.grid(padding=(0, 2))
        for label, text in rows:
            grid.add_row(Text(label, style="dim"), Text(text))
        title = Text(f"{self.game} by {self.name}")
        panel = Panel(grid, title=title, title_align="left", subtitle=self.hint, width=_WIDTH)
        return Group(Text(self.above), panel) if self.above else panel


@contextlib.contextmanager
def shown(
    game: str, hint: str, *, plain: bool, pot: float | None = None, goal: Goal | None = None
) -> Iterator[Lines | JsonLines | Screen]:
    """Yield a view that shows the runs passed to it: a panel on a terminal, otherwise lines.

    Exploitability is also shown in per cent of a `pot` in chips, if there is one.
    """
    if is_supervised():
        supervised = JsonLines(pot, goal)
        try:
            yield supervised
        finally:
            supervised.finish()
        return
    if plain or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield Lines(pot, goal)
        return
    from rich.console import Console
    from rich.live import Live

    screen, console = Screen(game, hint, pot, goal), Console(stderr=True)
    with Live(
        get_renderable=screen.render, console=console, refresh_per_second=_FRAMES, transient=True
    ):
        yield screen

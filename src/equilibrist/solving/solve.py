"""One verb: run a solver on a game until a target or a budget, watched by best responses.

`solve` knows nothing of files or screens: it calls `watch` after each evaluation, and between them
whenever it looks at the clock, and `save` when a checkpoint is due, so that the command line shows
progress and writes artefacts.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from equilibrist.errors import InvalidValueError
from equilibrist.models.game import SequenceGame
from equilibrist.solving.best_response import evaluate
from equilibrist.solving.solver import Evaluates, Solver, State
from equilibrist.strategies.evaluation import Evaluation

_LONGEST_CHUNK = 1.0  # seconds between two looks at the clock and at Ctrl-C
_CHECKPOINT_SHARE = 0.05  # a checkpoint is due when it costs less than this of the time since


class Outcome(Enum):
    """How a run ended, and what to do next."""

    TARGET_REACHED = "the target is reached"
    FINISHED = "the method has nothing left to do"
    BUDGET_SPENT = "the budget is spent: give more iterations, or resume"
    INTERRUPTED = "stopped on request: resume to go on"
    BROKEN_DOWN = "the arithmetic broke down: use float64, or a method without smoothing"


@dataclass(frozen=True)
class Row:
    """One evaluation of a run."""

    iteration: int
    seconds: float  # spent in the solver's iterations, evaluations not counted
    evaluation: Evaluation


@dataclass
class Run:
    """A run so far: the solver's state, its trace, and how it ended."""

    state: State
    trace: list[Row] = field(default_factory=list)
    seconds: float = 0.0
    outcome: Outcome = Outcome.BUDGET_SPENT

    @property
    def evaluation(self) -> Evaluation:
        """The latest evaluation."""
        return self.trace[-1].evaluation

    def trace_array(self) -> NDArray[np.float64]:
        """The trace as rows (iteration, seconds, exploitability, best response 0, 1, value)."""
        return np.array(
            [
                (row.iteration, row.seconds, row.evaluation.exploitability,
                 *row.evaluation.best_response, row.evaluation.value)
                for row in self.trace
            ],
            np.float64,
        ).reshape(len(self.trace), 6)  # fmt: skip


def solve(
    game: SequenceGame,
    solver: Solver,
    *,
    iterations: int | None = None,
    target: float | None = None,
    seconds: float | None = None,
    every: int | None = None,
    seed: int = 0,
    run: Run | None = None,
    watch: Callable[[Run], None] | None = None,
    save: Callable[[Run], None] | None = None,
) -> Run:
    """Run `solver` to an exploitability of `target`, or for some iterations or seconds.

    Best responses are computed after 1, 2, 5, 10, 20, 50, … iterations, or `every` so many, and at
    the end. Give `run` to go on with an earlier run; `iterations` then counts from its beginning.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> from equilibrist.models.build import exact_game
        >>> from equilibrist.solving.cfr import CFR
        >>> run = solve(exact_game(get_game("kuhn")), CFR(), target=1e-3, iterations=10_000)
        >>> run.outcome.name, round(run.evaluation.value, 2)
        ('TARGET_REACHED', -0.06)
    """
    check_budget(iterations, target, seconds, every)
    run = run or Run(solver.init(game, seed))
    run.outcome = Outcome.BUDGET_SPENT
    solver.step(game, run.state, 0)  # compiles, outside the time that is measured
    _look(game, solver, run)
    limit = np.inf if iterations is None else iterations
    last_save = time.perf_counter()
    save_cost = 0.0
    try:
        while not _is_done(run, limit, target, seconds):
            goal = min(next_look(int(run.state["iteration"]), every), limit)
            _advance(game, solver, run, int(goal), seconds, watch)
            run.trace.append(_look(game, solver, run))
            if watch is not None:
                watch(run)
            since = time.perf_counter() - last_save
            if save is not None and save_cost <= _CHECKPOINT_SHARE * since:
                start = time.perf_counter()
                save(run)
                last_save = time.perf_counter()
                save_cost = last_save - start
    except KeyboardInterrupt:
        run.outcome = Outcome.INTERRUPTED
        run.trace.append(_look(game, solver, run))
    if not run.trace:
        run.trace.append(_look(game, solver, run))
    if save is not None:
        save(run)
    return run


def check_budget(
    iterations: int | None = None,
    target: float | None = None,
    seconds: float | None = None,
    every: int | None = None,
) -> None:
    """Raise `InvalidValueError` where there is no budget, or one that is not above zero."""
    if iterations is None and target is None and seconds is None:
        raise InvalidValueError("say how long to solve: iterations, seconds or a target")
    numbers = {"iterations": iterations, "target": target, "seconds": seconds, "every": every}
    for name, number in numbers.items():
        if number is not None and not number > 0:
            raise InvalidValueError(f"{name} must be above zero, not {number}", value=number)


def next_look(iteration: int, every: int | None = None) -> int:
    """The next iteration after which plans are evaluated, unless a budget ends before.

    Example:
        >>> [next_look(iteration) for iteration in (0, 1, 7, 230)], next_look(230, every=100)
        ([1, 2, 10, 500], 300)
    """
    if every is not None:
        return (iteration // every + 1) * every
    scale = 10 ** (len(str(max(iteration, 1))) - 1)
    return next(scale * step for step in (1, 2, 5, 10) if scale * step > iteration)


def _advance(
    game: SequenceGame,
    solver: Solver,
    run: Run,
    goal: int,
    seconds: float | None,
    watch: Callable[[Run], None] | None,
) -> None:
    """Iterate to `goal`, in chunks short enough to notice the clock and an interruption."""
    chunk = 1
    while (left := goal - int(run.state["iteration"])) > 0:
        steps = min(chunk, left)
        start = time.perf_counter()
        solver.step(game, run.state, steps)
        taken = time.perf_counter() - start
        run.seconds += taken
        if _has_ended(run.state) or (seconds is not None and run.seconds >= seconds):
            return
        if watch is not None and steps < left:
            watch(run)
        chunk = 2 * steps if taken < _LONGEST_CHUNK / 2 else max(1, steps // 2)


def _look(game: SequenceGame, solver: Solver, run: Run) -> Row:
    """The plans so far, evaluated; locked decisions are those of the state, if it has them."""
    state = run.state
    if isinstance(solver, Evaluates):
        return Row(int(state["iteration"]), run.seconds, solver.evaluate(game, state))
    plans = solver.plans(game, state)
    locked = (state["behaviour0"], state["behaviour1"]) if "behaviour0" in state else None
    return Row(int(state["iteration"]), run.seconds, evaluate(game, plans, locked))


def _is_done(run: Run, limit: float, target: float | None, seconds: float | None) -> bool:
    if run.trace and target is not None and run.evaluation.exploitability <= target:
        run.outcome = Outcome.TARGET_REACHED
        return True
    if _has_ended(run.state):
        broken = bool(run.state.get("breakdown", False))
        run.outcome = Outcome.BROKEN_DOWN if broken else Outcome.FINISHED
        return True
    if seconds is not None and run.seconds >= seconds:
        return True
    return int(run.state["iteration"]) >= limit


def _has_ended(state: State) -> bool:
    """Solvers that end by themselves say so: `finished`, or `breakdown` of their arithmetic."""
    return bool(state.get("finished", False)) or bool(state.get("breakdown", False))

"""Run a solver on a game until a target or a budget, with best responses along the way.

`solve` does not know files or screens: it calls `watch` after each evaluation, and between them
whenever it reads the clock, and `save` when a checkpoint is due, so that the command line shows
progress and writes artefacts.

Inside `stopping.on_signals` a signal ends a run after its iteration: it is evaluated, saved and
returned. Elsewhere Ctrl-C raises `KeyboardInterrupt`. One that arrives within an iteration leaves
arrays that are not consistent, so it ends `solve`, and the last checkpoint remains.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from equilibrist import stopping
from equilibrist.errors import DeviceError, InvalidValueError, SolverError
from equilibrist.kernels.gpu.device import errors_of_memory
from equilibrist.models.game import SequenceGame
from equilibrist.phases import phase
from equilibrist.solving.best_response import evaluate
from equilibrist.solving.evaluation_times import Expected, next_evaluation
from equilibrist.solving.solver import Evaluates, ExpectsLongEvaluations, Solver, State
from equilibrist.solving.state_schema import check_given_state
from equilibrist.stopping import Stopped
from equilibrist.storage.checkpoint import CheckpointClock
from equilibrist.strategies.evaluation import Evaluation
from equilibrist.strategies.solution import MAY_BE_INFINITE, STATE

_LONGEST_CHUNK = 1.0  # seconds between two checks of the clock and of Ctrl-C


class Outcome(Enum):
    """Outcome of a run, with what to do next."""

    TARGET_REACHED = "the target is reached"
    FINISHED = "the method has nothing left to do"
    BUDGET_SPENT = "the budget is spent: give more iterations, or resume"
    INTERRUPTED = "stopped on request: resume to continue"
    BROKEN_DOWN = "the arithmetic broke down: use float64, or a method without smoothing"


@dataclass(frozen=True)
class Row:
    """One evaluation of a run."""

    iteration: int
    seconds: float  # time of the solver's iterations, without evaluations
    evaluation: Evaluation

    @property
    def exploitability(self) -> float:
        """Exploitability that was found."""
        return self.evaluation.exploitability


@dataclass
class Run:
    """Run so far: the solver's state, its trace, and how it ended."""

    state: State
    trace: list[Row] = field(default_factory=list)
    seconds: float = 0.0
    outcome: Outcome = Outcome.BUDGET_SPENT
    is_whole: bool = True  # False within an iteration: arrays and counters may disagree
    is_checked: bool = False  # whether the arrays are known to be those of the game and the solver
    chunk: int = 1  # iterations to the next look at the clock

    def check_whole(self) -> None:
        """Raise `SolverError` within an iteration: such a state must not be stored."""
        if not self.is_whole:
            raise SolverError(
                f"the run was interrupted within an iteration, after iteration "
                f"{int(self.state['iteration'])}; resume from its last checkpoint"
            )

    @property
    def evaluation(self) -> Evaluation:
        """The latest evaluation."""
        return self.trace[-1].evaluation

    def trace_array(self) -> NDArray[np.float64]:
        """Return rows (iteration, seconds, exploitability, best response 0, 1, value).

        In games with a rake, the expected rake is the last column.
        """
        rows = [
            (row.iteration, row.seconds, found.exploitability, *found.best_response, found.value,
             *(() if found.rake is None else (found.rake,)))
            for row in self.trace for found in [row.evaluation]
        ]  # fmt: skip
        return np.array(rows, np.float64).reshape(len(rows), len(rows[0]) if rows else 6)


@dataclass(frozen=True)
class Budget:
    """The end of a run, whichever limit it meets first, and how often it is evaluated.

    Example:
        >>> Budget(iterations=1000, every=300).next_evaluation(900)
        1000
    """

    iterations: int | None = None  # maximum number, from the start of the run
    target: float | None = None  # exploitability in the unit of the game
    seconds: float | None = None  # maximum time of the solver's iterations
    every: int | None = None  # iterations per evaluation; None: after 1, 2, 5, 10, 20, 50, …
    # Iterations that an evaluation takes: then, with a target and without `every`, a run is
    # evaluated where it is expected to meet the target.
    cost: float | None = None

    def check(self) -> None:
        """Raise `InvalidValueError` unless a limit is given and all numbers are positive."""
        if self.iterations is None and self.target is None and self.seconds is None:
            raise InvalidValueError("give a budget: iterations, seconds or a target")
        for name, number in vars(self).items():
            if number is not None and not 0 < number < math.inf:
                raise InvalidValueError(
                    f"{name} must be above zero and finite, not {number}", value=number
                )

    def next_evaluation(self, iteration: int, trace: Sequence[Row] = ()) -> int:
        """Return the next iteration after which plans are evaluated, the last one included."""
        expected = self._expected
        goal = (
            expected.next(iteration, trace) if expected else next_evaluation(iteration, self.every)
        )
        return goal if self.iterations is None else min(goal, self.iterations)

    def is_evaluated(self, iteration: int, trace: Sequence[Row]) -> bool:
        """Return whether plans are evaluated after an iteration, whether or not the run ends."""
        if self._expected:
            return self._expected.counts(iteration, trace)
        return iteration > 0 and next_evaluation(iteration - 1, self.every) == iteration

    @property
    def _expected(self) -> Expected | None:
        if self.every is not None or self.cost is None or self.target is None:
            return None
        return Expected(self.target, self.cost)

    def is_spent(self, run: Run) -> bool:
        """Return whether a run has used its iterations or its time."""
        is_late = self.seconds is not None and run.seconds >= self.seconds
        if self.iterations is None:
            return is_late
        return is_late or int(run.state["iteration"]) >= self.iterations

    def is_met(self, evaluation: Evaluation) -> bool:
        """Return whether an evaluation meets the target, if there is one."""
        return self.target is not None and evaluation.exploitability <= self.target


def solve(
    game: SequenceGame,
    solver: Solver,
    budget: Budget,
    *,
    seed: int = 0,
    run: Run | None = None,
    watch: Callable[[Run], None] | None = None,
    save: Callable[[Run], None] | None = None,
) -> Run:
    """Run `solver` until its budget is spent: a target exploitability, iterations or seconds.

    Best responses are computed after the iterations that the budget names, and at the end. Give
    `run` to continue an earlier run; the iterations and seconds of the budget count from its start.
    A run that was stopped between two of these evaluations is evaluated there too, but does not end
    there if it meets the target: resumed, it ends where a run that was never stopped ends.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> from equilibrist.models.exact import exact_game
        >>> from equilibrist.solving.cfr import CFR
        >>> budget = Budget(target=1e-3, iterations=10_000)
        >>> run = solve(exact_game(get_game("kuhn")), CFR(), budget)
        >>> run.outcome.name, round(run.evaluation.value, 2)
        ('TARGET_REACHED', -0.06)
    """
    budget.check()
    what = f"{solver.name} on {game.name}"
    with errors_of_memory(what), phase(f"preparing {solver.name}"):
        run = run or Run(solver.init(game, seed), is_checked=True)
        run.check_whole()
        if not run.is_checked:  # kernels take the arrays on trust
            check_given_state(run.state, solver.name, solver.init(game, seed))
            run.is_checked = True
        run.outcome = Outcome.BUDGET_SPENT
        run.chunk = max(run.chunk, int((budget.cost or 0) / 2))  # evaluations take longer
        solver.step(game, run.state, 0)  # compiles the kernels before the time is measured
    checkpoints = _Checkpoints(save, int(run.state["iteration"]))
    evaluator = _Evaluator(game, solver, checkpoints)
    with errors_of_memory(what):
        first = evaluator(run)
    try:
        name, done = f"solving by {solver.name}", int(run.state["iteration"])
        solving = phase(name, total=budget.iterations, unit="iterations", done=done)
        with errors_of_memory(what), solving as now:

            def update(run: Run) -> None:
                now.update(int(run.state["iteration"]))
                if watch is not None:
                    watch(run)

            while not is_done(run, budget):
                if stopping.is_requested():
                    run.outcome = Outcome.INTERRUPTED
                    break
                ending = evaluator.seconds + checkpoints.clock.cost
                _advance(game, solver, run, budget, update, ending)
                run.trace.append(evaluator(run))
                update(run)
                checkpoints.save_if_due(run)
    except KeyboardInterrupt as interrupt:
        # Only `stopping.check` raises `Stopped`, which solvers call between their iterations.
        if not (run.is_whole or isinstance(interrupt, Stopped)):
            raise
        run.is_whole = True
        run.outcome = Outcome.INTERRUPTED
        if not run.trace or run.trace[-1].iteration < int(run.state["iteration"]):
            run.trace.append(evaluator(run))
    except DeviceError as error:
        raise DeviceError(f"{error}; {checkpoints}; continue on the device cpu") from None
    except MemoryError as error:
        raise MemoryError(f"{error}; {checkpoints}") from None
    if not run.trace:
        run.trace.append(first)
    checkpoints.save(run)
    return run


class _Checkpoints:
    """Saves a run when that costs little of the time since the last save, and at the end."""

    def __init__(self, save: Callable[[Run], None] | None, start: int) -> None:
        self._save, self._start = save, start
        self._iteration: int | None = None  # of the last checkpoint; None before the first
        self.clock = CheckpointClock()

    def save_if_due(self, run: Run) -> None:
        """Save if a checkpoint is due."""
        if self.clock.is_due():
            self.save(run)

    def save(self, run: Run) -> None:
        """Save unless that iteration is saved already or the run has not started."""
        iteration = int(run.state["iteration"])
        if self._save is None or iteration in (0, self._iteration):
            return
        run.check_whole()
        with self.clock.writing():
            self._save(run)
        self._iteration = iteration

    def __str__(self) -> str:
        """Return which checkpoint a run can resume from."""
        if self._iteration is not None:
            return f"the last checkpoint is from iteration {self._iteration:,}"
        return f"it resumed from iteration {self._start:,}" if self._start else "nothing is saved"


class _Evaluator:
    """Evaluates a run, and records how long that takes."""

    def __init__(self, game: SequenceGame, solver: Solver, checkpoints: _Checkpoints) -> None:
        self.game, self.solver, self.checkpoints = game, solver, checkpoints
        self._least = 0.0  # seconds of an evaluation, as the solver expects them
        if isinstance(solver, ExpectsLongEvaluations):
            self._least = solver.evaluation_seconds
        self.seconds = self._least  # of the next evaluation, at least those of the last one

    def __call__(self, run: Run) -> Row:
        """Evaluate the plans so far; raise `SolverError` if a number of the run is not finite."""
        start = time.perf_counter()
        stopping.expect("evaluation", self.seconds + self.checkpoints.clock.cost)
        iteration = int(run.state["iteration"])
        try:
            with phase("computing best responses", seconds=self.seconds or None):
                check_finite(run.state)
                found = _evaluated(self.game, self.solver, run.state)
        except InvalidValueError as error:
            raise SolverError(
                f"{self.solver.name} on {self.game.name}: {error} after iteration {iteration:,}; "
                f"{self.checkpoints}",
                value=iteration,
            ) from None
        self.seconds = max(self._least, time.perf_counter() - start)
        return Row(iteration, run.seconds, found)


def _advance(
    game: SequenceGame,
    solver: Solver,
    run: Run,
    budget: Budget,
    watch: Callable[[Run], None],
    ending: float,
) -> None:
    """Iterate to the next evaluation, in chunks short enough to notice the clock and a stop.

    `ending` is the time needed after a request to stop: seconds of an evaluation and a checkpoint.
    """
    goal = budget.next_evaluation(int(run.state["iteration"]), run.trace)
    taken, done = None, 1
    while (left := goal - int(run.state["iteration"])) > 0 and not stopping.is_requested():
        steps = min(run.chunk, left)
        stopping.expect("iteration", None if taken is None else taken * steps / done + ending)
        start = time.perf_counter()
        run.is_whole = False
        solver.step(game, run.state, steps)
        run.is_whole = True
        taken, done = time.perf_counter() - start, steps
        run.seconds += taken
        if _has_ended(run.state) or budget.is_spent(run):
            return
        if steps < left:
            watch(run)
        if taken >= _LONGEST_CHUNK / 2:
            run.chunk = max(1, steps // 2)
        elif steps == run.chunk:
            run.chunk = 2 * steps


def _evaluated(game: SequenceGame, solver: Solver, state: State) -> Evaluation:
    """Evaluate the plans so far; locked decisions are those of the state, if it has them."""
    if isinstance(solver, Evaluates):
        return solver.evaluate(game, state)
    plans = solver.plans(game, state)
    locked = (state["behaviour0"], state["behaviour1"]) if "behaviour0" in state else None
    return evaluate(game, plans, locked)


def check_finite(state: State) -> None:
    """Raise `InvalidValueError` if an array of a state holds a number that is not finite.

    Plans and best responses may hide it: a row of regrets that are NaN is played uniformly.
    """
    for name, array in state.items():
        if array.dtype.kind != "f" or not array.size:
            continue
        with np.errstate(over="ignore", invalid="ignore"):
            # If the sum is finite, so are all numbers; tables on a GPU have no sum.
            if hasattr(array, "sum") and math.isfinite(array.sum()):
                continue
        least, most = float(array.min()), float(array.max())  # NaN if any number is
        is_infinite = math.isinf(least) or math.isinf(most)
        if math.isnan(least) or (is_infinite and STATE + name not in MAY_BE_INFINITE):
            what = "infinity" if is_infinite else "NaN"
            raise InvalidValueError(f"{name} of its state holds {what}", value=name)


def is_done(run: Run, budget: Budget) -> bool:
    """Return whether a run has ended, and set its outcome if it has not only spent its budget."""
    iteration, is_spent = int(run.state["iteration"]), budget.is_spent(run)
    is_last = is_spent or _has_ended(run.state)
    meets = bool(run.trace) and budget.is_met(run.evaluation)
    if meets and (is_last or budget.is_evaluated(iteration, run.trace)):
        run.outcome = Outcome.TARGET_REACHED
        return True
    if _has_ended(run.state):
        broken = bool(run.state.get("breakdown", False))
        run.outcome = Outcome.BROKEN_DOWN if broken else Outcome.FINISHED
        return True
    return is_spent


def _has_ended(state: State) -> bool:
    """Return whether a solver has ended by itself: `finished`, or `breakdown` of its arithmetic."""
    return bool(state.get("finished", False)) or bool(state.get("breakdown", False))

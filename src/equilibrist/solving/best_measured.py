"""A method whose result is the best plan of each seat that was measured, in a game of the caller's.

Plans that overfit an abstraction get worse in the real game while they improve within the buckets,
and current plans go up and down. `KeepsBest` measures the plans of any method at the evaluations of
a run, keeps each seat's best, and may end the run when they no longer improve.

With a `schedule` a run that is stopped and resumed has the numbers of one that is not: plans are
measured after the iterations of the schedule only, not where a stop happens to fall, and the state
is rounded there to what checkpoints store (`solving.short_state`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from equilibrist.errors import InvalidValueError
from equilibrist.models.game import Floats, SequenceGame
from equilibrist.solving.best_response import evaluate
from equilibrist.solving.short_state import as_stored, round_state
from equilibrist.solving.solve import Budget
from equilibrist.solving.solver import RunsOnGpu, Solver, State
from equilibrist.strategies.evaluation import Evaluation

_LEAST_SHARE = 1e-3  # of what a best response wins: smaller improvements do not prolong a run


class Measure(Protocol):
    """What plans are measured by, such as best responses in the real game."""

    def evaluate(self, plans: tuple[Floats, Floats]) -> Evaluation:
        """Return what opponents win by best responses to both plans; the value is not read."""


@dataclass(frozen=True)
class KeepsBest:
    """A solver that returns the best measured plans.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> from equilibrist.models.exact import exact_game
        >>> from equilibrist.solving.cfr import CFR
        >>> from equilibrist.solving.cfr_br import ModelOpponent
        >>> from equilibrist.solving.solve import Budget, solve
        >>> game = exact_game(get_game("kuhn"))
        >>> solver = KeepsBest(CFR(), ModelOpponent((game, game)), patience=2)
        >>> solve(game, solver, Budget(iterations=100)).outcome.name
        'BUDGET_SPENT'
    """

    solver: Solver
    measure: Measure
    patience: int = 0  # measurements without a better plan after which a run ends; 0: any number
    schedule: Budget | None = None  # iterations that are measured and rounded; None: all, unrounded
    with_current: bool = False  # measure the method's current plans too
    evaluation_seconds: float = 0.0  # that a measurement is expected to take; 0: unknown

    @property
    def name(self) -> str:
        """Name of the method."""
        return self.solver.name

    @property
    def runs_on_gpu(self) -> bool:
        """Whether the method does."""
        return isinstance(self.solver, RunsOnGpu) and self.solver.runs_on_gpu

    def init(self, game: SequenceGame, seed: int = 0) -> State:
        """Return the method's first state, with no plan measured."""
        state = self.solver.init(game, seed)
        for player, plan in enumerate(self.solver.plans(game, state)):
            state[f"best{player}"] = plan.astype(getattr(self.solver, "dtype", plan.dtype))
        if self.with_current and not hasattr(self.solver, "current"):
            raise InvalidValueError(
                f"{self.solver.name} has no current plans that differ from its result: measure "
                "its result only",
                value=self.solver.name,
            )
        state["gains"] = np.full(2, math.inf)  # what opponents win from the best plans, by seat
        state["measured"] = np.zeros(2, np.int64)  # the last iteration; how many without a better
        state["latest"] = np.zeros(3)  # value and best responses of the last measurement
        if self.patience:
            state["finished"] = np.array(False)
        return state

    def step(self, game: SequenceGame, state: State, steps: int) -> None:
        """Run some more iterations of the method."""
        self.solver.step(game, state, steps)

    def plans(self, game: SequenceGame, state: State) -> tuple[Floats, Floats]:
        """Return the best measured plans, or the method's before the first measurement."""
        if not np.isfinite(state["gains"]).all():
            return self.solver.plans(game, state)
        return _proper(game, (_wide(state["best0"]), _wide(state["best1"])))

    def evaluate(self, game: SequenceGame, state: State) -> Evaluation:
        """Measure the method's plans, and keep those that are better than all before.

        Nothing is measured twice after an iteration, nor before the first, nor outside the
        schedule; what is returned there is the last measurement, or before the first one the
        exploitability within the game.
        """
        iteration = int(state["iteration"])
        if self.is_scheduled(iteration) and iteration != state["measured"][0]:
            self._measure(game, state)
        if not state["measured"][0]:
            return evaluate(game, self.solver.plans(game, state))
        value, first, second = state["latest"].tolist()
        return Evaluation(value, (first, second), game.unit)

    def measured(self, game: SequenceGame, state: State) -> Evaluation:
        """Return what opponents win from `plans`, and their value; measure them if none are yet.

        `evaluate` returns the latest measurement instead, which may be of worse plans.
        """
        first, second = self.plans(game, state)
        won = state["gains"]
        if not np.isfinite(won).all():
            won = np.array(self.measure.evaluate((first, second)).best_response)
        return Evaluation(_value(game, (first, second)), (float(won[0]), float(won[1])), game.unit)

    def is_scheduled(self, iteration: int) -> bool:
        """Return whether plans are measured after an iteration, and the state may be stored."""
        if self.schedule is None or iteration == 0:
            return iteration > 0
        return self.schedule.next_evaluation(iteration - 1) == iteration

    def _measure(self, game: SequenceGame, state: State) -> None:
        """Measure plans and update the state."""
        found = self.solver.plans(game, state)
        won, is_better = self._keep(game, state, found)
        if self.with_current:
            current: Solver = replace(self.solver, current=True)  # type: ignore[type-var]
            is_better |= self._keep(game, state, current.plans(game, state))[1]
        waited = 0 if is_better else int(state["measured"][1]) + 1
        state["latest"][:] = (_value(game, found), *won)
        state["measured"][:] = int(state["iteration"]), waited
        if self.patience:
            state["finished"][()] = waited >= self.patience
        if self.schedule is not None:
            round_state(game, state)

    def _keep(
        self, game: SequenceGame, state: State, plans: tuple[Floats, Floats]
    ) -> tuple[tuple[float, float], bool]:
        """Measure plans and keep each if it is the best; return what is won, and if any is."""
        kept = plans
        if self.schedule is not None:  # what is measured is what is stored
            kept = _stored(plans[0]), _stored(plans[1])
            plans = _proper(game, kept)
        won = self.measure.evaluate(plans).best_response
        is_better = False
        for player, plan in enumerate(kept):
            gain, best = won[1 - player], float(state["gains"][1 - player])
            is_better |= math.isinf(best) or gain < best - _LEAST_SHARE * abs(best)
            if gain < best:
                state[f"best{player}"][:] = plan
                state["gains"][1 - player] = gain
        return won, is_better


def _value(game: SequenceGame, plans: tuple[Floats, Floats]) -> float:
    """Return the value of plans of the game to the first player to act."""
    value = float(plans[0] @ game.gradient(0, plans[1]))
    return -value if game.first_player else value


def _wide(plan: Floats) -> Floats:
    return np.asarray(plan, np.float64, like=plan)


def _stored(plan: Floats) -> Floats:
    """Return a plan with the numbers of a checkpoint, which is feasible only to rounding."""
    return np.asarray(as_stored(plan), plan.dtype, like=plan)


def _proper(game: SequenceGame, plans: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    """Return the feasible plans with the behaviour of plans that are rounded."""
    first, second = (
        game.realize(player, game.behaviour(player, plan)) for player, plan in enumerate(plans)
    )
    return first, second

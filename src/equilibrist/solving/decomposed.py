"""CFR on a split game: the trunk here, its subgames by an engine (CFR+ supplement, "Solving").

An iteration is that of `lean_cfr` on the whole game. Each player in turn: the opponent's reaches go
down to the subgames, the engine sweeps them, their counterfactual values come up, and the trunk is
folded up and updated. The same pass with the maximum in place of regrets is the best response, so
the exploitability is exact. `current` keeps regrets only and returns the current strategy, as
Cepheus did.

A player's plan is added to its average when the opponent uses it, as in `lean_cfr`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from equilibrist.errors import InvalidValueError
from equilibrist.models.game import BEST, EXPECTATION, REGRET, Floats, SequenceGame
from equilibrist.models.split import Split
from equilibrist.solving.cfr import CFR, CFR_PLUS, CFR_VARIANTS
from equilibrist.solving.solver import State
from equilibrist.solving.subgame_engine import (
    AVERAGES,
    REGRETS,
    STILL,
    Engine,
    MemoryTables,
    Order,
    Threads,
)
from equilibrist.strategies.evaluation import Evaluation

SPLIT_METHODS = tuple(name for name, method in CFR_VARIANTS.items() if not method.prediction)


def check_split_method(name: str) -> None:
    """Raise `InvalidValueError` for a method that split games are not solved by."""
    if name not in SPLIT_METHODS:
        raise InvalidValueError(
            f"a split game is solved by {', '.join(SPLIT_METHODS)}, not {name}", value=name
        )


@dataclass(frozen=True, eq=False)
class DecomposedCFR:
    """CFR on a split game; the game that it is given is the trunk.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> from equilibrist.solving.solve import Budget, solve
        >>> solver = DecomposedCFR.of(Split.of(get_game("leduc"), "preflop"))
        >>> run = solve(solver.split.trunk, solver, Budget(target=1e-3, iterations=10_000))
        >>> run.outcome.name, round(run.evaluation.value, 3)
        ('TARGET_REACHED', -0.086)
    """

    split: Split
    engine: Engine
    method: CFR = CFR_PLUS
    bits: int = 64  # of a number in the tables of the last round: 64, 32 or 16
    current: bool = False  # keep no averages, return the current strategy

    @classmethod
    def of(
        cls, split: Split, method: CFR = CFR_PLUS, *, bits: int = 64, current: bool = False
    ) -> DecomposedCFR:
        """Return a solver whose tables are in the memory of this process."""
        engine = Threads(MemoryTables(split, bits), split)
        return cls(split, engine, method, bits, current)

    def __post_init__(self) -> None:
        check_split_method(self.method.name)
        if self.bits not in (16, 32, 64):
            raise InvalidValueError(
                f"numbers of a split game have 16, 32 or 64 bits, not {self.bits}", value=self.bits
            )

    @property
    def name(self) -> str:
        """Name of the method."""
        return self.method.name

    def init(self, game: SequenceGame, seed: int = 0) -> State:
        """Return uniform behaviour and zero regrets of the trunk."""
        dtype = "float64" if self.bits == 64 else "float32"
        return replace(self.method, dtype=dtype).init(game, seed)

    def step(self, game: SequenceGame, state: State, steps: int) -> None:
        """Run `steps` more iterations, both players in turn."""
        start = int(state["iteration"])
        for row in self.method.discounting.schedule(start, steps, 0.0):
            for player in (0, 1):
                self._half(game, state, player, row)
            state["iteration"] += 1
            self.engine.commit(state)

    def evaluate(self, game: SequenceGame, state: State) -> Evaluation:
        """Return the value of the strategy so far, and both best responses, summed in its dtype."""
        plans, part = self.plans(game, state), self.part(state)
        dtype = state["regret0"].dtype
        plans = plans[0].astype(dtype, copy=False), plans[1].astype(dtype, copy=False)
        halves = ((game.first_player, EXPECTATION), (0, BEST), (1, BEST))
        reaches = np.stack([self._reach(plans[1 - player], 1 - player) for player, _ in halves])
        below = self.engine.sweep(Order(2 * int(state["iteration"]), halves, STILL, part), reaches)
        found = []
        for (player, rule), own in zip(halves, below, strict=True):
            values = self._values(game, player, plans[1 - player], own)
            behaviour = game.behaviour(player, plans[player])
            found.append(game.fold_up(player, rule, values, behaviour))
        return Evaluation(found[0], (found[1], found[2]), game.unit)

    def plans(self, game: SequenceGame, state: State) -> tuple[Floats, Floats]:
        """Return both players' plans of the trunk: average or current."""
        current = self.part(state) == REGRETS
        return replace(self.method, current=current).plans(game, state)

    def part(self, state: State) -> str:
        """Return the tables that the strategy is in: before the first iteration the regrets."""
        return REGRETS if self.current or state["iteration"] == 0 else AVERAGES

    def _half(
        self, game: SequenceGame, state: State, player: int, row: NDArray[np.float64]
    ) -> None:
        """Run one player's half of an iteration."""
        plan = state[f"plan{1 - player}"]
        positive, negative, _, weight = row.tolist()
        if not self.current:
            state[f"average{1 - player}"] += plan.dtype.type(weight) * plan
        order = Order(
            done=2 * int(state["iteration"]) + player,
            halves=((player, REGRET),),
            row=(positive, negative, 0.0, -1.0 if self.current else weight),
            part=REGRETS,
        )
        below = self.engine.sweep(order, self._reach(plan, 1 - player)[None])[0]
        values = self._values(game, player, plan, below)
        factors = np.array([positive, negative, 0.0], plan.dtype)
        behaviour, regret = state[f"behaviour{player}"], state[f"regret{player}"]
        game.fold_up(player, REGRET, values, behaviour, regret, factors)
        game.realize(player, behaviour, state[f"plan{player}"])

    def _reach(self, plan: Floats, player: int) -> Floats:
        """Return what a player's plan gives the states of all subgames: [M]."""
        return plan[self.split.places[player]]

    def _values(self, game: SequenceGame, player: int, plan: Floats, below: Floats) -> Floats:
        """Return the values of the trunk's rows, given the opponent's plan: folds and subgames."""
        values = game.gradient(player, plan)
        np.add.at(values, self.split.places[player], below)
        return values

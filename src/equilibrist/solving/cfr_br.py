"""CFR-BR: regret minimisation against an opponent that best-responds in a larger game.

A player with an abstraction that trains against itself overfits it. In CFR-BR its opponent is not
abstracted: in every iteration it plays a best response in the real game to the player's current
plan. The average plan then converges to the least exploitable strategy that the abstraction allows
(Johanson, Bard, Burch and Bowling 2012, "Finding Optimal Abstract Strategies in Extensive-Form
Games", theorem 4); of the current plans only their mean is bounded.

An iteration may look at a sample of the cards. A best response to sampled cards knows which they
are, so the opponent best-responds only after they are dealt: in the rounds before, its *trunk*, it
runs CFR itself. With samples linear or plain regret matching is sound; regrets that are clipped at
zero (`PLUS`) accumulate the noise, and need full sweeps.

The two seats do not meet: each has an opponent of its own. `Opponent` is the larger game; without
one, the opponent best-responds within the game that is solved.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Protocol

import numpy as np

from equilibrist import stopping
from equilibrist.kernels.array_structs import Treeplex
from equilibrist.kernels.cpu import sequence_form
from equilibrist.models.game import BEST, REGRET, Floats, SequenceGame, check_zero_sum
from equilibrist.models.one_sided import first_rounds
from equilibrist.solving.best_measured import Measure
from equilibrist.solving.best_response import best_response, evaluate
from equilibrist.solving.discounting import PLUS, Discounting
from equilibrist.solving.solver import State
from equilibrist.strategies.evaluation import Evaluation


class Opponent(Measure, Protocol):
    """An opponent in each seat that sees more than the player that it responds to."""

    def trunk(self, seat: int) -> Treeplex | None:
        """Return the rounds in which the opponent in a seat runs CFR; None if there are none."""

    def answer(
        self, player: int, plan: Floats, trunk: Floats, iteration: int
    ) -> tuple[Floats, Floats]:
        """Best-respond to a plan [L] of `player` after the trunk.

        `trunk` [T] is the opponent's behaviour there. Returns the gradient [L] of the player's plan
        against this opponent, and the values [T] of the opponent's rows in the trunk with
        everything below the trunk, not folded up. Cards are drawn by the number of the iteration.
        """


@dataclass(frozen=True)
class CFRBR:
    """CFR of each seat against best responses of an opponent that may see more.

    Example:
        >>> from equilibrist.models.exact import matrix_game
        >>> game = matrix_game([[3, 0], [1, 2]])
        >>> state = CFRBR().init(game)
        >>> CFRBR().step(game, state, 1000)
        >>> CFRBR().plans(game, state)[0].round(2).tolist()
        [1.0, 0.25, 0.75]
    """

    opponent: Opponent | None = None
    discounting: Discounting = PLUS
    current: bool = False  # return the current plans instead of the averages
    tremble: float = 0.0  # share of uniform play in the plan that the opponent responds to
    dtype: str = "float64"  # or float32
    name: str = "cfr-br"

    runs_on_gpu: ClassVar[bool] = True

    def init(self, game: SequenceGame, seed: int = 0) -> State:
        """Return uniform behaviour and zero regrets."""
        check_zero_sum(game)
        state: State = {"iteration": np.array(0)}
        for player in (0, 1):
            behaviour = game.uniform(player, self.dtype)
            state[f"behaviour{player}"] = behaviour
            state[f"plan{player}"] = game.realize(player, behaviour)
            state[f"regret{player}"] = np.zeros_like(behaviour)
            state[f"average{player}"] = np.zeros_like(behaviour)
            if (trunk := self._trunks[player]) is not None:
                length = int(trunk.block_start[-1])
                uniform = np.empty(length)
                sequence_form.normalize(trunk, np.zeros(length), uniform)
                state[f"trunk_behaviour{player}"] = uniform
                state[f"trunk_regret{player}"] = np.zeros(length)
        return state

    def step(self, game: SequenceGame, state: State, steps: int) -> None:
        """Run some more iterations; both seats take the same number."""
        for row in self.discounting.schedule(int(state["iteration"]), steps, 0.0):
            stopping.check()
            found = [self._answer(game, state, player) for player in (0, 1)]
            for player, (gradient, trunk_values) in enumerate(found):
                self._update(game, state, player, gradient, row)
                self._update_trunk(state, 1 - player, trunk_values, row)
            state["iteration"] += 1

    def plans(self, game: SequenceGame, state: State) -> tuple[Floats, Floats]:
        """Return the average plans, or the current ones, in float64."""
        part = "plan" if self.current or state["iteration"] == 0 else "average"
        return self._proper(game, state, part, 0), self._proper(game, state, part, 1)

    def evaluate(self, game: SequenceGame, state: State) -> Evaluation:
        """Return what best responses win: of the opponents, or within the game without one."""
        plans = self.plans(game, state)
        if self.opponent is None:
            return evaluate(game, plans, (state["behaviour0"], state["behaviour1"]))
        return self.opponent.evaluate(plans)

    @cached_property
    def _trunks(self) -> tuple[Treeplex | None, ...]:
        return tuple(None if self.opponent is None else self.opponent.trunk(p) for p in (0, 1))

    def _answer(self, game: SequenceGame, state: State, player: int) -> tuple[Floats, Floats]:
        """Return the gradient of a player's plan and the values of the opponent's trunk."""
        seat, plan = 1 - player, self._assumed(game, state, player)
        if self.opponent is None:
            _, best = best_response(game, seat, plan, state[f"behaviour{seat}"])
            return game.gradient(player, game.realize(seat, best)), np.zeros(0)
        trunk = state.get(f"trunk_behaviour{seat}", np.zeros(0))
        return self.opponent.answer(player, plan, trunk, int(state["iteration"]) + 1)

    def _assumed(self, game: SequenceGame, state: State, player: int) -> Floats:
        """Return the plan that the opponent responds to."""
        if not self.tremble:
            return state[f"plan{player}"]
        even = game.uniform(player, self.dtype)
        mixed = state[f"behaviour{player}"] * (1 - self.tremble) + even * self.tremble
        return game.realize(player, mixed.astype(self.dtype, copy=False))

    def _update(
        self, game: SequenceGame, state: State, player: int, gradient: Floats, row: Floats
    ) -> None:
        """Add a plan to the average, update regrets by its gradient, and match them."""
        plan, behaviour = state[f"plan{player}"], state[f"behaviour{player}"]
        values = gradient.astype(plan.dtype, copy=False)
        state[f"average{player}"] += plan * plan.dtype.type(row[3])
        factors = np.asarray(row[:3], plan.dtype)
        game.fold_up(player, REGRET, values, behaviour, state[f"regret{player}"], factors)
        game.realize(player, behaviour, plan)

    def _update_trunk(self, state: State, seat: int, values: Floats, row: Floats) -> None:
        """Update the opponent's regrets in the trunk, and match them."""
        if (trunk := self._trunks[seat]) is not None:
            behaviour, regret = state[f"trunk_behaviour{seat}"], state[f"trunk_regret{seat}"]
            sequence_form.fold_up(trunk, REGRET, values, behaviour, regret, row[:3].copy())

    def _proper(self, game: SequenceGame, state: State, part: str, player: int) -> Floats:
        """Return a plan from the behaviour of summed plans, which are feasible only to rounding."""
        summed = state[f"{part}{player}"]
        total = np.asarray(summed, np.float64, like=summed)
        return game.realize(player, game.behaviour(player, total))


@dataclass(frozen=True, eq=False)
class ModelOpponent:
    """Opponent in exact models: it sees cards where the player sees buckets, and misses none.

    `games` are those of `models.one_sided`; `rounds` is the number of rounds of the trunk. This is
    the definition that opponents in games too large for such models are compared with.
    """

    games: tuple[SequenceGame, SequenceGame]  # by the player that sees buckets
    rounds: int = 0

    def trunk(self, seat: int) -> Treeplex | None:
        """Return the first rounds of the opponent's side."""
        if not self.rounds:
            return None
        return first_rounds(self.games[1 - seat].trees[seat], self.rounds)

    def answer(
        self, player: int, plan: Floats, trunk: Floats, iteration: int
    ) -> tuple[Floats, Floats]:
        """Best-respond to a plan in the whole game after the trunk; see `Opponent`."""
        game, seat, length = self.games[player], 1 - player, len(trunk)
        tree = game.trees[seat]
        locked = np.arange(len(tree.locked)) < tree.decision_start[self.rounds]
        values = game.gradient(seat, np.asarray(plan, np.float64))
        behaviour = game.uniform(seat)
        behaviour[:length] = 0  # so that no value goes up within the trunk
        rest = (tree._replace(locked=locked), BEST, values, behaviour, values, np.zeros(3))
        sequence_form.fold_up(*rest)
        behaviour[:length] = trunk
        response = game.realize(seat, behaviour)
        return game.gradient(player, response), values[:length].copy()

    def evaluate(self, plans: tuple[Floats, Floats]) -> Evaluation:
        """Return what best responses win from both plans; the value is not computed."""
        won = [
            best_response(game, 1 - player, plan)[0]
            for player, (game, plan) in enumerate(zip(self.games, plans, strict=True))
        ]
        return Evaluation(0.0, (won[1], won[0]), self.games[0].unit)

"""CFR+ while the others wait: a subgame solved until the time is over, then further.

Whoever sits at a table must act in time. Each iteration leaves an average strategy that can be
played, so the clock is read after every one; the first is always finished.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from equilibrist.kernels.reference.sequence_form import block
from equilibrist.models.game import Floats
from equilibrist.models.subgame import Subgame
from equilibrist.solving.cfr import CFR

ENOUGH = 1_000  # iterations after which more would change little


@dataclass(frozen=True)
class Budget:
    """How long a decision may take: seconds, or a number of iterations whatever they take."""

    seconds: float | None = 1.0
    iterations: int = ENOUGH


class TableSolution:
    """A subgame and its solution so far."""

    def __init__(self, subgame: Subgame) -> None:
        self.subgame = subgame
        self._solver = CFR(dtype="float32")
        self._state = self._solver.init(subgame.game)
        self._behaviour: list[Floats | None] = [None, None]

    @property
    def iterations(self) -> int:
        """Done so far."""
        return int(self._state["iteration"])

    def improve(self, budget: Budget, start: float) -> bool:
        """Iterate until the budget is spent; whether time ran out before the iterations did.

        Seconds count from `start`, a reading of `time.perf_counter`.
        """
        self._behaviour = [None, None]
        while self.iterations < budget.iterations:
            late = budget.seconds is not None and time.perf_counter() - start >= budget.seconds
            if late and self.iterations > 0:
                return True
            self._solver.step(self.subgame.game, self._state, 1)
        return False

    def chances(self, player: int, node: int, board: int, hand: int) -> Floats:
        """Chance of each child of a decision node, [A]; see `Subgame.chances`."""
        return self.subgame.chances(player, self._average(player), node, board, hand)

    def reach(self, player: int, node: int) -> Floats:
        """Chance of each hand [H] to be held and played to a node of the first round."""
        game, states = self.subgame.game, self.subgame.states.state_of_hand[0][0]
        plan = game.realize(player, self._average(player))
        row = int(self.subgame.rows[player].row[node])
        own = block(game.trees[player], 0, 0, plan)[row]
        return (own[states] * (states >= 0)).astype(float)

    def _average(self, player: int) -> Floats:
        """Behaviour [L] of the average strategy."""
        found = self._behaviour[player]
        if found is None:
            found = self.subgame.game.behaviour(player, self._state[f"average{player}"])
            self._behaviour[player] = found
        return found

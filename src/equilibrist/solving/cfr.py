"""Counterfactual regret minimisation: CFR, CFR+, linear, discounted and predictive CFR.

At every information set the player matches regrets (CFR+ supplement, equations 3, 4 and 8–10):

    σ(a) = max(R(a), 0) / Σ max(R, 0), uniform where no regret is positive
    R(a) ← R(a) + v(a) − Σ σ v, then discounted (`discounting.py`)

where v are counterfactual values: the gradient of the opponent's plan folded up the player's own
tree. The players update in turn (alternating), so the second already responds to the new strategy.
The result is the average of all plans, weighted by t^γ; CFR+ may also return its current strategy,
as Cepheus did. Prediction adds the latest regret once more before matching (Farina et al. 2021).

Bound (equation 7): the average's exploitability ≤ (R₀ + R₁) / 2T, R_i ≤ |I_i| Δ √(|A| T).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from equilibrist.models.game import Floats, Game
from equilibrist.solving.discounting import (
    DISCOUNTED,
    DISCOUNTED_PLUS,
    LINEAR,
    PLUS,
    RISING,
    VANILLA,
    Discounting,
)
from equilibrist.solving.solver import State

_PARTS = ("plan", "behaviour", "regret", "average")


@dataclass(frozen=True)
class CFR:
    """Hyper-parameters of the CFR family; `CFR()` is CFR+.

    Example:
        >>> from equilibrist.models.exact import matrix_game
        >>> game = matrix_game([[0, 1, -1], [-1, 0, 1], [1, -1, 0]])
        >>> state = CFR().init(game)
        >>> CFR().step(game, state, 1000)
        >>> CFR().plans(game, state)[0].round(2).tolist()
        [1.0, 0.33, 0.33, 0.33]
    """

    discounting: Discounting = PLUS
    prediction: float = 0.0  # 1: predictive CFR
    current: bool = False  # return the current strategy instead of the average
    dtype: str = "float64"  # or float32
    name: str = "cfr+"

    runs_on_gpu: ClassVar[bool] = True

    def init(self, game: Game, seed: int = 0) -> State:
        """Return uniform behaviour and zero regrets; nothing is random."""
        state: State = {"iteration": np.array(0)}
        for player in (0, 1):
            behaviour = game.uniform(player, self.dtype)
            state[f"behaviour{player}"] = behaviour
            state[f"plan{player}"] = game.realize(player, behaviour)
            state[f"regret{player}"] = np.zeros_like(behaviour)
            state[f"average{player}"] = np.zeros_like(behaviour)
        return state

    def step(self, game: Game, state: State, steps: int) -> None:
        """Run `steps` more iterations, both players in turn."""
        schedule = self.discounting.schedule(int(state["iteration"]), steps, self.prediction)
        players = [tuple(state[f"{part}{player}"] for part in _PARTS) for player in (0, 1)]
        game.sweeps(players[0], players[1], schedule)
        state["iteration"] += steps

    def plans(self, game: Game, state: State) -> tuple[Floats, Floats]:
        """Return the average plans, or the current ones, in float64."""
        part = "plan" if self.current or state["iteration"] == 0 else "average"
        return self._proper(game, state, part, 0), self._proper(game, state, part, 1)

    def _proper(self, game: Game, state: State, part: str, player: int) -> Floats:
        """Return a plan from the behaviour of summed plans, which are feasible only to rounding."""
        summed = state[f"{part}{player}"]
        total = np.asarray(summed, np.float64, like=summed)
        return game.realize(player, game.behaviour(player, total))


VANILLA_CFR = CFR(VANILLA, name="cfr")
CFR_PLUS = CFR(PLUS, name="cfr+")
LINEAR_CFR = CFR(LINEAR, name="linear-cfr")
DISCOUNTED_CFR = CFR(DISCOUNTED, name="dcfr")
DISCOUNTED_CFR_PLUS = CFR(DISCOUNTED_PLUS, name="dcfr+")
RISING_CFR_PLUS = CFR(RISING, name="log-dcfr+")
PREDICTIVE_CFR_PLUS = CFR(Discounting(math.inf, -math.inf, 2), prediction=1.0, name="pcfr+")
CFR_VARIANTS = {
    variant.name: variant
    for variant in (
        VANILLA_CFR,
        CFR_PLUS,
        LINEAR_CFR,
        DISCOUNTED_CFR,
        DISCOUNTED_CFR_PLUS,
        RISING_CFR_PLUS,
        PREDICTIVE_CFR_PLUS,
    )
}

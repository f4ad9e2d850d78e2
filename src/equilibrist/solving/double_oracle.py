"""Double oracle: solve a matrix game that grows by one best response at a time.

Algorithm 1 of Range of Skill (McMahan, Gordon and Blum 2003). Each player has a list of plans:

1. Start with one plan each; here, uniform play.
2. Repeat:
   (a) solve the matrix game of the lists, whose entry (i, j) is u(xᵢ, yⱼ), by linear programming:
       weights w₀ and w₁;
      (b) add player 1's best response to Σ w₀ᵢ xᵢ to the list of player 1,
      (c) add player 0's best response to Σ w₁ⱼ yⱼ to the list of player 0.
3. The result is the pair of mixtures.

A mixture of plans is their weighted mean: realization plans are linear, behaviour is not. The best
responses are the certificate: what they win beyond the value of the matrix game bounds how far the
mixtures are from optimal. The method ends when neither wins more than `accuracy`. It may have to
list every pure strategy first.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from equilibrist.models.game import Floats, SequenceGame
from equilibrist.solving.best_response import best_response
from equilibrist.solving.matrix_lp import Basis, solve_matrix
from equilibrist.solving.solver import State


@dataclass(frozen=True)
class DoubleOracle:
    """Double oracle (Algorithm 1 of Range of Skill).

    State: `plans0` [K0, L0] and `plans1` [K1, L1], the lists; `payoffs` [K0, K1], what player 0
    wins; `weights0` [K0] and `weights1` [K1], optimal in that matrix game; `basis0` [1 + K0] and
    `basis1` [1 + K1], the final basis of its program; `gains` [2], what each player's last best
    response won beyond its value, in the game's unit; `finished`, that neither won more than
    `accuracy`.

    Example:
        >>> from equilibrist.models.exact import matrix_game
        >>> game = matrix_game([[0, -1, 2], [1, 0, -1], [-2, 1, 0]])
        >>> state = DoubleOracle().init(game)
        >>> DoubleOracle().step(game, state, 10)
        >>> DoubleOracle().plans(game, state)[0].round(6).tolist()
        [1.0, 0.25, 0.5, 0.25]
    """

    accuracy: float = 1e-9  # gain of best responses, in the game's unit, that ends the method
    name: str = "double-oracle"

    def init(self, game: SequenceGame, seed: int = 0) -> State:
        """Return a state with uniform play on both lists; nothing is random."""
        plans = [game.realize(player, game.uniform(player)) for player in (0, 1)]
        payoffs = np.array([[plans[0] @ game.gradient(0, plans[1])]])
        basis = solve_matrix(payoffs).basis
        return {
            "iteration": np.array(0),
            "finished": np.array(False),
            "plans0": plans[0][None],
            "plans1": plans[1][None],
            "payoffs": payoffs,
            "weights0": np.ones(1),
            "weights1": np.ones(1),
            "basis0": basis.variables,
            "basis1": basis.constraints,
            "gains": np.full(2, np.inf),
        }

    def step(self, game: SequenceGame, state: State, steps: int) -> None:
        """Run `steps` more iterations; does nothing once finished."""
        for _ in range(steps):
            if state["finished"]:
                return
            state.update(self._grown(game, state))

    def plans(self, game: SequenceGame, state: State) -> tuple[Floats, Floats]:
        """Return the mixtures of the lists."""
        return state["weights0"] @ state["plans0"], state["weights1"] @ state["plans1"]

    def _grown(self, game: SequenceGame, state: State) -> State:
        """Return the next state: a best response to each mixture, then new mixtures.

        The old state is not changed, so that an interruption leaves it intact.
        """
        mixtures = self.plans(game, state)
        value = float(state["weights0"] @ state["payoffs"] @ state["weights1"])
        gains, answers = np.zeros(2), []
        for player, so_far in enumerate((value, -value)):
            best, behaviour = best_response(game, player, mixtures[1 - player])
            answers.append(game.realize(player, behaviour))
            gains[player] = best - so_far
        grown = {name: state[name] for name in ("plans0", "plans1", "payoffs")}
        for player, answer in enumerate(answers):
            if gains[player] > self.accuracy and not is_listed(answer, grown[f"plans{player}"]):
                self._append(game, grown, player, answer)
            else:  # a plan already on the list can only seem to win by rounding
                gains[player] = min(gains[player], self.accuracy)
        solution = solve_matrix(grown["payoffs"], Basis(state["basis0"], state["basis1"]))
        return grown | {
            "iteration": np.array(state["iteration"] + 1),
            "finished": np.array((gains <= self.accuracy).all()),
            "weights0": solution.row,
            "weights1": solution.column,
            "basis0": solution.basis.variables,
            "basis1": solution.basis.constraints,
            "gains": gains,
        }

    def _append(self, game: SequenceGame, lists: State, player: int, plan: Floats) -> None:
        """Add a plan to a player's list, and its payoffs to the matrix."""
        lists[f"plans{player}"] = np.vstack([lists[f"plans{player}"], plan])
        line = lists[f"plans{1 - player}"] @ game.gradient(1 - player, plan)
        if player == 0:  # player 1's gradient holds what player 1 wins
            lists["payoffs"] = np.vstack([lists["payoffs"], -line])
        else:
            lists["payoffs"] = np.hstack([lists["payoffs"], line[:, None]])


def is_listed(plan: Floats, plans: Floats) -> bool:
    """Return whether a pure plan [L] is one of `plans` [K, L]: then its gain is rounding."""
    return bool((plans == plan).all(axis=1).any())

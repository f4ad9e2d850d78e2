"""Exact best responses, and the exploitability that they prove.

Folding the gradient of the opponent's plan up one's own tree with the maximum at every decision is
a best response. The exploitability of a profile is the mean of what both players gain by best
responses, half of NashConv (the sum). In a zero-sum game it is the mean of what both best responses
win, and bounds how far either player's plan is from optimal (CFR+ supplement, equations 11–13:
ε ≤ ε₁ + ε₂ ≤ 2x). With a rake the game is not zero-sum, and there is no such bound.

A locked decision is not a choice: its probabilities are given, and a best response keeps them.
"""

from __future__ import annotations

import numpy as np

from equilibrist.models.game import BEST, Floats, Game
from equilibrist.phases import phase
from equilibrist.strategies.evaluation import Evaluation


@phase("computing a best response")
def best_response(
    game: Game, player: int, plan: Floats, locked: Floats | None = None
) -> tuple[float, Floats]:
    """Return the value of `player`'s best response to the opponent's plan, and its behaviour [L].

    `locked` [L] is behaviour of `player` that holds the probabilities of locked decisions (default:
    uniform).

    Example:
        >>> from equilibrist.models.exact import matrix_game
        >>> best_response(matrix_game([[3, 0], [1, 2]]), 0, np.array([1.0, 0.5, 0.5]))[0]
        1.5
    """
    values = game.gradient(player, np.asarray(plan, np.float64, like=plan))
    behaviour = (
        game.uniform(player) if locked is None else np.array(locked, np.float64, like=locked)
    )
    return game.fold_up(player, BEST, values, behaviour), behaviour


@phase("computing best responses")
def evaluate(
    game: Game, plans: tuple[Floats, Floats], locked: tuple[Floats, Floats] | None = None
) -> Evaluation:
    """Return the value of a pair of plans and both best responses, in float64.

    `locked` is behaviour of both players that holds the probabilities of locked decisions (default:
    those of the plans, and uniform where a plan is zero).

    Example:
        >>> from equilibrist.models.exact import matrix_game
        >>> game = matrix_game([[1, -1], [-1, 1]])
        >>> half = np.array([1.0, 0.5, 0.5])
        >>> evaluate(game, (half, half)).exploitability
        0.0
    """
    first, second = (np.asarray(plan, np.float64, like=plan) for plan in plans)
    gradients = (game.gradient(0, second), game.gradient(1, first))
    values = [float(first @ gradients[0])]
    values.append(-values[0] if game.is_zero_sum else float(second @ gradients[1]))
    given = locked or (game.behaviour(0, first), game.behaviour(1, second))
    best = tuple(
        game.fold_up(
            player, BEST, gradients[player], np.array(given[player], np.float64, like=plans[player])
        )
        for player in (0, 1)
    )
    rake = None if game.is_zero_sum else -sum(values)
    return Evaluation(values[game.first_player], (best[0], best[1]), game.unit, rake)

"""A player that weighs the opponent's hands by its actions with Bayes' rule.

The *Monash* Bayesian poker program (Korb, Nicholson and Jitnah 1999) models its own hand, the
opponent's hand, and the opponent's actions given that hand, then bets by its probability to win.
Here a hand's class is its place among all hands on the board, and one table of probabilities serves
all rounds.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from equilibrist.games.action import Action
from equilibrist.games.betting import Betting
from equilibrist.games.rules import GameRules
from equilibrist.players.hand_strength import (
    Floats,
    check_holdem,
    possible_hands,
    strengths,
    win_probability,
)
from equilibrist.players.player import Player, View
from equilibrist.players.rule_based import pot_odds
from equilibrist.players.static import nearest_action

# Function of the betting, the places [1326] of hands, their weights [1326] before the action, and
# the action's letter: the probability of the action for each hand.
ActionProbabilities: TypeAlias = Callable[[Betting, Floats, Floats, str], Floats]


def action_probabilities(betting: Betting, places: Floats, weights: Floats, kind: str) -> Floats:
    """Return the probability that a hand at each place, from 0 to 1, takes an action.

    The weights are ignored.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> blind = Betting.start(get_game("holdem-limit"))
        >>> places = np.array([0.1, 0.9])
        >>> [action_probabilities(blind, places, places, kind).round(2).tolist() for kind in "fcr"]
        [[0.4, 0.0], [0.44, 0.32], [0.16, 0.68]]
    """
    raises = 0.15 + 0.65 * places**2
    folds = 0.5 * (1 - places) ** 2 if betting.can_fold else np.zeros_like(places)
    return {"f": folds, "r": raises}.get(kind, 1 - raises - folds)


class Monash(Player):
    """A player that bets by its probability to win against the posterior of opponent hands."""

    name = "monash"

    def __init__(self, rules: GameRules) -> None:
        check_holdem(rules, self.name)
        self.reset(0)

    def act(self, view: View) -> Action:
        """Raise if likely to win, call with sufficient pot odds; sometimes bluff or slow-play."""
        probability = win_probability(view.hole, view.board, posterior(view))
        betting, drawn = view.betting, self._random.random()
        if probability >= (0.6 if betting.can_fold else 0.52):
            kind = "r" if drawn < 0.95 else "c"
        elif probability >= pot_odds(betting):
            kind = "c"
        else:
            kind = "f"
        is_last = betting.round + 1 == view.rules.num_rounds
        if is_last and not betting.can_fold and probability < 0.15 and drawn < 0.2:
            kind = "r"
        return nearest_action(betting, kind)

    def reset(self, seed: int) -> None:
        """Restart the random generator with a seed; the player has no memory."""
        self._random = random.Random(seed)


def posterior(view: View, probabilities: ActionProbabilities = action_probabilities) -> Floats:
    """Return the weight of each hand of the opponent, [1326], given all its actions.

    `probabilities` returns the probability of an action for each hand; default:
    `action_probabilities`.
    """
    weights = possible_hands((*view.hole, *view.board))
    betting = Betting.start(view.rules)
    for r, actions in enumerate(view.betting.history):
        places = strengths(view.board[: view.rules.board_cards_by(r)])
        for action in actions:
            if betting.actor != view.player:
                weights *= probabilities(betting, places, weights, action.kind)
            betting = betting.apply(action)
    return weights

"""A player that weighs every hand the other may hold by what the other has done: Bayes' rule.

The *Monash* Bayesian poker program (Korb, Nicholson and Jitnah 1999) models the own hand, the
other's hand, and the other's actions given its hand, then bets by its chance to win. Here a hand's
class is its place among all hands on the board, and one table of chances serves all rounds.
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
    win_chance,
)
from equilibrist.players.player import Player, View
from equilibrist.players.rule_based import pot_odds
from equilibrist.players.static import nearest_action

# Chance of an action, by its letter, for hands at places [1326] and of weights [1326] before it.
Chances: TypeAlias = Callable[[Betting, Floats, Floats, str], Floats]


def action_chances(betting: Betting, places: Floats, weights: Floats, kind: str) -> Floats:
    """Chance that a hand at each place, 0 to 1 of all hands, folds, calls or raises.

    Weights do not matter to it.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> blind = Betting.start(get_game("holdem-limit"))
        >>> places = np.array([0.1, 0.9])
        >>> [action_chances(blind, places, places, kind).round(2).tolist() for kind in "fcr"]
        [[0.4, 0.0], [0.44, 0.32], [0.16, 0.68]]
    """
    raises = 0.15 + 0.65 * places**2
    folds = 0.5 * (1 - places) ** 2 if betting.can_fold else np.zeros_like(places)
    return {"f": folds, "r": raises}.get(kind, 1 - raises - folds)


class Monash(Player):
    """Bets by its chance to win against the posterior of the other's hands."""

    name = "monash"

    def __init__(self, rules: GameRules) -> None:
        check_holdem(rules, self.name)
        self.reset(0)

    def act(self, view: View) -> Action:
        """Raise when likely to win, call when the pot pays for it; a few bluffs, a few traps."""
        chance = win_chance(view.hole, view.board, posterior(view))
        betting, drawn = view.betting, self._random.random()
        if chance >= (0.6 if betting.can_fold else 0.52):
            wish = "r" if drawn < 0.95 else "c"
        elif chance >= pot_odds(betting):
            wish = "c"
        else:
            wish = "f"
        is_last = betting.round + 1 == view.rules.num_rounds
        if is_last and not betting.can_fold and chance < 0.15 and drawn < 0.2:
            wish = "r"
        return nearest_action(betting, wish)

    def reset(self, seed: int) -> None:
        """Draw from a seed; there is nothing to forget."""
        self._random = random.Random(seed)


def posterior(view: View, chances: Chances = action_chances) -> Floats:
    """Weight of each hand of the other, [1326], given all that it has done.

    `chances` are those of an action at the places of hands, `action_chances` unless told.
    """
    weights = possible_hands((*view.hole, *view.board))
    betting = Betting.start(view.rules)
    for r, actions in enumerate(view.betting.history):
        places = strengths(view.board[: view.rules.board_cards_by(r)])
        for action in actions:
            if betting.actor != view.player:
                weights *= chances(betting, places, weights, action.kind)
            betting = betting.apply(action)
    return weights

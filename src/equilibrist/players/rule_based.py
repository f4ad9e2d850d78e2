"""Rule-based players for limit hold'em that judge their own cards by a formula.

They follow what is publicly known of the programs they are called after, no more: *Poki* weighs
hand strength, potential and pot odds (Billings et al. 1998, 2002); *anti-Poki* is "a rule-based
program designed to beat Poki by exploiting its weaknesses" (Billings et al. 2003); *Teddy*
"actually does almost always raise" (Zinkevich, Bowling and Burch 2007). Thresholds are ours.
"""

from __future__ import annotations

import random

import numpy as np

from equilibrist.games.action import Action, Kind
from equilibrist.games.betting import Betting
from equilibrist.games.rules import GameRules
from equilibrist.players.hand_strength import (
    Floats,
    Outlook,
    check_holdem,
    outlook,
    strengths,
    win_chance,
)
from equilibrist.players.player import Player, View
from equilibrist.players.static import nearest_action

# Poki's thresholds of effective strength: worth one bet, worth raising.
_BET, _RAISE = 0.5, 0.85
# The same of equity before the flop, where the best hand has 0.85 and the worst 0.32.
_PREFLOP_CALL, _PREFLOP_RAISE, _PREFLOP_RERAISE = 0.44, 0.56, 0.64
_DOUBT = 0.15  # weight of the hands that Poki should not have, to anti-Poki


def pot_odds(betting: Betting) -> float:
    """The chance to win that pays for a call: chips to call by chips in the pot after it."""
    return betting.to_call / (betting.pot + betting.to_call)


class Poki(Player):
    """Bets what is ahead, raises what is far ahead, calls with draws that the pot pays for.

    It believes every bet to be made by a random hand, bluffs only with draws, and folds the rest:
    sound at a full table, easily beaten heads-up.
    """

    name = "poki"

    def __init__(self, rules: GameRules) -> None:
        check_holdem(rules, self.name)

    def act(self, view: View) -> Action:
        """What the formula says."""
        hand = outlook(view.hole, view.board)
        wish = self._after(hand, view.betting) if view.board else self._before(hand, view.betting)
        return nearest_action(view.betting, wish)

    def reset(self, seed: int) -> None:
        """There is nothing to forget, and nothing is left to chance."""

    def _before(self, hand: Outlook, betting: Betting) -> Kind:
        is_raised = betting.num_raises > 0
        if hand.strength >= (_PREFLOP_RERAISE if is_raised else _PREFLOP_RAISE):
            return "r"
        return "c" if hand.strength >= _PREFLOP_CALL else "f"

    def _after(self, hand: Outlook, betting: Betting) -> Kind:
        effective = hand.strength + (1 - hand.strength) * hand.positive
        if effective >= (_RAISE if betting.can_fold else _BET):
            return "r"
        if not betting.can_fold:
            bet = betting.rules.raise_sizes[betting.round]
            is_draw = hand.positive >= bet / (betting.pot + 2 * bet)
            return "r" if is_draw else "c"
        odds = pot_odds(betting)
        return "c" if effective >= _BET or hand.positive >= odds else "f"


class AntiPoki(Player):
    """Bets whenever Poki has shown no strength, and believes it when it has.

    Poki's check is a hand below the middle that folds to a bet, its bet or call one above, its
    raise a very good one; hands of these kinds are what it is weighed against.
    """

    name = "anti-poki"

    def __init__(self, rules: GameRules) -> None:
        check_holdem(rules, self.name)

    def act(self, view: View) -> Action:
        """Bluff into weakness, otherwise count the chances against what Poki must hold."""
        betting = view.betting
        if not view.board:
            strength = outlook(view.hole, ()).strength
            least = _PREFLOP_RAISE if betting.num_raises > 1 else _PREFLOP_CALL
            if betting.num_raises == 0 or strength >= 0.6:
                return nearest_action(betting, "r")
            return nearest_action(betting, "c" if strength >= least else "f")
        shown = _shown_strength(view)
        if not betting.can_fold and shown == 0:
            return nearest_action(betting, "r")
        chance = win_chance(view.hole, view.board, _above(view, (0.0, _BET, 0.75)[shown]))
        if chance >= 0.6:
            return nearest_action(betting, "r")
        is_last = betting.round + 1 == view.rules.num_rounds
        least = pot_odds(betting) + (0 if is_last else 0.08)
        return nearest_action(betting, "c" if chance >= least else "f")

    def reset(self, seed: int) -> None:
        """There is nothing to forget, and nothing is left to chance."""


def _shown_strength(view: View) -> int:
    """What the other did last since the flop: 0 no more than check, 1 bet or call, 2 raise."""
    shown = 0
    for r, actions in enumerate(view.betting.history[1:], start=1):
        first, num_raises = view.rules.first_players[r], 0
        for place, action in enumerate(actions):
            if (first + place) % 2 != view.player:
                raised = action.kind == "r"
                shown = min(num_raises, 1) + raised if raised or num_raises else 0
            num_raises += action.kind == "r"
    return shown


def _above(view: View, least: float) -> Floats:
    """Weights [1326] of hands: full where their place on the board is at least so high."""
    return np.where(strengths(view.board) >= least, 1.0, _DOUBT)


class Teddy(Player):
    """Raises with all but its worst cards; folds those to a bet on the last round."""

    name = "teddy"
    caution = 0.25  # effective strength below which it does not raise

    def __init__(self, rules: GameRules) -> None:
        check_holdem(rules, self.name)
        self.reset(0)

    def act(self, view: View) -> Action:
        """Raise, but for nineteen times of twenty with bad cards."""
        strength = outlook(view.hole, view.board).effective
        is_bad = strength < (self.caution if view.board else 0.38)
        if not is_bad or self._random.random() < 0.05:
            return nearest_action(view.betting, "r")
        is_last = view.betting.round + 1 == view.rules.num_rounds
        return nearest_action(view.betting, "f" if is_last and strength < 0.1 else "c")

    def reset(self, seed: int) -> None:
        """Draw from a seed; there is nothing to forget."""
        self._random = random.Random(seed)

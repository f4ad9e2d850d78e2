"""Rule-based players for hold'em that evaluate their own cards by a formula.

They follow only what is publicly known of the programs they are named after: *Poki* weighs hand
strength, potential and pot odds (Billings et al. 1998, 2002); *anti-Poki* is "a rule-based
program designed to beat Poki by exploiting its weaknesses" (Billings et al. 2003); *Teddy*
"actually does almost always raise" (Zinkevich, Bowling and Burch 2007). Thresholds are ours.

Poki also plays no-limit hold'em, by our own rules for sizes: it bets and raises the pot, or all-in
where that is more than half of its chips, and the larger the share of its chips is that a bet asks,
the better the hand must be that calls.
"""

from __future__ import annotations

import random

import numpy as np

from equilibrist.games.action import Action, Kind, raise_to
from equilibrist.games.betting import Betting
from equilibrist.games.rules import GameRules
from equilibrist.players.hand_strength import (
    Floats,
    Outlook,
    check_holdem,
    outlook,
    strengths,
    win_probability,
)
from equilibrist.players.player import Player, View
from equilibrist.players.static import nearest_action

# Poki's thresholds of effective strength: for a bet, and for a raise.
_BET, _RAISE = 0.5, 0.85
# Thresholds of equity before the flop, where the best hand has 0.85 and the worst 0.32.
_PREFLOP_CALL, _PREFLOP_RAISE, _PREFLOP_RERAISE = 0.44, 0.56, 0.64
_PREFLOP_ALL_IN, _ALL_IN = 0.75, 0.85  # to call a bet of all chips in no-limit games
_DOUBT = 0.15  # weight that anti-Poki gives to hands that Poki should not have


def pot_odds(betting: Betting) -> float:
    """Return the probability to win at which a call breaks even: chips to call / pot after it."""
    return betting.to_call / (betting.pot + betting.to_call)


class Poki(Player):
    """A player that bets good hands, raises very good ones, and calls draws with pot odds.

    It assumes a random hand behind every bet, bluffs only with draws, and folds the rest: sound at
    a full table, easily beaten heads-up.
    """

    name = "poki"

    def __init__(self, rules: GameRules) -> None:
        check_holdem(rules, self.name, no_limit=True)

    def act(self, view: View) -> Action:
        """Return the action that the formula gives."""
        hand, betting = outlook(view.hole, view.board), view.betting
        kind = self._after(hand, betting) if view.board else self._before(hand, betting)
        if kind == "r" and betting.can_raise and not betting.rules.is_limit:
            return _pot_raise(betting)
        return nearest_action(betting, kind)

    def reset(self, seed: int) -> None:
        """Do nothing: the player has no memory and draws no random numbers."""

    def _before(self, hand: Outlook, betting: Betting) -> Kind:
        least = _least(betting, _PREFLOP_CALL, _PREFLOP_ALL_IN)
        is_raised = betting.num_raises > 0
        if hand.strength >= max(least, _PREFLOP_RERAISE if is_raised else _PREFLOP_RAISE):
            return "r"
        return "c" if hand.strength >= least else "f"

    def _after(self, hand: Outlook, betting: Betting) -> Kind:
        effective = hand.strength + (1 - hand.strength) * hand.positive
        if effective >= (_RAISE if betting.can_fold else _BET):
            return "r"
        if not betting.can_fold:
            is_limit = betting.rules.is_limit
            bet = betting.rules.raise_sizes[betting.round] if is_limit else betting.pot
            is_draw = hand.positive >= bet / (betting.pot + 2 * bet)
            return "r" if is_draw else "c"
        odds = pot_odds(betting)
        is_good = effective >= _least(betting, _BET, _ALL_IN)
        return "c" if is_good or hand.positive >= odds else "f"


def _least(betting: Betting, call: float, all_in: float) -> float:
    """Return the strength for a call: `call`, in no-limit games up to `all_in` for all chips."""
    if betting.rules.is_limit or betting.actor is None:
        return call
    return call + (all_in - call) * betting.to_call / betting.stacks_left[betting.actor]


def _pot_raise(betting: Betting) -> Action:
    """Return a raise by the pot, after calling; all-in if that is more than half of the chips."""
    actor = betting.to_act[0]
    total = max(betting.spent) + betting.pot + betting.to_call
    if 2 * (total - betting.spent[actor]) > betting.stacks_left[actor]:
        return raise_to(betting.max_raise_to)
    return raise_to(max(total, betting.min_raise_to))


class AntiPoki(Player):
    """A player that bets if Poki has shown no strength, and respects the strength it has shown.

    It assumes that Poki checks hands below the middle, which fold to a bet, bets or calls hands
    above it, and raises very good ones, and it weighs Poki's hands accordingly.
    """

    name = "anti-poki"

    def __init__(self, rules: GameRules) -> None:
        check_holdem(rules, self.name)

    def act(self, view: View) -> Action:
        """Bluff if Poki showed weakness; otherwise act by the odds against Poki's likely hands."""
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
        probability = win_probability(view.hole, view.board, _above(view, (0.0, _BET, 0.75)[shown]))
        if probability >= 0.6:
            return nearest_action(betting, "r")
        is_last = betting.round + 1 == view.rules.num_rounds
        least = pot_odds(betting) + (0 if is_last else 0.08)
        return nearest_action(betting, "c" if probability >= least else "f")

    def reset(self, seed: int) -> None:
        """Do nothing: the player has no memory and draws no random numbers."""


def _shown_strength(view: View) -> int:
    """Return the strength of the opponent's last action since the flop.

    0 is a check or no action yet, 1 a bet or call, 2 a raise.
    """
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
    """Return hand weights [1326]: 1 where the strength is at least `least`, else `_DOUBT`."""
    return np.where(strengths(view.board) >= least, 1.0, _DOUBT)


class Teddy(Player):
    """A player that raises all but its worst hands, and folds those to a bet on the last round."""

    name = "teddy"
    caution = 0.25  # effective strength below which it rarely raises

    def __init__(self, rules: GameRules) -> None:
        check_holdem(rules, self.name)
        self.reset(0)

    def act(self, view: View) -> Action:
        """Raise good hands always and bad hands with probability 0.05."""
        strength = outlook(view.hole, view.board).effective
        is_bad = strength < (self.caution if view.board else 0.38)
        if not is_bad or self._random.random() < 0.05:
            return nearest_action(view.betting, "r")
        is_last = view.betting.round + 1 == view.rules.num_rounds
        return nearest_action(view.betting, "f" if is_last and strength < 0.1 else "c")

    def reset(self, seed: int) -> None:
        """Restart the random generator with a seed; the player has no memory."""
        self._random = random.Random(seed)

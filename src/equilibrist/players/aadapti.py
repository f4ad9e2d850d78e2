"""A slow learner: it counts how often the other folds, calls and raises, and plays against that.

*Aadapti* is "a relatively simple adaptive player, capable of slowly learning and exploiting
persistent patterns in play" (Billings et al. 2003). Here the pattern is one triple of frequencies
for each round, facing no bet, one, or a raise. Of the hands that it may have, the other is taken to
raise the best, call with the next and fold the rest, as often as counted; the action of largest
expectation is chosen one step ahead. Whoever stays calls to the end: in each later round a bet, as
often as the other is counted to make it.
"""

from __future__ import annotations

import numpy as np

from equilibrist.games.action import Action, Kind
from equilibrist.games.betting import Betting
from equilibrist.games.rules import GameRules
from equilibrist.players.bayesian import posterior
from equilibrist.players.hand_strength import Floats, check_holdem, strengths, win_chance
from equilibrist.players.player import Player, Result, View
from equilibrist.players.static import nearest_action

_PATIENCE = 100.0  # actions that the first beliefs are worth: what makes it slow
_DOUBT = 0.15  # chance of an action that the pattern does not expect
# Fold, call and raise before anything is seen: facing no bet, one, a raise.
_FIRST_BELIEF = np.array([(0.0, 0.6, 0.4), (0.15, 0.6, 0.25), (0.05, 0.75, 0.2)])
_KINDS = "fcr"


class Aadapti(Player):
    """Believes in frequencies, and learns them from every action of the other."""

    name = "aadapti"

    def __init__(self, rules: GameRules) -> None:
        check_holdem(rules, self.name)
        self._rules = rules
        self.reset(0)

    def reset(self, seed: int) -> None:
        """Forget all counts; nothing is left to chance."""
        first = _PATIENCE * _FIRST_BELIEF
        self._counts = np.tile(first, (self._rules.num_rounds, 1, 1))  # [rounds, 3, 3]

    def frequencies(self, betting: Betting) -> Floats:
        """How often the other is believed to fold, call and raise: [3]."""
        counts = self._counts[_context(betting)]
        return counts / counts.sum()

    def act(self, view: View) -> Action:
        """Fold, call or raise, whichever is expected to win most if the next action is the last."""
        betting = view.betting
        weights = posterior(view, self._chances)
        chance = win_chance(view.hole, view.board, weights)
        later = self._later_bets(betting.round)
        values: dict[Kind, float] = {"f": 0.0}
        values["c"] = chance * (betting.pot + betting.to_call + 2 * later)
        values["c"] -= betting.to_call + later
        if betting.can_raise:
            values["r"] = self._value_of_raise(view, weights)
        return nearest_action(betting, max(values, key=values.__getitem__))

    def told(self, result: Result) -> None:
        """Count the other's actions."""
        betting = Betting.start(self._rules)
        for action in (action for actions in result.view.betting.history for action in actions):
            if betting.actor != result.view.player:
                self._counts[_context(betting)][_KINDS.index(action.kind)] += 1
            betting = betting.apply(action)

    def _later_bets(self, round: int) -> float:
        """Chips that either player is expected to add in the rounds to come."""
        sizes = self._rules.raise_sizes
        counts = self._counts[round + 1 :, 0]
        return float(np.dot(sizes[round + 1 :], counts[:, 2] / counts.sum(axis=1)))

    def _value_of_raise(self, view: View, weights: Floats) -> float:
        """The pot if the other folds; else a showdown for one bet more against what stays."""
        betting = view.betting
        raised = betting.min_raise_to
        cost = raised - betting.spent[view.player]
        pot = 2 * raised
        after = betting.apply(nearest_action(betting, "r"))
        folding = weights * self._chances(after, strengths(view.board), weights, "f")
        folds = float(folding.sum() / max(weights.sum(), 1e-12))
        chance = win_chance(view.hole, view.board, weights - folding)
        later = self._later_bets(betting.round)
        stays = chance * (pot + 2 * later) - cost - later
        return folds * betting.pot + (1 - folds) * stays

    def _chances(self, betting: Betting, places: Floats, weights: Floats, kind: str) -> Floats:
        """Chance of an action: of the hands it may have, the best raise and the worst fold."""
        order = np.argsort(places)
        below = np.empty_like(weights)
        below[order] = np.cumsum(weights[order]) - weights[order] / 2
        share = below / max(weights.sum(), 1e-12)
        fold, call, _ = self.frequencies(betting)
        wished = (share >= fold).astype(int) + (share >= fold + call)
        return np.where(wished == _KINDS.index(kind), 1 - _DOUBT, _DOUBT / 2)


def _context(betting: Betting) -> tuple[int, int]:
    """The round, and whether the actor faces no bet (0), one (1) or a raise (2)."""
    return betting.round, 0 if not betting.can_fold else min(max(betting.num_raises, 1), 2)

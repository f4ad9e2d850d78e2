"""A slow learner: it counts how often the other folds, calls and raises, and plays against that.

*Aadapti* is "a relatively simple adaptive player, capable of slowly learning and exploiting
persistent patterns in play" (Billings et al. 2003). Here the pattern is one triple of frequencies
for each round, facing no bet, a bet, a bet after having passed, or a raise. Of the hands that it
may have, the other is taken to raise the best, call with the next and fold the rest, as often as
counted; the action of largest expectation is chosen one step ahead. Whoever stays calls to the end:
in each later round a bet, as often as the other is counted to make it.

Some do not look at their cards. So it also learns a *doubt* d: an action is taken to follow the
pattern with chance 1 − d and to be drawn from the frequencies, whatever the hand, with chance d.
Where the other shows its hand, each of its actions that the pattern does not expect of that hand
was drawn; of those that it expects, a part was, by Bayes' rule.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from equilibrist.cards.hand import hand_index
from equilibrist.games.action import Action, Kind
from equilibrist.games.betting import Betting
from equilibrist.games.rules import GameRules
from equilibrist.players.hand_strength import Floats, check_holdem, strengths, win_chance
from equilibrist.players.monash import posterior
from equilibrist.players.player import Player, Result, View
from equilibrist.players.static import nearest_action

_PATIENCE = 30.0  # actions that the first beliefs are worth
# Doubt before a hand is shown, and the actions of shown hands that it is worth.
_FIRST_DOUBT, _DOUBT_PATIENCE = 0.3, 20.0
# Fold, call and raise before anything is seen: facing no bet, one, one after passing, a raise.
_FIRST_BELIEF = np.array([(0.0, 0.6, 0.4), (0.15, 0.6, 0.25), (0.15, 0.6, 0.25), (0.05, 0.75, 0.2)])
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
        self._counts = np.tile(first, (self._rules.num_rounds, 1, 1))  # [rounds, 4, 3]
        self._num_drawn, self._num_shown = _FIRST_DOUBT * _DOUBT_PATIENCE, _DOUBT_PATIENCE

    @property
    def doubt(self) -> float:
        """Chance that an action of the other says nothing about its hand."""
        return self._num_drawn / self._num_shown

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
        """Doubt by the hand of the other, if it is shown, and count its actions."""
        view = result.view
        if shown := view.state.holes[1 - view.player]:
            self._learn_doubt(view, hand_index(*shown))
        betting = Betting.start(self._rules)
        for action in (action for actions in view.betting.history for action in actions):
            if betting.actor != view.player:
                self._counts[_context(betting)][_KINDS.index(action.kind)] += 1
            betting = betting.apply(action)

    def _learn_doubt(self, view: View, hand: int) -> None:
        """Split the actions of a hand that was shown into drawn ones and such that fit it."""
        doubt = self.doubt

        def look(betting: Betting, places: Floats, weights: Floats, kind: str) -> Floats:
            fits = (1 - doubt) * (self._pattern(betting, places, weights, kind)[hand])
            drawn = doubt * self.frequencies(betting)[_KINDS.index(kind)]
            self._num_drawn += float(drawn / (drawn + fits))
            self._num_shown += 1
            return self._chances(betting, places, weights, kind)

        posterior(view, look)

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
        """Chance of an action for each hand: by the pattern or, as far as doubted, by lot."""
        fits = self._pattern(betting, places, weights, kind)
        drawn = self.frequencies(betting)[_KINDS.index(kind)]
        return (1 - self.doubt) * fits + self.doubt * drawn

    def _pattern(
        self, betting: Betting, places: Floats, weights: Floats, kind: str
    ) -> NDArray[np.bool_]:
        """Which hands take an action: of those it may have, the best raise and the worst fold."""
        order = np.argsort(places)
        below = np.empty_like(weights)
        below[order] = np.cumsum(weights[order]) - weights[order] / 2
        share = below / max(weights.sum(), 1e-12)
        fold, call, _ = self.frequencies(betting)
        wished = (share >= fold).astype(int) + (share >= fold + call)
        return wished == _KINDS.index(kind)


def _context(betting: Betting) -> tuple[int, int]:
    """The round; 0 if the actor faces no bet, 1 a bet, 2 a bet after it passed, 3 a raise."""
    if not betting.can_fold:
        return betting.round, 0
    if betting.num_raises > 1:
        return betting.round, 3
    return betting.round, 1 + (len(betting.history[-1]) > 1)

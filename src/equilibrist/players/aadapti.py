"""A slow learner that plays against the opponent's frequencies of folds, calls and raises.

*Aadapti* is "a relatively simple adaptive player, capable of slowly learning and exploiting
persistent patterns in play" (Billings et al. 2003). Here the pattern is one triple of frequencies
per round and situation: facing no bet, a bet, a bet after having checked, or a raise. The opponent
is assumed to raise its best hands, call with the next and fold the rest, with the counted
frequencies; the action with the largest expected value is chosen by looking one step ahead. A
player that stays in the hand is assumed to call to the end: one bet in each later round, with the
frequency with which the opponent bets there.

Some opponents ignore their cards. So the player also learns a *doubt* d: an action is assumed to
follow the pattern with probability 1 − d, and to be drawn from the frequencies, whatever the hand,
with probability d. When the opponent shows its hand, each action that the pattern does not expect
of that hand counts as drawn; of the expected ones a part counts as drawn, by Bayes' rule.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from equilibrist.cards.hand import hand_index
from equilibrist.games.action import Action, Kind
from equilibrist.games.betting import Betting
from equilibrist.games.rules import GameRules
from equilibrist.players.hand_strength import Floats, check_holdem, strengths, win_probability
from equilibrist.players.monash import posterior
from equilibrist.players.player import Player, Result, View
from equilibrist.players.static import nearest_action

_PATIENCE = 30.0  # weight of the initial beliefs, in actions
# Doubt before any hand is shown, and its weight in actions of shown hands.
_FIRST_DOUBT, _DOUBT_PATIENCE = 0.3, 20.0
# Fold, call, raise before any observation: facing no bet, a bet, a bet after a check, a raise.
_FIRST_BELIEF = np.array([(0.0, 0.6, 0.4), (0.15, 0.6, 0.25), (0.15, 0.6, 0.25), (0.05, 0.75, 0.2)])
_KINDS = "fcr"


class Aadapti(Player):
    """A player that learns the opponent's frequencies from every action and exploits them."""

    name = "aadapti"

    def __init__(self, rules: GameRules) -> None:
        check_holdem(rules, self.name)
        self._rules = rules
        self.reset(0)

    def reset(self, seed: int) -> None:
        """Forget all counts; the player draws no random numbers, so the seed is ignored."""
        first = _PATIENCE * _FIRST_BELIEF
        self._counts = np.tile(first, (self._rules.num_rounds, 1, 1))  # [rounds, 4, 3]
        self._num_drawn, self._num_shown = _FIRST_DOUBT * _DOUBT_PATIENCE, _DOUBT_PATIENCE

    @property
    def doubt(self) -> float:
        """Probability that an action of the opponent does not depend on its hand."""
        return self._num_drawn / self._num_shown

    def frequencies(self, betting: Betting) -> Floats:
        """Return the believed frequencies of the opponent's fold, call and raise: [3]."""
        counts = self._counts[_context(betting)]
        return counts / counts.sum()

    def act(self, view: View) -> Action:
        """Return the action with the largest expected value, looking one action ahead."""
        betting = view.betting
        weights = posterior(view, self._probabilities)
        probability = win_probability(view.hole, view.board, weights)
        later = self._later_bets(betting.round)
        values: dict[Kind, float] = {"f": 0.0}
        values["c"] = probability * (betting.pot + betting.to_call + 2 * later)
        values["c"] -= betting.to_call + later
        if betting.can_raise:
            values["r"] = self._value_of_raise(view, weights)
        return nearest_action(betting, max(values, key=values.__getitem__))

    def observe(self, result: Result) -> None:
        """Update the doubt from the opponent's hand, if shown, and count its actions."""
        view = result.view
        if shown := view.state.holes[1 - view.player]:
            self._learn_doubt(view, hand_index(*shown))
        betting = Betting.start(self._rules)
        for action in (action for actions in view.betting.history for action in actions):
            if betting.actor != view.player:
                self._counts[_context(betting)][_KINDS.index(action.kind)] += 1
            betting = betting.apply(action)

    def _learn_doubt(self, view: View, hand: int) -> None:
        """Split the actions of a shown hand into drawn ones and ones that fit the pattern."""
        doubt = self.doubt

        def observe(betting: Betting, places: Floats, weights: Floats, kind: str) -> Floats:
            fits = (1 - doubt) * (self._pattern(betting, places, weights, kind)[hand])
            drawn = doubt * self.frequencies(betting)[_KINDS.index(kind)]
            self._num_drawn += float(drawn / (drawn + fits))
            self._num_shown += 1
            return self._probabilities(betting, places, weights, kind)

        posterior(view, observe)

    def _later_bets(self, round: int) -> float:
        """Return the chips that each player is expected to add in later rounds."""
        sizes = self._rules.raise_sizes
        counts = self._counts[round + 1 :, 0]
        return float(np.dot(sizes[round + 1 :], counts[:, 2] / counts.sum(axis=1)))

    def _value_of_raise(self, view: View, weights: Floats) -> float:
        """Return the value of a raise: the pot after a fold, else a showdown for one bet more."""
        betting = view.betting
        raised = betting.min_raise_to
        cost = raised - betting.spent[view.player]
        pot = 2 * raised
        after = betting.apply(nearest_action(betting, "r"))
        folding = weights * self._probabilities(after, strengths(view.board), weights, "f")
        folds = float(folding.sum() / max(weights.sum(), 1e-12))
        probability = win_probability(view.hole, view.board, weights - folding)
        later = self._later_bets(betting.round)
        stays = probability * (pot + 2 * later) - cost - later
        return folds * betting.pot + (1 - folds) * stays

    def _probabilities(
        self, betting: Betting, places: Floats, weights: Floats, kind: str
    ) -> Floats:
        """Return the probability of an action for each hand: pattern and draw, mixed by doubt."""
        fits = self._pattern(betting, places, weights, kind)
        drawn = self.frequencies(betting)[_KINDS.index(kind)]
        return (1 - self.doubt) * fits + self.doubt * drawn

    def _pattern(
        self, betting: Betting, places: Floats, weights: Floats, kind: str
    ) -> NDArray[np.bool_]:
        """Return which hands take an action: the best hands raise and the worst fold."""
        order = np.argsort(places)
        below = np.empty_like(weights)
        below[order] = np.cumsum(weights[order]) - weights[order] / 2
        share = below / max(weights.sum(), 1e-12)
        fold, call, _ = self.frequencies(betting)
        taken = (share >= fold).astype(int) + (share >= fold + call)
        return taken == _KINDS.index(kind)


def _context(betting: Betting) -> tuple[int, int]:
    """Return the round and the situation: 0 no bet, 1 a bet, 2 a bet after a check, 3 a raise."""
    if not betting.can_fold:
        return betting.round, 0
    if betting.num_raises > 1:
        return betting.round, 3
    return betting.round, 1 + (len(betting.history[-1]) > 1)

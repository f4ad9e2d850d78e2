"""Values of the actions that a player could have chosen in a hand, and what its choices cost.

The opponent's strategy is known, so its hands are weighted by the probability that it plays each of
them like this. An action is worth what the player wins with it if both players follow the known
strategy afterwards: the value of AIVAT's views (`evaluation.views`) one action further. In games
with an exact model these values are exact; `HandViews` has them exactly in the last round, and by
the buckets of the known strategy before.

As in reports of spots, values count from the decision on: a fold is worth 0.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

from equilibrist.evaluation.views import View, Views
from equilibrist.games.betting_tree import NodeKind
from equilibrist.games.state import HandState

_DECIMALS = 9  # of chips; what is beyond them is rounding error


class DecisionValues(NamedTuple):
    """A decision of a hand with the value of each action, in chips from the decision on."""

    node: int
    taken: int  # place of the chosen action among the node's children
    values: tuple[float, ...]

    @property
    def cost(self) -> float:
        """What the choice cost: the value of the best action less that of the chosen one."""
        return max(self.values) - self.values[self.taken]


def decision_values(views: Views[View], hand: HandState, player: int) -> list[DecisionValues]:
    """Return the values of all actions at each decision of an unknown player in a finished hand.

    Decisions that the known strategy never lets happen are left out: they have no values.

    Example:
        >>> from equilibrist.evaluation.expectation import fixed_mix
        >>> from equilibrist.evaluation.history_values import PairValues
        >>> from equilibrist.evaluation.pair_views import PairViews
        >>> from equilibrist.games.catalog import get_game
        >>> from equilibrist.games.notation import parse_state
        >>> from equilibrist.models.exact import exact_game
        >>> game = exact_game(get_game("kuhn"))
        >>> mix = fixed_mix(game, (0.5, 0.5, 0.0))  # checks, and calls half of the time
        >>> views = PairViews(game, (None, mix[1]), PairValues(game, mix))
        >>> hand = parse_state(get_game("kuhn"), "STATE:0:cc:As|Ks").state
        >>> [found] = decision_values(views, hand, player=0)  # a check with the ace, worth the pot
        >>> found.values, found.cost  # a bet wins one chip more if it is called
        ((2.0, 2.5), 0.5)
    """
    betting, leaf = views.betting, views.node(hand)
    seen = views.of_hand(leaf, hand)
    found = []
    for node, child in itertools.pairwise(betting.path(leaf)):
        if betting.kind[node] != NodeKind.DECISION or betting.player[node] != player:
            continue
        view = seen[int(betting.round[node])]
        mass = views.mass(node, view)
        if mass > 0:
            paid, sign = int(betting.spent[node, player]), -1 if player else 1
            options = betting.children(node)
            values = (paid + sign * views.weighed(each, view) / mass for each in options)
            rounded = tuple(round(value, _DECIMALS) + 0.0 for value in values)
            found.append(DecisionValues(node, child - options.start, rounded))
    return found

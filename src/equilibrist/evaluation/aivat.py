"""AIVAT: remove the luck of a hand from its result, without bias.

Burch, Schmid, Moravčík, Bowling, *AIVAT: A New Variance Reduction Technique for Agent Evaluation in
Imperfect Information Games* (2018). The strategies of one or both players are known; chance always
is. A hand is seen from the side of the unknown player: its own cards, the board and the betting; if
both strategies are known, only the board and the betting. All pairs of private states that fit such
a *view* g are weighted by the probability that chance and the known plans lead there,

    w(s, t) = J(s, t) · x(s) · y(t),    the plan of an unknown player left out,

and for any estimate v of the values of histories the view's value is V(g) = Σ w v / Σ w. Then

    corrected chips = Σ w u / Σ w at the end of the hand             imaginary observations
                    + Σ over cards dealt    (E[V | before] − V)       chance terms
                    + Σ over known actions  (E[V | before] − V)       decision terms.

All terms of the paper are included: the deal of an unknown player's cards and of every board, each
action of each known player, and imaginary observations over the private states of all known players
at every term. Cards dealt when nobody can act any more (all-in, rolled-out boards) are averaged
over exactly, which is their chance term with exact values. Every E is over known probabilities, so
each correction has mean zero and the mean is that of the chips, whatever v is, provided that v was
chosen without using the hands it corrects.

`Corrector` has the method; what it asks of the cards is the protocol `Views` (`evaluation.views`).
`Aivat` is for the games of `exact_game`, if a matrix of private states fits into memory at each
node. In limit hold'em the cards of one player are taken as seen even if its strategy is known, so
that vectors over the hands of the other are enough (`evaluation.hand_views`). An unknown player may
do anything, including distinguishing cards that the model merges.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic

import numpy as np
from numpy.typing import NDArray

from equilibrist.errors import InvalidValueError
from equilibrist.evaluation.expectation import Plans
from equilibrist.evaluation.history_values import PairValues, ValueFunction
from equilibrist.evaluation.pair_views import PairView, PairViews
from equilibrist.evaluation.views import View, Views
from equilibrist.games.betting_tree import NodeKind
from equilibrist.games.records import HandRecord
from equilibrist.games.state import HandState
from equilibrist.models.game import Floats, SequenceGame

_CACHED_VIEWS = 1_000_000  # number of hands, by what is seen of them, whose terms are cached


@dataclass(frozen=True)
class Terms:
    """Terms of AIVAT for a hand, in chips of player 0."""

    observed: float  # the result, averaged over the private states of known players
    cards: float  # corrections for the cards dealt
    actions: float  # corrections for the actions of known players

    @property
    def chips(self) -> float:
        """Corrected result of player 0; player 1's is the opposite."""
        return self.observed + self.cards + self.actions


class Corrector(Generic[View]):
    """Corrects hands that are seen through views."""

    def __init__(self, views: Views[View]) -> None:
        self.views = views
        self._walked = functools.lru_cache(_CACHED_VIEWS)(self._walk)

    def chips(self, hand: HandState) -> float:
        """Return the corrected result of player 0 in a finished hand, in chips."""
        return self.terms(hand).chips

    def terms(self, hand: HandState) -> Terms:
        """Return the parts of the corrected result; private cards of known players may be missing.

        Raises `InvalidValueError` if a known plan never plays like this, or if an unknown player's
        cards are hidden.
        """
        if not hand.is_over:
            raise InvalidValueError(
                f"{hand} is not over, so it has no result to correct", value=str(hand)
            )
        leaf = self.views.node(hand)
        return self._walked(leaf, self.views.of_hand(leaf, hand))

    @functools.cached_property
    def expected(self) -> float:
        """E[V] before any card is dealt, in chips of player 0."""
        return self.views.expected

    def _walk(self, leaf: int, views: tuple[View, ...]) -> Terms:
        """Return the terms of a hand: its leaf, and its view in every round."""
        betting = self.views.betting
        cards = self.expected - self._worth(0, views[0])
        actions = 0.0
        for node, child in itertools.pairwise(betting.path(leaf)):
            view = views[int(betting.round[node])]
            if betting.kind[node] == NodeKind.ROUND_END:
                mean = self.views.dealt(child, view) / self._mass(node, view)
                cards += mean - self._worth(child, views[int(betting.round[child])])
            elif self.views.is_known(int(betting.player[node])):
                total = sum(self.views.weighed(option, view) for option in betting.children(node))
                actions += total / self._mass(node, view) - self._worth(child, view)
        observed = self.views.observed(leaf, views[-1]) / self._mass(leaf, views[-1])
        return Terms(observed, cards, actions)

    def _mass(self, node: int, view: View) -> float:
        mass = self.views.mass(node, view)
        if not mass > 0:
            name = self.views.betting.name(node)
            raise InvalidValueError(
                f"the known strategies never play {name!r} with these cards: "
                "the hand was played by others",
                value=name,
            )
        return mass

    def _worth(self, node: int, view: View) -> float:
        """Return V of a view."""
        return self.views.weighed(node, view) / self._mass(node, view)


class Aivat(Corrector[PairView]):
    """Corrects hands of a game in which one plan or both are known.

    `values` default to those of the two plans; with one plan they must be given, such as
    `PairValues(game, strategy)`: the known strategy against itself.

    Example:
        >>> from equilibrist.evaluation.expectation import fixed_mix
        >>> from equilibrist.games.catalog import get_game
        >>> from equilibrist.games.notation import parse_state
        >>> from equilibrist.models.exact import exact_game
        >>> game = exact_game(get_game("kuhn"))
        >>> mix = fixed_mix(game, (0.5, 0.3, 0.2))
        >>> hand = parse_state(get_game("kuhn"), "STATE:0:rc:As|Qs").state
        >>> hand.payoffs(), round(Aivat(game, (mix[0], None), PairValues(game, mix)).chips(hand), 3)
        ((2, -2), 0.52)
    """

    def __init__(
        self,
        game: SequenceGame,
        plans: tuple[Floats | None, Floats | None],
        values: ValueFunction | None = None,
    ) -> None:
        if plans[0] is None and plans[1] is None:
            raise InvalidValueError("AIVAT needs the strategy of at least one player")
        if values is None:
            first, second = plans
            if first is None or second is None:
                raise InvalidValueError(
                    "with one known strategy, values of histories must be given, such as "
                    "PairValues of that strategy against itself"
                )
            values = PairValues(game, (first, second))
        super().__init__(PairViews(game, plans, values))


class Seated:
    """Corrects hands of a match, in which two players change seats."""

    def __init__(self, seats: tuple[Corrector[Any], Corrector[Any]]) -> None:
        """Store the correctors of the hands in which the first player is player 0 and player 1."""
        self._seats = seats

    def chips(self, hand: HandState, seat: int) -> float:
        """Return the corrected chips of the first player, who is player `seat` of the hand."""
        return self._of_first(self._seats[seat].chips(hand), seat)

    def expected(self, seat: int) -> float:
        """Return the chips per hand that the values promise the first player before the deal."""
        return self._of_first(self._seats[seat].expected, seat)

    def views(self, seat: int) -> Views[Any]:
        """Return the views of hands in which the first player is player `seat`."""
        views: Views[Any] = self._seats[seat].views
        return views

    def _of_first(self, chips: float, seat: int) -> float:
        return -chips if seat else chips


class SeatedAivat(Seated):
    """Corrects hands of a match in a game in which one strategy or both are known.

    `strategies` are those of the first and of the second player, None if unknown. `values` default
    to those of the known strategies against each other, or of the one against itself.
    """

    def __init__(
        self,
        game: SequenceGame,
        strategies: tuple[Plans | None, Plans | None],
        values: ValueFunction | None = None,
    ) -> None:
        self.strategies = strategies
        known = [side for side in strategies if side is not None]
        if len(known) == 1 and values is None:
            values = PairValues(game, known[0])  # the same for both seats
        one, two = (
            Aivat(game, (None if a is None else a[0], None if b is None else b[1]), values)
            for a, b in (strategies, strategies[::-1])
        )
        super().__init__((one, two))


def corrected(
    game: SequenceGame,
    records: Iterable[HandRecord],
    strategies: Mapping[str, Plans],
    name: str,
    values: ValueFunction | None = None,
) -> NDArray[np.float64]:
    """Return the corrected chips [N] of the player called `name` in every hand of a match.

    `strategies` holds the plans of the players whose strategies are known, by name. `values`
    default to those of the known strategies against each other, or of the one against itself.
    """
    tables: dict[str, SeatedAivat] = {}  # by opponent
    chips = []
    for record in records:
        if name not in record.names:
            raise InvalidValueError(
                f"{name} did not play hand {record.hand_number}: {' and '.join(record.names)} did",
                value=name,
            )
        seat = record.names.index(name)
        other = record.names[1 - seat]
        if other not in tables:
            sides = strategies.get(name), strategies.get(other)
            tables[other] = SeatedAivat(game, sides, values)
        chips.append(tables[other].chips(record.state, seat))
    return np.array(chips, np.float64)

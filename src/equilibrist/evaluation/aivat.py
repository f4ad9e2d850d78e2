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

Games: those of `exact_game`, if a matrix of private states fits into memory at each node; bucket
games have no cards to find. An unknown player may do anything, including distinguishing cards that
the model merges.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from equilibrist.errors import InvalidValueError
from equilibrist.evaluation.expectation import Plans, checked_plan
from equilibrist.evaluation.history_values import ExactCards, PairValues, ValueFunction
from equilibrist.games.records import HandRecord
from equilibrist.games.state import HandState
from equilibrist.kernels.treeplex import block, boards, parents_of
from equilibrist.models.game import Floats, SequenceGame
from equilibrist.solving.sampling import walk_tables


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


class Aivat:
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
        known = [player for player in (0, 1) if plans[player] is not None]
        if not known:
            raise InvalidValueError("AIVAT needs the strategy of at least one player")
        if values is None:
            first, second = plans
            if first is None or second is None:
                raise InvalidValueError(
                    "with one known strategy, values of histories must be given, such as "
                    "PairValues of that strategy against itself"
                )
            values = PairValues(game, (first, second))
        self.cards = ExactCards(game)
        self.walk = walk_tables(game)
        self.values = values
        self.plans = [
            None if plan is None else checked_plan(game, player, plan)
            for player, plan in enumerate(plans)
        ]
        self.unknown = next((player for player in (0, 1) if player not in known), None)
        self._cache: dict[tuple[int, int, int], Terms] = {}

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
        leaf = self.cards.node(hand)
        r = int(self.walk.round[leaf])
        board, state = self.cards.find(r, hand, self.unknown)
        key = (leaf, board, state)
        if key not in self._cache:
            self._cache[key] = self._walk(leaf, board, state)
        return self._cache[key]

    def _walk(self, leaf: int, board: int, state: int) -> Terms:
        """Return the terms of a view: its leaf, its board and its unknown state."""
        views = self._views(board, state)
        cards = self.expected - self._worth(0, *views[0])
        actions = 0.0
        for node, child in itertools.pairwise(self.cards.betting.path(leaf)):
            view, actor = views[int(self.walk.round[node])], int(self.walk.actor[node])
            if actor < 0:
                after = views[int(self.walk.round[child])]
                cards += self._dealt(node, child, *view) - self._worth(child, *after)
            elif actor != self.unknown:
                children = self.cards.betting.children(node)
                mean = sum(self._weighed(option, *view) for option in children)
                actions += mean / self._mass(node, *view) - self._worth(child, *view)
        return Terms(self._observed(leaf, *views[-1]), cards, actions)

    def _views(self, board: int, state: int) -> list[tuple[int, int]]:
        """Return board and unknown state of every round up to one."""
        tree = self.cards.game.trees[self.unknown or 0]
        views = [(board, state)]
        while (above := int(tree.board_parent[views[0][0]])) >= 0:
            board, state = views[0]
            views.insert(0, (above, int(parents_of(tree, board)[state]) if state >= 0 else -1))
        return views

    def _weights(self, node: int, board: int) -> Floats:
        """Return the probability of a node by chance and known plans, by states: [S0, S1]."""
        weights = self.cards.joint(board)
        for player, plan in enumerate(self.plans):
            if plan is not None:
                r = int(self.walk.round[node])
                own = block(self.cards.game.trees[player], r, board, plan)
                reach = own[int(self.walk.row[node, player])]
                weights = weights * (reach[:, None] if player == 0 else reach)
        return weights

    def _seen(self, matrix: Floats, state: int) -> float:
        """Return the sum of a matrix [S0, S1] over the states that fit a view."""
        if self.unknown is not None:
            matrix = matrix[state] if self.unknown == 0 else matrix[:, state]
        return float(matrix.sum())

    def _mass(self, node: int, board: int, state: int) -> float:
        mass = self._seen(self._weights(node, board), state)
        if not mass > 0:
            name = self.cards.betting.name(node)
            raise InvalidValueError(
                f"the known strategies never play {name!r} with these cards: "
                "the hand was played by others",
                value=name,
            )
        return mass

    def _weighed(self, node: int, board: int, state: int) -> float:
        return self._seen(self._weights(node, board) * self.values(node, board), state)

    def _worth(self, node: int, board: int, state: int) -> float:
        """Return V of a view."""
        return self._weighed(node, board, state) / self._mass(node, board, state)

    def _observed(self, leaf: int, board: int, state: int) -> float:
        """Return the mean result over states that fit a view; J of the weights becomes J or W."""
        result = self.cards.leaf(self.walk.fixed[leaf], self.walk.contested[leaf], board)
        joint = self.cards.joint(board)
        chips = result / np.where(joint > 0, joint, 1)
        mass = self._mass(leaf, board, state)
        return self._seen(self._weights(leaf, board) * chips, state) / mass

    @functools.cached_property
    def expected(self) -> float:
        """E[V] before any card is dealt, in chips of player 0."""
        first = boards(self.cards.game.trees[0], 0)
        return sum(float((self._weights(0, b) * self.values(0, b)).sum()) for b in first)

    def _dealt(self, node: int, opening: int, board: int, state: int) -> float:
        """Return E[V] before a board is dealt: over boards and the unknown player's next states."""
        total = 0.0
        for child in self.cards.children(board):
            weighed = self._weights(opening, child) * self.values(opening, child)
            if self.unknown is not None:
                held = parents_of(self.cards.game.trees[self.unknown], child) == state
                weighed = weighed[held] if self.unknown == 0 else weighed[:, held]
            total += float(weighed.sum())
        return total / self._mass(node, board, state)


class SeatedAivat:
    """Corrects hands of a match, in which two players change seats.

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
        self._seats = [
            Aivat(game, (None if a is None else a[0], None if b is None else b[1]), values)
            for a, b in (strategies, strategies[::-1])
        ]

    def chips(self, hand: HandState, seat: int) -> float:
        """Return the corrected chips of the first player, who is player `seat` of the hand."""
        return self._of_first(self._seats[seat].chips(hand), seat)

    def expected(self, seat: int) -> float:
        """Return the chips per hand that the values promise the first player before the deal."""
        return self._of_first(self._seats[seat].expected, seat)

    def _of_first(self, chips: float, seat: int) -> float:
        return -chips if seat else chips


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

"""Views of limit games with too many pairs of hands: vectors over the hands of one player.

A view is the hand of one player, *seen*, and the board; all sums run over the hands of the other,
*known* player, 1,225 of them in hold'em. The strategy of the player whose hand is seen may be known
too: then its actions are corrected with the probabilities of this one hand, and the terms still
have mean zero. (Sums over the hands of both players at once would remove more, but they need
matrices over pairs of hands on each of the boards that may be dealt.)

The deals of turn and river are enumerated. Before the flop there are 19,600 of them, so it is
counted once how often a seen hand of each class and its column on the flop meet each column of the
known player (`FirstDeal`); then the expectation over all flops is one product of matrices for any
betting. In the first round v depends on the seen hand only: it is the mean over the known player's
hands of what follows, if the other player continues by the strategy that is known of it, or else
like the known player.

Neither strategies nor values may depend on the names of suits.
"""

from __future__ import annotations

import functools
import itertools
import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equilibrist.cards.card import Cards
from equilibrist.cards.hand import hand_index
from equilibrist.cards.isomorphism import DealIndexer
from equilibrist.errors import InvalidValueError
from equilibrist.evaluation.bucket_values import HandValues, all_hands, live_hands, standings
from equilibrist.evaluation.history_values import check_deal, fold_round, same_round, seen_hole
from equilibrist.games.betting_tree import BettingTree
from equilibrist.games.rules import GameRules
from equilibrist.games.state import HandState
from equilibrist.kernels.cpu.joint import count_pairs
from equilibrist.models.game import Floats
from equilibrist.models.treeplex import betting_walk
from equilibrist.strategies.played import BulkStrategy, RealStrategy

Ints = NDArray[np.int64]
_CACHED = 256  # number of vectors over hands that are cached
_CACHED_NAMES = 100_000  # number of betting sequences whose lookup is cached


class HandView(NamedTuple):
    """The hand that is seen, by its number, and the board."""

    seen: int
    board: Cards


@dataclass(frozen=True, eq=False)
class FirstDeal:
    """How hands meet on the first boards: N classes of hands up to suits, C columns, K kinds.

    Hands of one kind have the same column in the known strategy's first round and the same column
    of the values on the board.
    """

    class_of: Ints  # [H] class of each hand; −1 outside the deck
    example: Ints  # [N] a hand of each class
    size: Ints  # [N] number of hands of each class
    counts: Floats  # [N, C, K] deals of a seen hand of a class, in a column, against a kind
    hand: Ints  # [K] a hand with the first column of each kind
    column: Ints  # [K] column of each kind on the board

    @staticmethod
    def of(known: BulkStrategy, values: HandValues) -> FirstDeal:
        """Count all first boards, up to suits, and all pairs of hands on them."""
        rules = known.tree.rules
        hands, in_deck = all_hands(rules), live_hands(rules, [()])[0]
        indexer = DealIndexer((rules.num_hole_cards,), rules.deck)
        class_of = np.full(len(hands), -1, np.int64)
        class_of[in_deck] = indexer.index_array(hands[in_deck])
        size = np.bincount(class_of[in_deck], minlength=indexer.size)
        example = np.array([int(np.argmax(class_of == c)) for c in range(indexer.size)])
        boards, often = _first_boards(rules)
        live = live_hands(rules, boards)
        columns = np.stack([values.columns_of(1, board) for board in boards])
        first, number = known.columns_of(0, ()), int(columns[live].max()) + 1
        kinds = np.unique((first * number + columns)[live])
        kind = np.searchsorted(kinds, first * number + columns)
        counts, wins = np.zeros((2, indexer.size * number, len(kinds)))
        for own, left, kind_of, many in zip(columns, live, kind, often, strict=True):
            order = np.flatnonzero(left)  # all of value 0, so that all pairs are ties
            label = (class_of * number + own)[order].astype(np.int32)
            sides = label, kind_of[order].astype(np.int32)
            count_pairs(order.astype(np.uint32), hands, *sides, float(many), wins, counts)
        by_class = counts.reshape(indexer.size, number, len(kinds))
        holder = np.array([int(np.argmax(in_deck & (first == k))) for k in kinds // number])
        return FirstDeal(class_of, example, size, by_class, holder, kinds % number)


class HandViews:
    """Views of hands in which player `known` follows a strategy and the other's hand is seen.

    `other` is the strategy of the player whose hand is seen, None if unknown.
    """

    def __init__(
        self,
        known: int,
        strategy: BulkStrategy,
        other: RealStrategy | None,
        values: HandValues,
        first_deal: FirstDeal,
    ) -> None:
        self.known, self.strategy, self.other = known, strategy, other
        self.values, self.first_deal = values, first_deal
        self.rules, self.walk = strategy.tree.rules, betting_walk(strategy.tree)
        self._node = functools.lru_cache(_CACHED_NAMES)(strategy.tree.parse)
        self._own = functools.lru_cache(_CACHED)(self._own_reach)
        self._probabilities = functools.lru_cache(_CACHED)(strategy.probabilities)
        if other is not None:
            self._other_probabilities = functools.lru_cache(_CACHED)(other.probabilities)
        self._live = functools.lru_cache(_CACHED)(self._live_hands)
        self.first_round = functools.lru_cache(maxsize=None)(self._first_round)

    @property
    def betting(self) -> BettingTree:
        """Betting of the real game."""
        return self.strategy.tree

    def is_known(self, player: int) -> bool:
        """Return whether the strategy of a player is known."""
        return player == self.known or self.other is not None

    def node(self, hand: HandState) -> int:
        """Return the node of a hand's betting."""
        return self._node(hand.betting.text.rstrip("/"))

    def of_hand(self, leaf: int, hand: HandState) -> tuple[HandView, ...]:
        """Return the seen hand and the board of every round up to that of a leaf."""
        check_deal(hand, self.rules)
        hole = seen_hole(hand, 1 - self.known)
        seen = hand_index(*hole) if len(hole) == 2 else hole[0]
        rounds = range(int(self.betting.round[leaf]) + 1)
        board = [hand.deal.board[: self.rules.board_cards_by(r)] for r in rounds]
        return tuple(HandView(seen, cards) for cards in board)

    def mass(self, node: int, view: HandView) -> float:
        """Return the sum of the probabilities of the known player's hands."""
        return float(self._weights(node, view).sum())

    def weighed(self, node: int, view: HandView) -> float:
        """Return the sum of probability times value over the known player's hands."""
        if self.betting.round[node] == 0:
            found = self.first_round(int(self.first_deal.class_of[view.seen]))
            return found[node] * self.mass(node, view)
        values = self.values(node, self.known, [view.board], view.seen)[0]
        return float(self._weights(node, view) @ values)

    def observed(self, leaf: int, view: HandView) -> float:
        """Return the sum of probability times result over the known player's hands."""
        fixed, contested = float(self.walk.fixed[leaf]), float(self.walk.contested[leaf])
        if not contested:
            return fixed * self.mass(leaf, view)
        signs = standings(self.rules, [view.board], view.seen)[0]
        stake = contested if self.known == 0 else -contested
        return float(self._weights(leaf, view) @ (fixed + stake * signs))

    @functools.cached_property
    def expected(self) -> float:
        """Mean over the hands that may be seen of the value before the first action."""
        size = self.first_deal.size
        first = [self.first_round(number)[0] for number in range(len(size))]
        return float(size @ np.array(first) / size.sum())

    def dealt(self, opening: int, view: HandView) -> float:
        """Return the sum of probability times value over the cards that may be dealt next."""
        node = int(self.betting.parent[opening])
        num_new = self.rules.num_board_cards[int(self.betting.round[opening])]
        left = len(self.rules.deck) - 2 * self.rules.num_hole_cards - len(view.board)
        if not view.board:
            return self._first_dealt(opening, view) / math.comb(left, num_new)
        taken = {*view.board, *all_hands(self.rules)[view.seen].tolist()}
        free = [card for card in self.rules.deck.cards if card not in taken]
        boards = [view.board + cards for cards in itertools.combinations(free, num_new)]
        values = self.values(opening, self.known, boards, view.seen)
        values *= live_hands(self.rules, boards)
        return float((values @ self._weights(node, view)).sum() / math.comb(left, num_new))

    def _first_dealt(self, opening: int, view: HandView) -> float:
        """Return the sum over all first boards, by the counts of the seen hand's class."""
        deal, node = self.first_deal, int(self.betting.parent[opening])
        number = int(deal.class_of[view.seen])
        reach = self._own(node, ())[deal.hand] * self._seen_reach(node, view)
        values = self.values.by_columns(opening, self.known)[deal.column]  # [K, C]
        return float(np.einsum("ck,k,kc->", deal.counts[number], reach, values) / deal.size[number])

    def _first_round(self, number: int) -> dict[int, float]:
        """Return the values of the nodes of the first round against a seen hand of a class."""
        view = HandView(int(self.first_deal.example[number]), ())
        strategy, tree = self.other or self.strategy, self.betting

        def dealt(opening: int) -> float:
            mass = self.mass(int(tree.parent[opening]), view)
            return self.dealt(opening, view) / mass if mass > 0 else 0.0

        def share(child: int, actor: int) -> float:
            node = int(tree.parent[child])
            if actor != self.known:
                own = strategy.probabilities(node, ())
                return float(own[child - tree.children(node).start, view.seen])
            mass = self.mass(node, view)
            return self.mass(child, view) / mass if mass > 0 else 0.0

        nodes = same_round(tree, 0)
        return fold_round(tree, nodes, lambda leaf: float(self.walk.fixed[leaf]), dealt, share)

    def _weights(self, node: int, view: HandView) -> Floats:
        """Return the probability of a node by the known strategies, by hand: [H]."""
        reach = self._own(node, view.board) * self._seen_reach(node, view)
        return np.where(self._live(view), reach, 0.0)

    def _own_reach(self, node: int, board: Cards) -> Floats:
        """Return the probability that the known player's actions lead to a node, by hand: [H]."""
        if node == 0:
            return np.ones(len(all_hands(self.rules)))
        above = int(self.betting.parent[node])
        before = board[: self.rules.board_cards_by(int(self.betting.round[above]))]
        reach = self._own(above, before)
        if self.betting.player[above] == self.known:
            own = self._probabilities(above, before)
            reach = reach * own[node - self.betting.children(above).start]
        return reach

    def _seen_reach(self, node: int, view: HandView) -> float:
        """Return the probability that the seen hand's actions lead to a node, 1 if unknown."""
        reach = 1.0
        if self.other is None:
            return reach
        for above, child in itertools.pairwise(self.betting.path(node)):
            if self.betting.player[above] == 1 - self.known:
                r = int(self.betting.round[above])
                board = view.board[: self.rules.board_cards_by(r)]
                own = self._other_probabilities(above, board)
                reach *= float(own[child - self.betting.children(above).start, view.seen])
        return reach

    def _live_hands(self, view: HandView) -> NDArray[np.bool_]:
        """Return which hands the known player may hold: [H]."""
        seen = tuple(all_hands(self.rules)[view.seen].tolist())
        return live_hands(self.rules, [view.board + seen])[0]


def _first_boards(rules: GameRules) -> tuple[list[Cards], Ints]:
    """Return the boards of the second round up to suits, and the number of raw ones of each."""
    number = sum(rules.num_board_cards[1:2])
    if rules.num_board_cards[0] or not number:
        raise InvalidValueError(
            f"{rules.name} does not deal its first board cards before the second round",
            value=rules.num_board_cards,
        )
    indexer = DealIndexer((number,), rules.deck)
    boards = indexer.unindex_array(np.arange(indexer.size)).tolist()
    return [tuple(board) for board in boards], indexer.multiplicities().astype(np.int64)

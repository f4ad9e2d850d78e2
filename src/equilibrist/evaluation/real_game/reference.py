"""Reference best response in the real game: one recursion over its public tree, slow but plain.

A public node is a node of the betting tree on a board. There the responder's value of every hand is
computed at once, from the *reach* of the opponent's hands (Johanson et al. 2011, "Accelerating best
response calculation in large extensive games"). Every board is dealt card by card, and no two of
them are merged. `real_game` computes the same numbers a million times faster.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from equilibrist.cards.card import Cards
from equilibrist.cards.hand import hand_table
from equilibrist.cards.ranking import rank_hands
from equilibrist.errors import InvalidValueError
from equilibrist.games.betting_tree import NodeKind
from equilibrist.models.game import Floats
from equilibrist.strategies.played import RealStrategy


def reference_response(strategy: RealStrategy, seat: int) -> float:
    """Return the chips per hand that the best response in a seat wins from a strategy in the other.

    Example:
        >>> from equilibrist.strategies.played import FixedMix
        >>> from equilibrist.games.betting_tree import BettingTree
        >>> from equilibrist.games.catalog import get_game
        >>> folds = FixedMix(BettingTree.build(get_game("kuhn")), (1.0, 0.0, 0.0))
        >>> reference_response(folds, 0)
        1.0
    """
    walk = PublicTree(strategy, seat)
    values = walk.values(0, (), np.ones(len(walk.hands)))
    return float(values.sum() / walk.meetings.sum())


@dataclass(frozen=True, eq=False)
class PublicTree:
    """Public tree as one seat sees it; N hands of the deck."""

    strategy: RealStrategy
    seat: int  # seat of the responder
    is_best: bool = True  # false: the seat plays the strategy, too

    def values(self, node: int, board: Cards, reach: Floats) -> Floats:
        """Return the responder's chips from here by hand, times the opponent's reach: [N].

        `reach` [N] is that of the opponent's hands. Sums over hands are not divided by their
        number; means over later boards are.
        """
        tree = self.strategy.tree
        if tree.kind[node] == NodeKind.FOLD:
            lost = float(tree.spent[node, tree.player[node]])
            return (-lost if tree.player[node] == self.seat else lost) * (self.meetings @ reach)
        if tree.kind[node] == NodeKind.SHOWDOWN:
            return float(tree.spent[node].min()) * (self._showdowns(board) @ reach)
        if tree.kind[node] == NodeKind.ROUND_END:
            return self._dealt(tree.children(node)[0], board, reach)
        probabilities = self.strategy.probabilities(node, board)[:, self.numbers]
        if tree.player[node] == self.seat:
            values = np.stack([self.values(child, board, reach) for child in tree.children(node)])
            return values.max(axis=0) if self.is_best else (probabilities * values).sum(axis=0)
        return np.sum(
            [
                self.values(child, board, reach * probability)
                for child, probability in zip(tree.children(node), probabilities, strict=True)
            ],
            axis=0,
        )

    def _dealt(self, node: int, board: Cards, reach: Floats) -> Floats:
        """Return the mean over the next cards: every pair of hands leaves equally many boards."""
        rules = self.strategy.tree.rules
        number = rules.num_board_cards[int(self.strategy.tree.round[node])]
        left = [card for card in rules.deck.cards if card not in board]
        total = np.zeros(len(self.hands))
        for cards in itertools.combinations(left, number):
            free = ~np.isin(self.hands, cards).any(axis=1)
            total += free * self.values(node, board + cards, reach * free)
        return total / math.comb(len(left) - 2 * rules.num_hole_cards, number)

    @cached_property
    def hands(self) -> NDArray[np.int64]:
        """Hands of the deck: [N, 1 or 2]."""
        return self._all_hands[self.numbers]

    @cached_property
    def meetings(self) -> Floats:
        """Matrix of the pairs of hands that have no card in common: [N, N]."""
        return meetings(self.hands)

    def _showdowns(self, board: Cards) -> Floats:
        rules = self.strategy.tree.rules
        if len(board) < rules.total_board_cards:
            raise InvalidValueError(
                f"{rules.name} may end all-in before its last round, which best responses in the "
                "real game do not support yet",
                value=rules.name,
            )
        values = np.zeros(len(self.hands), np.int64)
        free = ~np.isin(self.hands, board).any(axis=1)
        shown = np.hstack([self.hands[free], np.tile(board, (int(free.sum()), 1)).astype(np.int64)])
        values[free] = rank_hands(shown.astype(np.uint8), rules.ranking)
        return showdowns(self.hands, values)

    @cached_property
    def numbers(self) -> NDArray[np.int64]:
        """Numbers of the deck's hands in the usual order of all hands: [N]."""
        deck = self.strategy.tree.rules.deck.cards
        return np.flatnonzero(np.isin(self._all_hands, deck).all(axis=1))

    @cached_property
    def _all_hands(self) -> NDArray[np.int64]:
        two = self.strategy.tree.rules.num_hole_cards == 2
        return (hand_table() if two else np.arange(52)[:, None]).astype(np.int64)


def meetings(hands: NDArray[np.integer]) -> NDArray[np.float64]:
    """Return 1 where two hands have no card in common, 0 elsewhere: [N, N].

    Example:
        >>> meetings(np.array([[0, 1], [1, 2], [2, 3]])).tolist()
        [[0.0, 0.0, 1.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]
    """
    shared = (hands[:, None, :, None] == hands[None, :, None, :]).any(axis=(2, 3))
    return (~shared).astype(np.float64)


def showdowns(hands: NDArray[np.integer], values: NDArray[np.integer]) -> NDArray[np.float64]:
    """Return 1 where the first hand beats the second, −1 where it loses, 0 for ties: [N, N].

    `values` [N] say which hand is better; hands that share a card never meet.

    Example:
        >>> showdowns(np.array([[0], [1], [2]]), np.array([7, 7, 9])).tolist()
        [[0.0, 0.0, -1.0], [0.0, 0.0, -1.0], [1.0, 1.0, 0.0]]
    """
    difference = values.astype(np.int64)[:, None] - values.astype(np.int64)[None, :]
    return np.sign(difference) * meetings(hands)

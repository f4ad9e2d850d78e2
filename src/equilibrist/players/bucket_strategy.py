"""Strategies of bucket games played with real cards: every hand plays as its bucket does."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from equilibrist.cards.card import Cards
from equilibrist.errors import InvalidValueError
from equilibrist.games.betting_tree import BettingTree
from equilibrist.kernels.cpu.sequence_form import normalize
from equilibrist.kernels.treeplex import block
from equilibrist.models.bucketed import bucket_tree
from equilibrist.models.game import Floats
from equilibrist.models.treeplex import player_rows
from equilibrist.players.player import View
from equilibrist.players.strategy_player import TreeStrategy
from equilibrist.strategies.description import BucketDescription
from equilibrist.strategies.played import BucketColumns, TableStrategy
from equilibrist.strategies.quantized import SURE, CompactStrategy, open_buckets
from equilibrist.strategies.seat_tables import HandBuckets, StrategySeat, hand_numbers
from equilibrist.strategies.solution import Solution


class BucketStrategy(TreeStrategy):
    """Behaviour in a `models.bucketed.bucket_game`.

    Playing needs neither the joint counts J nor the wins W of the game.
    """

    def __init__(
        self,
        tree: BettingTree,
        plans: tuple[Floats, Floats],
        first: HandBuckets,
        second: HandBuckets | None = None,
        *,
        sure: float | None = None,
        description: BucketDescription | None = None,
    ) -> None:
        """Store the plans of both seats; behaviour is uniform where a plan never goes.

        `second` are player 1's buckets; default: `first`. If `sure` is given, `plans` hold
        behaviour instead: numbers of which `sure` stands for a probability of 1. `description` is
        that of the game of buckets, if it is stored.
        """
        self.tree, self._buckets = tree, (first, second or first)
        self.description = description
        self._trees = [bucket_tree(tree, player, own) for player, own in enumerate(self._buckets)]
        for player, plan in enumerate(plans):
            length = int(self._trees[player].block_start[-1])
            if len(plan) != length:
                sizes = "-".join(map(str, self._buckets[player].num_buckets))
                raise InvalidValueError(
                    f"player {player}'s plan has {len(plan):,} numbers, but plans of {sizes} "
                    f"buckets have {length:,}: it was made for another game",
                    value=len(plan),
                )
        self._behaviour, self._sure = list(plans), 1.0 if sure is None else sure
        if sure is None:
            self._behaviour = [np.empty_like(plan) for plan in plans]
            for own, plan, behaviour in zip(self._trees, plans, self._behaviour, strict=True):
                normalize(own, plan, behaviour)
        self._rows = [player_rows(tree, player) for player in (0, 1)]
        self._decision = [rows.decision for rows in self._rows]

    @staticmethod
    def of(found: Solution | CompactStrategy) -> BucketStrategy:
        """Return the strategy of a stored solution or compact strategy of a bucket game."""
        tree, buckets = open_buckets(found)
        game = found.game
        assert isinstance(game, BucketDescription)
        if isinstance(found, Solution):
            return BucketStrategy(tree, found.plans, buckets, description=game)
        return BucketStrategy(tree, found.probabilities, buckets, sure=SURE, description=game)

    def probabilities(self, node: int, view: View) -> Floats:
        """Return the probability of each child of a decision node: [A]."""
        return self.of_hands(node, view, hand_numbers(np.array([view.hole], np.uint8)))[:, 0]

    def of_hands(self, node: int, view: View, hands: NDArray[np.int64]) -> Floats:
        """Return the probability of each child of a decision node with each of N hands: [A, N]."""
        player, r = int(self.tree.player[node]), int(self.tree.round[node])
        bucket = self._buckets[player].buckets(view.board)[hands]
        tree, decision = self._trees[player], int(self._decision[player][node])
        first, size = int(tree.decision_first[decision]), int(tree.decision_size[decision])
        own = block(tree, r, r, self._behaviour[player])
        return own[first : first + size, bucket] / np.float64(self._sure)

    def reach(self, node: int, player: int, board: Cards) -> Floats:
        """Return the probability that a player's own actions lead to a node, for each hand: [H].

        It is 0 for hands blocked by the board cards that are dealt before the node.
        """
        path = list(self.tree.path(node))
        dealt = np.cumsum(self.tree.rules.num_board_cards)
        buckets = [
            self._buckets[player].buckets(board[: dealt[r]])
            for r in range(int(self.tree.round[path[-1]]) + 1)
        ]
        found = np.where(buckets[-1] >= 0, 1.0, 0.0)
        for above, below in itertools.pairwise(path):
            if self._decision[player][above] >= 0:
                r = int(self.tree.round[above])
                row = self._rows[player].row[below]
                own = block(self._trees[player], r, r, self._behaviour[player])[row]
                found *= own[buckets[r]] / np.float64(self._sure)
        return found

    def rows(self, player: int) -> NDArray[np.int32]:
        """Return the row of a player's plan that leads to each node of the tree: [V]."""
        return self._rows[player].row

    def buckets(self, player: int, board: Cards) -> NDArray[np.int32]:
        """Return the bucket of every hand of a player on a board: [H], −1 if it is blocked."""
        return self._buckets[player].buckets(board)

    def seat(self, player: int) -> StrategySeat:
        """Return the strategy of one seat as a table."""
        own, behaviour = self._trees[player], self._behaviour[player]
        return StrategySeat(own, behaviour, self._buckets[player], self._sure)

    def in_game(self, tree: BettingTree) -> TableStrategy | None:
        """Return the strategy on the betting of a game with at least its raises.

        None if the players have different buckets.
        """
        first, second = self._buckets
        if first is not second:
            return None
        trees, behaviour = (
            (self._trees[0], self._trees[1]),
            (self._behaviour[0], self._behaviour[1]),
        )
        return TableStrategy(tree, self.tree, trees, behaviour, BucketColumns(first), self._sure)

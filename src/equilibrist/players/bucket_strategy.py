"""Strategies of bucket games with real cards: every hand plays as its bucket does."""

from __future__ import annotations

import numpy as np

from equilibrist.abstraction.buckets import Abstraction
from equilibrist.errors import InvalidValueError
from equilibrist.games.betting_tree import BettingTree
from equilibrist.kernels.cpu.sequence_form import normalize
from equilibrist.kernels.reference.sequence_form import block
from equilibrist.models.bucketed import bucket_tree
from equilibrist.models.game import Floats
from equilibrist.models.treeplex import player_rows
from equilibrist.players.player import View
from equilibrist.players.strategy_player import TreeStrategy
from equilibrist.strategies.compact import SURE, CompactStrategy
from equilibrist.strategies.description import BucketDescription
from equilibrist.strategies.seats import Seat, hand_numbers
from equilibrist.strategies.strategy import Solution


class BucketStrategy(TreeStrategy):
    """Behaviour in a `models.bucketed.bucket_game`.

    Who wins from whom does not matter here, so J and W are not asked for.
    """

    def __init__(
        self,
        tree: BettingTree,
        plans: tuple[Floats, Floats],
        first: Abstraction,
        second: Abstraction | None = None,
        *,
        sure: float | None = None,
    ) -> None:
        """The plans of both seats, uniform where they never go.

        `second` is player 1's abstraction, `first` if not given. With `sure`, these are no plans
        but behaviour in numbers of which `sure` stands for a chance of 1.
        """
        self.tree, self._buckets = tree, (first, second or first)
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
        self._decision = [player_rows(tree, player).decision for player in (0, 1)]

    @staticmethod
    def of(found: Solution | CompactStrategy) -> BucketStrategy:
        """What is stored of a game of buckets."""
        game = found.game
        assert isinstance(game, BucketDescription)
        buckets = game.open_abstraction()
        tree = BettingTree.build(buckets.rules, game.menu)
        if isinstance(found, Solution):
            return BucketStrategy(tree, found.plans, buckets)
        return BucketStrategy(tree, found.chances, buckets, sure=SURE)

    def chances(self, node: int, view: View) -> Floats:
        """Chance of each child of a decision node, [A]."""
        player, r = int(self.tree.player[node]), int(self.tree.round[node])
        hand = int(hand_numbers(np.array([view.hole], np.uint8))[0])
        bucket = self._buckets[player].bucket(hand, view.board)
        tree, decision = self._trees[player], int(self._decision[player][node])
        first, size = int(tree.decision_first[decision]), int(tree.decision_size[decision])
        own = block(tree, r, r, self._behaviour[player])
        return own[first : first + size, bucket] / np.float64(self._sure)

    def seat(self, player: int) -> Seat:
        """The strategy of one seat as a table."""
        own, behaviour = self._trees[player], self._behaviour[player]
        return Seat(own, behaviour, self._buckets[player], self._sure)

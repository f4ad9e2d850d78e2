"""Strategies of bucket games with real cards: every hand plays as its bucket does."""

from __future__ import annotations

import numpy as np

from equilibrist.abstraction.buckets import Abstraction
from equilibrist.errors import InvalidValueError
from equilibrist.kernels.reference.sequence_form import block
from equilibrist.models.game import Floats, SequenceGame
from equilibrist.models.treeplex import player_rows
from equilibrist.players.player import View
from equilibrist.players.strategy_player import TreeStrategy
from equilibrist.strategies.seats import Seat, hand_numbers


class BucketStrategy(TreeStrategy):
    """Plans of a `models.bucketed.bucket_game`, uniform where they never go."""

    def __init__(
        self,
        game: SequenceGame,
        plans: tuple[Floats, Floats],
        first: Abstraction,
        second: Abstraction | None = None,
    ) -> None:
        """The plans of both seats; `second` is player 1's abstraction, `first` if not given."""
        if game.betting is None:
            raise InvalidValueError(f"{game.name} has no betting to play", value=game.name)
        self.tree, self._game = game.betting, game
        self._buckets = (first, second or first)
        for tree, buckets in zip(game.trees, self._buckets, strict=True):
            if tuple(tree.num_states) != buckets.num_buckets:
                raise InvalidValueError(
                    f"{game.name} is no game of {'-'.join(map(str, buckets.num_buckets))} buckets",
                    value=buckets.num_buckets,
                )
        self._behaviour = [game.behaviour(player, plan) for player, plan in enumerate(plans)]
        self._decision = [player_rows(self.tree, player).decision for player in (0, 1)]

    def chances(self, node: int, view: View) -> Floats:
        """Chance of each child of a decision node, [A]."""
        player, r = int(self.tree.player[node]), int(self.tree.round[node])
        hand = int(hand_numbers(np.array([view.hole], np.uint8))[0])
        bucket = self._buckets[player].bucket(hand, view.board)
        tree, decision = self._game.trees[player], int(self._decision[player][node])
        first, size = int(tree.decision_first[decision]), int(tree.decision_size[decision])
        own = block(tree, r, r, self._behaviour[player])
        return own[first : first + size, bucket].astype(np.float64)

    def seat(self, player: int) -> Seat:
        """The strategy of one seat as a table."""
        return Seat(self._game.trees[player], self._behaviour[player], self._buckets[player])

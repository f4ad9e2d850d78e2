"""Players whose strategies are known, in games that are too large for their exact models.

AIVAT in limit hold'em (`evaluation.hand_views`) needs the probability of each action with each hand
as the player plays it, and an estimate of the values of histories. A strategy of buckets has both:
its values are those against itself in the game of its own buckets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from equilibrist.cards.card import Cards
from equilibrist.errors import InvalidValueError, StorageError
from equilibrist.evaluation.bucket_values import BucketValues, one_bucket_values, values_bytes
from equilibrist.games.betting_tree import BettingTree
from equilibrist.models.game import Floats
from equilibrist.players.bucket_strategy import BucketStrategy
from equilibrist.players.player import Player
from equilibrist.players.static import Mix, Uniform
from equilibrist.players.strategy_player import StrategyPlayer
from equilibrist.storage.memory import available_bytes, check_fits
from equilibrist.strategies.composition import GluedBuckets
from equilibrist.strategies.played import BucketColumns, BulkStrategy, FixedMix, TableStrategy

_FEWER = "play a bot with fewer buckets, such as smallbot"
MOST_BUCKETS = 5_000  # of the last round; more than this, and hands are not told apart before it


@dataclass(frozen=True, eq=False)
class AsPlayed:
    """A strategy as a player plays it: rare actions dropped, and calls where that is agreed."""

    strategy: BulkStrategy
    threshold: float = 0.0  # smaller probabilities become 0, if a larger one remains
    agreed_rounds: int = 0  # number of first rounds in which the player calls by agreement

    @property
    def tree(self) -> BettingTree:
        """Betting of the real game."""
        return self.strategy.tree

    @property
    def known(self) -> BettingTree:
        """Betting that the strategy distinguishes."""
        return self.strategy.known

    def probabilities(self, node: int, board: Cards) -> Floats:
        """Return the probability of each action of a decision, with each hand: [A, H]."""
        found = self.strategy.probabilities(node, board)
        if self.tree.round[node] < self.agreed_rounds:
            children = self.tree.children(node)
            is_call = self.tree.action_kind[children.start : children.stop] == ord("c")
            return np.repeat(is_call[:, None].astype(np.float64), found.shape[1], axis=1)
        if not self.threshold:
            return found
        kept = np.where(found >= np.minimum(self.threshold, found.max(axis=0)), found, 0.0)
        return kept / kept.sum(axis=0)

    def columns_of(self, r: int, board: Cards) -> NDArray[np.int64]:
        """Return the column of each hand on a board of round `r`: [H]."""
        return self.strategy.columns_of(r, board)

    def table(self, player: int, r: int) -> Floats:
        """Return the behaviour of a player in round `r` before any of it is dropped: [Q, K]."""
        return self.strategy.table(player, r)


def known_strategy(player: Player, tree: BettingTree, agreed_rounds: int = 0) -> AsPlayed | None:
    """Return the strategy that a player follows in a limit game, or None if it is unknown.

    An instance of a subclass is unknown, because a subclass may behave in any way. In the first
    `agreed_rounds` rounds the player calls by agreement.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> tree = BettingTree.build(get_game("holdem-limit"))
        >>> known_strategy(Mix(0.2, 0.5, 0.3), tree).probabilities(0, ())[:, 0].tolist()
        [0.2, 0.5, 0.3]
    """
    if type(player) is Mix:
        return AsPlayed(FixedMix(tree, player.probabilities), agreed_rounds=agreed_rounds)
    if type(player) is Uniform:
        return AsPlayed(FixedMix(tree, None), agreed_rounds=agreed_rounds)
    if type(player) is not StrategyPlayer or not isinstance(player.strategy, BucketStrategy):
        return None
    table = player.strategy.in_game(tree)
    return None if table is None else AsPlayed(table, player.threshold, agreed_rounds)


def strategy_values(player: Player, strategy: AsPlayed) -> BucketValues:
    """Return estimates of the values of histories when both play like a player.

    `strategy` is the player's `known_strategy`. A player without buckets, or with more than
    `MOST_BUCKETS`, has values that tell hands apart on complete boards only. Raises
    `InvalidValueError` if the joint counts of the buckets are gone.
    """
    if not has_buckets(player):
        return one_bucket_values(strategy)
    assert isinstance(player, StrategyPlayer)
    assert isinstance(player.strategy, BucketStrategy)
    assert isinstance(strategy.strategy, TableStrategy)
    assert isinstance(strategy.strategy.columns, BucketColumns)
    description, buckets = player.strategy.description, strategy.strategy.columns.buckets
    assert description is not None
    needed = values_bytes(strategy.known, buckets.num_buckets)
    check_fits(f"AIVAT's values of {player.name} need", needed, available_bytes(), _FEWER)
    try:
        game = description.build()
    except StorageError as error:
        raise InvalidValueError(
            f"AIVAT needs the buckets and joint counts of {player.name}: {error}", value=player.name
        ) from None
    columns = strategy.columns_of
    if isinstance(buckets, GluedBuckets):
        whole = BucketColumns(buckets.abstraction)

        def columns(r: int, board: Cards) -> NDArray[np.int64]:
            return whole.locate(r, board)[1]

    numbers = [int(number) for number in game.trees[0].num_states]
    first, second = (_wide_tables(strategy, seat, numbers) for seat in (0, 1))
    return BucketValues(game, strategy, (first, second), columns)


def _wide_tables(strategy: AsPlayed, seat: int, numbers: Sequence[int]) -> list[Floats]:
    """Return the behaviour of a seat by round, with a column for each bucket: [Q, C].

    Later columns of a glued strategy repeat for each first bucket of its abstraction.
    """
    found = [strategy.table(seat, r) for r in range(len(numbers))]
    return [
        np.tile(own, max(1, number // own.shape[1]))
        for own, number in zip(found, numbers, strict=True)
    ]


def has_buckets(player: Player) -> bool:
    """Return whether a player has buckets, and few enough for values by bucket."""
    if not isinstance(player, StrategyPlayer) or not isinstance(player.strategy, BucketStrategy):
        return False
    description = player.strategy.description
    if description is None or description.first_round or description.last_round is not None:
        return False
    return int(player.strategy.seat(0).tree.num_states[-1]) <= MOST_BUCKETS

"""Endings: the values of hands where a model leaves out the last rounds.

Both players have put in the same stake c when a round ends. An *ending* turns the stakes of such
leaves into a short list of (stakes, matrix): a leaf is worth the sum of stake · xᵀ M y, where M
[S0, S1] is by the buckets of the last round that is played, with probabilities included. There are
three endings:

- `Showdown()`: cards decide, W of the later rounds summed to the buckets of that round, for c
  chips;
- `Showdown(bet)`: one bet of each player is assumed in the missing round, c + bet (PsOpti);
- `PlayedOut`: fixed strategies play the missing rounds, and V of each stake is what they win and
  lose there, folds included (GS2). `value_of_play` computes V.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from equilibrist.abstraction.bucket_tree import BucketTree, sum_over_children, sums_over_children
from equilibrist.abstraction.joint_counts import Joint
from equilibrist.errors import InvalidValueError
from equilibrist.games.betting_tree import BettingTree, NodeKind
from equilibrist.kernels.treeplex import block
from equilibrist.models.game import Floats, SequenceGame
from equilibrist.models.leaves import ExpectedLeaves
from equilibrist.models.treeplex import PlayerRows
from equilibrist.storage.artefact import Header, open_artefact, write_artefact
from equilibrist.storage.schema import ArrayRule, check_arrays

KIND = "ends"
_ARRAYS = {
    "stakes": ArrayRule("float64", ("stakes",), low=0, is_ascending=True),
    "values": ArrayRule("float64", ("stakes", None, None)),
}
# Maps the stakes [N] of leaves to stakes [N] and matrices [S0, S1], whose products are added.
Ending: TypeAlias = Callable[[NDArray[np.float64]], list[tuple[Floats, Floats]]]


def end_nodes(betting: BettingTree) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the nodes where a tree leaves out later rounds, and the stake of each: [N] both.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> end_nodes(BettingTree.build(get_game("leduc"), last_round=0))[1].tolist()
        [1.0, 3.0, 3.0, 5.0, 5.0]
    """
    nodes = betting.nodes(NodeKind.ROUND_END, betting.last_round)
    return nodes, betting.spent[nodes].min(axis=1).astype(np.float64)


def expected_leaves(
    betting: BettingTree, rows: tuple[PlayerRows, PlayerRows], ending: Ending
) -> tuple[ExpectedLeaves, ...]:
    """Return the leaves of an ending."""
    nodes, stakes = end_nodes(betting)
    both = np.stack([rows[0].row[nodes], rows[1].row[nodes]], axis=1)
    found = []
    for chips, matrix in ending(stakes):
        there = np.flatnonzero(chips)
        found.append(ExpectedLeaves(np.ascontiguousarray(both[there]), chips[there], matrix))
    return tuple(found)


@dataclass(frozen=True, eq=False)
class Showdown:
    """Ending in which cards decide at once, after each player has put in `bet` more."""

    win: NDArray[np.float64]  # [S0, S1] W of the buckets of the last round that is played
    bet: float = 0.0  # chips per player

    @staticmethod
    def of(
        counts: Joint,
        first: BucketTree,
        last_round: int,
        *,
        second: BucketTree | None = None,
        bet: float = 0.0,
    ) -> Showdown:
        """Build the showdown of the buckets of a round, over all cards that may still be dealt."""
        won = sums_over_children(counts.won / counts.total, first, second or first)
        return Showdown(won[last_round], bet)

    def __call__(self, stakes: NDArray[np.float64]) -> list[tuple[Floats, Floats]]:
        """Return one matrix for all stakes."""
        return [(stakes + self.bet, self.win)]


@dataclass(frozen=True, eq=False)
class PlayedOut:
    """Ending in which fixed strategies play the missing rounds; they may depend on the stake."""

    stakes: NDArray[np.float64]  # [N] ascending
    values: NDArray[np.float64]  # [N, S0, S1] what player 0 wins, probabilities included

    def save(self, folder: str | Path, parents: Mapping[str, str], **settings: Any) -> str:
        """Write the values as an artefact; `parents` are hashes of buckets and counts."""
        arrays = {"stakes": self.stakes, "values": self.values}
        return write_artefact(folder, Header(KIND, configuration=settings, parents=parents), arrays)

    @staticmethod
    def open(folder: str | Path) -> PlayedOut:
        """Open stored values and compare their checksums."""
        artefact = open_artefact(folder, KIND)
        check_arrays(artefact, _ARRAYS)
        arrays = artefact.arrays
        return PlayedOut(arrays["stakes"], arrays["values"])

    def __call__(self, stakes: NDArray[np.float64]) -> list[tuple[Floats, Floats]]:
        """Return one matrix per stake."""
        unknown = np.setdiff1d(stakes, self.stakes)
        if len(unknown):
            raise InvalidValueError(
                f"no values are stored for a stake of {unknown[0]:g}; "
                f"the stored stakes are {', '.join(f'{stake:g}' for stake in self.stakes)}",
                value=float(unknown[0]),
            )
        pairs = zip(self.stakes, self.values, strict=True)
        return [
            ((stakes == stake).astype(np.float64), value)
            for stake, value in pairs
            if stake in stakes
        ]


def value_of_play(
    game: SequenceGame,
    plans: tuple[Floats, Floats],
    first: BucketTree,
    second: BucketTree | None = None,
) -> NDArray[np.float64]:
    """Return what player 0 wins in later rounds, by both players' buckets of the round before.

    `game` is a `bucket_game` that starts after that round; the values [S0, S1] are multiplied by
    the probability that the buckets meet, and sum to the value of the plans.
    """
    assert game.betting is not None
    other, begin = second or first, game.betting.first_round
    value = np.zeros((1, 1))
    for r in reversed(range(len(game.trees[0].num_sequences))):
        x, y = (
            np.asarray(block(tree, r, r, plan), np.float64)
            for tree, plan in zip(game.trees, plans, strict=True)
        )
        for stakes, matrix in zip(game.stakes[r], game.matrices(r), strict=True):
            value = value + (x.T @ (stakes @ y)) * matrix
        value = sum_over_children(value, first, other, begin + r)
    return value

"""Games of buckets: an abstraction's states instead of cards, one board a round.

J and W of the last round are an abstraction's joint counts; buckets are nested, so those of earlier
rounds are sums over children. The players' abstractions may differ. `lift` reads a bucket strategy
as one of the real game, where every hand plays as its bucket does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from equilibrist.abstraction.buckets import Abstraction
from equilibrist.abstraction.joint import Joint
from equilibrist.abstraction.nesting import column_sums, sums_over_children
from equilibrist.errors import InvalidValueError
from equilibrist.games.bet_menu import BetMenu
from equilibrist.games.betting_tree import BettingTree
from equilibrist.kernels.layout import PairTables, Treeplex
from equilibrist.kernels.reference.sequence_form import block, boards
from equilibrist.models.game import Floats, SequenceGame
from equilibrist.models.leaves import flat_pairs
from equilibrist.models.treeplex import leaf_tables, player_rows, treeplex

_GAME_MENU = BetMenu()
_LARGE = 10_000**2  # cells of a matrix beyond which it is kept in float32
_ROWS = 512  # of counts that are read at a time


@dataclass(frozen=True, eq=False)
class BucketStates:
    """Buckets as private states: one board a round."""

    num_states: list[NDArray[np.int64]]
    board_parent: list[NDArray[np.int64]]
    state_parent: list[NDArray[np.int32]]

    @staticmethod
    def of(abstraction: Abstraction) -> BucketStates:
        """The buckets of every round."""
        rounds = range(len(abstraction.parents))
        return BucketStates(
            num_states=[np.array([number]) for number in abstraction.num_buckets],
            board_parent=[np.array([-1 if r == 0 else 0]) for r in rounds],
            state_parent=[np.maximum(parents, 0) for parents in abstraction.parents],
        )


def bucket_game(
    first: Abstraction,
    counts: Joint,
    menu: BetMenu = _GAME_MENU,
    *,
    second: Abstraction | None = None,
    backend: str = "cpu",
) -> SequenceGame:
    """The game in which player 0 sees the buckets of `first`, player 1 those of `second`.

    `counts` are theirs (`abstraction.joint.joint`). `second` is `first` if not given.

    Example:
        >>> from equilibrist.abstraction.features import Strengths
        >>> from equilibrist.abstraction.joint import joint
        >>> from equilibrist.abstraction.recipes.percentile import percentile
        >>> from equilibrist.abstraction.streets import Streets
        >>> from equilibrist.games.catalog import get_game
        >>> buckets = percentile(Strengths.of(Streets.of(get_game("leduc"))), [3, 6])
        >>> bucket_game(buckets, joint(buckets)).num_infosets
        198
    """
    other = second or first
    counts.check(first, other)
    rules = first.rules
    betting = BettingTree.build(rules, menu)
    rows = (player_rows(betting, 0), player_rows(betting, 1))
    return SequenceGame(
        name=bucket_name(first),
        unit="chips",
        trees=(bucket_tree(betting, 0, first), bucket_tree(betting, 1, other)),
        leaves=leaf_tables(betting, rows),
        pairs=_pairs(counts, first, other),
        first_player=rules.first_players[0],
        betting=betting,
        backend=backend,
    )


def _pairs(counts: Joint, first: Abstraction, other: Abstraction) -> PairTables:
    """J and W of every round; summed in float64, but kept in float32 where they are large."""
    shapes = list(zip(first.num_buckets, other.num_buckets, strict=True))
    sizes = [rows * columns for rows, columns in shapes]
    flat = np.empty((2, sum(sizes)), np.float32 if sizes[-1] > _LARGE else np.float64)
    last, total = flat[:, -sizes[-1] :].reshape(2, *shapes[-1]), counts.total
    above = None if len(shapes) == 1 else np.zeros((2, *shapes[-2]))
    for rows in _blocks(shapes[-1][0]):
        parts = np.stack(counts.rows(rows)) / total
        last[:, rows] = parts
        if above is not None:
            for matrix, part in zip(above, parts, strict=True):
                sums = column_sums(part, other.parents[-1], other.num_buckets[-2])
                np.add.at(matrix, first.parents[-1][rows], sums)
    if above is not None:
        before = [sums_over_children(matrix, first, other, -2) for matrix in above]
        for out, matrices in zip(flat, before, strict=True):
            out[: -sizes[-1]] = np.concatenate([matrix.ravel() for matrix in matrices])
    return flat_pairs(sizes, flat[0], flat[1])


def _blocks(number: int) -> Iterator[slice]:
    """So many rows, some at a time."""
    return (slice(i, min(i + _ROWS, number)) for i in range(0, number, _ROWS))


def bucket_tree(betting: BettingTree, player: int, buckets: Abstraction) -> Treeplex:
    """One player's side of a game of buckets."""
    own, most = betting.rules, buckets.rules.max_raises
    if len(own.max_raises) != len(most) or replace(own, max_raises=most) != buckets.rules:
        raise InvalidValueError(
            f"these are buckets of {buckets.rules.name}, not of {betting.rules.name}",
            value=buckets.rules.name,
        )
    return treeplex(player_rows(betting, player), BucketStates.of(buckets))


def bucket_name(buckets: Abstraction) -> str:
    """What a game of buckets is called."""
    return f"{buckets.rules.name} in buckets {'-'.join(map(str, buckets.num_buckets))}"


def lift(
    game: SequenceGame, abstract: SequenceGame, abstraction: Abstraction, player: int, plan: Floats
) -> Floats:
    """Behaviour [L] of `player` in the exact `game`, hands playing as their buckets in `abstract`.

    The betting of both games must be the same.
    """
    states = game.states
    if states is None or game.trees[player].decision_first.tolist() != (
        abstract.trees[player].decision_first.tolist()
    ):
        raise InvalidValueError(
            f"{abstract.name} has another betting than {game.name}", value=abstract.name
        )
    behaviour = abstract.behaviour(player, plan)
    tree, small = game.trees[player], abstract.trees[player]
    out = game.uniform(player)
    for r in range(len(tree.num_sequences)):
        wide = block(small, r, r, behaviour)  # [Q, K]
        for number, board in enumerate(boards(tree, r)):
            labels = abstraction.buckets(tuple(states.boards[r][number].tolist()))
            held = states.state_of_hand[r][number]
            bucket = np.zeros(int(tree.num_states[board]), np.int64)
            bucket[held[held >= 0]] = labels[held >= 0]
            block(tree, r, board, out)[:] = wide[:, bucket]
    return out

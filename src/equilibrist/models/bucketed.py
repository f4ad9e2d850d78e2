"""Games of buckets: an abstraction's states instead of cards, with one board per round.

J and W of the last round are an abstraction's joint counts; buckets are nested, so those of earlier
rounds are sums over children. The players' abstractions may differ. Rounds may be left out at
either end: `endings` gives the values of hands where the last rounds are left out. `lift` converts
a bucket strategy to one of the real game, where every hand plays like its bucket.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from equilibrist.abstraction.bucket_tree import BucketTree, column_sums, sums_over_children
from equilibrist.abstraction.buckets import Abstraction
from equilibrist.abstraction.joint_counts import Joint
from equilibrist.errors import InvalidValueError
from equilibrist.games.bet_menu import BetMenu
from equilibrist.games.betting_tree import BettingTree
from equilibrist.kernels.array_structs import PairTables, Treeplex
from equilibrist.kernels.treeplex import block, boards
from equilibrist.models.endings import Ending, expected_leaves
from equilibrist.models.game import Floats, SequenceGame
from equilibrist.models.leaves import flat_pairs
from equilibrist.models.treeplex import leaf_tables, player_rows, treeplex
from equilibrist.phases import phase

_GAME_MENU = BetMenu()
LARGE = 10_000**2  # number of cells above which a matrix is stored in float32
_ROWS = 512  # rows of counts that are read at a time


@dataclass(frozen=True, eq=False)
class BucketStates:
    """Buckets as private states, with one board per round."""

    num_states: list[NDArray[np.int64]]
    board_parent: list[NDArray[np.int64]]
    state_parent: list[NDArray[np.int32]]

    @staticmethod
    def of(buckets: BucketTree, first_round: int, last_round: int) -> BucketStates:
        """Return the states of rounds `first_round` to `last_round`."""
        rounds = range(first_round, last_round + 1)
        numbers, parents = buckets.num_buckets, buckets.parents
        return BucketStates(
            num_states=[np.array([numbers[r]]) for r in rounds],
            board_parent=[np.array([-1 if r == first_round else 0]) for r in rounds],
            state_parent=[np.maximum(parents[r], 0) * (r > first_round) for r in rounds],
        )


@phase("building the game of buckets")
def bucket_game(
    first: BucketTree,
    counts: Joint,
    menu: BetMenu = _GAME_MENU,
    *,
    second: BucketTree | None = None,
    first_round: int = 0,
    last_round: int | None = None,
    pot: int | None = None,
    ending: Ending | None = None,
) -> SequenceGame:
    """Build the game in which player 0 sees the buckets of `first`, player 1 those of `second`.

    `counts` are the joint counts of both (`abstraction.joint_counts.joint`). `second` defaults to
    `first`. Rounds `first_round` … `last_round` are played, from a `pot` of chips; if later rounds
    are left out, `ending` gives the values of hands.

    Example:
        >>> from equilibrist.abstraction.features import Strengths
        >>> from equilibrist.abstraction.joint_counts import joint
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
    betting = BettingTree.build(
        rules, menu, first_round=first_round, last_round=last_round, pot=pot
    )
    if (ending is None) != (betting.last_round == rules.num_rounds - 1):
        raise InvalidValueError(
            f"{rules.name} needs an ending if later rounds are left out and must not "
            "have one otherwise",
            value=last_round,
        )
    rows = (player_rows(betting, 0), player_rows(betting, 1))
    return SequenceGame(
        name=bucket_name(first, first_round, betting.last_round),
        unit="chips",
        trees=(bucket_tree(betting, 0, first), bucket_tree(betting, 1, other)),
        leaves=leaf_tables(betting, rows),
        pairs=_pairs(counts, first, other, range(first_round, betting.last_round + 1)),
        first_player=rules.first_players[first_round],
        betting=betting,
        expected=() if ending is None else expected_leaves(betting, rows, ending),
    )


def _pairs(counts: Joint, first: BucketTree, other: BucketTree, rounds: range) -> PairTables:
    """Return J and W of some rounds, summed in float64 and stored in float32 if large."""
    shapes = list(zip(first.num_buckets, other.num_buckets, strict=True))
    sizes = [shapes[r][0] * shapes[r][1] for r in rounds]
    flat = np.empty((2, sum(sizes)), np.float32 if max(sizes) > LARGE else np.float64)
    last, total = len(shapes) - 1, counts.total
    above = np.zeros((2, *shapes[last - 1])) if last else None
    for rows in _blocks(shapes[last][0]):
        parts = np.stack(counts.rows(rows)) / total
        if last in rounds:
            flat[:, -sizes[-1] :].reshape(2, *shapes[last])[:, rows] = parts
        if above is not None:
            for matrix, part in zip(above, parts, strict=True):
                sums = column_sums(part, other.parents[last], shapes[last - 1][1])
                np.add.at(matrix, first.parents[last][rows], sums)
    if above is not None:
        earlier = [r for r in rounds if r < last]
        for out, matrix in zip(flat, above, strict=True):
            found = sums_over_children(matrix, first, other, -2)
            ends = np.cumsum(sizes[: len(earlier)])
            for r, end, size in zip(earlier, ends, sizes, strict=False):
                out[end - size : end] = found[r].ravel()
    return flat_pairs(sizes, flat[0], flat[1])


def _blocks(number: int) -> Iterator[slice]:
    """Yield slices of at most 512 rows that cover `number` rows."""
    return (slice(i, min(i + _ROWS, number)) for i in range(0, number, _ROWS))


def bucket_tree(betting: BettingTree, player: int, buckets: BucketTree) -> Treeplex:
    """Build one player's side of a game of buckets."""
    own, most = betting.rules, buckets.rules.max_raises
    if len(own.max_raises) != len(most) or replace(own, max_raises=most) != buckets.rules:
        raise InvalidValueError(
            f"the buckets are of {buckets.rules.name}, not of {betting.rules.name}",
            value=buckets.rules.name,
        )
    states = BucketStates.of(buckets, betting.first_round, betting.last_round)
    return treeplex(player_rows(betting, player), states)


def bucket_name(buckets: BucketTree, first_round: int = 0, last_round: int | None = None) -> str:
    """Return the name of a game of buckets."""
    last = buckets.rules.num_rounds - 1 if last_round is None else last_round
    numbers = buckets.num_buckets[first_round : last + 1]
    text = f"{buckets.rules.name} in buckets {'-'.join(map(str, numbers))}"
    if len(numbers) < buckets.rules.num_rounds:
        text += f", rounds {first_round + 1} to {last + 1}"
    return text


def lift(
    game: SequenceGame, abstract: SequenceGame, abstraction: Abstraction, player: int, plan: Floats
) -> Floats:
    """Return behaviour [L] of `player` in the exact `game`, hands playing like their buckets.

    `plan` is one of `abstract`. The betting of both games must be the same.
    """
    states = game.states
    if states is None or game.trees[player].decision_first.tolist() != (
        abstract.trees[player].decision_first.tolist()
    ):
        raise InvalidValueError(
            f"{abstract.name} has a different betting tree from {game.name}", value=abstract.name
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

"""Games of buckets: an abstraction's states instead of cards, one board a round.

J and W of the last round are an abstraction's joint counts; buckets are nested, so those of earlier
rounds are sums over children. The players' abstractions may differ. Rounds may be left out at
either end: `truncated` says what hands are worth where the last ones are. `lift` reads a bucket
strategy as one of the real game, where every hand plays as its bucket does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from equilibrist.abstraction.bucket_tree import Nested, column_sums, sums_over_children
from equilibrist.abstraction.buckets import Abstraction
from equilibrist.abstraction.joint_counts import Joint
from equilibrist.errors import InvalidValueError
from equilibrist.games.bet_menu import BetMenu
from equilibrist.games.betting_tree import BettingTree
from equilibrist.kernels.array_structs import PairTables, Treeplex
from equilibrist.kernels.reference.sequence_form import block, boards
from equilibrist.models.endings import Ending, expected_leaves
from equilibrist.models.game import Floats, SequenceGame
from equilibrist.models.leaves import flat_pairs
from equilibrist.models.treeplex import leaf_tables, player_rows, treeplex

_GAME_MENU = BetMenu()
LARGE = 10_000**2  # cells of a matrix beyond which it is kept in float32
_ROWS = 512  # of counts that are read at a time


@dataclass(frozen=True, eq=False)
class BucketStates:
    """Buckets as private states: one board a round."""

    num_states: list[NDArray[np.int64]]
    board_parent: list[NDArray[np.int64]]
    state_parent: list[NDArray[np.int32]]

    @staticmethod
    def of(buckets: Nested, first_round: int, last_round: int) -> BucketStates:
        """The buckets of some rounds."""
        rounds = range(first_round, last_round + 1)
        numbers, parents = buckets.num_buckets, buckets.parents
        return BucketStates(
            num_states=[np.array([numbers[r]]) for r in rounds],
            board_parent=[np.array([-1 if r == first_round else 0]) for r in rounds],
            state_parent=[np.maximum(parents[r], 0) * (r > first_round) for r in rounds],
        )


def bucket_game(
    first: Nested,
    counts: Joint,
    menu: BetMenu = _GAME_MENU,
    *,
    second: Nested | None = None,
    first_round: int = 0,
    last_round: int | None = None,
    pot: int | None = None,
    ending: Ending | None = None,
    backend: str = "cpu",
) -> SequenceGame:
    """The game in which player 0 sees the buckets of `first`, player 1 those of `second`.

    `counts` are theirs (`abstraction.joint.joint`). `second` is `first` if not given. Rounds
    `first_round` … `last_round` are played, from a `pot` of chips; where later rounds are left out,
    `ending` says what hands are worth.

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
            f"an ending says what hands of {rules.name} are worth where later rounds are left out, "
            "and only there",
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
        backend=backend,
    )


def _pairs(counts: Joint, first: Nested, other: Nested, rounds: range) -> PairTables:
    """J and W of some rounds; summed in float64, but kept in float32 where they are large."""
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
    """So many rows, some at a time."""
    return (slice(i, min(i + _ROWS, number)) for i in range(0, number, _ROWS))


def bucket_tree(betting: BettingTree, player: int, buckets: Nested) -> Treeplex:
    """One player's side of a game of buckets."""
    own, most = betting.rules, buckets.rules.max_raises
    if len(own.max_raises) != len(most) or replace(own, max_raises=most) != buckets.rules:
        raise InvalidValueError(
            f"these are buckets of {buckets.rules.name}, not of {betting.rules.name}",
            value=buckets.rules.name,
        )
    states = BucketStates.of(buckets, betting.first_round, betting.last_round)
    return treeplex(player_rows(betting, player), states)


def bucket_name(buckets: Nested, first_round: int = 0, last_round: int | None = None) -> str:
    """What a game of buckets is called."""
    last = buckets.rules.num_rounds - 1 if last_round is None else last_round
    numbers = buckets.num_buckets[first_round : last + 1]
    text = f"{buckets.rules.name} in buckets {'-'.join(map(str, numbers))}"
    if len(numbers) < buckets.rules.num_rounds:
        text += f", rounds {first_round + 1} to {last + 1}"
    return text


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

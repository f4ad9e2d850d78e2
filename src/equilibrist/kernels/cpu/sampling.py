"""Random numbers, and public-chance sampling: `sequence_form.py`'s sweep on a path of boards.

Randomness is xoshiro256++ (Blackman and Vigna 2021), whose state is an array of four words, so a
run can be stored and resumed. Probabilities are cumulative tables that end in exactly 1: a uniform
number below 1 finds its place by binary search and never meets an interval of zero width.

As in `sequence_form.py`, functions inside the loops do not allocate and are compiled without
reference counting.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from equilibrist.kernels.array_structs import PairTables, Treeplex
from equilibrist.kernels.cpu.board import (
    fold_boards,
    gather_child,
    gradient_boards,
    realize_boards,
)
from equilibrist.kernels.cpu.leaves import leaf_space
from equilibrist.kernels.decision_rules import REGRET
from equilibrist.kernels.parts import kernel, part

# --- random numbers -------------------------------------------------------------------------------


@part
def _rotate(word, left):
    return (word << np.uint64(left)) | (word >> np.uint64(64 - left))


@part
def uniform(rng):
    """Return the next number in [0, 1), with 53 bits; advances the words of `rng` [4] uint64."""
    result = _rotate(rng[0] + rng[3], 23) + rng[0]
    shifted = rng[1] << np.uint64(17)
    rng[2] ^= rng[0]
    rng[3] ^= rng[1]
    rng[1] ^= rng[2]
    rng[0] ^= rng[3]
    rng[2] ^= shifted
    rng[3] = _rotate(rng[3], 45)
    return (result >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@part
def find_place(cumulative, start, end, number):
    """Return the first place of a slice whose cumulative probability exceeds a number below 1."""
    low, high = start, end - 1
    while low < high:
        middle = (low + high) // 2
        if cumulative[middle] > number:
            high = middle
        else:
            low = middle + 1
    return low


@part(forceinline=False)
def sample_path(tree, chance, rng, path):
    """Write into `path` [R] a board of each round, each the parent of the next."""
    last = len(path) - 1
    path[last] = tree.board_start[last] + find_place(chance.last, 0, len(chance.last), uniform(rng))
    for r in range(last, 0, -1):
        path[r - 1] = tree.board_parent[path[r]]


# --- public chance: all states of a path of boards ------------------------------------------------


def path_space(trees: tuple[Treeplex, Treeplex], pairs: PairTables, dtype: str) -> tuple[Any, ...]:
    """Return the work space of public chance: a path of boards and the scratch of `update_path`."""
    length = max(int(tree.block_start[-1]) for tree in trees)
    values, plan = np.empty(length, dtype), np.empty(length, dtype)
    factors = np.array([1, 1, 0], dtype)  # no prediction
    sums = leaf_space((pairs, pairs), dtype)[0]
    path = np.empty(len(trees[0].num_sequences), np.int64)
    return path, (values, plan, factors, sums)


@part
def _flush_board(tree, r, board, total, behaviour, average, owed):
    """Add to `average` what the board's rows have gained since the board was last visited.

    A board's behaviour changes only at its visits, so since the last one its rows have grown in
    proportion to the rows of the round before that lead here, which the entries still store.
    """
    start, states = tree.block_start[board], tree.num_states[board]
    for e in range(tree.entry_start[r + 1] - tree.entry_start[r]):
        own = start + e * states
        above = max(tree.board_parent[board], 0)
        row = tree.entry_parent[tree.entry_start[r] + e]
        up = tree.block_start[above] + row * tree.num_states[above]
        first = tree.state_start[board]
        for s in range(states):
            now = total if r == 0 else average[up + tree.state_parent[first + s]]
            owed[own + s] = now - average[own + s]
            average[own + s] = now
    for d in range(tree.decision_start[r], tree.decision_start[r + 1]):
        up = start + tree.decision_parent[d] * states
        for a in range(tree.decision_size[d]):
            own = start + (tree.decision_first[d] + a) * states
            for s in range(states):
                owed[own + s] = owed[up + s] * behaviour[own + s]
                average[own + s] += owed[own + s]


@kernel
def flush(tree, total, behaviour, average, owed):
    """Bring every board of `average` [L] up to date: then it is the sum of all plans so far."""
    for r in range(len(tree.num_sequences)):
        for board in range(tree.board_start[r], tree.board_start[r + 1]):
            _flush_board(tree, r, board, total, behaviour, average, owed)


@part(forceinline=False)
def update_path(
    player, own, other, leaves, pairs, chance, path, ours, theirs, weight, total, scratch
):
    """Run one player's half of an iteration on the boards of `path` [R], in place.

    `ours` is (behaviour, regret, average), `theirs` the opponent's behaviour; values of a board are
    multiplied by `weight` divided by its probability; `total` is the weight of all iterations
    including this one. `scratch` is (values [L], opponent's plan [L], factors [3], sums of
    `leaf_space`).
    """
    behaviour, regret, average = ours
    values, plan, factors, sums = scratch
    unshifted = (np.int64(0), np.int64(0))  # literals would be compiled separately
    last = len(path) - 1
    for r in range(last + 1):
        realize_boards(other, r, path[r], path[r] + 1, theirs, plan)
        _flush_board(own, r, path[r], total, behaviour, average, values)
    for back in range(last + 1):
        r = last - back
        board = path[r]
        here = (board, board + 1)
        gradient_boards(own, other, leaves, pairs, player, r, here, plan, values, unshifted, sums)
        scale = weight / chance.board[board]
        for i in range(own.block_start[board], own.block_start[board + 1]):
            values[i] *= scale
        if r < last:
            gather_child(own, r, board, path[r + 1], values)
        rule = np.int64(REGRET)  # the literal would be compiled beside other rules
        fold_boards(own, rule, r, here, values, np.int64(0), behaviour, regret, factors)


@kernel
def public_chance(game, first, second, weights, total, rng, space):
    """Run iterations of public-chance sampling, one per number of `weights` [steps], in place.

    `game` is (trees, leaves, pairs, chance), `first` and `second` are the players' (behaviour,
    regret, average), `space` is that of `path_space`. Returns the new `total`: the weight of all
    iterations before these, plus these.
    """
    (zero, one), leaves, pairs, chance = game
    path, work = space
    tables = (leaves, pairs, chance)
    for weight in weights:
        total += weight
        for player in range(2):  # a variable: constants would be compiled separately
            sample_path(zero, chance, rng, path)
            if player == 0:
                update_path(player, zero, one, *tables, path, first, second[0], weight, total, work)
            else:
                update_path(player, one, zero, *tables, path, second, first[0], weight, total, work)
    return total

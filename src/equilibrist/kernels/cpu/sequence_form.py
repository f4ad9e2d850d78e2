"""Compiled versions of the reference's `realize`, `gradient` and `fold_up`, and CFR's loop.

Each is a kernel of a team of threads (`team.py`) that takes boards of a round until none are left,
then goes on to the next round. Values are gathered round by round, from boards to their parent
board, so no two threads write to the same place, and the number of threads does not change the
result. The functions of the plain names start the team.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from equilibrist.kernels.array_structs import LeafTables, PairTables, Treeplex
from equilibrist.kernels.cpu.board import (
    fold_boards,
    fold_boards_partly,
    gather_boards,
    gradient_boards,
    realize_boards,
    renew_boards,
)
from equilibrist.kernels.cpu.leaves import leaf_space
from equilibrist.kernels.cpu.team import meet, take, together
from equilibrist.kernels.decision_rules import LARGEST, REGRET, SMALLEST
from equilibrist.kernels.parts import kernel, part

Array = NDArray[Any]
_CACHED_BYTES = 1 << 18  # bytes of values of the last round that are computed at a time
_CHUNKS_EACH = 4  # minimum number of chunks per thread, if there are enough boards


def realize(tree: Treeplex, behaviour: Array, plan: Array, threads: int = 1) -> None:
    """Write into `plan` [L] the realization plan of `behaviour` [L]."""
    together(realize_team, tree, behaviour, plan, threads=threads)


def gradient(
    trees: tuple[Treeplex, Treeplex],
    leaves: LeafTables,
    pairs: PairTables,
    player: int,
    plan: Array,
    out: Array,
    threads: int = 1,
) -> None:
    """Write into `out` [L of `player`] the value of each row given the opponent's `plan`."""
    own, other = trees[player], trees[1 - player]
    sums = leaf_space((pairs, pairs), plan.dtype, threads)
    together(gradient_team, own, other, leaves, pairs, player, plan, out, sums, threads=threads)


def fold_up(
    tree: Treeplex,
    rule: int,
    values: Array,
    behaviour: Array,
    table: Array,
    factors: Array,
    threads: int = 1,
) -> None:
    """Carry `values` [L] from the leaves to the root by a rule (see the reference)."""
    together(fold_up_team, tree, rule, values, behaviour, table, factors, threads=threads)


def fold_up_partly(
    tree: Treeplex,
    rule: int,
    arrays: tuple[Array, Array, Array],
    factors: Array,
    given: Array,
    share: Array,
    threads: int = 1,
) -> None:
    """Carry values from the leaves to the root where decisions are partly given (reference)."""
    together(fold_up_partly_team, tree, rule, arrays, factors, given, share, threads=threads)


def sweeps(
    trees: tuple[Treeplex, Treeplex],
    leaves: LeafTables,
    pairs: PairTables,
    first: tuple[Array, ...],
    second: tuple[Array, ...],
    schedule: Array,
    threads: int = 1,
) -> None:
    """Run CFR with alternating updates, one iteration per row of `schedule` [steps, 4], in place.

    `first` and `second` are (plan, behaviour, regret, average) of the players; a row is (positive
    factor, negative factor, prediction, weight in the average).
    """
    dtype = first[0].dtype
    values = np.empty(max(len(first[0]), len(second[0])), dtype)
    grain, length = _chunks(trees, dtype.itemsize, threads)
    space = (values, np.empty((threads, length), dtype), leaf_space((pairs, pairs), dtype, threads))
    rows = np.ascontiguousarray(schedule, dtype)
    together(
        sweeps_team, trees, leaves, pairs, (first, second), rows, space, grain, threads=threads
    )


def _chunks(trees: tuple[Treeplex, Treeplex], itemsize: int, threads: int) -> tuple[int, int]:
    """Return the number of the last round's boards that are played at a time, and their values."""
    first, end = (int(start) for start in trees[0].board_start[-2:])
    longest = max(int(np.diff(tree.block_start[first:]).max()) for tree in trees)
    fair = max(1, (end - first) // (_CHUNKS_EACH * threads)) if threads > 1 else end - first
    grain = max(1, min(fair, _CACHED_BYTES // (longest * itemsize)))
    return grain, grain * longest


# --- kernels of a team ----------------------------------------------------------------------------


@kernel
def realize_team(member, tree, behaviour, plan):
    """Run `realize`."""
    for r in range(len(tree.num_sequences)):
        begin, end = tree.board_start[r], tree.board_start[r + 1]
        first, last = take(member, begin, end, 1)
        while first < last:
            realize_boards(tree, r, first, last, behaviour, plan)
            first, last = take(member, begin, end, 1)
        meet(member)


@kernel
def gradient_team(member, own, other, leaves, pairs, player, plan, out, space):
    """Run `gradient`; `space` is `leaf_space`."""
    sums = space[member.number]
    unshifted = (np.int64(0), np.int64(0))  # literals would be compiled separately
    for r in range(len(own.num_sequences)):
        begin, end = own.board_start[r], own.board_start[r + 1]
        boards = take(member, begin, end, 1)
        while boards[0] < boards[1]:
            gradient_boards(
                own, other, leaves, pairs, player, r, boards, plan, out, unshifted, sums
            )
            boards = take(member, begin, end, 1)
        meet(member)


@kernel
def fold_up_team(member, tree, rule, values, behaviour, table, factors):
    """Run `fold_up`."""
    last = len(tree.num_sequences) - 1
    for r in range(last, -1, -1):
        begin, end = tree.board_start[r], tree.board_start[r + 1]
        boards = take(member, begin, end, 1)
        while boards[0] < boards[1]:
            if r < last:
                gather_boards(tree, r, boards[0], boards[1], values)
            fold_boards(tree, rule, r, boards, values, np.int64(0), behaviour, table, factors)
            boards = take(member, begin, end, 1)
        meet(member)


@kernel
def fold_up_partly_team(member, tree, rule, arrays, factors, given, share):
    """Run `fold_up_partly`."""
    last = len(tree.num_sequences) - 1
    for r in range(last, -1, -1):
        begin, end = tree.board_start[r], tree.board_start[r + 1]
        boards = take(member, begin, end, 1)
        while boards[0] < boards[1]:
            if r < last:
                gather_boards(tree, r, boards[0], boards[1], arrays[0])
            fold_boards_partly(tree, rule, r, boards, arrays, factors, given, share)
            boards = take(member, begin, end, 1)
        meet(member)


@kernel
def sweeps_team(member, trees, leaves, pairs, players, rows, space, grain):
    """Run `sweeps`.

    A plan of the last round is renewed where it is read next, in the opponent's half of an
    iteration, board by board, so that a board is fetched from memory once; its values never leave
    the cache. `space` is (values [longest L], chunks of values and `leaf_space` by member).
    """
    one, two = trees
    values, block, sums = space[0], space[1][member.number], space[2][member.number]
    last, rule = len(one.num_sequences) - 1, np.int64(REGRET)  # the literal would be another type
    owed = values.dtype.type(-1)
    unshifted = (np.int64(0), np.int64(0))
    for step in range(len(rows)):
        factors, weight = rows[step, :3], rows[step, 3]
        for player in range(2):  # a literal 0 and 1 would be compiled separately
            own, other = (one, two) if player == 0 else (two, one)
            ours, theirs = (players[0], players[1]) if player == 0 else (players[1], players[0])
            behaviour, regret = ours[1], ours[2]
            # The last round: the opponent's new plan, values in the cache, regrets.
            begin, end = own.board_start[last], own.board_start[last + 1]
            taken = take(member, begin, end, grain)
            while taken[0] < taken[1]:
                for first in range(taken[0], taken[1], grain):
                    boards = (first, min(first + grain, taken[1]))
                    if owed >= 0:
                        renew_boards(other, last, *boards, theirs[1], theirs[0], theirs[3], owed)
                    shift = own.block_start[first]
                    gradient_boards(
                        own, other, leaves, pairs, player, last, boards, theirs[0], block,
                        (np.int64(0), shift), sums,
                    )  # fmt: skip
                    fold_boards(own, rule, last, boards, block, shift, behaviour, regret, factors)
                    _keep_entries(own, boards, block, values)
                taken = take(member, begin, end, grain)
            meet(member)
            # Earlier rounds up to the root, then down again with the new plan.
            for r in range(last - 1, -1, -1):
                begin, end = own.board_start[r], own.board_start[r + 1]
                boards = take(member, begin, end, 1)
                while boards[0] < boards[1]:
                    gradient_boards(
                        own, other, leaves, pairs, player, r, boards, theirs[0], values, unshifted,
                        sums,
                    )  # fmt: skip
                    gather_boards(own, r, boards[0], boards[1], values)
                    fold_boards(
                        own, rule, r, boards, values, np.int64(0), behaviour, regret, factors
                    )
                    boards = take(member, begin, end, 1)
                meet(member)
            for r in range(last):
                _renew(member, own, r, ours, weight)
            owed = weight
    if owed >= 0:
        _renew(member, two, last, players[1], owed)


@part
def _keep_entries(tree, boards, block, values):
    """Copy the values of the entries of a chunk of boards of the last round into `values` [L]."""
    entries, shift = tree.entry_start[-1] - tree.entry_start[-2], tree.block_start[boards[0]]
    for board in range(boards[0], boards[1]):
        start = np.uint64(tree.block_start[board])
        place = start - np.uint64(shift)
        for i in range(np.uint64(entries * tree.num_states[board])):
            values[start + i] = block[place + i]


@part
def _renew(member, tree, r, ours, weight):
    """Add a round's plan to the average, and realize it again."""
    plan, behaviour, _, average = ours
    begin, end = tree.board_start[r], tree.board_start[r + 1]
    first, last = take(member, begin, end, 1)
    while first < last:
        renew_boards(tree, r, first, last, behaviour, plan, average, weight)
        first, last = take(member, begin, end, 1)
    meet(member)


@kernel
def normalize(tree, plan, behaviour):
    """Write into `behaviour` [L] that of `plan` [L]: uniform where the plan has no weight.

    An action's probability is its share of its decision's actions, not of the parent row, so that
    rounding still leaves a distribution. Entries become 1.
    """
    for r in range(len(tree.num_sequences)):
        for board in range(tree.board_start[r], tree.board_start[r + 1]):
            start, states = tree.block_start[board], tree.num_states[board]
            for i in range((tree.entry_start[r + 1] - tree.entry_start[r]) * states):
                behaviour[start + i] = 1.0
            for d in range(tree.decision_start[r], tree.decision_start[r + 1]):
                up = start + tree.decision_parent[d] * states
                first = start + tree.decision_first[d] * states
                size = tree.decision_size[d]
                for s in range(states):
                    total = 0.0
                    for a in range(size):
                        total += max(plan[first + a * states + s], 0.0)
                    reached = SMALLEST <= total <= LARGEST and plan[up + s] > 0
                    for a in range(size):
                        i = first + a * states + s
                        behaviour[i] = max(plan[i], 0.0) / total if reached else 1.0 / size

"""Compiled versions of the reference's `realize`, `gradient` and `fold_up`, and CFR's loop.

Each step exists twice around the functions of `board.py`: `*_parallel` shares the boards of a round
among threads, the plain one is for games so small that starting threads would cost more than the
work. Values are gathered round by round, from boards to their parent board, so no two threads write
to the same place.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from equilibrist.kernels.cpu.board import (
    fold_boards,
    fold_last,
    gradient_boards,
    gradient_last,
    realize_boards,
    renew_boards,
)
from equilibrist.kernels.cpu.leaves import leaf_space
from equilibrist.kernels.decision_rules import LARGEST, REGRET, SMALLEST

# --- one thread -----------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def realize(tree, behaviour, plan):
    """Write into `plan` [L] the realization plan of `behaviour` [L]."""
    for r in range(len(tree.num_sequences)):
        realize_boards(tree, r, tree.board_start[r], tree.board_start[r + 1], behaviour, plan)


@njit(cache=True, nogil=True)
def gradient(own, other, leaves, pairs, player, plan, out):
    """Write into `out` [L of `player`] the value of each row given the opponent's `plan`."""
    sums = leaf_space(own.num_states.max(), plan.dtype)
    for r in range(len(own.num_sequences)):
        begin, end = own.board_start[r], own.board_start[r + 1]
        gradient_boards(own, other, leaves, pairs, player, r, begin, end, plan, out, sums)


@njit(cache=True, nogil=True)
def fold_up(tree, rule, values, behaviour, table, factors):
    """Carry `values` [L] from the leaves to the root by a rule (see the reference)."""
    for r in range(len(tree.num_sequences) - 1, -1, -1):
        begin, end = tree.board_start[r], tree.board_start[r + 1]
        fold_boards(tree, rule, r, begin, end, values, behaviour, table, factors)


@njit(cache=True, nogil=True)
def sweeps(trees, leaves, pairs, first, second, schedule, values):
    """Run CFR with alternating updates, one iteration per row of `schedule` [steps, 4], in place.

    `first` and `second` are (plan, behaviour, regret, average) of the players; a row is (positive
    factor, negative factor, prediction, weight in the average); `values` [longest L] is work space.
    """
    one, two = trees
    rounds = len(one.num_sequences)
    sums = leaf_space(max(one.num_states.max(), two.num_states.max()), values.dtype)
    factors = np.empty(3, values.dtype)
    for step in range(schedule.shape[0]):
        for i in range(3):
            factors[i] = schedule[step, i]
        weight = factors.dtype.type(schedule[step, 3])
        for player in range(2):  # a literal 0 and 1 would be compiled separately
            own, other = (one, two) if player == 0 else (two, one)
            ours, theirs = (first, second) if player == 0 else (second, first)
            for r in range(rounds - 1, -1, -1):
                boards = own.board_start[r], own.board_start[r + 1]
                _rise(
                    player, own, other, leaves, pairs, r, boards, ours, theirs[0], factors, values,
                    sums,
                )  # fmt: skip
            for r in range(rounds):
                _descend(own, r, own.board_start[r], own.board_start[r + 1], ours, weight)


@njit(cache=True, inline="always")
def _rise(player, own, other, leaves, pairs, r, boards, ours, plan, factors, values, sums):
    """Compute gradient and regrets of some boards; the boards below them must be done already."""
    begin, end = boards
    _, behaviour, regret, _ = ours
    gradient_boards(own, other, leaves, pairs, player, r, begin, end, plan, values, sums)
    rule = np.int64(REGRET)  # the literal would be compiled beside `fold_up`'s rules
    fold_boards(own, rule, r, begin, end, values, behaviour, regret, factors)


@njit(cache=True, inline="always")
def _descend(tree, r, begin, end, ours, weight):
    """Compute average and new plan of some boards; the boards above them must be done already."""
    plan, behaviour, _, average = ours
    renew_boards(tree, r, begin, end, behaviour, plan, average, weight)


@njit(cache=True, _nrt=False, nogil=True)
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


# --- all threads ----------------------------------------------------------------------------------


@njit(cache=True, parallel=True, nogil=True)
def realize_parallel(tree, behaviour, plan):
    """Run `realize` with the boards of a round shared among threads."""
    for r in range(len(tree.num_sequences)):
        for board in prange(tree.board_start[r], tree.board_start[r + 1]):
            realize_boards(tree, r, board, board + 1, behaviour, plan)


@njit(cache=True, parallel=True, nogil=True)
def gradient_parallel(own, other, leaves, pairs, player, plan, out):
    """Run `gradient` with the boards of a round shared among threads."""
    for r in range(len(own.num_sequences)):
        for board in prange(own.board_start[r], own.board_start[r + 1]):
            sums = leaf_space(own.num_states[board], plan.dtype)
            gradient_boards(own, other, leaves, pairs, player, r, board, board + 1, plan, out, sums)


@njit(cache=True, parallel=True, nogil=True)
def fold_up_parallel(tree, rule, values, behaviour, table, factors):
    """Run `fold_up` with the boards of a round shared among threads."""
    last = len(tree.num_sequences) - 1
    for back in range(last + 1):
        r = last - back
        for board in prange(tree.board_start[r], tree.board_start[r + 1]):
            fold_boards(tree, rule, r, board, board + 1, values, behaviour, table, factors)


@njit(cache=True, parallel=True)
def _sweep_parallel(player, own, other, leaves, pairs, ours, theirs, factors, owed, weight, values):
    """Run one player's half of an iteration, except for the plan of the last round.

    That plan is renewed where it is read next: in the opponent's half, board by board, so that a
    board is fetched from memory once; its values never leave the cache. `owed` is the opponent's
    weight in the average, negative if its plan is new already.
    """
    last = len(own.num_sequences) - 1
    for board in prange(own.board_start[last], own.board_start[last + 1]):
        if owed >= 0:
            _descend(other, last, board, board + 1, theirs, owed)
        sums = leaf_space(own.num_states[board], values.dtype)
        block = np.empty(own.block_start[board + 1] - own.block_start[board], values.dtype)
        start = other.block_start[board]
        gradient_last(own, other, leaves, pairs, player, board, theirs[0], start, block, sums)
        fold_last(own, REGRET, board, block, values, ours[1], ours[2], factors)
    for back in range(last):
        r = last - 1 - back
        for board in prange(own.board_start[r], own.board_start[r + 1]):
            sums = leaf_space(own.num_states[board], values.dtype)
            _rise(
                player, own, other, leaves, pairs, r, (board, board + 1), ours, theirs[0], factors,
                values, sums,
            )  # fmt: skip
    for r in range(last):
        for board in prange(own.board_start[r], own.board_start[r + 1]):
            _descend(own, r, board, board + 1, ours, weight)


@njit(cache=True, parallel=True)
def _end_parallel(own, ours, owed):
    """Renew the plan of the last round after the last half iteration."""
    last = len(own.num_sequences) - 1
    for board in prange(own.board_start[last], own.board_start[last + 1]):
        _descend(own, last, board, board + 1, ours, owed)


@njit(cache=True, nogil=True)
def sweeps_parallel(trees, leaves, pairs, first, second, schedule, values):
    """Run `sweeps` with the boards of a round shared among threads."""
    one, two = trees
    rows = schedule.astype(values.dtype)
    owed = values.dtype.type(-1)
    for step in range(len(rows)):
        factors, weight = rows[step, :3], rows[step, 3]
        for player in range(2):
            own, other = (one, two) if player == 0 else (two, one)
            ours, theirs = (first, second) if player == 0 else (second, first)
            _sweep_parallel(
                player, own, other, leaves, pairs, ours, theirs, factors, owed, weight, values
            )
            owed = weight
    if len(rows) > 0:
        _end_parallel(two, second, owed)

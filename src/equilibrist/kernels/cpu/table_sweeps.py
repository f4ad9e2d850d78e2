"""CFR that stores tables but no plans: a sweep computes the last round's plans on the way.

Regrets are matched where they are read, so the last round needs neither behaviour nor plan: on each
of its boards the opponent's block of a plan is computed in the cache from regrets and the round
before, is added to the average, used at the leaves, and discarded. Only regrets and averages are
fetched from memory and written back: half of what `sequence_form.sweeps` stores, or a quarter with
numbers of 16 bits, which are shares of the largest number of their row.

Earlier rounds, the *trunk*, are stored as usual. A locked decision's table holds its probabilities,
which match themselves. The same matching turns averages into average behaviour.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange, types
from numba.extending import overload

from equilibrist.kernels.cpu.board import (
    fold_boards,
    fold_path_board,
    gradient_boards,
    gradient_last,
    realize_boards,
)
from equilibrist.kernels.cpu.leaves import leaf_space
from equilibrist.kernels.cpu.simd import LANES
from equilibrist.kernels.cpu.tables import (
    entries,
    fold,
    pack,
    realize,
    states_before,
    table_start,
    unpack,
)
from equilibrist.kernels.decision_rules import LARGEST, REGRET, SMALLEST

# --- all boards of the last round -----------------------------------------------------------------


@njit(cache=True, inline="always")
def _play_board(
    player, rule, own, other, leaves, pairs, board, ours, base, trunk, theirs, average, their_base,
    weight, factors, plan, values, sums, ends,
):  # fmt: skip
    """Run one player's half of an iteration on a board of the last round; see `_last_round`."""
    realize(other, board, trunk, theirs, their_base, plan, np.uint64(0), average, weight)
    gradient_last(own, other, leaves, pairs, player, board, plan, 0, values, sums)
    fold(own, rule, board, values, ours, base, factors)
    into = entries(own) * states_before(own, board)
    for i in range(entries(own) * np.uint64(own.num_states[board])):
        ends[into + i] = values[i]


@njit(cache=True, parallel=True)
def _last_round(
    player, rule, own, other, leaves, pairs, ours, trunk, theirs, average, weight, factors, ends
):
    """Run one player's half of an iteration on all boards of the last round.

    `ours` is the player's table, `theirs` the opponent's, matched to a plan below the plan `trunk`,
    which is added to the table `average` unless `weight` is negative. The values of the player's
    entries are written into `ends`.
    """
    for board in prange(own.board_start[-2], own.board_start[-1]):
        sums = leaf_space(own.num_states[board], ends.dtype)
        plan = np.empty(other.num_sequences[-1] * other.num_states[board], ends.dtype)
        values = np.empty(own.num_sequences[-1] * own.num_states[board], ends.dtype)
        _play_board(
            player, rule, own, other, leaves, pairs, board, ours, table_start(own, board), trunk,
            theirs, average, table_start(other, board), weight, factors, plan, values, sums, ends,
        )  # fmt: skip


@njit(cache=True, parallel=True)
def _last_round_packed(
    player, rule, own, other, leaves, pairs, ours, trunk, theirs, average, weight, factors, ends
):
    """Run `_last_round` on packed tables (numbers of 16 bits, scales of rows)."""
    for board in prange(own.board_start[-2], own.board_start[-1]):
        sums = leaf_space(own.num_states[board], ends.dtype)
        plan = np.empty(other.num_sequences[-1] * other.num_states[board], ends.dtype)
        values = np.empty(own.num_sequences[-1] * own.num_states[board], ends.dtype)
        own_block, their_block = np.empty_like(values), np.empty_like(plan)
        counted = np.empty_like(plan)
        unpack(own, board, ours[0], ours[1], own_block)
        unpack(other, board, theirs[0], theirs[1], their_block)
        if weight >= 0:
            unpack(other, board, average[0], average[1], counted)
        nothing = np.uint64(0)
        _play_board(
            player, rule, own, other, leaves, pairs, board, own_block, nothing, trunk, their_block,
            counted, nothing, weight, factors, plan, values, sums, ends,
        )  # fmt: skip
        if rule == REGRET:
            pack(own, board, own_block, ours[0], ours[1], sums)
        if weight >= 0:
            pack(other, board, counted, average[0], average[1], sums)


def _play_last(
    player, rule, own, other, leaves, pairs, ours, trunk, theirs, average, weight, factors, ends
):
    """Call `_last_round` or `_last_round_packed`, depending on the type of the tables."""
    raise NotImplementedError


@overload(_play_last, inline="always")
def _play_last_by_type(
    player, rule, own, other, leaves, pairs, ours, trunk, theirs, average, weight, factors, ends
):
    if isinstance(ours[0].dtype, types.Integer):

        def packed(
            player, rule, own, other, leaves, pairs, ours, trunk, theirs, average, weight, factors,
            ends,
        ):  # fmt: skip
            _last_round_packed(
                player, rule, own, other, leaves, pairs, ours, trunk, theirs, average, weight,
                factors, ends,
            )  # fmt: skip

        return packed

    def plain(
        player, rule, own, other, leaves, pairs, ours, trunk, theirs, average, weight, factors, ends
    ):
        _last_round(
            player, rule, own, other, leaves, pairs, ours[0], trunk, theirs[0], average[0], weight,
            factors, ends,
        )  # fmt: skip

    return plain


@njit(cache=True, nogil=True)
def unpack_last(tree, numbers, scales, out):
    """Write into `out` [as `numbers`] the floats of a packed table of the last round."""
    rows = tree.num_sequences[-1] - np.int64(entries(tree))
    for board in range(tree.board_start[-2], tree.board_start[-1]):
        start = np.int64(table_start(tree, board))
        unpack(tree, board, numbers, scales, out[start : start + rows * tree.num_states[board]])


@njit(cache=True, nogil=True)
def pack_last(tree, table, numbers, scales):
    """Write a table of floats of the last round as packed numbers."""
    rows = tree.num_sequences[-1] - np.int64(entries(tree))
    lanes = np.empty(LANES, table.dtype)
    for board in range(tree.board_start[-2], tree.board_start[-1]):
        start = np.int64(table_start(tree, board))
        block = table[start : start + rows * tree.num_states[board]]
        pack(tree, board, block, numbers, scales, lanes)


@njit(cache=True, nogil=True)
def realize_last(tree, trunk, table, plan):
    """Write the last round's blocks of `plan` [L] below a trunk: its table of floats, matched."""
    for board in range(tree.board_start[-2], tree.board_start[-1]):
        start, base = np.uint64(tree.block_start[board]), table_start(tree, board)
        realize(tree, board, trunk, table, base, plan, start, table, plan.dtype.type(-1))


# --- the trunk ------------------------------------------------------------------------------------


@njit(cache=True, _nrt=False, nogil=True)
def match_trunk(tree, table, behaviour):
    """Write into `behaviour` [trunk] a trunk's table, matched; entries become 1."""
    for r in range(len(tree.num_sequences) - 1):
        for board in range(tree.board_start[r], tree.board_start[r + 1]):
            start, states = tree.block_start[board], tree.num_states[board]
            for i in range((tree.entry_start[r + 1] - tree.entry_start[r]) * states):
                behaviour[start + i] = 1.0
            for d in range(tree.decision_start[r], tree.decision_start[r + 1]):
                first, size = start + tree.decision_first[d] * states, tree.decision_size[d]
                for s in range(first, first + states):
                    total = 0.0
                    for a in range(size):
                        total += max(table[s + a * states], 0.0)
                    is_counted = SMALLEST <= total <= LARGEST
                    for a in range(size):
                        number = max(table[s + a * states], 0.0)
                        behaviour[s + a * states] = number / total if is_counted else 1.0 / size


@njit(cache=True, nogil=True)
def realize_trunk(tree, behaviour, plan):
    """Write the trunk of a plan."""
    for r in range(len(tree.num_sequences) - 1):
        realize_boards(tree, r, tree.board_start[r], tree.board_start[r + 1], behaviour, plan)


@njit(cache=True, _nrt=False)
def _gather_ends(tree, board, ends, values):
    """Add the entries of the last round to the rows of a board of the round before."""
    r = len(tree.num_sequences) - 1
    start, states = tree.block_start[board], tree.num_states[board]
    for child in range(tree.child_start[board], tree.child_start[board + 1]):
        width, first = np.uint64(tree.num_states[child]), np.uint64(tree.state_start[child])
        below = entries(tree) * states_before(tree, child)
        for e in range(tree.entry_start[r + 1] - tree.entry_start[r]):
            up = np.uint64(start + tree.entry_parent[tree.entry_start[r] + e] * states)
            for s in range(width):
                values[up + np.uint64(tree.state_parent[first + s])] += ends[below + s]
            below += width


@njit(cache=True, parallel=True)
def _fold_trunk(
    player, rule, own, other, leaves, pairs, plan, behaviour, table, factors, ends, values
):
    """Compute gradient and fold-up of the rounds before the last, whose entry values are `ends`."""
    last = len(own.num_sequences) - 1
    for back in range(last):
        r = last - 1 - back
        for board in prange(own.board_start[r], own.board_start[r + 1]):
            sums = leaf_space(own.num_states[board], values.dtype)
            gradient_boards(
                own, other, leaves, pairs, player, r, board, board + 1, plan, values, sums
            )
            if back == 0:
                _gather_ends(own, board, ends, values)
                fold_path_board(own, rule, r, board, values, behaviour, table, factors)
            else:
                fold_boards(own, rule, r, board, board + 1, values, behaviour, table, factors)


@njit(cache=True, nogil=True)
def sweeps(trees, leaves, pairs, first, second, schedule, values, ends):
    """Run CFR iterations in place, players in turn, one per row of `schedule` [steps, 4].

    `first` and `second` are (plan, behaviour, regret, average) of the trunk, and two tables of the
    last round, regret and average, each (numbers, scales). A player's plan is added to the average
    when the opponent uses it: player 1's of the iteration before, player 0's of this one. `values`
    [longest trunk] and `ends` [most entries × states] are work space.
    """
    one, two = trees
    rule = np.int64(REGRET)  # the literal would be compiled beside `root_value`'s rules
    rows = schedule.astype(values.dtype)
    for step in range(len(rows)):
        factors, weight = rows[step, :3], rows[step, 3]
        for player in range(2):
            own, other = (one, two) if player == 0 else (two, one)
            ours, theirs = (first, second) if player == 0 else (second, first)
            plan, behaviour, regret = ours[0], ours[1], ours[2]
            for i in range(len(theirs[3])):
                theirs[3][i] += weight * theirs[0][i]
            _play_last(
                player, rule, own, other, leaves, pairs, ours[4], theirs[0], theirs[4],
                theirs[5], weight, factors, ends,
            )  # fmt: skip
            _fold_trunk(
                player, rule, own, other, leaves, pairs, theirs[0], behaviour, regret, factors,
                ends, values,
            )  # fmt: skip
            realize_trunk(own, behaviour, plan)


@njit(cache=True, nogil=True)
def root_value(player, rule, own, other, leaves, pairs, ours, theirs, values, ends):
    """Return what `player` wins by a rule that updates no regrets, in float64.

    `ours` and `theirs` are (plan, behaviour) of the trunk and a table of the last round. With BEST
    the behaviour of the trunk becomes the best one.
    """
    factors, no_weight = np.zeros(3, values.dtype), values.dtype.type(-1)
    last, total = len(own.num_sequences) - 1, 0.0
    _play_last(
        player, rule, own, other, leaves, pairs, ours[2], theirs[0], theirs[2], theirs[2],
        no_weight, factors, ends,
    )  # fmt: skip
    _fold_trunk(
        player, rule, own, other, leaves, pairs, theirs[0], ours[1], ours[1], factors, ends, values
    )
    if last == 0:
        for s in range(own.num_states[0]):
            total += ends[s]
        return total
    for board in range(own.board_start[1]):
        for s in range(own.num_states[board]):
            total += values[own.block_start[board] + s]
    return total

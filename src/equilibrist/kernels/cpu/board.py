"""What a sweep does on the boards of a round: realize, gradient, fold-up, average.

Loops run over contiguous states with unsigned indices, a few arrays at a time: that is what the
compiler can vectorise (see docs/findings/numba-inner-loops.md). Helpers for one board are inlined;
functions for some boards are compiled once and called with a whole round, or with the board of a
thread. None allocates, so they are compiled without reference counting, which Numba would otherwise
do in the inner loops.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from equilibrist.kernels.cpu.leaves import gradient_board, leaf_space
from equilibrist.kernels.reference.sequence_form import BEST, EXPECTATION, REGRET, SOFTMAX


@njit(cache=True, inline="always")
def work_space(num_states, dtype):
    """What the functions below write into on boards of so many states: sums, and rows."""
    return leaf_space(num_states, dtype), np.empty(2 * num_states, dtype)


@njit(cache=True, inline="always")
def _realize_board(tree, r, board, behaviour, plan, average, weight, averages):
    """Writes the block of a board, the plan of the round before being written.

    With `averages`, what stood there is added to `average` first, times `weight`: one pass over the
    plan instead of two.
    """
    start, states = tree.block_start[board], np.uint64(tree.num_states[board])
    for e in range(tree.entry_start[r + 1] - tree.entry_start[r]):
        own = np.uint64(start) + np.uint64(e) * states
        if averages:
            for s in range(states):
                average[own + s] += weight * plan[own + s]
        if r == 0:
            for s in range(states):
                plan[own + s] = 1.0
        else:
            row = tree.entry_parent[tree.entry_start[r] + e]
            above = tree.board_parent[board]
            up = np.uint64(tree.block_start[above] + row * tree.num_states[above])
            first = np.uint64(tree.state_start[board])
            for s in range(states):
                plan[own + s] = plan[up + np.uint64(tree.state_parent[first + s])]
    for d in range(tree.decision_start[r], tree.decision_start[r + 1]):
        up = np.uint64(start) + np.uint64(tree.decision_parent[d]) * states
        own = np.uint64(start) + np.uint64(tree.decision_first[d]) * states
        for _ in range(tree.decision_size[d]):
            if averages:
                for s in range(states):
                    average[own + s] += weight * plan[own + s]
            for s in range(states):
                plan[own + s] = plan[up + s] * behaviour[own + s]
            own += states


@njit(cache=True, inline="always")
def _fold_board(tree, rule, r, board, values, behaviour, table, factors, rows):
    """Folds the decisions of a board, children first, by a rule; see the reference."""
    start, states = tree.block_start[board], tree.num_states[board]
    begin = tree.decision_start[r]
    for back in range(tree.decision_start[r + 1] - begin):
        d = tree.decision_start[r + 1] - 1 - back
        up = start + tree.decision_parent[d] * states
        first = start + tree.decision_first[d] * states
        size = np.int64(tree.decision_size[d])
        chosen = EXPECTATION if tree.locked[d] else rule
        if chosen == REGRET:
            _match_regrets(values, behaviour, table, factors, up, first, size, states, rows)
        else:
            for s in range(states):
                values[up + s] += _decide(chosen, size, states, first + s, values, behaviour, table)


@njit(cache=True, inline="always")
def _match_regrets(values, behaviour, table, factors, up, first, size, states, rows):
    """The regret rule at one decision, action by action, all states at once.

    `rows` holds the mean and the sum of matched regrets, then what to add and to multiply by.
    """
    positive, negative, prediction = factors[0], factors[1], factors[2]
    parent, at, n = np.uint64(up), np.uint64(first), np.uint64(states)
    zero, one = values.dtype.type(0), values.dtype.type(1)
    for s in range(n):
        rows[s] = behaviour[at + s] * values[at + s]
    for a in range(np.uint64(1), np.uint64(size)):
        i = at + a * n
        for s in range(n):
            rows[s] += behaviour[i + s] * values[i + s]
    for s in range(n):
        values[parent + s] += rows[s]
        rows[n + s] = zero
    for a in range(np.uint64(size)):
        i = at + a * n
        for s in range(n):
            latest = values[i + s] - rows[s]
            regret = table[i + s] + latest
            regret *= positive if regret > zero else negative
            table[i + s] = regret
            matched = max(regret + prediction * latest, zero)
            behaviour[i + s] = matched
            rows[n + s] += matched
    even = one / values.dtype.type(size)
    for s in range(n):
        total = rows[n + s]
        rows[s] = zero if total > zero else even
        rows[n + s] = one / total if total > zero else zero
    for a in range(np.uint64(size)):
        i = at + a * n
        for s in range(n):
            behaviour[i + s] = behaviour[i + s] * rows[n + s] + rows[s]


@njit(cache=True, inline="always")
def _decide(rule, size, states, at, values, behaviour, table):
    """Value of a decision in one state; its actions stand `states` apart from `at` on."""
    result = 0.0
    if rule == BEST:
        best = 0
        for a in range(1, size):
            if values[at + a * states] > values[at + best * states]:
                best = a
        for a in range(size):
            behaviour[at + a * states] = 1.0 if a == best else 0.0
        result = values[at + best * states]
    elif rule == SOFTMAX:
        highest = values[at]
        for a in range(1, size):
            highest = max(highest, values[at + a * states])
        total = 0.0
        for a in range(size):
            power = np.exp((values[at + a * states] - highest) / table[at])
            behaviour[at + a * states] = power
            total += power
        for a in range(size):
            behaviour[at + a * states] /= total
        result = highest + table[at] * np.log(total)
    else:
        for a in range(size):
            result += behaviour[at + a * states] * values[at + a * states]
    return result


@njit(cache=True, inline="always")
def gather_child(tree, r, board, child, values):
    """Adds the entries of one board of the next round to the rows that lead there."""
    start, states = tree.block_start[board], tree.num_states[board]
    below, width = tree.block_start[child], tree.num_states[child]
    first = tree.state_start[child]
    for e in range(tree.entry_start[r + 2] - tree.entry_start[r + 1]):
        up = start + tree.entry_parent[tree.entry_start[r + 1] + e] * states
        row = below + e * width
        for s in range(width):
            values[up + tree.state_parent[first + s]] += values[row + s]


# --- some boards of a round -----------------------------------------------------------------------


@njit(cache=True, _nrt=False)
def realize_boards(tree, r, begin, end, behaviour, plan):
    """Writes the blocks of boards `begin` … `end` − 1, the round before being written."""
    for board in range(begin, end):
        _realize_board(tree, r, board, behaviour, plan, plan, 0.0, False)


@njit(cache=True, _nrt=False, fastmath={"reassoc", "contract"})  # sums in any order: vectors
def gradient_boards(own, other, leaves, pairs, player, r, begin, end, plan, out, sums):
    """Writes the value of the boards' rows given the opponent's plan: the leaves of the round."""
    for board in range(begin, end):
        gradient_board(own, other, leaves, pairs, player, r, board, plan, out, sums)


@njit(cache=True, _nrt=False)
def fold_boards(tree, rule, r, begin, end, values, behaviour, table, factors, rows):
    """Folds up the boards' values by a rule, with those of all boards of the next round."""
    for board in range(begin, end):
        if r < len(tree.num_sequences) - 1:
            for child in range(tree.child_start[board], tree.child_start[board + 1]):
                gather_child(tree, r, board, child, values)
        _fold_board(tree, rule, r, board, values, behaviour, table, factors, rows)


@njit(cache=True, _nrt=False)
def fold_path_board(tree, rule, r, board, values, behaviour, table, factors, rows):
    """Folds up one board's values by a rule, without boards of the next round."""
    _fold_board(tree, rule, r, board, values, behaviour, table, factors, rows)


@njit(cache=True, _nrt=False)
def renew_boards(tree, r, begin, end, behaviour, plan, average, weight):
    """Adds `weight` times the boards' blocks of `plan` to `average`, then realizes them anew."""
    for board in range(begin, end):
        _realize_board(tree, r, board, behaviour, plan, average, weight, True)

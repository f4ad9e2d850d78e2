"""Steps of a sweep on the boards of a round: realize, gradient, fold-up, average.

Loops run over contiguous states with unsigned indices, a few arrays at a time, which the compiler
can vectorise, or with the vectors of `simd.py` (see docs/findings/numba-inner-loops.md). Helpers
for one board are inlined; functions for several boards are compiled once and called with a whole
round, or with the board of a thread. None of them allocates, so they are compiled without reference
counting, which Numba would otherwise do in the inner loops.
"""

from __future__ import annotations

import numpy as np

from equilibrist.kernels.cpu.leaves import gradient_board
from equilibrist.kernels.cpu.simd import (
    LANES,
    as_wide,
    choose,
    if_counted,
    load,
    spread,
    spread_half,
    store,
)
from equilibrist.kernels.decision_rules import BEST, EXPECTATION, REGRET, SOFTMAX
from equilibrist.kernels.parts import part


@part
def _realize_board(tree, r, board, behaviour, plan, average, weight, averages):
    """Write the block of a board; the plan of the round before must be written already.

    With `averages`, the old plan is first added to `average`, times `weight`: one pass over the
    plan instead of two.
    """
    start, states = tree.block_start[board], np.uint64(tree.num_states[board])
    zero, weight, eight = plan.dtype.type(0), plan.dtype.type(weight), np.uint64(LANES)
    whole, most = states - states % eight, states - states % np.uint64(LANES // 2)
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
            for s in range(np.uint64(0), whole, eight):
                _step(behaviour, plan, up + s, own + s, average, weight, averages, spread(zero))
            if most > whole:
                half = spread_half(zero)
                _step(behaviour, plan, up + whole, own + whole, average, weight, averages, half)
            for s in range(most, states):
                _step(behaviour, plan, up + s, own + s, average, weight, averages, zero)
            own += states


@part
def _step(behaviour, plan, up, own, average, weight, averages, zero):
    """Average and realize an action in one vector of states as wide as `zero` (see `simd.py`)."""
    reach = load(plan, up, zero) * load(behaviour, own, zero)
    if averages:
        before = load(average, own, zero) + as_wide(weight, zero) * load(plan, own, zero)
        store(average, own, before)
    store(plan, own, reach)


@part
def _fold_board(tree, rule, r, board, values, shift, behaviour, table, factors):
    """Fold the decisions of a board, children first, by a rule (see the reference).

    The board's block starts `shift` places earlier in `values` than in the other arrays.
    """
    start, states = np.uint64(tree.block_start[board]), np.uint64(tree.num_states[board])
    zero, eight = values.dtype.type(0), np.uint64(LANES)
    whole, most = states - states % eight, states - states % np.uint64(LANES // 2)
    for back in range(tree.decision_start[r + 1] - tree.decision_start[r]):
        d = tree.decision_start[r + 1] - 1 - back
        up = start + np.uint64(tree.decision_parent[d]) * states
        first = start + np.uint64(tree.decision_first[d]) * states
        size = np.uint64(tree.decision_size[d])
        chosen = EXPECTATION if tree.locked[d] else rule
        if chosen == REGRET:
            for s in range(np.uint64(0), whole, eight):
                _match_regrets(
                    values, shift, behaviour, table, factors, up + s, first + s, size, states,
                    spread(zero),
                )  # fmt: skip
            if most > whole:
                _match_regrets(
                    values, shift, behaviour, table, factors, up + whole, first + whole, size,
                    states, spread_half(zero),
                )  # fmt: skip
            for s in range(most, states):
                _match_regrets(
                    values, shift, behaviour, table, factors, up + s, first + s, size, states, zero
                )
        else:
            for s in range(states):
                value = _decide(chosen, size, states, first + s, values, shift, behaviour, table)
                values[up - shift + s] += value


@part
def _fold_board_partly(tree, rule, r, board, arrays, factors, given, share):
    """Fold the decisions of a board, children first, where they are partly given.

    One state at a time: `arrays` are (values, behaviour, table), as in the reference.
    """
    values, behaviour, table = arrays
    start, states = np.uint64(tree.block_start[board]), np.uint64(tree.num_states[board])
    zero, one, unshifted = values.dtype.type(0), values.dtype.type(1), np.uint64(0)
    for back in range(tree.decision_start[r + 1] - tree.decision_start[r]):
        d = tree.decision_start[r + 1] - 1 - back
        up = start + np.uint64(tree.decision_parent[d]) * states
        first = start + np.uint64(tree.decision_first[d]) * states
        size = np.uint64(tree.decision_size[d])
        for s in range(states):
            known, before, i = zero, values[up + s], first + s
            for _ in range(size):
                known += given[i] * values[i]
                i += states
            values[up + s] = zero
            if rule == REGRET:
                _match_regrets(
                    values, unshifted, behaviour, table, factors, up + s, first + s, size, states,
                    zero,
                )  # fmt: skip
            else:
                values[up + s] = _decide(
                    rule, size, states, first + s, values, unshifted, behaviour, table
                )
            p = share[first + s]
            values[up + s] = before + p * known + (one - p) * values[up + s]


@part
def _match_regrets(values, shift, behaviour, table, factors, up, first, size, states, zero):
    """Apply the regret rule at one decision, in one vector as wide as `zero` (see `simd.py`).

    Actions are `states` apart, starting at `first`; `up` is the row that leads to the decision.
    """
    positive, negative = as_wide(factors[0], zero), as_wide(factors[1], zero)
    prediction, mean, total = as_wide(factors[2], zero), zero, zero
    i = first
    for _ in range(size):
        mean = mean + load(behaviour, i, zero) * load(values, i - shift, zero)
        i += states
    store(values, up - shift, load(values, up - shift, zero) + mean)
    i = first
    for _ in range(size):
        latest = load(values, i - shift, zero) - mean
        regret = load(table, i, zero) + latest
        regret = regret * choose(regret, positive, negative)
        store(table, i, regret)
        matched = regret + prediction * latest
        matched = choose(matched, matched, zero)
        store(behaviour, i, matched)
        total = total + matched
        i += states
    one = as_wide(values.dtype.type(1), zero)
    alike = as_wide(values.dtype.type(1) / values.dtype.type(size), zero)
    even = if_counted(total, zero, alike)
    share = if_counted(total, one, zero) / if_counted(total, total, one)
    i = first
    for _ in range(size):
        store(behaviour, i, load(behaviour, i, zero) * share + even)
        i += states


@part
def _decide(rule, size, states, at, values, shift, behaviour, table):
    """Return the value of a decision in one state; its actions are `states` apart from `at` on."""
    result, place = 0.0, at - shift
    if rule == BEST:
        best = 0
        for a in range(1, size):
            if values[place + a * states] > values[place + best * states]:
                best = a
        for a in range(size):
            behaviour[at + a * states] = 1.0 if a == best else 0.0
        result = values[place + best * states]
    elif rule == SOFTMAX:
        highest = values[place]
        for a in range(1, size):
            highest = max(highest, values[place + a * states])
        total = 0.0
        for a in range(size):
            power = np.exp((values[place + a * states] - highest) / table[at])
            behaviour[at + a * states] = power
            total += power
        for a in range(size):
            behaviour[at + a * states] /= total
        result = highest + table[at] * np.log(total)
    else:
        for a in range(size):
            result += behaviour[at + a * states] * values[place + a * states]
    return result


@part
def gather_child(tree, r, board, child, values):
    """Add the entries of one board of the next round to the rows that lead there."""
    start, states = tree.block_start[board], tree.num_states[board]
    below, width = tree.block_start[child], tree.num_states[child]
    first = tree.state_start[child]
    for e in range(tree.entry_start[r + 2] - tree.entry_start[r + 1]):
        up = start + tree.entry_parent[tree.entry_start[r + 1] + e] * states
        row = below + e * width
        for s in range(width):
            values[up + tree.state_parent[first + s]] += values[row + s]


# --- several boards of a round --------------------------------------------------------------------


@part(forceinline=False)
def realize_boards(tree, r, begin, end, behaviour, plan):
    """Write the blocks of boards `begin` … `end` − 1; the round before must be written already."""
    for board in range(begin, end):
        _realize_board(tree, r, board, behaviour, plan, plan, 0.0, False)


@part(forceinline=False)
def renew_boards(tree, r, begin, end, behaviour, plan, average, weight):
    """Add `weight` times the boards' blocks of `plan` to `average`, then realize them again."""
    for board in range(begin, end):
        _realize_board(tree, r, board, behaviour, plan, average, weight, True)


@part(forceinline=False, fastmath={"reassoc", "contract"})  # sums in any order, to vectorise
def gradient_boards(own, other, leaves, pairs, player, r, boards, plan, out, shifts, sums):
    """Write the values of the rows of boards given the opponent's plan: the leaves of the round.

    `boards` is (begin, end). Blocks start `shifts` places earlier in `plan` and in `out` than the
    treeplexes say.
    """
    for board in range(boards[0], boards[1]):
        theirs, start = other.block_start[board] - shifts[0], own.block_start[board] - shifts[1]
        gradient_board(
            own, other, leaves, pairs, player, r, board, own.num_sequences[r], plan, theirs, out,
            start, sums,
        )  # fmt: skip


@part(forceinline=False)
def gather_boards(tree, r, begin, end, values):
    """Add the entries of all boards of the next round to the rows that lead there."""
    for board in range(begin, end):
        for child in range(tree.child_start[board], tree.child_start[board + 1]):
            gather_child(tree, r, board, child, values)


@part(forceinline=False)
def fold_boards(tree, rule, r, boards, values, shift, behaviour, table, factors):
    """Fold up the values of boards by a rule; those of the next round must be gathered already.

    `boards` is (begin, end). Blocks start `shift` places earlier in `values`.
    """
    for board in range(boards[0], boards[1]):
        _fold_board(tree, rule, r, board, values, np.uint64(shift), behaviour, table, factors)


@part(forceinline=False)
def fold_boards_partly(tree, rule, r, boards, arrays, factors, given, share):
    """Fold up the values of boards whose decisions are partly given (see the reference)."""
    for board in range(boards[0], boards[1]):
        _fold_board_partly(tree, rule, r, board, arrays, factors, given, share)

"""CFR by tables on one board of the last round (see `table_sweeps.py`).

A table of the last round has only the rows of actions: blocks [Q − E, S] of boards, one after the
other. Behaviour is the table, matched: each action in proportion to its positive number, uniform if
none is positive, or if their sum does not count (see `regret_matching`).
"""

from __future__ import annotations

import numpy as np

from equilibrist.kernels.cpu.simd import (
    LANES,
    as_wide,
    choose,
    if_counted,
    load,
    spread,
    store,
)
from equilibrist.kernels.decision_rules import BEST, EXPECTATION, REGRET, SMALLEST
from equilibrist.kernels.parts import part

MOST = 32767  # the largest number of 16 bits

# --- one board of the last round ------------------------------------------------------------------


@part
def entries(tree):
    """Return the number of rows that enter the last round."""
    return np.uint64(tree.entry_start[-1] - tree.entry_start[-2])


@part
def states_before(tree, board):
    """Return the number of states of the last round's boards before this one."""
    return np.uint64(tree.state_start[board] - tree.state_start[tree.board_start[-2]])


@part
def table_start(tree, board):
    """Return where a board's block starts in a table of the last round."""
    rows = np.uint64(tree.num_sequences[-1]) - entries(tree)
    return rows * states_before(tree, board)


@part
def _enter(tree, board, trunk, plan, start):
    """Copy the reach of a board's entries from the round before; it is 1 in the first round."""
    states, r = np.uint64(tree.num_states[board]), len(tree.num_sequences) - 1
    for e in range(entries(tree)):
        own = start + np.uint64(e) * states
        if r == 0:
            for s in range(states):
                plan[own + s] = 1.0
        else:
            row = tree.entry_parent[tree.entry_start[r] + np.int64(e)]
            above = tree.board_parent[board]
            up = np.uint64(tree.block_start[above] + row * tree.num_states[above])
            first = np.uint64(tree.state_start[board])
            for s in range(states):
                plan[own + s] = trunk[up + np.uint64(tree.state_parent[first + s])]


@part(forceinline=False)
def realize(tree, board, trunk, table, base, plan, start, average, weight):
    """Write a board's block of a plan, from its matched table, which starts at `base`.

    The block starts at `plan[start]`. Unless `weight` is negative, the plan is added to `average`,
    which also starts at `base`, with that weight.
    """
    states, r = np.uint64(tree.num_states[board]), len(tree.num_sequences) - 1
    zero, eight = plan.dtype.type(0), np.uint64(LANES)
    whole = states - states % eight
    _enter(tree, board, trunk, plan, start)
    for d in range(tree.decision_start[r], tree.decision_start[r + 1]):
        up = start + np.uint64(tree.decision_parent[d]) * states
        first, size = np.uint64(tree.decision_first[d]), np.uint64(tree.decision_size[d])
        own, at = start + first * states, base + (first - entries(tree)) * states
        for s in range(np.uint64(0), whole, eight):
            _share_out(
                table, at + s, plan, up + s, own + s, average, size, states, weight, spread(zero)
            )
        for s in range(whole, states):
            _share_out(table, at + s, plan, up + s, own + s, average, size, states, weight, zero)


@part
def _share_out(table, at, plan, up, own, average, size, states, weight, zero):
    """Split the reach of a decision by its table, in one vector as wide as `zero`."""
    one, total = as_wide(plan.dtype.type(1), zero), zero
    j = at
    for _ in range(size):
        number = load(table, j, zero)
        total = total + choose(number, number, zero)
        j += states
    reach = load(plan, up, zero)
    alike = reach * as_wide(plan.dtype.type(1) / plan.dtype.type(size), zero)
    even = if_counted(total, zero, alike)
    share = if_counted(total, reach, zero) / if_counted(total, total, one)
    i, j = own, at
    for _ in range(size):
        number = load(table, j, zero)
        taken = choose(number, number, zero) * share + even
        store(plan, i, taken)
        if weight >= 0:
            store(average, j, load(average, j, zero) + as_wide(weight, zero) * taken)
        i += states
        j += states


@part(forceinline=False)
def fold(tree, rule, board, values, table, base, factors):
    """Fold up a board's block of values; its matched table is the behaviour, updated by REGRET."""
    states, r = np.uint64(tree.num_states[board]), len(tree.num_sequences) - 1
    zero, eight = values.dtype.type(0), np.uint64(LANES)
    whole = states - states % eight
    for back in range(tree.decision_start[r + 1] - tree.decision_start[r]):
        d = tree.decision_start[r + 1] - 1 - back
        up = np.uint64(tree.decision_parent[d]) * states
        first, size = np.uint64(tree.decision_first[d]), np.uint64(tree.decision_size[d])
        own, at = first * states, base + (first - entries(tree)) * states
        chosen = EXPECTATION if tree.locked[d] else rule
        for s in range(np.uint64(0), whole, eight):
            _decide(
                chosen, values, up + s, own + s, table, at + s, factors, size, states, spread(zero)
            )
        for s in range(whole, states):
            _decide(chosen, values, up + s, own + s, table, at + s, factors, size, states, zero)


@part
def _decide(rule, values, up, own, table, at, factors, size, states, zero):
    """Add the value of a decision to the row that leads there; REGRET updates the regrets."""
    total, mean, plain = zero, zero, zero
    best = load(values, own, zero)
    i, j = own, at
    for _ in range(size):
        number, value = load(table, j, zero), load(values, i, zero)
        number = choose(number, number, zero)
        total = total + number
        mean = mean + number * value
        plain = plain + value
        best = choose(value - best, value, best)
        i += states
        j += states
    one = as_wide(values.dtype.type(1), zero)
    even = plain * as_wide(values.dtype.type(1) / values.dtype.type(size), zero)
    mean = if_counted(total, mean / if_counted(total, total, one), even)
    if rule == BEST:
        mean = best
    store(values, up, load(values, up, zero) + mean)
    if rule == REGRET:
        positive, negative = as_wide(factors[0], zero), as_wide(factors[1], zero)
        i, j = own, at
        for _ in range(size):
            regret = load(table, j, zero) + load(values, i, zero) - mean
            store(table, j, regret * choose(regret, positive, negative))
            i += states
            j += states


# --- numbers of 16 bits ---------------------------------------------------------------------------


@part(forceinline=False)
def unpack(tree, board, numbers, scales, block):
    """Write into `block` the numbers of a board's rows: shares of the largest, times it."""
    states, base = np.uint64(tree.num_states[board]), table_start(tree, board)
    rows = np.uint64(tree.num_sequences[-1]) - entries(tree)
    first, eight = np.uint64(board - tree.board_start[-2]) * rows, np.uint64(LANES)
    zero, whole = block.dtype.type(0), states - states % eight
    for row in range(rows):
        unit, at = scales[first + row] / block.dtype.type(MOST), row * states
        for s in range(at, at + whole, eight):
            store(block, s, load(numbers, base + s, spread(zero)) * spread(unit))
        for s in range(at + whole, at + states):
            block[s] = numbers[base + s] * unit


@part(forceinline=False)
def pack(tree, board, block, numbers, scales, lanes):
    """Write a board's rows as shares of their largest number, to the nearest 1 / 32767.

    A row whose largest number is below SMALLEST becomes zeros. `lanes` [8] is work space.
    """
    states, base = np.uint64(tree.num_states[board]), table_start(tree, board)
    rows = np.uint64(tree.num_sequences[-1]) - entries(tree)
    first, eight = np.uint64(board - tree.board_start[-2]) * rows, np.uint64(LANES)
    zero, half = block.dtype.type(0), block.dtype.type(0.5)
    none, whole = spread(zero), states - states % eight
    for row in range(rows):
        at, most = row * states, none
        for s in range(at, at + whole, eight):
            number = load(block, s, none)
            size = choose(number, number, none - number)
            most = choose(size - most, size, most)
        store(lanes, np.uint64(0), most)
        largest = zero
        for lane in range(LANES):
            largest = max(largest, lanes[lane])
        for s in range(at + whole, at + states):
            largest = max(largest, abs(block[s]))
        largest = largest if largest >= SMALLEST else zero
        scales[first + row] = largest
        unit = block.dtype.type(MOST) / largest if largest > 0 else zero
        for s in range(at, at + whole, eight):
            share = load(block, s, none) * spread(unit)
            store(numbers, base + s, share + choose(share, spread(half), spread(-half)))
        for s in range(at + whole, at + states):
            share = block[s] * unit
            numbers[base + s] = np.int16(share + (half if share > 0 else -half))

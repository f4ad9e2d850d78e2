"""CFR by tables on a section of one board of the last round (see `table_sweeps.py`).

A table of the last round has only the rows of actions: blocks [Q − E, S] of boards, one after the
other. Behaviour is the table, matched: each action in proportion to its positive number, uniform if
none is positive, or if their sum does not count (see `regret_matching`).

Plans and values are those of a section `k` of a player's rows (`Sections`). `rows` are the rows of
decisions in the table: `Sections.row`, or those in a section's unpacked block.
"""

from __future__ import annotations

import numpy as np

from equilibrist.kernels.cpu.simd import (
    LANES,
    as_wide,
    choose,
    if_counted,
    load,
    load_some,
    spread,
    spread_line,
    store,
    store_some,
    width_of,
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
def _enter(tree, cut, k, board, trunk, plan):
    """Copy the reach of a section's entries from the round before; it is 1 in the first round."""
    states, r = np.uint64(tree.num_states[board]), len(tree.num_sequences) - 1
    own = np.uint64(0)
    for e in range(cut.entry_start[k], cut.entry_start[k + 1]):
        if r == 0:
            for s in range(states):
                plan[own + s] = 1.0
        else:
            row = tree.entry_parent[tree.entry_start[r] + cut.entry[e]]
            above = tree.board_parent[board]
            up = np.uint64(tree.block_start[above] + row * tree.num_states[above])
            first = np.uint64(tree.state_start[board])
            for s in range(states):
                plan[own + s] = trunk[up + np.uint64(tree.state_parent[first + s])]
        own += states


@part
def realize(tree, cut, k, rows, board, trunk, table, base, plan, average, weight):
    """Write a section's block of a plan, from its matched table, whose board starts at `base`.

    Unless `weight` is negative, the plan is added to `average`, which also starts at `base`, with
    that weight.
    """
    states, zero = np.uint64(tree.num_states[board]), spread_line(plan.dtype.type(0))
    whole = states - states % width_of(zero)
    _enter(tree, cut, k, board, trunk, plan)
    for d in range(cut.decision_start[k], cut.decision_start[k + 1]):
        up, own = (
            np.uint64(cut.decision_parent[d]) * states,
            np.uint64(cut.decision_first[d]) * states,
        )
        at, size = base + np.uint64(rows[d]) * states, np.uint64(cut.decision_size[d])
        for s in range(np.uint64(0), whole, width_of(zero)):
            _share_out(
                table, at + s, plan, up + s, own + s, average, size, states, weight, zero, None
            )
        if whole < states:
            _share_out(
                table, at + whole, plan, up + whole, own + whole, average, size, states, weight,
                zero, states - whole,
            )  # fmt: skip


@part
def _share_out(table, at, plan, up, own, average, size, states, weight, zero, count):
    """Split the reach of a decision by its table, in one vector of states, or `count` of them."""
    one, total = as_wide(plan.dtype.type(1), zero), zero
    j = at
    for _ in range(size):
        number = load_some(table, j, zero, count)
        total = total + choose(number, number, zero)
        j += states
    reach = load_some(plan, up, zero, count)
    alike = reach * as_wide(plan.dtype.type(1) / plan.dtype.type(size), zero)
    even = if_counted(total, zero, alike)
    share = if_counted(total, reach, zero) / if_counted(total, total, one)
    i, j = own, at
    for _ in range(size):
        number = load_some(table, j, zero, count)
        taken = choose(number, number, zero) * share + even
        store_some(plan, i, taken, count)
        if weight >= 0:
            before = load_some(average, j, zero, count)
            store_some(average, j, before + as_wide(weight, zero) * taken, count)
        i += states
        j += states


@part
def fold(tree, cut, k, rows, rule, board, values, table, base, factors):
    """Fold up a section's values; its matched table is the behaviour, updated by REGRET."""
    states, zero = np.uint64(tree.num_states[board]), spread_line(values.dtype.type(0))
    whole = states - states % width_of(zero)
    for back in range(cut.decision_start[k + 1] - cut.decision_start[k]):
        d = cut.decision_start[k + 1] - 1 - back
        up, own = (
            np.uint64(cut.decision_parent[d]) * states,
            np.uint64(cut.decision_first[d]) * states,
        )
        at, size = base + np.uint64(rows[d]) * states, np.uint64(cut.decision_size[d])
        chosen = EXPECTATION if cut.locked[d] else rule
        for s in range(np.uint64(0), whole, width_of(zero)):
            _decide(
                chosen, values, up + s, own + s, table, at + s, factors, size, states, zero, None
            )
        if whole < states:
            _decide(
                chosen, values, up + whole, own + whole, table, at + whole, factors, size, states,
                zero, states - whole,
            )  # fmt: skip


@part
def _decide(rule, values, up, own, table, at, factors, size, states, zero, count):
    """Add the value of a decision to the row that leads there; REGRET updates the regrets."""
    total, mean, plain = zero, zero, zero
    best = load_some(values, own, zero, count)
    i, j = own, at
    for _ in range(size):
        number, value = load_some(table, j, zero, count), load_some(values, i, zero, count)
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
    store_some(values, up, load_some(values, up, zero, count) + mean, count)
    if rule == REGRET:
        positive, negative = as_wide(factors[0], zero), as_wide(factors[1], zero)
        i, j = own, at
        for _ in range(size):
            regret = load_some(table, j, zero, count) + load_some(values, i, zero, count) - mean
            store_some(table, j, regret * choose(regret, positive, negative), count)
            i += states
            j += states


# --- numbers of 16 bits ---------------------------------------------------------------------------


@part(forceinline=False)
def unpack(tree, cut, k, board, numbers, scales, block):
    """Write into `block` the numbers of a section's rows: shares of the largest, times it."""
    states, base = np.uint64(tree.num_states[board]), table_start(tree, board)
    num_rows = np.uint64(tree.num_sequences[-1]) - entries(tree)
    first, eight = np.uint64(board - tree.board_start[-2]) * num_rows, np.uint64(LANES)
    zero, whole = block.dtype.type(0), states - states % eight
    into = np.uint64(0)
    for d in range(cut.decision_start[k], cut.decision_start[k + 1]):
        for row in range(np.uint64(cut.row[d]), np.uint64(cut.row[d] + cut.decision_size[d])):
            unit, at = scales[first + row] / block.dtype.type(MOST), base + row * states
            for s in range(np.uint64(0), whole, eight):
                store(block, into + s, load(numbers, at + s, spread(zero)) * spread(unit))
            for s in range(whole, states):
                block[into + s] = numbers[at + s] * unit
            into += states


@part(forceinline=False)
def pack(tree, cut, k, board, block, numbers, scales, lanes):
    """Write a section's rows as shares of their largest number, to the nearest 1 / 32767.

    A row whose largest number is below SMALLEST becomes zeros. `lanes` [8] is work space.
    """
    states, base = np.uint64(tree.num_states[board]), table_start(tree, board)
    num_rows = np.uint64(tree.num_sequences[-1]) - entries(tree)
    first, eight = np.uint64(board - tree.board_start[-2]) * num_rows, np.uint64(LANES)
    zero, half = block.dtype.type(0), block.dtype.type(0.5)
    none, whole = spread(zero), states - states % eight
    at = np.uint64(0)
    for d in range(cut.decision_start[k], cut.decision_start[k + 1]):
        for row in range(np.uint64(cut.row[d]), np.uint64(cut.row[d] + cut.decision_size[d])):
            most, into = none, base + row * states
            for s in range(np.uint64(0), whole, eight):
                number = load(block, at + s, none)
                size = choose(number, number, none - number)
                most = choose(size - most, size, most)
            store(lanes, np.uint64(0), most)
            largest = zero
            for lane in range(LANES):
                largest = max(largest, lanes[lane])
            for s in range(whole, states):
                largest = max(largest, abs(block[at + s]))
            largest = largest if largest >= SMALLEST else zero
            scales[first + row] = largest
            unit = block.dtype.type(MOST) / largest if largest > 0 else zero
            for s in range(np.uint64(0), whole, eight):
                share = load(block, at + s, none) * spread(unit)
                store(numbers, into + s, share + choose(share, spread(half), spread(-half)))
            for s in range(whole, states):
                share = block[at + s] * unit
                numbers[into + s] = np.int16(share + (half if share > 0 else -half))
            at += states

"""Leaves of a board: the value of each row of a player given the opponent's plan.

One loop over leaves, four kinds of pairs: matrices, one-card hands by states, and two-card hands at
folds or showdowns. Several leaves of sorted hands are summed side by side, because the sum over
hands in order of value is a chain of additions: four with one-card hands, where the compiler finds
the vectors; with two-card hands the number that fills a cache line, by `simd.py`: 16 in float32, 8
in float64. Lanes beyond the last leaf repeat it and have no effect.

Sums have the plan's type; those of float32 are accurate to about 1e-6 of the total weight.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from equilibrist.kernels.array_structs import CardPairs, HandPairs, MatrixPairs
from equilibrist.kernels.cpu.simd import (
    LANES,
    LINE,
    add_turned,
    as_wide,
    load,
    spread_line,
    store,
    turn,
    width_of,
)
from equilibrist.kernels.parts import part, part_by_type

NO_CARD = 52  # the second card of a one-card hand
FEW_LANES = 4  # number of leaves of one-card hands that are summed side by side


def leaf_space(num_states: int, dtype: Any, threads: int = 1) -> NDArray[Any]:
    """Allocate `gradient_board`'s work space for `num_states` states: a row for each thread.

    Rows are aligned to a cache line.
    """
    kind = np.dtype(dtype)
    line = LINE // kind.itemsize
    length = (2 * num_states + NO_CARD + 3) * line
    space = np.empty(threads * length + line, kind)
    start = (-space.ctypes.data % LINE) // kind.itemsize
    return space[start : start + threads * length].reshape(threads, length)


@part
def gradient_board(own, other, leaves, pairs, player, r, board, plan, theirs, out, start, sums):
    """Write the value of each row of a board given the opponent's plan: all its leaves.

    The opponent's block starts at `plan[theirs]`; the board's block of values is written from
    `out[start]` on.
    """
    states, length = own.num_states[board], own.block_start[board + 1] - own.block_start[board]
    for i in range(np.uint64(start), np.uint64(start + length)):
        out[i] = 0.0
    spots = (player, r, start, states, theirs, other.num_states[board])
    _add_leaves(pairs, leaves, board, spots, plan, out, sums)


def _add_leaves(pairs, leaves, board, spots, plan, out, sums):
    """Add the values of all leaves of a board, by the form of its pairs."""
    raise NotImplementedError


@part_by_type(_add_leaves)
def _leaves_of_form(pairs, leaves, board, spots, plan, out, sums):
    forms = {MatrixPairs: _add_matrices, HandPairs: _add_hands, CardPairs: _add_cards}
    return forms[pairs.instance_class]


def _add_hands(pairs, leaves, board, spots, plan, out, sums):
    """Add the leaves of two-card hands."""
    wide = np.int64(width_of(spread_line(plan.dtype.type(0))))
    for leaf in range(0, _count(leaves, spots[1])[1], wide):
        _sorted_leaves(pairs, leaves, board, leaf, spots, plan, out, sums)


def _add_matrices(pairs, leaves, board, spots, plan, out, sums):
    """Add the leaves of states that meet by matrices.

    The matrices are for player 0: for player 1 they are transposed, and W changes its sign.
    """
    player, r, start, states, theirs, their_states = spots
    sign, matrix = 1.0 if player == 0 else -1.0, pairs.matrix_start[board]
    for leaf in range(leaves.fold_start[r], leaves.fold_start[r + 1]):
        mine = start + leaves.fold_rows[leaf, player] * states
        yours = theirs + leaves.fold_rows[leaf, 1 - player] * their_states
        stake = leaves.fold_payoff[leaf, player]
        _dense(pairs.joint, matrix, player, stake, plan, yours, their_states, out, mine, states)
    for leaf in range(leaves.showdown_start[r], leaves.showdown_start[r + 1]):
        mine = start + leaves.showdown_rows[leaf, player] * states
        yours = theirs + leaves.showdown_rows[leaf, 1 - player] * their_states
        stake = sign * leaves.showdown_stake[leaf]
        _dense(pairs.win, matrix, player, stake, plan, yours, their_states, out, mine, states)


def _add_cards(pairs, leaves, board, spots, plan, out, sums):
    """Add the leaves of one-card hands."""
    player, r, start, states, theirs, their_states = spots
    for leaf in range(leaves.fold_start[r], leaves.fold_start[r + 1]):
        mine = start + leaves.fold_rows[leaf, player] * states
        yours = theirs + leaves.fold_rows[leaf, 1 - player] * their_states
        stake = leaves.fold_payoff[leaf, player]
        _single_fold(pairs, board, stake, plan, yours, out, mine, states)
    begin, end = leaves.showdown_start[r], leaves.showdown_start[r + 1]
    for leaf in range(begin, end, FEW_LANES):
        b, c, d = min(leaf + 1, end - 1), min(leaf + 2, end - 1), min(leaf + 3, end - 1)
        rows, chips, weight = leaves.showdown_rows, leaves.showdown_stake, pairs.weight[board]
        mine = (
            np.uint64(start + rows[leaf, player] * states),
            np.uint64(start + rows[b, player] * states),
            np.uint64(start + rows[c, player] * states),
            np.uint64(start + rows[d, player] * states),
        )
        yours = (
            np.uint64(theirs + rows[leaf, 1 - player] * their_states),
            np.uint64(theirs + rows[b, 1 - player] * their_states),
            np.uint64(theirs + rows[c, 1 - player] * their_states),
            np.uint64(theirs + rows[d, 1 - player] * their_states),
        )
        kind = plan.dtype.type
        stakes = (
            kind(weight * chips[leaf]),
            kind(weight * chips[b] if leaf + 1 < end else 0.0),
            kind(weight * chips[c] if leaf + 2 < end else 0.0),
            kind(weight * chips[d] if leaf + 3 < end else 0.0),
        )
        _single_showdown(pairs, board, stakes, plan, yours, out, mine, sums)


@part
def _dense(matrix, start, player, stake, plan, yours, their_states, out, mine, states):
    """Add stake · M y to our row; M is [our states, their states] for player 0, else transposed."""
    if player == 0:
        for s in range(states):
            total = 0.0
            for t in range(their_states):
                total += matrix[start + s * their_states + t] * plan[yours + t]
            out[mine + s] += stake * total
    else:
        for t in range(their_states):
            weight = stake * plan[yours + t]
            for s in range(states):
                out[mine + s] += matrix[start + t * states + s] * weight


@part
def _single_fold(pairs, board, stake, plan, yours, out, mine, states):
    """Add the opponent's weight without that of our own card; a state counts with all its hands."""
    first, ours, theirs = np.uint64(pairs.state_start[board]), np.uint64(mine), np.uint64(yours)
    total = plan.dtype.type(0)
    for s in range(np.uint64(states)):
        total += pairs.state_size[first + s] * plan[theirs + s]
    chips = plan.dtype.type(stake * pairs.weight[board])
    for s in range(np.uint64(states)):
        out[ours + s] += chips * pairs.state_size[first + s] * (total - plan[theirs + s])


@part
def _single_showdown(pairs, board, stakes, plan, yours, out, mine, sums):
    """Add the opponent's weight below us less that above us; our own card is in neither."""
    begin, end = pairs.state_start[board], pairs.state_start[board + 1]
    m0, m1, m2, m3 = mine
    y0, y1, y2, y3 = yours
    c0, c1, c2, c3 = stakes
    one, two, three, lanes = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(FEW_LANES)
    t0 = t1 = t2 = t3 = plan.dtype.type(0)
    at = np.uint64(0)
    sums[at] = sums[at + one] = sums[at + two] = sums[at + three] = 0.0
    for k in range(np.uint64(begin), np.uint64(end)):
        s = np.uint64(pairs.state_order[k])
        size = pairs.state_size[np.uint64(begin) + s]
        t0 += size * plan[y0 + s]
        t1 += size * plan[y1 + s]
        t2 += size * plan[y2 + s]
        t3 += size * plan[y3 + s]
        at += lanes
        sums[at] = t0
        sums[at + one] = t1
        sums[at + two] = t2
        sums[at + three] = t3
    for k in range(np.uint64(begin), np.uint64(end)):
        s = np.uint64(pairs.state_order[k])
        size = pairs.state_size[np.uint64(begin) + s]
        below = np.uint64(pairs.state_below[k, 0]) * lanes
        up_to = np.uint64(pairs.state_below[k, 1]) * lanes
        out[m0 + s] += c0 * size * (sums[below] + sums[up_to] - t0)
        out[m1 + s] += c1 * size * (sums[below + one] + sums[up_to + one] - t1)
        out[m2 + s] += c2 * size * (sums[below + two] + sums[up_to + two] - t2)
        out[m3 + s] += c3 * size * (sums[below + three] + sums[up_to + three] - t3)


@part
def _sorted_leaves(pairs, leaves, board, leaf, spots, plan, out, sums):
    """Add the leaves of two-card hands that fill a vector, starting at `leaf`; folds come first.

    The total weight is a sum, and so is that of the hands with each card: the weight of hands with
    our two cards is subtracted, which subtracts our own hand twice. `sums` holds rows of leaves:
    one for each card; chips; 1 at showdowns; the weight of each state, which its value replaces;
    and work space for the states of one value.
    """
    num_states, kind, zero = np.uint64(spots[3]), plan.dtype.type, spread_line(plan.dtype.type(0))
    wide, (num_folds, num_leaves) = width_of(zero), _count(leaves, spots[1])
    chips, shown, weights = _row(NO_CARD, zero), _row(NO_CARD + 1, zero), _row(NO_CARD + 2, zero)
    for lane in range(wide):
        at = leaf + np.int64(lane)
        stake = pairs.weight[board] * _stake(leaves, min(at, num_leaves - 1), spots)
        sums[chips + lane] = kind(stake if at < num_leaves else 0.0)
        sums[shown + lane] = kind(1 if at >= num_folds else 0)
    stakes = load(sums, chips, zero)
    _gather(leaves, leaf, spots, plan, sums, weights, wide)
    total = _weigh_all(pairs, board, sums, weights, zero)
    if min(leaf + np.int64(wide), num_leaves) <= num_folds:
        _fold(pairs, board, num_states, sums, weights, total, stakes, zero)
    else:
        is_shown = load(sums, shown, zero)
        _show(pairs, board, num_states, sums, weights, total, stakes, is_shown, zero)
    _scatter(leaves, leaf, spots, sums, weights, wide, out)


@part
def _row(number, zero):
    """Return where a row of the work space starts."""
    return np.uint64(number) * width_of(zero)


@part
def _weigh_all(pairs, board, sums, weights, zero):
    """Write the weight of the hands with each card (a hand has two) and return the total weight."""
    wide, total = width_of(zero), zero
    for card in range(np.uint64(0), _row(NO_CARD, zero), wide):
        store(sums, card, zero)
    for h in range(np.uint64(pairs.hand_start[board]), np.uint64(pairs.hand_start[board + 1])):
        weight = load(sums, weights + _row(pairs.hand_state[h], zero), zero)
        _add_to_cards(pairs, h, sums, weight, zero)
    for card in range(np.uint64(0), _row(NO_CARD, zero), wide):
        total = total + load(sums, card, zero)
    return total * as_wide(sums.dtype.type(0.5), zero)


@part
def _add_to_cards(pairs, h, sums, weight, zero):
    """Add a weight to the sums of both cards of a hand."""
    a, b = _row(pairs.hand_cards[h, 0], zero), _row(pairs.hand_cards[h, 1], zero)
    of_a, of_b = load(sums, a, zero) + weight, load(sums, b, zero) + weight
    store(sums, a, of_a)
    store(sums, b, of_b)


@part
def _blocked(pairs, k, sums, zero):
    """Return the weight of the hands with either card of a state; states in order of value."""
    a, b = _row(pairs.state_cards[k, 0], zero), _row(pairs.state_cards[k, 1], zero)
    return load(sums, a, zero) + load(sums, b, zero)


@part
def _fold(pairs, board, num_states, sums, weights, total, stakes, zero):
    """Turn weights into values at folds: total less blocked weight, plus the own weight."""
    first = np.uint64(pairs.state_start[board])
    for k in range(first, first + num_states):
        state = np.uint64(pairs.state_order[k])
        size = as_wide(sums.dtype.type(pairs.state_size[first + state]), zero)
        place = weights + _row(state, zero)
        value = load(sums, place, zero) + total - _blocked(pairs, k, sums, zero)
        store(sums, place, value * stakes * size)


@part
def _show(pairs, board, num_states, sums, weights, total, stakes, shown, zero):
    """Turn weights into values at showdowns (1 in `shown`) and at the folds beside them (0).

    Sums start at minus half of the total, and hands are added in order of value: so they are half
    of what is below less what is above, before all hands of one value are added and after it. At a
    fold they start at half of the total and do not change, and the own weight is added once more.
    """
    half = as_wide(sums.dtype.type(0.5), zero) - shown
    folded = as_wide(sums.dtype.type(1), zero) - shown
    for card in range(np.uint64(0), _row(NO_CARD, zero), width_of(zero)):
        store(sums, card, load(sums, card, zero) * half)
    first, room = np.uint64(pairs.state_start[board]), weights + _row(num_states, zero)
    hand, last_hand = np.uint64(pairs.hand_start[board]), np.uint64(pairs.hand_start[board + 1])
    begin, now = first, total * half
    while begin < first + num_states:
        end = first + np.uint64(pairs.state_below[begin, 1])
        for k in range(begin, end):
            store(sums, room + _row(k - begin, zero), now - _blocked(pairs, k, sums, zero))
        next_hand = last_hand - np.uint64(pairs.hand_others[hand, 1])
        for h in range(hand, next_hand):
            place = weights + _row(pairs.hand_state[h], zero)
            weight = load(sums, place, zero) * shown
            now = now + weight
            _add_to_cards(pairs, h, sums, weight, zero)
        for k in range(begin, end):
            state = np.uint64(pairs.state_order[k])
            size = as_wide(sums.dtype.type(pairs.state_size[first + state]), zero)
            place = weights + _row(state, zero)
            value = now - _blocked(pairs, k, sums, zero)
            value = value + load(sums, room + _row(k - begin, zero), zero)
            value = value + folded * load(sums, place, zero)
            store(sums, place, value * stakes * size)
        begin, hand = end, next_hand


@part
def _gather(leaves, leaf, spots, plan, sums, weights, wide):
    """Write the opponent's rows of leaves side by side."""
    eight, num_states = np.uint64(LANES), np.uint64(spots[3])
    whole = num_states - num_states % eight
    for lane in range(np.uint64(0), wide, eight):
        rows = _rows(leaves, leaf + np.int64(lane), spots, False)
        for s in range(np.uint64(0), whole, eight):
            turn(plan, _from(rows, s), sums, weights + s * wide + lane, wide)
    for lane in range(wide):
        row = _place(leaves, leaf + np.int64(lane), spots, False)
        for s in range(whole, num_states):
            sums[weights + s * wide + lane] = plan[row + s]


@part
def _scatter(leaves, leaf, spots, sums, values, wide, out):
    """Add the values of leaves to our rows, some of which may be the same."""
    eight, num_states = np.uint64(LANES), np.uint64(spots[3])
    whole = num_states - num_states % eight
    for lane in range(np.uint64(0), wide, eight):
        rows = _rows(leaves, leaf + np.int64(lane), spots, True)
        for s in range(np.uint64(0), whole, eight):
            add_turned(sums, values + s * wide + lane, wide, out, _from(rows, s))
    for lane in range(wide):
        row = _place(leaves, leaf + np.int64(lane), spots, True)
        for s in range(whole, num_states):
            out[row + s] += sums[values + s * wide + lane]


@part
def _rows(leaves, leaf, spots, is_mine):
    """Return where the rows of eight leaves start."""
    a, b = _place(leaves, leaf, spots, is_mine), _place(leaves, leaf + 1, spots, is_mine)
    c, d = _place(leaves, leaf + 2, spots, is_mine), _place(leaves, leaf + 3, spots, is_mine)
    e, f = _place(leaves, leaf + 4, spots, is_mine), _place(leaves, leaf + 5, spots, is_mine)
    g, h = _place(leaves, leaf + 6, spots, is_mine), _place(leaves, leaf + 7, spots, is_mine)
    return a, b, c, d, e, f, g, h


@part
def _from(rows, s):
    """Return the index of a state in each of eight rows."""
    a, b, c, d, e, f, g, h = rows
    return a + s, b + s, c + s, d + s, e + s, f + s, g + s, h + s


@part
def _count(leaves, r):
    """Return the number of folds of a round, and of all its leaves."""
    num_folds = leaves.fold_start[r + 1] - leaves.fold_start[r]
    return num_folds, num_folds + leaves.showdown_start[r + 1] - leaves.showdown_start[r]


@part
def _place(leaves, leaf, spots, is_mine):
    """Return where our row of a leaf, or the opponent's, starts; past the end, the last leaf's."""
    player, r, start, states, theirs, their_states = spots
    num_folds, num_leaves = _count(leaves, r)
    leaf = min(leaf, num_leaves - 1)
    if not is_mine:
        player, start, states = 1 - player, theirs, their_states
    if leaf < num_folds:
        row = leaves.fold_rows[leaves.fold_start[r] + leaf, player]
    else:
        row = leaves.showdown_rows[leaves.showdown_start[r] + leaf - num_folds, player]
    return np.uint64(start + row * states)


@part
def _stake(leaves, leaf, spots):
    """Return the chips that we win at a leaf; at a showdown, if we win it."""
    player, r = spots[0], spots[1]
    num_folds, _ = _count(leaves, r)
    if leaf < num_folds:
        return leaves.fold_payoff[leaves.fold_start[r] + leaf, player]
    return leaves.showdown_stake[leaves.showdown_start[r] + leaf - num_folds]

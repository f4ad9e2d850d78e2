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

from equilibrist.kernels.array_structs import CardPairs, HandPairs, MatrixPairs, PairTables
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
_CARDS = 1  # row of the first card in the work space of two-card hands
FEW_LANES = 4  # number of leaves of one-card hands that are summed side by side


def leaf_space(pairs: tuple[PairTables, PairTables], dtype: Any, threads: int = 1) -> NDArray[Any]:
    """Allocate `gradient_board`'s work space for the boards of a game: a row for each thread.

    Rows are aligned to a cache line; `pairs` are those of both players.
    """
    kind = np.dtype(dtype)
    line = LINE // kind.itemsize
    hands = sum(_longest(own.state_start) + LANES for own in pairs)
    ties = max(_longest(own.tie_start) for own in pairs)
    length = (_CARDS + NO_CARD + hands + ties) * line
    space = np.empty(threads * length + line, kind)
    start = (-space.__array_interface__["data"][0] % LINE) // kind.itemsize
    return space[start : start + threads * length].reshape(threads, length)


def _longest(starts: NDArray[np.int64]) -> int:
    """Return the most numbers of a board, from where those of each board start."""
    return int((starts[1:] - starts[:-1]).max()) if len(starts) > 1 else 0


@part(forceinline=False)
def gradient_board(
    own, other, leaves, pairs, player, r, board, rows, plan, theirs, out, start, sums
):
    """Write the value of each of a board's `rows` given the opponent's plan: the leaves of `r`.

    The opponent's block starts at `plan[theirs]`; the board's block of values is written from
    `out[start]` on. `r` is the round, or the section where `leaves` are those of sections.
    """
    states = own.num_states[board]
    for i in range(np.uint64(start), np.uint64(start + rows * states)):
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
    num_folds, num_leaves = _count(leaves, spots[1])
    leaf = np.int64(0)
    while leaf < num_leaves:
        end = num_folds if leaf < num_folds else num_leaves
        _sorted_leaves(pairs, leaves, board, leaf, end, spots, plan, out, sums)
        leaf = min(leaf + wide, end)


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
def _sorted_leaves(pairs, leaves, board, leaf, end, spots, plan, out, sums):
    """Add the leaves of two-card hands that fill a vector, from `leaf` on: folds, or showdowns.

    `sums` holds rows of leaves: chips; the weight of the hands with each card; that of each state
    of the opponent; the value of each of ours, which replaces the weight if both have the same
    states; and one for each tie (`PairTables`).
    """
    zero = spread_line(plan.dtype.type(0))
    wide, num_folds = width_of(zero), _count(leaves, spots[1])[0]
    for lane in range(wide):
        at = leaf + np.int64(lane)
        stake = pairs.weight[board] * _stake(leaves, min(at, end - 1), spots)
        sums[lane] = plan.dtype.type(stake if at < end else 0.0)
    weights = _row(_CARDS + NO_CARD, zero)
    _gather(leaves, leaf, end, spots, plan, sums, weights, wide)
    values = weights
    if not pairs.is_shared:
        none, eight = weights + _row(spots[5], zero), np.uint64(LANES)
        store(sums, none, zero)  # the weight of hands that the opponent does not have
        values = weights + _row((np.uint64(spots[5]) // eight + np.uint64(1)) * eight, zero)
    if end <= num_folds:
        _fold(pairs, board, np.uint64(spots[3]), sums, (weights, values), zero)
    else:
        _show(pairs, board, np.uint64(spots[3]), sums, (weights, values), zero)
    _scatter(leaves, leaf, end, spots, sums, values, wide, out)


@part
def _row(number, zero):
    """Return where a row of the work space starts."""
    return np.uint64(number) * width_of(zero)


@part
def _fold(pairs, board, num_states, sums, places, zero):
    """Turn weights into values at folds: the total without the hands that a state's cards block.

    The weight of the hands with each of its two cards is subtracted, which subtracts the same hand
    twice.
    """
    weights, values = places
    first, hands = np.uint64(pairs.state_start[board]), np.uint64(2 * pairs.hand_start[board])
    ties, begin, total = np.uint64(pairs.tie_start[board]), hands, zero
    for card in range(np.uint64(NO_CARD)):
        last, end = np.uint64(pairs.card_ties[board, card]), begin
        if last:
            end = hands + np.uint64(pairs.tie_end[ties + last - np.uint64(1)])
        held = _weight_of(pairs, begin, end, sums, weights, zero)
        store(sums, _row(_CARDS + card, zero), held)
        total, begin = total + held, end
    stakes, total = load(sums, np.uint64(0), zero), total * as_wide(sums.dtype.type(0.5), zero)
    for k in range(first, first + num_states):
        state = np.uint64(pairs.state_order[k])
        size = as_wide(sums.dtype.type(pairs.state_size[first + state]), zero)
        same = load(sums, weights + _row(pairs.state_twin[k], zero), zero)
        a, b = np.uint64(pairs.state_cards[k, 0]), np.uint64(pairs.state_cards[k, 1])
        blocked = load(sums, _row(_CARDS + a, zero), zero) + load(
            sums, _row(_CARDS + b, zero), zero
        )
        store(sums, values + _row(state, zero), (total - blocked + same) * stakes * size)


@part
def _show(pairs, board, num_states, sums, places, zero):
    """Turn weights into values at showdowns: what is below a state less what is above it.

    The same difference of the hands with each of the state's cards is subtracted. It is that of the
    tie: twice the weight of lower values, plus the tie's own, less the total.
    """
    weights, values = places
    first, hands = np.uint64(pairs.state_start[board]), np.uint64(2 * pairs.hand_start[board])
    ties, one, wide = np.uint64(pairs.tie_start[board]), np.uint64(1), width_of(zero)
    by_tie = values + _row(num_states, zero)
    tie, at, total, half = np.uint64(0), hands, zero, as_wide(sums.dtype.type(0.5), zero)
    for card in range(np.uint64(NO_CARD)):
        begin, last, below = tie, np.uint64(pairs.card_ties[board, card]), zero
        while tie < last:
            end = hands + np.uint64(pairs.tie_end[ties + tie])
            held = _weight_of(pairs, at, end, sums, weights, zero)
            store(sums, by_tie + tie * wide, below + below + held)
            below, at, tie = below + held, end, tie + one
        for place in range(by_tie + begin * wide, by_tie + last * wide, wide):
            store(sums, place, load(sums, place, zero) - below)
        total = total + below
    stakes, now = load(sums, np.uint64(0), zero), zero - total * half * half  # hands count twice
    own, begin = np.uint64(pairs.hand_start[board]), first
    hand = own
    while begin < first + num_states:
        end, held = first + np.uint64(pairs.state_below[begin, 1]), zero
        worse, up_to = pairs.state_hands[begin, 0], pairs.state_hands[begin, 1]
        for h in range(hand, own + np.uint64(worse)):
            now = now + load(sums, weights + _row(pairs.hand_state[h], zero), zero)
        for h in range(own + np.uint64(worse), own + np.uint64(up_to)):
            held = held + load(sums, weights + _row(pairs.hand_state[h], zero), zero)
        here, now, hand = now + half * held, now + held, own + np.uint64(up_to)
        for k in range(begin, end):
            state = np.uint64(pairs.state_order[k])
            size = as_wide(sums.dtype.type(pairs.state_size[first + state]), zero)
            a, b = np.uint64(pairs.state_ties[k, 0]), np.uint64(pairs.state_ties[k, 1])
            blocked = load(sums, by_tie + a * wide, zero) + load(sums, by_tie + b * wide, zero)
            store(sums, values + _row(state, zero), (here + here - blocked) * stakes * size)
        begin = end


@part
def _weight_of(pairs, begin, end, sums, weights, zero):
    """Return the weight of some of a board's `card_hands`."""
    total = zero
    for i in range(begin, end):
        total = total + load(sums, weights + _row(pairs.card_hands[i], zero), zero)
    return total


@part
def _gather(leaves, leaf, end, spots, plan, sums, weights, wide):
    """Write the opponent's rows of leaves side by side, and zeros up to a multiple of eight."""
    eight, num_states = np.uint64(LANES), np.uint64(spots[5])
    whole = num_states - num_states % eight
    for lane in range(np.uint64(0), wide, eight):
        rows = _rows(leaves, leaf + np.int64(lane), end, spots, False)
        for s in range(np.uint64(0), whole, eight):
            turn(plan, _from(rows, s), sums, weights + s * wide + lane, wide, None)
        if whole < num_states:
            place, left = weights + whole * wide + lane, num_states - whole
            turn(plan, _from(rows, whole), sums, place, wide, left)


@part
def _scatter(leaves, leaf, end, spots, sums, values, wide, out):
    """Add the values of leaves to our rows, some of which may be the same."""
    eight, num_states = np.uint64(LANES), np.uint64(spots[3])
    whole = num_states - num_states % eight
    for lane in range(np.uint64(0), wide, eight):
        rows = _rows(leaves, leaf + np.int64(lane), end, spots, True)
        for s in range(np.uint64(0), whole, eight):
            add_turned(sums, values + s * wide + lane, wide, out, _from(rows, s), None)
        if whole < num_states:
            place, left = values + whole * wide + lane, num_states - whole
            add_turned(sums, place, wide, out, _from(rows, whole), left)


@part
def _rows(leaves, leaf, end, spots, is_mine):
    """Return where the rows of eight leaves start; past the end, the last leaf's."""
    one = np.int64(1)
    b, c, d, e = leaf + one, leaf + 2 * one, leaf + 3 * one, leaf + 4 * one
    f, g, h = leaf + 5 * one, leaf + 6 * one, leaf + 7 * one
    return (
        _place(leaves, min(leaf, end - 1), spots, is_mine),
        _place(leaves, min(b, end - 1), spots, is_mine),
        _place(leaves, min(c, end - 1), spots, is_mine),
        _place(leaves, min(d, end - 1), spots, is_mine),
        _place(leaves, min(e, end - 1), spots, is_mine),
        _place(leaves, min(f, end - 1), spots, is_mine),
        _place(leaves, min(g, end - 1), spots, is_mine),
        _place(leaves, min(h, end - 1), spots, is_mine),
    )


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
    """Return where our row of a leaf, or the opponent's, starts."""
    player, r, start, states, theirs, their_states = spots
    num_folds, _ = _count(leaves, r)
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

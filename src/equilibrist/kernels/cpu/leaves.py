"""The leaves of a board: what each row of a player is worth given the opponent's plan.

One loop over leaves, four kinds of pairs: matrices, one-card hands by states, and two-card hands
folding or shown. Of sorted hands several leaves are summed side by side, because the sum over hands
in order of value is a chain of additions: four of one card, where the compiler finds the vectors,
eight of two cards by `lanes.py`. Lanes beyond the last leaf repeat it for no chips.

Sums are of the plan's type; those of float32 are exact to about 1e-6 of all the weight.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from equilibrist.kernels.cpu.lanes import LANES, add_lanes, add_rest, take_rest

NO_CARD = 52  # the second card of a one-card hand
FEW_LANES = 4  # leaves of one-card hands that are summed side by side


@njit(cache=True, inline="always")
def leaf_space(num_states, dtype):
    """What `gradient_board` writes into on boards of so many states."""
    return np.empty(LANES * (2 * num_states + NO_CARD + 1), dtype)


@njit(cache=True, inline="always")
def gradient_board(own, other, leaves, pairs, player, r, board, plan, out, sums):
    """Writes the value of each row of a board given the opponent's plan: all its leaves."""
    start, states = own.block_start[board], own.num_states[board]
    theirs, their_states = other.block_start[board], other.num_states[board]
    for i in range(np.uint64(start), np.uint64(own.block_start[board + 1])):
        out[i] = 0.0
    sign = 1.0 if player == 0 else -1.0
    begin, end = leaves.fold_start[r], leaves.fold_start[r + 1]
    if pairs.is_sorted and not pairs.is_single:
        spots = (player, start, states, theirs, their_states)
        for leaf in range(begin, end, LANES):
            _sorted_leaves(
                pairs, board, False, leaves.fold_rows, leaves.fold_payoff, sign, leaf, end, spots,
                plan, out, sums,
            )  # fmt: skip
        begin, end = leaves.showdown_start[r], leaves.showdown_start[r + 1]
        for leaf in range(begin, end, LANES):
            _sorted_leaves(
                pairs, board, True, leaves.showdown_rows, leaves.showdown_stake, 1.0, leaf, end,
                spots, plan, out, sums,
            )  # fmt: skip
        return
    for leaf in range(begin, end):
        mine = start + leaves.fold_rows[leaf, player] * states
        yours = theirs + leaves.fold_rows[leaf, 1 - player] * their_states
        stake = sign * leaves.fold_payoff[leaf]
        if pairs.is_single:
            _single_fold(pairs, board, stake, plan, yours, out, mine, states)
        else:
            matrix = pairs.matrix_start[board]
            _dense(pairs.joint, matrix, player, stake, plan, yours, their_states, out, mine, states)
    begin, end = leaves.showdown_start[r], leaves.showdown_start[r + 1]
    if not pairs.is_single:
        for leaf in range(begin, end):
            mine = start + leaves.showdown_rows[leaf, player] * states
            yours = theirs + leaves.showdown_rows[leaf, 1 - player] * their_states
            # The matrix speaks for player 0: for player 1 sign and transposition turn it over.
            stake = sign * leaves.showdown_stake[leaf]
            matrix = pairs.matrix_start[board]
            _dense(pairs.win, matrix, player, stake, plan, yours, their_states, out, mine, states)
        return
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


@njit(cache=True, inline="always")
def _dense(matrix, start, player, stake, plan, yours, their_states, out, mine, states):
    """Adds stake · M y to our row; M is [our states, their states] for player 0, else turned."""
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


@njit(cache=True, inline="always")
def _single_fold(pairs, board, stake, plan, yours, out, mine, states):
    """All their weight less that of the one card we hold; a state is as often as its hands."""
    first, ours, theirs = np.uint64(pairs.state_start[board]), np.uint64(mine), np.uint64(yours)
    total = plan.dtype.type(0)
    for s in range(np.uint64(states)):
        total += pairs.state_size[first + s] * plan[theirs + s]
    chips = plan.dtype.type(stake * pairs.weight[board])
    for s in range(np.uint64(states)):
        out[ours + s] += chips * pairs.state_size[first + s] * (total - plan[theirs + s])


@njit(cache=True, inline="always")
def _single_showdown(pairs, board, stakes, plan, yours, out, mine, sums):
    """Their weight below us less their weight above us: our own card is in neither."""
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


@njit(cache=True, inline="always")
def _sorted_leaves(
    pairs, board, is_shown, rows, chips, sign, leaf, end, spots, plan, out, sums
):  # fmt: skip
    """Up to eight leaves of two-card hands, from `leaf` on.

    All their weight is a sum, and so is that of the hands with each card: `sums` holds one row of
    eight for each card, one for the total, one for each state's weight and one for its value. What
    hands with our two cards weigh is taken away, which takes our own hand away twice.

    At a fold the value of a state is the rest of all weight. At a showdown it is what is below it
    less what is above it: (below) + (up to it) − (all), where hands come into the sums in order.
    """
    first, num_states = np.uint64(pairs.state_start[board]), np.uint64(spots[2])
    hand, last_hand = np.uint64(pairs.hand_start[board]), np.uint64(pairs.hand_start[board + 1])
    lanes, total = np.uint64(LANES), np.uint64(LANES * NO_CARD)
    weights = total + lanes
    values = weights + num_states * lanes if is_shown else weights
    _gather(plan, rows, leaf, end, spots, num_states, sums, weights)
    for i in range(weights):
        sums[i] = 0.0
    if is_shown:
        for i in range(values, values + num_states * lanes):
            sums[i] = 0.0
        k = first
        while k < first + num_states:
            group = first + np.uint64(pairs.state_below[k, 1])
            last = last_hand - np.uint64(pairs.hand_others[hand, 1])
            _add_rests(pairs, k, group, sums, total, values, False)
            _weigh(pairs, hand, last, sums, total, weights)
            _add_rests(pairs, k, group, sums, total, values, False)
            k, hand = group, last
    else:
        _weigh(pairs, hand, last_hand, sums, total, weights)
    _add_rests(pairs, first, first + num_states, sums, total, values, is_shown)
    _scatter(pairs, board, rows, chips, sign, leaf, end, spots, sums, values, out)


@njit(cache=True, inline="always")
def _weigh(pairs, begin, end, sums, total, weights):
    """Adds the weights of some hands to the total and to the sums of their cards."""
    lanes = np.uint64(LANES)
    for h in range(begin, end):
        weight = weights + np.uint64(pairs.hand_state[h]) * lanes
        add_lanes(sums, total, sums, weight)
        add_lanes(sums, np.uint64(pairs.hand_cards[h, 0]) * lanes, sums, weight)
        add_lanes(sums, np.uint64(pairs.hand_cards[h, 1]) * lanes, sums, weight)


@njit(cache=True, inline="always")
def _add_rests(pairs, begin, end, sums, total, values, is_taken):
    """Adds the total less the sums of their cards to some states' values, or takes it away."""
    lanes = np.uint64(LANES)
    for k in range(begin, end):
        a = np.uint64(pairs.state_cards[k, 0]) * lanes
        b = np.uint64(pairs.state_cards[k, 1]) * lanes
        value = values + np.uint64(pairs.state_order[k]) * lanes
        if is_taken:
            take_rest(sums, value, sums, total, a, b)
        else:
            add_rest(sums, value, sums, total, a, b)


@njit(cache=True, inline="always")
def _gather(plan, rows, leaf, end, spots, num_states, sums, weights):
    """Writes the opponent's rows of eight leaves side by side."""
    y0, y1 = _place(rows, leaf, end, spots, False), _place(rows, leaf + 1, end, spots, False)
    y2, y3 = _place(rows, leaf + 2, end, spots, False), _place(rows, leaf + 3, end, spots, False)
    y4, y5 = _place(rows, leaf + 4, end, spots, False), _place(rows, leaf + 5, end, spots, False)
    y6, y7 = _place(rows, leaf + 6, end, spots, False), _place(rows, leaf + 7, end, spots, False)
    at = weights
    for s in range(num_states):
        w0, w1, w2, w3 = plan[y0 + s], plan[y1 + s], plan[y2 + s], plan[y3 + s]
        w4, w5, w6, w7 = plan[y4 + s], plan[y5 + s], plan[y6 + s], plan[y7 + s]
        sums[at], sums[at + np.uint64(1)] = w0, w1
        sums[at + np.uint64(2)], sums[at + np.uint64(3)] = w2, w3
        sums[at + np.uint64(4)], sums[at + np.uint64(5)] = w4, w5
        sums[at + np.uint64(6)], sums[at + np.uint64(7)] = w6, w7
        at += np.uint64(LANES)


@njit(cache=True, inline="always")
def _scatter(pairs, board, rows, chips, sign, leaf, end, spots, sums, values, out):
    """Adds the values of eight leaves to our rows, times chips, and hands of a state."""
    scale = sign * pairs.weight[board]
    m0, m1 = _place(rows, leaf, end, spots, True), _place(rows, leaf + 1, end, spots, True)
    m2, m3 = _place(rows, leaf + 2, end, spots, True), _place(rows, leaf + 3, end, spots, True)
    m4, m5 = _place(rows, leaf + 4, end, spots, True), _place(rows, leaf + 5, end, spots, True)
    m6, m7 = _place(rows, leaf + 6, end, spots, True), _place(rows, leaf + 7, end, spots, True)
    kind = out.dtype.type
    c0, c1 = kind(_stake(chips, leaf, end, scale)), kind(_stake(chips, leaf + 1, end, scale))
    c2, c3 = kind(_stake(chips, leaf + 2, end, scale)), kind(_stake(chips, leaf + 3, end, scale))
    c4, c5 = kind(_stake(chips, leaf + 4, end, scale)), kind(_stake(chips, leaf + 5, end, scale))
    c6, c7 = kind(_stake(chips, leaf + 6, end, scale)), kind(_stake(chips, leaf + 7, end, scale))
    at, first = values, np.uint64(pairs.state_start[board])
    for s in range(np.uint64(spots[2])):
        size = kind(pairs.state_size[first + s])
        v0, v1 = sums[at] * size, sums[at + np.uint64(1)] * size
        v2, v3 = sums[at + np.uint64(2)] * size, sums[at + np.uint64(3)] * size
        v4, v5 = sums[at + np.uint64(4)] * size, sums[at + np.uint64(5)] * size
        v6, v7 = sums[at + np.uint64(6)] * size, sums[at + np.uint64(7)] * size
        out[m0 + s] += c0 * v0
        out[m1 + s] += c1 * v1
        out[m2 + s] += c2 * v2
        out[m3 + s] += c3 * v3
        out[m4 + s] += c4 * v4
        out[m5 + s] += c5 * v5
        out[m6 + s] += c6 * v6
        out[m7 + s] += c7 * v7
        at += np.uint64(LANES)


@njit(cache=True, inline="always")
def _place(rows, leaf, end, spots, is_mine):
    """Where our row of a leaf begins, or the opponent's; beyond the last leaf, that of the last."""
    player, start, states, theirs, their_states = spots
    row = min(leaf, end - 1)
    if is_mine:
        return np.uint64(start + rows[row, player] * states)
    return np.uint64(theirs + rows[row, 1 - player] * their_states)


@njit(cache=True, inline="always")
def _stake(chips, leaf, end, scale):
    """Chips of a leaf times a scale; none beyond the last leaf."""
    return chips[min(leaf, end - 1)] * scale if leaf < end else 0.0

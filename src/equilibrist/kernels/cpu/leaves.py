"""The leaves of a board: what each row of a player is worth given the opponent's plan.

One loop over leaves, four kinds of pairs: matrices, one-card hands by states, and two-card hands
folding or shown. Of sorted hands several leaves are summed side by side, because the sum over hands
in order of value is a chain of additions: four of one card, where the compiler finds the vectors,
eight of two cards by `lanes.py`. Lanes beyond the last leaf repeat it and come to nothing.

Sums are of the plan's type; those of float32 are exact to about 1e-6 of all the weight.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from equilibrist.kernels.cpu.lanes import LANES, load, spread, store, turn

NO_CARD = 52  # the second card of a one-card hand
FEW_LANES = 4  # leaves of one-card hands that are summed side by side


@njit(cache=True, inline="always")
def leaf_space(num_states, dtype):
    """What `gradient_board` writes into on boards of so many states."""
    return np.empty(LANES * (3 * num_states + NO_CARD + 1), dtype)


@njit(cache=True, inline="always")
def gradient_board(own, other, leaves, pairs, player, r, board, plan, theirs, out, start, sums):
    """Writes the value of each row of a board given the opponent's plan: all its leaves.

    The opponent's block is in `plan` from `theirs` on; the board's block of values is written into
    `out` from `start` on.
    """
    states, length = own.num_states[board], own.block_start[board + 1] - own.block_start[board]
    their_states = other.num_states[board]
    for i in range(np.uint64(start), np.uint64(start + length)):
        out[i] = 0.0
    sign = 1.0 if player == 0 else -1.0
    if pairs.is_sorted and not pairs.is_single:
        spots = (player, r, start, states, theirs, their_states)
        for leaf in range(0, _count(leaves, r)[1], LANES):
            _sorted_leaves(pairs, leaves, board, leaf, spots, plan, out, sums)
        return
    begin, end = leaves.fold_start[r], leaves.fold_start[r + 1]
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
def _sorted_leaves(pairs, leaves, board, leaf, spots, plan, out, sums):
    """Up to eight leaves of two-card hands, from `leaf` on: those of a round, folds before others.

    All their weight is a sum, and so is that of the hands with each card: what hands with our two
    cards weigh is taken away, which takes our own hand away twice. `sums` holds rows of eight: one
    for each card; what the states add up to, in order of value; each state's weight; its value.
    """
    num_states, eight, totals = np.uint64(spots[3]), np.uint64(LANES), np.uint64(LANES * NO_CARD)
    weights = totals + (num_states + np.uint64(1)) * eight
    values = weights + num_states * eight
    places = (totals, weights, values)
    num_folds, num_leaves = _count(leaves, spots[1])
    is_shown = min(leaf + LANES, num_leaves) > num_folds
    zero = spread(plan.dtype.type(0))
    _gather(leaves, leaf, spots, plan, sums, weights)
    total = _add_up(pairs, board, num_states, sums, places, zero)
    for card in range(np.uint64(0), totals, eight):
        store(sums, card, zero)
    if is_shown:
        _show(pairs, board, num_states, sums, places, total, zero)
    else:
        begin, end = np.uint64(pairs.hand_start[board]), np.uint64(pairs.hand_start[board + 1])
        _weigh(pairs, begin, end, sums, weights, zero)
    if leaf < num_folds:
        _fold(pairs, board, num_states, sums, weights, total, zero)
    if is_shown:
        for fold in range(np.uint64(max(num_folds - leaf, 0))):
            for s in range(num_states):
                sums[values + s * eight + fold] = sums[weights + s * eight + fold]
    _scatter(pairs, leaves, board, leaf, spots, sums, values if is_shown else weights, out)


@njit(cache=True, inline="always")
def _fold(pairs, board, num_states, sums, weights, total, zero):
    """Turns weights into values at a fold: the rest of all weight, and the own weight once more."""
    first, eight = np.uint64(pairs.state_start[board]), np.uint64(LANES)
    for k in range(first, first + num_states):
        place = weights + np.uint64(pairs.state_order[k]) * eight
        value = load(sums, place, zero) + total - _blocked(pairs, k, sums, zero)
        store(sums, place, value)


@njit(cache=True, inline="always")
def _show(pairs, board, num_states, sums, places, total, zero):
    """Writes values at a showdown: what is below less what is above, (below) + (up to) − (all).

    Hands come into the sums of cards in order of value, all of one value together.
    """
    totals, weights, values = places
    first, eight = np.uint64(pairs.state_start[board]), np.uint64(LANES)
    hand, last_hand = np.uint64(pairs.hand_start[board]), np.uint64(pairs.hand_start[board + 1])
    begin = first
    while begin < first + num_states:
        end = first + np.uint64(pairs.state_below[begin, 1])
        around = load(sums, totals + (begin - first) * eight, zero) - total
        around = around + load(sums, totals + (end - first) * eight, zero)
        for k in range(begin, end):
            place = values + np.uint64(pairs.state_order[k]) * eight
            store(sums, place, around - _blocked(pairs, k, sums, zero))
        next_hand = last_hand - np.uint64(pairs.hand_others[hand, 1])
        _weigh(pairs, hand, next_hand, sums, weights, zero)
        for k in range(begin, end):
            place = values + np.uint64(pairs.state_order[k]) * eight
            store(sums, place, load(sums, place, zero) - _blocked(pairs, k, sums, zero))
        begin, hand = end, next_hand
    for k in range(first, first + num_states):
        place = values + np.uint64(pairs.state_order[k]) * eight
        store(sums, place, load(sums, place, zero) + _blocked(pairs, k, sums, zero))


@njit(cache=True, inline="always")
def _add_up(pairs, board, num_states, sums, places, zero):
    """All weight, after writing what the first k states in order of value weigh, for every k."""
    totals, weights, _ = places
    first, eight, total = np.uint64(pairs.state_start[board]), np.uint64(LANES), zero
    for k in range(num_states):
        store(sums, totals + k * eight, total)
        state = np.uint64(pairs.state_order[first + k])
        size = sums.dtype.type(pairs.state_size[first + state])
        total = total + load(sums, weights + state * eight, zero) * spread(size)
    store(sums, totals + num_states * eight, total)
    return total


@njit(cache=True, inline="always")
def _weigh(pairs, begin, end, sums, weights, zero):
    """Adds the weights of some hands to the sums of their cards."""
    eight = np.uint64(LANES)
    for h in range(begin, end):
        weight = load(sums, weights + np.uint64(pairs.hand_state[h]) * eight, zero)
        a, b = np.uint64(pairs.hand_cards[h, 0]) * eight, np.uint64(pairs.hand_cards[h, 1]) * eight
        store(sums, a, load(sums, a, zero) + weight)
        store(sums, b, load(sums, b, zero) + weight)


@njit(cache=True, inline="always")
def _blocked(pairs, k, sums, zero):
    """What the hands with either card of a state weigh; states in order of value."""
    eight = np.uint64(LANES)
    a, b = np.uint64(pairs.state_cards[k, 0]) * eight, np.uint64(pairs.state_cards[k, 1]) * eight
    return load(sums, a, zero) + load(sums, b, zero)


@njit(cache=True, inline="always")
def _gather(leaves, leaf, spots, plan, sums, weights):
    """Writes the opponent's rows of eight leaves side by side."""
    y0, y1 = _place(leaves, leaf, spots, False), _place(leaves, leaf + 1, spots, False)
    y2, y3 = _place(leaves, leaf + 2, spots, False), _place(leaves, leaf + 3, spots, False)
    y4, y5 = _place(leaves, leaf + 4, spots, False), _place(leaves, leaf + 5, spots, False)
    y6, y7 = _place(leaves, leaf + 6, spots, False), _place(leaves, leaf + 7, spots, False)
    rows = (y0, y1, y2, y3, y4, y5, y6, y7)
    eight, num_states = np.uint64(LANES), np.uint64(spots[3])
    if num_states >= eight:
        for begin in range(np.uint64(0), num_states, eight):
            last = num_states - eight  # the last block writes some states once more
            s = begin if begin < last else last
            places = (y0 + s, y1 + s, y2 + s, y3 + s, y4 + s, y5 + s, y6 + s, y7 + s)
            turn(plan, places, sums, weights + s * eight)
    else:
        for lane in range(LANES):
            for s in range(num_states):
                sums[weights + s * eight + np.uint64(lane)] = plan[rows[lane] + s]


@njit(cache=True, inline="always")
def _scatter(pairs, leaves, board, leaf, spots, sums, values, out):
    """Adds the values of eight leaves to our rows, times chips, and hands of a state."""
    first, num_states = np.uint64(pairs.state_start[board]), np.uint64(spots[3])
    eight, zero = np.uint64(LANES), spread(out.dtype.type(0))
    whole = num_states - num_states % eight
    for s in range(np.uint64(0), whole, eight):
        a = values + s * eight
        b, c, d = a + eight, a + np.uint64(2) * eight, a + np.uint64(3) * eight
        half = np.uint64(4) * eight
        turn(sums, (a, b, c, d, a + half, b + half, c + half, d + half), sums, a)
    for lane in range(min(LANES, _count(leaves, spots[1])[1] - leaf)):
        row = _place(leaves, leaf + lane, spots, True)
        stake = out.dtype.type(pairs.weight[board] * _stake(leaves, leaf + lane, spots))
        chips = spread(stake)
        at = values + np.uint64(lane) * eight
        for s in range(np.uint64(0), whole, eight):
            value = load(sums, at + s * eight, zero) * load(pairs.state_size, first + s, zero)
            store(out, row + s, load(out, row + s, zero) + chips * value)
        for s in range(whole, num_states):
            size = out.dtype.type(pairs.state_size[first + s])
            out[row + s] += stake * size * sums[values + s * eight + np.uint64(lane)]


@njit(cache=True, inline="always")
def _count(leaves, r):
    """Folds of a round, and all its leaves."""
    num_folds = leaves.fold_start[r + 1] - leaves.fold_start[r]
    return num_folds, num_folds + leaves.showdown_start[r + 1] - leaves.showdown_start[r]


@njit(cache=True, inline="always")
def _place(leaves, leaf, spots, is_mine):
    """Where our row of a leaf begins, or the opponent's; beyond the last leaf, that of the last."""
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


@njit(cache=True, inline="always")
def _stake(leaves, leaf, spots):
    """Chips that we win at a leaf: at a showdown, if we do win."""
    player, r = spots[0], spots[1]
    num_folds, _ = _count(leaves, r)
    if leaf < num_folds:
        chips = leaves.fold_payoff[leaves.fold_start[r] + leaf]
        return chips if player == 0 else -chips
    return leaves.showdown_stake[leaves.showdown_start[r] + leaf - num_folds]

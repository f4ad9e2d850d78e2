"""What a sweep does on the boards of a round: realize, gradient, fold-up, average.

Loops run over contiguous states with unsigned indices, a few arrays at a time: that is what the
compiler can vectorise (see docs/findings/numba-inner-loops.md). Showdowns of sorted hands are a
chain of additions, so four leaves are summed side by side. Helpers for one board are inlined;
functions for some boards are compiled once and called with a whole round, or with the board of a
thread. None allocates, so they are compiled without reference counting, which Numba would otherwise
do in the inner loops.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from equilibrist.kernels.reference.sequence_form import BEST, EXPECTATION, REGRET, SOFTMAX

NO_CARD = 52  # the second card of a one-card hand
LANES = 4  # leaves that are summed side by side


@njit(cache=True, inline="always")
def work_space(num_states, dtype):
    """What the functions below write into on boards of so many states: sums, and rows."""
    return np.empty(LANES * (max(num_states, NO_CARD) + 1)), np.empty(2 * num_states, dtype)


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
def _gradient_board(own, other, leaves, pairs, player, r, board, plan, out, sums):
    """Writes the value of each row of a board given the opponent's plan: all its leaves."""
    start, states = own.block_start[board], own.num_states[board]
    theirs, their_states = other.block_start[board], other.num_states[board]
    for i in range(np.uint64(start), np.uint64(own.block_start[board + 1])):
        out[i] = 0.0
    sign = 1.0 if player == 0 else -1.0
    for leaf in range(leaves.fold_start[r], leaves.fold_start[r + 1]):
        mine = start + leaves.fold_rows[leaf, player] * states
        yours = theirs + leaves.fold_rows[leaf, 1 - player] * their_states
        stake = sign * leaves.fold_payoff[leaf]
        if pairs.is_single:
            _single_fold(pairs, board, stake, plan, yours, out, mine, states)
        elif pairs.is_sorted:
            _sorted_fold(pairs, board, stake, plan, yours, out, mine, sums)
        else:
            matrix = pairs.matrix_start[board]
            _dense(pairs.joint, matrix, player, stake, plan, yours, their_states, out, mine, states)
    end = leaves.showdown_start[r + 1]
    if not pairs.is_sorted:
        for leaf in range(leaves.showdown_start[r], end):
            mine = start + leaves.showdown_rows[leaf, player] * states
            yours = theirs + leaves.showdown_rows[leaf, 1 - player] * their_states
            # The matrix speaks for player 0: for player 1 sign and transposition turn it over.
            stake = sign * leaves.showdown_stake[leaf]
            matrix = pairs.matrix_start[board]
            _dense(pairs.win, matrix, player, stake, plan, yours, their_states, out, mine, states)
        return
    for leaf in range(leaves.showdown_start[r], end, LANES):
        # Lanes beyond the last leaf repeat it for no chips.
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
        stakes = (
            weight * chips[leaf],
            weight * chips[b] if leaf + 1 < end else 0.0,
            weight * chips[c] if leaf + 2 < end else 0.0,
            weight * chips[d] if leaf + 3 < end else 0.0,
        )
        if pairs.is_single:
            _single_showdown(pairs, board, stakes, plan, yours, out, mine, sums)
        else:
            _sorted_showdown(pairs, board, stakes, plan, yours, out, mine, sums)


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
    one, two, three, lanes = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(LANES)
    t0 = t1 = t2 = t3 = 0.0
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
def _sorted_fold(pairs, board, stake, plan, yours, out, mine, sums):
    """All their weight, less that of hands which hold one of our cards."""
    begin, end = np.uint64(pairs.hand_start[board]), np.uint64(pairs.hand_start[board + 1])
    ours, theirs = np.uint64(mine), np.uint64(yours)
    total = 0.0
    for card in range(np.uint64(NO_CARD)):
        sums[card] = 0.0
    for h in range(begin, end):
        weight = np.float64(plan[theirs + np.uint64(pairs.hand_state[h])])
        total += weight
        sums[np.uint64(pairs.hand_cards[h, 0])] += weight
        sums[np.uint64(pairs.hand_cards[h, 1])] += weight
    stake *= pairs.weight[board]
    for h in range(begin, end):
        s = np.uint64(pairs.hand_state[h])
        shared = sums[np.uint64(pairs.hand_cards[h, 0])] + sums[np.uint64(pairs.hand_cards[h, 1])]
        out[ours + s] += stake * (total - shared + plan[theirs + s])  # the same hand: only once


@njit(cache=True, inline="always")
def _sorted_showdown(pairs, board, stakes, plan, yours, out, mine, sums):
    """Their weight below us less their weight above us, hands with our cards taken away.

    Hands that share a card with ours leave both sums by their cards; the very same hand is of equal
    value and in neither sum.
    """
    begin, end = pairs.hand_start[board], pairs.hand_start[board + 1]
    m0, m1, m2, m3 = mine
    y0, y1, y2, y3 = yours
    c0, c1, c2, c3 = stakes
    one, two, three, lanes = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(LANES)
    for direction in range(2):
        t0 = t1 = t2 = t3 = 0.0
        for i in range(lanes * np.uint64(NO_CARD)):
            sums[i] = 0.0
        passed = begin  # hands before this one are in the sums
        for i in range(begin, end):
            h = np.uint64(i if direction == 0 else begin + end - 1 - i)
            now = begin + pairs.hand_others[h, direction]
            for k in range(passed, now):
                p = np.uint64(k if direction == 0 else begin + end - 1 - k)
                s = np.uint64(pairs.hand_state[p])
                a = np.uint64(pairs.hand_cards[p, 0]) * lanes
                b = np.uint64(pairs.hand_cards[p, 1]) * lanes
                w0, w1 = np.float64(plan[y0 + s]), np.float64(plan[y1 + s])
                w2, w3 = np.float64(plan[y2 + s]), np.float64(plan[y3 + s])
                t0 += w0
                t1 += w1
                t2 += w2
                t3 += w3
                sums[a] += w0
                sums[a + one] += w1
                sums[a + two] += w2
                sums[a + three] += w3
                sums[b] += w0
                sums[b + one] += w1
                sums[b + two] += w2
                sums[b + three] += w3
            passed = max(passed, now)
            s = np.uint64(pairs.hand_state[h])
            a = np.uint64(pairs.hand_cards[h, 0]) * lanes
            b = np.uint64(pairs.hand_cards[h, 1]) * lanes
            out[m0 + s] += c0 * (t0 - sums[a] - sums[b])
            out[m1 + s] += c1 * (t1 - sums[a + one] - sums[b + one])
            out[m2 + s] += c2 * (t2 - sums[a + two] - sums[b + two])
            out[m3 + s] += c3 * (t3 - sums[a + three] - sums[b + three])
        c0, c1, c2, c3 = -c0, -c1, -c2, -c3


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
        _gradient_board(own, other, leaves, pairs, player, r, board, plan, out, sums)


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

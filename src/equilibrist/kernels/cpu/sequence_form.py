"""`realize`, `gradient` and `fold_up` of the reference, compiled; and CFR's loop over them.

Everything on one board is a helper that is inlined. Each step exists twice around these helpers:
`*_parallel` shares the boards of a round among threads, the plain one is for games so small that
starting threads would cost more than the work. Values flow up from round to round by gathering,
board by parent board, so no two threads write to the same place.

None of the inner functions allocates, so they are compiled without reference counting: Numba would
otherwise count references of the tables in the inner loops, four times slower on Leduc (see
docs/findings/numba-inner-loops.md).
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from equilibrist.kernels.reference.sequence_form import BEST, EXPECTATION, REGRET, SOFTMAX

NO_CARD = 52


# --- one board ------------------------------------------------------------------------------------


@njit(cache=True, inline="always")
def _realize_board(tree, r, board, behaviour, plan):
    start, states = tree.block_start[board], tree.num_states[board]
    entries = tree.entry_start[r + 1] - tree.entry_start[r]
    for e in range(entries):
        own = start + e * states
        if r == 0:
            for s in range(states):
                plan[own + s] = 1.0
        else:
            row = tree.entry_parent[tree.entry_start[r] + e]
            above = tree.board_parent[board]
            up = tree.block_start[above] + row * tree.num_states[above]
            first = tree.state_start[board]
            for s in range(states):
                plan[own + s] = plan[up + tree.state_parent[first + s]]
    for d in range(tree.decision_start[r], tree.decision_start[r + 1]):
        up = start + tree.decision_parent[d] * states
        for a in range(tree.decision_size[d]):
            own = start + (tree.decision_first[d] + a) * states
            for s in range(states):
                plan[own + s] = plan[up + s] * behaviour[own + s]


@njit(cache=True, inline="always")
def _gradient_board(own, other, leaves, pairs, player, r, board, plan, out, scratch):
    start, states = own.block_start[board], own.num_states[board]
    theirs, their_states = other.block_start[board], other.num_states[board]
    for i in range(start, own.block_start[board + 1]):
        out[i] = 0.0
    sign = 1.0 if player == 0 else -1.0
    for leaf in range(leaves.fold_start[r], leaves.fold_start[r + 1]):
        mine = start + leaves.fold_rows[leaf, player] * states
        yours = theirs + leaves.fold_rows[leaf, 1 - player] * their_states
        stake = sign * leaves.fold_payoff[leaf]
        if pairs.is_single:
            _single_fold(pairs, board, stake, plan, yours, out, mine)
        elif pairs.is_sorted:
            _sorted_fold(pairs, board, stake, plan, yours, out, mine, scratch)
        else:
            matrix = pairs.matrix_start[board]
            _dense(pairs.joint, matrix, player, stake, plan, yours, their_states, out, mine, states)
    for leaf in range(leaves.showdown_start[r], leaves.showdown_start[r + 1]):
        mine = start + leaves.showdown_rows[leaf, player] * states
        yours = theirs + leaves.showdown_rows[leaf, 1 - player] * their_states
        # The matrix speaks for player 0: for player 1 both sign and transposition turn it over.
        if pairs.is_single:
            stake = leaves.showdown_stake[leaf]
            _single_showdown(pairs, board, stake, plan, yours, out, mine, scratch)
        elif pairs.is_sorted:
            stake = leaves.showdown_stake[leaf]
            _sorted_showdown(pairs, board, stake, plan, yours, out, mine, scratch)
        else:
            stake = sign * leaves.showdown_stake[leaf]
            matrix = pairs.matrix_start[board]
            _dense(pairs.win, matrix, player, stake, plan, yours, their_states, out, mine, states)


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
def _single_fold(pairs, board, stake, plan, yours, out, mine):
    """All their weight less that of the one card we hold; a state is as often as its hands."""
    begin, end = pairs.state_start[board], pairs.state_start[board + 1]
    total = 0.0
    for k in range(begin, end):
        total += pairs.state_size[k] * plan[yours + pairs.state_order[k]]
    stake *= pairs.weight[board]
    for k in range(begin, end):
        state = pairs.state_order[k]
        out[mine + state] += stake * pairs.state_size[k] * (total - plan[yours + state])


@njit(cache=True, inline="always")
def _single_showdown(pairs, board, stake, plan, yours, out, mine, scratch):
    """Their weight below us less their weight above us: our own card is in neither."""
    begin, end = pairs.state_start[board], pairs.state_start[board + 1]
    total = 0.0
    scratch[0] = 0.0
    for k in range(begin, end):
        total += pairs.state_size[k] * plan[yours + pairs.state_order[k]]
        scratch[k - begin + 1] = total
    stake *= pairs.weight[board]
    for k in range(begin, end):
        below, up_to = scratch[pairs.state_below[k, 0]], scratch[pairs.state_below[k, 1]]
        gain = stake * pairs.state_size[k] * (below + up_to - total)
        out[mine + pairs.state_order[k]] += gain


@njit(cache=True, inline="always")
def _sorted_fold(pairs, board, stake, plan, yours, out, mine, scratch):
    """All their weight, less that of hands which hold one of our cards."""
    begin, end = pairs.hand_start[board], pairs.hand_start[board + 1]
    total = 0.0
    for c in range(NO_CARD + 1):
        scratch[c] = 0.0
    for h in range(begin, end):
        weight = plan[yours + pairs.hand_state[h]]
        total += weight
        scratch[pairs.hand_cards[h, 0]] += weight
        scratch[pairs.hand_cards[h, 1]] += weight
    scratch[NO_CARD] = 0.0
    stake *= pairs.weight[board]
    for h in range(begin, end):
        a, b = pairs.hand_cards[h, 0], pairs.hand_cards[h, 1]
        same = plan[yours + pairs.hand_state[h]] if b != NO_CARD else 0.0
        out[mine + pairs.hand_state[h]] += stake * (total - scratch[a] - scratch[b] + same)


@njit(cache=True, inline="always")
def _sorted_showdown(pairs, board, stake, plan, yours, out, mine, scratch):
    """Their weight below us less their weight above us, hands with our cards taken away.

    Hands that share a card with ours leave both sums by their cards; the very same hand is of equal
    value and in neither sum.
    """
    begin, end = pairs.hand_start[board], pairs.hand_start[board + 1]
    stake *= pairs.weight[board]
    for direction in range(2):
        total = 0.0
        for c in range(NO_CARD + 1):
            scratch[c] = 0.0
        group = begin  # first hand of the present value
        for i in range(begin, end):
            h = i if direction == 0 else begin + end - 1 - i
            g = group if direction == 0 else begin + end - 1 - group
            if pairs.hand_value[h] != pairs.hand_value[g]:  # hands so far are passed: add them
                for k in range(group, i):
                    p = k if direction == 0 else begin + end - 1 - k
                    weight = plan[yours + pairs.hand_state[p]]
                    total += weight
                    scratch[pairs.hand_cards[p, 0]] += weight
                    scratch[pairs.hand_cards[p, 1]] += weight
                scratch[NO_CARD] = 0.0
                group = i
            a, b = pairs.hand_cards[h, 0], pairs.hand_cards[h, 1]
            passed = total - scratch[a] - scratch[b]
            out[mine + pairs.hand_state[h]] += stake * (passed if direction == 0 else -passed)


@njit(cache=True, inline="always")
def _fold_board(tree, rule, r, board, values, behaviour, table, factors):
    start, states = tree.block_start[board], tree.num_states[board]
    begin = tree.decision_start[r]
    for back in range(tree.decision_start[r + 1] - begin):
        d = tree.decision_start[r + 1] - 1 - back
        up = start + tree.decision_parent[d] * states
        first = start + tree.decision_first[d] * states
        size = np.int64(tree.decision_size[d])
        chosen = EXPECTATION if tree.locked[d] else rule
        if chosen == REGRET and size == 2:
            _regret_2(values, behaviour, table, factors, up, first, states)
        elif chosen == REGRET and size == 3:
            _regret_3(values, behaviour, table, factors, up, first, states)
        else:
            for s in range(states):
                at = first + s
                values[up + s] += _decide(
                    chosen, size, states, at, values, behaviour, table, factors
                )


@njit(cache=True, inline="always")
def _decide(rule, size, states, at, values, behaviour, table, factors):
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
        if rule == REGRET:
            total = 0.0
            for a in range(size):
                i = at + a * states
                latest = values[i] - result
                regret = table[i] + latest
                regret *= factors[0] if regret > 0 else factors[1]
                table[i] = regret
                positive = max(regret + factors[2] * latest, 0.0)
                behaviour[i] = positive
                total += positive
            for a in range(size):
                i = at + a * states
                behaviour[i] = behaviour[i] / total if total > 0 else 1.0 / size
    return result


@njit(cache=True, inline="always")
def _regret_2(values, behaviour, table, factors, up, first, states):
    """The regret rule for two actions, all states at once: a loop the compiler vectorises."""
    positive, negative, prediction = factors[0], factors[1], factors[2]
    second = first + states
    for s in range(states):
        i, j = first + s, second + s
        mean = behaviour[i] * values[i] + behaviour[j] * values[j]
        values[up + s] += mean
        latest_i, latest_j = values[i] - mean, values[j] - mean
        regret_i, regret_j = table[i] + latest_i, table[j] + latest_j
        regret_i *= positive if regret_i > 0 else negative
        regret_j *= positive if regret_j > 0 else negative
        table[i], table[j] = regret_i, regret_j
        match_i = max(regret_i + prediction * latest_i, 0.0)
        match_j = max(regret_j + prediction * latest_j, 0.0)
        total = match_i + match_j
        scale = 1.0 / total if total > 0 else 0.0
        rest = 0.0 if total > 0 else 0.5
        behaviour[i] = match_i * scale + rest
        behaviour[j] = match_j * scale + rest


@njit(cache=True, inline="always")
def _regret_3(values, behaviour, table, factors, up, first, states):
    """The regret rule for three actions, all states at once."""
    positive, negative, prediction = factors[0], factors[1], factors[2]
    second, third = first + states, first + 2 * states
    for s in range(states):
        i, j, k = first + s, second + s, third + s
        mean = behaviour[i] * values[i] + behaviour[j] * values[j] + behaviour[k] * values[k]
        values[up + s] += mean
        latest_i, latest_j, latest_k = values[i] - mean, values[j] - mean, values[k] - mean
        regret_i, regret_j = table[i] + latest_i, table[j] + latest_j
        regret_k = table[k] + latest_k
        regret_i *= positive if regret_i > 0 else negative
        regret_j *= positive if regret_j > 0 else negative
        regret_k *= positive if regret_k > 0 else negative
        table[i], table[j], table[k] = regret_i, regret_j, regret_k
        match_i = max(regret_i + prediction * latest_i, 0.0)
        match_j = max(regret_j + prediction * latest_j, 0.0)
        match_k = max(regret_k + prediction * latest_k, 0.0)
        total = match_i + match_j + match_k
        scale = 1.0 / total if total > 0 else 0.0
        rest = 0.0 if total > 0 else 1.0 / 3.0
        behaviour[i] = match_i * scale + rest
        behaviour[j] = match_j * scale + rest
        behaviour[k] = match_k * scale + rest


@njit(cache=True, inline="always")
def _gather_children(tree, r, board, values):
    """Adds the entries of the next round's boards to the rows of this board that lead there."""
    start, states = tree.block_start[board], tree.num_states[board]
    for child in range(tree.child_start[board], tree.child_start[board + 1]):
        below, width = tree.block_start[child], tree.num_states[child]
        first = tree.state_start[child]
        for e in range(tree.entry_start[r + 2] - tree.entry_start[r + 1]):
            up = start + tree.entry_parent[tree.entry_start[r + 1] + e] * states
            row = below + e * width
            for s in range(width):
                values[up + tree.state_parent[first + s]] += values[row + s]


# --- all boards, one thread -----------------------------------------------------------------------


@njit(cache=True, inline="always")
def _realize(tree, behaviour, plan):
    for r in range(len(tree.num_sequences)):
        for board in range(tree.board_start[r], tree.board_start[r + 1]):
            _realize_board(tree, r, board, behaviour, plan)


@njit(cache=True, inline="always")
def _gradient(own, other, leaves, pairs, player, plan, out, scratch):
    for r in range(len(own.num_sequences)):
        for board in range(own.board_start[r], own.board_start[r + 1]):
            _gradient_board(own, other, leaves, pairs, player, r, board, plan, out, scratch)


@njit(cache=True, inline="always")
def _fold_up(tree, rule, values, behaviour, table, factors):
    last = len(tree.num_sequences) - 1
    for back in range(last + 1):
        r = last - back
        for board in range(tree.board_start[r], tree.board_start[r + 1]):
            if r < last:
                _gather_children(tree, r, board, values)
            _fold_board(tree, rule, r, board, values, behaviour, table, factors)


@njit(cache=True, _nrt=False)
def realize(tree, behaviour, plan):
    """Writes into `plan` [L] the realization plan of `behaviour` [L]."""
    _realize(tree, behaviour, plan)


@njit(cache=True, _nrt=False)
def _gradient_with(own, other, leaves, pairs, player, plan, out, scratch):
    _gradient(own, other, leaves, pairs, player, plan, out, scratch)


@njit(cache=True)
def gradient(own, other, leaves, pairs, player, plan, out):
    """Writes into `out` [L of `player`] the value of each row given the opponent's `plan`."""
    _gradient_with(own, other, leaves, pairs, player, plan, out, np.empty(NO_CARD + 1))


@njit(cache=True, _nrt=False)
def fold_up(tree, rule, values, behaviour, table, factors):
    """Carries `values` [L] from the leaves to the root by a rule; see the reference."""
    _fold_up(tree, rule, values, behaviour, table, factors)


@njit(cache=True, _nrt=False)
def _sweep(player, own, other, leaves, pairs, ours, theirs, weight, factors, values, scratch):
    """One player's half of a CFR iteration: average, gradient, fold-up, new plan."""
    plan, behaviour, regret, average = ours
    for i in range(len(plan)):
        average[i] += weight * plan[i]
    _gradient(own, other, leaves, pairs, player, theirs[0], values, scratch)
    _fold_up(own, REGRET, values, behaviour, regret, factors)
    _realize(own, behaviour, plan)


@njit(cache=True)
def sweeps(trees, leaves, pairs, first, second, schedule):
    """CFR with alternating updates, one iteration a row of `schedule` [steps, 4], in place.

    `first` and `second` are (plan, behaviour, regret, average) of the players; a row is (positive
    factor, negative factor, prediction, weight in the average).
    """
    one, two = trees
    scratch = np.empty(NO_CARD + 1)
    values = np.empty(max(len(first[0]), len(second[0])), first[0].dtype)
    factors = np.empty(3, first[0].dtype)
    for step in range(schedule.shape[0]):
        for i in range(3):
            factors[i] = schedule[step, i]
        weight = factors.dtype.type(schedule[step, 3])
        for player in range(2):  # a literal 0 and 1 would be compiled one by one
            own, other = (one, two) if player == 0 else (two, one)
            ours, theirs = (first, second) if player == 0 else (second, first)
            _sweep(
                player, own, other, leaves, pairs, ours, theirs, weight, factors, values, scratch
            )


@njit(cache=True, parallel=True)
def accumulate(average, weight, plan):
    """Adds `weight` times `plan` [L] to `average` [L]."""
    for i in prange(len(plan)):
        average[i] += weight * plan[i]


@njit(cache=True, _nrt=False)
def normalize(tree, plan, behaviour):
    """Writes into `behaviour` [L] that of `plan` [L]: uniform where the plan never goes.

    An action's probability is its share of its decision's actions, not of the parent row, so that
    rounding still leaves a distribution. Entries become 1.
    """
    for r in range(len(tree.num_sequences)):
        for board in range(tree.board_start[r], tree.board_start[r + 1]):
            start, states = tree.block_start[board], tree.num_states[board]
            for i in range((tree.entry_start[r + 1] - tree.entry_start[r]) * states):
                behaviour[start + i] = 1.0
            for d in range(tree.decision_start[r], tree.decision_start[r + 1]):
                up = start + tree.decision_parent[d] * states
                first = start + tree.decision_first[d] * states
                size = tree.decision_size[d]
                for s in range(states):
                    total = 0.0
                    for a in range(size):
                        total += plan[first + a * states + s]
                    reached = total > 0 and plan[up + s] > 0
                    for a in range(size):
                        i = first + a * states + s
                        behaviour[i] = plan[i] / total if reached else 1.0 / size


# --- all boards, all threads ----------------------------------------------------------------------


@njit(cache=True, _nrt=False)
def _realize_one(tree, r, board, behaviour, plan):
    _realize_board(tree, r, board, behaviour, plan)


@njit(cache=True, _nrt=False)
def _gradient_one(own, other, leaves, pairs, player, r, board, plan, out, scratch):
    _gradient_board(own, other, leaves, pairs, player, r, board, plan, out, scratch)


@njit(cache=True, _nrt=False)
def _fold_one(tree, rule, r, board, values, behaviour, table, factors):
    if r < len(tree.num_sequences) - 1:
        _gather_children(tree, r, board, values)
    _fold_board(tree, rule, r, board, values, behaviour, table, factors)


@njit(cache=True, parallel=True)
def realize_parallel(tree, behaviour, plan):
    """`realize`, the boards of a round shared among threads."""
    for r in range(len(tree.num_sequences)):
        for board in prange(tree.board_start[r], tree.board_start[r + 1]):
            _realize_one(tree, r, board, behaviour, plan)


@njit(cache=True, parallel=True)
def gradient_parallel(own, other, leaves, pairs, player, plan, out):
    """`gradient`, the boards of a round shared among threads."""
    for r in range(len(own.num_sequences)):
        for board in prange(own.board_start[r], own.board_start[r + 1]):
            scratch = np.empty(NO_CARD + 1)
            _gradient_one(own, other, leaves, pairs, player, r, board, plan, out, scratch)


@njit(cache=True, parallel=True)
def fold_up_parallel(tree, rule, values, behaviour, table, factors):
    """`fold_up`, the boards of a round shared among threads."""
    last = len(tree.num_sequences) - 1
    for back in range(last + 1):
        r = last - back
        for board in prange(tree.board_start[r], tree.board_start[r + 1]):
            _fold_one(tree, rule, r, board, values, behaviour, table, factors)

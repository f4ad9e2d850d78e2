"""Steps of CFR by tables on the boards of a round, one thread per small part (see `table_sweeps`).

A table is [states of all boards of the round, rows of actions]. Rows are numbered anew, so that
rows which neighbouring threads use lie side by side: after the entries come, for the first decision
below each entry, its first action by entry, then its second; then the same for the second decision.

Threads that realize plans or fold up values have a state and an entry of the round each, and walk
the decisions below that entry; neighbours have the same state and the next entry. Threads that
compute leaves have a leaf and a segment of a board's hands in order of value: they sum up their
segment, add what the segments below have summed up, and go through it again. This is what
`kernels/cpu/leaves.py` does with a lane for each leaf; sums by card are in shared memory.
Nothing is added by atomic operations: the result is the same in every run.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numba import float32, float64

from equilibrist.kernels.decision_rules import BEST, LARGEST, REGRET, SMALLEST
from equilibrist.kernels.gpu import device

cuda = device.cuda()

THREADS = 128  # of a block
MANY = 8  # segments of the hands of a board, if there are few boards and leaves; otherwise one
AHEAD = 8  # weights of hands that a thread loads at once
SET_ASIDE = 4  # values of equal hands that a thread keeps
NUM_CARDS = 52
_LANES = THREADS // MANY
MOST = 32767  # the largest number of 16 bits


class Rows(NamedTuple):
    """A player's rows of a round; E entries, Q rows, at most D decisions below an entry."""

    entry_parent: Any  # [E] row of the round before, −1 in the first round
    parent: Any  # [D, E] row that leads to the decision, parents first
    first: Any  # [D, E] row of its first action
    step: Any  # [D, E] distance of the rows of its actions
    size: Any  # [D, E] number of actions; 0 where an entry has fewer decisions
    locked: Any  # [D, E]
    first_leaf: Any  # [Q] one leaf of each row, −1 if it has none
    second_leaf: Any  # [Q] another one
    leaf_start: Any  # [Q + 1] where the list of its other leaves starts
    leaf: Any
    next_start: Any  # [Q + 1] entries of the next round at each row
    next: Any


class Leaves(NamedTuple):
    """Leaves of a round for one player; folds come first."""

    row: Any  # [L] row of the opponent; folds and showdowns each in this order
    stake: Any  # [L] chips that the player wins; at a showdown, with the better hand


class Cards(NamedTuple):
    """Boards of a round, their hands and states, as in `PairTables`; states of all boards, G."""

    state_start: Any  # [B + 1] first state of each board
    state_parent: Any  # [G] state of the round before
    child_start: Any  # [G + 1] states of the next round that follow
    child: Any
    hand_start: Any  # [B + 1]
    hand_state: Any  # state on its board
    hand_cards: Any  # [hands, 2]
    hand_others: Any  # [hands, 2]
    state_size: Any  # [G]
    state_order: Any  # [G]
    state_cards: Any  # [G, 2] in that order
    state_below: Any  # [G, 2] in that order
    weight: Any  # [B]
    segment_hand: Any  # [B, MANY + 1] hands of each segment, counted from the board's first
    segment_state: Any  # [B, MANY + 1] likewise states; equal hands are in one segment


class Step(NamedTuple):
    """Numbers of the half iteration under way."""

    schedule: Any  # [halves, 4] factors of regrets, prediction, weight of the opponent's plan
    clock: Any  # [1] row of the schedule


@device.part
def _counted(total):
    """Return whether a sum of positive numbers counts (see `decision_rules.regret_matching`)."""
    return SMALLEST <= total <= LARGEST


@device.jit
def realize(rows, cards, step, tables, above, part, plan):
    """Write the plan of `part` = (first state, states, first state of the tables).

    `tables` is (numbers to match, average). The plan [states, Q] is added to the average, unless
    its weight is negative; `above` is the plan of the round before, empty in the first round.
    """
    first, count, origin = part
    table, average = tables
    num_entries = rows.entry_parent.shape[0]
    i = cuda.grid(1)
    if i >= count * num_entries:
        return
    k = i // num_entries
    e = i - k * num_entries
    g = first + k - origin
    kind = plan.dtype.type
    weight = step.schedule[step.clock[0], 3]
    reach = kind(1)
    if rows.entry_parent[e] >= 0:
        reach = above[cards.state_parent[first + k], rows.entry_parent[e]]
    plan[k, e] = reach
    for d in range(rows.parent.shape[0]):
        size = rows.size[d, e]
        if size == 0:
            continue
        at, next_row = rows.first[d, e] - num_entries, rows.step[d, e]
        reach = plan[k, rows.parent[d, e]]
        total = kind(0)
        for a in range(0, size, 4):
            n0, n1, n2, n3 = _four(table, g, at + a * next_row, next_row, size - a)
            total += n0 + n1 + n2 + n3
        share, even = kind(0), reach / kind(size)
        if _counted(total):
            share, even = reach / total, kind(0)
        for _ in range(size):
            taken = max(table[g, at], kind(0)) * share + even
            plan[k, at + num_entries] = taken
            if weight >= 0:
                average[g, at] += weight * taken
            at += next_row


@device.part
def _four(table, g, at, step, count):
    """Return the positive parts of up to four numbers of a state, `step` apart; zeros after them.

    All are loaded before the first is used: waiting for memory is most of the work.
    """
    zero = table.dtype.type(0)
    n0 = table[g, at]
    n1 = table[g, at + (step if count > 1 else 0)]
    n2 = table[g, at + (2 * step if count > 2 else 0)]
    n3 = table[g, at + (3 * step if count > 3 else 0)]
    return (
        max(n0, zero),
        max(n1, zero) if count > 1 else zero,
        max(n2, zero) if count > 2 else zero,
        max(n3, zero) if count > 3 else zero,
    )


@device.part
def _load_ahead(cards, plan, base, row, hand, end, ahead, me):
    """Load the weights of the next `AHEAD` hands; past the end, of the last."""
    w0 = plan[base + cards.hand_state[hand], row]
    w1 = plan[base + cards.hand_state[min(hand + 1, end - 1)], row]
    w2 = plan[base + cards.hand_state[min(hand + 2, end - 1)], row]
    w3 = plan[base + cards.hand_state[min(hand + 3, end - 1)], row]
    w4 = plan[base + cards.hand_state[min(hand + 4, end - 1)], row]
    w5 = plan[base + cards.hand_state[min(hand + 5, end - 1)], row]
    w6 = plan[base + cards.hand_state[min(hand + 6, end - 1)], row]
    w7 = plan[base + cards.hand_state[min(hand + 7, end - 1)], row]
    ahead[0, me], ahead[1, me], ahead[2, me], ahead[3, me] = w0, w1, w2, w3
    ahead[4, me], ahead[5, me], ahead[6, me], ahead[7, me] = w4, w5, w6, w7


def _leaf_kernel(number, segments):
    """Return `leaf_values` for a type of numbers and a number of segments of a board's hands."""
    lanes = THREADS // segments
    of_cards, of_totals = (NUM_CARDS, THREADS), (NUM_CARDS if segments > 1 else 1, lanes)
    of_ahead, of_aside = (AHEAD, THREADS), (SET_ASIDE, THREADS)

    @device.jit
    def leaf_values(cards, leaves, num_folds, plan, part, out):
        """Write the value of leaves [states, L] on boards of `part` = (first board, first state).

        A block has one board and `lanes` folds or showdowns.
        """
        # Shared memory; each thread has a column of its own in all but the totals.
        sums = cuda.shared.array(of_cards, number)
        totals = cuda.shared.array(of_totals, number)
        ahead = cuda.shared.array(of_ahead, number)
        aside = cuda.shared.array(of_aside, number)
        me = cuda.threadIdx.x
        segment = me // lanes
        lane = me - segment * lanes
        fold_blocks = (num_folds + lanes - 1) // lanes
        is_fold = cuda.blockIdx.x < fold_blocks
        leaf, end = cuda.blockIdx.x * lanes + lane, num_folds
        if not is_fold:
            leaf, end = num_folds + leaf - fold_blocks * lanes, leaves.row.shape[0]
        is_real = leaf < end
        leaf = min(leaf, end - 1)
        board = part[0] + cuda.blockIdx.y
        start = cards.state_start[board]
        count = cards.state_start[board + 1] - start
        base = start - part[1]
        row = leaves.row[leaf]
        kind = plan.dtype.type
        stake = kind(cards.weight[board] * leaves.stake[leaf])
        hand, last_hand = cards.hand_start[board], cards.hand_start[board + 1]
        begin, hand_end = hand, last_hand
        if segments > 1:
            if is_fold:  # no order matters: equal parts
                begin = hand + (last_hand - hand) * segment // segments
                hand_end = hand + (last_hand - hand) * (segment + 1) // segments
            else:
                begin = hand + cards.segment_hand[board, segment]
                hand_end = hand + cards.segment_hand[board, segment + 1]
        # The weight of the segment's hands with each card; a hand has two.
        for card in range(NUM_CARDS):
            sums[card, me] = kind(0)
        for first in range(begin, hand_end, AHEAD):
            _load_ahead(cards, plan, base, row, first, hand_end, ahead, me)
            for h in range(first, min(first + AHEAD, hand_end)):
                weight = ahead[h - first, me]
                sums[cards.hand_cards[h, 0], me] += weight
                sums[cards.hand_cards[h, 1], me] += weight
        before, total = kind(0), kind(0)
        if segments > 1:
            # Sums of the segments before each, and of all.
            cuda.syncthreads()
            for i in range(me, NUM_CARDS * lanes, THREADS):
                card = i // lanes
                column = i - card * lanes
                running = kind(0)
                for _ in range(segments):
                    own = sums[card, column]
                    sums[card, column] = running
                    running += own
                    column += lanes
                totals[card, i - card * lanes] = running
            cuda.syncthreads()
            for card in range(NUM_CARDS):
                before += sums[card, me]
                total += totals[card, lane]
        else:
            for card in range(NUM_CARDS):
                total += sums[card, me]
        total *= kind(0.5)
        if is_fold:
            first, behind = start, start + count
            if segments > 1:
                first = start + count * segment // segments
                behind = start + count * (segment + 1) // segments
            for k in range(first, behind):
                state = cards.state_order[k]
                a, b = cards.state_cards[k, 0], cards.state_cards[k, 1]
                if segments > 1:
                    blocked = totals[a, lane] + totals[b, lane]
                else:
                    blocked = sums[a, me] + sums[b, me]
                value = plan[base + state, row] + total - blocked
                if is_real:
                    out[base + state, leaf] = value * stake * kind(cards.state_size[start + state])
            return
        # From here on sums start at minus half of the total, so that they are half of what is
        # below less what is above, before all hands of one value are added and after it.
        now = kind(0.5) * (before - total)
        for card in range(NUM_CARDS):
            if segments > 1:
                sums[card, me] -= kind(0.5) * totals[card, lane]
            else:
                sums[card, me] *= kind(-0.5)
        h, loaded = begin, begin
        k, behind = start, start + count
        if segments > 1:
            k = start + cards.segment_state[board, segment]
            behind = start + cards.segment_state[board, segment + 1]
        while k < behind:
            next_state = start + cards.state_below[k, 1]
            for j in range(k, next_state):
                a, b = cards.state_cards[j, 0], cards.state_cards[j, 1]
                below = now - (sums[a, me] + sums[b, me])
                if j - k < SET_ASIDE:
                    aside[j - k, me] = below
                elif is_real:
                    out[base + cards.state_order[j], leaf] = below
            next_hand = last_hand - cards.hand_others[h, 1]
            while h < next_hand:
                if h >= loaded:
                    _load_ahead(cards, plan, base, row, h, hand_end, ahead, me)
                    loaded = h + AHEAD
                weight = ahead[h - loaded + AHEAD, me]
                now += weight
                sums[cards.hand_cards[h, 0], me] += weight
                sums[cards.hand_cards[h, 1], me] += weight
                h += 1
            for j in range(k, next_state):
                state = cards.state_order[j]
                a, b = cards.state_cards[j, 0], cards.state_cards[j, 1]
                value = now - (sums[a, me] + sums[b, me])
                if j - k < SET_ASIDE:
                    value += aside[j - k, me]
                elif is_real:
                    value += out[base + state, leaf]
                if is_real:
                    out[base + state, leaf] = value * stake * kind(cards.state_size[start + state])
            k = next_state

    return leaf_values


LEAF_VALUES = {
    (name, segments): _leaf_kernel(number, segments)
    for name, number in (("float32", float32), ("float64", float64))
    for segments in (1, MANY)
}


@device.jit
def gather(cards, below, out):
    """Write, for each state and entry of the next round, the sum over the states that follow."""
    num_entries = below.shape[1]
    i = cuda.grid(1)
    if i >= out.shape[0] * num_entries:
        return
    g = i // num_entries
    e = i - g * num_entries
    total = out.dtype.type(0)
    for j in range(cards.child_start[g], cards.child_start[g + 1]):
        total += below[cards.child[j], e]
    out[g, e] = total


@device.jit
def fold(rows, step, rule, table, leaf_values, gathered, part, values, ends):
    """Fold up the values of `part` = (first state, states, first state of the table) by a rule.

    `leaf_values` [states, L] are those of the leaves, `gathered` [G, E of the next round] those of
    the entries that follow; `values` [states, Q] is work space. The values of entries are written
    into `ends` [G, E]; REGRET updates the table.
    """
    first, count, origin = part
    num_entries = rows.entry_parent.shape[0]
    i = cuda.grid(1)
    if i >= count * num_entries:
        return
    k = i // num_entries
    e = i - k * num_entries
    g = first + k - origin
    kind = values.dtype.type
    positive, negative = step.schedule[step.clock[0], 0], step.schedule[step.clock[0], 1]
    values[k, e] = _row_value(rows, leaf_values, gathered, k, first + k, e)
    num_decisions = rows.parent.shape[0]
    for d in range(num_decisions):
        row = rows.first[d, e]
        for _ in range(rows.size[d, e]):
            values[k, row] = _row_value(rows, leaf_values, gathered, k, first + k, row)
            row += rows.step[d, e]
    for back in range(num_decisions):
        d = num_decisions - 1 - back
        row, size, next_row = rows.first[d, e], rows.size[d, e], rows.step[d, e]
        if size == 0:
            continue
        total, mean, plain, best, at = kind(0), kind(0), kind(0), values[k, row], row
        for a in range(0, size, 4):
            left, up = size - a, row + a * next_row
            n0, n1, n2, n3 = _four(table, g, up - num_entries, next_row, left)
            total += n0 + n1 + n2 + n3
            for i in range(min(left, 4)):
                value = values[k, up + i * next_row]
                number = n0 if i == 0 else n1 if i == 1 else n2 if i == 2 else n3
                mean += number * value
                plain += value
                best = max(best, value)
        mean = mean / total if _counted(total) else plain / kind(size)
        if rule == BEST and not rows.locked[d, e]:
            mean = best
        values[k, rows.parent[d, e]] += mean
        if rule == REGRET and not rows.locked[d, e]:
            at = row
            for _ in range(size):
                regret = table[g, at - num_entries] + values[k, at] - mean
                table[g, at - num_entries] = regret * (positive if regret > 0 else negative)
                at += next_row
    ends[first + k, e] = values[k, e]


@device.part
def _row_value(rows, leaf_values, gathered, k, g, row):
    """Return the value of the leaves and of the next round's entries at a row."""
    # Most rows have at most two leaves: they are loaded without waiting for a list of them.
    value = leaf_values.dtype.type(0)
    one, two = rows.first_leaf[row], rows.second_leaf[row]
    if one >= 0:
        value += leaf_values[k, one]
    if two >= 0:
        value += leaf_values[k, two]
    for j in range(rows.leaf_start[row], rows.leaf_start[row + 1]):
        value += leaf_values[k, rows.leaf[j]]
    for j in range(rows.next_start[row], rows.next_start[row + 1]):
        value += gathered[g, rows.next[j]]
    return value


@device.jit
def advance(step):
    """Go on to the next row of the schedule."""
    step.clock[0] += 1


# --- numbers of 16 bits ---------------------------------------------------------------------------


@device.jit
def unpack(numbers, scales, board_of, first, block):
    """Write into `block` the numbers of states from `first` on: shares of the largest, times it."""
    i = cuda.grid(1)
    if i >= block.shape[0] * block.shape[1]:
        return
    k = i // block.shape[1]
    row = i - k * block.shape[1]
    unit = scales[board_of[first + k], row] / block.dtype.type(MOST)
    block[k, row] = numbers[first + k, row] * unit


@device.jit
def find_scales(block, state_start, first_board, first, scales):
    """Write the largest size of each row of boards; 0 if it is below SMALLEST.

    A block has one board and `THREADS` / `MANY` rows; a thread has every eighth state of a row.
    """
    found = cuda.shared.array(THREADS, float32)  # packed numbers are float32
    me = cuda.threadIdx.x
    part = me // _LANES
    row = cuda.blockIdx.x * _LANES + me - part * _LANES
    board = first_board + cuda.blockIdx.y
    largest = block.dtype.type(0)
    if row < block.shape[1]:
        for g in range(state_start[board] + part, state_start[board + 1], MANY):
            largest = max(largest, abs(block[g - first, row]))
    found[me] = largest
    cuda.syncthreads()
    if part == 0 and row < block.shape[1]:
        for other in range(1, MANY):
            largest = max(largest, found[me + other * _LANES])
        scales[board, row] = largest if largest >= SMALLEST else block.dtype.type(0)


@device.jit
def pack(block, scales, board_of, first, numbers):
    """Write numbers as shares of the largest of their row, to the nearest 1 / 32767."""
    i = cuda.grid(1)
    if i >= block.shape[0] * block.shape[1]:
        return
    k = i // block.shape[1]
    row = i - k * block.shape[1]
    kind = block.dtype.type
    largest = scales[board_of[first + k], row]
    unit = kind(MOST) / largest if largest > 0 else kind(0)
    share = block[k, row] * unit
    numbers[first + k, row] = int(share + (kind(0.5) if share > 0 else kind(-0.5)))


# --- copies and checks ----------------------------------------------------------------------------


@device.jit
def turn(source, start, num_states, column, out):
    """Write rows of states `start` … as rows of numbers: [states, A] becomes [A, states].

    `column` [A] is where each row of the CPU stands on the GPU.
    """
    i = cuda.grid(1)
    if i >= num_states * source.shape[1]:
        return
    row = i // num_states
    state = i - row * num_states
    out[i] = source[start + state, column[row]]


@device.jit
def turn_back(flat, start, num_states, column, out):
    """Write [A, states] into rows of states: the inverse of `turn`."""
    i = cuda.grid(1)
    if i >= num_states * out.shape[1]:
        return
    row = i // num_states
    state = i - row * num_states
    out[start + state, column[row]] = flat[i]


@device.jit
def extremes(table, found):
    """Write the least and the largest number that each thread sees: [2, threads], NaN if any is."""
    i, step = cuda.grid(1), cuda.gridsize(1)
    columns = table.shape[1]
    least = largest = table[0, 0]
    for j in range(i, table.shape[0] * columns, step):
        number = table[j // columns, j % columns]
        if number != number:
            least = largest = number
            break
        least, largest = min(least, number), max(largest, number)
    found[0, i], found[1, i] = least, largest

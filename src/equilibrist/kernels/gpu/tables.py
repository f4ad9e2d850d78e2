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

Indices are unsigned and have 32 bits: each signed one would cost a test whether it is negative, and
these tests took most of the time.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import float32, float64

from equilibrist.kernels.decision_rules import BEST, LARGEST, REGRET, SMALLEST
from equilibrist.kernels.gpu import device

cuda = device.cuda()

THREADS = 128  # of a block
MANY = 8  # segments of the hands of a board, if there are few boards and leaves; otherwise one
AHEAD = 8  # weights of hands that a thread loads at once
SET_ASIDE = 4  # values of equal hands that a thread keeps
NUM_CARDS = 52
_U = np.uint32
_LANES = THREADS // MANY
NONE = np.uint32(2**32 - 1)  # instead of an index
MOST = 32767  # the largest number of 16 bits


class Rows(NamedTuple):
    """A player's rows of a round; E entries, Q rows, at most D decisions below an entry."""

    entry_parent: Any  # [E] row of the round before
    parent: Any  # [D, E] row that leads to the decision, parents first
    first: Any  # [D, E] row of its first action
    step: Any  # [D, E] distance of the rows of its actions
    size: Any  # [D, E] number of actions; 0 where an entry has fewer decisions
    locked: Any  # [D, E]
    first_leaf: Any  # [Q] one leaf of each row, NONE if it has none
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


@device.part
def _place(num_columns):
    """Return the row and the column of this thread in a table with a number of columns."""
    i = _U(cuda.blockIdx.x) * _U(THREADS) + _U(cuda.threadIdx.x)
    row = _U(_U(i) // _U(num_columns))
    return row, _U(_U(i) - row * _U(num_columns))


@device.jit
def realize(rows, cards, step, is_first, tables, above, part, plan):
    """Write the plan of `part` = (first state, states, first state of the tables).

    `tables` is (numbers to match, average). The plan [states, Q] is added to the average, unless
    its weight is negative; `above` is the plan of the round before, unless this is the first.
    """
    first, origin = _U(part[0]), _U(part[2])
    table, average = tables
    num_entries = _U(rows.entry_parent.shape[0])
    k, e = _place(num_entries)
    if k >= _U(part[1]):
        return
    g = _U(first + k - origin)
    kind = plan.dtype.type
    weight = step.schedule[_U(step.clock[_U(0)]), _U(3)]
    reach = kind(1)
    if not is_first:
        reach = above[cards.state_parent[first + k], rows.entry_parent[e]]
    plan[k, e] = reach
    for decision in range(rows.parent.shape[0]):
        d = _U(decision)
        size = rows.size[d, e]
        if size == _U(0):
            continue
        at, next_row = _U(rows.first[d, e] - num_entries), rows.step[d, e]
        reach = plan[k, rows.parent[d, e]]
        total, done, here = kind(0), _U(0), at
        while done < size:
            n0, n1, n2, n3 = _four(table, g, here, next_row, _U(size - done))
            total += n0 + n1 + n2 + n3
            done, here = _U(done + _U(4)), _U(here + _U(4) * next_row)
        share, even = kind(0), reach / kind(size)
        if _counted(total):
            share, even = reach / total, kind(0)
        done = _U(0)
        while done < size:
            taken = max(table[g, at], kind(0)) * share + even
            plan[k, _U(at + num_entries)] = taken
            if weight >= 0:
                average[g, at] += weight * taken
            done, at = _U(done + _U(1)), _U(at + next_row)


@device.part
def _four(table, g, at, step, count):
    """Return the positive parts of up to four numbers of a state, `step` apart; zeros after them.

    All are loaded before the first is used.
    """
    zero = table.dtype.type(0)
    n0 = table[g, at]
    n1 = table[g, _U(at + (step if count > _U(1) else _U(0)))]
    n2 = table[g, _U(at + (_U(2) * step if count > _U(2) else _U(0)))]
    n3 = table[g, _U(at + (_U(3) * step if count > _U(3) else _U(0)))]
    return (
        max(n0, zero),
        max(n1, zero) if count > _U(1) else zero,
        max(n2, zero) if count > _U(2) else zero,
        max(n3, zero) if count > _U(3) else zero,
    )


@device.part
def _load_ahead(cards, plan, base, row, hand, end, ahead, me):
    """Load the weights of the next `AHEAD` hands; past the end, of the last."""
    last = _U(end - _U(1))
    w0 = plan[_U(base + cards.hand_state[hand]), row]
    w1 = plan[_U(base + cards.hand_state[min(_U(hand + _U(1)), last)]), row]
    w2 = plan[_U(base + cards.hand_state[min(_U(hand + _U(2)), last)]), row]
    w3 = plan[_U(base + cards.hand_state[min(_U(hand + _U(3)), last)]), row]
    w4 = plan[_U(base + cards.hand_state[min(_U(hand + _U(4)), last)]), row]
    w5 = plan[_U(base + cards.hand_state[min(_U(hand + _U(5)), last)]), row]
    w6 = plan[_U(base + cards.hand_state[min(_U(hand + _U(6)), last)]), row]
    w7 = plan[_U(base + cards.hand_state[min(_U(hand + _U(7)), last)]), row]
    ahead[_U(0), me], ahead[_U(1), me], ahead[_U(2), me], ahead[_U(3), me] = w0, w1, w2, w3
    ahead[_U(4), me], ahead[_U(5), me], ahead[_U(6), me], ahead[_U(7), me] = w4, w5, w6, w7


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
        me = _U(cuda.threadIdx.x)
        segment = _U(me // _U(lanes))
        lane = _U(me - segment * _U(lanes))
        column = me if segments == 1 else lane  # of the totals
        fold_blocks = _U((_U(num_folds) + _U(lanes - 1)) // _U(lanes))
        is_fold = _U(cuda.blockIdx.x) < fold_blocks
        leaf, end = _U(_U(cuda.blockIdx.x) * _U(lanes) + lane), _U(num_folds)
        if not is_fold:
            leaf = _U(end + leaf - fold_blocks * _U(lanes))
            end = _U(leaves.row.shape[0])
        is_real = leaf < end
        leaf = min(leaf, _U(end - _U(1)))
        board = _U(_U(part[0]) + _U(cuda.blockIdx.y))
        start, behind = cards.state_start[board], cards.state_start[_U(board + _U(1))]
        base = _U(start - _U(part[1]))
        row = leaves.row[leaf]
        kind = plan.dtype.type
        stake = kind(cards.weight[board] * leaves.stake[leaf])
        begin, last_hand = cards.hand_start[board], cards.hand_start[_U(board + _U(1))]
        end = last_hand
        if segments > 1:
            hand = begin
            if is_fold:  # no order matters: equal parts
                begin = _U(hand + (last_hand - hand) * segment // _U(segments))
                end = _U(hand + (last_hand - hand) * (segment + _U(1)) // _U(segments))
            else:
                begin = _U(hand + cards.segment_hand[board, segment])
                end = _U(hand + cards.segment_hand[board, _U(segment + _U(1))])
        # The weight of the segment's hands with each card; a hand has two.
        for card in range(NUM_CARDS):
            sums[_U(card), me] = kind(0)
        h = begin
        while h < end:
            _load_ahead(cards, plan, base, row, h, end, ahead, me)
            ready, i = min(_U(h + _U(AHEAD)), end), _U(0)
            while h < ready:
                weight = ahead[i, me]
                sums[cards.hand_cards[h, _U(0)], me] += weight
                sums[cards.hand_cards[h, _U(1)], me] += weight
                h, i = _U(h + _U(1)), _U(i + _U(1))
        before, total = kind(0), kind(0)
        if segments > 1:
            # Sums of the segments before each, and of all.
            cuda.syncthreads()
            at = me
            while at < _U(NUM_CARDS * lanes):
                of_card = _U(at // _U(lanes))
                own = _U(at - of_card * _U(lanes))
                place, running = own, kind(0)
                for _ in range(segments):
                    number_here = sums[of_card, place]
                    sums[of_card, place] = running
                    running += number_here
                    place = _U(place + _U(lanes))
                totals[of_card, own] = running
                at = _U(at + _U(THREADS))
            cuda.syncthreads()
            for card in range(NUM_CARDS):
                before += sums[_U(card), me]
                total += totals[_U(card), lane]
        else:
            for card in range(NUM_CARDS):
                total += sums[_U(card), me]
        total *= kind(0.5)
        if is_fold:
            known = sums if segments == 1 else totals
            k, count = start, _U(behind - start)
            if segments > 1:
                k = _U(start + count * segment // _U(segments))
                behind = _U(start + count * (segment + _U(1)) // _U(segments))
            while k < behind:
                state = cards.state_order[k]
                a, b = cards.state_cards[k, _U(0)], cards.state_cards[k, _U(1)]
                value = plan[_U(base + state), row] + total
                value -= known[a, column] + known[b, column]
                if is_real:
                    size = kind(cards.state_size[_U(start + state)])
                    out[_U(base + state), leaf] = value * stake * size
                k = _U(k + _U(1))
            return
        # From here on sums start at minus half of the total, so that they are half of what is
        # below less what is above, before all hands of one value are added and after it.
        now = kind(0.5) * (before - total)
        for card in range(NUM_CARDS):
            if segments > 1:
                sums[_U(card), me] -= kind(0.5) * totals[_U(card), lane]
            else:
                sums[_U(card), me] *= kind(-0.5)
        h, i = begin, _U(AHEAD)
        k = start
        if segments > 1:
            k = _U(start + cards.segment_state[board, segment])
            behind = _U(start + cards.segment_state[board, _U(segment + _U(1))])
        while k < behind:
            next_state = _U(start + cards.state_below[k, _U(1)])
            j = k
            while j < next_state:
                a, b = cards.state_cards[j, _U(0)], cards.state_cards[j, _U(1)]
                below = now - (sums[a, me] + sums[b, me])
                if j < k + _U(SET_ASIDE):
                    aside[_U(j - k), me] = below
                elif is_real:
                    out[_U(base + cards.state_order[j]), leaf] = below
                j = _U(j + _U(1))
            next_hand = _U(last_hand - cards.hand_others[h, _U(1)])
            while h < next_hand:
                if i == _U(AHEAD):
                    _load_ahead(cards, plan, base, row, h, end, ahead, me)
                    i = _U(0)
                weight = ahead[i, me]
                now += weight
                sums[cards.hand_cards[h, _U(0)], me] += weight
                sums[cards.hand_cards[h, _U(1)], me] += weight
                h, i = _U(h + _U(1)), _U(i + _U(1))
            j = k
            while j < next_state:
                state = cards.state_order[j]
                a, b = cards.state_cards[j, _U(0)], cards.state_cards[j, _U(1)]
                value = now - (sums[a, me] + sums[b, me])
                if j < k + _U(SET_ASIDE):
                    value += aside[_U(j - k), me]
                elif is_real:
                    value += out[_U(base + state), leaf]
                if is_real:
                    size = kind(cards.state_size[_U(start + state)])
                    out[_U(base + state), leaf] = value * stake * size
                j = _U(j + _U(1))
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
    g, e = _place(below.shape[1])
    if g >= _U(out.shape[0]):
        return
    total = out.dtype.type(0)
    j, end = cards.child_start[g], cards.child_start[_U(g + _U(1))]
    while j < end:
        total += below[cards.child[j], e]
        j = _U(j + _U(1))
    out[g, e] = total


@device.jit
def fold(rows, step, rule, table, leaf_values, gathered, part, values, ends):
    """Fold up the values of `part` = (first state, states, first state of the table) by a rule.

    `leaf_values` [states, L] are those of the leaves, `gathered` [G, E of the next round] those of
    the entries that follow; `values` [states, Q] is work space. The values of entries are written
    into `ends` [G, E]; REGRET updates the table.
    """
    first, origin = _U(part[0]), _U(part[2])
    num_entries = _U(rows.entry_parent.shape[0])
    k, e = _place(num_entries)
    if k >= _U(part[1]):
        return
    g = _U(first + k - origin)
    kind = values.dtype.type
    now = _U(step.clock[_U(0)])
    positive, negative = step.schedule[now, _U(0)], step.schedule[now, _U(1)]
    values[k, e] = _row_value(rows, leaf_values, gathered, k, _U(first + k), e)
    num_decisions = _U(rows.parent.shape[0])
    for decision in range(num_decisions):
        d = _U(decision)
        row, size, next_row, done = rows.first[d, e], rows.size[d, e], rows.step[d, e], _U(0)
        while done < size:
            values[k, row] = _row_value(rows, leaf_values, gathered, k, _U(first + k), row)
            done, row = _U(done + _U(1)), _U(row + next_row)
    for back in range(num_decisions):
        d = _U(num_decisions - _U(1) - _U(back))
        row, size, next_row = rows.first[d, e], rows.size[d, e], rows.step[d, e]
        if size == _U(0):
            continue
        total, mean, plain, best = kind(0), kind(0), kind(0), values[k, row]
        done, up = _U(0), row
        while done < size:
            value = values[k, up]
            number = max(table[g, _U(up - num_entries)], kind(0))
            total += number
            mean += number * value
            plain += value
            best = max(best, value)
            done, up = _U(done + _U(1)), _U(up + next_row)
        mean = mean / total if _counted(total) else plain / kind(size)
        if rule == BEST and not rows.locked[d, e]:
            mean = best
        values[k, rows.parent[d, e]] += mean
        if rule == REGRET and not rows.locked[d, e]:
            done, up = _U(0), row
            while done < size:
                at = _U(up - num_entries)
                regret = table[g, at] + values[k, up] - mean
                table[g, at] = regret * (positive if regret > 0 else negative)
                done, up = _U(done + _U(1)), _U(up + next_row)
    ends[_U(first + k), e] = values[k, e]


@device.part
def _row_value(rows, leaf_values, gathered, k, g, row):
    """Return the value of the leaves and of the next round's entries at a row."""
    value = leaf_values.dtype.type(0)
    one, two = rows.first_leaf[row], rows.second_leaf[row]
    if one != NONE:
        value += leaf_values[k, one]
    if two != NONE:
        value += leaf_values[k, two]
        j, end = rows.leaf_start[row], rows.leaf_start[_U(row + _U(1))]
        while j < end:
            value += leaf_values[k, rows.leaf[j]]
            j = _U(j + _U(1))
    j, end = rows.next_start[row], rows.next_start[_U(row + _U(1))]
    while j < end:
        value += gathered[g, rows.next[j]]
        j = _U(j + _U(1))
    return value


@device.jit
def advance(step):
    """Go on to the next row of the schedule."""
    step.clock[0] += 1


# --- numbers of 16 bits ---------------------------------------------------------------------------


@device.jit
def unpack(numbers, scales, board_of, first, block):
    """Write into `block` the numbers of states from `first` on: shares of the largest, times it."""
    k, row = _place(block.shape[1])
    if k >= _U(block.shape[0]):
        return
    g = _U(_U(first) + k)
    unit = scales[board_of[g], row] / block.dtype.type(MOST)
    block[k, row] = numbers[g, row] * unit


@device.jit
def find_scales(block, state_start, first_board, first, scales):
    """Write the largest size of each row of boards; 0 if it is below SMALLEST.

    A block has one board and `THREADS` / `MANY` rows; a thread has every eighth state of a row.
    """
    found = cuda.shared.array(THREADS, float32)  # packed numbers are float32
    me = _U(cuda.threadIdx.x)
    part = _U(me // _U(_LANES))
    row = _U(_U(cuda.blockIdx.x) * _U(_LANES) + me - part * _U(_LANES))
    board = _U(_U(first_board) + _U(cuda.blockIdx.y))
    largest = block.dtype.type(0)
    if row < _U(block.shape[1]):
        g, end = _U(state_start[board] + part), state_start[_U(board + _U(1))]
        while g < end:
            largest = max(largest, abs(block[_U(g - _U(first)), row]))
            g = _U(g + _U(MANY))
    found[me] = largest
    cuda.syncthreads()
    if part == _U(0) and row < _U(block.shape[1]):
        for other in range(1, MANY):
            largest = max(largest, found[_U(me + _U(other) * _U(_LANES))])
        scales[board, row] = largest if largest >= SMALLEST else block.dtype.type(0)


@device.jit
def pack(block, scales, board_of, first, numbers):
    """Write numbers as shares of the largest of their row, to the nearest 1 / 32767."""
    k, row = _place(block.shape[1])
    if k >= _U(block.shape[0]):
        return
    kind = block.dtype.type
    g = _U(_U(first) + k)
    largest = scales[board_of[g], row]
    unit = kind(MOST) / largest if largest > 0 else kind(0)
    share = block[k, row] * unit
    numbers[g, row] = int(share + (kind(0.5) if share > 0 else kind(-0.5)))


# --- copies and checks ----------------------------------------------------------------------------


@device.jit
def turn(source, start, num_states, column, out):
    """Write rows of states `start` … as rows of numbers: [states, A] becomes [A, states].

    `column` [A] is where each row of the CPU stands on the GPU.
    """
    row, state = _place(num_states)
    if row < _U(source.shape[1]):
        out[_U(row * _U(num_states) + state)] = source[_U(_U(start) + state), column[row]]


@device.jit
def turn_back(flat, start, num_states, column, out):
    """Write [A, states] into rows of states: the inverse of `turn`."""
    row, state = _place(num_states)
    if row < _U(out.shape[1]):
        out[_U(_U(start) + state), column[row]] = flat[_U(row * _U(num_states) + state)]


@device.jit
def extremes(table, found):
    """Write the least and the largest number that each thread sees: [2, threads], NaN if any is."""
    i, step = cuda.grid(1), cuda.gridsize(1)
    columns = table.shape[1]
    least = largest = table[0, 0]
    for j in range(i, table.shape[0] * columns, step):  # may be more than 2^32
        number = table[j // columns, j % columns]
        if number != number:
            least = largest = number
            break
        least, largest = min(least, number), max(largest, number)
    found[0, i], found[1, i] = least, largest

"""Steps of CFR by tables on the boards of a round, one thread per small part (see `table_sweeps`).

A table is [states of all boards of the round, rows of actions], so that the rows of a state lie
side by side. Threads that realize plans or fold up values have a state and an entry of the round
each, and walk the decisions below that entry; neighbours have the same state and the next entry.
Threads that compute leaves have a leaf each, and go through the hands of a board in order of value,
as `kernels/cpu/leaves.py` does with a lane for each leaf; their sums by card are in shared memory.
Nothing is added by atomic operations: the result is the same in every run.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numba import float32, float64

from equilibrist.kernels.decision_rules import BEST, LARGEST, REGRET, SMALLEST
from equilibrist.kernels.gpu import device

cuda = device.cuda()

THREADS = 128  # of a block
NUM_CARDS = 52
_SUMS = (NUM_CARDS, THREADS)  # a sum for each card and thread, in shared memory
MOST = 32767  # the largest number of 16 bits


class Rows(NamedTuple):
    """A player's rows of a round; E entries, Q rows, D decisions, those of an entry contiguous."""

    entry_parent: Any  # [E] row of the round before, −1 in the first round
    decision_start: Any  # [E + 1] first decision of each entry, parents first
    parent: Any  # [D] row that leads to the decision
    first: Any  # [D] row of its first action
    size: Any  # [D]
    locked: Any  # [D]
    leaf_start: Any  # [Q + 1] leaves of each row
    leaf: Any
    next_start: Any  # [Q + 1] entries of the next round at each row
    next: Any


class Leaves(NamedTuple):
    """Leaves of a round for one player; folds come first."""

    row: Any  # [L] row of the opponent
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
    for d in range(rows.decision_start[e], rows.decision_start[e + 1]):
        row, size = rows.first[d], rows.size[d]
        at = row - num_entries
        total = kind(0)
        for a in range(size):
            total += max(table[g, at + a], kind(0))
        reach = plan[k, rows.parent[d]]
        share, even = kind(0), reach / kind(size)
        if _counted(total):
            share, even = reach / total, kind(0)
        for a in range(size):
            taken = max(table[g, at + a], kind(0)) * share + even
            plan[k, row + a] = taken
            if weight >= 0:
                average[g, at + a] += weight * taken


def _leaf_kernel(number):
    """Return `leaf_values` for a type of numbers, which shared memory must know beforehand."""

    @device.jit
    def leaf_values(cards, leaves, num_folds, plan, part, out):
        """Write the value of leaves [states, L] on boards of `part` = (first board, first state).

        A block has one board and `THREADS` folds or showdowns.
        """
        sums = cuda.shared.array(_SUMS, number)
        lane = cuda.threadIdx.x
        fold_blocks = (num_folds + THREADS - 1) // THREADS
        is_fold = cuda.blockIdx.x < fold_blocks
        if is_fold:
            leaf = cuda.blockIdx.x * THREADS + lane
            if leaf >= num_folds:
                return
        else:
            leaf = num_folds + (cuda.blockIdx.x - fold_blocks) * THREADS + lane
            if leaf >= leaves.row.shape[0]:
                return
        board = part[0] + cuda.blockIdx.y
        start = cards.state_start[board]
        num_states = cards.state_start[board + 1] - start
        base = start - part[1]
        row = leaves.row[leaf]
        kind = plan.dtype.type
        stake = kind(cards.weight[board] * leaves.stake[leaf])
        # The weight of the hands with each card; a hand has two.
        for card in range(NUM_CARDS):
            sums[card, lane] = kind(0)
        for h in range(cards.hand_start[board], cards.hand_start[board + 1]):
            weight = plan[base + cards.hand_state[h], row]
            sums[cards.hand_cards[h, 0], lane] += weight
            sums[cards.hand_cards[h, 1], lane] += weight
        total = kind(0)
        for card in range(NUM_CARDS):
            total += sums[card, lane]
        total *= kind(0.5)
        if is_fold:
            for k in range(start, start + num_states):
                state = cards.state_order[k]
                met = plan[base + state, row] + total
                met -= sums[cards.state_cards[k, 0], lane] + sums[cards.state_cards[k, 1], lane]
                out[base + state, leaf] = met * stake * kind(cards.state_size[start + state])
            return
        # From here on sums start at minus half of the total, so that they are half of what is
        # below less what is above, before all hands of one value are added and after it.
        for card in range(NUM_CARDS):
            sums[card, lane] *= kind(-0.5)
        now = total * kind(-0.5)
        hand, last = cards.hand_start[board], cards.hand_start[board + 1]
        begin = start
        while begin < start + num_states:
            end = start + cards.state_below[begin, 1]
            for k in range(begin, end):
                blocked = sums[cards.state_cards[k, 0], lane] + sums[cards.state_cards[k, 1], lane]
                out[base + cards.state_order[k], leaf] = now - blocked
            next_hand = last - cards.hand_others[hand, 1]
            for h in range(hand, next_hand):
                weight = plan[base + cards.hand_state[h], row]
                now += weight
                sums[cards.hand_cards[h, 0], lane] += weight
                sums[cards.hand_cards[h, 1], lane] += weight
            for k in range(begin, end):
                state = cards.state_order[k]
                blocked = sums[cards.state_cards[k, 0], lane] + sums[cards.state_cards[k, 1], lane]
                value = now - blocked + out[base + state, leaf]
                out[base + state, leaf] = value * stake * kind(cards.state_size[start + state])
            begin, hand = end, next_hand

    return leaf_values


LEAF_VALUES = {"float32": _leaf_kernel(float32), "float64": _leaf_kernel(float64)}


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
    values[k, e] = _row_value(rows, leaf_values, gathered, k, first + k, e, kind(0))
    begin, end = rows.decision_start[e], rows.decision_start[e + 1]
    for d in range(begin, end):
        for row in range(rows.first[d], rows.first[d] + rows.size[d]):
            values[k, row] = _row_value(rows, leaf_values, gathered, k, first + k, row, kind(0))
    for back in range(end - begin):
        d = end - 1 - back
        row, size = rows.first[d], rows.size[d]
        at = row - num_entries
        total, mean, plain, best = kind(0), kind(0), kind(0), values[k, row]
        for a in range(size):
            number, value = max(table[g, at + a], kind(0)), values[k, row + a]
            total += number
            mean += number * value
            plain += value
            best = max(best, value)
        mean = mean / total if _counted(total) else plain / kind(size)
        if rule == BEST and not rows.locked[d]:
            mean = best
        values[k, rows.parent[d]] += mean
        if rule == REGRET and not rows.locked[d]:
            for a in range(size):
                regret = table[g, at + a] + values[k, row + a] - mean
                table[g, at + a] = regret * (positive if regret > 0 else negative)
    ends[first + k, e] = values[k, e]


@device.part
def _row_value(rows, leaf_values, gathered, k, g, row, value):
    """Return the value of the leaves and of the next round's entries at a row, from `value` on."""
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
    """Write the largest size of each row of boards; 0 if it is below SMALLEST."""
    row = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if row >= block.shape[1]:
        return
    board = first_board + cuda.blockIdx.y
    largest = block.dtype.type(0)
    for g in range(state_start[board], state_start[board + 1]):
        largest = max(largest, abs(block[g - first, row]))
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
def turn(source, start, num_states, out):
    """Write rows of states `start` … as rows of numbers: [states, A] becomes [A, states]."""
    i = cuda.grid(1)
    if i >= num_states * source.shape[1]:
        return
    row = i // num_states
    state = i - row * num_states
    out[i] = source[start + state, row]


@device.jit
def turn_back(flat, start, num_states, out):
    """Write [A, states] into rows of states: the inverse of `turn`."""
    i = cuda.grid(1)
    if i >= num_states * out.shape[1]:
        return
    row = i // num_states
    state = i - row * num_states
    out[start + state, row] = flat[i]


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

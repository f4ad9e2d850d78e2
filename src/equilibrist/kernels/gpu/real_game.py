"""Best responses to all betting of a round at once, on many boards: kernels for the GPU.

They compute what `kernels/cpu/real_game.py` describes, and the same numbers to the last bit: units
on the river are whole numbers, products are not fused with the sums that follow them, and sums are
in the order of the CPU.

A block of `respond_last` has one turn and up to some thirty of the opponent's sequences. A thread
has two neighbouring sequences and one end; it walks the hands of one river after the other, and its
sums by card are in shared memory. The two numbers of a thread are the halves of one number of 64
bits, which is added as a whole: what the lower half borrows from the upper one is given back when
they are divided (`_halves`). The ends of a few hands go to shared memory, from where each thread
takes a hand and finds the value of the whole betting.

Shared memory has room for the sums of some 450 sequences and ends on a multiprocessor, that is for
seven warps, so the time goes by where they wait. v1: hands one after the other, 113 s of an H200
for the rivers of smallbot. v2: four hands that share no card are added at once, results are added
without reading them, and indices are unsigned and of 32 bits: 78 s.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

from numba import float32, float64, int32, int64, uint32

from equilibrist.kernels import rank_tables
from equilibrist.kernels.gpu import device

cuda = device.cuda()
_MOST_HANDS = 1326
BLOCKED = (1 << 31) - 1  # sorts behind all hands
# A hand of a river in one number: its number, its cards, whether it shares one with each of the
# three hands before it, its column, and where its equals end. Indices are unsigned and of 32 bits:
# for others the compiler writes three instructions instead of one.
U = uint32
_LOW, _HIGH, _SHARES, _COLUMN, _END = 11, 17, 23, 32, 53
_SHARES_ONE, _SHARES_TWO, _SHARES_THREE = U(1 << _SHARES), U(3 << _SHARES), U(7 << _SHARES)
_LOW_AT, _HIGH_AT, _END_AT = U(_LOW), U(_HIGH), U(_END - _COLUMN)
_HAND, _CARD, _ANY_COLUMN = U((1 << _LOW) - 1), U(63), U((1 << (_END - _COLUMN)) - 1)
MOST_COLUMNS = 1 << (_END - _COLUMN)
_0, _1, _2, _3, _4 = U(0), U(1), U(2), U(3), U(4)


class Lanes(NamedTuple):
    """Opponent's sequences before the last round: B blocks, D different ends, L lanes."""

    table: Any  # [B · K · D · L / 2] units by column; two lanes are one number
    share: Any  # [B · K · D · L] float32 instead, if the first round has columns of its own
    first: Any  # [B, K1, L] factors by column of the first round
    unit: Any  # [B, E, L] float32 a unit, times the factor that all hands share
    end: Any  # [E] index of each end among the different ends
    chips: Any  # [C, L] float32 chips of each player in the pot, for each case of a block
    case_start: Any  # [B + 1]


class Rounds(NamedTuple):
    """Positions of a round that is not the last (see `cpu.real_game.respond_round`)."""

    following: Any  # [P, E]
    row: Any  # [P, E]
    scale: Any  # [P, E]
    spent: Any  # [P]


def _times_on_device(one: Any, two: Any) -> Any:
    return cuda.libdevice.fmul_rn(one, two)


def _times_double_on_device(one: Any, two: Any) -> Any:
    return cuda.libdevice.dmul_rn(one, two)


def _times_simulated(one: Any, two: Any) -> Any:
    return one * two


# Products that the compiler does not fuse with a sum that follows.
_times = device.part(_times_simulated if device.is_simulated() else _times_on_device)
_times_double = device.part(_times_simulated if device.is_simulated() else _times_double_on_device)
_hand_value = device.part(rank_tables.hand_value)


# --- hands and columns ----------------------------------------------------------------------------


@device.jit
def look_up(table, number, renaming, renamed, out):
    """Write columns [N, H]: entries of `table` [B, H] for boards with a number and a renaming."""
    i = cuda.blockIdx.x
    for h in range(cuda.threadIdx.x, out.shape[1], cuda.blockDim.x):
        out[i, h] = table[number[i], renamed[renaming[i], h]]


@device.jit
def label(values, intervals, number, renaming, renamed, parents, parent, out):
    """Write columns [N, H]: the interval of each value within its column of the round before.

    `intervals` is (first, lower) as in `abstraction.buckets.Intervals`; `parents` [T, H] are the
    columns of the round before, `parent` [N] its boards.
    """
    i = cuda.blockIdx.x
    first, lower = intervals
    for h in range(cuda.threadIdx.x, out.shape[1], cuda.blockDim.x):
        value = values[number[i], renamed[renaming[i], h]]
        out[i, h] = -1
        if value >= 0:
            above = parents[parent[i], h]
            low, high = first[above], first[above + 1]
            while high - low > 1:
                middle = (low + high) // 2
                if lower[middle] <= value:
                    low = middle
                else:
                    high = middle
            out[i, h] = low


@device.jit
def wrap(period, out):
    """Reduce columns [N, H] modulo a period, in place."""
    i = cuda.blockIdx.x
    for h in range(cuda.threadIdx.x, out.shape[1], cuda.blockDim.x):
        if out[i, h] >= 0:
            out[i, h] %= period


@device.part
def _order(low, high):
    """Return the place of a hand among equals: four neighbours rarely share a card.

    They have the same ranks, and suits that differ by the same number.
    """
    suits = (low - high) & 3
    return suits << 10 | (high >> 2) << 6 | (low >> 2) << 2 | low & 3


@device.jit
def sort_hands(tables, boards, dead, hand_cards, columns, out):
    """Write the hands [N, n] of boards [N, 5] in order, each as one number (see `_LOW`).

    `dead` [N] are the cards that nobody can hold, one bit each; `columns` [N, H]. Cards are
    numbered without the dead ones.
    """
    keys = cuda.shared.array(_MOST_HANDS, int32)
    sorted_cards = cuda.shared.array(_MOST_HANDS, int32)
    i = cuda.blockIdx.x
    key, mask = tables.start, tables.card_mask[boards[i, 0]]
    key += tables.card_key[boards[i, 0]]
    for k in range(1, boards.shape[1]):
        key += tables.card_key[boards[i, k]]
        mask += tables.card_mask[boards[i, k]]
    gone, num_hands = dead[i], hand_cards.shape[0]
    all_hands = U(num_hands)
    for h in range(cuda.threadIdx.x, num_hands, cuda.blockDim.x):
        low, high = int64(hand_cards[h, 0]), int64(hand_cards[h, 1])
        keys[h] = BLOCKED
        if not ((gone >> low) | (gone >> high)) & 1:
            own_key = key + tables.card_key[low] + tables.card_key[high]
            own_mask = mask + tables.card_mask[low] + tables.card_mask[high]
            value = int64(_hand_value(tables, own_key, own_mask))
            keys[h] = value << 12 | _order(low, high)
    cuda.syncthreads()
    for h in range(cuda.threadIdx.x, num_hands, cuda.blockDim.x):
        own = keys[h]
        if own < BLOCKED:
            limit = int32(((own >> 12) + 1) << 12)
            place, end, other = int32(0), int32(0), _0
            while other < all_hands:
                key_of_other = keys[other]
                place = int32(place + int32(key_of_other < own))
                end = int32(end + int32(key_of_other < limit))
                other = U(other + _1)
            low, high = int64(hand_cards[h, 0]), int64(hand_cards[h, 1])
            low -= cuda.popc(gone & ((int64(1) << low) - 1))
            high -= cuda.popc(gone & ((int64(1) << high) - 1))
            sorted_cards[place] = low << 6 | high
            column = int64(columns[i, h])
            cards = low << _LOW | high << _HIGH
            out[i, place] = h | cards | column << _COLUMN | int64(end) << _END
    cuda.syncthreads()
    for place in range(cuda.threadIdx.x, out.shape[1], cuda.blockDim.x):
        own, shares = sorted_cards[place], int64(0)
        for back in range(1, min(3, place) + 1):
            other = sorted_cards[place - back]
            low, high = other >> 6, other & 63
            is_shared = own >> 6 == low or own & 63 == low or own >> 6 == high or own & 63 == high
            shares |= int64(is_shared) << (back - 1)
        out[i, place] |= shares << _SHARES


# --- probabilities --------------------------------------------------------------------------------


@device.jit
def find_units(rows, most, smallest, out):
    """Write the units [Q + 1] of each row's largest probability; see `evaluation.real_game`.

    `most` is (units, units if the row has no other probability). The last is of a row of zeros.
    """
    q = cuda.grid(1)
    if q > rows.shape[0]:
        return
    largest, is_sure = float64(0), True
    if q < rows.shape[0]:
        for k in range(rows.shape[1]):
            largest = max(largest, float64(rows[q, k]))
        for k in range(rows.shape[1]):
            own = float64(rows[q, k])
            is_sure = is_sure and (own == 0 or own == largest)
    out[q] = (most[1] if is_sure else most[0]) / (largest if largest >= smallest else float64(1))


@device.jit
def fill_lanes(rows, units, row, is_whole, lanes):
    """Write the units of probabilities `rows` [Q, K] into the tables of lanes.

    `row` [B, D, L] says which row each lane has; `is_whole` whether units are rounded now.
    """
    b, d, pair = cuda.blockIdx.x, cuda.blockIdx.y, cuda.blockIdx.z
    num_ends, num_lanes = row.shape[1], row.shape[2]
    num_columns = rows.shape[1]
    for k in range(cuda.threadIdx.x, num_columns, cuda.blockDim.x):
        at = ((b * num_columns + k) * num_ends + d) * num_lanes + 2 * pair
        packed = int64(0)
        for half in range(2):
            own = row[b, d, 2 * pair + half]
            share = float32(0)
            if own >= 0:
                share = float32(float64(rows[own, k]) * units[own])
            if is_whole:
                packed |= int64(share + float32(0.5)) << (32 * half)
            else:
                lanes.share[at + half] = share
        if is_whole:
            lanes.table[at // 2] = packed


@device.jit
def fill_units(rows, units, places, scale, lanes):
    """Write the units of each end and the factors of the first round, `rows` [Q1, K1].

    `places` is (row [B, D, L], first row [B, L]); `scale` [B, E, L] as in `Lanes` of the positions.
    """
    row, first_row = places
    b, lane = cuda.blockIdx.x, cuda.threadIdx.x
    for e in range(scale.shape[1]):
        own = row[b, lanes.end[e], lane]
        unit = units[own if own >= 0 else units.shape[0] - 1]
        lanes.unit[b, e, lane] = float32(scale[b, e, lane] / unit)
    above = first_row[b, lane]
    for k in range(lanes.first.shape[1]):
        lanes.first[b, k, lane] = float32(rows[above, k]) if above >= 0 else float32(1)


# --- the last round -------------------------------------------------------------------------------


@device.part
def _low(word, sums, width):
    """Return where the sum of a hand's lower card is."""
    return U(sums + (U(word) >> _LOW_AT & _CARD) * width)


@device.part
def _high(word, sums, width):
    """Return where the sum of a hand's higher card is."""
    return U(sums + (U(word) >> _HIGH_AT & _CARD) * width)


@device.part
def _put(room, sums, word, number, width):
    """Add a hand's number to the sums of its two cards."""
    low, high = _low(word, sums, width), _high(word, sums, width)
    at_low, at_high = room[low] + number, room[high] + number
    room[low] = at_low
    room[high] = at_high


@device.part
def _both(room, sums, word, width):
    """Return the sums of a hand's two cards, added."""
    return room[_low(word, sums, width)] + room[_high(word, sums, width)]


@device.part
def _units(lanes, place, first_column, word, width):
    """Return how many units a hand has in both lanes: two numbers in one.

    `place` is (is product, block, pair, where the column 0 of this thread is).
    """
    is_product, b, pair, at = place
    at = U(at + (U(word >> _COLUMN) & _ANY_COLUMN) * width)
    if not is_product:
        return lanes.table[at]
    column = U(first_column[U(word) & _HAND])
    low = _times(lanes.first[b, column, U(_2 * pair)], lanes.share[U(_2 * at)])
    high = _times(lanes.first[b, column, U(_2 * pair + _1)], lanes.share[U(_2 * at + _1)])
    return int64(low + float32(0.5)) | int64(high + float32(0.5)) << 32


@device.part
def _add_hands(room, sums, hands, span, lanes, place, first_column, width):
    """Add the units of the hands of a span to the sums of their cards; return their total.

    Four hands are on their way while four are added.
    """
    h, end = span
    last = U(end - _1)
    w0, w1 = room[U(hands + h)], room[U(hands + min(U(h + _1), last))]
    w2, w3 = room[U(hands + min(U(h + _2), last))], room[U(hands + min(U(h + _3), last))]
    x0 = _units(lanes, place, first_column, w0, width)
    x1 = _units(lanes, place, first_column, w1, width)
    x2 = _units(lanes, place, first_column, w2, width)
    x3 = _units(lanes, place, first_column, w3, width)
    total = int64(0)
    while h < end:
        then = U(h + _4)
        v0, v1 = room[U(hands + min(then, last))], room[U(hands + min(U(then + _1), last))]
        v2, v3 = room[U(hands + min(U(then + _2), last))], room[U(hands + min(U(then + _3), last))]
        y0 = _units(lanes, place, first_column, v0, width)
        y1 = _units(lanes, place, first_column, v1, width)
        y2 = _units(lanes, place, first_column, v2, width)
        y3 = _units(lanes, place, first_column, v3, width)
        shares = U(w1) & _SHARES_ONE | U(w2) & _SHARES_TWO | U(w3) & _SHARES_THREE
        if shares == _0 and U(h + _2) < last:
            total += x0 + x1 + x2 + x3
            a0, b0 = _low(w0, sums, width), _high(w0, sums, width)
            a1, b1 = _low(w1, sums, width), _high(w1, sums, width)
            a2, b2 = _low(w2, sums, width), _high(w2, sums, width)
            a3, b3 = _low(w3, sums, width), _high(w3, sums, width)
            r0, s0, r1, s1 = room[a0], room[b0], room[a1], room[b1]
            r2, s2, r3, s3 = room[a2], room[b2], room[a3], room[b3]
            room[a0], room[b0] = r0 + x0, s0 + x0
            room[a1], room[b1] = r1 + x1, s1 + x1
            room[a2], room[b2] = r2 + x2, s2 + x2
            room[a3], room[b3] = r3 + x3, s3 + x3
        else:
            total += x0
            _put(room, sums, w0, x0, width)
            if h < last:
                total += x1
                _put(room, sums, w1, x1, width)
            if U(h + _1) < last:
                total += x2
                _put(room, sums, w2, x2, width)
            if U(h + _2) < last:
                total += x3
                _put(room, sums, w3, x3, width)
        w0, w1, w2, w3 = v0, v1, v2, v3
        x0, x1, x2, x3 = y0, y1, y2, y3
        h = then
    return total


@device.part
def _halves(both):
    """Divide a number of 64 bits into the two that were added in it, as float32."""
    low = int32(both & 0xFFFFFFFF)
    return float32(low), float32(int32((both - int64(low)) >> 32))


def _fold_with(times: Any) -> Any:
    """Return `_fold` of the CPU for single numbers; `times` multiplies."""

    @device.part
    def fold(ends, spent, bet, is_last, raises, is_first, zero):
        passed, there = ends[0], ends[1]
        if is_last:
            passed = times(passed, spent)
        if is_first:
            there = there + ends[2 * (raises + 1) + 1]
        for _ in range(raises):
            spent = spent + bet
        faced, given = 0, raises
        if is_first == (raises % 2 == 1):
            faced, given = raises, 0
        worth, other, above = zero, zero, zero
        for back in range(raises):
            k = raises - back
            mine, theirs = 2 * (faced + k), 2 * (given + k)
            called, met = ends[mine], ends[mine + 1]
            shown, kept = ends[theirs], ends[theirs + 1]
            before = there if k == 1 else ends[theirs - 1]
            if is_last:
                called, shown = times(called, spent), times(shown, spent)
            spent = spent - bet
            best = max(called, -times(spent, met))
            if back > 0:
                best = max(best, worth)
            worth = shown + other + times(spent, before - kept - above)
            other, above = best, met
            faced, given = given, faced
        if is_first:
            return max(passed + other, worth)
        return max(passed, worth) + other

    return fold


_fold = _fold_with(_times)
_fold_double = _fold_with(_times_double)


@functools.cache
def respond_last(raises: int, is_first: bool, is_product: bool) -> Any:
    """Return the kernel for a maximum of raises and for who acts first."""
    num_ends = 2 * raises + 1
    ends_size = 2 * num_ends

    @device.jit
    def respond(hands, weight, start, lanes, first_column, sizes, bet, out):
        """Write into `out` [T, C, H · L] what the hands win on the rivers of T turns.

        `hands` [N, n] are those of `sort_hands`, `weight` [N] counts rivers, `start` [T + 1] are
        those of each turn; `sizes` is (cards that can be held, hands of which ends are kept).
        """
        room = cuda.shared.array(0, int64)
        cards, chunk = U(sizes[0]), U(sizes[1])
        t, width = U(cuda.threadIdx.x), U(cuda.blockDim.x)
        turn, b = U(cuda.blockIdx.x), U(cuda.blockIdx.y)
        num_lanes, n = U(lanes.unit.shape[2]), U(hands.shape[1])
        pairs = U(num_lanes // _2)
        d, pair, step = U(t // pairs), U(t % pairs), U(width // pairs)
        low_lane, high_lane = U(_2 * pair), U(_2 * pair + _1)
        num_columns = U(lanes.table.shape[0] // (lanes.unit.shape[0] * width))
        if is_product:
            num_columns = U(lanes.share.shape[0] // (lanes.unit.shape[0] * _2 * width))
        columns_at = U(b * num_columns * width)
        own_place = (is_product, b, pair, U(columns_at + t))
        sums, state = t, U(cards * width + t)
        won = U(_2 * cards * width)
        met = U(won + chunk * width)
        own_hands = U(met + chunk * width)
        first_case, last_case = U(lanes.case_start[b]), U(lanes.case_start[b + _1])
        # What a thread needs of the sequences: its fold always has the same two lanes.
        ends_low = cuda.local.array(ends_size, float32)
        ends_high = cuda.local.array(ends_size, float32)
        unit_low = cuda.local.array(num_ends, float32)
        unit_high = cuda.local.array(num_ends, float32)
        row_at = cuda.local.array(num_ends, uint32)
        for e in range(num_ends):
            unit_low[e] = lanes.unit[b, U(e), low_lane]
            unit_high[e] = lanes.unit[b, U(e), high_lane]
            row_at[e] = U(lanes.end[U(e)] * pairs + pair)
        zero = float32(0)
        case, size = first_case, U(out.shape[2])
        while case < last_case:
            j = t
            while j < size:
                out[turn, case, j] = 0.0
                j = U(j + width)
            case = U(case + _1)
        for i in range(start[turn], start[turn + _1]):
            cuda.syncthreads()
            h = t
            while h < n:
                room[U(own_hands + h)] = hands[i, h]
                h = U(h + width)
            at = sums
            while at < state:
                room[at] = 0
                at = U(at + width)
            cuda.syncthreads()
            total = _add_hands(
                room, sums, own_hands, (_0, n), lanes, own_place, first_column, width
            )
            # From here on sums start at minus the total, and the units of a hand are added twice:
            # halfway they are what a hand of this value beats less what beats it.
            at = sums
            while at < state:
                room[U(at + cards * width)] = -room[at]
                at = U(at + width)
            now, count = -total, weight[i]
            before, begin, slot = _0, _0, _0
            while begin < n:
                end = U(U(room[U(own_hands + begin)] >> _COLUMN) >> _END_AT)
                # The second addition of the hands before, and the first of these.
                now += _add_hands(
                    room, state, own_hands, (before, end), lanes, own_place, first_column, width
                )
                h = begin
                while h < end:
                    # Two hands at a time, if there are two and room for both.
                    word = room[U(own_hands + h)]
                    at = U(won + slot * width + t)
                    if U(h + _1) < end and U(slot + _1) < chunk:
                        other = room[U(own_hands + h + _1)]
                        one = _both(room, state, word, width)
                        two = _both(room, sums, word, width)
                        three = _both(room, state, other, width)
                        four = _both(room, sums, other, width)
                        room[at] = now - one
                        room[U(at + chunk * width)] = total - two
                        room[U(at + width)] = now - three
                        room[U(at + width + chunk * width)] = total - four
                        slot, h = U(slot + _2), U(h + _2)
                    else:
                        one = _both(room, state, word, width)
                        two = _both(room, sums, word, width)
                        room[at] = now - one
                        room[U(at + chunk * width)] = total - two
                        slot, h = U(slot + _1), U(h + _1)
                    if slot == chunk or h == n:
                        cuda.syncthreads()
                        j = d
                        while j < slot:
                            word = room[U(own_hands + h + j - slot)]
                            for e in range(num_ends):
                                at = U(j * width + row_at[e])
                                place = (is_product, b, pair, U(columns_at + row_at[e]))
                                units = _units(lanes, place, first_column, word, width)
                                low, high = _halves(room[U(won + at)])
                                ends_low[2 * e] = _times(low, unit_low[e])
                                ends_high[2 * e] = _times(high, unit_high[e])
                                low, high = _halves(room[U(met + at)] + units)
                                ends_low[2 * e + 1] = _times(low, unit_low[e])
                                ends_high[2 * e + 1] = _times(high, unit_high[e])
                            at = U((U(word) & _HAND) * num_lanes + low_lane)
                            case = first_case
                            while case < last_case:
                                low = lanes.chips[case, low_lane]
                                high = lanes.chips[case, high_lane]
                                low = _fold(ends_low, low, bet, True, raises, is_first, zero)
                                high = _fold(ends_high, high, bet, True, raises, is_first, zero)
                                # Only this block adds here, once per river: the order is fixed.
                                cuda.atomic.add(out, (turn, case, at), count * float64(low))
                                high_at = turn, case, U(at + _1)
                                cuda.atomic.add(out, high_at, count * float64(high))
                                case = U(case + _1)
                            j = U(j + step)
                        cuda.syncthreads()
                        slot = _0
                before, begin = begin, end

    return respond


# --- rounds before --------------------------------------------------------------------------------


@device.jit
def average(dealt, place, stride, divisor, keeping, renamed, out):
    """Write into `out` [N, P, H] means over the renamings that keep a board.

    `dealt` [N, …] has hand h of position p at `place[p] + stride · h`; `keeping` is (start [N + 1],
    renamings); `renamed` [G, H].
    """
    start, renaming = keeping
    p, i = cuda.blockIdx.x, cuda.blockIdx.y
    first, last = start[i], start[i + 1]
    for h in range(cuda.threadIdx.x, out.shape[2], cuda.blockDim.x):
        total = 0.0
        for g in range(first, last):
            total += dealt[i, place[p] + stride * int64(renamed[renaming[g], h])] / divisor
        if last - first > 1:
            total /= last - first
        out[i, p, h] = total


@device.jit
def meet(rows, first, columns, first_column, dead, cards, out):
    """Write into `out` [N, Q, H] how often each hand meets the opponent's.

    `rows` is (number of the row, probabilities [·, K]), `first` the same for the first round, −1 if
    it does not multiply; `columns` [N, H], `dead` [N] as in `sort_hands`. `cards` is (those of each
    hand [H, 2], hand of each two cards [52, 52]: −1 if the deck lacks it).
    """
    reach = cuda.shared.array(_MOST_HANDS, float64)
    sums = cuda.shared.array(53, float64)
    q, i, t = cuda.blockIdx.x, cuda.blockIdx.y, cuda.threadIdx.x
    own, above, gone = rows[0][q], first[0][q], dead[i]
    hand_cards, hand_of = cards
    num_hands = hand_cards.shape[0]
    for h in range(t, num_hands, cuda.blockDim.x):
        number = 0.0
        if not ((gone >> int64(hand_cards[h, 0])) | (gone >> int64(hand_cards[h, 1]))) & 1:
            number = float64(rows[1][own, columns[i, h]])
            if above >= 0:
                number = _times_double(number, float64(first[1][above, first_column[h]]))
        reach[h] = number
    cuda.syncthreads()
    # The sum of each card, and of all hands, in the order of the hands.
    for card in range(t, 53, cuda.blockDim.x):
        total = 0.0
        if card == 52:
            for h in range(num_hands):
                total += reach[h]
        else:
            for other in range(52):
                h = hand_of[card, other]
                if h >= 0:
                    total += reach[h]
        sums[card] = total
    cuda.syncthreads()
    for h in range(t, num_hands, cuda.blockDim.x):
        shared = sums[hand_cards[h, 0]] + sums[hand_cards[h, 1]]
        out[i, q, h] = sums[52] - shared + reach[h]


@functools.cache
def respond_round(raises: int, is_first: bool) -> Any:
    """Return the kernel for a maximum of raises and for who acts first."""
    num_ends = 2 * raises + 1
    ends_size = 2 * num_ends

    @device.jit
    def respond(values, met, positions, bet, dead, hand_cards, out):
        """Write into `out` [N, P, H] what hands win from each position of a round (see the CPU's).

        `values` [N, P', H], `met` [N, Q, H], `dead` [N].
        """
        p, i = cuda.blockIdx.x, cuda.blockIdx.y
        ends = cuda.local.array(ends_size, float64)
        gone = dead[i]
        for h in range(cuda.threadIdx.x, hand_cards.shape[0], cuda.blockDim.x):
            value = 0.0
            if not ((gone >> int64(hand_cards[h, 0])) | (gone >> int64(hand_cards[h, 1]))) & 1:
                for e in range(num_ends):
                    row, share = positions.row[p, e], positions.scale[p, e]
                    ends[2 * e], ends[2 * e + 1] = 0.0, 0.0
                    if row >= 0:
                        own = values[i, positions.following[p, e], h]
                        ends[2 * e] = _times_double(share, own)
                        ends[2 * e + 1] = _times_double(share, met[i, row, h])
                spent = positions.spent[p]
                value = _fold_double(ends, spent, bet, False, raises, is_first, 0.0)
            out[i, p, h] = value

    return respond


@device.jit
def add_boards(values, start, weight, out):
    """Write into `out` [F, M] the weighted sums of `values` [T, M] of the boards that follow."""
    f = cuda.blockIdx.y
    m = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if m < out.shape[1]:
        total = 0.0
        for i in range(start[f], start[f + 1]):
            total += _times_double(weight[i], values[i, m])
        out[f, m] = total

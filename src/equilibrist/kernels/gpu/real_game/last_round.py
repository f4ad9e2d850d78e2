"""Best responses to all betting of the last round at once, on many boards.

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
from typing import Any

from numba import float32, float64, int32, int64, uint32

from equilibrist.kernels.gpu import device
from equilibrist.kernels.gpu.real_game.folds import fold
from equilibrist.kernels.gpu.real_game.hands import (
    CARD,
    COLUMN,
    END_AT,
    HAND,
    HIGH_AT,
    LOW_AT,
    SHARES_ONE,
    SHARES_THREE,
    SHARES_TWO,
    U,
)
from equilibrist.kernels.gpu.real_game.lanes import units_of
from equilibrist.kernels.gpu.real_game.products import times

cuda = device.cuda()
_0, _1, _2, _3, _4 = U(0), U(1), U(2), U(3), U(4)


@device.part
def _low(word, sums, width):
    """Return where the sum of a hand's lower card is."""
    return U(sums + (U(word) >> LOW_AT & CARD) * width)


@device.part
def _high(word, sums, width):
    """Return where the sum of a hand's higher card is."""
    return U(sums + (U(word) >> HIGH_AT & CARD) * width)


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
def _add_hands(room, sums, hands, span, lanes, place, first_column, width):
    """Add the units of the hands of a span to the sums of their cards; return their total.

    Four hands are on their way while four are added.
    """
    h, end = span
    last = U(end - _1)
    w0, w1 = room[U(hands + h)], room[U(hands + min(U(h + _1), last))]
    w2, w3 = room[U(hands + min(U(h + _2), last))], room[U(hands + min(U(h + _3), last))]
    x0 = units_of(lanes, place, first_column, w0, width)
    x1 = units_of(lanes, place, first_column, w1, width)
    x2 = units_of(lanes, place, first_column, w2, width)
    x3 = units_of(lanes, place, first_column, w3, width)
    total = int64(0)
    while h < end:
        then = U(h + _4)
        v0, v1 = room[U(hands + min(then, last))], room[U(hands + min(U(then + _1), last))]
        v2, v3 = room[U(hands + min(U(then + _2), last))], room[U(hands + min(U(then + _3), last))]
        y0 = units_of(lanes, place, first_column, v0, width)
        y1 = units_of(lanes, place, first_column, v1, width)
        y2 = units_of(lanes, place, first_column, v2, width)
        y3 = units_of(lanes, place, first_column, v3, width)
        shares = U(w1) & SHARES_ONE | U(w2) & SHARES_TWO | U(w3) & SHARES_THREE
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
                end = U(U(room[U(own_hands + begin)] >> COLUMN) >> END_AT)
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
                                units = units_of(lanes, place, first_column, word, width)
                                low, high = _halves(room[U(won + at)])
                                ends_low[2 * e] = times(low, unit_low[e])
                                ends_high[2 * e] = times(high, unit_high[e])
                                low, high = _halves(room[U(met + at)] + units)
                                ends_low[2 * e + 1] = times(low, unit_low[e])
                                ends_high[2 * e + 1] = times(high, unit_high[e])
                            at = U((U(word) & HAND) * num_lanes + low_lane)
                            case = first_case
                            while case < last_case:
                                low = lanes.chips[case, low_lane]
                                high = lanes.chips[case, high_lane]
                                low = fold(ends_low, low, bet, True, raises, is_first, zero)
                                high = fold(ends_high, high, bet, True, raises, is_first, zero)
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

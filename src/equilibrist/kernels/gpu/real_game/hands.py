"""Hands of boards on the GPU: their columns, and their order on a river."""

from __future__ import annotations

from numba import int32, int64, uint32

from equilibrist.kernels import rank_tables
from equilibrist.kernels.gpu import device

cuda = device.cuda()
MOST_HANDS = 1326
BLOCKED = (1 << 31) - 1  # sorts behind all hands
# A hand of a river in one number: its number, its cards, whether it shares one with each of the
# three hands before it, its column, and where its equals end. Indices are unsigned and of 32 bits:
# for others the compiler writes three instructions instead of one.
U = uint32
LOW, HIGH, SHARES, COLUMN, END = 11, 17, 23, 32, 53
SHARES_ONE, SHARES_TWO, SHARES_THREE = U(1 << SHARES), U(3 << SHARES), U(7 << SHARES)
LOW_AT, HIGH_AT, END_AT = U(LOW), U(HIGH), U(END - COLUMN)
HAND, CARD, ANY_COLUMN = U((1 << LOW) - 1), U(63), U((1 << (END - COLUMN)) - 1)
_0, _1 = U(0), U(1)
_hand_value = device.part(rank_tables.hand_value)


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
    """Write the hands [N, n] of boards [N, 5] in order, each as one number (see `LOW`).

    `dead` [N] are the cards that nobody can hold, one bit each; `columns` [N, H]. Cards are
    numbered without the dead ones.
    """
    keys = cuda.shared.array(MOST_HANDS, int32)
    sorted_cards = cuda.shared.array(MOST_HANDS, int32)
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
            cards = low << LOW | high << HIGH
            out[i, place] = h | cards | column << COLUMN | int64(end) << END
    cuda.syncthreads()
    for place in range(cuda.threadIdx.x, out.shape[1], cuda.blockDim.x):
        own, shares = sorted_cards[place], int64(0)
        for back in range(1, min(3, place) + 1):
            other = sorted_cards[place - back]
            low, high = other >> 6, other & 63
            is_shared = own >> 6 == low or own & 63 == low or own >> 6 == high or own & 63 == high
            shares |= int64(is_shared) << (back - 1)
        out[i, place] |= shares << SHARES

"""Hands of boards, listed by bucket, and the matrices of what buckets win from hands."""

from __future__ import annotations

from typing import Any, NamedTuple

from numba import float32, int32, int64

from equilibrist.kernels import rank_tables
from equilibrist.kernels.gpu import device
from equilibrist.kernels.gpu.real_game.hands import BLOCKED, MOST_HANDS

cuda = device.cuda()
CARDS = 56  # columns of sums by card: 52 cards, then all, then zeros
_HAND_BITS = 11
_hand_value = device.part(rank_tables.hand_value)


class Lists(NamedTuple):
    """Hands of N boards, n on each, sorted by bucket; at most G different buckets on a board."""

    hand: Any  # [N, n] int16
    group: Any  # [N, n] int16 number of the bucket among those of the board
    value: Any  # [N, n] int32 strength, on rivers
    count: Any  # [N] int32 number of different buckets
    bucket: Any  # [N, G] int32
    start: Any  # [N, G + 1] int32 where the hands of each bucket start
    inverse: Any  # [N, K] int16 number of each bucket among those of the board; −1 if absent


@device.jit
def list_hands(tables, boards, dead, hand_cards, columns, lists):
    """Fill `lists` from the buckets `columns` [N, H] of the hands on N boards.

    `boards` are rivers [·, 5], which give values to hands if `lists` has room for them.
    """
    keys = cuda.shared.array(MOST_HANDS, int32)
    ordered = cuda.shared.array(MOST_HANDS, int32)
    i, t, width = cuda.blockIdx.x, cuda.threadIdx.x, cuda.blockDim.x
    num_hands, n, gone = hand_cards.shape[0], lists.hand.shape[1], dead[i]
    key, mask = tables.start, tables.card_mask[boards[i, 0]]
    key += tables.card_key[boards[i, 0]]
    for k in range(1, boards.shape[1]):
        key += tables.card_key[boards[i, k]]
        mask += tables.card_mask[boards[i, k]]
    for k in range(t, lists.inverse.shape[1], width):
        lists.inverse[i, k] = -1
    for h in range(t, num_hands, width):
        low, high = int64(hand_cards[h, 0]), int64(hand_cards[h, 1])
        keys[h] = BLOCKED
        if not ((gone >> low) | (gone >> high)) & 1:
            keys[h] = columns[i, h] << _HAND_BITS | h
    cuda.syncthreads()
    for h in range(t, num_hands, width):
        own, place = keys[h], int32(0)
        if own < BLOCKED:
            for other in range(num_hands):
                place = int32(place + int32(keys[other] < own))
            ordered[place] = own
    cuda.syncthreads()
    for place in range(t, n, width):
        own, group = ordered[place], int32(0)
        for j in range(1, place + 1):
            is_other = ordered[j] >> _HAND_BITS != ordered[j - 1] >> _HAND_BITS
            group = int32(group + int32(is_other))
        column, h = own >> _HAND_BITS, own & ((1 << _HAND_BITS) - 1)
        lists.hand[i, place], lists.group[i, place] = h, group
        if place == 0 or ordered[place - 1] >> _HAND_BITS != column:
            lists.bucket[i, group], lists.start[i, group] = column, place
            lists.inverse[i, column] = group
        if place == n - 1:
            lists.count[i], lists.start[i, group + 1] = group + 1, n
        if lists.value.shape[1] == n:
            low, high = int64(hand_cards[h, 0]), int64(hand_cards[h, 1])
            own_key = key + tables.card_key[low] + tables.card_key[high]
            own_mask = mask + tables.card_mask[low] + tables.card_mask[high]
            lists.value[i, place] = _hand_value(tables, own_key, own_mask)


@device.jit
def build_matrix(lists, hand_cards, width, out):
    """Write into `out` [N, G, width + CARDS] the matrix of each river.

    For a bucket and the hand at a place: how many hands of the bucket it beats, less those that
    beat it. After `width` places: the bucket's number of hands with each card, and of all.
    """
    values = cuda.shared.array(MOST_HANDS, int32)
    masks = cuda.shared.array(MOST_HANDS, int64)
    i, t = cuda.blockIdx.x, cuda.threadIdx.x
    n, count = lists.hand.shape[1], lists.count[i]
    for place in range(t, n, cuda.blockDim.x):
        h = lists.hand[i, place]
        masks[place] = int64(1) << int64(hand_cards[h, 0]) | int64(1) << int64(hand_cards[h, 1])
        values[place] = lists.value[i, place]
    cuda.syncthreads()
    for place in range(t, out.shape[2], cuda.blockDim.x):
        is_hand, is_card = place < n, place >= width
        own = values[place] if is_hand else int32(0)
        mask = masks[place] if is_hand else int64(-1)
        if is_card:
            card = place - width
            mask = int64(1) << int64(card) if card < 52 else int64(-1 if card == 52 else 0)
        for k in range(out.shape[1]):
            total = int32(0)
            if k < count and (is_hand or is_card):
                for j in range(lists.start[i, k], lists.start[i, k + 1]):
                    shares = masks[j] & mask != 0
                    if is_card:
                        total = int32(total + int32(shares))
                    elif not shares:
                        total = int32(total + int32(own > values[j]) - int32(own < values[j]))
            out[i, k, place] = float32(total)


@device.jit
def scale_rows(rows, row, smallest, out, unit):
    """Write rows of a plan [Q, K] into `out` [S, K], divided by their largest number, `unit`."""
    s = cuda.blockIdx.x
    largest = float32(0)
    for k in range(rows.shape[1]):
        largest = max(largest, float32(rows[row[s], k]))
    factor = float32(1) / largest if largest >= smallest else float32(0)
    for k in range(cuda.threadIdx.x, rows.shape[1], cuda.blockDim.x):
        out[s, k] = float32(rows[row[s], k]) * factor
    if cuda.threadIdx.x == 0:
        unit[s] = largest if largest >= smallest else float32(0)


@device.jit
def gather_rows(scaled, lists, first, rows_of_block, out):
    """Write into `out` [C, S, G] the numbers of `scaled` [S, K] for the buckets on C boards."""
    c = cuda.blockIdx.y
    start, size = cuda.blockIdx.x * rows_of_block, out.shape[2]
    end = min(start + rows_of_block, out.shape[1])
    count = lists.count[first + c]
    for k in range(cuda.threadIdx.x, size, cuda.blockDim.x):
        column = lists.bucket[first + c, k] if k < count else int32(0)
        for s in range(start, end):
            out[c, s, k] = float32(scaled[s, column]) if k < count else float32(0)


@device.jit
def add_buckets(found, lists, places, weights, rows, out):
    """Add to rows of `out` [Q, K] what `found` [C, S, G] has for the buckets of C boards.

    `places` is (first board, their number); `weights` (of boards [N], of all) and `rows` (factor
    [S], number [S]).
    """
    s = cuda.blockIdx.x
    k = cuda.blockIdx.y * cuda.blockDim.x + cuda.threadIdx.x
    first, number = places
    if k < out.shape[1]:
        total = float32(0)
        for c in range(number):
            group = lists.inverse[first + c, k]
            if group >= 0:
                total += weights[0][first + c] * float32(found[c, s, group])
        out[rows[1][s], k] += rows[0][s] * float32(weights[1]) * total

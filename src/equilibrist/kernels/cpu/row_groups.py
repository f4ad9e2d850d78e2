"""Exact counts of how often few buckets of one player meet many of the other, and which wins.

The rows, buckets of the player with fewer buckets, are grouped with their neighbours. On a board,
hands in order of value, a walk stores for a group how many hands of each of its rows have passed,
in total and by the cards they hold. The hands that a hand of the other player beats are then one
vector: all hands passed, less those that share its first card, less those that share its second. A
group is as wide as the counts of a column that is added to, so that a hand costs a few vector
instructions per group where pair by pair it would cost fifty additions.
"""

from __future__ import annotations

import numpy as np

from equilibrist.kernels.cpu.equity import HAND, end_of_group, hand_sums, sorted_hands
from equilibrist.kernels.cpu.joint import bucket_hands
from equilibrist.kernels.cpu.simd import LANES, load, spread, store
from equilibrist.kernels.cpu.team import threaded
from equilibrist.kernels.parts import part

WIDTH = 32  # rows of a group
_WIDTH = np.uint64(WIDTH)
_CARDS = 53  # cards of a deck, and one that nobody holds


@threaded(lambda tables, boards, *_: len(boards), _nrt=True)
def write_walks(begin, end, tables, boards, hands, deals, renamings, rows, cols, walks):
    """Write the hands and buckets that the walks over some boards of the last street visit.

    Arguments as in `joint.bucket_showdowns`. `walks` = (size [B], order [B, H], row [L, H], column
    [L, H]): the number of hands that a board does not block, these by value, and for every deal
    onto the board their buckets.
    """
    cards, columns = hands
    start, origin, renaming, _ = deals
    renamed, inverse = renamings
    sizes, orders, ones, twos = walks
    for board in range(begin, end):
        keys, masks = hand_sums(tables, cards)
        spare = np.empty(len(cards), np.uint32)
        sizes[board] = sorted_hands(tables, boards[board], keys, masks, orders[board], spare)
        order = orders[board, : sizes[board]]
        for link in range(start[board], start[board + 1]):
            before, image = origin[link], renamed[inverse[renaming[link]]]
            bucket_hands(order, columns, image, before, board, rows, ones[link - start[0]])
            bucket_hands(order, columns, image, before, board, cols, twos[link - start[0]])


@threaded(lambda hands, has_two, start, weights, walks, lost, *_: len(lost), _nrt=True)
def add_row_groups(begin, end, hands, has_two, start, weights, walks, lost, tied, met):
    """Add the pairs that walks meet, each with its weight [L], to counts [groups, K1, WIDTH].

    `hands` [H, 2] are the cards of all hands; with `has_two` false the second of each is card 52.
    `lost` counts pairs whose row has the smaller value, `tied` equal ones, `met` all.
    """
    sizes, orders, ones, twos = walks
    number = lost.dtype.type
    for group in range(begin, end):
        passed = np.zeros(WIDTH, lost.dtype), np.zeros(WIDTH, lost.dtype)
        held = np.zeros(_CARDS * WIDTH, lost.dtype), np.zeros(_CARDS * WIDTH, lost.dtype)
        outs = lost[group].ravel(), tied[group].ravel(), met[group].ravel()
        for board in range(len(sizes)):
            for link in range(start[board] - start[0], start[board + 1] - start[0]):
                weight = number(weights[link])
                _walk(
                    hands, orders[board, : sizes[board]], ones[link], twos[link], group * WIDTH,
                    weight, weight if has_two else number(0), passed, held, outs,
                )  # fmt: skip


@part(forceinline=False)
def _walk(hands, order, one, two, first, weight, again, passed, held, outs):
    """Walk over the hands of a board; `again` is the weight of a hand's second card."""
    (below, equal), (held_below, held_equal), (lost, tied, met) = passed, held, outs
    below[:] = 0
    held_below[:] = 0
    start = 0
    while start < len(order):
        stop = end_of_group(order, start, len(order))
        is_met = False
        for k in range(start, stop):
            cards = hands[order[k] & HAND]
            _add(lost, two[k], below, held_below, cards)
            if first <= one[k] < first + WIDTH:
                is_met = True
                _pass(equal, held_equal, one[k] - first, cards, weight, again)
        if is_met:
            for k in range(start, stop):
                cards = hands[order[k] & HAND]
                _add(tied, two[k], equal, held_equal, cards)
                if first <= one[k] < first + WIDTH:
                    tied[_place(two[k], one[k] - first)] += again  # the hand itself left twice
            for k in range(start, stop):
                if first <= one[k] < first + WIDTH:
                    cards = hands[order[k] & HAND]
                    _pass(below, held_below, one[k] - first, cards, weight, again)
                    _pass(equal, held_equal, one[k] - first, cards, -weight, -again)
        start = stop
    for k in range(len(order)):
        _add(met, two[k], below, held_below, hands[order[k] & HAND])
        if first <= one[k] < first + WIDTH:
            met[_place(two[k], one[k] - first)] += again


@part
def _place(row, lane):
    return np.uint64(row) * _WIDTH + np.uint64(lane)


@part
def _pass(counts, held, lane, cards, weight, again):
    """Count a hand of the group."""
    counts[lane] += weight
    held[_place(cards[0], lane)] += weight
    held[_place(cards[1], lane)] += again


@part
def _add(out, column, counts, held, cards):
    """Add to a column the hands passed that share no card with a hand."""
    at, first, second = _place(column, 0), _place(cards[0], 0), _place(cards[1], 0)
    zero = spread(counts.dtype.type(0))
    for t in range(0, WIDTH, LANES):
        i = np.uint64(t)
        more = load(counts, i, zero) - load(held, first + i, zero) - load(held, second + i, zero)
        store(out, at + i, load(out, at + i, zero) + more)

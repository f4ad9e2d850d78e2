"""Rollouts of hands to later streets: boards linked to boards, and values carried back.

Boards are numbered up to suits, one of each class representing all; hands keep their names. A deal
onto a board leads to a board whose suits have other names, so every link stores the number of a
*renaming*: row r of `renamed` [24, H] says which hand each hand becomes. Tables are [boards, H], −1
where the board blocks the hand, so a link leads to −1 where the new cards block it.
"""

from __future__ import annotations

import numpy as np

from equilibrist.kernels.cpu.equity import (
    HAND,
    end_of_group,
    hand_sums,
    sorted_hands,
)
from equilibrist.kernels.cpu.isomorphism import number_deal, unindex_deal
from equilibrist.kernels.cpu.team import threaded
from equilibrist.kernels.parts import kernel, part

BLOCKED = -1
_RANKS = 13


@part(forceinline=False)
def locate(tables, renaming_of, cards, scratch):
    """Return the number of a complete board, and of the renaming that makes it canonical.

    Suits are distinguished by the ranks they got in each round; suits with the same ranks are
    interchangeable. `renaming_of` [256] has the number of a permutation, two bits per suit.
    """
    last = len(tables.round_cards) - 1
    index = number_deal(tables, cards, last)
    unindex_deal(tables, index, last, scratch)
    code, taken = 0, 0
    for suit in range(4):
        ranks = _suit_ranks(tables, cards, suit)
        image = 0
        while (taken >> image) & 1 or _suit_ranks(tables, scratch, image) != ranks:
            image += 1
        taken |= 1 << image
        code |= image << (2 * suit)
    return index, renaming_of[code]


@part
def _suit_ranks(tables, cards, suit):
    """Return the ranks of a suit in each round, 13 bits per round; negative if not in the deck."""
    ranks, at = np.int64(0), 0
    for r in range(len(tables.round_cards)):
        for _ in range(tables.round_cards[r]):
            if cards[at] & 3 == suit:
                ranks |= np.int64(1) << (_RANKS * r + np.int64(cards[at] >> 2))
            at += 1
    return ranks if suit >= 4 - tables.num_suits else -1 - suit


@threaded(lambda tables, renaming_of, boards, *_: len(boards), _nrt=True)
def link_boards(begin, end, tables, renaming_of, boards, deals, child, renaming):
    """Find where each deal onto each board leads.

    `boards` [B, n] uint8 and `deals` [B, D, k] uint8, the cards that may come; `tables` number
    boards of n + k cards. Writes `child` [B, D] int32 and `renaming` [B, D] uint8.
    """
    for b in range(begin, end):
        old, new = boards.shape[1], deals.shape[2]
        cards, scratch = np.empty(old + new, np.uint8), np.empty(old + new, np.uint8)
        cards[:old] = boards[b]
        for d in range(deals.shape[1]):
            cards[old:] = deals[b, d]
            child[b, d], renaming[b, d] = locate(tables, renaming_of, cards, scratch)


@kernel(_nrt=True)
def locate_board(tables, renaming_of, cards):
    """Run `locate` for one board `cards` [n] uint8."""
    return locate(tables, renaming_of, cards, np.empty(len(cards), np.uint8))


@threaded(lambda tables, renaming_of, boards, *_: len(boards), grain=256, _nrt=True)
def locate_boards(begin, end, tables, renaming_of, boards, number, renaming):
    """Run `locate` for `boards` [N, n] uint8; write `number` [N] int32 and `renaming` [N] uint8."""
    scratch = np.empty(boards.shape[1], np.uint8)
    for i in range(begin, end):
        number[i], renaming[i] = locate(tables, renaming_of, boards[i], scratch)


@threaded(lambda tables, boards, hands, columns, out: len(boards), grain=4, _nrt=True)
def strengths(begin, end, tables, boards, hands, columns, out):
    """Write into `out` [B, H] int16 the results of hands against a random one: 2 · wins + ties.

    `boards` [B, n] are complete; `hands` [N, 1 or 2] are those of the deck, `columns` [N] their
    places among all H. Blocked hands get −1.
    """
    for b in range(begin, end):
        keys, masks = hand_sums(tables, hands)
        order, spare = np.empty(len(hands), np.uint32), np.empty(len(hands), np.uint32)
        held = np.zeros(53, np.int64)  # hands so far by card; the last place is for no second card
        out[b] = BLOCKED
        alive = sorted_hands(tables, boards[b], keys, masks, order, spare)
        start = 0
        while start < alive:
            stop = end_of_group(order, start, alive)
            for k in range(start, stop):
                i = order[k] & HAND
                out[b, columns[i]] = start - _held(held, hands, i)
            for k in range(start, stop):
                for side in range(hands.shape[1]):
                    held[hands[order[k] & HAND, side]] += 1
            # The hand itself is in all sums: once in the number, once with each of its cards.
            itself = hands.shape[1] - 1
            for k in range(start, stop):
                i = order[k] & HAND
                out[b, columns[i]] += stop - _held(held, hands, i) + itself
            start = stop


@part
def _held(held, hands, i):
    total = np.int64(0)
    for side in range(hands.shape[1]):
        total += held[hands[i, side]]
    return total


@threaded(lambda values, child, renaming, renamed, out: len(child), grain=4, _nrt=True)
def roll_sums(begin, end, values, child, renaming, renamed, out):
    """Write into `out` [B, H] the sum of `values` [children, H] over all deals onto a board.

    −1 where a hand has no deal left, which is where the board blocks it.
    """
    num_hands = np.uint64(values.shape[1])
    for b in range(begin, end):
        total = np.zeros(values.shape[1], out.dtype)
        count = np.zeros(values.shape[1], np.int32)
        for d in range(child.shape[1]):
            row, image = values[child[b, d]], renamed[renaming[b, d]]
            for h in range(num_hands):
                value = row[np.uint64(image[h])]
                total[h] += max(value, 0)
                count[h] += value >= 0
        for h in range(num_hands):
            out[b, h] = total[h] if count[h] > 0 else BLOCKED


@threaded(lambda labels, child, renaming, renamed, boards, out: len(boards))
def roll_histograms(begin, end, labels, child, renaming, renamed, boards, out):
    """Write into `out` [N, H, K] the number of deals from each hand to each label, on `boards` [N].

    `labels` [children, H], 0 … K − 1 or −1.
    """
    for n in range(begin, end):
        b = boards[n]
        out[n] = 0
        for d in range(child.shape[1]):
            row, image = labels[child[b, d]], renamed[renaming[b, d]]
            for h in range(labels.shape[1]):
                label = row[image[h]]
                if label >= 0:
                    out[n, h, label] += 1


# --- scalars within buckets -----------------------------------------------------------------------


@threaded(lambda values, labels, weights, out: len(out))
def tally(begin, end, values, labels, weights, out):
    """Count values within buckets: add into `out` [chunks, P, M] int64.

    `values` [B, H] 0 … M − 1 and `labels` [B, H] 0 … P − 1, or −1; boards have `weights` [B].
    """
    num_chunks, num_boards = out.shape[0], values.shape[0]
    for chunk in range(begin, end):
        start, stop = num_boards * chunk // num_chunks, num_boards * (chunk + 1) // num_chunks
        for b in range(start, stop):
            for h in range(values.shape[1]):
                if labels[b, h] >= 0 and values[b, h] >= 0:
                    out[chunk, labels[b, h], values[b, h]] += weights[b]


@threaded(lambda values, child, renaming, renamed, labels, weights, out: len(out))
def tally_next(begin, end, values, child, renaming, renamed, labels, weights, out):
    """Count the next street's values within this street's buckets: add into [chunks, P, M].

    `values` [children, H], `labels` [B, H] of the boards that the links start from.
    """
    num_chunks, num_boards = out.shape[0], child.shape[0]
    for chunk in range(begin, end):
        start, stop = num_boards * chunk // num_chunks, num_boards * (chunk + 1) // num_chunks
        for b in range(start, stop):
            for d in range(child.shape[1]):
                row, image = values[child[b, d]], renamed[renaming[b, d]]
                for h in range(labels.shape[1]):
                    value = row[image[h]]
                    if value >= 0 and labels[b, h] >= 0:
                        out[chunk, labels[b, h], value] += weights[b]


@part
def interval(first, lower, parent, value):
    """Return the last of a bucket's intervals that starts at or below a value, as a label."""
    low, high = first[parent], first[parent + 1]
    while high - low > 1:
        middle = (low + high) // 2
        if lower[middle] <= value:
            low = middle
        else:
            high = middle
    return low


@threaded(lambda first, lower, parents, values, out: len(values), grain=4096)
def find_intervals(begin, end, first, lower, parents, values, out):
    """Write into `out` [N] the interval of each value within its parent, −1 where blocked."""
    for i in range(begin, end):
        out[i] = interval(first, lower, parents[i], values[i]) if values[i] >= 0 else BLOCKED


@threaded(lambda values, labels, first, lower, out: len(values), grain=4)
def label_values(begin, end, values, labels, first, lower, out):
    """Write into `out` [B, H] the interval of each value within its bucket, −1 where blocked.

    Bucket p of `labels` [B, H] has intervals `first[p]` … `first[p + 1]` − 1, which start at
    `lower` [K], the first of them at the least value.
    """
    for b in range(begin, end):
        for h in range(values.shape[1]):
            out[b, h] = BLOCKED
            if values[b, h] >= 0:
                out[b, h] = interval(first, lower, labels[b, h], values[b, h])


@kernel
def label_board(values, columns, labels, first, lower, out):
    """Run `label_values` on one board: `columns` [H] are places in `values` [H] of its class."""
    for h in range(len(columns)):
        out[h] = BLOCKED
        value = values[columns[h]]
        if value >= 0:
            out[h] = interval(first, lower, labels[h], value)


@kernel
def label_following(values, links, renamed, hands, labels, cut, out):
    """Write into `out` [N, n] the labels of `hands` [N, n] on N boards that follow one board.

    `links` is (index of each board in `values` [N], its renaming [N]); `renamed` [24, H] are the
    columns of hands by renaming, `labels` [H] those on the board before. `cut` is (first, lower) as
    in `label_values`.
    """
    number, renaming = links
    first, lower = cut
    for i in range(hands.shape[0]):
        row, image = values[number[i]], renamed[renaming[i]]
        for j in range(hands.shape[1]):
            h = hands[i, j]
            out[i, j] = interval(first, lower, labels[h], row[image[h]])


@kernel
def sum_intervals(values, links, renamed, labels, cut, out):
    """Add into `out` [3, K] how often each interval is met, its values, and their squares.

    `links` is (child, renaming, weights [B]), `cut` is (first, lower) as in `label_values`.
    """
    child, renaming, weights = links
    first, lower = cut
    for b in range(child.shape[0]):
        for d in range(child.shape[1]):
            row, image = values[child[b, d]], renamed[renaming[b, d]]
            for h in range(labels.shape[1]):
                value = np.float64(row[image[h]])
                if value >= 0 and labels[b, h] >= 0:
                    k = interval(first, lower, labels[b, h], value)
                    out[0, k] += weights[b]
                    out[1, k] += weights[b] * value
                    out[2, k] += weights[b] * value * value

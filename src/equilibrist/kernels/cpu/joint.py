"""Counts of how often labelled hands meet on boards, and which wins: over all pairs, exactly.

On one board, hands in order of value, a label beats another once for each pair in which its hand
comes after the other's. A walk stores the number of hands of each label that have passed and adds
that row for every label of a group of equal value: labels times labels, not hands times hands.
Pairs that share a card are then subtracted one by one; a hand shares a card with 90 others in
hold'em, not with a thousand.

Counts are whole numbers in float64, far below 2**53, so sums are exact in any order.
"""

from __future__ import annotations

import numpy as np

from equilibrist.kernels.cpu.equity import HAND, end_of_group, hand_sums, sorted_hands
from equilibrist.kernels.cpu.rollout import interval
from equilibrist.kernels.cpu.team import threaded
from equilibrist.kernels.parts import kernel, part


@threaded(lambda tables, boards, multiplicity, hands, classes, wins, ties: len(wins), _nrt=True)
def class_showdowns(begin, end, tables, boards, multiplicity, hands, classes, wins, ties):
    """Play all classes of hands against each other on every board, without blocked pairs.

    `hands` [n, 2] uint8 and their `classes` [n] uint8. Adds into `wins` and `ties`
    [chunks, 169, 169] float64 how often a hand of the row's class beats, ties one of the column's.
    """
    num_chunks, num_boards = wins.shape[0], boards.shape[0]
    for chunk in range(begin, end):
        keys, masks = hand_sums(tables, hands)
        order, spare = np.empty(len(hands), np.uint32), np.empty(len(hands), np.uint32)
        labels = np.empty(len(hands), np.int32)
        start, stop = num_boards * chunk // num_chunks, num_boards * (chunk + 1) // num_chunks
        for b in range(start, stop):
            times = np.float64(multiplicity[b])
            alive = sorted_hands(tables, boards[b], keys, masks, order, spare)
            _label(order[:alive], classes, labels)
            add_pairs(order[:alive], hands, labels, labels, times, wins[chunk], ties[chunk])


@part
def _label(order, classes, labels):
    """Write the labels of hands in the order of their values."""
    for k in range(len(order)):
        labels[k] = classes[order[k] & HAND]


@threaded(
    lambda tables, boards, hands, deals, renamings, rows, cols, counts: len(counts[0]), _nrt=True
)
def bucket_showdowns(begin, end, tables, boards, hands, deals, renamings, rows, cols, counts):
    """Play all hands against each other on the last boards, counted by their buckets.

    `boards` [B, n] are the last street's, `hands` = (cards [N, 1 or 2], columns [N]), `deals` =
    (start [B + 1], from [L], renaming [L], weights [boards before]) the deals that lead to each
    board. `renamings` = (renamed [24, H], inverse [24], which undoes a renaming). `rows` and `cols`
    are the players' buckets, each (labels [boards before, H], strength [B, H], first [P + 1], lower
    [K]). Adds into `counts`, wins and ties [chunks, K0, K1] float64, how often a hand of the row
    beats and ties one of the column.
    """
    cards, columns = hands
    start, origin, renaming, weights = deals
    renamed, inverse = renamings
    wins, ties = counts
    num_chunks = wins.shape[0]
    for chunk in range(begin, end):
        keys, masks = hand_sums(tables, cards)
        order, spare = np.empty(len(cards), np.uint32), np.empty(len(cards), np.uint32)
        one, two = np.empty(len(cards), np.int32), np.empty(len(cards), np.int32)
        for board in range(chunk, boards.shape[0], num_chunks):
            if start[board] == start[board + 1]:
                continue
            alive = sorted_hands(tables, boards[board], keys, masks, order, spare)
            sorted_order = order[:alive]
            for link in range(start[board], start[board + 1]):
                before, image = origin[link], renamed[inverse[renaming[link]]]
                bucket_hands(sorted_order, columns, image, before, board, rows, one)
                bucket_hands(sorted_order, columns, image, before, board, cols, two)
                add_pairs(sorted_order, cards, one, two, weights[before], wins[chunk], ties[chunk])


@threaded(lambda parts, total: len(total), grain=8)
def move_counts(begin, end, parts, total):
    """Add the counts of threads, `parts` [chunks, K0, K1], to `total` [K0, K1], and empty them."""
    for row in range(begin, end):
        for chunk in range(parts.shape[0]):
            for column in range(parts.shape[2]):
                total[row, column] += parts[chunk, row, column]
                parts[chunk, row, column] = 0


@part(forceinline=False)
def bucket_hands(order, columns, image, before, board, buckets, out):
    """Write the buckets on the last street of hands in the order of their values."""
    labels, strength, first, lower = buckets
    for k in range(len(order)):
        column = columns[order[k] & HAND]
        parent = labels[before, image[column]]
        out[k] = interval(first, lower, parent, strength[board, column])


@part(forceinline=False, _nrt=True)
def add_pairs(order, hands, one, two, times, wins, ties):
    """Add all ordered pairs of hands that share no card, `times` times each.

    `order` [N] holds `value << 16 | hand`, ascending; `one` and `two` [N] are the hands' labels for
    the row and for the column.
    """
    num_columns = np.uint64(wins.shape[1])
    below = np.zeros(wins.shape[1])  # number of hands of each column's label so far
    count, columns = np.zeros(wins.shape[0]), np.zeros(wins.shape[1])  # of the group, by label
    members, others = np.empty(len(order), np.int32), np.empty(len(order), np.int32)  # its labels
    held = np.empty((2, 52, 51), np.int32)  # [2, C, hands] labels of the hands that hold a card
    size = np.zeros(52, np.int64)
    size_below = np.zeros(52, np.int64)  # number of them with a smaller value than the group's
    start = 0
    while start < len(order):
        stop = end_of_group(order, start, len(order))
        num_members = _count_labels(one, start, stop, count, members)
        num_others = _count_labels(two, start, stop, columns, others)
        for m in range(num_members):
            often, row = times * count[members[m]], wins[members[m]]
            for t in range(num_columns):
                row[t] += often * below[t]
            for o in range(num_others):
                ties[members[m], others[o]] += often * columns[others[o]]
            count[members[m]] = 0
        for o in range(num_others):
            below[others[o]] += columns[others[o]]
            columns[others[o]] = 0
        for k in range(start, stop):
            _take_blocked(order, hands, one, two, times, wins, ties, k, held, size, size_below)
        for k in range(start, stop):
            for side in range(hands.shape[1]):
                card = hands[order[k] & HAND, side]
                size_below[card] = size[card]
        start = stop


@kernel(_nrt=True)
def count_pairs(order, hands, one, two, times, wins, ties):
    """Run `add_pairs`."""
    add_pairs(order, hands, one, two, times, wins, ties)


@part
def _count_labels(labels, start, stop, count, members):
    """Count the labels of a group into `count`, list them in `members`; return their number."""
    num_members = 0
    for k in range(start, stop):
        if count[labels[k]] == 0:
            members[num_members] = labels[k]
            num_members += 1
        count[labels[k]] += 1
    return num_members


@part
def _take_blocked(order, hands, one, two, times, wins, ties, k, held, size, size_below):
    """Subtract the pairs of a hand with earlier hands that share a card, and with itself."""
    row, column = one[k], two[k]
    ties[row, column] -= times
    if hands.shape[1] == 1:
        return  # a card blocks only itself
    for side in range(2):
        card = np.uint64(hands[order[k] & HAND, side])
        num_below, num = np.uint64(size_below[card]), np.uint64(size[card])
        for i in range(num_below):
            wins[row, held[1, card, i]] -= times
        for i in range(num_below, num):
            ties[row, held[1, card, i]] -= times
            ties[held[0, card, i], column] -= times
        held[0, card, num] = row
        held[1, card, num] = column
        size[card] += 1

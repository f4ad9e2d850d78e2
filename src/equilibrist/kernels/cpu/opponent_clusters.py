"""Results of hands against each cluster of the opponent's hands, on complete boards.

One walk through the hands of a board in order of value, as for plain strength, with counts for each
cluster: of hands that have passed, and of those among them that hold a card. The number of hands
below a hand {a, b} in cluster c is `below[c] − held[a, c] − held[b, c]`, because no hand below it
holds both its cards.
"""

from __future__ import annotations

import numpy as np

from equilibrist.kernels.cpu.equity import HAND, end_of_group, hand_sums, sorted_hands
from equilibrist.kernels.cpu.rollout import BLOCKED
from equilibrist.kernels.cpu.team import threaded
from equilibrist.kernels.parts import part


@threaded(lambda tables, boards, *_: len(boards), _nrt=True)
def cluster_strengths(begin, end, tables, boards, hands, columns, clusters, out, met):
    """Write the results of hands against every cluster of hands, on every board.

    `boards` [B, n] are complete; `hands` [N, 1 or 2] are those of the deck, `columns` [N] their
    places among all H, `clusters` [N] 0 … C − 1. Writes into `out` [B, H, C] int16 2 · wins + ties
    and into `met` [B, H, C] int16 the number of hands of the cluster that can be met; blocked hands
    get −1 and 0.
    """
    itself = hands.shape[1] - 1  # a hand of two cards is subtracted twice from its own cluster
    num_clusters = out.shape[2]
    for b in range(begin, end):
        keys, masks = hand_sums(tables, hands)
        order, spare = np.empty(len(hands), np.uint32), np.empty(len(hands), np.uint32)
        below = np.zeros(num_clusters, np.int16)
        held = np.zeros((52, num_clusters), np.int16)
        out[b] = BLOCKED
        met[b] = 0
        alive = sorted_hands(tables, boards[b], keys, masks, order, spare)
        start = 0
        while start < alive:
            stop = end_of_group(order, start, alive)
            for k in range(start, stop):
                i = order[k] & HAND
                _write_passed(below, held, hands, i, out[b, columns[i]])
            for k in range(start, stop):
                i = order[k] & HAND
                below[clusters[i]] += 1
                for side in range(hands.shape[1]):
                    held[hands[i, side], clusters[i]] += 1
            for k in range(start, stop):
                i = order[k] & HAND
                row, wins = met[b, columns[i]], out[b, columns[i]]
                _write_passed(below, held, hands, i, row)
                for c in range(num_clusters):
                    wins[c] += row[c]
                wins[clusters[i]] += itself
            start = stop
        for k in range(alive):  # all have passed: the hands that a hand can meet
            i = order[k] & HAND
            _write_passed(below, held, hands, i, met[b, columns[i]])
            met[b, columns[i], clusters[i]] += itself


@part
def _write_passed(below, held, hands, i, row):
    """Write the number of hands of each cluster that have passed and share no card with hand i."""
    for c in range(len(below)):
        row[c] = below[c]
        for side in range(hands.shape[1]):
            row[c] -= held[hands[i, side], c]

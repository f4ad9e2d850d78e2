"""Kernels that rank hands by addition, with the keys and tables of `kernels/rank_tables.py`."""

from __future__ import annotations

import numpy as np

from equilibrist.kernels import rank_tables
from equilibrist.kernels.cpu.team import threaded
from equilibrist.kernels.parts import kernel, part
from equilibrist.kernels.rank_tables import NO_CARDS

hand_value = part(rank_tables.hand_value)


@part
def rank_hand(tables, cards, num_cards):
    """Return the value of one hand: `cards` [num_cards], the number the tables were built for."""
    key, mask = tables.start, NO_CARDS
    for i in range(num_cards):
        key += tables.card_key[cards[i]]
        mask += tables.card_mask[cards[i]]
    return hand_value(tables, key, mask)


@threaded(lambda tables, cards, out: len(cards), grain=8192)
def rank_hands(begin, end, tables, cards, out):
    """Write into `out` [N] uint16 the values of hands `cards` [N, n] uint8.

    v1: one loop, 43 million 7-card hands per second and core. v2: the compiler knows the number of
    cards of the common cases and unrolls them: 187 million.
    """
    if cards.shape[1] == 7:
        for i in range(np.uint64(begin), np.uint64(end)):
            out[i] = rank_hand(tables, cards[i], 7)
    elif cards.shape[1] == 6:
        for i in range(np.uint64(begin), np.uint64(end)):
            out[i] = rank_hand(tables, cards[i], 6)
    elif cards.shape[1] == 5:
        for i in range(np.uint64(begin), np.uint64(end)):
            out[i] = rank_hand(tables, cards[i], 5)
    else:
        for i in range(np.uint64(begin), np.uint64(end)):
            out[i] = rank_hand(tables, cards[i], cards.shape[1])


@kernel
def first_bad_hand(cards):
    """Return the index of the first hand of `cards` [N, n] with a bad or repeated card, or N."""
    for i in range(cards.shape[0]):
        if not _is_hand(cards[i]):
            return i
    return cards.shape[0]


@part
def _is_hand(cards):
    """Return whether all cards are known and different."""
    seen, good = NO_CARDS, True
    for j in range(cards.shape[0]):
        card = np.int64(cards[j])
        bit = np.uint64(1) << np.uint64(card & 63)
        good &= (card >= 0) & (card < 52) & (seen & bit == NO_CARDS)
        seen |= bit
    return good


@threaded(lambda tables, out: len(out))
def count_seven_card_values(begin, end, tables, out):
    """Add into `out` [L, 7462] int64 the number of 7-card hands by value, in L equal shares."""
    for lane in range(begin, end):
        pair = 0
        for a in range(52):
            for b in range(a):
                if pair % out.shape[0] == lane:
                    _count_values_below(tables, a, b, out[lane])
                pair += 1


@part(forceinline=False)
def _count_values_below(tables, a, b, out):
    """Add into `out` [7462] the values of the 7-card hands whose two highest cards are a > b."""
    key, mask = tables.card_key, tables.card_mask
    k5, m5 = tables.start + key[a] + key[b], mask[a] + mask[b]
    for c in range(b):
        k4, m4 = k5 + key[c], m5 + mask[c]
        for d in range(c):
            k3, m3 = k4 + key[d], m4 + mask[d]
            for e in range(d):
                k2, m2 = k3 + key[e], m3 + mask[e]
                for f in range(e):
                    k1, m1 = k2 + key[f], m2 + mask[f]
                    for g in range(f):
                        out[hand_value(tables, k1 + key[g], m1 + mask[g])] += 1


@part
def value_with(tables, key, board, one, two):
    """Return the value of two hole cards with a board, given by the sums of its keys and masks."""
    keys, masks = tables.card_key, tables.card_mask
    return hand_value(tables, key + keys[one] + keys[two], board + masks[one] + masks[two])

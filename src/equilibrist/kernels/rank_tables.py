"""Tables that rank hands by addition: one 64-bit key per card, one table lookup per hand.

The key of a card is a one in a base-5 digit for its rank (ranks 2–8 in the *low* number, 9–A in the
*high* number) and a one in a 4-bit counter for its suit. Keys of a hand are added; digits never
carry because a rank has four cards. The two base-5 numbers give a dense place among all multisets
of n ranks (block of the high part + place of the low part), 49,205 for seven cards, so the table of
values is 96 KiB. The suit counters start so that a flush sets their top bit; the ranks of the flush
suit come from a second sum of one bit per card.

Sums can be stored and extended: a board's key is computed once and a hand's key added to it.
"""

from __future__ import annotations

import numpy as np

from equilibrist.kernels.array_structs import RankTables
from equilibrist.kernels.hand_strengths import (
    STANDARD,
    HandRanking,
    all_strengths,
    count_strengths,
    flush_strengths,
)

LOW_RANKS = 7  # ranks whose digits are in the low number
LOW_MASK = np.uint64((1 << 17) - 1)  # 5**7 < 2**17
HIGH_SHIFT = np.uint64(17)
HIGH_MASK = np.uint64((1 << 14) - 1)  # 5**6 < 2**14
SUIT_SHIFT = 32  # four counters of 4 bits
FLUSH_BITS = np.uint64(0x8888 << SUIT_SHIFT)
FLUSH_CLUBS = np.uint64(0x0008 << SUIT_SHIFT)
FLUSH_DIAMONDS = np.uint64(0x0080 << SUIT_SHIFT)
FLUSH_HEARTS = np.uint64(0x0800 << SUIT_SHIFT)
RANKS_OF_SUIT = np.uint64(0x1FFF)
NO_CARDS = np.uint64(0)


def build_tables(num_cards: int, ranking: HandRanking = STANDARD) -> RankTables:
    """Build the tables for hands of `num_cards` cards (1 … 7)."""
    # Multisets of ranks: digits of every low and every high number, and their number of cards.
    low_digits = np.arange(5**LOW_RANKS)[:, None] // 5 ** np.arange(LOW_RANKS) % 5
    high_digits = np.arange(5 ** (13 - LOW_RANKS))[:, None] // 5 ** np.arange(13 - LOW_RANKS) % 5
    low_size, high_size = low_digits.sum(axis=1), high_digits.sum(axis=1)

    # A low number's place among those of its size; a high number's block of all fitting low ones.
    low_index = np.zeros(len(low_digits), np.uint16)
    low_of_size = [np.flatnonzero(low_size == size) for size in range(num_cards + 1)]
    for numbers in low_of_size:
        low_index[numbers] = np.arange(len(numbers))
    high_start = np.zeros(len(high_digits), np.uint16)
    multisets: list[np.ndarray] = []
    start = 0
    for high in np.flatnonzero(high_size <= num_cards):
        lows = low_of_size[num_cards - high_size[high]]
        high_start[high] = start
        start += len(lows)
        both = np.broadcast_to(high_digits[high], (len(lows), 13 - LOW_RANKS))
        multisets.append(np.hstack([low_digits[lows], both]))

    order = all_strengths(num_cards, ranking)
    value = np.searchsorted(order, count_strengths(np.vstack(multisets), num_cards, ranking))
    flush_value = np.zeros(1 << 13, np.int64)
    if num_cards >= ranking.run:
        ranks = np.arange(1 << 13)[:, None] >> np.arange(13) & 1
        flush = np.flatnonzero(ranks.sum(axis=1) >= ranking.run)
        flush_value[flush] = np.searchsorted(order, flush_strengths(ranks[flush] > 0, ranking))
    return RankTables(
        start=np.uint64(sum((8 - ranking.run) << SUIT_SHIFT + 4 * suit for suit in range(4))),
        card_key=np.array([_card_key(card) for card in range(52)], np.uint64),
        card_mask=np.array([1 << 16 * (card & 3) + (card >> 2) for card in range(52)], np.uint64),
        low_index=low_index,
        high_start=high_start,
        flush_start=np.uint64(len(value)),
        value=np.concatenate([value, flush_value]).astype(np.uint16),
    )


def _card_key(card: int) -> int:
    rank, suit = card >> 2, card & 3
    low = 5**rank if rank < LOW_RANKS else 0
    high = 0 if rank < LOW_RANKS else 5 ** (rank - LOW_RANKS)
    return low | high << int(HIGH_SHIFT) | 1 << SUIT_SHIFT + 4 * suit


def hand_value(tables: RankTables, key: np.uint64, mask: np.uint64) -> np.uint16:
    """Return the value of a hand from its sums: `start` + `card_key` of its cards, and `card_mask`.

    Plain Python, which a backend compiles unchanged. It is straight-line code on purpose: a branch
    between array reads makes Numba count references in the inner loop, which takes fifteen times as
    long as the lookup.
    """
    flush = key & FLUSH_BITS
    suit = np.uint64(flush > FLUSH_CLUBS) + np.uint64(flush > FLUSH_DIAMONDS)
    suit += np.uint64(flush > FLUSH_HEARTS)
    flush_place = tables.flush_start + ((mask >> (suit << np.uint64(4))) & RANKS_OF_SUIT)
    block = np.uint64(tables.high_start[(key >> HIGH_SHIFT) & HIGH_MASK])
    place = block + np.uint64(tables.low_index[key & LOW_MASK])
    return tables.value[place + np.uint64(flush != NO_CARDS) * (flush_place - place)]

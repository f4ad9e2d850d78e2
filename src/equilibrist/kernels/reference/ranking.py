"""Reference values of poker hands: the strengths of `kernels/hand_strengths.py`, hand by hand."""

from __future__ import annotations

import numpy as np

from equilibrist.kernels.hand_strengths import (
    STANDARD,
    Bools,
    HandRanking,
    Ints,
    all_strengths,
    count_strengths,
    flush_strengths,
)


def rank_hands(cards: Ints, ranking: HandRanking = STANDARD) -> Ints:
    """Return the values [N] of hands [N, n] of distinct cards; a higher value is a better hand."""
    counts, masks = rank_counts(cards), suit_ranks(cards)
    num_cards = cards.shape[1]
    strengths = count_strengths(counts, num_cards, ranking)
    if num_cards >= ranking.run:
        for suit in range(4):
            flush = masks[:, suit].sum(axis=1) >= ranking.run
            strengths[flush] = np.maximum(
                strengths[flush], flush_strengths(masks[flush, suit], ranking)
            )
    return np.searchsorted(all_strengths(num_cards, ranking), strengths)


def rank_counts(cards: Ints) -> Ints:
    """Return the number of cards of each rank: [N, 13] from [N, n]."""
    return (cards[:, :, None] >> 2 == np.arange(13)).sum(axis=1)


def suit_ranks(cards: Ints) -> Bools:
    """Return which ranks each suit holds: [N, 4, 13] from [N, n]."""
    deck = 4 * np.arange(13) + np.arange(4)[:, None]
    return (cards[:, :, None, None] == deck).any(axis=1)

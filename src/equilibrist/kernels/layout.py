"""The arrays that kernels share, as NamedTuples, with their axes.

Axis letters: N hands (or deals), n cards a hand, C = 52 cards, R rounds, T types, K cases.
"""

from __future__ import annotations

from typing import NamedTuple

from numpy import uint16, uint64
from numpy.typing import NDArray


class RankTables(NamedTuple):
    """Tables that turn a *sum* over cards into the value of a hand (`kernels/cpu/ranking.py`)."""

    start: uint64  # what an empty hand's key sum begins with: the bias of the suit counters
    card_key: NDArray[uint64]  # [C] rank digits and suit counter of a card, to be added
    card_mask: NDArray[uint64]  # [C] one bit a card, 16 bits a suit, to be added
    low_index: NDArray[uint16]  # [5**7] place among multisets of low ranks of the same size
    high_start: NDArray[uint16]  # [5**6] where the block of a multiset of high ranks begins
    value: NDArray[uint16]  # [multisets of n ranks] value of a hand without a flush
    flush_value: NDArray[uint16]  # [2**13] value of the ranks of the flush suit

"""The arrays that kernels share, as NamedTuples, with their axes.

Axis letters: N hands (or deals), n cards a hand, C = 52 cards, R rounds, T types, K cases.
"""

from __future__ import annotations

from typing import NamedTuple

from numpy import int32, int64, uint8, uint16, uint64
from numpy.typing import NDArray


class RankTables(NamedTuple):
    """Tables that turn a *sum* over cards into the value of a hand (`kernels/cpu/ranking.py`)."""

    start: uint64  # what an empty hand's key sum begins with: the bias of the suit counters
    card_key: NDArray[uint64]  # [C] rank digits and suit counter of a card, to be added
    card_mask: NDArray[uint64]  # [C] one bit a card, 16 bits a suit, to be added
    low_index: NDArray[uint16]  # [5**7] place among multisets of low ranks of the same size
    high_start: NDArray[uint16]  # [5**6] where the block of a multiset of high ranks begins
    flush_start: uint64  # where the flushes begin in `value`
    value: NDArray[uint16]  # [multisets of n ranks + 2**13] hands without flush; ranks of a flush


class DealTables(NamedTuple):
    """The case analysis of a deal pattern (`kernels/cpu/isomorphism.py`).

    A *type* says which suits are still interchangeable and how many ranks each has left. A *case*
    is one way in which the cards of a round fall on the suits of a type. P = 4 suit positions.
    """

    num_ranks: int64  # ranks of the deck; the deck holds the highest ones
    num_suits: int64  # suits of the deck; likewise
    round_cards: NDArray[int64]  # [R] cards dealt in each round
    multiplicity: NDArray[int64]  # [T] raw deals that a canonical deal of this type stands for
    code_start: NDArray[int64]  # [R, T] where the codes of a round and type begin in case_of_code
    case_of_code: NDArray[int32]  # case of a code (counts and equalities), −1 if impossible
    case_of_class: NDArray[int32]  # [R, T, P] one-card rounds: case, by first position of the class
    case_span: NDArray[int64]  # [R, T, 2] first case of a round and type, and the end
    child: NDArray[int32]  # [K] type after the case
    num_locals: NDArray[int64]  # [K] how many local indices the case has
    offset: NDArray[int64]  # [R, K] deals of round r that come before the case under one parent
    size: NDArray[int64]  # [R, K] deals of round r under each deal of the case
    dealt: NDArray[uint8]  # [K, P] cards that fall on each position
    choose: NDArray[uint8]  # [K, P] k of the binomial C(v, k) of each position's set, 0: a repeat
    stride: NDArray[int64]  # [K, P] weight of that binomial in the local index
    radix: NDArray[int64]  # [K, P] number of values of the digit that position belongs to
    binomial: NDArray[int64]  # [14, 14] n choose k
    subsets: NDArray[int64]  # [1718, 5] v choose k, for ranks v of sets
    popcount: NDArray[uint8]  # [2**13]

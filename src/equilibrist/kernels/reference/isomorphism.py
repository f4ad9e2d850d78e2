"""Reference for deals up to a renaming of suits: all renamings are tried.

A deal is cards [N, n] in rounds; the order of cards within a round is irrelevant.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


def canonical_deals(cards: Ints, rounds: tuple[int, ...], num_suits: int = 4) -> Ints:
    """Return the smallest of all renamings of each deal: [N, n] from [N, n], sorted in each round.

    Two deals have the same result exactly when a permutation of suits maps one to the other.
    """
    first_suit = 4 - num_suits
    best = None
    for permutation in itertools.permutations(range(first_suit, 4)):
        renamed = np.array([*range(first_suit), *permutation])[cards & 3] + (cards & ~3)
        at = 0
        for num_cards in rounds:
            renamed[:, at : at + num_cards].sort(axis=1)
            at += num_cards
        best = renamed if best is None else np.where(_precedes(renamed, best), renamed, best)
    assert best is not None
    return best


def count_deals(rounds: tuple[int, ...], num_ranks: int = 13, num_suits: int = 4) -> int:
    """Return the number of classes of deals: the mean number of deals fixed by a suit permutation.

    (Burnside's lemma.) A permutation with cycles of lengths l fixes a deal when every round deals
    whole cycles of cards, so fixed deals are coefficients of products of (1 + Σ z_r^l).
    """
    total = 0
    for permutation in itertools.permutations(range(num_suits)):
        cards = [length for length in _cycles(permutation) for _ in range(num_ranks)]
        total += _fixed_deals(cards, rounds)
    return total // math.factorial(num_suits)


def _fixed_deals(blocks: list[int], rounds: tuple[int, ...]) -> int:
    """Count the ways to assign whole blocks of cards so that every round gets its number."""
    ways = {rounds: 1}
    for block in blocks:
        more: dict[tuple[int, ...], int] = dict(ways)
        for left, number in ways.items():
            for r, wanted in enumerate(left):
                if wanted >= block:
                    rest = (*left[:r], wanted - block, *left[r + 1 :])
                    more[rest] = more.get(rest, 0) + number
        ways = more
    return ways.get(tuple(0 for _ in rounds), 0)


def _cycles(permutation: tuple[int, ...]) -> list[int]:
    lengths, seen = [], set()
    for start in range(len(permutation)):
        length, at = 0, start
        while at not in seen:
            seen.add(at)
            at = permutation[at]
            length += 1
        if length:
            lengths.append(length)
    return lengths


def _precedes(a: Ints, b: Ints) -> NDArray[np.bool_]:
    """Return whether rows of `a` come before those of `b` in lexicographic order: [N, 1] bool."""
    differs = a != b
    first = differs.argmax(axis=1)[:, None]
    return np.take_along_axis(a, first, axis=1) < np.take_along_axis(b, first, axis=1)

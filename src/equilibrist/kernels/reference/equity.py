"""Reference showdowns as comparison matrices: every hand against every hand, one board at a time.

The functions have the names of the compiled kernels: nothing is sorted, nothing is cumulated and
blocked pairs are simply set to zero.
"""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from equilibrist.kernels.reference.ranking import rank_hands

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def canonical_boards(
    deck: list[int], num_new: int, images: Ints
) -> list[tuple[tuple[int, ...], int]]:
    """Return one set of `num_new` cards of `deck` per orbit of suit permutations, and its size.

    `images` [G, 4]: the suit to which each permutation of a group maps each suit.
    """
    found = []
    for cards in itertools.combinations(deck, num_new):
        suited = np.array(cards, np.int64)
        orbit = {tuple(sorted((suited & ~3) + image[suited & 3])) for image in images}
        if cards == min(orbit):
            found.append((cards, len(orbit)))
    return found


def showdown_boards(boards: Ints, multiplicity: Floats, hands: Ints, weights: Floats) -> Floats:
    """Return the weight that every hand beats, ties and meets in a weighted range: [3, n].

    `boards` [B, 5] count `multiplicity` [B] times; `hands` [n, 2] have the opponent's `weights`.
    """
    results = np.zeros((3, len(hands)))
    for board, times in zip(boards, multiplicity, strict=True):
        wins, ties, met = showdown_matrices(board, hands)
        results += times * np.stack([wins @ weights, ties @ weights, met @ weights])
    return results


def showdown_matrices(board: Ints, hands: Ints) -> tuple[Floats, Floats, Floats]:
    """Return whether hand i beats, ties and can meet hand j on a board: [n, n] of 0 and 1."""
    blocked = np.isin(hands, board)
    live = ~(blocked[:, 0] | blocked[:, 1])
    values = np.full(len(hands), -1)
    boards = np.broadcast_to(board, (int(live.sum()), len(board)))
    values[live] = rank_hands(np.hstack([hands[live], boards]))
    share = (hands[:, None, :, None] == hands[None, :, None, :]).any(axis=(2, 3))
    met = live[:, None] & live[None, :] & ~share
    wins, ties = values[:, None] > values[None, :], values[:, None] == values[None, :]
    return (wins & met).astype(float), (ties & met).astype(float), met.astype(float)


def class_showdowns(
    boards: Ints, multiplicity: Floats, hands: Ints, classes: Ints
) -> tuple[Floats, Floats]:
    """Count how often hands of one class beat and tie hands of another: two arrays [169, 169]."""
    member = (classes[:, None] == np.arange(169)).astype(float)
    wins, ties = np.zeros((169, 169)), np.zeros((169, 169))
    for board, times in zip(boards, multiplicity, strict=True):
        win, tie, _ = showdown_matrices(board, hands)
        wins += times * member.T @ win @ member
        ties += times * member.T @ tie @ member
    return wins, ties

"""Reference results of hands against hands on one board, as matrices that a reader can verify.

Hands are N rows of one or two cards. A player's *reach* of a hand is the probability that the
player's own actions lead here with it; sums over the opponent's hands leave out those that share a
card.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def meetings(hands: NDArray[np.integer]) -> NDArray[np.float64]:
    """Return 1 where two hands have no card in common, 0 elsewhere: [N, N].

    Example:
        >>> meetings(np.array([[0, 1], [1, 2], [2, 3]])).tolist()
        [[0.0, 0.0, 1.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]
    """
    shared = (hands[:, None, :, None] == hands[None, :, None, :]).any(axis=(2, 3))
    return (~shared).astype(np.float64)


def showdowns(hands: NDArray[np.integer], values: NDArray[np.integer]) -> NDArray[np.float64]:
    """Return 1 where the first hand beats the second, −1 where it loses, 0 for ties: [N, N].

    `values` [N] say which hand is better; hands that share a card never meet.

    Example:
        >>> showdowns(np.array([[0], [1], [2]]), np.array([7, 7, 9])).tolist()
        [[0.0, 0.0, -1.0], [0.0, 0.0, -1.0], [1.0, 1.0, 0.0]]
    """
    difference = values.astype(np.int64)[:, None] - values.astype(np.int64)[None, :]
    return np.sign(difference) * meetings(hands)

"""Reference for leads now and one card later, as matrices: every hand against every hand.

Defines the results of `kernels/cpu/potential.py`: nothing is sorted, nothing cumulated.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from equilibrist.kernels.hand_strengths import STANDARD, HandRanking
from equilibrist.kernels.reference.ranking import rank_hands

Ints = NDArray[np.int64]
BLOCKED = -1


def potentials(
    boards: Ints,
    deck: Ints,
    hands: Ints,
    now: HandRanking = STANDARD,
    later: HandRanking = STANDARD,
) -> Ints:
    """Count how often a hand is ahead, tied, behind now × one card later: [B, 3, 3, N].

    Counts run over all hands of the opponent and all next cards of `deck` [m] that share no card
    with `boards` [B, n], the hand and one another; `hands` [N, 1 or 2]. 0 where a hand is blocked.
    """
    share = (hands[:, None, :, None] == hands[None, :, None, :]).any(axis=(2, 3))
    out = np.zeros((len(boards), 3, 3, len(hands)), np.int64)
    for b, board in enumerate(boards):
        before = _values(board, hands, now)
        for card in deck:
            if card in board:
                continue
            after = _values(np.append(board, card), hands, later)
            live = after != BLOCKED
            met = live[:, None] & live[None, :] & ~share
            for i, standing in enumerate(_standings(before)):
                for j, result in enumerate(_standings(after)):
                    out[b, i, j] += (standing & result & met).sum(axis=1)
    return out


def _values(board: Ints, hands: Ints, ranking: HandRanking) -> Ints:
    """Return the value of every hand on a board: [N], −1 where blocked."""
    live = ~np.isin(hands, board).any(axis=1)
    values = np.full(len(hands), BLOCKED, np.int64)
    boards = np.broadcast_to(board, (int(live.sum()), len(board)))
    values[live] = rank_hands(np.hstack([hands[live], boards]), ranking)
    return values


def _standings(values: Ints) -> tuple[NDArray[np.bool_], ...]:
    """Return whether hand i is ahead of hand j, tied with it, behind it: [N, N] each."""
    one, other = values[:, None], values[None, :]
    return one > other, one == other, one < other

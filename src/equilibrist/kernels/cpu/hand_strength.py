"""Results of one hand against all others on boards, complete or not."""

from __future__ import annotations

import numpy as np
from numba import njit

from equilibrist.kernels.cpu.equity import hand_sums
from equilibrist.kernels.cpu.ranking import hand_value
from equilibrist.kernels.rank_tables import NO_CARDS


@njit(cache=True)
def hand_values(tables, hands, board, out):
    """Write into `out` [H] int32 the values of `hands` [H, 2] with a board; −1 where blocked.

    `tables` must be built for the number of cards of a hand and the board together.
    """
    keys, masks = hand_sums(tables, hands)
    key, mask = _board_sums(tables, board)
    for h in range(len(hands)):
        out[h] = -1
        if masks[h] & mask == NO_CARDS:
            out[h] = hand_value(tables, keys[h] + key, masks[h] + mask)


@njit(cache=True)
def meetings(tables, hands, boards, own, classes, weights, out):
    """Add into `out` [K, C, 3] the weight of other hands that hand `own` beats, ties, loses to.

    `boards` [K, n] each get a row of their own, and so does each class of hands: `classes` [H] is 0
    … C − 1, or −1 for hands that cannot be held, `weights` [H]. Rows of boards that block `own` do
    not change.
    """
    keys, masks = hand_sums(tables, hands)
    for k in range(len(boards)):
        key, mask = _board_sums(tables, boards[k])
        if masks[own] & mask != NO_CARDS:
            continue
        value = hand_value(tables, keys[own] + key, masks[own] + mask)
        taken = mask | masks[own]
        for h in range(len(hands)):
            if classes[h] >= 0 and masks[h] & taken == NO_CARDS:
                other = hand_value(tables, keys[h] + key, masks[h] + mask)
                result = np.int64(other >= value) + np.int64(other > value)
                out[k, classes[h], result] += weights[h]


@njit(cache=True)
def _board_sums(tables, board):
    """Return key (with the tables' start) and mask of board cards, to which a hand's are added."""
    key, mask = tables.start, NO_CARDS
    for i in range(len(board)):
        key += tables.card_key[board[i]]
        mask += tables.card_mask[board[i]]
    return key, mask

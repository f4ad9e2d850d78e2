"""Results of one hand against all others on boards, complete or not."""

from __future__ import annotations

import numpy as np

from equilibrist.kernels.cpu.ranking import value_with
from equilibrist.kernels.parts import kernel, part
from equilibrist.kernels.rank_tables import NO_CARDS


@kernel
def hand_values(tables, hands, board, out):
    """Write into `out` [H] int32 the values of `hands` [H, 2] with a board; −1 where blocked.

    `tables` must be built for the number of cards of a hand and the board together.
    """
    key, board_mask = _board_sums(tables, board)
    for h in range(len(hands)):
        out[h] = -1
        if _mask(tables, hands, h) & board_mask == NO_CARDS:
            out[h] = value_with(tables, key, board_mask, hands[h, 0], hands[h, 1])


@kernel
def meetings(tables, hands, boards, own, classes, weights, out):
    """Add into `out` [K, C, 3] the weight of other hands that hand `own` beats, ties, loses to.

    `boards` [K, n] each get a row of their own, and so does each class of hands: `classes` [H] is 0
    … C − 1, or −1 for hands that cannot be held, `weights` [H]. Rows of boards that block `own` do
    not change.
    """
    own_mask = _mask(tables, hands, own)
    for k in range(len(boards)):
        key, board_mask = _board_sums(tables, boards[k])
        if own_mask & board_mask != NO_CARDS:
            continue
        value = value_with(tables, key, board_mask, hands[own, 0], hands[own, 1])
        taken = board_mask | own_mask
        for h in range(len(hands)):
            if classes[h] >= 0 and _mask(tables, hands, h) & taken == NO_CARDS:
                other = value_with(tables, key, board_mask, hands[h, 0], hands[h, 1])
                result = np.int64(other >= value) + np.int64(other > value)
                out[k, classes[h], result] += weights[h]


@kernel
def add_shares(tables, hands, boards, own, out, met):
    """Add into `out` [H] twice the pots that hand `own` wins from `hands` [H, 2] over all boards.

    A win counts 2, a tie 1; `met` [H] counts the boards on which the two hands meet. `boards`
    [K, n] do not block `own`. `tables` must be built for the cards of a hand and a board together.
    """
    own_mask = _mask(tables, hands, own)
    for k in range(len(boards)):
        key, board_mask = _board_sums(tables, boards[k])
        value = value_with(tables, key, board_mask, hands[own, 0], hands[own, 1])
        taken = board_mask | own_mask
        for h in range(len(hands)):
            if _mask(tables, hands, h) & taken == NO_CARDS:
                other = value_with(tables, key, board_mask, hands[h, 0], hands[h, 1])
                out[h] += np.int64(value >= other) + np.int64(value > other)
                met[h] += 1


@part
def _mask(tables, hands, h):
    """Return the mask of a hand's cards."""
    return tables.card_mask[hands[h, 0]] | tables.card_mask[hands[h, 1]]


@part
def _board_sums(tables, board):
    """Return key (with the tables' start) and mask of board cards, to which a hand's are added."""
    key, mask = tables.start, NO_CARDS
    for i in range(len(board)):
        key += tables.card_key[board[i]]
        mask += tables.card_mask[board[i]]
    return key, mask

"""EctomynX's swap rule with bit masks of ranks; `reference/swapping.py` is the reference version.

A board is one word with 16 bits per suit: the sum of its cards' `RankTables.card_mask`.
"""

from __future__ import annotations

import numpy as np

from equilibrist.kernels.cpu.team import threaded
from equilibrist.kernels.parts import part
from equilibrist.papers.ectomynx.reference.swapping import KEEP

RANKS_OF_SUIT = np.int64(0x1FFF)


@part
def in_suit(board, suit):
    """Return the ranks of a suit on a board, as a set of 13 bits."""
    return np.int64(board >> np.uint64(16 * suit)) & RANKS_OF_SUIT


@part(forceinline=False)
def swap_place(tables, one, two, board):
    """Return which of two hole cards to swap, 0 or 1, or `KEEP`; `tables` are `SwapTables`."""
    shown, longest = np.int64(0), np.int64(0)
    for suit in range(4):
        ranks = in_suit(board, suit)
        shown |= ranks
        longest = max(longest, np.int64(tables.size[ranks]))
    first, second = np.int64(1) << (one >> 2), np.int64(1) << (two >> 2)
    both = shown | first | second
    keeps_one = _is_kept(tables, one, two, board, both, shown | second, longest)
    keeps_two = _is_kept(tables, two, one, board, both, shown | first, longest)
    if keeps_one and keeps_two:
        return KEEP
    if keeps_one:
        return 1
    if keeps_two:
        return 0
    power_one = power_two = np.int64(0)
    if longest < 3:
        power_one = np.int64(tables.size[tables.draws[both] & tables.runs_with[one >> 2]])
        power_two = np.int64(tables.size[tables.draws[both] & tables.runs_with[two >> 2]])
    if power_one != power_two:
        return 0 if power_one < power_two else 1
    return 0 if first < second else 1


@part
def _is_kept(tables, card, other, board, both, without, longest):
    """Return whether the rule keeps `card`; `without` are the ranks of all other cards."""
    if both == without:  # another card has its rank
        return True
    suited = tables.size[in_suit(board, card & 3)] + 1 + (other & 3 == card & 3)
    if suited == 4 or suited == 5:
        return True
    if tables.straight[both] > tables.straight[without]:
        return True
    return longest < 3 and tables.outs[both] > 1 and tables.outs[without] <= 1


@threaded(lambda tables, holes, boards, out: len(holes), grain=2048)
def swap_places(begin, end, tables, holes, boards, out):
    """Write the choices for `holes` [N, 2] on `boards` [N, n], both uint8, into `out` [N] int8."""
    for i in range(begin, end):
        board = np.uint64(0)
        for card in boards[i]:
            board |= np.uint64(1) << np.uint64(16 * (card & 3) + (card >> 2))
        out[i] = swap_place(tables, np.int64(holes[i, 0]), np.int64(holes[i, 1]), board)

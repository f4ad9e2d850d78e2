"""EctomynX's fourteen hand classes and board textures, computed with bit masks of ranks.

`reference/texture.py` and `textures.py` state the rules in words.
"""

from __future__ import annotations

import numpy as np

from equilibrist.kernels.cpu.team import threaded
from equilibrist.kernels.parts import part
from equilibrist.papers.ectomynx.reference.texture import (
    FULL_HOUSE,
    MIDDLE_PAIR,
    NOTHING,
    OVERPAIR,
    QUADS,
    STRAIGHT,
    STRONG_DRAW,
    STRONG_FLUSH,
    THREE,
    TOP_PAIR,
    TWO_PAIR,
    WEAK_DRAW,
    WEAK_FLUSH,
    WEAK_PAIR,
)

BLOCKED = -1
_ALL_RANKS = 0x1FFF


@threaded(lambda boards, *_: len(boards), grain=4, _nrt=True)
def strength_classes(begin, end, boards, hands, columns, straight, size, lowest, out):
    """Write the class of every hand on every board into `out` [B, H] int8, −1 if blocked.

    `boards` is [B, n] uint8; `hands` [N, 2] uint8 are those of the deck, `columns` [N] their places
    among all H. `straight` [2**13] int8 is the highest card of the best straight in a set of ranks,
    −1 if none, and `size` [2**13] int8 the number of ranks; `lowest` is the lowest rank of the
    deck.
    """
    counts = np.empty(13, np.int64)
    suits = np.empty(4, np.int64)  # ranks of each suit on the board
    for b in range(begin, end):
        counts[:], suits[:] = 0, 0
        for card in boards[b]:
            counts[card >> 2] += 1
            suits[card & 3] |= 1 << (card >> 2)
        out[b] = BLOCKED
        for i in range(len(hands)):
            one, two = np.int64(hands[i, 0]), np.int64(hands[i, 1])
            if (suits[one & 3] >> (one >> 2)) & 1 or (suits[two & 3] >> (two >> 2)) & 1:
                continue
            found = made_class(one, two, counts, suits, straight, size)
            if found == NOTHING and boards.shape[1] < 5:
                found = draw_class(one, two, suits, straight, size, lowest)
            out[b, columns[i]] = found


@part
def _in_suit(one, two, suit):
    """Return the ranks of the hole cards of a suit, as a set of 13 bits."""
    ranks = 0
    if one & 3 == suit:
        ranks |= 1 << (one >> 2)
    if two & 3 == suit:
        ranks |= 1 << (two >> 2)
    return ranks


@part
def made_class(one, two, counts, suits, straight, size):
    """Return the class of a made hand, without draws."""
    high, low = max(one >> 2, two >> 2), min(one >> 2, two >> 2)
    with_high, with_low = counts[high] + 1, counts[low] + 1
    if high == low:
        with_high, with_low = with_high + 1, with_low + 1
    # Ranks on the board, ranks that it has at least twice, and our best flush.
    shown, paired, flush = 0, 0, NOTHING
    for rank in range(13):
        if counts[rank] > 0:
            shown |= 1 << rank
        if counts[rank] > 1:
            paired |= 1 << rank
    for side in range(2):
        suit = (one if side == 0 else two) & 3
        mine, board = _in_suit(one, two, suit), suits[suit]
        if straight[mine | board] > straight[board]:
            return QUADS
        if size[mine | board] >= 5 and (size[board] < 5 or mine > board & -board):
            best = 12
            while not (mine >> best) & 1:
                best -= 1
            above = _ALL_RANKS & ~board & ~((2 << best) - 1)
            flush = STRONG_FLUSH if size[above] < 3 else WEAK_FLUSH
    if with_high == 4 or with_low == 4:
        return QUADS
    if with_high == 3 and (paired & ~(1 << high) or (with_low >= 2 and high != low)):
        return FULL_HOUSE
    if with_low == 3 and (paired & ~(1 << low) or (with_high >= 2 and high != low)):
        return FULL_HOUSE
    if flush != NOTHING:
        return flush
    if straight[shown | 1 << high | 1 << low] > straight[shown]:
        return STRAIGHT
    if with_high == 3 or with_low == 3:
        return THREE
    if with_high == 2 and with_low == 2 and high != low:
        return TWO_PAIR
    if with_high != 2 and with_low != 2:
        return NOTHING
    pair = high if with_high == 2 else low
    above = size[shown & ~((2 << pair) - 1)]
    if above == 0:
        return OVERPAIR if counts[pair] == 0 else TOP_PAIR
    return MIDDLE_PAIR if above == 1 else WEAK_PAIR


@part(forceinline=False)
def draw_class(one, two, suits, straight, size, lowest):
    """Return the class of a hand's draws."""
    shown = suits[0] | suits[1] | suits[2] | suits[3]
    ranks = shown | 1 << (one >> 2) | 1 << (two >> 2)
    for side in range(2):
        suit = (one if side == 0 else two) & 3
        if size[_in_suit(one, two, suit) | suits[suit]] == 4:
            return STRONG_DRAW
    outs = 0
    for new in range(lowest, 13):
        outs += straight[ranks | 1 << new] > straight[shown | 1 << new]
    overcards = 1 << min(one >> 2, two >> 2) > shown and one >> 2 != two >> 2
    if outs > 1 or (outs == 1 and overcards):
        return STRONG_DRAW
    return WEAK_DRAW if outs == 1 or overcards else NOTHING


@part
def texture_of(tables, size, street, suits, values):
    """Return the place of a board among the textures of its street, from 0.

    `street` is 0 on the flop, 1 on the turn, 2 on the river; `suits` [4] int64 are the ranks of
    each suit, `values` the sum of the cards' values. On the flop the place is wetness × 3 +
    volatility, later wetness alone.
    """
    shown, suited = suits[0] | suits[1] | suits[2] | suits[3], 0.0
    for suit in range(4):
        suited += tables.suited[street, size[suits[suit]]]
    wetness = tables.closeness[street, shown] + suited + values / (4.0 * (street + 3))
    place = 0
    for border in tables.wetness_borders[street]:
        place += wetness >= border
    if street > 0:
        return place
    volatility = tables.flop_base[shown] + suited
    place *= 3
    for border in tables.volatility_borders:
        place += volatility >= border
    return place


@threaded(lambda tables, size, boards, out: len(boards), grain=1024, _nrt=True)
def board_textures(begin, end, tables, size, boards, out):
    """Write the textures of `boards` [B, 3 … 5] uint8, from 0, into `out` [B] int64."""
    suits = np.empty(4, np.int64)
    for b in range(begin, end):
        suits[:], values = 0, 0
        for card in boards[b]:
            suits[card & 3] |= 1 << (card >> 2)
            values += (card >> 2) + 2
        out[b] = texture_of(tables, size, boards.shape[1] - 3, suits, values)

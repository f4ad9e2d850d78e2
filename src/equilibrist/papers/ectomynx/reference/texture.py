"""Reference version of EctomynX's fourteen hand classes, with arrays of rank counts and suits.

Combinations of the board alone do not count: a class requires that a hole card contributes.
Source: EctomynX, "Pokerbots Strategy Report", I.a.2; points that it leaves open are decided here:

- quads, three of a kind and pairs count if a hole card has their rank; a full house counts if its
  three of a kind does. An own pair beside a pair or three of the board is a pair;
- a straight, flush or straight flush counts if it is better than the board's own;
- the n-th nut flush is that of the n-th highest card of the suit that is not on the board;
- the place of a pair is relative to the different ranks of the board;
- a rank that would complete an own straight is an out: one out is a gutshot, two or more are a
  two-way draw. A flush draw is four cards of a suit including a hole card;
- made hands come first: a pair with a draw is a pair; on a board of five cards there are no draws.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

(
    NOTHING, WEAK_DRAW, STRONG_DRAW, WEAK_PAIR, MIDDLE_PAIR, TOP_PAIR, OVERPAIR, TWO_PAIR, THREE,
    STRAIGHT, WEAK_FLUSH, STRONG_FLUSH, FULL_HOUSE, QUADS,
) = range(14)  # fmt: skip

_STRONG_FLUSHES = 3  # the nut flush, the second and the third
_FULL_BOARD = 5


def strength_classes(holes: Ints, boards: Ints, lowest: int = 0) -> Ints:
    """Return the classes [N], 0 … 13, of `holes` [N, 2] on `boards` [N, n].

    `lowest` is the lowest rank of the deck.
    """
    rank, suit = holes >> 2, holes & 3
    board = np.zeros((len(holes), 4, 13), np.bool_)  # which cards are on the board
    np.put_along_axis(board.reshape(-1, 52), (boards & 3) * 13 + (boards >> 2), True, axis=1)
    ours = np.zeros_like(board)
    np.put_along_axis(ours.reshape(-1, 52), suit * 13 + rank, True, axis=1)
    both = board | ours
    held = ours.any(axis=1)  # [N, 13] ranks of hole cards
    counts, shown = both.sum(axis=1), board.sum(axis=1)

    threes = (counts * held >= 3).any(axis=1)
    more = (counts >= 2).sum(axis=1) > 1  # another pair besides the three of a kind
    quads = (counts * held == 4).any(axis=1)
    for s in range(4):
        quads |= straight_heights(both[:, s]) > straight_heights(board[:, s])
    straight = straight_heights(counts > 0) > straight_heights(shown > 0)
    made = [
        _pairs(counts * held, shown),
        np.where(threes, THREE, NOTHING),
        np.where(straight, STRAIGHT, NOTHING),
        _flushes(board, ours),
        np.where(threes & more, FULL_HOUSE, NOTHING),
        np.where(quads, QUADS, NOTHING),
    ]
    if boards.shape[1] < _FULL_BOARD:
        made.append(_draws(board, ours, rank, lowest))
    return np.max(made, axis=0)


def straight_heights(ranks: Bools) -> Ints:
    """Return the highest rank of the best straight in sets of ranks [N, 13]; −1 if none.

    A five-high straight is 3.
    """
    high = np.full(len(ranks), -1)
    with_low_ace = np.concatenate([ranks[:, 12:], ranks], axis=1)
    for top in range(3, 13):
        high[with_low_ace[:, top - 3 : top + 2].all(axis=1)] = top
    return high


def _pairs(counts: Ints, shown: Ints) -> Ints:
    """Return the class of own pairs: [N]; `counts` [N, 13] are of the hole cards' ranks."""
    pairs = counts == 2
    number = pairs.sum(axis=1)
    rank = 12 - np.argmax(pairs[:, ::-1], axis=1)  # of the best pair
    higher = ((shown > 0) & (np.arange(13) > rank[:, None])).sum(axis=1)  # ranks above it
    on_board = np.take_along_axis(shown, rank[:, None], axis=1)[:, 0] > 0
    place = np.where(higher > 1, WEAK_PAIR, MIDDLE_PAIR)
    place[higher == 0] = np.where(on_board, TOP_PAIR, OVERPAIR)[higher == 0]
    return np.select([number > 1, number == 1], [TWO_PAIR, place], NOTHING)


def _flushes(board: Bools, ours: Bools) -> Ints:
    """Return the class of own flushes: [N]."""
    out = np.full(len(board), NOTHING)
    ranks = np.arange(13)
    for s in range(4):
        mine, shown = ours[:, s], board[:, s]
        best = np.where(mine, ranks, -1).max(axis=1)
        lowest = np.where(shown, ranks, 13).min(axis=1)
        flush = mine.any(axis=1) & ((mine | shown).sum(axis=1) >= 5)
        flush &= (shown.sum(axis=1) < 5) | (best > lowest)
        above = (~shown & (ranks > best[:, None])).sum(axis=1)  # higher cards not on the board
        place = np.where(above < _STRONG_FLUSHES, STRONG_FLUSH, WEAK_FLUSH)
        out[flush] = place[flush]
    return out


def _draws(board: Bools, ours: Bools, rank: Ints, lowest: int) -> Ints:
    """Return the class of own draws: [N]."""
    in_suit = (board | ours).sum(axis=2)
    flush = ((in_suit == 4) & ours.any(axis=2)).any(axis=1)
    shown, all_ranks = board.any(axis=1), (board | ours).any(axis=1)
    outs = np.zeros(len(board), np.int64)
    for new in range(lowest, 13):
        one = np.arange(13) == new
        outs += straight_heights(all_ranks | one) > straight_heights(shown | one)
    top = np.where(shown, np.arange(13), -1).max(axis=1)
    overcards = (rank > top[:, None]).all(axis=1) & (rank[:, 0] != rank[:, 1])
    strong = flush | (outs > 1) | (overcards & (outs == 1))
    return np.select([strong, (outs == 1) | overcards], [STRONG_DRAW, WEAK_DRAW], NOTHING)

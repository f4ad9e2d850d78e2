"""Showdowns in discard hold'em: deals played to the end by the swap rule, without betting.

Both players swap after the flop and after the turn, knowing only their cards and the board;
discarded cards do not return to the deck. Every hand has its own random words (`splitmix.py`) and
sums are whole numbers, so results do not depend on the number of threads.
"""

from __future__ import annotations

import numpy as np

from equilibrist.kernels.cpu.ranking import value_with
from equilibrist.kernels.cpu.sampling import find_place
from equilibrist.kernels.cpu.splitmix import GOLDEN, draw_card, fraction, mix
from equilibrist.kernels.cpu.team import threaded
from equilibrist.kernels.parts import part
from equilibrist.papers.ectomynx.kernels.swapping import swap_place

WINS, TIES = 0, 1
_BIT = np.uint64(1)


@part
def swap_card(tables, one, two, board, gone, state):
    """Swap at most one card of a hand, by the rule.

    Returns the hand's two cards, all cards `gone` from the deck, and the random state.
    """
    place = swap_place(tables, one, two, board)
    if place >= 0:
        card, state, gone = draw_card(state, gone)
        if place == 0:
            one = card
        else:
            two = card
    return one, two, gone, state


@part
def _deal_sides(first, second, first_cumulative, second_cumulative, state):
    """Draw two hands without a common card by their cumulative probabilities.

    Returns their places, their cards, and the random state.
    """
    while True:
        state += GOLDEN
        i = find_place(first_cumulative, 0, len(first_cumulative), fraction(mix(state)))
        state += GOLDEN
        j = find_place(second_cumulative, 0, len(second_cumulative), fraction(mix(state)))
        ours = (_BIT << np.uint64(first[i, 0])) | (_BIT << np.uint64(first[i, 1]))
        theirs = (_BIT << np.uint64(second[j, 0])) | (_BIT << np.uint64(second[j, 1]))
        if ours & theirs == np.uint64(0):
            return i, j, ours | theirs, state


@part
def _play(ranks, swaps, first, second, first_cumulative, second_cumulative, state):
    """Play a hand and return 2, 1 or 0 if the first side wins, ties or loses."""
    i, j, gone, state = _deal_sides(first, second, first_cumulative, second_cumulative, state)
    one, two = np.int64(first[i, 0]), np.int64(first[i, 1])
    three, four = np.int64(second[j, 0]), np.int64(second[j, 1])
    key, board = ranks.start, np.uint64(0)
    for k in range(5):
        card, state, gone = draw_card(state, gone)
        key += ranks.card_key[card]
        board += ranks.card_mask[card]
        if k == 2 or k == 3:
            one, two, gone, state = swap_card(swaps, one, two, board, gone, state)
            three, four, gone, state = swap_card(swaps, three, four, board, gone, state)
    ours = value_with(ranks, key, board, one, two)
    theirs = value_with(ranks, key, board, three, four)
    return 2 if ours > theirs else 1 if ours == theirs else 0


@threaded(lambda *arguments: len(arguments[-1]))
def play_swaps(begin, end, ranks, swaps, first, second, key, start, stop, out):
    """Play the hands numbered from `start` to `stop` under a key of one word.

    `first` and `second` are the sides, each (hands [n, 2] uint8, cumulative probabilities [n],
    which end in 1); some pair must share no card. Adds to `out` [lanes, 2] int64 the numbers of
    hands that the first side wins and ties.
    """
    (one, one_cumulative), (two, two_cumulative) = first, second
    lanes, count = out.shape[0], stop - start
    for lane in range(begin, end):
        wins = ties = 0
        for n in range(start + count * lane // lanes, start + count * (lane + 1) // lanes):
            state = mix(key + np.uint64(n) * GOLDEN)
            score = _play(ranks, swaps, one, two, one_cumulative, two_cumulative, state)
            wins += score == 2
            ties += score == 1
        out[lane, WINS] += wins
        out[lane, TIES] += ties

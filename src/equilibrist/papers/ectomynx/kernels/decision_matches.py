"""Duplicate matches of players that decide action by action.

Cards and actions are drawn by the number of the hand: strategies that change seats get the same
cards, and the sums are whole numbers, so results do not depend on the number of threads.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from equilibrist.kernels.cpu.splitmix import GOLDEN, mix
from equilibrist.papers.ectomynx.kernels.decisions import (
    CALL,
    FOLD,
    RAISE,
    SHOVE,
    bet_row,
    draw_action,
    last_action,
    least_action,
    raise_to,
    swap_row,
)
from equilibrist.papers.ectomynx.kernels.fixed_strategy import BB, BU
from equilibrist.papers.ectomynx.kernels.swap_deals import deal_hand, last_hand, new_deal

_DEPTH = 32  # largest number of decisions in a hand


@njit(cache=True, inline="always")
def _play_action(probabilities, row, first, last, word):
    """Draw a legal action of a row by its probabilities; call if all of them are zero."""
    for action in range(first, last + 1):
        if probabilities[row, action] > 0:
            return draw_action(probabilities, row, first, last, word)
    return CALL


@njit(cache=True)
def play_hand(lines, deal, bb, bu, word, trace):
    """Play a deal with the probabilities `bb` and `bu` [R, 4] of the seats; return BB's profit.

    Writes into `trace` [32, 2] the row and action of each decision, and −1 after the last.
    """
    line, street, position, before, steps = 0, 0, 0, 0, 0
    own, hand, trace[:] = np.array((2, 1)), np.zeros(2, np.int64), -1
    while True:
        late = 1 if street > 0 else 0
        actor = lines.actor[late, position]
        bet, stack = max(own[BB], own[BU]), lines.stack - before
        size = raise_to(
            lines, street, position, 2 * before, bet, own[actor], stack - own[actor],
            deal.tenths[street],
        )  # fmt: skip
        first = least_action(street, 2 * before, bet, own[actor])
        last = last_action(bet, size, stack)
        row = bet_row(lines, deal, actor, street, line, position, hand[actor])
        action = _play_action(bb if actor == BB else bu, row, first, last, word)
        trace[steps, 0], trace[steps, 1] = row, action
        steps += 1
        if action == FOLD:
            lost = before + own[actor]
            return -lost if actor == BB else lost
        if action == RAISE:
            own[actor], position = size, lines.after_raise[late, position]
            continue
        if action == SHOVE:
            own[actor], position = stack, lines.after_shove[position]
            continue
        own[actor] = bet
        if position == 0:
            position = 1
            continue
        # The street is over: a showdown, or the next street, which starts with swaps.
        before += bet
        if street == 3 or before == lines.stack:
            ours = deal.values[BB, last_hand(deal, BB, street, hand[BB])]
            theirs = deal.values[BU, last_hand(deal, BU, street, hand[BU])]
            return before * np.sign(ours - theirs)
        line = lines.next[line, lines.mark[late, position]]
        own[:], street, position = 0, street + 1, 0
        if street < 3:
            for seat in range(2):
                row = swap_row(lines, deal, seat, street, line, hand[seat])
                action = _play_action(bb if seat == BB else bu, row, 0, 2, word)
                hand[seat] = 3 * hand[seat] + action
                trace[steps, 0], trace[steps, 1] = row, action
                steps += 1


@njit(cache=True, parallel=True, nogil=True)
def play_deals(ranks, swaps, textures, lines, first, second, numbers, out):
    """Play deals twice, with strategies `first` and `second` [R, 4] changing seats.

    The tables are those of `DecisionGame`; `numbers` is (key, start, stop). Adds into `out` [lanes,
    2] int64 the chips that the first strategy wins in both hands of a deal, and their squares.
    """
    key, start, stop = numbers
    lanes, count = out.shape[0], stop - start
    for lane in prange(lanes):
        deal, hands = new_deal(), np.empty((2, 9, 2), np.int64)
        counts, suits = np.empty(13, np.int64), np.empty(4, np.int64)
        trace = np.empty((_DEPTH, 2), np.int64)
        total = squares = 0
        for n in range(start + count * lane // lanes, start + count * (lane + 1) // lanes):
            word = mix(key + np.uint64(n) * GOLDEN)
            deal_hand(ranks, swaps, textures, lines, word, deal, hands, counts, suits)
            word = mix(word + np.uint64(1))  # random word of the choices
            won = play_hand(lines, deal, first, second, word, trace)
            won -= play_hand(lines, deal, second, first, word, trace)
            total += won
            squares += won * won
        out[lane, 0] += total
        out[lane, 1] += squares

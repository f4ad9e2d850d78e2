"""Duplicate matches of players that decide action by action.

Cards and actions are drawn by the number of the hand: strategies that change seats get the same
cards, and the sums are whole numbers, so results do not depend on the number of threads.
"""

from __future__ import annotations

import numpy as np

from equilibrist.kernels.cpu.splitmix import GOLDEN, mix
from equilibrist.kernels.cpu.team import threaded
from equilibrist.kernels.parts import part
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


@part
def _play_action(probabilities, row, first, last, word):
    """Draw a legal action of a row by its probabilities; call if all of them are zero."""
    for action in range(first, last + 1):
        if probabilities[row, action] > 0:
            return draw_action(probabilities, row, first, last, word)
    return CALL


@part(forceinline=False)
def play_hand(lines, deal, bb, bu, word, trace):
    """Play a deal with the probabilities `bb` and `bu` [R, 4] of the seats; return BB's profit.

    Writes into `trace` [32, 2] the row and action of each decision, and −1 after the last.
    """
    line, street, position, before, steps = 0, 0, 0, 0, 0
    own_bb, own_bu, hand_bb, hand_bu = 2, 1, 0, 0
    trace[:] = -1
    while True:
        late = 1 if street > 0 else 0
        actor = lines.actor[late, position]
        bet, stack, pot = max(own_bb, own_bu), lines.stack - before, 2 * before
        own, hand = (own_bb, hand_bb) if actor == BB else (own_bu, hand_bu)
        tenths = deal.tenths[street]
        size = raise_to(lines, street, position, pot, bet, own, stack - own, tenths)
        first, last = least_action(street, pot, bet, own), last_action(bet, size, stack)
        row = bet_row(lines, deal, actor, street, line, position, hand)
        action = _play_action(bb if actor == BB else bu, row, first, last, word)
        trace[steps, 0], trace[steps, 1] = row, action
        steps += 1
        if action == FOLD:
            lost = before + own
            return -lost if actor == BB else lost
        # The street goes on after a raise, and after the first action of all.
        leads_on, to = action != CALL or position == 0, bet
        if action == RAISE:
            to, position = size, lines.after_raise[late, position]
        elif action == SHOVE:
            to, position = stack, lines.after_shove[position]
        elif leads_on:
            position = 1
        own_bb, own_bu = (to, own_bu) if actor == BB else (own_bb, to)
        if leads_on:
            continue
        # The street is over: a showdown, or the next street, which starts with swaps.
        before += bet
        if street == 3 or before == lines.stack:
            ours = deal.values[BB, last_hand(deal, BB, street, hand_bb)]
            theirs = deal.values[BU, last_hand(deal, BU, street, hand_bu)]
            return before * np.sign(ours - theirs)
        line = lines.next[line, lines.mark[late, position]]
        own_bb, own_bu, street, position = 0, 0, street + 1, 0
        if street < 3:
            for seat in range(2):
                row = swap_row(lines, deal, seat, street, line, hand_bb if seat == BB else hand_bu)
                action = _play_action(bb if seat == BB else bu, row, 0, 2, word)
                if seat == BB:
                    hand_bb = 3 * hand_bb + action
                else:
                    hand_bu = 3 * hand_bu + action
                trace[steps, 0], trace[steps, 1] = row, action
                steps += 1


@threaded(lambda *arguments: len(arguments[-1]), _nrt=True)
def play_deals(begin, end, ranks, swaps, textures, lines, first, second, numbers, out):
    """Play deals twice, with strategies `first` and `second` [R, 4] changing seats.

    The tables are those of `DecisionGame`; `numbers` is (key, start, stop). Adds into `out` [lanes,
    2] int64 the chips that the first strategy wins in both hands of a deal, and their squares.
    """
    key, start, stop = numbers
    lanes, count = out.shape[0], stop - start
    deal, hands = new_deal(), np.empty((2, 9, 2), np.int64)
    counts, suits = np.empty(13, np.int64), np.empty(4, np.int64)
    trace = np.empty((_DEPTH, 2), np.int64)
    for lane in range(begin, end):
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

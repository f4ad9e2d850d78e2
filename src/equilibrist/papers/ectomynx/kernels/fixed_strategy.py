"""Fast hands of EctomynX's players with levels.

A street is two draws and a look-up: both players choose slots by the weights of their state, and
`LineTables` contains the end of the street. Cards come from one stream of random words and choices
from another, both by the number of the hand, so hands with other strategies have the same cards.
The sums are whole numbers, so they do not depend on the number of threads.

Profits are credited from the last choice of a hand back to the first, times 0.8 at each step, as
whole numbers of 1/125 chip: 125, 100, 80, 64 per chip. Source: EctomynX, "Pokerbots Strategy
Report", IV.
"""

from __future__ import annotations

import numpy as np

from equilibrist.kernels.cpu.ranking import value_with
from equilibrist.kernels.cpu.splitmix import GOLDEN, draw_card, fraction, mix
from equilibrist.kernels.cpu.team import threaded
from equilibrist.kernels.parts import kernel, part
from equilibrist.papers.ectomynx.kernels.discards import swap_card
from equilibrist.papers.ectomynx.kernels.texture import draw_class, made_class, texture_of
from equilibrist.papers.ectomynx.reference.texture import NOTHING

BB, BU = 0, 1
BB_FOLDS, BU_FOLDS, SHOWDOWN = -1, -2, -3  # ends of a hand, instead of the next line
UNIT = 125  # profits are stored in units of 1/125 chip
PROFIT, VISITS = 0, 1
_SHARES = (125, 100, 80, 64)  # credit of a chip in 1/125 chip, by the number of later choices
TEXTURES = (1, 12, 4, 5)  # number of textures that each street adds
_CHOICES = np.uint64(0xD1B54A32D192ED03)  # separates the words of choices from those of cards


@part
def choose(weights, start, stop, number):
    """Choose a place from `start` to `stop` by weights and a number in [0, 1).

    A place with weight zero is never chosen unless all weights are zero.
    """
    total = 0.0
    for i in range(start, stop):
        total += weights[i]
    left, chosen = number * total, start
    for i in range(start, stop):
        if weights[i] > 0:
            chosen = i
            left -= weights[i]
            if left < 0:
                break
    return chosen


@part
def hand_class(one, two):
    """Return the class of a hand before the flop, 0 … 168."""
    high, low = max(one >> 2, two >> 2), min(one >> 2, two >> 2)
    return 13 * high + low if one & 3 == two & 3 else 13 * low + high


@part
def strength_class(tables, one, two, street, counts, suits):
    """Return the strength class of a hand after the flop, 0 … 13."""
    found = made_class(one, two, counts, suits, tables.straight, tables.size)
    if found == NOTHING and street < 3:
        found = draw_class(one, two, suits, tables.straight, tables.size, 0)
    return found


@kernel(_nrt=True)
def hand_state(swaps, textures, one, two, board):
    """Return the state of two hole cards on `board` [3 … 5] int64, in the order of dealing."""
    counts, suits = np.zeros(13, np.int64), np.zeros(4, np.int64)
    values, texture, num_textures = 0, 0, 1
    for k in range(len(board)):
        card = board[k]
        counts[card >> 2] += 1
        suits[card & 3] |= 1 << (card >> 2)
        values += (card >> 2) + 2
        if k >= 2:
            num_textures *= TEXTURES[k - 1]
            texture *= TEXTURES[k - 1]
            texture += texture_of(textures, swaps.size, k - 2, suits, values)
    return strength_class(swaps, one, two, len(board) - 2, counts, suits) * num_textures + texture


@part
def _note(trace, street, seat, start, meant, played):
    """Write the slots that a choice credits: those between the levels played and intended.

    There are none if the street ended before the seat acted.
    """
    trace[street, seat, 0] = start + min(meant, played) if played >= 0 else start
    trace[street, seat, 1] = start + max(meant, played) + 1 if played >= 0 else start


@part(forceinline=False)
def play_hand(ranks, swaps, textures, lines, bb, bu, word, trace, counts, suits):
    """Play a hand of the random stream that starts at `word`; return BB's profit and the streets.

    The tables are those of `LevelGame`; `bb` and `bu` [W] are the weights of the seats. Writes into
    `trace` [4, 2, 2] the first place and the end of the slots that each street's choices credit;
    `counts` [13] and `suits` [4] int64 are scratch.
    """
    cards, choices = word, mix(word ^ _CHOICES)
    gone, key, board = np.uint64(0), ranks.start, np.uint64(0)
    counts[:], suits[:] = 0, 0
    one, cards, gone = draw_card(cards, gone)
    two, cards, gone = draw_card(cards, gone)
    three, cards, gone = draw_card(cards, gone)
    four, cards, gone = draw_card(cards, gone)
    line, stake, streets, values = 0, 0, 0, 0
    texture, num_textures = 0, 1  # of the board so far
    for street in range(4):
        # Cards: the board, then swaps, the big blind's first.
        if street > 0:
            for _ in range(3 if street == 1 else 1):
                card, cards, gone = draw_card(cards, gone)
                key += ranks.card_key[card]
                board += ranks.card_mask[card]
                counts[card >> 2] += 1
                suits[card & 3] |= 1 << (card >> 2)
                values += (card >> 2) + 2
            if street < 3:
                one, two, gone, cards = swap_card(swaps, one, two, board, gone, cards)
                three, four, gone, cards = swap_card(swaps, three, four, board, gone, cards)
        if line < 0:  # all-in
            continue
        # States, choices, and how the street ends.
        if street == 0:
            state_bb, state_bu = hand_class(one, two), hand_class(three, four)
        else:
            num_textures *= TEXTURES[street]
            texture *= TEXTURES[street]
            texture += texture_of(textures, swaps.size, street - 1, suits, values)
            strength = strength_class(swaps, one, two, street, counts, suits)
            state_bb = strength * num_textures + texture
            strength = strength_class(swaps, three, four, street, counts, suits)
            state_bu = strength * num_textures + texture
        levels, slots = lines.num_levels[line], lines.num_slots[line]
        start = lines.weight_start[line] + state_bb * slots
        choices += GOLDEN
        slot = choose(bb, start, start + slots, fraction(mix(choices))) - start
        kind = levels if lines.leads[lines.slot_start[line] + slot] else 0
        start_bu = lines.weight_start[line] + state_bu * slots + kind
        choices += GOLDEN
        level = choose(bu, start_bu, start_bu + levels, fraction(mix(choices))) - start_bu
        end = lines.end_start[line] + slot * levels + level
        meant = slot % levels
        _note(trace, street, BB, start + slot - meant, meant, lines.played[end, BB])
        _note(trace, street, BU, start_bu, level, lines.played[end, BU])
        streets, line, stake = street + 1, lines.next[end], lines.stake[end]
        if line == BB_FOLDS:
            return -stake, streets
        if line == BU_FOLDS:
            return stake, streets
    ours = value_with(ranks, key, board, one, two)
    theirs = value_with(ranks, key, board, three, four)
    return (stake if ours > theirs else -stake if ours < theirs else 0), streets


@threaded(lambda *arguments: len(arguments[-1]), _nrt=True)
def play_cycle(begin, end, ranks, swaps, textures, lines, bb, bu, numbers, sums):
    """Play the hands of `numbers` = (key, start, stop), and sum the profits of choices.

    Tables and weights are those of `play_hand`. Adds profits in 1/125 chip and visits to `sums`
    [lanes, 2, W, 2] int64, by seat and slot.
    """
    key, start, stop = numbers
    lanes, count = sums.shape[0], stop - start
    trace = np.empty((4, 2, 2), np.int64)
    counts, suits = np.empty(13, np.int64), np.empty(4, np.int64)
    for lane in range(begin, end):
        for n in range(start + count * lane // lanes, start + count * (lane + 1) // lanes):
            word = mix(key + np.uint64(n) * GOLDEN)
            profit, streets = play_hand(
                ranks, swaps, textures, lines, bb, bu, word, trace, counts, suits
            )
            for street in range(streets):
                won = profit * _SHARES[streets - 1 - street]
                for place in range(trace[street, BB, 0], trace[street, BB, 1]):
                    sums[lane, BB, place, PROFIT] += won
                    sums[lane, BB, place, VISITS] += 1
                for place in range(trace[street, BU, 0], trace[street, BU, 1]):
                    sums[lane, BU, place, PROFIT] -= won
                    sums[lane, BU, place, VISITS] += 1


@threaded(lambda *arguments: len(arguments[-1]), _nrt=True)
def play_match(begin, end, ranks, swaps, textures, lines, first, second, numbers, out):
    """Play deals twice, with the strategies changing seats, and sum the first one's winnings.

    `first` and `second` [2, W] are the weights of their seats, `numbers` is (key, start, stop).
    Adds the chips won in both hands of a deal, and their squares, to `out` [lanes, 2] int64.
    """
    key, start, stop = numbers
    first_bb, first_bu, second_bb, second_bu = first[BB], first[BU], second[BB], second[BU]
    lanes, count = out.shape[0], stop - start
    trace = np.empty((4, 2, 2), np.int64)
    counts, suits = np.empty(13, np.int64), np.empty(4, np.int64)
    for lane in range(begin, end):
        total = squares = 0
        for n in range(start + count * lane // lanes, start + count * (lane + 1) // lanes):
            word = mix(key + np.uint64(n) * GOLDEN)
            as_bb, _ = play_hand(
                ranks, swaps, textures, lines, first_bb, second_bu, word, trace, counts, suits
            )
            as_bu, _ = play_hand(
                ranks, swaps, textures, lines, second_bb, first_bu, word, trace, counts, suits
            )
            won = as_bb - as_bu
            total += won
            squares += won * won
        out[lane, 0] += total
        out[lane, 1] += squares


@kernel(_nrt=True)
def play_results(game, bb, bu, key, start, profits, traces, streets):
    """Play hands one by one, from hand `start` on, and write their results.

    Writes BB's profits into `profits` [N], traces into `traces` [N, 4, 2, 2] and numbers of streets
    into `streets` [N], all int64.
    """
    ranks, swaps, textures, lines = game
    counts, suits = np.empty(13, np.int64), np.empty(4, np.int64)
    for i in range(len(profits)):
        word = mix(key + np.uint64(start + i) * GOLDEN)
        profits[i], streets[i] = play_hand(
            ranks, swaps, textures, lines, bb, bu, word, traces[i], counts, suits
        )

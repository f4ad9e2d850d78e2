"""Regret minimisation walks for players that decide action by action.

A deal contains every card that can matter: nine hands per seat, one for each sequence of swaps
(`SwapDeal`). A *walk* is external sampling: it takes all actions of one seat and one sampled action
of the other. The other seat does not see swapped cards, so all hands of the first seat walk
together, as a row of numbers. Strategies are proportional to the scores of a row, or uniform where
all scores are zero, so one walk serves every rule that uses scores.

Actions are drawn by the number of the hand and of the row, and sums are whole numbers: neither
depends on the number of threads. Source: Lanctot et al., "Monte Carlo Sampling for Regret
Minimization in Extensive Games" (2009).
"""

from __future__ import annotations

import numpy as np

from equilibrist.kernels.cpu.splitmix import GOLDEN, fraction, mix
from equilibrist.kernels.cpu.team import threaded
from equilibrist.kernels.decision_rules import LARGEST
from equilibrist.kernels.parts import part
from equilibrist.papers.ectomynx.kernels.fixed_strategy import BB
from equilibrist.papers.ectomynx.kernels.swap_deals import HANDS, deal_hand, last_hand, new_deal

NUM_ACTIONS = 4
FOLD, CALL, SHOVE, RAISE = range(NUM_ACTIONS)  # a check is a call of zero chips, a bet is a raise
_LAST_SWAP = 2
GAIN_UNIT = 1 << 10  # regrets are stored in units of 1/1024 chip
PROBABILITY_UNIT = 1 << 20  # probabilities are stored in units of 2⁻²⁰
_OPENING, _LEAF = -1, -2  # codes instead of a position: swaps follow, the hand is over
QUEUE = 4096  # largest number of positions in a walk
(LINE, STREET, POSITION, BEFORE, OWN_BB, OWN_BU, OTHER, FIRST, LAST, BELOW) = range(10)


# --- rows -----------------------------------------------------------------------------------------


@part
def bet_row(lines, deal, seat, street, line, position, hand):
    """Return the row of a seat's hand at a position."""
    state, width = deal.states[seat, street, hand], lines.num_positions[line]
    return lines.bet_start[line] + state * width + lines.place[line, position]


@part
def swap_row(lines, deal, seat, street, line, hand):
    """Return the row of a seat's hand before its swap."""
    return lines.swap_start[line] + deal.swap_states[seat, street, hand] * 2 + seat


@part
def _probability(scores, row, first, last, action):
    """Return the probability of an action of a row; `first` to `last` are the legal actions."""
    total = np.float32(0)
    for a in range(first, last + 1):
        total += scores[row, a]
    if 0 < total <= LARGEST:
        return np.float64(scores[row, action] / total)
    return 1.0 / (last + 1 - first)


@part
def draw_action(scores, row, first, last, word):
    """Draw an action of a row by the hand's random word and the row."""
    left = fraction(mix(word + np.uint64(row) * GOLDEN))
    chosen = first
    for action in range(first, last + 1):
        probability = _probability(scores, row, first, last, action)
        if probability > 0:
            chosen = action
            left -= probability
            if left < 0:
                break
    return chosen


@part
def least_action(street, pot, bet, own):
    """Return the first legal action; a bet of at most a fifth of the pot is never folded to."""
    return FOLD if own < bet and (street == 0 or 5 * bet > pot) else CALL


@part
def last_action(bet, size, stack):
    """Return the last legal action if a raise goes to `size`; no raise after an all-in."""
    return CALL if bet == stack else RAISE if size < stack else SHOVE


@part
def raise_to(lines, street, position, pot, bet, own, behind, tenths):
    """Return the amount of a bet or raise, at most all-in; see `decision_lines.raise_to`."""
    by_pot = bet + (tenths * (pot + 2 * bet) + 5) // 10
    size = lines.preflop_sizes[position] if street == 0 else by_pot
    has_raise = lines.after_raise[1 if street > 0 else 0, position] >= 0
    return size if has_raise and 10 * (size - own) <= 6 * behind else own + behind


@part
def _note(chosen, scores, row, first, last):
    """Add the probabilities of a row's actions to `chosen`."""
    for action in range(first, last + 1):
        probability = _probability(scores, row, first, last, action)
        chosen[row, action] += np.int64(np.rint(probability * PROBABILITY_UNIT))


@part
def _learn(scores, gains, visits, row, first, last, worth, places):
    """Return the value of a row by its scores, and add the regrets of its actions to `gains`.

    The values of the actions are in `worth`; `places` is (place, hand) of the first one and the
    step from one action to the next in both.
    """
    place, hand, down, right = places
    mean = 0.0
    for action in range(first, last + 1):
        value = worth[place + (action - first) * down, hand + (action - first) * right]
        mean += _probability(scores, row, first, last, action) * value
    for action in range(first, last + 1):
        value = worth[place + (action - first) * down, hand + (action - first) * right]
        gains[row, action] += np.int64(np.rint((value - mean) * GAIN_UNIT))
    visits[row] += 1
    return mean


@part
def _put(queue, place, line, street, position, before, own_bb, own_bu, other):
    """Write a position of the walk into the queue."""
    queue[place, LINE], queue[place, STREET], queue[place, POSITION] = line, street, position
    queue[place, BEFORE], queue[place, OTHER] = before, other
    queue[place, OWN_BB], queue[place, OWN_BU] = own_bb, own_bu


@part(forceinline=False)
def _go_down(lines, deal, scores, chosen, word, seat, queue, worth):
    """Fill the queue and the values of its leaves; return its length."""
    rival, length, i = 1 - seat, 1, 0
    _put(queue, 0, 0, 0, 0, 0, 2, 1, 0)
    while i < length:
        line, street, position = queue[i, LINE], queue[i, STREET], queue[i, POSITION]
        before, other = queue[i, BEFORE], queue[i, OTHER]
        own_bb, own_bu, queue[i, BELOW] = queue[i, OWN_BB], queue[i, OWN_BU], length
        here, late = i, 1 if street > 0 else 0
        i += 1
        if position == _LEAF:
            continue
        if position == _OPENING:
            row = swap_row(lines, deal, rival, street, line, other)
            _note(chosen, scores, row, 0, _LAST_SWAP)
            other = 3 * other + draw_action(scores, row, 0, _LAST_SWAP, word)
            _put(queue, length, line, street, 0, before, 0, 0, other)
            length += 1
            continue
        actor, pot, tenths = lines.actor[late, position], 2 * before, deal.tenths[street]
        bet, stack = max(own_bb, own_bu), lines.stack - before
        own = own_bb if actor == BB else own_bu
        size = raise_to(lines, street, position, pot, bet, own, stack - own, tenths)
        first, last = least_action(street, pot, bet, own), last_action(bet, size, stack)
        if actor != seat:
            row = bet_row(lines, deal, rival, street, line, position, other)
            _note(chosen, scores, row, first, last)
            first = last = draw_action(scores, row, first, last, word)
        queue[here, FIRST], queue[here, LAST] = first, last
        for action in range(first, last + 1):
            if action == FOLD:
                lost = before + own
                worth[length, :] = -lost if actor == seat else lost
                queue[length, POSITION] = _LEAF
            elif action >= SHOVE:
                after, to = lines.after_shove[position], stack
                if action == RAISE:
                    after, to = lines.after_raise[late, position], size
                bb, bu = (to, own_bu) if actor == BB else (own_bb, to)
                _put(queue, length, line, street, after, before, bb, bu, other)
            elif position == 0:
                _put(queue, length, line, street, 1, before, bet, bet, other)
            elif street == 3 or bet == stack:
                theirs = deal.values[rival, last_hand(deal, rival, street, other)]
                for h in range(HANDS[street]):
                    ours = deal.values[seat, last_hand(deal, seat, street, h)]
                    worth[length, h] = (before + bet) * np.sign(ours - theirs)
                queue[length, POSITION] = _LEAF
            else:
                follows = lines.next[line, lines.mark[late, position]]
                opening = _OPENING if street < 2 else 0
                _put(queue, length, follows, street + 1, opening, before + bet, 0, 0, other)
            length += 1
    return length


@part(forceinline=False)
def _go_up(lines, deal, scores, gains, visits, seat, queue, worth, length):
    """Compute the values of all positions for the seat's hands, and add its regrets."""
    for i in range(length - 1, -1, -1):
        line, street, position = queue[i, LINE], queue[i, STREET], queue[i, POSITION]
        below = queue[i, BELOW]
        if position == _LEAF:
            continue
        if position == _OPENING:
            for h in range(HANDS[street - 1]):
                row, places = swap_row(lines, deal, seat, street, line, h), (below, 3 * h, 0, 1)
                worth[i, h] = _learn(scores, gains, visits, row, 0, _LAST_SWAP, worth, places)
        elif lines.actor[1 if street > 0 else 0, position] != seat:
            for h in range(worth.shape[1]):
                worth[i, h] = worth[below, h]
        else:
            first, last = queue[i, FIRST], queue[i, LAST]
            for h in range(HANDS[street]):
                row = bet_row(lines, deal, seat, street, line, position, h)
                places = (below, h, 1, 0)
                worth[i, h] = _learn(scores, gains, visits, row, first, last, worth, places)


@part
def walk(lines, deal, scores, gains, chosen, visits, word, seat, queue, worth):
    """Walk a deal for one seat; return the value of the deal to it, in chips.

    Adds the regrets of the seat's rows to `gains` [R, 4] and `visits` [R], and the other seat's
    probabilities at its decisions to `chosen` [R, 4]. `queue` [Q, 10] int64 and `worth` [Q, 9] are
    scratch: the queue is read forwards to reach all leaves and backwards to compute values.
    """
    length = _go_down(lines, deal, scores, chosen, word, seat, queue, worth)
    _go_up(lines, deal, scores, gains, visits, seat, queue, worth, length)
    return worth[0, 0]


@threaded(lambda *arguments: len(arguments[-1][0]), _nrt=True)
def walk_hands(begin, end, ranks, swaps, textures, lines, scores, numbers, sums):
    """Walk the hands of `numbers` = (key, start, stop), once for each seat.

    The tables are those of `DecisionGame`; strategies follow `scores` [R, 4] float32. `sums` is
    (gains, chosen, visits), all int64: adds regrets in 1/`GAIN_UNIT` chip to `gains` [lanes, R, 4],
    probabilities in 1/`PROBABILITY_UNIT` to `chosen` [lanes, R, 4], and numbers of visits to
    `visits` [lanes, R].
    """
    key, start, stop = numbers
    gains, chosen, visits = sums
    lanes, count = gains.shape[0], stop - start
    deal, hands = new_deal(), np.empty((2, 9, 2), np.int64)
    counts, suits = np.empty(13, np.int64), np.empty(4, np.int64)
    queue, worth = np.empty((QUEUE, 10), np.int64), np.empty((QUEUE, 9))
    for lane in range(begin, end):
        for n in range(start + count * lane // lanes, start + count * (lane + 1) // lanes):
            word = mix(key + np.uint64(n) * GOLDEN)
            deal_hand(ranks, swaps, textures, lines, word, deal, hands, counts, suits)
            for seat in range(2):
                choices = mix(word + np.uint64(seat + 1))
                walk(
                    lines, deal, scores, gains[lane], chosen[lane], visits[lane], choices, seat,
                    queue, worth,
                )  # fmt: skip


# --- updates --------------------------------------------------------------------------------------


@threaded(lambda scores, *_: len(scores), grain=4096)
def match_regrets(begin, end, scores, average, gains, chosen, visits, weight):
    """Finish a block of walks by regret matching+: scores are sums of regrets, at least zero.

    Adds `gains` to `scores` and `weight` times `chosen` to `average`, both [R, 4] float32, and
    clears the sums of all lanes.
    """
    for row in range(begin, end):
        for action in range(NUM_ACTIONS):
            gain = probability = 0
            for lane in range(len(gains)):
                gain += gains[lane, row, action]
                probability += chosen[lane, row, action]
            if gain != 0:
                scores[row, action] = max(scores[row, action] + gain / GAIN_UNIT, 0.0)
            if probability != 0:
                average[row, action] += weight * probability / PROBABILITY_UNIT
        gains[:, row], chosen[:, row], visits[:, row] = 0, 0, 0


@threaded(lambda scores, *_: len(scores), grain=4096)
def multiply_scores(begin, end, scores, gains, chosen, visits, rate, cleaning):
    """Finish a block by the report's rule: scores times exp(rate · gain per visit), normalised.

    Scores below `cleaning` become zero. Clears the sums of all lanes.
    """
    for row in range(begin, end):
        count = 0
        for lane in range(len(visits)):
            count += visits[lane, row]
        if count > 0:
            # Subtract the largest exponent: the normalised scores are the same without overflow.
            largest = -np.inf
            for action in range(NUM_ACTIONS):
                if scores[row, action] > 0:
                    largest = max(largest, _exponent(gains, row, action, rate, count))
            total = np.float32(0)
            for action in range(NUM_ACTIONS):
                if scores[row, action] > 0:
                    exponent = _exponent(gains, row, action, rate, count)
                    scores[row, action] *= np.exp(exponent - largest)
                total += scores[row, action]
            if total == 0:
                total = np.float32(1)  # scores that are all zero stay zero
            kept = np.float32(0)
            for action in range(NUM_ACTIONS):
                scores[row, action] /= total
                if scores[row, action] < cleaning:
                    scores[row, action] = 0
                kept += scores[row, action]
            for action in range(NUM_ACTIONS):
                scores[row, action] /= kept if kept > 0 else np.float32(1)
        gains[:, row], chosen[:, row], visits[:, row] = 0, 0, 0


@part
def _exponent(gains, row, action, rate, count):
    """Return the rate times the gain per visit of an action, in chips; all lanes together."""
    gain = 0
    for lane in range(len(gains)):
        gain += gains[lane, row, action]
    return rate * gain / (GAIN_UNIT * count)

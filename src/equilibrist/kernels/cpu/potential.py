"""Exact counts of leads now and one card later, over all opponents and next cards.

Give every hand its place in the order of present values. Walk through the hands in the order of
later values and mark places as they pass: the opponents that a hand leads both now and later are
the marks below its place. Marks are bits, with a running sum per word, so a count is one lookup and
one popcount. Three bounds in either order (smaller values, smaller or equal ones, all) give nine
cumulative counts, whose differences count (ahead, tied, behind) now × (ahead, tied, behind) later.

Opponents that share a card are removed by inclusion–exclusion, also as bits: the hands that hold a
card are identified by their other card, so those of smaller present value are a mask of 52 bits,
computed once per board, and those that have passed are another.
"""

from __future__ import annotations

import numpy as np

from equilibrist.kernels.cpu.equity import HAND, end_of_group, hand_sums, sorted_hands
from equilibrist.kernels.cpu.team import threaded
from equilibrist.kernels.parts import part

_BELOW, _UP_TO, _ALL = 0, 1, 2  # bounds of a cumulative count
_WORDS = 22  # words of marks: 1,326 places, and one more word for a bound at their end
_NO_CARD = 52  # the other card of a hand of one card
_ONE = np.uint64(1)
_WORD_BITS, _IN_WORD = np.uint64(6), np.uint64(63)
_PAIRS, _FOURS, _BYTES, _SUM, _TOP = (
    np.uint64(0x5555555555555555),
    np.uint64(0x3333333333333333),
    np.uint64(0x0F0F0F0F0F0F0F0F),
    np.uint64(0x0101010101010101),
    np.uint64(56),
)


@threaded(lambda now, later, boards, *_: len(boards), _nrt=True)
def potentials(begin, end, now, later, boards, deck, hands, columns, out):
    """Write into `out` [B, 3, 3, H] how often hands are ahead, tied, behind now × a card later.

    `now` and `later` are tables that rank hands on `boards` [B, n] uint8 and with one card of
    `deck` [m] uint8 more; `hands` [N, 1 or 2] are those of the deck, `columns` [N] their places
    among all H. Blocked hands get zeros.
    """
    num_old, sides = boards.shape[1], hands.shape[1]
    for b in range(begin, end):
        keys, masks = hand_sums(now, hands)  # of cards alone: the same for both tables
        order, spare = np.empty(len(hands), np.uint32), np.empty(len(hands), np.uint32)
        place = np.zeros(len(hands), np.uint64)
        bounds = np.zeros((len(hands), 3), np.uint64)
        fellows = np.zeros((len(hands), 3, sides), np.uint64)
        sums = np.zeros((len(hands), 3, 3), np.int64)  # cumulative, [later, now]
        alive = sorted_hands(now, boards[b], keys, masks, order, spare)
        _stand(order[:alive], hands, place, bounds, fellows)
        board = np.empty(num_old + 1, np.uint8)
        board[:num_old] = boards[b]
        for card in deck:
            if _is_on(boards[b], card):
                continue
            board[num_old] = card
            alive = sorted_hands(later, board, keys, masks, order, spare)
            _walk(order[:alive], hands, place, bounds, fellows, sums)
        out[b] = 0
        for i in range(len(hands)):
            for standing in range(3):
                for result in range(3):
                    out[b, standing, result, columns[i]] = _between(sums[i], standing, result)


@part
def _is_on(board, card):
    found = False
    for other in board:
        found |= other == card
    return found


@part
def _between(sums, standing, result):
    """Return one count from cumulative ones [later, now]."""
    count = sums[result, standing]
    if standing > 0:
        count -= sums[result, standing - 1]
    if result > 0:
        count -= sums[result - 1, standing]
        if standing > 0:
            count += sums[result - 1, standing - 1]
    return count


@part
def _other(hands, i, side):
    """Return the other card of a hand, which identifies it among the hands that hold a card."""
    return np.uint64(hands[i, 1 - side]) if hands.shape[1] == 2 else np.uint64(_NO_CARD)


@part(forceinline=False, _nrt=True)
def _stand(order, hands, place, bounds, fellows):
    """Write the present order of hands: `place` [N], `bounds` [N, 3], `fellows` [N, 3, sides].

    `order` holds `value << 16 | hand`, ascending; `bounds` are places. A hand's fellows are those
    that share a card with it: below, up to its value and all, as bits of their other card,
    including the hand itself.
    """
    held = np.zeros(52, np.uint64)
    start = 0
    while start < len(order):
        stop = end_of_group(order, start, len(order))
        for k in range(start, stop):
            i = order[k] & HAND
            place[i], bounds[i, _BELOW], bounds[i, _UP_TO] = k, start, stop
            bounds[i, _ALL] = len(order)
            for side in range(hands.shape[1]):
                fellows[i, _BELOW, side] = held[hands[i, side]]
        for k in range(start, stop):
            i = order[k] & HAND
            for side in range(hands.shape[1]):
                held[hands[i, side]] |= _ONE << _other(hands, i, side)
        for k in range(start, stop):
            i = order[k] & HAND
            for side in range(hands.shape[1]):
                fellows[i, _UP_TO, side] = held[hands[i, side]]
        start = stop
    for k in range(len(order)):
        i = order[k] & HAND
        for side in range(hands.shape[1]):
            fellows[i, _ALL, side] = held[hands[i, side]]


@part(forceinline=False, _nrt=True)
def _walk(order, hands, place, bounds, fellows, sums):
    """Add into `sums` [N, 3, 3] the cumulative counts with one more card, in the order `order`."""
    marks = np.zeros(_WORDS, np.uint64)
    before = np.zeros(_WORDS, np.int64)  # marks in earlier words
    held = np.zeros(52, np.uint64)  # hands that have passed and hold a card, by their other card
    start = 0
    while start < len(order):
        stop = end_of_group(order, start, len(order))
        _add(order[start:stop], hands, bounds, fellows, marks, before, held, _BELOW, sums)
        for k in range(start, stop):
            i = order[k] & HAND
            word = place[i] >> _WORD_BITS
            marks[word] |= _ONE << (place[i] & _IN_WORD)
            for later in range(word + _ONE, np.uint64(_WORDS)):
                before[later] += 1
            for side in range(hands.shape[1]):
                held[hands[i, side]] |= _ONE << _other(hands, i, side)
        _add(order[start:stop], hands, bounds, fellows, marks, before, held, _UP_TO, sums)
        start = stop
    _add(order, hands, bounds, fellows, marks, before, held, _ALL, sums)


@part
def _add(order, hands, bounds, fellows, marks, before, held, later, sums):
    """Add for some hands the opponents that have passed: below, up to their present value, all."""
    for k in range(len(order)):
        i = order[k] & HAND
        for now in range(3):
            bound = bounds[i, now]
            word = bound >> _WORD_BITS
            inside = marks[word] & ((_ONE << (bound & _IN_WORD)) - _ONE)
            count = before[word] + _popcount(inside)
            for side in range(hands.shape[1]):
                count -= _popcount(held[hands[i, side]] & fellows[i, now, side])
            # The hand itself is in all sums: once in the number, once with each of its cards.
            if now > _BELOW and later > _BELOW:
                count += hands.shape[1] - 1
            sums[i, later, now] += count


@part
def _popcount(word):
    """Return the number of ones in a word; the compiler turns this idiom into one instruction."""
    word -= (word >> _ONE) & _PAIRS
    word = (word & _FOURS) + ((word >> np.uint64(2)) & _FOURS)
    word = (word + (word >> np.uint64(4))) & _BYTES
    return np.int64((word * _SUM) >> _TOP)

"""Showdowns of many hands on many boards: enumerate boards up to suits, then sort and sweep.

Boards that a suit permutation maps to each other give the same result when it fixes everything else
in the question, so one board per orbit is played, weighted by the size of its orbit.

On one board, let `w` be the weights of the opponent's hands. A hand {a, b} beats the weight

    below − below[a] − below[b]            (of hands of smaller value: all, holding a, holding b)

and beats or ties the same with the hands of equal value included, plus `w` of the hand itself,
which has been subtracted twice. One walk in order of value yields both for all hands: O(hands)
after a radix sort. With few hands it is cheaper to compare every pair.

Sums are float64: with weights of 0 and 1 they are integers below 2**53 and therefore exact. Boards
are played in chunks of fixed bounds, so results do not depend on the number of threads.
"""

from __future__ import annotations

import numpy as np

from equilibrist.kernels.cpu.ranking import hand_value
from equilibrist.kernels.cpu.team import threaded
from equilibrist.kernels.parts import kernel, part
from equilibrist.kernels.rank_tables import NO_CARDS

WINS, TIES, TOTAL = 0, 1, 2  # rows of the results
_UNKNOWN = np.uint16(65535)  # no hand has this value
_LANE = np.uint64(0x1FFF)  # the ranks of one suit in a card mask
_LOW_DIGIT, _LOW_BITS = np.uint32(127), np.uint32(7)  # of a 13-bit value, for the radix sort
HAND = np.uint32(0xFFFF)  # an entry of the sort is `value << 16 | hand`
_VALUE_SHIFT = np.uint32(16)


@kernel(_nrt=True)
def canonical_boards(deck, num_new, images, boards, multiplicity):
    """Find one set of `num_new` cards of `deck` per orbit of a group of suit permutations.

    `deck` [m] uint8 ascending, a union of orbits; `images` [G, 4] uint64: the suit to which each
    permutation maps each suit, identity first. Writes the sets into the first columns of `boards`
    [at least the sets, ≥ num_new] uint8 and the sizes of their orbits into `multiplicity` uint8;
    returns the number of sets.
    """
    place = np.arange(num_new)
    last = len(deck) - num_new
    found = 0
    while True:
        mask = NO_CARDS
        for i in range(num_new):
            card = np.uint64(deck[place[i]])
            mask |= np.uint64(1) << ((card & np.uint64(3)) << np.uint64(4)) + (card >> np.uint64(2))
        size = _orbit_size(mask, images)
        if size:
            for i in range(num_new):
                boards[found, i] = deck[place[i]]
            multiplicity[found] = size
            found += 1
        # The next combination: raise the last place that can be raised, restart those after it.
        i = num_new - 1
        while i >= 0 and place[i] == last + i:
            i -= 1
        if i < 0:
            return found
        place[i] += 1
        for j in range(i + 1, num_new):
            place[j] = place[j - 1] + 1


@part
def _orbit_size(mask, images):
    """Return the size of the orbit of a card mask if the mask is its smallest, else 0."""
    fixed = 1
    for g in range(1, images.shape[0]):
        image = NO_CARDS
        for suit in range(4):
            lane = (mask >> np.uint64(16 * suit)) & _LANE
            image |= lane << (images[g, suit] << np.uint64(4))
        if image < mask:
            return 0
        if image == mask:
            fixed += 1
    return images.shape[0] // fixed


@threaded(
    lambda tables, boards, multiplicity, hands, weights, places, pairwise, out: len(out), _nrt=True
)
def showdown_boards(
    begin, end, tables, boards, multiplicity, hands, weights, places, pairwise, out
):
    """Play every hand against a weighted range on every board.

    `boards` [B, 5] uint8 with `multiplicity` [B] uint8, `hands` [n, 2] uint8 and the opponent's
    `weights` [n] float64; `places` are two arrays, the places of each side's hands, used only when
    `pairwise`. Adds into `out` [chunks, 3, n] float64 the weight a hand beats, ties and meets.
    """
    first, second = places
    num_chunks, num_boards = out.shape[0], boards.shape[0]
    for chunk in range(begin, end):
        start, stop = num_boards * chunk // num_chunks, num_boards * (chunk + 1) // num_chunks
        if pairwise:
            _compare_pairs(
                tables,
                boards[start:stop],
                multiplicity[start:stop],
                hands,
                weights,
                first,
                second,
                out[chunk],
            )
        else:
            _sweep_boards(
                tables, boards[start:stop], multiplicity[start:stop], hands, weights, out[chunk]
            )


@part(forceinline=False, _nrt=True)
def _compare_pairs(tables, boards, multiplicity, hands, weights, first, second, out):
    """Add into `out` [3, n] the results of the `first` hands by comparing every pair."""
    keys, masks = hand_sums(tables, hands)
    value = np.empty(len(hands), np.uint16)
    for b in range(len(boards)):
        key, mask = card_sum(tables, boards[b])
        key += tables.start
        for i in range(len(hands)):
            value[i] = _UNKNOWN
            if masks[i] & mask == NO_CARDS:
                value[i] = hand_value(tables, key + keys[i], mask + masks[i])
        for i in first:
            if value[i] == _UNKNOWN:
                continue
            wins, ties, total = 0.0, 0.0, 0.0
            for j in second:
                if value[j] != _UNKNOWN and masks[i] & masks[j] == NO_CARDS:
                    total += weights[j]
                    wins += weights[j] * (value[i] > value[j])
                    ties += weights[j] * (value[i] == value[j])
            out[WINS, i] += multiplicity[b] * wins
            out[TIES, i] += multiplicity[b] * ties
            out[TOTAL, i] += multiplicity[b] * total


@part(forceinline=False, _nrt=True)
def _sweep_boards(tables, boards, multiplicity, hands, weights, out):
    """Add into `out` [3, n] the results of all hands by a walk in order of value."""
    keys, masks = hand_sums(tables, hands)
    order, spare = np.empty(len(hands), np.uint32), np.empty(len(hands), np.uint32)
    below = np.empty(52, np.float64)  # [C] weight so far of hands that hold a card
    for b in range(len(boards)):
        times = np.float64(multiplicity[b])
        alive = sorted_hands(tables, boards[b], keys, masks, order, spare)
        below[:] = 0.0
        all_below = 0.0
        start = 0
        while start < alive:
            stop = end_of_group(order, start, alive)
            for k in range(start, stop):
                i = order[k] & HAND
                wins = all_below - below[hands[i, 0]] - below[hands[i, 1]]
                out[WINS, i] += times * wins
                out[TIES, i] -= times * wins
            for k in range(start, stop):
                i = order[k] & HAND
                all_below += weights[i]
                below[hands[i, 0]] += weights[i]
                below[hands[i, 1]] += weights[i]
            for k in range(start, stop):
                i = order[k] & HAND
                not_lost = all_below - below[hands[i, 0]] - below[hands[i, 1]] + weights[i]
                out[TIES, i] += times * not_lost
            start = stop
        for k in range(alive):
            i = order[k] & HAND
            total = all_below - below[hands[i, 0]] - below[hands[i, 1]] + weights[i]
            out[TOTAL, i] += times * total


@part
def card_sum(tables, cards):
    """Return key and mask of some cards, without the start of a hand."""
    key, mask = NO_CARDS, NO_CARDS
    for card in cards:
        key += tables.card_key[card]
        mask += tables.card_mask[card]
    return key, mask


@part(forceinline=False, _nrt=True)
def hand_sums(tables, hands):
    """Return the keys [n] and masks [n] uint64 of hands [n, 2]."""
    keys, masks = np.empty(len(hands), np.uint64), np.empty(len(hands), np.uint64)
    for i in range(len(hands)):
        keys[i], masks[i] = card_sum(tables, hands[i])
    return keys, masks


@kernel(_nrt=True)
def sums_of_hands(tables, hands):
    """Run `hand_sums`."""
    return hand_sums(tables, hands)


@part(forceinline=False, _nrt=True)
def sorted_hands(tables, board, keys, masks, order, spare):
    """Write `value << 16 | hand` of a board's unblocked hands, ascending; return their number."""
    low_start, high_start = np.zeros(129, np.int64), np.zeros(65, np.int64)
    key, mask = card_sum(tables, board)
    key += tables.start
    alive = 0
    for i in range(len(order)):
        if masks[i] & mask == NO_CARDS:
            value = np.uint32(hand_value(tables, key + keys[i], mask + masks[i]))
            order[alive] = (value << _VALUE_SHIFT) | np.uint32(i)
            low_start[(value & _LOW_DIGIT) + np.uint32(1)] += 1
            high_start[(value >> _LOW_BITS) + np.uint32(1)] += 1
            alive += 1
    # Two passes of a radix sort, low seven bits then high six.
    for digit in range(128):
        low_start[digit + 1] += low_start[digit]
    for digit in range(64):
        high_start[digit + 1] += high_start[digit]
    for k in range(alive):
        digit = (order[k] >> _VALUE_SHIFT) & _LOW_DIGIT
        spare[low_start[digit]] = order[k]
        low_start[digit] += 1
    for k in range(alive):
        digit = spare[k] >> (_VALUE_SHIFT + _LOW_BITS)
        order[high_start[digit]] = spare[k]
        high_start[digit] += 1
    return alive


@kernel(_nrt=True)
def sort_hands(tables, board, keys, masks, order, spare):
    """Run `sorted_hands`."""
    return sorted_hands(tables, board, keys, masks, order, spare)


@part
def end_of_group(order, start, stop):
    """Return where the run of hands of equal value that starts at `start` ends."""
    value = order[start] >> _VALUE_SHIFT
    end = start + 1
    while end < stop and order[end] >> _VALUE_SHIFT == value:
        end += 1
    return end

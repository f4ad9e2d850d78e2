"""Matches between stored strategies: cards from random words, and walks to the end of a hand.

The random numbers of a hand are SplitMix64's (`splitmix.py`), from a word computed from the key of
the match and the number of the hand. So a hand is the same whichever thread plays it, and whatever
other hands are played.
"""

from __future__ import annotations

import numpy as np

from equilibrist.kernels.cpu.splitmix import GOLDEN, fraction, mix
from equilibrist.kernels.cpu.team import threaded
from equilibrist.kernels.parts import part


@threaded(lambda deck, words, out: len(words), grain=1024, _nrt=True)
def deal_cards(begin, end, deck, words, out):
    """Write into `out` [N, n] uint8 the cards that `words` [N, n] uint32 draw from `deck` [C].

    Word k of a hand takes the card at its remainder modulo C − k; the last card then moves to that
    place (the ACPC dealer's rule, see `games/dealing.py`).
    """
    left = np.empty(len(deck), np.uint8)
    for i in range(np.uint64(begin), np.uint64(end)):
        for k in range(len(deck)):
            left[k] = deck[k]
        for k in range(words.shape[1]):
            last = len(deck) - 1 - k
            place = words[i, k] % (last + 1)
            out[i, k] = left[place]
            left[place] = left[last]


@part
def _probability(seat, place, node):
    """Return the probability that a seat moves to a node in the state at a place."""
    row = seat.row[node]
    return seat.probabilities[seat.cell[place] + row * seat.width[place]] if row >= 0 else 0.0


@part
def _choose(seat, place, first, size, number):
    """Choose one of `size` nodes from `first` on, by their probabilities and a number in [0, 1)."""
    most = 0.0
    for c in range(first, first + size):
        most = max(most, _probability(seat, place, c))
    least = min(seat.threshold, most)
    total = 0.0
    for c in range(first, first + size):
        probability = _probability(seat, place, c)
        total += probability if probability >= least else 0.0
    left, chosen = number * total, first
    for c in range(first, first + size):
        probability = _probability(seat, place, c)
        if probability > 0 and probability >= least:
            chosen = c
            left -= probability
            if left < 0:
                break
    return chosen


@threaded(lambda *arguments: len(arguments[-1]), grain=512)
def play_hands(begin, end, tree, zero, one, states, start, key, numbers, out):
    """Write into `out` [N] the leaf where each hand ends that starts at node `start`.

    `tree` are `WalkTables`, `zero` and `one` the `SeatTable`s of the hand's players; their `states`
    [R, N] int32 count within each round. `numbers` [N] uint64 are those of the hands in their
    match, whose `key` is one word.
    """
    states_zero, states_one = states
    for i in range(np.uint64(begin), np.uint64(end)):
        word = mix(key + numbers[i] * GOLDEN)
        node = np.int64(start)
        while tree.num_children[node] > 0:
            first, size = tree.first_child[node], tree.num_children[node]
            if tree.actor[node] < 0:  # cards are dealt
                node = first
                continue
            word += GOLDEN
            number = fraction(mix(word))
            r = tree.round[node]
            if tree.actor[node] == 0:
                node = _choose(zero, zero.state_start[r] + states_zero[r, i], first, size, number)
            else:
                node = _choose(one, one.state_start[r] + states_one[r, i], first, size, number)
        out[i] = node

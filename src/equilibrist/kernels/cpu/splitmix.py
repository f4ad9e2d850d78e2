"""SplitMix64: random words computed from a counter, so that any thread can draw any hand.

The words of hand n under a key are `mix(state)`, where the state starts at `mix(key + n · GOLDEN)`
and grows by GOLDEN per word. Source: Steele, Lea and Flood, "Fast Splittable Pseudorandom Number
Generators" (2014).
"""

from __future__ import annotations

import numpy as np

from equilibrist.kernels.parts import part

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)


@part
def mix(word):
    """Return the word of a state."""
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@part
def fraction(word):
    """Convert a word to a number in [0, 1), with 53 bits."""
    return (word >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@part
def below(word, most):
    """Convert a word to an integer below `most`, both uint64; biased by less than most / 2**32."""
    return ((word >> _HALF) * most) >> _HALF


@part
def draw_card(state, gone):
    """Draw a card whose bit is not set in `gone` uint64; return card, state and the new `gone`."""
    while True:
        state += GOLDEN
        card = below(mix(state), np.uint64(52))
        bit = np.uint64(1) << card
        if gone & bit == np.uint64(0):
            return np.int64(card), state, gone | bit

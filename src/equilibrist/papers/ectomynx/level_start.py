"""EctomynX's first strategy: the weights of levels that its report prints.

Before the flop every class of hands has its own row, the same for both players (VI.b); later the
rows are by street and kind of hand (IV.b). A probability of "3+" is split equally over levels 3, 4
and 5, and the weights of levels that the chips behind do not allow go to the highest allowed level.
BB's slots of checking start with the same weights as those of leading, but raising after a check is
damped: the report intended it to be less likely than betting and calling, and mentions a sign error
that made it 2.5 times as likely instead, so the factor is 1 / 2.5.

Two printed rows are wrong and are corrected to match the rows beside them: 82s sums to 1.8 (0.8 at
level 3 is dropped), 32s sums to 0 (it folds).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from equilibrist.cards.hand import parse_class
from equilibrist.papers.ectomynx.bet_levels import NUM_LEVELS
from equilibrist.papers.ectomynx.textures import NUM_CLASSES

CHECK_RAISE_FACTOR = 1 / 2.5

# Weights of levels 0 … 5 in twentieths, with a to k for 10 to 20; rows and columns from A to 2,
# suited hands above the diagonal.
_PREFLOP = """
    00000k 00000k 00000k 00000k 00000k 0000c8 0003c5 0006c2 0008a2 000992 000a82 000a91 000b81
    00000k 00000k 00004g 00026c 000398 0004a6 0006a4 0008a2 000aa0 001c70 005a50 009830 00d520
    00000k 00000k 00000k 000848 000a46 000d43 000g40 001g30 002g20 004g00 008c00 00c800 00g400
    00000k 00026c 000848 0005a5 000a82 000b90 002c60 004d30 006e00 008c00 00c800 04c400 08c000
    00000k 000398 000a46 000a82 0005a5 000g40 004e20 006e00 009b00 04a600 06c200 08c000 0c8000
    0000c8 0004a6 000d43 000b90 000g40 0005a5 004g00 008c00 02c600 06c200 0aa000 a64000 k00000
    0003c5 0006a4 000g40 002c60 004e20 004g00 04a600 008c00 00c800 04e200 46a000 866000 e60g00
    0008a2 000aa0 001g30 004d30 006e00 008c00 00aa00 06a400 088400 4a6000 k00000 k00000 k00000
    0008a2 000c80 002e40 00aa00 00e600 03e300 06c200 0aa000 0aa000 k00000 k00000 k00000 k00000
    000992 000e60 006c20 00aa00 068600 0c6200 0g4000 0i2000 k00000 3a7000 k00000 k00000 k00000
    000a82 002e40 008c00 00e600 08c000 686000 c80000 k00000 k00000 k00000 6a4000 k00000 k00000
    000a91 004c40 00aa00 088400 884000 k00000 k00000 k00000 k00000 k00000 k00000 8a2000 000000
    000aa0 004c40 00aa00 08a200 884000 k00000 k00000 k00000 k00000 k00000 k00000 k00000 aa0000
"""
_CORRECTED = {"82s": "e60000", "32s": "k00000"}

# Weights of levels 3+, 2, 1 and 0, by kind of hand.
_NOTHING, _DRAW, _LOW_PAIR, _TOP_PAIR, _TWO_PAIR, _BETTER = range(6)
_KIND = (
    *(_NOTHING, _DRAW, _DRAW, _LOW_PAIR, _LOW_PAIR, _TOP_PAIR, _TOP_PAIR, _TWO_PAIR),
    *(_BETTER,) * 6,
)  # by class of strength
_POSTFLOP = {
    1: (
        *((0, 0, 0.2, 0.8), (0.2, 0.2, 0.5, 0.1), (0, 0.05, 0.75, 0.2), (0.2, 0.6, 0.1, 0.1)),
        *((0.75, 0.1, 0.1, 0.05), (0.75, 0.1, 0.1, 0.05)),
    ),
    2: (
        *((0, 0, 0, 1), (0, 0, 0.5, 0.5), (0, 0, 0.5, 0.5), (0.1, 0.5, 0.3, 0.1)),
        *((0.6, 0.25, 0.1, 0.05), (0.6, 0.25, 0.1, 0.05)),
    ),
    3: (
        *((0, 0, 0, 1), (0, 0, 0, 1), (0, 0, 0.5, 0.5), (0, 0.3, 0.6, 0.1)),
        *((0.2, 0.4, 0.35, 0.05), (0.4, 0.4, 0.15, 0.05)),
    ),
}

Floats = NDArray[np.float64]


def preflop_weights() -> Floats:
    """Return the weights of the levels before the flop: [169, 6] by class of hands.

    Example:
        >>> preflop_weights()[parse_class("T2o")].tolist()
        [0.4, 0.4, 0.2, 0.0, 0.0, 0.0]
    """
    words = _PREFLOP.split()[::-1]
    for name, word in _CORRECTED.items():
        words[parse_class(name)] = word
    return np.array([[int(digit, 36) / 20 for digit in word] for word in words])


def postflop_weights(street: int, num_levels: int) -> Floats:
    """Return the weights of levels 0 … n on a street, 1 to 3: [14, n + 1] by strength class.

    Example:
        >>> postflop_weights(1, 3)[5].round(9).tolist()  # a top pair on the flop
        [0.1, 0.1, 0.8]
    """
    weights = np.zeros((NUM_CLASSES, NUM_LEVELS))
    for strength in range(NUM_CLASSES):
        high, *rest = _POSTFLOP[street][_KIND[strength]]
        weights[strength] = *reversed(rest), *[high / 3] * 3
    allowed = weights[:, :num_levels].copy()
    allowed[:, -1] += weights[:, num_levels:].sum(axis=1)
    return allowed


def big_blind_weights(street: int, num_levels: int) -> Floats:
    """Return the weights of BB's slots, leading and checking: [14, 2 (n + 1)], rows sum to 1."""
    leading = postflop_weights(street, num_levels)
    checking = leading.copy()
    checking[:, 2:] *= CHECK_RAISE_FACTOR
    both = np.hstack([leading, checking])
    return np.asarray(both / both.sum(axis=1, keepdims=True))

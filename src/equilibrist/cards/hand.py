"""Two-card hands are integers 0 … 1325, in one order that the whole program uses.

The index is the colexicographic rank of the sorted pair: hand {a < b} is `b * (b - 1) // 2 + a`,
so 2c2d is 0 and AhAs is 1325. The 169 suit-blind *classes* (`AA`, `AKs`, `72o`) are the orbits of
hands under suit permutations; class `13 * r + s` with ranks r, s is a suited hand for r > s, a pair
for r = s and an offsuit hand for r < s.
"""

from __future__ import annotations

import functools
import operator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from equilibrist.cards.card import RANKS, Card, card_name, check_card
from equilibrist.cards.numbers import whole_number
from equilibrist.errors import CardError

Hand: TypeAlias = int  # 0 … 1325
HandClass: TypeAlias = int  # 0 … 168

NUM_HANDS = 1326
NUM_CLASSES = 169


def hand_index(first: Card, second: Card) -> Hand:
    """Return the index of a two-card hand; the order of its cards does not matter.

    Example:
        >>> hand_index(1, 0), hand_index(50, 51)
        (0, 1325)
    """
    first, second = check_card(first), check_card(second)
    if first == second:
        name = card_name(first)
        raise CardError(f"{name}{name} is not a hand; its two cards must differ", value=name)
    low, high = min(first, second), max(first, second)
    return high * (high - 1) // 2 + low


def check_hand(hand: Hand) -> Hand:
    """Return the hand as a Python integer; raise `CardError` if it is not one of the 1326."""
    try:
        number = operator.index(hand)
    except TypeError:
        number = -1
    if not 0 <= number < NUM_HANDS:
        raise CardError(f"{hand!r} is not a hand: hands are 0 (2d2c) … 1325 (AsAh)", value=hand)
    return number


def hand_cards(hand: Hand) -> tuple[Card, Card]:
    """Return the two cards of a hand, higher card first.

    Example:
        >>> hand_cards(1325)
        (51, 50)
    """
    low, high = hand_table()[check_hand(hand)]
    return int(high), int(low)


def hand_name(hand: Hand) -> str:
    """Return the name of a hand, higher card first.

    Example:
        >>> hand_name(1325), hand_name(0)
        ('AsAh', '2d2c')
    """
    high, low = hand_cards(hand)
    return card_name(high) + card_name(low)


@functools.cache
def hand_table() -> NDArray[np.uint8]:
    """Return the cards of every hand: [1326, 2] uint8, lower card first."""
    table = np.array([(low, high) for high in range(52) for low in range(high)], dtype=np.uint8)
    table.flags.writeable = False
    return table


@functools.cache
def class_table() -> NDArray[np.uint8]:
    """Return the class of every hand: [1326] uint8."""
    low, high = hand_table().T.astype(np.int64)
    low_rank, high_rank, suited = low >> 2, high >> 2, (low & 3) == (high & 3)
    table = np.where(suited, 13 * high_rank + low_rank, 13 * low_rank + high_rank).astype(np.uint8)
    table.flags.writeable = False
    return table


def class_name(hand_class: HandClass) -> str:
    """Return the name of a class of hands.

    Example:
        >>> class_name(168), class_name(13 * 12 + 11), class_name(5)
        ('AA', 'AKs', '72o')
    """
    number = whole_number(hand_class, "a class of hands", 0, NUM_CLASSES - 1, CardError)
    first, second = divmod(number, 13)
    if first == second:
        return RANKS[first] * 2
    high, low = max(first, second), min(first, second)
    return RANKS[high] + RANKS[low] + ("s" if first > second else "o")


def parse_class(name: str) -> HandClass:
    """Return the class of hands with a name; the inverse of `class_name`.

    Example:
        >>> parse_class("AKs"), parse_class("77")
        (167, 70)
    """
    if len(name) in (2, 3) and name[0] in RANKS and name[1] in RANKS:
        high, low, suffix = RANKS.index(name[0]), RANKS.index(name[1]), name[2:]
        if high == low and suffix == "":
            return 14 * high
        if high > low and suffix == "s":
            return 13 * high + low
        if high > low and suffix == "o":
            return 13 * low + high
    raise CardError(f"{name!r} is not a class of hands; examples are AA, AKs and 72o", value=name)

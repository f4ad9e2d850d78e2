"""Hand ranking: comparable values, categories and readable names of hands.

A value is a small integer; values are dense from 0, and higher is better. Compare values only
between hands of the same number of cards (five, six and seven cards share one scale of 7,462
classes).
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equilibrist.cards.card import check_distinct
from equilibrist.errors import CardError, InvalidValueError, UnknownNameError
from equilibrist.kernels.array_structs import RankTables
from equilibrist.kernels.hand_strengths import RANKINGS, THREE_CARD, HandRanking, all_strengths

MOST_CARDS = 7

_RANK_WORDS = (
    *("deuce", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("jack", "queen", "king", "ace"),
)


@functools.cache
def rank_tables(num_cards: int, ranking: str = "standard") -> RankTables:
    """Return the look-up tables for hands of `num_cards` cards, built on first use."""
    from equilibrist.kernels.rank_tables import build_tables

    return build_tables(num_cards, _ranking(ranking, num_cards))


def rank_cards(cards: Sequence[int], ranking: str = "standard") -> int:
    """Return the value of one hand of 1 to 7 cards; higher is better.

    With fewer than five cards there are no straights and flushes (Leduc: a pair beats a high card).

    Example:
        >>> from equilibrist.cards.card import parse_cards
        >>> aces, kings = parse_cards("AhAd2c7d9hJsQc"), parse_cards("KhKd2c7d9hJsQc")
        >>> rank_cards(aces) > rank_cards(kings)
        True
    """
    check_distinct(cards)
    tables = rank_tables(len(cards), ranking)
    key, mask = int(tables.start), 0
    for card in cards:
        key += int(tables.card_key[card])
        mask += int(tables.card_mask[card])
    # One hand needs no compiled code: the same sum, then the function that the kernels compile.
    from equilibrist.kernels.rank_tables import hand_value

    return int(hand_value(tables, np.uint64(key), np.uint64(mask)))


def rank_hands(cards: ArrayLike, ranking: str = "standard") -> NDArray[np.uint16]:
    """Return the values [N] uint16 of hands [N, n] of cards, n from 1 to 7, in parallel.

    Example:
        >>> rank_hands([[48, 49, 50, 51, 44], [0, 5, 10, 15, 16]]).tolist()
        [7451, 5854]
    """
    from equilibrist.kernels.cpu import ranking as kernel

    hands = np.asarray(cards)
    if hands.ndim != 2 or hands.dtype.kind not in "iu":
        raise InvalidValueError(
            f"hands must be an integer array [N, cards], not {hands.dtype} of shape {hands.shape}",
            value=hands.shape,
        )
    # Kernels accept native byte order only.
    hands = hands.astype(hands.dtype.newbyteorder("="), copy=False)
    tables = rank_tables(hands.shape[1], ranking)
    bad = kernel.first_bad_hand(hands)
    if bad < len(hands):
        raise CardError(
            f"hand {bad} repeats a card or holds a number outside 0 … 51: {hands[bad].tolist()}",
            value=hands[bad].tolist(),
            position=bad,
        )
    values = np.empty(len(hands), np.uint16)
    kernel.rank_hands(tables, np.ascontiguousarray(hands, np.uint8), values)
    return values


def category(cards: Sequence[int], ranking: str = "standard") -> str:
    """Return the category of one hand, such as "two pair"."""
    return _ranking(ranking, len(cards)).categories[_strength(cards, ranking) >> 20]


def hand_description(cards: Sequence[int], ranking: str = "standard") -> str:
    """Return a readable name of the best hand in the given cards.

    Example:
        >>> from equilibrist.cards.card import parse_cards
        >>> hand_description(parse_cards("KhKd4c4d9hJsQc"))
        'two pair, kings and fours'
        >>> hand_description(parse_cards("AhKhQhJhTh"))
        'royal flush'
    """
    strength = _strength(cards, ranking)
    name = _ranking(ranking, len(cards)).categories[strength >> 20]
    ranks = [(strength >> shift & 15) - 1 for shift in (16, 12, 8, 4, 0)]
    first, second = _RANK_WORDS[ranks[0]], _RANK_WORDS[ranks[1]]
    if name == "straight flush" and first == "ace" and ranking == "standard":
        return "royal flush"
    if name in ("straight flush", "straight", "flush"):
        return f"{name}, {first} high"
    if name == "two pair":
        return f"{name}, {_plural(first)} and {_plural(second)}"
    if name == "full house":
        return f"{name}, {_plural(first)} over {_plural(second)}"
    if name == "pair":
        return f"a pair of {_plural(first)}"
    if name == "high card":
        return f"{first}-{second} high" if ranks[1] >= 0 else f"{first} high"
    return f"{name}, {_plural(first)}"


def category_bounds(num_cards: int, ranking: str = "standard") -> dict[str, tuple[int, int]]:
    """Return the half-open interval of values of every category, weakest first.

    Example:
        >>> category_bounds(7)["straight flush"]
        (7452, 7462)
    """
    order = _ranking(ranking, num_cards)
    places = all_strengths(num_cards, order) >> 20
    return {
        name: (int(np.searchsorted(places, place)), int(np.searchsorted(places, place + 1)))
        for place, name in enumerate(order.categories)
    }


def _ranking(name: str, num_cards: int) -> HandRanking:
    """Return the ranking with a name; raise if it does not rank hands of `num_cards` cards."""
    if name not in RANKINGS:
        known = " and ".join(RANKINGS)
        raise UnknownNameError(f"no ranking is called {name!r}; there are {known}", value=name)
    ranking = RANKINGS[name]
    if not 1 <= num_cards <= MOST_CARDS:
        raise CardError(f"{num_cards} cards cannot be ranked; 1 to 7 can", value=num_cards)
    if ranking is THREE_CARD and num_cards != ranking.run:
        raise CardError(
            f"{num_cards} cards have no three-card ranking; it ranks exactly 3", value=num_cards
        )
    return ranking


def _strength(cards: Sequence[int], ranking: str) -> int:
    value = rank_cards(cards, ranking)
    return int(all_strengths(len(cards), _ranking(ranking, len(cards)))[value])


def _plural(word: str) -> str:
    return word + ("es" if word == "six" else "s")

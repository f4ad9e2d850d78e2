"""EctomynX's features: fourteen strength classes of hands, and wetness and volatility of boards.

All functions take arrays of cards, [N, 2] hole cards and [N, 3, 4 or 5] boards. Bins are numbered
from 1 as in the report, whose 0 means that the street has not been dealt.

    wetness    = connectivity + suitedness + highness                         on every street
    volatility = connectivity + suitedness + highcard + pair adjustment      on the flop only

A card has a value of 2 … 14, an ace always 14 ("A3 … 89 although their values both sum to 17").
Printed bins overlap at their borders ("4.0 <= w <= 6.0", "6.0 <= w <= 8.0"); here a bin includes
its lower border, as in the first and last printed bins. It makes no difference: the only boards on
a border, 668 of two suits and TTQ of three, have wetness 4.0, which is printed as low and not as
very low. The report's "Highcard: + 7 1.15 ^ (highest card value)" has lost its minus sign, and its
river has five bins although its index says 0 to 4. Source: EctomynX, "Pokerbots Strategy Report",
I.a and I.c.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equilibrist.errors import CardError
from equilibrist.kernels.array_structs import TextureTables
from equilibrist.papers.ectomynx.reference import texture as reference

CLASS_NAMES = (
    "nothing", "weak draw", "strong draw", "weak pair", "middle pair", "top pair", "overpair",
    "two pair", "three of a kind", "straight", "weak flush", "strong flush", "full house",
    "quads or better",
)  # fmt: skip
NUM_CLASSES = len(CLASS_NAMES)

# By the number of cards on the board.
_CLOSENESS = {3: 3.0, 4: 2.0, 5: 1.5}
_SUITED = {3: (0, 0, 1, 3), 4: (0, 0, 1, 3, 6), 5: (0, 0, 0, 2, 5, 5)}  # by cards of a suit
WETNESS_BORDERS = {3: (4.0, 6.0, 8.0), 4: (5.0, 7.5, 10.0), 5: (5.5, 7.0, 8.5, 10.0)}
VOLATILITY_BORDERS = (3.5, 7.0)
NUM_WETNESS_BINS = {cards: len(borders) + 1 for cards, borders in WETNESS_BORDERS.items()}
NUM_VOLATILITY_BINS = len(VOLATILITY_BORDERS) + 1
NUM_FLOP_TEXTURES = NUM_WETNESS_BINS[3] * NUM_VOLATILITY_BINS

_DIGITS = 9  # decimals of rounded sums: powers of ⅔ may miss a border by a rounding error
_HALF_UNIT = 0.5 * 10.0**-_DIGITS

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def strength_classes(holes: ArrayLike, boards: ArrayLike, num_ranks: int = 13) -> Ints:
    """Return the classes [N], 0 … 13, of hole cards [N, 2] on boards [N, 3 … 5].

    `CLASS_NAMES` names them. Combinations of the board alone do not count; `reference/texture.py`
    has the details. A smaller deck has the highest `num_ranks` ranks.

    Example:
        >>> from equilibrist.cards.card import parse_cards
        >>> hand, board = parse_cards("As9h"), parse_cards("KhKd2c3s")
        >>> CLASS_NAMES[strength_classes([hand], [board])[0]]
        'nothing'
    """
    hands, cards = _cards(holes), _boards(boards)
    if hands.shape != (len(cards), 2):
        raise CardError(
            f"hole cards of {len(cards)} boards must have shape ({len(cards)}, 2), not "
            f"{hands.shape}",
            value=hands.shape,
        )
    _check_different(np.hstack([hands, cards]))
    return reference.strength_classes(hands, cards, 13 - num_ranks)


def wetness(boards: ArrayLike) -> Floats:
    """Return the wetness of boards [N, 3 … 5], how likely hands connect with them: [N].

    Example:
        >>> from equilibrist.cards.card import parse_cards
        >>> wetness([parse_cards("QsJsTs"), parse_cards("9h6c2d")]).round(2).tolist()
        [11.08, 3.07]
    """
    cards = _boards(boards)
    return _connectivity(cards) + _suitedness(cards) + _values(cards).mean(axis=1) / 4


def volatility(flops: ArrayLike) -> Floats:
    """Return the volatility of flops [N, 3], how likely later cards change strengths: [N].

    Example:
        >>> from equilibrist.cards.card import parse_cards
        >>> volatility([parse_cards("6s5s3c"), parse_cards("Ah9c2d")]).round(2).tolist()
        [9.91, 0.52]
    """
    cards = _boards(flops)
    if cards.shape[1] != 3:
        raise CardError(
            f"volatility needs flops of three cards, not {cards.shape[1]}", value=cards.shape[1]
        )
    num_ranks = _shown(cards).sum(axis=1)
    pair_adjustment = num_ranks - 3.0  # −1 for a pair, −2 for trips
    highcard = 7 - 1.15 ** _values(cards).max(axis=1)
    return _connectivity(cards) + _suitedness(cards) + highcard + pair_adjustment


def wetness_bins(boards: ArrayLike) -> Ints:
    """Return the wetness bins of boards: [N], 1 (very low) … 4, on rivers 5 (very high)."""
    cards = _boards(boards)
    return _bins(wetness(cards), WETNESS_BORDERS[cards.shape[1]])


def volatility_bins(flops: ArrayLike) -> Ints:
    """Return the volatility bins of flops: [N], 1 (low), 2 (medium) or 3 (high)."""
    return _bins(volatility(flops), VOLATILITY_BORDERS)


def flop_textures(flops: ArrayLike) -> Ints:
    """Return the report's index of flops [N, 3]: [N], 1 … 12, (wetness − 1) · 3 + volatility."""
    return (wetness_bins(flops) - 1) * NUM_VOLATILITY_BINS + volatility_bins(flops)


@functools.cache
def straight_tables() -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """Return the best straight and the size of every set of ranks, for kernels: [2**13] each."""
    ranks = (np.arange(1 << 13)[:, None] >> np.arange(13) & 1).astype(np.bool_)
    straight = reference.straight_heights(ranks).astype(np.int8)
    return straight, ranks.sum(axis=1).astype(np.int8)


@functools.cache
def texture_tables() -> TextureTables:
    """Build the tables of the compiled textures; the result is cached."""
    ranks = np.arange(1 << 13)[:, None] >> np.arange(13) & 1
    highest = np.where(ranks, np.arange(13) + 2, 0).max(axis=1)
    sizes = sorted(WETNESS_BORDERS)
    closeness = np.array([_CLOSENESS[cards] * _closeness(ranks) for cards in sizes])
    suited, borders = np.zeros((3, 6)), np.full((3, 4), np.inf)
    for street, cards in enumerate(sizes):
        suited[street, : len(_SUITED[cards])] = _SUITED[cards]
        borders[street, : len(WETNESS_BORDERS[cards])] = WETNESS_BORDERS[cards]
    return TextureTables(
        closeness=closeness,
        flop_base=closeness[0] + 7 - 1.15**highest + ranks.sum(axis=1) - 3.0,
        suited=suited,
        wetness_borders=borders - _HALF_UNIT,
        volatility_borders=np.array(VOLATILITY_BORDERS) - _HALF_UNIT,
    )


def _bins(values: Floats, borders: Sequence[float]) -> Ints:
    # No sum is that close to a border without being on it.
    return np.digitize(values.round(_DIGITS), borders) + 1


def _connectivity(cards: Ints) -> Floats:
    """Return the closeness of the board's ranks times the street's factor: [N]."""
    return _CLOSENESS[cards.shape[1]] * _closeness(_shown(cards))


def _closeness(shown: NDArray[np.bool_] | Ints) -> Floats:
    """Return the sum over pairs of different ranks of 1 / 1.5^distance, for sets [N, 13]: [N]."""
    ranks = shown.astype(np.float64)
    distance = np.abs(np.subtract.outer(np.arange(13), np.arange(13)))
    nearness = np.triu(1.5 ** -distance.astype(np.float64), k=1)
    return np.asarray(((ranks @ nearness) * ranks).sum(axis=1))


def _suitedness(cards: Ints) -> Ints:
    in_suit = (cards[:, :, None] & 3 == np.arange(4)).sum(axis=1)  # [N, 4]
    return np.array(_SUITED[cards.shape[1]])[in_suit].sum(axis=1)


def _shown(cards: Ints) -> NDArray[np.bool_]:
    """Return which ranks are on boards: [N, 13]."""
    shown: NDArray[np.bool_] = (cards[:, :, None] >> 2 == np.arange(13)).any(axis=1)
    return shown


def _values(cards: Ints) -> Ints:
    return (cards >> 2) + 2


def _boards(boards: ArrayLike) -> Ints:
    cards = _cards(boards)
    if cards.shape[1] not in WETNESS_BORDERS:
        raise CardError(
            f"boards have 3, 4 or 5 cards each, not {cards.shape[1]}", value=cards.shape[1]
        )
    _check_different(cards)
    return cards


def _cards(cards: ArrayLike) -> Ints:
    array = np.asarray(cards)
    if array.ndim != 2 or array.dtype.kind not in "iu":
        raise CardError(
            f"cards must be an integer array of rows, not {array.dtype} of shape {array.shape}",
            value=array.shape,
        )
    return array.astype(np.int64)


def _check_different(cards: Ints) -> None:
    bad = (np.diff(np.sort(cards, axis=1), axis=1) == 0).any(axis=1)
    bad |= ((cards < 0) | (cards > 51)).any(axis=1)
    if bad.any():
        row = int(np.argmax(bad))
        raise CardError(
            f"row {row} repeats a card or holds a number outside 0 … 51: {cards[row].tolist()}",
            value=cards[row].tolist(),
            position=row,
        )

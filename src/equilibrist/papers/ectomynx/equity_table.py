"""EctomynX's equities with discards and its reasons for the swap rule, compared with ours.

"Pokerbots Strategy Report", 0.b: equities of all hands against a random one and of some situations,
from two billion random hands; VI.a: outcomes of hands by the turn, with and without a swap on the
flop. Our equities are Monte Carlo estimates with standard errors; our outcomes are exact counts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from equilibrist.cards.card import Card, Cards, parse_card, parse_cards
from equilibrist.cards.equity import Progress
from equilibrist.cards.hand import NUM_CLASSES, class_name
from equilibrist.papers.ectomynx.discard_equity import DiscardEquity, class_equities, discard_equity
from equilibrist.papers.ectomynx.reference import swapping
from equilibrist.papers.ectomynx.reference.texture import (
    FULL_HOUSE,
    OVERPAIR,
    STRAIGHT,
    STRONG_FLUSH,
    THREE,
    WEAK_PAIR,
)
from equilibrist.papers.ectomynx.textures import strength_classes

# Decimals of the equities. Rows and columns from A to 2, suited hands above the diagonal. The row
# of deuces has lost one of the numbers of 82o, 72o, 62o and 52o, so none of the four can be placed.
_PRINTED = """
    75670 57988 57455 57299 56458 56062 55587 55618 54770 54272 54219 53998 53857
    57717 71302 55715 54477 54274 53612 53605 53367 52778 52152 52318 51700 51950
    57109 55055 67339 53091 52642 52236 51803 51151 51126 50483 50207 50112 50097
    56767 54489 52786 63371 51437 50831 50548 49903 49544 49349 49146 48906 48506
    56149 53970 52546 51117 60027 50066 49599 49419 49161 48782 47723 48008 47418
    56004 53666 51978 50701 49582 56505 48571 47658 48103 47411 47057 46647 46608
    55369 53348 51775 50432 49379 48024 52846 46822 46617 46355 46259 46056 45941
    54884 53098 51525 50272 49913 47809 47043 49573 45880 45575 45918 45466 45066
    54799 52570 51276 49910 48812 47884 46799 45861 46335 45119 44613 44480 44359
    54436 52337 50720 49653 48860 47482 46382 45842 44531 43058 43692 44210 43528
    54403 52097 50540 49267 48314 47356 46427 45571 44741 43774 39938 43149 43575
    54261 51983 50292 48962 48036 47134 46305 45218 44668 43868 43162 37212 42880
    53715 51966 50330 48842 47689 46979 - - - - 43302 42844 34619
"""
PUBLISHED_EQUITIES = tuple(
    math.nan if word == "-" else int(word) / 100_000 for word in reversed(_PRINTED.split())
)  # [169] by class, in the order of `cards/hand.py`
# The first side's share: 0.b, its numbered list. The first situation is printed without hands.
SITUATIONS = (
    ("AA", "KK-22", 0.81),  # overpair against underpair
    *(("AA", "KQ", 0.77), ("TT", "86", 0.68), ("66", "42", 0.60)),  # undercards
    *(("QQ", "AK", 0.53), ("88", "QT", 0.48), ("44", "86", 0.40)),  # overcards
    *(("KK", "AQ", 0.61), ("99", "T8", 0.53), ("44", "53", 0.45)),  # one over, one under
    *(("AK", "32", 0.61), ("A9", "84", 0.58), ("98", "76", 0.54)),  # both over both
    ("T7", "98", 0.51),  # one over, one under
)
SAMPLES = 1_200_000  # hands of each equity: 2·10⁸ for the 169 classes
QUICK_SAMPLES = 20_000

OUTCOMES = ("nothing", "draw", "pair", "pair and draw", "two pair or three", "straight or flush")


@dataclass(frozen=True)
class EquityRow:
    """One equity of the report and ours."""

    name: str
    paper: float  # NaN if it is missing in print
    ours: DiscardEquity


def equity_rows(
    samples: int = SAMPLES, seed: int = 0, progress: Progress | None = None
) -> list[EquityRow]:
    """Return the table of 0.b: all classes of hands against a random hand, from AA to 22."""
    found = class_equities(samples, seed, progress)
    return [
        EquityRow(class_name(n), PUBLISHED_EQUITIES[n], found[n])
        for n in reversed(range(NUM_CLASSES))
    ]


def situation_rows(samples: int = SAMPLES, seed: int = 0) -> list[EquityRow]:
    """Return the list of 0.b: some kinds of hands against others."""
    rows = []
    for first, second, paper in SITUATIONS:
        ours = discard_equity(first, second, samples=samples, seed=seed)
        rows.append(EquityRow(f"{first} against {second}", paper, ours))
    return rows


# --- outcomes by the turn -------------------------------------------------------------------------


@dataclass(frozen=True)
class Example:
    """A hand on a flop, and the report's outcomes by the turn, in per cent."""

    name: str
    hand: str
    flop: str
    given_away: str  # the swapped card
    swap: tuple[float | None, ...]  # [6] by `OUTCOMES`; None if the report has no number
    no_swap: tuple[float | None, ...]
    counts_straight_draws: bool = True  # False: only flush draws count


# The report prints tables for four of them; it says that the two-way draw resembles a flush draw.
# The first and the fourth hand are the report's; for the others it gives no hand.
EXAMPLES = (
    Example(
        "flush draw", "Jh9h", "Ah8h4d", "9h",
        (45, 16, 28, 5, 2, 4), (0, 67, 0, 13, 0, 20), counts_straight_draws=False,
    ),
    Example("two-way straight draw", "9h8s", "7d6cKh", "8s", (None,) * 6, (None,) * 6),
    Example(
        "gutshot", "9h8s", "7d5cKh", "8s", (50, 14, 28, 4, 2, 2), (0, 67, 0, 13, 0, 9),
    ),
    Example(
        "flush draw and pair", "Jh9h", "AhJd4h", "9h",
        (None, None, 53, 16, 27, 4), (None, None, 0, 69, 11, 20), counts_straight_draws=False,
    ),
    Example(
        "two-way straight draw and pair", "9h8s", "8d7c6h", "8s",
        (None, 40, 4.5, 20, 2.5, 33), (None, 0, 0, 69, 11, 18),
    ),
)  # fmt: skip


def outcomes(example: Example, *, swaps: bool) -> tuple[float, ...]:
    """Return the exact probabilities [6] of an example's outcomes on the turn, by `OUTCOMES`.

    Pairs of the board alone do not count; a full house counts as two pair or three.

    Example:
        >>> [round(100 * probability) for probability in outcomes(EXAMPLES[0], swaps=False)]
        [0, 68, 0, 13, 0, 19]
    """
    hand, flop = parse_cards(example.hand), parse_cards(example.flop)
    given = parse_card(example.given_away) if swaps else None
    deals = list(_deals(hand, flop, given))
    classes = strength_classes([hole for hole, _ in deals], [board for _, board in deals])
    counts = np.zeros(len(OUTCOMES), int)
    for (hole, board), found in zip(deals, classes.tolist(), strict=True):
        has_draw = _has_draw(hole, board, example.counts_straight_draws)
        counts[_outcome(found, has_draw)] += 1
    return tuple((counts / len(deals)).tolist())


def _deals(hand: Cards, flop: Cards, given: Card | None) -> Iterator[tuple[Cards, Cards]]:
    """Yield all equally likely hands and boards on the turn."""
    left = [card for card in range(52) if card not in (*hand, *flop)]
    for turn in left:
        if given is None:
            yield hand, (*flop, turn)
        else:
            kept = next(card for card in hand if card != given)
            yield from (((kept, new), (*flop, turn)) for new in left if new != turn)


def _has_draw(hole: Cards, board: Cards, counts_straight_draws: bool) -> bool:
    """Return whether the hand has a draw that the board alone does not have."""
    cards = (*hole, *board)
    if swapping.has_flush_draw(cards) and not swapping.has_flush_draw(board):
        return True
    return counts_straight_draws and bool(
        swapping.straight_draws(cards) - swapping.straight_draws(board)
    )


def _outcome(strength: int, has_draw: bool) -> int:
    if STRAIGHT <= strength <= STRONG_FLUSH:
        return 5
    if OVERPAIR < strength <= THREE or strength >= FULL_HOUSE:
        return 4
    return 2 * (WEAK_PAIR <= strength <= OVERPAIR) + has_draw

"""What an abstraction will cost, before anything is computed.

Tables are [boards, H] whatever the deck, H = 1326 or 52; those of the last street and of the one
before take nearly all memory and time. What a cell costs was measured as peak memory and seconds of
`equilibrist abstract` on two cores, and is rough: more buckets take longer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from equilibrist.abstraction.streets import board_pattern
from equilibrist.cards.isomorphism import DealIndexer
from equilibrist.errors import InvalidValueError
from equilibrist.games.rules import GameRules
from equilibrist.storage.memory import available_bytes, gigabytes


class _Cost(NamedTuple):
    """Of a cell of a table."""

    bytes: float
    nanoseconds: float


_LAST = _Cost(2, 15)  # on the last street, strengths: 2.6 s for hold'em's 178 million
_PROGRAM = 200 * 2**20  # bytes of the interpreter, its libraries and compiled kernels
_CARDS = 52  # whose hands have a column, dealt or not
_MEASURED_THREADS = 2
_BEFORE = {  # on the street before: 84 million of hold'em, or 11 million of its 32-card deck
    "percentile": _Cost(14, 160),  # hold'em 5-25-125-625: 1.6 GiB, 13 s
    "expectation": _Cost(14, 190),  # hold'em 5-25-125-625: 1.5 GiB
    "moments": _Cost(70, 1500),  # 32 cards 5-25-125-625: 70 bytes; hold'em over two minutes
    "potential-aware": _Cost(75, 1600),  # hold'em 20-800-4800-28800: 6.3 GiB, 135 s
    "strength-potential": _Cost(25, 900),  # 32 cards, 5 parts each round
    "texture": _Cost(25, 200),  # 32 cards
    "lossless": _Cost(0, 0),  # refuses all but small decks
}


@dataclass(frozen=True)
class Forecast:
    """Sizes of the tables of an abstraction, and what building it needs."""

    recipe: str
    hands: tuple[int, ...]  # hands on boards, in each round: [boards · hands of the deck]
    bytes: int  # at the peak
    bytes_of_percentile: int  # what the least recipe would need
    seconds: float  # roughly

    def check(self, name: str) -> None:
        """Raise `InvalidValueError` if this machine's memory cannot hold it."""
        available = available_bytes()
        if self.bytes > available:
            raise InvalidValueError(
                f"{self.recipe} buckets of {name} need {gigabytes(self.bytes)} and "
                f"{gigabytes(available)} are free; percentile needs "
                f"{gigabytes(self.bytes_of_percentile)}, a smaller deck less; --force tries",
                value=self.bytes,
            )

    def __str__(self) -> str:
        hands = " + ".join(f"{number:,}" for number in self.hands)
        return f"{hands} hands on boards, {gigabytes(self.bytes)}, about {self.seconds:.0f} s"


def forecast(rules: GameRules, recipe: str, threads: int = _MEASURED_THREADS) -> Forecast:
    """What a recipe of `RECIPES` needs for the hands of a game.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> found = forecast(get_game("holdem-limit"), "potential-aware")
        >>> found.hands[0], found.hands[3], round(found.bytes / 2**30)
        (1326, 178292634, 6)
    """
    in_deck = math.comb(len(rules.deck), rules.num_hole_cards)
    num_boards = []
    for r in range(rules.num_rounds):
        pattern = board_pattern(rules, r, ordered=recipe == "lossless")
        num_boards.append(DealIndexer(pattern, rules.deck).size if pattern else 1)
    columns = math.comb(_CARDS, rules.num_hole_cards)
    cells = columns * num_boards[-1], columns * (num_boards[-2] if len(num_boards) > 1 else 1)
    seconds = sum(
        cost.nanoseconds * number
        for cost, number in zip((_LAST, _BEFORE[recipe]), cells, strict=True)
    )
    return Forecast(
        recipe=recipe,
        hands=tuple(in_deck * number for number in num_boards),
        bytes=_bytes(recipe, cells),
        bytes_of_percentile=_bytes("percentile", cells),
        seconds=seconds * 1e-9 * _MEASURED_THREADS / threads,
    )


def _bytes(recipe: str, cells: tuple[int, int]) -> int:
    last, before = cells
    return int(_PROGRAM + _LAST.bytes * last + _BEFORE[recipe].bytes * before)

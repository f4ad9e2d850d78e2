"""What an abstraction will cost, before anything is computed.

Tables are [boards, hands]; nearly all of them, and of the time, belong to the last street and the
one before. Costs of a hand on a board were measured on full hold'em: peak memory and seconds of
`equilibrist abstract` on two cores, less what strengths cost.
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
    """Of one hand on one board of the street before the last."""

    bytes: float
    nanoseconds: float


_LAST = _Cost(2, 15)  # of one on the last street: its strength, 2.6 s for 178 million
_PROGRAM = 200 * 2**20  # bytes of the interpreter, its libraries and compiled kernels
_MEASURED_THREADS = 2
_COSTS = {  # 84 million hands on turns
    "percentile": _Cost(14, 160),  # 5-25-125-625
    "expectation": _Cost(14, 190),  # 5-25-125-625
    "moments": _Cost(75, 1700),
    "potential-aware": _Cost(75, 1700),  # 20-800-4800-28800: 6.3 GiB and 144 s
    "strength-potential": _Cost(40, 900),
    "texture": _Cost(30, 300),
    "lossless": _Cost(100, 3000),  # of a class in the last round: small decks
}


@dataclass(frozen=True)
class Forecast:
    """Sizes of the tables of an abstraction, and what building it needs."""

    recipe: str
    hands: tuple[int, ...]  # hands on boards, in each round: [boards · hands of the deck]
    bytes: int  # at the peak
    seconds: float  # roughly

    def check(self, name: str) -> None:
        """Raise `InvalidValueError` if this machine's memory cannot hold it."""
        available = available_bytes()
        if self.bytes > available:
            raise InvalidValueError(
                f"{self.recipe} buckets of {name} need {gigabytes(self.bytes)} and "
                f"{gigabytes(available)} are free; percentile needs "
                f"{gigabytes(_bytes('percentile', self.hands))}, a smaller deck less; "
                "--force tries",
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
    each = math.comb(len(rules.deck), rules.num_hole_cards)
    hands = []
    for r in range(rules.num_rounds):
        pattern = board_pattern(rules, r, ordered=recipe == "lossless")
        hands.append(each * (DealIndexer(pattern, rules.deck).size if pattern else 1))
    seconds = _LAST.nanoseconds * hands[-1] + _COSTS[recipe].nanoseconds * _inner(recipe, hands)
    seconds *= 1e-9 * _MEASURED_THREADS / threads
    return Forecast(recipe, tuple(hands), _bytes(recipe, tuple(hands)), seconds)


def _bytes(recipe: str, hands: tuple[int, ...]) -> int:
    needed = _LAST.bytes * hands[-1] + _COSTS[recipe].bytes * _inner(recipe, list(hands))
    return int(needed) + _PROGRAM


def _inner(recipe: str, hands: list[int]) -> int:
    """Hands on boards that a recipe's costs are counted by."""
    return hands[-1] if recipe == "lossless" or len(hands) == 1 else hands[-2]

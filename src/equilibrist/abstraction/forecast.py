"""Forecasts of the memory and time of an abstraction and of its joint counts.

Tables are [boards, H] for any deck, H = 1326 or 52; those of the last two streets take nearly all
memory and time. The cost per cell was measured as peak memory and seconds of `equilibrist abstract`
on two cores and is approximate: more buckets take longer. The cost of joint counts was measured
with `equilibrist joint`, whose matrices are [K, K] for K buckets of the last round.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from equilibrist.abstraction.recipes import RECIPES
from equilibrist.abstraction.streets import board_pattern
from equilibrist.cards.isomorphism import DealIndexer
from equilibrist.games.rules import GameRules
from equilibrist.storage.memory import available_bytes, check_fits, gigabytes

_LAST_BYTES = 2  # per cell of the last street's strengths: 2.6 s for hold'em's 178 million
_LAST_NANOSECONDS = 15
_PROGRAM = 200 * 2**20  # bytes of the interpreter, its libraries and compiled kernels
_CARDS = 52  # tables have a column for every hand of 52 cards, even if the deck is smaller
_MEASURED_THREADS = 2
TILED = 2_000  # last buckets above which tiles are faster: a matrix fills the second-level cache
NUM_GROUPS = 8  # groups of a sample of boards, whose spread gives the error
_DEAL_MICROSECONDS = 80.0  # per ordered board, all hands: hold'em 5-25-125-625 in 4 minutes
_TILED_MICROSECONDS = 460.0  # per board with tiles: hold'em 20-800-4800-28800 in 23 minutes


@dataclass(frozen=True)
class CountsForecast:
    """Memory and time of counting how often pairs of buckets occur together."""

    buckets: int  # of the last round
    bytes: int
    seconds: float  # approximate
    fitting: int  # number of buckets of the last round that would fit into memory

    def check(self, name: str) -> None:
        """Raise `InvalidValueError` if the counts do not fit into this machine's memory."""
        what = f"counts of {self.buckets:,} last buckets of {name} need"
        advice = f"{self.fitting:,} buckets would fit; force tries it anyway"
        check_fits(what, self.bytes, available_bytes(), advice)

    def __str__(self) -> str:
        return f"{gigabytes(self.bytes)}, about {self.seconds:.0f} s"


@dataclass(frozen=True)
class AbstractionForecast:
    """Table sizes of an abstraction, and the memory and time of building it."""

    recipe: str
    hands: tuple[int, ...]  # per round: number of boards · number of hands of the deck
    bytes: int  # at the peak
    bytes_of_percentile: int  # bytes that the cheapest recipe needs
    seconds: float  # approximate

    def check(self, name: str) -> None:
        """Raise `InvalidValueError` if the abstraction does not fit into this machine's memory."""
        least = gigabytes(self.bytes_of_percentile)
        advice = f"percentile needs {least}, a smaller deck less; force tries it anyway"
        what = f"{self.recipe} buckets of {name} need"
        check_fits(what, self.bytes, available_bytes(), advice)

    def __str__(self) -> str:
        hands = " + ".join(f"{number:,}" for number in self.hands)
        return f"{hands} hands on boards, {gigabytes(self.bytes)}, about {self.seconds:.0f} s"


def forecast(
    rules: GameRules, recipe: str, threads: int = _MEASURED_THREADS
) -> AbstractionForecast:
    """Forecast the memory and time of building a recipe of `RECIPES` for a game.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> found = forecast(get_game("holdem-limit"), "potential-aware")
        >>> found.hands[0], found.hands[3], round(found.bytes / 2**30)
        (1326, 178292634, 6)
    """
    in_deck = math.comb(len(rules.deck), rules.num_hole_cards)
    num_boards = _num_boards(rules, ordered=RECIPES[recipe].orders_boards)
    columns = math.comb(_CARDS, rules.num_hole_cards)
    cells = columns * num_boards[-1], columns * (num_boards[-2] if len(num_boards) > 1 else 1)
    nanoseconds = _LAST_NANOSECONDS * cells[0] + RECIPES[recipe].nanoseconds_per_hand * cells[1]
    return AbstractionForecast(
        recipe=recipe,
        hands=tuple(in_deck * number for number in num_boards),
        bytes=_bytes(recipe, cells),
        bytes_of_percentile=_bytes("percentile", cells),
        seconds=nanoseconds * 1e-9 * _MEASURED_THREADS / threads,
    )


def counts_forecast(
    rules: GameRules, buckets: int, boards: int | None = None, threads: int = _MEASURED_THREADS
) -> CountsForecast:
    """Forecast the memory and time of joint counts when both players have the same buckets.

    `buckets` is their number in the last round; `boards` the size of a sample (default: all deals).

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> found = counts_forecast(get_game("holdem-limit"), 28_800)  # measured: 8.4 GiB, 23 min
        >>> gigabytes(found.bytes), round(found.seconds / 60)
        ('6.9 GiB', 23)
    """
    num_boards = _num_boards(rules, ordered=False)
    columns, before = math.comb(_CARDS, rules.num_hole_cards), (1, *num_boards)[-2]
    tables = _PROGRAM + _LAST_BYTES * columns * (num_boards[-1] + before)
    is_tiled, is_sampled = boards is None and buckets > TILED, boards is not None
    cell = cell_bytes(threads, is_tiled=is_tiled, is_sampled=is_sampled)
    dealt = len(rules.deck) - rules.total_board_cards + rules.num_board_cards[-1]
    deals = before * math.comb(dealt, rules.num_board_cards[-1]) if boards is None else boards
    microseconds = _TILED_MICROSECONDS if is_tiled else _DEAL_MICROSECONDS
    share = (math.comb(len(rules.deck), rules.num_hole_cards) / columns) ** 2  # of a full deck's
    room = max(available_bytes() - tables, 0)
    return CountsForecast(
        buckets=buckets,
        bytes=int(tables + cell * buckets**2),
        seconds=deals * microseconds * 1e-6 * share * _MEASURED_THREADS / threads,
        fitting=math.isqrt(int(room / cell)),
    )


def cell_bytes(
    threads: int, *, is_tiled: bool = False, is_sampled: bool = False, sides: int = 1
) -> int:
    """Return the bytes per pair of last buckets during counting; `sides` is 2 if buckets differ."""
    if is_sampled:
        return (4 * NUM_GROUPS + 2 * threads) * 8
    return (1 + sides) * 4 if is_tiled else (1 + threads) * 2 * 8


def _num_boards(rules: GameRules, *, ordered: bool) -> list[int]:
    """Return the number of boards of each round up to suit isomorphism."""
    patterns = [board_pattern(rules, r, ordered=ordered) for r in range(rules.num_rounds)]
    return [DealIndexer(pattern, rules.deck).size if pattern else 1 for pattern in patterns]


def _bytes(recipe: str, cells: tuple[int, int]) -> int:
    last, before = cells
    return int(_PROGRAM + _LAST_BYTES * last + RECIPES[recipe].bytes_per_hand * before)

"""Equity with discards: the pot share of hands when both sides swap by the rule without betting.

EctomynX's equity program (section 0.b of its report): deals are random, both players swap after the
flop and after the turn by `swap_rule`, and the better hand wins the pot. Estimates have standard
errors; a seed gives the same hands with any number of threads.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from equilibrist.cards.equity import Progress
from equilibrist.cards.hand import NUM_CLASSES, class_name, hand_table
from equilibrist.cards.numbers import whole_number
from equilibrist.cards.range import Range, parse_range
from equilibrist.cards.ranking import rank_tables
from equilibrist.errors import RangeError
from equilibrist.papers.ectomynx.swap_rule import swap_tables

NUM_SAMPLES = 1_000_000
MOST_SAMPLES = 10**11

_BLOCK = 4_000_000  # hands between two calls of `progress`
_LANES = 64  # parts of a block, for threads
_RAREST = 1e-3  # least share of pairs of hands without a common card; others are dealt again
_ONE = np.uint64(1)


@dataclass(frozen=True)
class DiscardEquity:
    """The first side's share of the pot, estimated from `total` hands."""

    wins: int
    ties: int
    total: int

    @property
    def equity(self) -> float:
        """Share of the pot, from 0 to 1."""
        return (self.wins + self.ties / 2) / self.total

    @property
    def standard_error(self) -> float:
        """Standard error of `equity`, from the variance of the hands' results 1, ½ and 0."""
        spread = (self.wins + self.ties / 4) / self.total - self.equity**2
        return float(np.sqrt(max(spread, 0.0) / self.total))


def discard_equity(
    first: Range | str,
    second: Range | str = "random",
    *,
    samples: int = NUM_SAMPLES,
    seed: int = 0,
    progress: Progress | None = None,
) -> DiscardEquity:
    """Estimate the equity of one hand or range against another before the flop, with discards.

    Pairs of hands that share a card are not dealt; the other pairs are dealt with probabilities
    proportional to the product of their weights.

    Example:
        >>> result = discard_equity("AA", "KK", samples=20_000)  # pairs never swap: 0.8195
        >>> abs(result.equity - 0.8195) < 5 * result.standard_error
        True
    """
    from equilibrist.papers.ectomynx.kernels.discards import TIES, WINS, play_swaps

    samples = whole_number(samples, "the number of samples", 1, MOST_SAMPLES)
    sides = [parse_range(side) if isinstance(side, str) else side for side in (first, second)]
    _check_sides(*sides)
    dealt = [(hand_table()[own.hands], _cumulative(own.weights[own.hands])) for own in sides]
    key = np.random.SeedSequence(seed).generate_state(1, np.uint64)[0]
    counts = np.zeros((_LANES, 2), np.int64)
    for start in range(0, samples, _BLOCK):
        stop = min(start + _BLOCK, samples)
        play_swaps(rank_tables(7), swap_tables(), *dealt, key, start, stop, counts)
        if progress is not None:
            progress(stop / samples)
    total = counts.sum(axis=0)
    return DiscardEquity(int(total[WINS]), int(total[TIES]), samples)


def class_equities(
    samples: int = NUM_SAMPLES, seed: int = 0, progress: Progress | None = None
) -> list[DiscardEquity]:
    """Estimate the equity of every class against a random hand, with `samples` hands per class."""
    found = []
    for number in range(NUM_CLASSES):
        found.append(discard_equity(class_name(number), samples=samples, seed=seed + number))
        if progress is not None:
            progress((number + 1) / NUM_CLASSES)
    return found


def _check_sides(first: Range, second: Range) -> None:
    """Raise `RangeError` if nearly all pairs of the sides' hands share a card."""
    (ours, own), (theirs, other) = (
        ((_ONE << hand_table()[side.hands].astype(np.uint64)).sum(axis=1), side.weights[side.hands])
        for side in (first, second)
    )
    apart = (ours[:, None] & theirs) == 0
    if own @ apart @ other < _RAREST * own.sum() * other.sum():
        raise RangeError(
            f"hands of {first.brief} and {second.brief} nearly always share a card",
            value=str(first),
        )


def _cumulative(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the cumulative probabilities [n] of `weights` [n]; the last is exactly 1."""
    probabilities = np.cumsum(weights)
    return np.asarray(probabilities / probabilities[-1])

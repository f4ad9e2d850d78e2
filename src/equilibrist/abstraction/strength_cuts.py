"""Division of buckets by hand strength: the distribution of strengths in a bucket, and its cuts.

Every recipe that uses one number per hand (percentile, expectation, the last street of all recipes)
is a rule that turns the counts of strengths within each parent bucket into intervals.
"""

from __future__ import annotations

from dataclasses import dataclass

import numba
import numpy as np
from numpy.typing import NDArray

from equilibrist.abstraction.allocation import allocate
from equilibrist.abstraction.buckets import Intervals
from equilibrist.abstraction.features import Ints, Strengths
from equilibrist.abstraction.intervals import IntervalTable, Objective, best_intervals
from equilibrist.errors import InvalidValueError

# Maximum number of levels of strength that are distinguished while cutting: a million, but fewer if
# there are many parents. Strengths of hold'em's last two streets are exact.
_MOST_LEVELS = 2**20
_MOST_CELLS = 2**25
_FEW_LEVELS = 2_000  # up to this number, minimising the mean distance is fast enough
MOST_TRIED = 80  # maximum number of parts per bucket that are tried, as in rounds 2 and 3 of GS3


@dataclass(frozen=True, eq=False)
class Spread:
    """The number of deals at each level of strength in each parent bucket."""

    counts: NDArray[np.int64]  # [P, M] number of raw (hand, board) deals
    shift: int  # level = strength >> shift

    @property
    def mass(self) -> NDArray[np.float64]:
        """Probability of each parent bucket: [P]."""
        totals = self.counts.sum(axis=1)
        return totals / totals.sum()


def spread(strengths: Strengths, r: int, labels: Ints, num_parents: int) -> Spread:
    """Count the strengths of round `r` by parent bucket.

    `labels` [B, H] are the parents on the boards of round `r`; for the last round, they are those
    of the previous round, because many previous boards lead to one last board.
    """
    from equilibrist.kernels.cpu import rollout

    streets, values = strengths.streets, strengths.tables[r]
    most = min(_MOST_LEVELS, _MOST_CELLS // num_parents)
    shift = max(0, (int(strengths.scales[r]) // most).bit_length())
    levels = values if shift == 0 else values >> shift  # −1 stays −1
    chunks = numba.get_num_threads()
    size = (int(strengths.scales[r]) >> shift) + 1
    out = np.zeros((chunks, num_parents, size), np.int64)
    if r == len(streets) - 1 and r > 0:
        before = streets[r - 1]
        rollout.tally_next(
            levels, before.child, before.renaming, streets.renamed, labels, before.multiplicity, out
        )
    else:
        rollout.tally(levels, labels, streets[r].multiplicity, out)
    return Spread(out.sum(axis=0), shift)


def percentiles(found: Spread, number: int) -> Intervals:
    """Divide every parent into the same number of intervals of nearly equal probability."""
    parts = number // len(found.counts)
    return quantiles(found, np.full(parts, 1 / parts))


def quantiles(found: Spread, shares: NDArray[np.float64]) -> Intervals:
    """Divide every parent into intervals of given shares, as closely as its levels allow."""
    lowers, parts = [], len(shares)
    for counts in found.counts:
        levels = np.flatnonzero(counts)
        if len(levels) < parts:
            raise InvalidValueError(
                f"a bucket of {len(levels)} different strengths cannot be cut into {parts} parts",
                value=parts,
            )
        below = np.concatenate([[0], np.cumsum(counts[levels])]) / counts.sum()
        cuts = [0]
        for j, wanted in enumerate(np.cumsum(shares)[:-1], start=1):
            cut = int(np.argmin(np.abs(below - wanted)))
            # Leave at least one level for every part on each side.
            cuts.append(min(max(cut, cuts[-1] + 1), len(levels) - (parts - j)))
        lowers.append(levels[cuts] << found.shift)
    return intervals(lowers)


def least_squares(found: Spread, parts: int) -> Intervals:
    """Divide every parent into `parts` intervals (or fewer levels) of least squared error."""
    table = _best_intervals(found, parts)
    return _cut(found, table, np.full(len(found.counts), parts))


def expectations(found: Spread, number: int) -> Intervals:
    """Divide all parents into `number` intervals in total, by the integer program over errors.

    The error of a parent is the mean distance to the mean of the interval, as in GS3. It is
    minimised directly if there are few levels, as on hold'em's rivers; otherwise the least squares
    solution, which is found faster, is used. A division into more parts without a lower error is
    not offered. The maximum number of parts per parent is three times the average: 18 for an
    average of 6 in GS3's last round.
    """
    mean = -(-number // len(found.counts))
    most = most_parts(number, len(found.counts), tried=min(3 * mean, MOST_TRIED))
    few = int(found.counts.any(axis=0).sum()) <= _FEW_LEVELS
    table = _best_intervals(found, most, "distance" if few else "squared")
    errors = np.minimum.accumulate(table.errors, axis=1)
    distinct = int(np.minimum((found.counts > 0).sum(axis=1), table.most).sum())
    return _cut(found, table, allocate(errors, found.mass, min(number, distinct)))


def _best_intervals(found: Spread, most: int, objective: Objective = "squared") -> IntervalTable:
    levels = np.flatnonzero(found.counts.any(axis=0))
    return best_intervals(levels, found.counts[:, levels], most, objective=objective)


def _cut(found: Spread, table: IntervalTable, parts: NDArray[np.int64]) -> Intervals:
    lowers = []
    for p, k in enumerate(parts):
        later = table.thresholds(p, int(k)).astype(np.int64)
        lowers.append(np.concatenate([[0], later]) << found.shift)
    return intervals(lowers)


def most_parts(number: int, num_parents: int, *, tried: int = MOST_TRIED) -> int:
    """Return the maximum number of parts per bucket to try: `tried`, if possible and sufficient."""
    mean = -(-number // num_parents)
    return max(min(tried, number - num_parents + 1), mean)


def intervals(lowers: list[NDArray[np.int64]]) -> Intervals:
    """Build the intervals of parents from their lower ends; the first of a parent starts at 0."""
    first = np.cumsum([0, *map(len, lowers)]).astype(np.int32)
    lower = np.concatenate(lowers).astype(np.int64)
    lower[first[:-1]] = 0
    return Intervals(first, lower)


def label(strengths: Strengths, r: int, labels: Ints, found: Intervals) -> NDArray[np.int32]:
    """Return the interval of every hand on the boards of a round before the last: [B, H]."""
    from equilibrist.kernels.cpu.rollout import label_values

    out = np.empty(labels.shape, np.int32)
    label_values(strengths.tables[r], labels, found.first, found.lower, out)
    return out

"""Optimal intervals of weighted numbers, such as equities, for every number of intervals at once.

For one-dimensional points no search is needed: a dynamic program finds the optimum of either

- `squared`: the weighted mean of squared distances to the mean of the interval. It is the optimum
  of k-means among all clusterings, not only intervals. Its error usually decreases with k, but not
  always.
- `distance`: the weighted mean distance to the mean of the interval, not squared: error(b, k) of
  the GS3 paper. It is the optimum among intervals (other clusterings might be better, because the
  mean does not minimise this sum) and never increases with k. It takes about ten times as long.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equilibrist.cards.numbers import whole_number
from equilibrist.errors import InvalidValueError, UnknownNameError
from equilibrist.kernels.cpu import intervals as kernel

Objective: TypeAlias = Literal["squared", "distance"]
OBJECTIVES: tuple[Objective, ...] = get_args(Objective)


@dataclass(frozen=True, eq=False)
class IntervalTable:
    """Optimal divisions of P problems over the same V values into 1 … K intervals.

    With k intervals, interval c of problem p starts at index `cuts[p, k - 1, c]` of `values` and
    ends before the next; entries after the last interval are V. There are fewer than k intervals if
    fewer values have positive weight. Every interval except the first starts at such a value.
    """

    values: NDArray[np.float64]  # [V] ascending
    cuts: NDArray[np.int32]  # [P, K, K]
    errors: NDArray[np.float64]  # [P, K] weighted mean distance to the mean of the interval
    squares: NDArray[np.float64]  # [P, K] weighted mean squared distance

    def thresholds(self, problem: int, k: int) -> NDArray[np.float64]:
        """Return the first values of all but the first of k intervals: at most k − 1, ascending.

        `np.searchsorted(thresholds, value, side="right")` is the interval of a value.
        """
        cuts = self.cuts[problem, whole_number(k, "the number of intervals", 1, self.most) - 1]
        return self.values[cuts[1:][cuts[1:] < len(self.values)]]

    def labels(self, problem: int, k: int) -> NDArray[np.int32]:
        """Return the interval of each value: [V]."""
        places = np.searchsorted(self.thresholds(problem, k), self.values, side="right")
        return places.astype(np.int32)

    @property
    def most(self) -> int:
        """Maximum number of intervals, K."""
        return self.errors.shape[1]


def best_intervals(
    values: ArrayLike, weights: ArrayLike, most: int, *, objective: Objective = "squared"
) -> IntervalTable:
    """Divide ascending values [V] by each row of weights [P, V] into 1 … `most` intervals.

    Example:
        >>> table = best_intervals([0, 1, 5, 6, 9], [[1, 1, 1, 1, 0], [1, 0, 0, 1, 2]], 3)
        >>> table.errors.round(3).tolist()
        [[2.5, 0.5, 0.25], [3.0, 1.0, 0.0]]
        >>> table.thresholds(0, 2).tolist(), table.labels(1, 3).tolist()
        ([5.0], [0, 0, 0, 1, 2])
    """
    numbers, rows = np.asarray(values, np.float64), np.ascontiguousarray(weights, np.float64)
    most = whole_number(most, "the maximum number of intervals", 1, 2**15)
    if numbers.ndim != 1 or len(numbers) == 0 or rows.shape[1:] != numbers.shape:
        raise InvalidValueError(
            "values must be an array [V] and weights an array [P, V], not "
            f"{list(numbers.shape)} and {list(rows.shape)}"
        )
    if not (np.isfinite(numbers).all() and (np.diff(numbers) > 0).all()):
        raise InvalidValueError("values must be finite and ascending, without repetitions")
    if not (np.isfinite(rows).all() and (rows >= 0).all() and rows.any(axis=1).all()):
        raise InvalidValueError(
            "weights must be finite, at least zero, and not all zero in any row"
        )
    if objective not in OBJECTIVES:
        raise UnknownNameError(
            f"no objective is called {objective!r}; there are {' and '.join(OBJECTIVES)}",
            value=objective,
        )
    cuts = np.full((len(rows), most, most), len(numbers), np.int32)
    sums = np.zeros((len(rows), most, 2))
    kernel.best_intervals(numbers, rows, objective == "squared", cuts, sums)
    means = sums / rows.sum(axis=1)[:, None, None]
    return IntervalTable(numbers, cuts, means[..., 0], means[..., 1])

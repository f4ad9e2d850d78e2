"""The best intervals of weighted numbers, such as equities, for every number of intervals at once.

Where points are numbers nothing has to be searched: a dynamic program finds the optimum, of either

- `squared`: the weighted mean of squared distances to the own interval's mean. It is the optimum of
  k-means among all clusterings, not only intervals. Its error usually falls with k but need not.
- `distance`: the weighted mean distance to the own interval's mean, not squared: error(b, k) of the
  GS3 paper. It is the optimum among intervals (others might be better, for the mean does not lower
  this sum) and never rises with k. It takes some ten times as long.
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
    """Best divisions of P problems over the same V values into 1 … K intervals.

    With k intervals, interval c of problem p begins at place `cuts[p, k - 1, c]` of `values` and
    ends before the next; beyond the last interval stands V. There are fewer intervals than k where
    fewer values have weight. An interval but the first begins at a value that has weight.
    """

    values: NDArray[np.float64]  # [V] ascending
    cuts: NDArray[np.int32]  # [P, K, K]
    errors: NDArray[np.float64]  # [P, K] weighted mean distance to the own interval's mean
    squares: NDArray[np.float64]  # [P, K] weighted mean squared distance

    def thresholds(self, problem: int, k: int) -> NDArray[np.float64]:
        """The first values of the second and later of k intervals: [k − 1] or fewer, ascending.

        `np.searchsorted(thresholds, value, side="right")` is the interval of a value.
        """
        cuts = self.cuts[problem, whole_number(k, "the number of intervals", 1, self.most) - 1]
        return self.values[cuts[1:][cuts[1:] < len(self.values)]]

    def labels(self, problem: int, k: int) -> NDArray[np.int32]:
        """The interval of each value: [V]."""
        places = np.searchsorted(self.thresholds(problem, k), self.values, side="right")
        return places.astype(np.int32)

    @property
    def most(self) -> int:
        """The most intervals."""
        return self.errors.shape[1]


def best_intervals(
    values: ArrayLike, weights: ArrayLike, most: int, *, objective: Objective = "squared"
) -> IntervalTable:
    """Divides ascending values [V] by each row of weights [P, V] into 1 … `most` intervals.

    Example:
        >>> table = best_intervals([0, 1, 5, 6, 9], [[1, 1, 1, 1, 0], [1, 0, 0, 1, 2]], 3)
        >>> table.errors.round(3).tolist()
        [[2.5, 0.5, 0.25], [3.0, 1.0, 0.0]]
        >>> table.thresholds(0, 2).tolist(), table.labels(1, 3).tolist()
        ([5.0], [0, 0, 0, 1, 2])
    """
    numbers, rows = np.asarray(values, np.float64), np.ascontiguousarray(weights, np.float64)
    most = whole_number(most, "the most intervals", 1, 2**15)
    if numbers.ndim != 1 or len(numbers) == 0 or rows.shape[1:] != numbers.shape:
        raise InvalidValueError(
            "values are an array [V] and weights an array [P, V], not "
            f"{list(numbers.shape)} and {list(rows.shape)}"
        )
    if not (np.isfinite(numbers).all() and (np.diff(numbers) > 0).all()):
        raise InvalidValueError("values are finite and ascending, each above the one before")
    if not (np.isfinite(rows).all() and (rows >= 0).all() and rows.any(axis=1).all()):
        raise InvalidValueError("weights are finite, zero or more, and not all zero in any row")
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

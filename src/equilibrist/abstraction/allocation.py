"""Allocation of children to buckets: the integer program of GS2 and GS3.

Given error(b, k), the error of bucket b when it is divided into k children, and the probability
P(b) of reaching it, choose k_b to minimise Σ_b P(b) · error(b, k_b) subject to Σ_b k_b ≤ total
(Gilpin and Sandholm 2007). This is a multiple-choice knapsack: one binary variable for each b and
k, one constraint per bucket and one for the total. HiGHS proves its solution optimal; a dynamic
program over (buckets so far, children so far) finds an optimum without a solver.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equilibrist.cards.numbers import whole_number
from equilibrist.errors import InvalidValueError, SolverError, UnknownNameError

Method: TypeAlias = Literal["highs", "dynamic"]

_Floats: TypeAlias = NDArray[np.float64]
_Ints: TypeAlias = NDArray[np.int64]


def allocate(
    errors: ArrayLike,
    weights: ArrayLike,
    total: int,
    *,
    exactly: bool = False,
    method: Method = "highs",
) -> _Ints:
    """Return the numbers of children [B] that minimise Σ weights · errors [B, K] (1 … K children).

    The numbers sum to at most `total`, or to exactly `total` if `exactly`. An infinite error
    forbids a number of children. If more children do not lower its error, a bucket gets the
    smallest number, unless the total must be met exactly.

    Example:
        >>> allocate([[4.0, 1.0, 0.0], [4.0, 3.0, 2.5]], [0.5, 0.5], 4).tolist()
        [3, 1]
    """
    table, probabilities = _checked(errors, weights)
    offered = np.isfinite(table)
    sizes = np.arange(1, table.shape[1] + 1)
    least = int(np.where(offered, sizes, len(sizes)).min(axis=1).sum())
    most = int(np.where(offered, sizes, 0).max(axis=1).sum())
    what = f"the number of children of {len(table)} buckets with 1 to {len(sizes)} each"
    total = whole_number(total, what, least, most)
    if method not in ("highs", "dynamic"):
        raise UnknownNameError(
            f"no method of allocation is called {method!r}; there are highs and dynamic",
            value=method,
        )
    costs = np.where(offered, probabilities[:, None] * np.where(offered, table, 0.0), np.inf)
    solve = _dynamic if method == "dynamic" else _highs
    chosen = solve(costs, total, exactly)
    if exactly:
        return chosen
    return (costs == costs[np.arange(len(costs)), chosen - 1][:, None]).argmax(axis=1) + 1


def total_error(errors: ArrayLike, weights: ArrayLike, children: ArrayLike) -> float:
    """Return Σ weights [B] · errors [B, K] for given numbers of children [B].

    Example:
        >>> total_error([[4.0, 1.0, 0.0], [4.0, 3.0, 2.5]], [0.5, 0.5], [3, 1])
        2.0
    """
    table, probabilities = _checked(errors, weights)
    rows = np.arange(len(table))
    return float(probabilities @ table[rows, np.asarray(children, np.int64) - 1])


def _checked(errors: ArrayLike, weights: ArrayLike) -> tuple[_Floats, _Floats]:
    table, probabilities = np.asarray(errors, np.float64), np.asarray(weights, np.float64)
    if table.ndim != 2 or 0 in table.shape or probabilities.shape != table.shape[:1]:
        raise InvalidValueError(
            "errors must be an array [B, K] and weights an array [B], both not empty; they are "
            f"{list(table.shape)} and {list(probabilities.shape)}"
        )
    if np.isnan(table).any() or (table < 0).any() or not np.isfinite(table).any(axis=1).all():
        bad = np.isnan(table).any(axis=1) | (table < 0).any(axis=1)
        row = int((bad | ~np.isfinite(table).any(axis=1)).argmax())
        raise InvalidValueError(
            f"bucket {row} has errors {table[row].tolist()}; they must be at least zero, and at "
            "least one must be finite",
            position=row,
        )
    if not (np.isfinite(probabilities).all() and (probabilities >= 0).all()):
        raise InvalidValueError("weights of buckets must be finite and at least zero")
    return table, probabilities


def _dynamic(costs: _Floats, total: int, exactly: bool) -> _Ints:
    """Allocate by dynamic programming: O(B · K · total), one or two bytes per bucket and child."""
    num_buckets, most = costs.shape
    best = np.full(total + 1, np.inf)  # least cost of the buckets so far, by number of children
    best[0] = 0.0
    choice = np.zeros((num_buckets, total + 1), np.min_scalar_type(most))
    for bucket, row in enumerate(costs):
        after = np.full(total + 1, np.inf)
        for k in np.flatnonzero(np.isfinite(row[:total])) + 1:
            with_k = best[:-k] + row[k - 1]
            better = with_k < after[k:]
            np.copyto(after[k:], with_k, where=better)
            choice[bucket, k:][better] = k
        best = after
    left = total if exactly else int(best.argmin())
    if not np.isfinite(best[left]):
        raise _impossible(total)
    chosen = np.zeros(num_buckets, np.int64)
    for bucket in reversed(range(num_buckets)):
        chosen[bucket] = choice[bucket, left]
        left -= chosen[bucket]
    return chosen


def _highs(costs: _Floats, total: int, exactly: bool) -> _Ints:
    """Allocate by HiGHS, to proven optimality."""
    import highspy

    bucket, k = np.nonzero(np.isfinite(costs))
    cost = costs[bucket, k]
    highs = highspy.Highs()
    options: dict[str, Any] = {"output_flag": False, "mip_rel_gap": 0.0, "mip_abs_gap": 0.0}
    for name, value in options.items():
        highs.setOptionValue(name, value)
    highs.passModel(_model(bucket, k + 1, cost / (cost.max() or 1.0), total, exactly))
    highs.run()
    status = highs.getModelStatus()
    if status == highspy.HighsModelStatus.kInfeasible:
        raise _impossible(total)
    if status != highspy.HighsModelStatus.kOptimal:
        raise SolverError(
            f"HiGHS ended with status {highs.modelStatusToString(status)!r} without an allocation; "
            "use the method dynamic"
        )
    taken = np.array(highs.getSolution().col_value) > 0.5
    chosen = np.zeros(len(costs), np.int64)
    chosen[bucket[taken]] = k[taken] + 1
    return chosen


def _model(bucket: _Ints, k: _Ints, cost: _Floats, total: int, exactly: bool) -> Any:
    """Build the model: one column per bucket and number of children; rows: buckets and total."""
    import highspy

    num_columns, num_buckets = len(bucket), int(bucket[-1]) + 1
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = num_columns, num_buckets + 1
    model.col_cost_ = cost
    model.col_lower_, model.col_upper_ = np.zeros(num_columns), np.ones(num_columns)
    model.row_lower_ = np.append(np.ones(num_buckets), total if exactly else -np.inf)
    model.row_upper_ = np.append(np.ones(num_buckets), total)
    model.integrality_ = [highspy.HighsVarType.kInteger] * num_columns
    model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    model.a_matrix_.num_col_, model.a_matrix_.num_row_ = num_columns, num_buckets + 1
    model.a_matrix_.start_ = np.arange(0, 2 * num_columns + 1, 2)
    model.a_matrix_.index_ = np.stack([bucket, np.full(num_columns, num_buckets)], axis=1).ravel()
    model.a_matrix_.value_ = np.stack([np.ones(num_columns), k], axis=1).ravel()
    return model


def _impossible(total: int) -> InvalidValueError:
    return InvalidValueError(
        f"no possible numbers of children sum to {total}; use another total",
        value=total,
    )

"""Matrix games by linear programming: the small games inside the oracle methods.

Player 0 picks a row and wins the entry. Von Neumann's program: maximise v over distributions x of
rows with v ≤ (xᵀ A)_j for every column j; the prices of these constraints are the other player's
distribution. HiGHS' simplex ends in a vertex, so the strategies mix few rows.

Oracle methods solve one game after another, each a row or a column larger than the last. Every
solution stores its simplex basis, and the next program may start there: then it takes a few pivots
instead of hundreds. The basis is two arrays, so a method that stores it in its state gives the same
numbers after an interruption as without one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equilibrist.errors import InvalidValueError, SolverError
from equilibrist.models.game import Floats

_OPTIONS = {
    "output_flag": False,
    "solver": "simplex",
    "primal_feasibility_tolerance": 1e-10,  # the tightest that HiGHS accepts
    "dual_feasibility_tolerance": 1e-10,
}
_LARGEST_GAP = 1e-6  # largest gap of a solution, relative to the largest payoff
_AT_BOUND, _BASIC = 0, 1  # statuses of variables, as HiGHS numbers them


class Basis(NamedTuple):
    """Final basis of the simplex method: statuses of v and each row, of Σx = 1 and each column."""

    variables: NDArray[np.int8]  # [1 + m]
    constraints: NDArray[np.int8]  # [1 + n]

    def grown(self, num_rows: int, num_columns: int) -> Basis:
        """Return the basis in a matrix with more rows (not played) and columns (not binding)."""
        more = num_rows + 1 - len(self.variables), num_columns + 1 - len(self.constraints)
        return Basis(
            np.pad(self.variables, (0, more[0]), constant_values=_AT_BOUND),
            np.pad(self.constraints, (0, more[1]), constant_values=_BASIC),
        )


@dataclass(frozen=True)
class MatrixSolution:
    """Optimal strategies of a matrix game."""

    row: Floats  # [m] player 0's distribution
    column: Floats  # [n] player 1's distribution
    value: float  # what `row` wins at least
    bound: float  # what `column` loses at most; equal to `value` up to rounding
    basis: Basis


def solve_matrix(payoffs: ArrayLike, start: Basis | None = None) -> MatrixSolution:
    """Solve a matrix game [m, n] exactly, and check both strategies against all pure ones.

    `start` is the basis of the same game with fewer rows and columns, if there is one.

    Example:
        >>> solution = solve_matrix([[3, 0], [1, 2]])
        >>> round(solution.value, 9), solution.row.round(9).tolist()
        (1.5, [0.25, 0.75])
    """
    matrix = np.asarray(payoffs, np.float64)
    if matrix.ndim != 2 or not matrix.size or not np.isfinite(matrix).all():
        raise InvalidValueError(
            f"payoffs must be a finite matrix, not an array of shape {matrix.shape}",
            value=matrix.shape,
        )
    scale = float(np.abs(matrix).max()) or 1.0
    highs = _run(matrix / scale, start)
    found, basis = highs.getSolution(), highs.getBasis()
    if len(found.col_value) != len(matrix) + 1 or not found.dual_valid:
        status = highs.modelStatusToString(highs.getModelStatus())
        raise SolverError(f"the matrix game was not solved: {status}", value=matrix.shape)
    row = distribution(np.array(found.col_value[1:]))
    column = distribution(np.abs(found.row_dual[1:]))
    value, bound = float((row @ matrix).min()), float((matrix @ column).max())
    if not bound - value <= _LARGEST_GAP * scale:
        raise SolverError(
            f"the strategies found for the matrix game leave a gap of {bound - value:.3g}",
            value=bound - value,
        )
    statuses = (np.array([int(s) for s in part]) for part in (basis.col_status, basis.row_status))
    return MatrixSolution(row, column, value, bound, Basis(*(s.astype(np.int8) for s in statuses)))


def distribution(weights: Floats) -> Floats:
    """Return weights with negative rounding errors cut off, scaled to sum to 1."""
    positive = np.maximum(weights, 0.0)
    return positive / positive.sum()


def _run(matrix: Floats, start: Basis | None) -> Any:
    """Run HiGHS on von Neumann's program."""
    import highspy

    highs: Any = highspy.Highs()
    for name, value in _OPTIONS.items():
        highs.setOptionValue(name, value)
    highs.passModel(_program(matrix))
    if start is not None:
        grown, basis = start.grown(*matrix.shape), highspy.HighsBasis()
        basis.col_status = [highspy.HighsBasisStatus(int(s)) for s in grown.variables]
        basis.row_status = [highspy.HighsBasisStatus(int(s)) for s in grown.constraints]
        basis.valid = True
        highs.setBasis(basis)
    highs.run()
    return highs


def _program(matrix: Floats) -> Any:
    """Build the program: minimise −v over (v, x) with Σx = 1, −v + (xᵀ A)_j ≥ 0, v free, x ≥ 0."""
    import highspy

    num_rows, num_columns = matrix.shape
    dense = np.empty((num_rows + 1, num_columns + 1))  # [variable, constraint]
    dense[0], dense[1:, 0], dense[1:, 1:] = -1.0, 1.0, matrix
    dense[0, 0] = 0.0
    variable, constraint = np.nonzero(dense)
    program = highspy.HighsLp()
    program.num_col_, program.num_row_ = num_rows + 1, num_columns + 1
    program.col_cost_ = np.append(-1.0, np.zeros(num_rows))
    program.col_lower_ = np.append(-np.inf, np.zeros(num_rows))
    program.col_upper_ = np.full(num_rows + 1, np.inf)
    program.row_lower_ = np.append(1.0, np.zeros(num_columns))
    program.row_upper_ = np.append(1.0, np.full(num_columns, np.inf))
    program.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    program.a_matrix_.start_ = np.searchsorted(variable, np.arange(num_rows + 2)).astype(np.int32)
    program.a_matrix_.index_ = constraint.astype(np.int32)
    program.a_matrix_.value_ = dense[variable, constraint]
    return program

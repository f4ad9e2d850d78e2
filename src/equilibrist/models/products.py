"""Products of plans and matrices: by BLAS, or skipping zeros where most of a plan is nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from equilibrist.kernels.cpu import products

# What skipping zeros needs to be the faster way, measured: float32, columns enough to pay for
# sorting zeros out, and no more than this share of the plan kept.
_LEAST_COLUMNS = 1_000
_MOST_KEPT = 0.4


def product(left: NDArray[Any], matrix: NDArray[Any], *, is_turned: bool = False) -> NDArray[Any]:
    """`left` [Q, T] times `matrix` [T, S], or times the transpose of a matrix [S, T].

    Example:
        >>> product(np.eye(2), np.array([[1.0, 2.0], [3.0, 4.0]]), is_turned=True).tolist()
        [[1.0, 3.0], [2.0, 4.0]]
    """
    num_columns = matrix.shape[0 if is_turned else 1]
    if left.dtype == np.float32 and num_columns >= _LEAST_COLUMNS and len(left):
        counts = np.empty((-(-left.shape[1] // products.BLOCK), -(-len(left) // 2)), np.int64)
        products.count_kept(left, counts)
        start = np.concatenate([[0], np.cumsum(counts)])
        if 2 * start[-1] <= _MOST_KEPT * left.size:
            column, value = np.empty(start[-1], np.uint8), np.empty((start[-1], 2), left.dtype)
            products.keep(left, start, column, value)
            out = np.empty((len(left), num_columns), left.dtype)
            products.multiply(start, column, value, matrix, is_turned, out)
            return out
    return left @ (matrix.T if is_turned else matrix)

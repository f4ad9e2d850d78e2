"""Products of plans and matrices: by BLAS, or skipping zeros if most of a plan is zero."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from equilibrist.kernels.cpu import products

# Conditions under which skipping zeros is faster, measured: float32, enough columns to pay for
# finding the zeros, and at most this share of the plan kept.
_LEAST_COLUMNS = 1_000
_MOST_KEPT = 0.4


def product(
    left: NDArray[Any], matrix: NDArray[Any], *, is_transposed: bool = False
) -> NDArray[Any]:
    """Multiply `left` [Q, T] by `matrix` [T, S], or by the transpose of a matrix [S, T].

    Example:
        >>> product(np.eye(2), np.array([[1.0, 2.0], [3.0, 4.0]]), is_transposed=True).tolist()
        [[1.0, 3.0], [2.0, 4.0]]
    """
    num_columns = matrix.shape[0 if is_transposed else 1]
    if left.dtype == np.float32 and num_columns >= _LEAST_COLUMNS and len(left):
        counts = np.empty((-(-left.shape[1] // products.BLOCK), -(-len(left) // 2)), np.int64)
        products.count_kept(left, counts)
        start = np.concatenate([[0], np.cumsum(counts)])
        if 2 * start[-1] <= _MOST_KEPT * left.size:
            column, value = np.empty(start[-1], np.uint8), np.empty((start[-1], 2), left.dtype)
            products.keep(left, start, column, value)
            out = np.empty((len(left), num_columns), left.dtype)
            products.multiply(start, column, value, matrix, is_transposed, out)
            return out
    return left @ (matrix.T if is_transposed else matrix)

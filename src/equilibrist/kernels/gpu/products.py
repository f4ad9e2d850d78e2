"""Products of plans and matrices on the GPU, under the names of `models/products.py`.

The leaves of a round add (stakes · plan) · matrix to the rows of the other player. `Stakes` are
sparse: a row has a few leaves, so a kernel adds their rows of the plan up; the dense product, which
is nearly all of the work, is cuBLAS's.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from equilibrist.kernels.gpu.device import cuda as _cuda
from equilibrist.kernels.gpu.device import jit
from equilibrist.kernels.gpu.launching import launch
from equilibrist.kernels.gpu.memory import empty, for_kernels, upload

cuda = _cuda()
Array: TypeAlias = Any  # of CuPy; of NumPy in the simulator
_BLOCK = 4096  # columns of a product that are converted to the type of the plan at a time


class Stakes(NamedTuple):
    """Chips at the leaves of a round: a sparse matrix [rows with leaves, the other's rows]."""

    rows: Array  # [J] rows of the player whose values they add to
    start: Array  # [J + 1] where the leaves of a row start
    column: Array  # [leaves] row of the other player
    chips: Array  # [leaves]


def stakes(rows: NDArray[np.intp], chips: Any, dtype: Any) -> Stakes:
    """Copy a sparse matrix of SciPy [J, Q], and the rows that it adds to [J], to the GPU."""
    parts = rows.astype(np.int32), chips.indptr, chips.indices, chips.data.astype(dtype)
    return Stakes(*map(for_kernels, parts))


def matrix(found: NDArray[Any], dtype: Any) -> Array:
    """Copy a matrix of pairs of states to the GPU, in a type."""
    return upload(found.astype(dtype, copy=False))


def add_product(
    out: Array, own: Stakes, theirs: Array, matrix: Array, *, is_transposed: bool
) -> None:
    """Add (stakes · `theirs` [Q, T]) · `matrix` [T, S], or transposed [S, T], to `out` [Q', S]."""
    num_rows, num_columns = len(own.rows), theirs.shape[1]
    if num_rows == 0:
        return
    left = empty((num_rows, num_columns), theirs.dtype)
    launch(_weigh, num_columns, num_rows, own, theirs, left)
    found = product(left, matrix, is_transposed=is_transposed)
    launch(_add_rows, found.shape[1], num_rows, own, found, out)


def product(left: Array, matrix: Array, *, is_transposed: bool = False) -> Array:
    """Multiply `left` [J, T] by `matrix` [T, S], or by the transpose of a matrix [S, T].

    A matrix of another type than `left` is converted some columns of the product at a time.
    """
    turned = matrix.T if is_transposed else matrix
    if left.dtype == matrix.dtype:
        return left @ turned
    out = empty((len(left), turned.shape[1]), left.dtype)
    for first in range(0, out.shape[1], _BLOCK):
        some = slice(first, first + _BLOCK)
        out[:, some] = left @ turned[:, some].astype(left.dtype)
    return out


@jit
def _weigh(own, theirs, left):
    """Write the sums over the leaves of each row of the other player's plan times chips."""
    state = cuda.grid(1)
    if state < left.shape[1]:
        for row in range(cuda.blockIdx.y, left.shape[0], cuda.gridDim.y):
            total = 0.0
            for leaf in range(own.start[row], own.start[row + 1]):
                total += own.chips[leaf] * theirs[own.column[leaf], state]
            left[row, state] = total


@jit
def _add_rows(own, found, out):
    """Add the rows of a product to the rows that they belong to, each to its own."""
    state = cuda.grid(1)
    if state < found.shape[1]:
        for row in range(cuda.blockIdx.y, found.shape[0], cuda.gridDim.y):
            out[own.rows[row], state] += found[row, state]

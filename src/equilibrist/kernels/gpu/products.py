"""Gradients of games with one board per round on the GPU, by products with the matrices of pairs.

Each matrix of a round, J, W or one of expected values, adds (stakes · plan) · matrix to the rows
with leaves of its kind. One kernel writes stakes · plan for all matrices of all rounds, since a row
has few leaves; cuBLAS multiplies, which is nearly all of the work; another kernel writes every
row's sum.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from equilibrist.kernels.array_structs import Treeplex
from equilibrist.kernels.gpu.device import cuda as _cuda
from equilibrist.kernels.gpu.device import jit
from equilibrist.kernels.gpu.memory import empty, for_kernels, launch, views

cuda = _cuda()
Array: TypeAlias = Any  # of CuPy; of NumPy in the simulator
_CONVERTED = 4096  # columns of a product whose matrix is converted to the plan's type at a time


class Factor(NamedTuple):
    """A product of the gradient: [J, T] · a matrix [T, S], or transposed [S, T]."""

    board: int  # whose matrices it takes
    number: int  # which of them
    left: int  # where [J, T] starts among all left sides
    found: int  # where [J, S] starts among all results
    shape: tuple[int, int, int]  # J, T, S


class Leaves(NamedTuple):
    """Leaves of one player's rows, for plans of one type."""

    factors: tuple[Factor, ...]
    sizes: tuple[int, int]  # numbers of all left sides, and of all results
    widest: tuple[int, int]  # the most states of the other player, and of this one
    lefts: Array  # [rows of the left sides, 5] their place, T, block of the plan, first leaf, end
    column: Array  # [leaves] row of the other player
    chips: Array  # [leaves]
    sums: Array  # [Q, 2 + M] place of each row, S, then places of its results, −1 where none is


class _Part(NamedTuple):
    """The leaves of a round that share a matrix, which is one of M."""

    board: int
    number: int
    rows: NDArray[np.intp]  # [J] rows with leaves
    chips: Any  # [J, rows of the other player] a sparse matrix of SciPy


# --- on the CPU: the tables of leaves ---------------------------------------------------------


def prepare(
    player: int, trees: tuple[Treeplex, Treeplex], stakes: Sequence[Sequence[Any]], dtype: Any
) -> Leaves:
    """Copy the leaves of `player` to the GPU.

    `stakes` has, by round, a sparse matrix [rows of player 0, rows of player 1] for each matrix.
    """
    own, other = trees[player], trees[1 - player]
    parts = list(_parts(player, stakes))
    shapes = [
        (len(part.rows), int(other.num_states[part.board]), int(own.num_states[part.board]))
        for part in parts
    ]
    left = np.cumsum([0, *(count * width for count, width, _ in shapes)])
    found = np.cumsum([0, *(count * states for count, _, states in shapes)])
    leaf = np.cumsum([0, *(part.chips.nnz for part in parts)])
    lefts = [np.zeros((0, 5), np.int64)]
    results = np.full((int(own.num_sequences.sum()), max(map(len, stakes))), -1, np.int64)
    first_row = np.append(0, np.cumsum(own.num_sequences))
    for i, (part, (count, width, states)) in enumerate(zip(parts, shapes, strict=True)):
        ends, at = leaf[i] + part.chips.indptr, np.arange(count)
        block = np.full(count, other.block_start[part.board])
        columns = left[i] + at * width, np.full(count, width), block, ends[:-1], ends[1:]
        lefts.append(np.stack(columns, axis=1))
        results[first_row[part.board] + part.rows, part.number] = found[i] + at * states
    return Leaves(
        tuple(
            Factor(part.board, part.number, int(left[i]), int(found[i]), shape)
            for i, (part, shape) in enumerate(zip(parts, shapes, strict=True))
        ),
        (int(left[-1]), int(found[-1])),
        (int(other.num_states.max()), int(own.num_states.max())),
        for_kernels(np.concatenate(lefts)),
        for_kernels(np.concatenate([part.chips.indices for part in parts]).astype(np.int32)),
        for_kernels(np.concatenate([part.chips.data for part in parts]).astype(dtype)),
        for_kernels(np.column_stack([_places(own), results])),
    )


def _parts(player: int, stakes: Sequence[Sequence[Any]]) -> Iterator[_Part]:
    """Yield the leaves of each matrix that has some, round by round."""
    for board, matrices in enumerate(stakes):
        for number, both in enumerate(matrices):
            chips = both if player == 0 else -both.T.tocsr()
            rows = np.flatnonzero(np.diff(chips.indptr))
            if len(rows):
                yield _Part(board, number, rows, chips[rows])


def _places(tree: Treeplex) -> NDArray[np.int64]:
    """Return where each row of all rounds starts, and its number of states: [Q, 2]."""
    states = np.repeat(tree.num_states, tree.num_sequences)
    return np.column_stack([np.cumsum(states) - states, states])


# --- the gradient -----------------------------------------------------------------------------


def gradient(
    leaves: Leaves, matrices: Sequence[Sequence[Array]], player: int, plan: Array, out: Array
) -> None:
    """Write the values of `player`'s rows given the opponent's plan; `matrices` are by board."""
    left, found = empty(leaves.sizes[0], plan.dtype), empty(leaves.sizes[1], plan.dtype)
    tables = leaves.lefts, leaves.column, leaves.chips
    launch(_weigh, leaves.widest[0], len(leaves.lefts), *tables, *views(plan, left))
    for factor in leaves.factors:
        count, width, states = factor.shape
        product(
            left[factor.left : factor.left + count * width].reshape(count, width),
            matrices[factor.board][factor.number],
            found[factor.found : factor.found + count * states].reshape(count, states),
            is_transposed=player == 0,
        )
    launch(_sum, leaves.widest[1], len(leaves.sums), leaves.sums, *views(found, out))


def product(left: Array, matrix: Array, out: Array, *, is_transposed: bool = False) -> None:
    """Write `left` [J, T] times `matrix` [T, S], or the transpose of a matrix [S, T], into `out`.

    A matrix of another type than `left` is converted, some columns of the product at a time.
    """
    turned = matrix.T if is_transposed else matrix
    if left.dtype == matrix.dtype:
        np.dot(left, turned, out=out)
        return
    for first in range(0, out.shape[1], _CONVERTED):
        some = slice(first, first + _CONVERTED)
        out[:, some] = left @ turned[:, some].astype(left.dtype)


@jit
def _weigh(lefts, column, chips, plan, out):
    """Write the left sides: for each row, the sum over its leaves of chips times the plan."""
    state = cuda.grid(1)
    for row in range(cuda.blockIdx.y, len(lefts), cuda.gridDim.y):
        width = lefts[row, 1]
        if state < width:
            total = 0.0
            for leaf in range(lefts[row, 3], lefts[row, 4]):
                total += chips[leaf] * plan[lefts[row, 2] + column[leaf] * width + state]
            out[lefts[row, 0] + state] = total


@jit
def _sum(sums, found, out):
    """Write the value of each row: the sum of its results."""
    state = cuda.grid(1)
    for row in range(cuda.blockIdx.y, len(sums), cuda.gridDim.y):
        if state < sums[row, 1]:
            total = 0.0
            for number in range(2, sums.shape[1]):
                if sums[row, number] >= 0:
                    total += found[sums[row, number] + state]
            out[sums[row, 0] + state] = total

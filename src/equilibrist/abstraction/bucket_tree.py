"""Bucket trees from classes that are the same for all parents of a street: bucket = parent × class.

PsOpti and EctomynX classify hands street by street, by the hand on the current board. A nested
bucket is the sequence of classes so far: child c of bucket p is `p · n + c` if the street has n
classes, whether or not any hand is in it; or only the children that occur, in order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numba
import numpy as np
from numpy.typing import NDArray

from equilibrist.abstraction.buckets import Abstraction, Intervals
from equilibrist.abstraction.features import Ints
from equilibrist.abstraction.streets import Streets
from equilibrist.games.rules import GameRules


class BucketTree(Protocol):
    """Protocol of nested buckets, such as an `Abstraction`."""

    @property
    def rules(self) -> GameRules:
        """Rules of the game."""

    @property
    def parents(self) -> tuple[NDArray[np.int32], ...]:
        """Parent bucket of each bucket, by round: [K] each; −1 if a bucket has none."""

    @property
    def num_buckets(self) -> tuple[int, ...]:
        """Number of buckets of each round."""


def nest(
    streets: Streets,
    recipe: str,
    classes: Sequence[Ints],
    numbers: Sequence[int],
    values: Ints,
    lower: NDArray[np.int64],
    configuration: dict[str, Any],
    *,
    only_met: bool = False,
) -> Abstraction:
    """Build the abstraction whose buckets are sequences of classes.

    `classes` [B, H] of every street but the last are 0 … its number − 1, −1 if blocked; those of
    the last street are the intervals of `values` that start at `lower`, ascending from 0. With
    `only_met`, children that no deal reaches are left out.
    """
    tables: list[Ints] = []
    parents: list[NDArray[np.int32]] = []
    num_parents = 1
    for r, (table, number) in enumerate(zip(classes, numbers, strict=True)):
        before: Ints = tables[-1][streets.parents(r)] if r else np.zeros((1, 1), np.int32)
        bucket = np.where(table >= 0, before.astype(np.int32) * number + table, -1)
        used = np.arange(num_parents * number)
        if only_met:
            used = np.unique(bucket[bucket >= 0])
            bucket = np.where(bucket >= 0, np.searchsorted(used, bucket), -1)
        parents.append((used // number).astype(np.int32) if r else np.full(len(used), -1, np.int32))
        num_parents = len(used)
        tables.append(bucket.astype(np.int16 if num_parents < 2**15 else np.int32))
    met = np.ones((num_parents, len(lower)), np.bool_)
    if only_met and tables:
        met = _met(streets, tables[-1], num_parents, values, lower)
    first = np.concatenate([[0], np.cumsum(met.sum(axis=1))]).astype(np.int32)
    last = Intervals(first, np.broadcast_to(lower, met.shape)[met].astype(np.int64))
    last.lower[first[:-1]] = 0
    parents.append(last.parents if len(streets) > 1 else np.full(len(last.lower), -1, np.int32))
    return Abstraction(streets, recipe, tuple(parents), tuple(tables), values, last, configuration)


def sums_over_children(
    matrix: NDArray[np.float64], first: BucketTree, second: BucketTree, last: int = -1
) -> list[NDArray[np.float64]]:
    """Return a matrix [K, K'] over both players' buckets and its sums for all earlier rounds.

    The matrix is over the buckets of round `last`, by default the last round.
    """
    found = [matrix]
    for r in reversed(range(1, len(first.parents[:last]) + 1)):
        found.insert(0, sum_over_children(found[0], first, second, r))
    return found


def sum_over_children(
    matrix: NDArray[np.float64], first: BucketTree, second: BucketTree, r: int
) -> NDArray[np.float64]:
    """Sum a matrix over both players' buckets of round `r` to those of the previous round."""
    above = column_sums(matrix, second.parents[r], second.num_buckets[r - 1])
    both = column_sums(above.T, first.parents[r], first.num_buckets[r - 1])
    return np.ascontiguousarray(both.T)


def column_sums(
    matrix: NDArray[np.float64], parents: NDArray[np.int32], number: int
) -> NDArray[np.float64]:
    """Sum the columns of a matrix [N, K] by parent; the children of a parent are contiguous.

    Example:
        >>> column_sums(np.array([[1.0, 2.0, 4.0]]), np.array([0, 0, 2]), 3).tolist()
        [[3.0, 0.0, 4.0]]
    """
    begin = np.searchsorted(parents, np.arange(number))
    some = begin < np.searchsorted(parents, np.arange(number), side="right")
    out = np.zeros((len(matrix), number))
    out[:, some] = np.add.reduceat(matrix, begin[some], axis=1)
    return out


def _met(
    streets: Streets, labels: Ints, num_parents: int, values: Ints, lower: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Return which classes of the last street can be reached from each previous bucket: [P, n]."""
    from equilibrist.kernels.cpu import rollout

    class_of = np.searchsorted(lower, np.arange(values.max() + 1), side="right") - 1
    classes = np.where(values >= 0, class_of.astype(np.int16)[values], -1)
    before = streets[-2]
    out = np.zeros((numba.get_num_threads(), num_parents, len(lower)), np.int64)
    rollout.tally_next(
        classes, before.child, before.renaming, streets.renamed, labels, before.multiplicity, out
    )
    return out.sum(axis=0) > 0

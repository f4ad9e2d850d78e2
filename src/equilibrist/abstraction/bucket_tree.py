"""Buckets from classes: a street's classes are the same for all parents, bucket = parent × class.

PsOpti and EctomynX put hands into classes street by street, by what the hand is on the board it is
on. Nested, a bucket is the sequence of classes so far: child c of bucket p is `p · n + c` where a
street has n classes, whether or not some hand is ever there, or the children that occur, in order.
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


class Nested(Protocol):
    """Buckets in buckets, whatever is in them; `Abstraction` is one."""

    @property
    def rules(self) -> GameRules:
        """Of the game whose rounds these are."""

    @property
    def parents(self) -> tuple[NDArray[np.int32], ...]:
        """[K] of each round: bucket of the round before, or −1."""

    @property
    def num_buckets(self) -> tuple[int, ...]:
        """Buckets of each round."""


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
    """The abstraction whose buckets are sequences of classes.

    `classes` [B, H] of every street but the last are 0 … its number − 1, −1 where blocked; those
    of the last street are the intervals of `values` that begin at `lower`, ascending from 0. With
    `only_met`, children that no deal leads to are left out.
    """
    tables: list[Ints] = []
    parents: list[NDArray[np.int32]] = []
    num_parents = 1
    for r, (table, number) in enumerate(zip(classes, numbers, strict=True)):
        before: Ints = tables[-1][streets.parents(r)] if r else np.zeros((1, 1), np.int32)
        bucket = np.where(table >= 0, before.astype(np.int32) * number + table, -1)
        kept = np.arange(num_parents * number)
        if only_met:
            kept = np.unique(bucket[bucket >= 0])
            bucket = np.where(bucket >= 0, np.searchsorted(kept, bucket), -1)
        parents.append((kept // number).astype(np.int32) if r else np.full(len(kept), -1, np.int32))
        num_parents = len(kept)
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
    matrix: NDArray[np.float64], first: Nested, second: Nested, last: int = -1
) -> list[NDArray[np.float64]]:
    """A matrix of both players' buckets of a round, [K, K'], and its sums for all rounds before.

    The round is the last one unless told.
    """
    found = [matrix]
    for r in reversed(range(1, len(first.parents[:last]) + 1)):
        found.insert(0, sum_over_children(found[0], first, second, r))
    return found


def sum_over_children(
    matrix: NDArray[np.float64], first: Nested, second: Nested, r: int
) -> NDArray[np.float64]:
    """A matrix of both players' buckets of round `r` summed to those of the round before."""
    above = column_sums(matrix, second.parents[r], second.num_buckets[r - 1])
    both = column_sums(above.T, first.parents[r], first.num_buckets[r - 1])
    return np.ascontiguousarray(both.T)


def column_sums(
    matrix: NDArray[np.float64], parents: NDArray[np.int32], number: int
) -> NDArray[np.float64]:
    """Columns [N, K] added up for each of so many parents, whose children are side by side.

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
    """Which classes of the last street some deal leads to from each bucket before: [P, n]."""
    from equilibrist.kernels.cpu import rollout

    class_of = np.searchsorted(lower, np.arange(values.max() + 1), side="right") - 1
    classes = np.where(values >= 0, class_of.astype(np.int16)[values], -1)
    before = streets[-2]
    out = np.zeros((numba.get_num_threads(), num_parents, len(lower)), np.int64)
    rollout.tally_next(
        classes, before.child, before.renaming, streets.renamed, labels, before.multiplicity, out
    )
    return out.sum(axis=0) > 0

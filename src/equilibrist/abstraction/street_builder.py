"""Building of buckets street by street: each street divides the buckets of the previous one.

A recipe is a way to divide buckets. On the last street the parts of a bucket are intervals of
strength.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from equilibrist.abstraction.allocation import allocate
from equilibrist.abstraction.buckets import Abstraction, Intervals, check_numbers
from equilibrist.abstraction.clustering import cluster_tables
from equilibrist.abstraction.features import Ints, Progress, Strengths
from equilibrist.abstraction.histograms import Points
from equilibrist.abstraction.resume import (
    Keep,
    Part,
    load_or_compute,
    load_or_compute_series,
)
from equilibrist.abstraction.strength_cuts import Spread, label, most_parts, spread

# (round, previous buckets [B, H] on its boards, their number, requested number) → labels, parents
Divide: TypeAlias = Callable[[int, Ints, int, int], tuple[Ints, NDArray[np.int32]]]
Choose: TypeAlias = Callable[[Spread, int], Intervals]  # (strengths by bucket, requested number)


def grow(
    strengths: Strengths,
    recipe: str,
    numbers: Sequence[int],
    divide: Divide,
    choose_last: Choose,
    *,
    configuration: dict[str, Any] | None = None,
    progress: Progress | None = None,
    keep: Keep | None = None,
) -> Abstraction:
    """Build the abstraction that divides buckets by `divide`, and by strength on the last street.

    Rounds that are stored in `keep` are not divided again.
    """
    streets = strengths.streets
    numbers = check_numbers(streets.rules, numbers)
    say = progress or (lambda text: None)
    whole: Ints = np.where(strengths.tables[0] >= 0, 0, -1).astype(np.int32)
    tables: list[Ints] = []
    parents: list[NDArray[np.int32]] = []
    num_parents = 1

    def divided(r: int) -> tuple[Ints, NDArray[np.int32]]:
        say(f"{_dividing(num_parents, numbers[r])} in round {r + 1}")
        before = tables[-1][streets.parents(r)] if r > 0 else whole
        table, above = divide(r, before, num_parents, numbers[r])
        return table.astype(np.int16 if len(above) < 2**15 else np.int32), above

    def cut_last() -> tuple[Ints, Ints]:
        say(f"{_dividing(num_parents, numbers[-1])} in the last round")
        labels = tables[-1] if tables else whole
        cut = choose_last(spread(strengths, len(streets) - 1, labels, num_parents), numbers[-1])
        return cut.first, cut.lower

    for r in range(len(numbers) - 1):
        table, above = load_or_compute(
            keep, f"round{r + 1}", partial(divided, r), fits=lambda part: len(part) == 2
        )
        num_parents = len(above)
        parents.append(above if r > 0 else np.full(num_parents, -1, np.int32))
        tables.append(table)
    cut = Intervals(*load_or_compute(keep, "last", cut_last))
    parents.append(cut.parents if tables else np.full(len(cut.lower), -1, np.int32))
    return Abstraction(
        streets,
        recipe,
        tuple(parents),
        tuple(tables),
        strengths.tables[-1],
        cut,
        configuration or {},
    )


def _dividing(num_parents: int, number: int) -> str:
    """Return the beginning of a progress message; a single parent has all hands.

    Example:
        >>> _dividing(1, 5), _dividing(1_000, 4_000)
        ('dividing all hands into 5 buckets', 'dividing 1,000 buckets into 4,000')
    """
    if num_parents == 1:
        return f"dividing all hands into {number:,} bucket{'' if number == 1 else 's'}"
    return f"dividing {num_parents:,} buckets into {number:,}"


def by_strength(strengths: Strengths, choose: Choose) -> Divide:
    """Return a rule that divides buckets into intervals of strength on every street."""

    def divide(
        r: int, before: Ints, num_parents: int, number: int
    ) -> tuple[Ints, NDArray[np.int32]]:
        cut = choose(spread(strengths, r, before, num_parents), number)
        return label(strengths, r, before, cut), cut.parents

    return divide


def divide_points(
    shape: tuple[int, ...],
    groups: list[Points],
    number: int,
    *,
    restarts: int,
    seed: int,
    keep: Keep | None = None,
) -> tuple[Ints, NDArray[np.int32]]:
    """Return labels [B, H] and parents of the best `number` clusters of points within groups.

    Groups whose clusters are stored in `keep` are not searched again.
    """
    most = most_parts(number, len(groups))

    def search(first: int) -> Iterator[Part]:
        problems = ((group.points, group.weights) for group in groups[first:])
        for table in cluster_tables(problems, most, restarts=restarts, seed=seed, first=first):
            yield table.errors, table.labels

    def fits(number: int, part: Part) -> bool:
        """Return whether clusters fit the points of a group: row k has at most k + 1 clusters."""
        if number >= len(groups) or len(part) != 2 or part[1].ndim != 2:
            return False
        errors, labels = part
        size = int(groups[number].inverse.max(initial=-1)) + 1
        return (
            errors.shape == (most,)
            and 0 < len(labels) <= most
            and labels.shape[1] >= size
            and bool((labels <= np.arange(len(labels))[:, None]).all())
        )

    tables = list(load_or_compute_series(keep, "group", search, fits))
    mass = np.array([group.weights.sum() for group in groups])
    parts = allocate(np.stack([errors for errors, _ in tables]), mass / mass.sum(), number)
    first = np.concatenate([[0], np.cumsum(parts)]).astype(np.int64)
    labels = np.full(shape[0] * shape[1], -1, np.int32)
    for p, (group, (_, found)) in enumerate(zip(groups, tables, strict=True)):
        row = found[min(parts[p], len(found)) - 1].astype(np.int32)
        labels[group.places] = first[p] + row[group.inverse]
    parents = np.repeat(np.arange(len(groups), dtype=np.int32), parts)
    return labels.reshape(shape), parents

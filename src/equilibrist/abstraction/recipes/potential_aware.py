"""Buckets by the future of hands: GS3's potential-aware abstraction.

A hand is a histogram over clusters of the next street, whose hands are histograms over clusters of
the street after, and so on down to the last street, where clusters are intervals of strength: the
first street takes all later streets into account. For the first round, one such bottom-up pass
divides all hands; for each bucket of a later round, another pass over the bucket's hands divides
that bucket. An integer program chooses the number of parts of each bucket: the least sum of errors,
weighted by probability, for the requested total. The last round is divided by strength alone.

Passes have 5 clusters on the last street, 10 on the previous one, then 20: never fewer than the
next street, whose clusters are the coordinates of the histograms.

Source: Gilpin, Sandholm and Sørensen 2007 (GS3), "Potential-aware automated abstraction".
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from equilibrist.abstraction.buckets import Abstraction
from equilibrist.abstraction.clustering import cluster
from equilibrist.abstraction.features import Ints, Progress, Strengths
from equilibrist.abstraction.histograms import (
    Points,
    interval_histograms,
    label_histograms,
    points_of,
)
from equilibrist.abstraction.recipes.request import RecipeRequest
from equilibrist.abstraction.resume import Keep, Part, load_or_compute
from equilibrist.abstraction.street_builder import divide_points, grow
from equilibrist.abstraction.strength_cuts import expectations, least_squares, spread

CLUSTERS = (5, 10, 20)  # clusters of a pass: last street, second-to-last, all others


def potential_aware(
    strengths: Strengths,
    numbers: Sequence[int],
    *,
    clusters: Sequence[int] = CLUSTERS,
    restarts: int = 3,
    seed: int = 0,
    progress: Progress | None = None,
    keep: Keep | None = None,
) -> Abstraction:
    """Build buckets by histograms of the future; `numbers` are the buckets of each round.

    Example:
        >>> from equilibrist.abstraction.streets import Streets
        >>> from equilibrist.games.catalog import get_game
        >>> rhode_island = Strengths.of(Streets.of(get_game("rhode-island")))
        >>> potential_aware(rhode_island, [4, 12, 36]).num_buckets
        (4, 12, 36)
    """
    search = _Search(strengths, tuple(clusters), restarts, seed, keep)
    return grow(
        strengths,
        "potential-aware",
        numbers,
        search.divide,
        expectations,
        configuration={"clusters": list(clusters), "restarts": restarts, "seed": seed},
        progress=progress,
        keep=keep,
    )


@dataclass(frozen=True, eq=False)
class _Search:
    strengths: Strengths
    clusters: tuple[int, ...]
    restarts: int
    seed: int
    keep: Keep | None

    def divide(
        self, r: int, before: Ints, num_parents: int, number: int
    ) -> tuple[Ints, NDArray[np.int32]]:
        """Divide the previous buckets into the best `number` parts, with one pass per bucket."""
        groups = self._points(r, before, num_parents)
        return divide_points(
            before.shape, groups, number, restarts=self.restarts, seed=self.seed + r, keep=self.keep
        )

    def _points(self, r: int, before: Ints, num_parents: int) -> list[Points]:
        """Return the hands of round `r` as histograms over bottom-up clusters, by parent."""
        streets, last = self.strengths.streets, len(self.strengths.streets) - 1
        carried = {r: before}
        for q in range(r + 1, last):
            carried[q] = carried[q - 1][streets.parents(q)]
        bottom = last - 1
        found = spread(self.strengths, last, carried[bottom], num_parents)
        cut = least_squares(found, self.clusters[0])
        histograms = interval_histograms(
            streets, bottom, self.strengths.tables[last], carried[bottom], cut
        )
        num_labels = int(np.diff(cut.first).max())
        for q in range(bottom, r - 1, -1):
            groups = points_of(streets, q, histograms, num_labels, carried[q], num_parents)
            if q == r:
                return groups
            wanted = self.clusters[min(last - q, len(self.clusters) - 1)]
            labels = self._label(q, carried[q].shape, groups, wanted)
            num_labels = int(labels.max()) + 1
            histograms = label_histograms(streets, q - 1, labels, num_labels)
        raise AssertionError("the pass ends at round r")

    def _label(self, q: int, shape: tuple[int, ...], groups: list[Points], wanted: int) -> Ints:
        """Return the cluster of every hand of round `q` within its parent: [B, H]."""

        def search(number: int) -> Part:
            points, weights, seed = (
                groups[number].points,
                groups[number].weights,
                self.seed + number,
            )
            return (cluster(points, weights, wanted, restarts=self.restarts, seed=seed).labels,)

        labels, taken = np.full(shape[0] * shape[1], -1, np.int16), None
        for number, group in enumerate(groups):
            if len(group.points):
                start = time.perf_counter()
                name = f"pass{q + 1}-{number}"
                fits = partial(_fits, int(group.inverse.max()) + 1, wanted)
                (found,) = load_or_compute(
                    self.keep, name, partial(search, number), whole=False, fits=fits, seconds=taken
                )
                taken = time.perf_counter() - start
                labels[group.places] = found[group.inverse]
        return labels.reshape(shape)


def _fits(size: int, wanted: int, part: Part) -> bool:
    """Return whether a part has a label below `wanted` for each of `size` points."""
    return len(part) == 1 and part[0].shape == (size,) and int(part[0].max()) < wanted


def build(request: RecipeRequest) -> Abstraction:
    """Build the abstraction of a request."""
    return potential_aware(
        request.strengths,
        request.numbers,
        seed=request.seed,
        progress=request.progress,
        keep=request.keep,
    )

"""Clustering of weighted points, such as histograms, into k clusters or into all of 1 … K.

There are two metrics. Under `l2`, a centre is the mean of its points, and the search minimises the
weighted mean of *squared* distances (k-means). `emd` is the earth mover's distance between
histograms over bins on a line, all of the same mass: the mass times the number of bins it has to
move, which is the L1 distance of cumulative sums. A centre is then the histogram whose cumulative
sums are the weighted (lower) medians of those of its points, because this minimises the weighted
mean distance itself (k-medians).

The *error* of a clustering is the weighted mean distance to the assigned centre, not squared: the
error(b, k) of the GS3 paper (Gilpin, Sandholm and Sørensen 2007). `cluster` returns the search with
the least objective; `cluster_table` the one with the least error for each k, so that errors never
increase.

Searches are deterministic for a seed and do not depend on the number of threads. A search needs
4 · N · k bytes for bounds, a table three times that number.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numba
import numpy as np
from numpy.typing import ArrayLike, NDArray

from equilibrist.cards.numbers import whole_number
from equilibrist.errors import InvalidValueError, UnknownNameError
from equilibrist.kernels.cpu import clustering as kernel
from equilibrist.kernels.cpu.cluster_points import Search, new_search
from equilibrist.kernels.metrics import EMD, L2

Metric: TypeAlias = Literal["l2", "emd"]
METRICS: dict[str, int] = {"l2": L2, "emd": EMD}

MOST_CLUSTERS = 65_536
_LARGEST = 1e15  # largest coordinate; its square must fit into float32
_EQUAL_MASS = 1e-4  # maximum relative difference between the masses of histograms


@dataclass(frozen=True, eq=False)
class Clusters:
    """The cluster of each point and the centres of the clusters.

    There are fewer clusters than requested if fewer points are distinct. Points of zero weight do
    not influence the centres; they are assigned to the nearest one.
    """

    labels: NDArray[np.int32]  # [N] 0 … k − 1
    centres: NDArray[np.float32]  # [k, D]
    error: float  # weighted mean distance to the assigned centre
    objective: float  # value that the search minimises: for l2 the weighted mean squared distance

    def __len__(self) -> int:
        """Return the number of clusters."""
        return len(self.centres)


@dataclass(frozen=True, eq=False)
class ClusterTable:
    """Clusterings into 1 … K clusters; `at` returns one of them."""

    errors: NDArray[np.float64]  # [K] weighted mean distance (k clusters at k − 1), not increasing
    objectives: NDArray[np.float64]  # [K] values that the search minimises
    num_distinct: int  # smallest number of clusters with zero error; K + 1 if it exceeds K
    labels: NDArray[np.unsignedinteger]  # [K or distinct points, points with weight]
    _problem: _Problem

    def __len__(self) -> int:
        """Return the maximum number of clusters, K."""
        return len(self.errors)

    def at(self, k: int) -> Clusters:
        """Return the clustering into k clusters, or fewer if fewer points are distinct."""
        k = whole_number(k, "the number of clusters", 1, len(self))
        rows = min(k, len(self.labels))
        labels = self.labels[rows - 1].astype(np.int32)
        search = self._problem.search(rows)
        kernel.centroids(*self._problem.arrays, labels, search, False)
        error, objective = float(self.errors[k - 1]), float(self.objectives[k - 1])
        return self._problem.clusters(labels, search.centres, error, objective)


# --- searches -------------------------------------------------------------------------------------


def cluster(
    points: ArrayLike,
    weights: ArrayLike,
    k: int,
    *,
    metric: Metric = "l2",
    restarts: int = 3,
    limit: int = 300,
    seed: int = 0,
) -> Clusters:
    """Divide points [N, D] with weights [N] into k clusters, in parallel.

    The result is the best of `restarts` searches, each from k-means++ seeds until no point moves or
    for `limit` iterations.

    Example:
        >>> clusters = cluster([[0.0, 1.0], [0.1, 0.9], [1.0, 0.0]], [1, 3, 1], 2)
        >>> clusters.labels[0] == clusters.labels[1], round(clusters.error, 4)
        (np.True_, 0.0424)
    """
    problem = _Problem.of(points, weights, metric)
    k = whole_number(k, "the number of clusters", 1, MOST_CLUSTERS)
    settings = _settings(restarts, limit)
    search = problem.search(k)
    labels = np.empty_like(search.label)
    centres = np.empty_like(search.centres)
    found, distances, costs = kernel.k_means(
        problem.arrays, *settings, _generator(seed, 0), True, search, labels, centres
    )
    total = problem.weights.sum()
    return problem.clusters(labels, centres[:found], distances / total, costs / total)


def cluster_table(
    points: ArrayLike,
    weights: ArrayLike,
    most: int,
    *,
    metric: Metric = "l2",
    restarts: int = 3,
    limit: int = 300,
    seed: int = 0,
) -> ClusterTable:
    """Cluster points [N, D] with weights [N] into each of 1 … `most` clusters, in parallel.

    Each number of clusters starts `restarts` times from the best clustering with one fewer.

    Example:
        >>> table = cluster_table([[0.0], [1.0], [5.0]], [1, 1, 2], 4)
        >>> table.errors.round(3).tolist(), table.at(2).centres.ravel().tolist()
        ([2.25, 0.25, 0.0, 0.0], [0.5, 5.0])
    """
    problem = _Problem.of(points, weights, metric)
    most = whole_number(most, "the most clusters", 1, MOST_CLUSTERS)
    return _table(problem, most, _settings(restarts, limit), _generator(seed, 0), threads=True)


def cluster_tables(
    problems: Iterable[tuple[ArrayLike, ArrayLike]],
    most: int,
    *,
    metric: Metric = "l2",
    restarts: int = 3,
    limit: int = 300,
    seed: int = 0,
    first: int = 0,
) -> Iterator[ClusterTable]:
    """Yield the tables of many problems (points [N, D], weights [N]) in order, one thread each.

    Problems are taken from the iterable as threads become free. The table of the first problem is
    that of `cluster_table`; each problem has its own random generator, given by its number. `first`
    is the number of the first problem, for resuming a longer list.

    Example:
        >>> tables = cluster_tables([([[0.0], [2.0]], [1, 1]), ([[0.0], [4.0]], [1, 1])], 2)
        >>> [table.errors.tolist() for table in tables]
        [[1.0, 0.0], [2.0, 0.0]]
    """
    most = whole_number(most, "the most clusters", 1, MOST_CLUSTERS)
    settings = _settings(restarts, limit)
    num_threads = numba.get_num_threads()
    waiting: deque[Future[ClusterTable]] = deque()
    with ThreadPoolExecutor(num_threads) as pool:
        try:
            for number, (points, weights) in enumerate(problems, start=first):
                problem = _Problem.of(points, weights, metric)
                rng = _generator(seed, number)
                waiting.append(pool.submit(_table, problem, most, settings, rng, threads=False))
                if len(waiting) > 2 * num_threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:  # the remaining tables are not needed any more
            for table in waiting:
                table.cancel()


def nearest(points: ArrayLike, centres: ArrayLike, *, metric: Metric = "l2") -> NDArray[np.int32]:
    """Return the nearest of centres [k, D] for each of points [N, D]: [N], in parallel.

    Example:
        >>> nearest([[0.0], [3.0], [9.0]], [[1.0], [8.0]]).tolist()
        [0, 0, 1]
    """
    kind = _metric(metric)
    first, second = _coordinates(points, kind), _coordinates(centres, kind)
    if first.shape[1] != second.shape[1]:
        raise InvalidValueError(
            f"points have {first.shape[1]} coordinates and centres {second.shape[1]}; "
            "the numbers must be equal",
            value=first.shape[1],
        )
    labels = np.zeros(len(first), np.int32)
    kernel.nearest(first, second, kind, labels)
    return labels


def _table(
    problem: _Problem,
    most: int,
    settings: tuple[int, int],
    rng: NDArray[np.uint64],
    *,
    threads: bool,
) -> ClusterTable:
    searches = tuple(problem.search(most) for _ in range(3))
    rows, num_points = len(searches[0].centres), len(problem.points)
    labels = np.empty((rows, num_points), np.min_scalar_type(rows - 1))
    found, sums = kernel.k_means_table(problem.arrays, *settings, rng, threads, searches, labels)
    # More clusters than distinct points change nothing.
    means = sums[np.minimum(np.arange(most), found - 1)] / problem.weights.sum()
    exact = np.flatnonzero(means[:, 0] == 0)
    num_distinct = int(exact[0]) + 1 if len(exact) else most + 1
    return ClusterTable(means[:, 0], means[:, 1], num_distinct, labels[:found], problem)


# --- problems -------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Problem:
    """Points of positive weight in the form of the kernels, and the mapping to all given points."""

    points: NDArray[np.float32]  # [n, D] histograms as cumulative sums for emd
    weights: NDArray[np.float64]  # [n] above zero
    metric: int
    has_weight: NDArray[np.bool_]  # [N] whether a given point has positive weight
    others: NDArray[np.float32]  # [N − n, D] points of zero weight

    @classmethod
    def of(cls, points: ArrayLike, weights: ArrayLike, metric: str) -> _Problem:
        kind = _metric(metric)
        coordinates = _coordinates(points, kind)
        given = np.ascontiguousarray(weights, np.float64)
        if given.shape != coordinates.shape[:1]:
            raise InvalidValueError(
                f"{len(coordinates)} points need {len(coordinates)} weights, not an array of shape "
                f"{list(given.shape)}",
                value=given.shape,
            )
        if not (np.isfinite(given).all() and (given >= 0).all() and given.any()):
            raise InvalidValueError("weights must be finite, at least zero, and not all zero")
        some = given > 0
        if some.all():
            return cls(coordinates, given, kind, some, coordinates[:0])
        return cls(coordinates[some], given[some], kind, some, coordinates[~some])

    @property
    def arrays(self) -> tuple[NDArray[np.float32], NDArray[np.float64], int]:
        """The first arguments of the kernels."""
        return self.points, self.weights, self.metric

    def search(self, most: int) -> Search:
        """Allocate work space for at most `most` clusters, and at most one per point."""
        num_points, num_coordinates = self.points.shape
        return new_search(num_points, num_coordinates, min(most, num_points))

    def clusters(
        self,
        labels: NDArray[np.int32],
        centres: NDArray[np.float32],
        error: float,
        objective: float,
    ) -> Clusters:
        """Return the clusters of all given points from those of the points of positive weight."""
        if len(self.others):
            found, labels = labels, np.empty(len(self.has_weight), np.int32)
            others = np.empty(len(self.others), np.int32)
            kernel.nearest(self.others, centres, self.metric, others)
            labels[self.has_weight], labels[~self.has_weight] = found, others
        if self.metric == EMD:
            centres = np.diff(centres, axis=1, prepend=np.float32(0))
        return Clusters(labels, centres, float(error), float(objective))


def _coordinates(points: ArrayLike, metric: int) -> NDArray[np.float32]:
    """Return points [N, D] in the form of the kernels: cumulative sums for emd."""
    with np.errstate(over="ignore"):  # values too large for float32 become infinite
        array = np.ascontiguousarray(points, np.float32)
    if array.ndim != 2 or 0 in array.shape:
        raise InvalidValueError(
            f"points must be an array [N, D] with N and D above zero, not {list(array.shape)}",
            value=array.shape,
        )
    possible = np.abs(array) <= _LARGEST
    if not possible.all():
        bad = int(possible.all(axis=1).argmin())
        raise InvalidValueError(
            f"point {bad} has a coordinate that is not a number from {-_LARGEST:g} to {_LARGEST:g}",
            position=bad,
        )
    if metric == L2:
        return array
    sums = array.cumsum(axis=1, dtype=np.float64)
    masses = sums[:, -1]
    if (array < 0).any() or masses.max() - masses.min() > _EQUAL_MASS * masses.max():
        raise InvalidValueError(
            "the earth mover's distance needs histograms of the same mass without negative "
            f"entries; these have masses from {masses.min():.6g} to {masses.max():.6g}"
        )
    return sums.astype(np.float32)


def _metric(name: str) -> int:
    if name not in METRICS:
        known = " and ".join(METRICS)
        raise UnknownNameError(f"no metric is called {name!r}; there are {known}", value=name)
    return METRICS[name]


def _settings(restarts: int, limit: int) -> tuple[int, int]:
    return (
        whole_number(restarts, "the number of restarts", 1, 10**6),
        whole_number(limit, "the limit of iterations", 1, 10**9),
    )


def _generator(seed: int, number: int) -> NDArray[np.uint64]:
    """Return the four words of the random generator of a problem, given its number."""
    entropy = np.random.SeedSequence([whole_number(seed, "a seed", 0, 2**64 - 1), number])
    return np.asarray(entropy.generate_state(4, np.uint64), np.uint64)

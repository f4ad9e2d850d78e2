"""Reference clustering as plain array programs: all distances, all pairs, nothing skipped.

Lloyd's iteration under two metrics. For L2 it lowers the sum of *squared* distances and a centroid
is a mean. EMD, the earth mover's distance of histograms on a line, is the L1 distance of their
cumulative sums; points are given as such sums, and the centroid, which minimises the sum of
distances, is the median of each coordinate: the median of cumulative sums is a cumulative sum
again.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from equilibrist.kernels.metrics import L2

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def distances(points: Floats, centres: Floats, metric: int) -> Floats:
    """Return the distance of every point [N, D] to every centre [k, D]: [N, k]."""
    differences = points[:, None, :] - centres[None, :, :]
    if metric == L2:
        return np.sqrt((differences**2).sum(axis=2))
    return np.abs(differences).sum(axis=2)


def centroids(points: Floats, weights: Floats, labels: Ints, k: int, metric: int) -> Floats:
    """Return the weighted means or lower medians of k non-empty clusters: [k, D]."""
    result = np.empty((k, points.shape[1]))
    for j in range(k):
        members, shares = points[labels == j], weights[labels == j]
        if metric == L2:
            result[j] = shares @ members / shares.sum()
        else:
            order = members.argsort(axis=0)
            below = shares[order].cumsum(axis=0)
            middle = (2 * below >= below[-1]).argmax(axis=0)
            result[j] = np.take_along_axis(np.sort(members, axis=0), middle[None], axis=0)
    return result


def lloyd(
    points: Floats, weights: Floats, centres: Floats, metric: int, limit: int
) -> tuple[Ints, Floats]:
    """Run Lloyd's iteration until it converges or the limit is reached; return labels and centres.

    Labels are [N], centres [k, D]. A cluster that loses all points starts again at the point
    farthest from its centre.
    """
    k = len(centres)
    labels = distances(points, centres, metric).argmin(axis=1)
    for _ in range(limit):
        centres = _refill(points, weights, labels, centres, metric)
        centres = centroids(points, weights, labels, k, metric)
        before, labels = labels, distances(points, centres, metric).argmin(axis=1)
        if (labels == before).all():
            break
    centres = _refill(points, weights, labels, centres, metric)
    return labels, centroids(points, weights, labels, k, metric)


def _refill(points: Floats, weights: Floats, labels: Ints, centres: Floats, metric: int) -> Floats:
    """Move the centres of empty clusters to the farthest points; updates `labels` in place."""
    centres = centres.copy()
    for j in np.setdiff1d(np.arange(len(centres)), labels):
        to_all = distances(points, centres, metric)
        own = to_all[np.arange(len(points)), labels]
        centres[j] = points[own.argmax()]
        nearer = distances(points, centres[j : j + 1], metric)[:, 0] < own
        labels[nearer] = j
    return centres


def spread(
    points: Floats, weights: Floats, labels: Ints, centres: Floats, metric: int
) -> tuple[float, float]:
    """Return the weighted means of the distance to the own centre and of Lloyd's cost."""
    own = distances(points, centres, metric)[np.arange(len(points)), labels]
    lowered = own**2 if metric == L2 else own
    return float(weights @ own / weights.sum()), float(weights @ lowered / weights.sum())


def best_intervals(x: Floats, weights: Floats, most: int, squared: bool) -> Floats:
    """Return the least cost of dividing ascending numbers [n] into exactly 1 … `most` intervals.

    Returns [most]. The cost is the weighted sum of (squared) distances to the interval's mean; it
    is infinite if there are fewer numbers than intervals.
    """
    n = len(x)
    cost = np.zeros((n + 1, n + 1))
    for i in range(n):
        for j in range(i + 1, n + 1):
            away = np.abs(x[i:j] - np.average(x[i:j], weights=weights[i:j]))
            cost[i, j] = weights[i:j] @ (away**2 if squared else away)
    best = np.full((most + 1, n + 1), np.inf)
    best[0, 0] = 0.0
    for k in range(1, most + 1):
        for j in range(k, n + 1):
            best[k, j] = (best[k - 1, :j] + cost[:j, j]).min()
    return best[1:, n]

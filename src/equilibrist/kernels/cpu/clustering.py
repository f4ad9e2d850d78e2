"""k-means and k-medians of weighted points: k-means++ seeds, then Lloyd's iteration.

Lloyd's iteration moves every point to the nearest centre and every centre to the centroid of its
points, until no point moves; `cluster_points.py` explains how most distances are skipped. A cluster
left without points starts again at the farthest point. Seeds are greedy k-means++ (Arthur and
Vassilvitskii 2007): of some points drawn in proportion to their cost, the one that saves most. k +
1 clusters may start from k and one more seed, and keep all known bounds.
"""

from __future__ import annotations

import numpy as np

from equilibrist.kernels.cpu.cluster_points import (
    ASSIGN,
    COUNT,
    HUGE,
    MEASURE,
    MEDIAN,
    PLACE,
    SAVING,
    TRIALS,
    cost_of,
    distance_between,
    do_all,
)
from equilibrist.kernels.cpu.sampling import find_place, uniform
from equilibrist.kernels.cpu.team import threaded
from equilibrist.kernels.metrics import L2
from equilibrist.kernels.parts import kernel, part

# --- centres --------------------------------------------------------------------------------------


@part(forceinline=False, _nrt=True)
def _halve_gaps(metric, search, j, k):
    """Write half the distance of centre j to each of k centres."""
    for other in range(k):
        half = distance_between(metric, search.centres, j, search.centres, other) / np.float32(2)
        search.half[j, other] = search.half[other, j] = half
    search.half[j, j] = HUGE


@part(forceinline=False, _nrt=True)
def _move_centres(points, weights, metric, search, k, threads):
    """Move centres to the centroids of the clusters whose points have changed."""
    touched, target = search.touched[0], search.target
    for j in range(k):
        for chunk in range(1, len(search.touched)):
            touched[j] |= search.touched[chunk, j]
            search.touched[chunk, j] = False
        mass = search.mass[:, j].sum()
        touched[j] &= search.members[:, j].sum() > 0 and mass > 0
        if metric == L2 and touched[j]:
            for d in range(points.shape[1]):
                target[j, d] = search.sums[:, j, d].sum() / mass
    if metric != L2:
        _sort_members(search, k)
        do_all(MEDIAN, points, weights, metric, search, k, threads)
    longest = np.float32(0)
    for j in range(k):
        if touched[j]:
            step = distance_between(metric, target, j, search.centres, j)
            touched[j] = step > 0
            search.way[j] += step
            longest = max(longest, step)
            search.centres[j] = target[j]
    search.way[-1] += longest
    search.travel[:] = search.way
    for j in range(k):
        if touched[j]:
            _halve_gaps(metric, search, j, k)
            touched[j] = False


@part(forceinline=False, _nrt=True)
def _sort_members(search, k):
    """Write the points of one cluster after the other into `order`."""
    first = search.first
    first[: k + 1] = 0
    for j in search.label:
        first[j + 1] += 1
    for j in range(k):
        first[j + 1] += first[j]
    for i in range(len(search.label)):
        search.order[first[search.label[i]]] = i
        first[search.label[i]] += 1
    for j in range(k, 0, -1):
        first[j] = first[j - 1]
    first[0] = 0


@part(forceinline=False, _nrt=True)
def _measure(points, weights, metric, search, k, threads):
    """Make bounds exact again; return the sums of distances and of costs."""
    do_all(MEASURE, points, weights, metric, search, k, threads)
    search.way[:] = 0.0
    search.travel[:] = 0.0
    search.others[:] = -HUGE
    return search.result[:, 0].sum(), search.result[:, 1].sum()


@part(forceinline=False, _nrt=True)
def _place(points, weights, metric, search, j, k, threads):
    """Make row j of `centres` one of k centres: it takes the points that are nearest to it."""
    _halve_gaps(metric, search, j, k)
    do_all(PLACE, points, weights, metric, search, j, threads)


@part(forceinline=False, _nrt=True)
def _refill(points, weights, metric, search, k, threads):
    """Restart each cluster without points at the farthest point."""
    j = np.int64(0)  # for a plain 0 Numba would compile all that follows twice
    while j < k:
        if search.members[:, j].sum() > 0:
            j += 1
            continue
        _measure(points, weights, metric, search, k, threads)
        farthest = search.upper.argmax()
        if search.upper[farthest] == 0:
            return
        search.centres[j] = points[farthest]
        _place(points, weights, metric, search, j, k, threads)
        do_all(COUNT, points, weights, metric, search, k, threads)
        j = np.int64(0)  # the farthest point may have been the last of its cluster


# --- searches -------------------------------------------------------------------------------------


@part(forceinline=False, _nrt=True)
def _begin(points, weights, metric, search, threads):
    """Assign all points to centre 0, whose row is written already."""
    first, one = np.int64(0), np.int64(1)
    search.label[:] = 0
    _halve_gaps(metric, search, first, one)
    _measure(points, weights, metric, search, one, threads)


@part(forceinline=False, _nrt=True)
def _settle(points, weights, metric, search, k, limit, threads):
    """Run Lloyd's iteration on k clusters; return the sums of distances and of costs."""
    do_all(COUNT, points, weights, metric, search, k, threads)
    for _ in range(limit):
        _refill(points, weights, metric, search, k, threads)
        _move_centres(points, weights, metric, search, k, threads)
        if do_all(ASSIGN, points, weights, metric, search, k, threads) == 0:
            break
    _refill(points, weights, metric, search, k, threads)
    if metric == L2:  # rounding errors have accumulated in sums
        do_all(COUNT, points, weights, metric, search, k, threads)
    _move_centres(points, weights, metric, search, k, threads)
    return _measure(points, weights, metric, search, k, threads)


@part(forceinline=False, _nrt=True)
def _draw(search, rng):
    """Draw a point with probability in proportion to the growth of `cumulative`."""
    sums = search.cumulative
    i = find_place(sums, 0, len(sums), uniform(rng) * sums[-1])
    while i > 0 and sums[i] == sums[i - 1]:  # the number was rounded up to the total
        i -= 1
    return i


@part(forceinline=False, _nrt=True)
def _grow(points, weights, metric, search, k, rng, threads):
    """Add a centre to k by greedy k-means++; return False if every point is at its centre."""
    total = 0.0
    for i in range(len(points)):
        total += weights[i] * cost_of(metric, search.upper[i])
        search.cumulative[i] = total
    if total == 0:
        return False
    for trial in range(TRIALS):
        search.tried[trial] = points[_draw(search, rng)]
        for j in range(k):
            gap = distance_between(metric, search.tried, trial, search.centres, j)
            search.reach[trial, j] = gap / np.float32(2)
    do_all(SAVING, points, weights, metric, search, k, threads)
    search.centres[k] = search.tried[search.result.sum(axis=0).argmax()]
    _place(points, weights, metric, search, k, k + 1, threads)
    return True


@part(forceinline=False, _nrt=True)
def _seed(points, weights, metric, search, k, rng, threads):
    """Find k centres by k-means++, or one per distinct point; return their number."""
    total = 0.0
    for i in range(len(points)):
        total += weights[i]
        search.cumulative[i] = total
    search.centres[0] = points[_draw(search, rng)]
    _begin(points, weights, metric, search, threads)
    for found in range(1, k):
        if not _grow(points, weights, metric, search, found, rng, threads):
            return found
    return k


@part(forceinline=False, _nrt=True)
def _write(target, numbers):
    """Write numbers to the beginning of a row.

    An assignment would compile a text for the case that the lengths differ.
    """
    for i in range(len(numbers)):
        target[i] = numbers[i]


@part(forceinline=False, _nrt=True)
def _copy(search, copy, k):
    """Copy the state of a converged search with k clusters into another search."""
    _write(copy.label, search.label)
    _write(copy.upper, search.upper)
    for i in range(len(search.label)):
        _write(copy.lower[i], search.lower[i, :k])
    for j in range(k):
        _write(copy.centres[j], search.centres[j])
        _write(copy.half[j], search.half[j, :k])


@part(forceinline=False, _nrt=True)
def _adopt(points, weights, metric, search, k, threads):
    """Start from the k clusters of `label`; return the sums of distances and of costs."""
    search.lower[:, :k] = 0.0
    do_all(COUNT, points, weights, metric, search, k, threads)
    _move_centres(points, weights, metric, search, k, threads)
    for j in range(k):
        _halve_gaps(metric, search, j, k)
    search.travel[:] = 0.0  # zero is a valid bound wherever centres come from
    return _measure(points, weights, metric, search, k, threads)


@part(forceinline=False, _nrt=True)
def _split(points, weights, metric, search, k, threads):
    """Make the point farthest from its centre, of k, another cluster."""
    search.label[search.upper.argmax()] = k
    return _adopt(points, weights, metric, search, k + 1, threads)


# --- functions for callers ------------------------------------------------------------------------
# `points` [N, D] float32, `weights` [N] float64 above zero, `search` from `new_search`. With
# `threads` the points are shared among threads. Without it no threads start and Python's lock is
# released, so that the caller may run searches in parallel.


@kernel(_nrt=True)
def lloyd(points, weights, metric, search, limit, threads):
    """Run Lloyd's iteration from the distinct rows of `centres`, which end as centroids."""
    k = len(search.centres)
    _begin(points, weights, metric, search, threads)
    for j in range(1, k):
        _place(points, weights, metric, search, j, j + 1, threads)
    return _settle(points, weights, metric, search, k, limit, threads)


@kernel(_nrt=True)
def k_means(problem, restarts, limit, rng, threads, search, labels, centres):
    """Find the cheapest of some searches from different seeds, for the k of `search`.

    `problem` is (points [N, D] float32, weights [N], metric). Writes into `labels` [N] int32 and
    `centres` [k, D] float32; returns the number of clusters, k or the number of distinct points if
    that is smaller, and the sums of distances and of costs.
    """
    points, weights, metric = problem
    k, distances, least = 0, 0.0, np.inf
    for _ in range(restarts):
        k = _seed(points, weights, metric, search, len(search.centres), rng, threads)
        away, cost = _settle(points, weights, metric, search, k, limit, threads)
        if cost < least:
            distances, least = away, cost
            _write(labels, search.label)
            for j in range(len(centres)):
                _write(centres[j], search.centres[j])
    return k, distances, least


@kernel(_nrt=True)
def k_means_table(problem, restarts, limit, rng, threads, searches, labels):
    """Find clusterings of 1 … K clusters with the least distance, which never rises with K.

    k clusters start several times from the best k − 1 and one more seed: that finds better ones in
    less time than k seeds of their own. If all have a larger sum of distances than k − 1 clusters
    have, the farthest point becomes a cluster by itself, which cannot raise the sum: it saves its
    own distance, and the mean it leaves moves by no more than that in total. Writes into `labels`
    [K, N]; returns the number of clusters at the end, K or the number of distinct points if that is
    smaller, and the sums of distances and of costs for each: [K, 2]. `searches` are three for K
    clusters, `problem` as in `k_means`.
    """
    points, weights, metric = problem
    best, base, trial = searches
    sums, one = np.zeros((len(labels), 2)), np.int64(1)
    _seed(points, weights, metric, best, one, rng, threads)
    sums[0] = _settle(points, weights, metric, best, one, limit, threads)
    labels[0] = 0
    for k in range(1, len(labels)):
        best, base = base, best
        found = (np.inf, np.inf)
        for _ in range(restarts):
            _copy(base, trial, k)
            if not _grow(points, weights, metric, trial, k, rng, threads):
                return k, sums
            other = _settle(points, weights, metric, trial, k + 1, limit, threads)
            if other[0] < found[0]:
                best, trial, found = trial, best, other
        if found[0] > sums[k - 1, 0]:
            found = _split(points, weights, metric, base, k, threads)
            best, base = base, best
        _write(labels[k], best.label)
        sums[k, 0] = min(found[0], sums[k - 1, 0])  # never larger, except for rounding
        sums[k, 1] = found[1]
    return len(labels), sums


@kernel(_nrt=True)
def centroids(points, weights, metric, labels, search, threads):
    """Write the centroids of a clustering into the `centres` of `search`."""
    _write(search.label, labels)
    _adopt(points, weights, metric, search, len(search.centres), threads)


@threaded(lambda points, *_: len(points), grain=256)
def nearest(begin, end, points, centres, metric, labels):
    """Write into `labels` [N] int32 the nearest of `centres` [k, D], the first of equals."""
    for i in range(begin, end):
        least = np.float32(np.inf)
        for j in range(len(centres)):
            distance = distance_between(metric, points, i, centres, j)
            if distance < least:
                least = distance
                labels[i] = j

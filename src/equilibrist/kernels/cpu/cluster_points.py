"""Steps of a clustering search on its points, chunk by chunk; `clustering.py` calls them.

By the triangle inequality a centre that was far from a point and has moved little is still far. So
each pair of point and centre stores a lower bound (Elkan 2003), each point an upper bound of the
distance to its own centre and one lower bound for all other centres together (Hamerly 2010). A
bound is not rewritten when a centre moves: it is stored together with the distance that the centre
had travelled when it was measured. So an iteration reads three numbers per point, and few points
need a distance. The same bounds say which points a new centre can win.

Points are processed in chunks of fixed bounds, each with sums of its own, so that results do not
depend on the number of threads. Distances are float32, sums and costs float64.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit, prange

from equilibrist.kernels.cache import keep
from equilibrist.kernels.metrics import L2
from equilibrist.kernels.parts import part

_REORDER = {"reassoc", "contract", "nsz"}  # needed to vectorise a sum
HUGE = np.float32(1e30)
TRIALS = 4  # number of points tried as the next seed
_CHUNK = 16384  # minimum number of points of a chunk, unless it is the only one
_MOST_CHUNKS = 32

# Tasks on the points of a chunk; plain Python numbers would each be compiled separately.
ASSIGN, PLACE, SAVING, MEASURE, COUNT, MEDIAN = (np.int64(task) for task in range(6))


class Search(NamedTuple):
    """State of a search: N points, D coordinates, at most K clusters, C chunks, T trials.

    Between the steps of a search `upper` is exact and the bounds hold as stored. While centres
    move, subtract from a lower bound the distance its centre has travelled since, and add it to an
    upper bound.
    """

    centres: np.ndarray  # [K, D] float32
    label: np.ndarray  # [N] int32 cluster of each point
    upper: np.ndarray  # [N] float32 upper bound of the distance to the own centre
    lower: np.ndarray  # [N, K] float32 lower bound of the distance to each centre
    others: np.ndarray  # [N] float32 lower bound of the distance to any other centre
    half: np.ndarray  # [K, K] float32 half the distance between two centres, huge on the diagonal
    way: np.ndarray  # [K + 1] float64 distance each centre has moved; last: sum of longest steps
    travel: np.ndarray  # [K + 1] float32 the same, for loops over float32
    sums: np.ndarray  # [C, K, D] float64 weighted sums of points, for L2
    mass: np.ndarray  # [C, K] float64
    members: np.ndarray  # [C, K] int64
    touched: np.ndarray  # [C, K] bool whether points were added or removed
    target: np.ndarray  # [K, D] float32 where centres move to
    order: np.ndarray  # [N] int64 points by cluster, for medians
    first: np.ndarray  # [K + 1] int64 where each cluster starts in `order`
    cumulative: np.ndarray  # [N] float64 costs, to draw from
    tried: np.ndarray  # [T, D] float32 points tried as the next centre
    reach: np.ndarray  # [T, K] float32 half the distance of each to each centre
    result: np.ndarray  # [C, T] float64 results reported by chunks


def new_search(num_points: int, num_coordinates: int, most: int) -> Search:
    """Allocate the work space of a search for at most `most` clusters."""
    chunks = min(max(num_points // _CHUNK, 1), _MOST_CHUNKS)
    return Search(
        centres=np.zeros((most, num_coordinates), np.float32),
        label=np.zeros(num_points, np.int32),
        upper=np.zeros(num_points, np.float32),
        lower=np.zeros((num_points, most), np.float32),
        others=np.full(num_points, -HUGE),
        half=np.zeros((most, most), np.float32),
        way=np.zeros(most + 1),
        travel=np.zeros(most + 1, np.float32),
        sums=np.zeros((chunks, most, num_coordinates)),
        mass=np.zeros((chunks, most)),
        members=np.zeros((chunks, most), np.int64),
        touched=np.zeros((chunks, most), np.bool_),
        target=np.zeros((most, num_coordinates), np.float32),
        order=np.zeros(num_points, np.int64),
        first=np.zeros(most + 1, np.int64),
        cumulative=np.zeros(num_points),
        tried=np.zeros((TRIALS, num_coordinates), np.float32),
        reach=np.zeros((TRIALS, most), np.float32),
        result=np.zeros((chunks, TRIALS)),
    )


# --- the points of a chunk ------------------------------------------------------------------------


@part(forceinline=False, fastmath=_REORDER)
def distance_between(metric, points, i, others, j):
    """Return the distance of row i of some points to row j of others."""
    i, j, total = np.uint64(i), np.uint64(j), np.float32(0)
    if metric == L2:
        for d in range(np.uint64(points.shape[1])):
            difference = points[i, d] - others[j, d]
            total += difference * difference
        return np.float32(np.sqrt(total))
    for d in range(np.uint64(points.shape[1])):
        total += abs(points[i, d] - others[j, d])
    return total


@part
def cost_of(metric, distance):
    """Return the cost whose sum Lloyd minimises: for L2 the squared distance."""
    wide = np.float64(distance)
    return wide * wide if metric == L2 else wide


@part
def _bounds(search, chunk):
    num_points, num_chunks = len(search.label), len(search.members)
    return num_points * chunk // num_chunks, num_points * (chunk + 1) // num_chunks


@part(forceinline=False)
def _transfer(points, weights, metric, search, chunk, i, old, new):
    """Move point i from the sums of one cluster (ignored if negative) to those of another."""
    weight = weights[i]
    search.members[chunk, new] += 1
    search.mass[chunk, new] += weight
    search.touched[chunk, new] = True
    if old >= 0:
        search.members[chunk, old] -= 1
        search.mass[chunk, old] -= weight
        search.touched[chunk, old] = True
    if metric == L2:
        c, i, source, goal = np.uint64(chunk), np.uint64(i), np.uint64(max(old, 0)), np.uint64(new)
        for d in range(np.uint64(points.shape[1])):
            search.sums[c, goal, d] += weight * points[i, d]
        if old >= 0:
            for d in range(np.uint64(points.shape[1])):
                search.sums[c, source, d] -= weight * points[i, d]


@part(forceinline=False)
def _least_other(search, k, i, own):
    """Return the distance to its own centre below which a point has no nearer of k − 1 others.

    Non-negative floats have the order of their bits, and the minimum of integers vectorises.
    """
    i, own, least = np.uint64(i), np.uint64(own), np.float32(HUGE).view(np.int32)
    for j in range(np.uint64(k)):
        lower = np.float32(search.lower[i, j] - search.travel[j]).view(np.int32)
        least = min(least, max(lower, np.float32(search.half[own, j]).view(np.int32)))
    return np.int32(least).view(np.float32)


@part(forceinline=False)
def _assign(points, weights, metric, search, k, chunk):
    """Move points to the nearest of k centres; return the number of points moved."""
    travel, half = search.travel, search.half
    moved = 0
    start, stop = _bounds(search, chunk)
    for i in range(start, stop):
        own = np.int64(search.label[i])
        upper = search.upper[i] + travel[own]
        if upper <= search.others[i] - travel[-1]:
            continue
        least = _least_other(search, k, i, own)
        if upper > least:
            upper = distance_between(metric, points, i, search.centres, own)
            before = own
            if upper > least:
                search.lower[i, own] = upper + travel[own]
                for j in range(k):
                    if j == own or upper <= max(search.lower[i, j] - travel[j], half[own, j]):
                        continue
                    distance = distance_between(metric, points, i, search.centres, j)
                    search.lower[i, j] = distance + travel[j]
                    if distance < upper:
                        own, upper = np.int64(j), distance
                least = _least_other(search, k, i, own)
            if own != before:
                _transfer(points, weights, metric, search, chunk, i, before, own)
                search.label[i] = own
                moved += 1
            search.upper[i] = upper - travel[own]
        search.others[i] = least + travel[-1]
    return moved


@part(forceinline=False)
def _place(points, weights, metric, search, new, chunk):
    """Assign to a new centre the points that are nearer to it; sums are not updated."""
    start, stop = _bounds(search, chunk)
    for i in range(start, stop):
        own, upper = search.label[i], search.upper[i]
        if search.half[new, own] >= upper:
            search.lower[i, new] = 2 * search.half[new, own] - upper
            continue
        distance = distance_between(metric, points, i, search.centres, new)
        search.lower[i, new] = distance
        if distance < upper:
            search.upper[i] = distance
            search.label[i] = new


@part(forceinline=False)
def _saving(points, weights, metric, search, chunk):
    """Report how much a centre at each of the points tried would save."""
    search.result[chunk] = 0.0
    start, stop = _bounds(search, chunk)
    for i in range(start, stop):
        own, upper = search.label[i], search.upper[i]
        for trial in range(TRIALS):
            if search.reach[trial, own] < upper:
                distance = distance_between(metric, points, i, search.tried, trial)
                saved = cost_of(metric, upper) - cost_of(metric, distance)
                search.result[chunk, trial] += weights[i] * max(saved, 0.0)


@part(forceinline=False)
def _measure(points, weights, metric, search, k, chunk):
    """Make bounds exact and relative to no travel; report the sums of distances and costs."""
    search.result[chunk] = 0.0
    start, stop = _bounds(search, chunk)
    for i in range(start, stop):
        own, row = np.int64(search.label[i]), np.uint64(i)
        distance = distance_between(metric, points, i, search.centres, own)
        for j in range(np.uint64(k)):
            search.lower[row, j] -= search.travel[j]
        search.upper[i] = search.lower[i, own] = distance
        search.result[chunk, 0] += weights[i] * distance
        search.result[chunk, 1] += weights[i] * cost_of(metric, distance)


@part(forceinline=False)
def _count(points, weights, metric, search, k, chunk):
    """Recompute counts and sums from the labels."""
    search.members[chunk], search.mass[chunk] = 0, 0.0
    search.sums[chunk, :k] = 0.0
    nowhere = np.int64(-1)
    start, stop = _bounds(search, chunk)
    for i in range(start, stop):
        _transfer(points, weights, metric, search, chunk, i, nowhere, np.int64(search.label[i]))


@part(forceinline=False, _nrt=True)
def _median(points, weights, search, k, d):
    """Write into column d of `target` the weighted medians of the clusters that were touched."""
    values, shares = np.empty(len(points), np.float32), np.empty(len(points))
    for j in range(k):
        if not search.touched[0, j]:
            continue
        first, size = search.first[j], search.first[j + 1] - search.first[j]
        for n in range(size):
            i = search.order[first + n]
            values[n], shares[n] = points[i, d], weights[i]
        if size > 0:
            search.target[j, d] = weighted_median(values[:size], shares[:size])


@part(forceinline=False)
def weighted_median(values, weights):
    """Return the least of `values` [n] with half of the weight at or below it; reorders both."""
    total = 0.0
    for weight in weights:
        total += weight
    low, high, below = 0, len(values), 0.0  # the median is in low … high, `below` the weight before
    while True:
        pivot = values[(low + high) // 2]
        i, left, right, less, equal = low, low, high, 0.0, 0.0
        while i < right:
            value, weight = values[i], weights[i]
            if value < pivot:
                values[i], weights[i], values[left], weights[left] = (
                    values[left], weights[left], value, weight,
                )  # fmt: skip
                less += weight
                left += 1
                i += 1
            elif value > pivot:
                right -= 1
                values[i], weights[i], values[right], weights[right] = (
                    values[right], weights[right], value, weight,
                )  # fmt: skip
            else:
                equal += weight
                i += 1
        if left > low and 2 * (below + less) >= total:
            high = left
        elif right == high or 2 * (below + less + equal) >= total:
            return pivot
        else:
            below += less + equal
            low = right


# --- all points -----------------------------------------------------------------------------------


@part(forceinline=False, _nrt=True)
def _do(task, points, weights, metric, search, k, share):
    """Run a task on a chunk of points, or on a coordinate for medians."""
    if task == ASSIGN:
        search.result[share, 0] = _assign(points, weights, metric, search, k, share)
    elif task == PLACE:
        _place(points, weights, metric, search, k, share)
    elif task == SAVING:
        _saving(points, weights, metric, search, share)
    elif task == MEASURE:
        _measure(points, weights, metric, search, k, share)
    elif task == COUNT:
        _count(points, weights, metric, search, k, share)
    else:
        _median(points, weights, search, k, share)


@keep
@njit(parallel=True)
def _do_parallel(task, points, weights, metric, search, k, num_parts):
    for share in prange(num_parts):
        _do(task, points, weights, metric, search, k, np.int64(share))


@part(forceinline=False, _nrt=True)
def do_all(task, points, weights, metric, search, k, threads):
    """Run a task on all points, in threads if allowed; return the sum of the chunks' results."""
    num_parts = points.shape[1] if task == MEDIAN else len(search.members)
    if threads and len(search.members) > 1:
        _do_parallel(task, points, weights, metric, search, k, num_parts)
    else:
        for share in range(num_parts):
            _do(task, points, weights, metric, search, k, share)
    return search.result[:, 0].sum()

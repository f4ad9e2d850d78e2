"""The best division of weighted numbers into intervals, exactly, for every number of intervals.

With the numbers in order, the best k intervals of the first j end in an interval i … j − 1 after
the best k − 1 intervals of the first i: a dynamic program over (k, j). There are two costs:

*Squared*: Σ w (x − mean)², the cost of k-means, whose optimum over all clusterings consists of
intervals. The cost satisfies the quadrangle inequality, so the best i never falls as j grows, and
halving the range of j finds all i of one k in O(n log n) (Grønlund et al. 2017).

*Distance*: Σ w |x − mean|, the error of the GS3 paper. Dividing an interval can raise it, so there
is no such order and all i are tried: O(k n²), except those whose last interval alone costs more
than some known division. (It never falls when a number is added.) It is the optimum over intervals.
"""

from __future__ import annotations

import numpy as np

from equilibrist.kernels.cpu.team import threaded
from equilibrist.kernels.parts import part


@part
def _mean(sums, i, j):
    """Return the mean of the numbers i … j − 1, zero if their weights were lost in rounding."""
    mass = sums[0, j] - sums[0, i]
    return (sums[1, j] - sums[1, i]) / mass if mass > 0 else 0.0


@part(forceinline=False)
def _squared(sums, i, j):
    """Return the weighted squared distance of the numbers i … j − 1 to their mean."""
    mean = _mean(sums, i, j)
    return max(sums[2, j] - sums[2, i] - (sums[1, j] - sums[1, i]) * mean, 0.0)


@part(forceinline=False)
def _squared_layer(sums, before, after, start):
    """Compute the costs of k intervals from those of k − 1 intervals, `before` [n + 1].

    Writes the costs of the first j into `after` [n + 1] and where the last interval starts into
    `start` [n + 1]; rows before j = k are not read.
    """
    n, k = len(before) - 1, start[0]
    step = 1
    while step <= n - k:
        step *= 2
    while step > 0:
        # Places j whose neighbours on either side, twice as far apart, are done.
        for j in range(k - 1 + step, n + 1, 2 * step):
            low = start[j - step] if j - step >= k else k - 1
            high = start[j + step] if j + step <= n else n
            least = np.inf
            for i in range(low, min(high, j - 1) + 1):
                cost = before[i] + _squared(sums, i, j)
                if cost < least:
                    least = cost
                    start[j] = i
            after[j] = least
        step //= 2


@part(forceinline=False)
def _distance(x, sums, i, j):
    """Return the weighted distance of the numbers i … j − 1 to their mean: twice that above it."""
    mean = _mean(sums, i, j)
    low, high = i, j
    while low < high:
        middle = (low + high) // 2
        if x[middle] > mean:
            high = middle
        else:
            low = middle + 1
    above = sums[1, j] - sums[1, low] - mean * (sums[0, j] - sums[0, low])
    return max(2 * above, 0.0)


@part(forceinline=False)
def _distance_costs(x, sums, j, limit, costs):
    """Write into `costs` [n] the cost of i … j − 1, for i from j − 1 down to one above the limit.

    Returns the least i that is written. The mean falls with i, and so does the part above it.
    """
    low = j
    for i in range(j - 1, -1, -1):
        mean = _mean(sums, i, j)
        while low > i and x[low - 1] > mean:
            low -= 1
        above = sums[1, j] - sums[1, low] - mean * (sums[0, j] - sums[0, low])
        costs[i] = max(2 * above, 0.0)
        if costs[i] > limit:
            return i
    return 0


@part(forceinline=False)
def _least_sum(first, second, start, stop):
    """Return the least sum; non-negative floats compare like integers, whose minimum vectorises."""
    least = np.float64(np.inf).view(np.int64)
    for i in range(np.uint64(start), np.uint64(stop)):
        least = min(least, np.float64(first[i] + second[i]).view(np.int64))
    return np.int64(least).view(np.float64)


@part(forceinline=False)
def _distance_layers(x, sums, best, start, costs):
    """Fill `best` and `start` [m, n + 1] for at most m intervals; `best[0]` is known."""
    m, n = best.shape[0], best.shape[1] - 1
    for j in range(2, n + 1):
        # The best cut of the numbers before gives an upper bound for the best one now.
        bound = np.inf
        if m > 1 and j > 2:
            cut = start[1, j - 1]
            bound = best[0, cut] + _distance(x, sums, cut, j)
        low = _distance_costs(x, sums, j, bound, costs)
        for k in range(2, min(m, j) + 1):
            bound = best[k - 2, j - 1]  # the last number alone
            if j > k:
                cut = start[k - 1, j - 1]
                bound = min(bound, best[k - 2, cut] + costs[cut])
            low = max(low, k - 1)
            while costs[low] > bound and low < j - 1:
                low += 1
            least = _least_sum(best[k - 2], costs, low, j)
            i = low
            while best[k - 2, i] + costs[i] > least:
                i += 1
            best[k - 1, j], start[k - 1, j] = least, i


@part(forceinline=False, _nrt=True)
def _divide(x, w, squared, start):
    """Write into `start` [m, n + 1] where the last of 1 … m intervals of the first j starts."""
    m, n = start.shape[0], len(x)
    sums = np.zeros((3, n + 1))  # of weights, weighted numbers and squares, about the mean
    mean = (w * x).sum() / w.sum()
    x = x - mean
    for i in range(n):
        sums[0, i + 1] = sums[0, i] + w[i]
        sums[1, i + 1] = sums[1, i] + w[i] * x[i]
        sums[2, i + 1] = sums[2, i] + w[i] * x[i] * x[i]
    best = np.zeros((m, n + 1))
    start[0] = 0
    if squared:
        for j in range(1, n + 1):
            best[0, j] = _squared(sums, 0, j)
        for k in range(2, m + 1):
            start[k - 1, 0] = k
            _squared_layer(sums, best[k - 2], best[k - 1], start[k - 1])
    else:
        costs = np.empty(n)
        for j in range(1, n + 1):
            best[0, j] = _distance(x, sums, 0, j)
        _distance_layers(x, sums, best, start, costs)


@part(forceinline=False)
def _spread(x, w, ends, k):
    """Return the weighted sums of distances and squared distances to the means of k intervals."""
    distances, squares = 0.0, 0.0
    for c in range(k):
        first, last = ends[c], ends[c + 1]
        mass, mean = 0.0, 0.0
        for i in range(first, last):
            mass += w[i]
            mean += w[i] * (x[i] - x[first])
        mean = x[first] + mean / mass
        for i in range(first, last):
            distances += w[i] * abs(x[i] - mean)
            squares += w[i] * (x[i] - mean) ** 2
    return distances, squares


@part(forceinline=False, _nrt=True)
def _solve(values, weights, squared, cuts, sums):
    """Solve one problem of `best_intervals`."""
    place = np.flatnonzero(weights)
    x, w = values[place], weights[place]
    n, most = len(x), len(cuts)
    m = min(n, most)
    start = np.zeros((m, n + 1), np.int32)
    _divide(x, w, squared, start)
    ends = np.empty(m + 1, np.int64)
    for k in range(1, m + 1):
        ends[k] = n
        for c in range(k, 0, -1):
            ends[c - 1] = start[c - 1, ends[c]]
            cuts[k - 1, c - 1] = place[ends[c - 1]] if c > 1 else 0
        sums[k - 1] = _spread(x, w, ends, k)
    for k in range(m, most):
        cuts[k] = cuts[m - 1]
        sums[k] = sums[m - 1]


@threaded(lambda values, weights, *_: len(weights), _nrt=True)
def best_intervals(begin, end, values, weights, squared, cuts, sums):
    """Divide ascending `values` [V] float64 by each row of `weights` [P, V] float64.

    Writes into `cuts` [P, K, K] int32, which hold V, where each of k intervals starts: the first at
    0, the others at a value that has weight. If fewer than k values have weight, each is an
    interval. Writes into `sums` [P, K, 2] float64 the weighted distances to the means, and their
    squares.
    """
    for problem in range(begin, end):
        _solve(values, weights[problem], squared, cuts[problem], sums[problem])

"""How long do clusterings, exact intervals and allocations take at the sizes of GS3?

Correctness first: Lloyd's iteration must end where NumPy's ends, the intervals must cost what all
cuts cost, the integer program's optimum must be the dynamic program's. Points are histograms of 46
draws each from a hand's own distribution of equity, a third of them with two peaks. The rivals are
Lloyd's iteration with all distances by BLAS, SciPy's k-means for each k by itself, the quadratic
dynamic program in NumPy, and the dynamic program for the allocation. The slow ones are timed on a
few problems and scaled.

Run: python benchmarks/bench_clustering.py [share of the problems and points, default: 1]
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from harness import Report, best_seconds
from scipy.cluster.vq import kmeans2

from equilibrist.abstraction.allocation import allocate, total_error
from equilibrist.abstraction.clustering import cluster_tables
from equilibrist.abstraction.intervals import best_intervals
from equilibrist.kernels.cpu import clustering as kernel
from equilibrist.kernels.cpu.cluster_points import new_search
from equilibrist.kernels.metrics import L2

MOST = 18  # children of a bucket


def histograms(num_points: int, num_bins: int, seed: int, draws: int = 46) -> np.ndarray:
    random = np.random.default_rng(seed)
    mean, spread = random.beta(2, 2, num_points), random.choice([0.03, 0.1, 0.2], num_points)
    strength = mean[:, None] + spread[:, None] * random.standard_normal((num_points, draws))
    drawing = (random.random(num_points) < 0.3)[:, None]
    improves = drawing & (random.random((num_points, draws)) < 0.2)
    strength = np.where(improves, random.normal(0.9, 0.05, (num_points, draws)), strength)
    bins = (strength * num_bins).clip(0, num_bins - 1).astype(int)
    result = np.zeros((num_points, num_bins), np.float32)
    np.add.at(result, (np.arange(num_points)[:, None], bins), np.float32(1 / draws))
    return result


# --- one large problem ----------------------------------------------------------------------------


def our_lloyd(points: np.ndarray, starts: np.ndarray, limit: int) -> np.ndarray:
    search = new_search(*points.shape, len(starts))
    search.centres[:] = starts
    kernel.lloyd(points, np.ones(len(points)), L2, search, limit, True)
    return search.centres


def blas_lloyd(points: np.ndarray, starts: np.ndarray, limit: int) -> np.ndarray:
    centres, labels = starts.astype(np.float32), np.full(len(points), -1)
    for _ in range(limit + 1):  # ours assigns once before the first iteration
        before = labels
        labels = ((centres**2).sum(axis=1) - 2 * points @ centres.T).argmin(axis=1)
        if (labels == before).all():
            break
        order = labels.argsort(kind="stable")
        first = np.searchsorted(labels[order], np.arange(len(centres)))
        sums = np.add.reduceat(points[order], first, axis=0, dtype=np.float64)
        centres = (sums / np.bincount(labels, minlength=len(centres))[:, None]).astype(np.float32)
    return centres


def large_problem(report: Report, num_points: int, num_bins: int, k: int, limit: int) -> None:
    points = histograms(num_points, num_bins, seed=1)
    random = np.random.default_rng(2)
    starts = points[random.choice(num_points, k, replace=False)]
    starts += random.normal(0, 0.01, starts.shape)  # points would be equally far from many others
    np.testing.assert_allclose(
        our_lloyd(points, starts, 5), blas_lloyd(points, starts, 5), atol=1e-3
    )
    ours = best_seconds(lambda: our_lloyd(points, starts, limit), repeats=2)
    theirs = best_seconds(lambda: blas_lloyd(points, starts, limit), repeats=1)
    name = f"Lloyd × {limit}, {num_points:,} × {num_bins}, k = {k}"
    report.row(name, ours, "NumPy with BLAS", theirs, "s")


# --- many small problems --------------------------------------------------------------------------


def small_problems(report: Report, num_problems: int, num_points: int, num_bins: int) -> None:
    problems = [
        (histograms(num_points, num_bins, seed), np.ones(num_points))
        for seed in range(min(num_problems, 20))
    ]
    problems = [problems[number % len(problems)] for number in range(num_problems)]
    first = next(cluster_tables(problems[:1], MOST))
    assert (np.diff(first.errors) <= 0).all()
    objective, theirs = scipy_tables(problems[0][0])
    assert (first.objectives <= objective * 1.05).all()
    for restarts in (1, 3):
        ours = best_seconds(
            lambda restarts=restarts: list(cluster_tables(problems, MOST, restarts=restarts)),
            repeats=1,
        )
        name = f"{num_problems:,} tables, {num_points:,} × {num_bins}, k to {MOST}, {restarts}×"
        report.row(name, ours, "SciPy, one run a k, scaled", theirs * num_problems, "s")


def scipy_tables(points: np.ndarray) -> tuple[np.ndarray, float]:
    """Return mean squared distances for every k, and the seconds."""
    random, start = np.random.default_rng(0), time.perf_counter()
    objectives = []
    for k in range(1, MOST + 1):
        centres, labels = kmeans2(points, points[random.choice(len(points), k, False)], 30)
        objectives.append(((points - centres[labels]) ** 2).sum(axis=1).mean())
    return np.array(objectives), time.perf_counter() - start


# --- numbers --------------------------------------------------------------------------------------


def numbers(report: Report, num_problems: int, num_values: int = 1981) -> None:
    random, values = np.random.default_rng(1), np.arange(num_values, dtype=float)
    weights = np.empty((num_problems, num_values))
    for row in weights:
        equity = random.beta(*random.uniform(0.5, 6, 2), 40_000)
        row[:] = np.bincount((equity * num_values).astype(int), minlength=num_values)
    start = time.perf_counter()
    costs = quadratic_costs(values, weights[0])
    theirs = time.perf_counter() - start
    ours = best_intervals(values, weights[:1], MOST).squares[0] * weights[0].sum()
    np.testing.assert_allclose(ours, costs, rtol=1e-6)
    for objective in ("squared", "distance"):
        seconds = best_seconds(
            lambda way=objective: best_intervals(values, weights, MOST, objective=way), repeats=1
        )
        name = f"{num_problems:,} × {num_values:,} numbers, k to {MOST}, {objective}"
        report.row(name, seconds, "NumPy, all cuts, scaled", theirs * num_problems, "s")


def quadratic_costs(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Return the least squared costs of 1 … MOST intervals by trying all cuts."""
    x, w = x[w > 0], w[w > 0]
    mass, first, second = (np.append(0, np.cumsum(w * x**power)) for power in range(3))
    ends, begins = np.arange(1, len(x) + 1)[None, :], np.arange(len(x))[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = (first[ends] - first[begins]) / (mass[ends] - mass[begins])
        cost = second[ends] - second[begins] - mean * (first[ends] - first[begins])
    cost[begins >= ends] = np.inf
    best, costs = cost[0], []
    for _ in range(MOST):
        costs.append(best[-1])
        before = np.append(np.inf, best[:-1])
        best = (before[:, None] + cost).min(axis=0)
    return np.array(costs)


# --- the integer program --------------------------------------------------------------------------


def allocation(report: Report, num_buckets: int, most: int, total: int) -> None:
    random = np.random.default_rng(3)
    sizes = np.arange(1, most + 1) ** random.uniform(0.4, 1.2, (num_buckets, 1))
    errors = random.uniform(0.05, 0.3, (num_buckets, 1)) / sizes
    errors *= 1 + 0.02 * random.standard_normal(errors.shape)
    errors = np.minimum.accumulate(errors, axis=1)
    reach = random.dirichlet(np.full(num_buckets, 3.0))
    ours, theirs = (allocate(errors, reach, total, method=way) for way in ("highs", "dynamic"))
    first, second = (total_error(errors, reach, children) for children in (ours, theirs))
    assert abs(first - second) <= 1e-9 * second, (first, second)
    seconds = [
        best_seconds(lambda way=way: allocate(errors, reach, total, method=way), repeats=1)
        for way in ("highs", "dynamic")
    ]
    name = f"{num_buckets:,} buckets, k to {most}, {total:,} in all"
    report.row(name, seconds[0], "dynamic program", seconds[1], "s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("share", nargs="?", type=float, default=1.0, help="of the points (1)")
    share = parser.parse_args().share
    report = Report("clusters, intervals and allocations")
    for num_bins in (20, 100):
        large_problem(report, int(200_000 * share), num_bins, k=20, limit=100)
    small_problems(report, max(int(800 * share), 1), 1600, 100)
    numbers(report, max(int(4800 * share), 1))
    for num_buckets, most, total in ((20, 80, 800), (800, MOST, 4800), (4800, MOST, 28_800)):
        allocation(report, num_buckets, most, total)


if __name__ == "__main__":
    main()

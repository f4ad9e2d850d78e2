"""Compiled searches for clusters and intervals compared with plain array programs."""

import numpy as np
import pytest

from equilibrist.kernels.cpu import clustering as compiled
from equilibrist.kernels.cpu import intervals
from equilibrist.kernels.cpu.cluster_points import new_search
from equilibrist.kernels.cpu.cluster_points import weighted_median as median_part
from equilibrist.kernels.metrics import EMD, L2
from equilibrist.kernels.parts import kernel
from equilibrist.kernels.reference import clustering as reference

pytestmark = pytest.mark.kernels


@kernel(cache=False)
def weighted_median(values, weights):
    return median_part(values, weights)


METRICS = {"l2": L2, "emd": EMD}


def problem(seed: int, num_points: int = 150, num_coordinates: int = 5, blobs: int = 6):
    random = np.random.default_rng(seed)
    middles = random.normal(size=(blobs, num_coordinates))
    points = middles[random.integers(0, blobs, num_points)]
    points = points + random.normal(size=points.shape) * random.uniform(0.1, 1)
    return points.astype(np.float32), random.uniform(0.1, 3, num_points), random


def run_lloyd(points, weights, centres, metric, limit=300, threads=False):
    search = new_search(*points.shape, len(centres))
    search.centres[:] = centres
    sums = compiled.lloyd(points, weights, metric, search, limit, threads)
    return search.label, search.centres, np.array(sums) / weights.sum()


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("limit", [1, 3, 300])
@pytest.mark.parametrize("seed", range(12))
def test_lloyd_ends_where_the_reference_ends(metric: str, limit: int, seed: int) -> None:
    points, weights, random = problem(seed)
    starts = points[random.choice(len(points), random.integers(1, 20), replace=False)]
    kind = METRICS[metric]
    labels, centres, spread = run_lloyd(points, weights, starts, kind, limit)
    wide = points.astype(float)
    expected = reference.lloyd(wide, weights, starts.astype(float), kind, limit)
    np.testing.assert_array_equal(labels, expected[0])
    np.testing.assert_allclose(centres, expected[1], atol=1e-5)
    np.testing.assert_allclose(spread, reference.spread(wide, weights, *expected, kind), rtol=1e-5)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("seed", range(6))
def test_clusters_without_points_start_again_at_the_farthest(metric: str, seed: int) -> None:
    points, weights, _ = problem(seed, num_points=40)
    away = 100 + np.arange(6)[:, None] * np.ones(5)
    starts = np.vstack([points[:1], away]).astype(np.float32)
    kind = METRICS[metric]
    labels, centres, _ = run_lloyd(points, weights, starts, kind)
    assert set(labels) == set(range(7))
    expected = reference.lloyd(points.astype(float), weights, starts.astype(float), kind, 300)
    np.testing.assert_array_equal(labels, expected[0])
    np.testing.assert_allclose(centres, expected[1], atol=1e-5)


@pytest.mark.parametrize("metric", METRICS)
def test_weights_count_as_repeated_points(metric: str) -> None:
    points, _, random = problem(3)
    times = random.integers(1, 5, len(points))
    starts = points[:9]
    labels, centres, spread = run_lloyd(points, times.astype(float), starts, METRICS[metric])
    repeated = np.repeat(points, times, axis=0)
    ones = np.ones(len(repeated))
    again, same, their_spread = run_lloyd(repeated, ones, starts, METRICS[metric])
    np.testing.assert_array_equal(np.repeat(labels, times), again)
    np.testing.assert_allclose(centres, same, atol=1e-6)
    np.testing.assert_allclose(spread, their_spread, rtol=1e-6)


@pytest.mark.parametrize("metric", METRICS)
def test_chunks_and_threads_change_nothing_but_rounding(metric: str) -> None:
    # 40,000 points are two chunks; starts on a lattice make the result unambiguous.
    points, weights, _ = problem(1, num_points=40_000, num_coordinates=2)
    starts = points[:7]
    results = [run_lloyd(points, weights, starts, METRICS[metric], 20, t) for t in (False, True)]
    for one, other in zip(*results, strict=True):
        np.testing.assert_array_equal(one, other)
    expected = reference.lloyd(
        points.astype(float), weights, starts.astype(float), METRICS[metric], 20
    )
    assert (results[0][0] != expected[0]).mean() < 1e-3
    np.testing.assert_allclose(results[0][1], expected[1], atol=1e-3)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("seed", range(8))
def test_splitting_off_the_farthest_point_never_raises_the_error(metric: str, seed: int) -> None:
    # If no search improves, a table of clusterings falls back on this for every row.
    points, weights, random = problem(seed, num_points=60, num_coordinates=3)
    weights, kind, most = weights**4, METRICS[metric], 25
    searches = tuple(new_search(*points.shape, most) for _ in range(3))
    table = np.zeros((most, len(points)), np.uint8)
    rng = random.integers(1, 2**63, 4).astype(np.uint64)
    found, sums = compiled.k_means_table(
        (points, weights, kind), 0, 300, rng, False, searches, table
    )
    assert found == most
    assert (np.diff(sums[:, 0]) <= 0).all()
    wide, labels = points.astype(float), np.zeros(len(points), int)
    for k in range(1, most + 1):
        centres = reference.centroids(wide, weights, labels, k, kind)
        np.testing.assert_array_equal(table[k - 1], labels)
        expected = reference.spread(wide, weights, labels, centres, kind)
        np.testing.assert_allclose(sums[k - 1] / weights.sum(), expected, rtol=1e-5)
        own = reference.distances(wide, centres, kind)[np.arange(len(points)), labels]
        labels[own.argmax()] = k


@pytest.mark.parametrize("seed", range(30))
def test_weighted_median_has_half_of_the_weight_on_either_side(seed: int) -> None:
    random = np.random.default_rng(seed)
    size = random.integers(1, 30)
    values = random.integers(0, 10, size).astype(np.float32)
    weights = random.integers(1, 6, size).astype(float)
    median = weighted_median(values.copy(), weights.copy())
    assert median == np.sort(np.repeat(values, weights.astype(int)))[int(weights.sum() - 1) // 2]


@pytest.mark.parametrize("metric", METRICS)
def test_nearest_is_the_least_of_all_distances(metric: str) -> None:
    points, _, random = problem(5)
    centres = random.normal(size=(11, 5)).astype(np.float32)
    labels = np.empty(len(points), np.int32)
    compiled.nearest(points, centres, METRICS[metric], labels)
    every = reference.distances(points.astype(float), centres.astype(float), METRICS[metric])
    np.testing.assert_array_equal(labels, every.argmin(axis=1))


@pytest.mark.parametrize("squared", [True, False])
def test_intervals_cost_what_all_cuts_cost(squared: bool) -> None:
    random = np.random.default_rng(2)
    num_values, most = 60, 9
    values = np.cumsum(random.uniform(0.01, 1, num_values)) + 1e6
    weights = random.uniform(0, 2, (8, num_values)) * (random.random((8, num_values)) < 0.8)
    weights[7, 3:] = 0  # fewer values than intervals
    cuts = np.full((8, most, most), num_values, np.int32)
    sums = np.zeros((8, most, 2))
    intervals.best_intervals(values, weights, squared, cuts, sums)
    for row, found in zip(weights, sums, strict=True):
        kept = row > 0
        expected = reference.best_intervals(values[kept], row[kept], most, squared)
        possible = np.isfinite(expected)
        cost = found[:, int(squared)]
        np.testing.assert_allclose(cost[possible], expected[possible], rtol=1e-6, atol=1e-9)
        assert (cost[~possible] == 0).all()

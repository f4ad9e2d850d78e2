import contextlib

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.vq import ClusterError, kmeans2
from scipy.stats import wasserstein_distance

from equilibrist.abstraction.clustering import (
    cluster,
    cluster_table,
    cluster_tables,
    nearest,
)
from equilibrist.errors import InvalidValueError, UnknownNameError

pytestmark = pytest.mark.kernels


def blobs(seed: int, num_points: int = 400, num_coordinates: int = 4, num_blobs: int = 8):
    random = np.random.default_rng(seed)
    middles = random.normal(size=(num_blobs, num_coordinates)) * 2
    spread = random.normal(size=(num_points, num_coordinates)) * 0.5
    return (middles[random.integers(0, num_blobs, num_points)] + spread).astype(np.float32)


def histograms(seed: int, num_points: int = 200, num_bins: int = 12) -> np.ndarray:
    random = np.random.default_rng(seed)
    bins = random.normal(random.uniform(0, num_bins, num_points), 1.5, (30, num_points))
    bins = bins.clip(0, num_bins - 1).astype(int).T
    return np.stack([np.bincount(row, minlength=num_bins) / 30 for row in bins])


def spread(points, weights, labels):
    """Return the weighted mean distance to the cluster means, and the mean squared distance."""
    points, away = points.astype(float), np.empty(len(points))
    for label in set(labels):
        own = labels == label
        away[own] = np.linalg.norm(
            points[own] - np.average(points[own], axis=0, weights=weights[own]), axis=1
        )
    return np.average(away, weights=weights), np.average(away**2, weights=weights)


def scipy_labels(points, k, random):
    """Return labels of SciPy's k-means from random points, restarted if a cluster is lost."""
    while True:
        starts = points[random.choice(len(points), k, replace=False)]
        with contextlib.suppress(ClusterError):
            return kmeans2(points, starts, 200, minit="matrix", missing="raise")[1]


# --- how good -------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_k_means_is_as_good_as_the_best_of_many_runs_of_scipy(seed: int) -> None:
    points, random = blobs(seed), np.random.default_rng(seed)
    ones = np.ones(len(points))
    table = cluster_table(points, ones, 12, restarts=6, seed=seed)
    for k in (2, 5, 8, 12):
        runs = [spread(points, ones, scipy_labels(points, k, random)) for _ in range(40)]
        error, objective = np.min(runs, axis=0)
        assert cluster(points, ones, k, restarts=10, seed=seed).objective <= objective * 1.01
        assert table.errors[k - 1] <= error * 1.01


@pytest.mark.parametrize("seed", range(3))
def test_points_end_with_their_nearest_centre_and_centres_are_means(seed: int) -> None:
    points, random = blobs(seed), np.random.default_rng(seed)
    weights = random.uniform(0.1, 5, len(points))
    clusters = cluster(points, weights, 9, seed=seed)
    assert len(clusters) == 9
    np.testing.assert_array_equal(nearest(points, clusters.centres), clusters.labels)
    for j, centre in enumerate(clusters.centres):
        own = clusters.labels == j
        mean = np.average(points[own].astype(float), axis=0, weights=weights[own])
        np.testing.assert_allclose(centre, mean, atol=1e-5)
    expected = spread(points, weights, clusters.labels)
    assert (clusters.error, clusters.objective) == pytest.approx(expected, rel=1e-5)


# --- every number of clusters ---------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32), metric=st.sampled_from(["l2", "emd"]))
def test_errors_never_rise_with_the_number_of_clusters(seed: int, metric: str) -> None:
    random = np.random.default_rng(seed)
    num_points, num_bins = random.integers(1, 40), random.integers(1, 5)
    points = random.multinomial(4, random.dirichlet(np.ones(num_bins)), num_points)
    weights = random.exponential(1, num_points) ** 4
    table = cluster_table(points, weights, 12, metric=metric, restarts=1, seed=seed % 97)
    num_distinct = len(np.unique(points, axis=0))
    assert (np.diff(table.errors) <= 0).all()
    assert (table.errors[num_distinct - 1 :] == 0).all()
    assert (table.errors[: num_distinct - 1] > 0).all()
    assert table.num_distinct == min(num_distinct, 13)


@pytest.mark.parametrize("metric", ["l2", "emd"])
def test_a_table_gives_the_clusters_that_its_errors_are_of(metric: str) -> None:
    points, weights = histograms(1), np.random.default_rng(1).uniform(0, 3, 200)
    table = cluster_table(points, weights, 20, metric=metric)
    for k in (1, 2, 7, 20):
        clusters = table.at(k)
        assert set(clusters.labels) == set(range(k))
        assert (clusters.error, clusters.objective) == (
            table.errors[k - 1],
            table.objectives[k - 1],
        )
        away = distances(points, clusters, metric)
        assert clusters.error == pytest.approx(np.average(away, weights=weights), rel=1e-4)
        if metric == "l2":
            assert spread(points, weights, clusters.labels) == pytest.approx(
                (clusters.error, clusters.objective), rel=1e-4
            )


def distances(points, clusters, metric):
    """Return the distance of each point to its centre; SciPy computes the earth mover's."""
    own = clusters.centres[clusters.labels].astype(float)
    if metric == "l2":
        return np.linalg.norm(points - own, axis=1)
    bins = np.arange(points.shape[1])
    pairs = zip(points, own, strict=True)
    return np.array([wasserstein_distance(bins, bins, a, b.clip(0)) for a, b in pairs])


# --- the earth mover ------------------------------------------------------------------------------


def test_earth_movers_distance_counts_bins() -> None:
    points = np.eye(6)[[0, 0, 5, 4]]
    clusters = cluster(points, [3, 3, 1, 1], 1, metric="emd")
    assert clusters.centres.round(6).tolist() == [[1, 0, 0, 0, 0, 0]]
    assert clusters.error == clusters.objective == pytest.approx((5 + 4) / 8)
    assert nearest(np.eye(6), np.eye(6)[[0, 5]], metric="emd").tolist() == [0, 0, 0, 1, 1, 1]


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_no_histogram_is_a_better_centre_than_the_median(seed: int) -> None:
    random = np.random.default_rng(seed)
    points = random.dirichlet(np.ones(5) * 0.4, 12)
    weights = random.exponential(1, 12)
    clusters = cluster(points, weights, 1, metric="emd")
    assert clusters.centres.min() >= 0
    sums = points.cumsum(axis=1)
    for rival in (
        *points,
        np.average(points, axis=0, weights=weights),
        *random.dirichlet([1] * 5, 9),
    ):
        away = np.abs(sums - rival.cumsum()).sum(axis=1)
        assert clusters.error <= np.average(away, weights=weights) + 1e-6


def test_the_metrics_divide_differently() -> None:
    # Mass in bins 0, 1 and 9: all are equally far under L2, the first two are near for the earth.
    points = np.eye(10)[[0, 1, 9]]
    clusters = cluster(points, [1, 1, 1], 2, metric="emd")
    assert clusters.labels[0] == clusters.labels[1] != clusters.labels[2]
    assert cluster(points, [1, 3, 3], 2).labels[1] != cluster(points, [1, 3, 3], 2).labels[2]


# --- the same again -------------------------------------------------------------------------------


def same(one, other) -> bool:
    return (
        np.array_equal(one.labels, other.labels)
        and np.array_equal(one.centres, other.centres)
        and (one.error, one.objective) == (other.error, other.objective)
    )


def test_a_seed_gives_the_same_clusters_again() -> None:
    points, ones = blobs(1), np.ones(400)
    first = cluster(points, ones, 10, restarts=1, seed=5)
    assert same(first, cluster(points, ones, 10, restarts=1, seed=5))
    others = [cluster(points, ones, 10, restarts=1, seed=seed) for seed in range(5)]
    assert not all(same(first, other) for other in others)


@pytest.mark.parametrize("metric", ["l2", "emd"])
def test_clusters_do_not_depend_on_the_number_of_threads(metric: str) -> None:
    points = np.repeat(histograms(2, num_points=2000), 20, axis=0)
    points = points[:, :4] / points[:, :4].sum(axis=1, keepdims=True).clip(1e-9)
    points[points.sum(axis=1) < 0.5] = np.eye(4)[0]
    weights = np.random.default_rng(1).uniform(0.5, 2, len(points))
    before, results = numba.get_num_threads(), []
    try:
        for threads in (1, numba.config.NUMBA_NUM_THREADS):
            numba.set_num_threads(threads)
            results.append(cluster(points, weights, 6, metric=metric, restarts=1, limit=15))
    finally:
        numba.set_num_threads(before)
    assert same(*results)


def test_problems_side_by_side_are_those_one_by_one() -> None:
    problems = [(blobs(seed, num_points=50 + seed), np.ones(50 + seed)) for seed in range(12)]
    tables = list(cluster_tables(iter(problems), 6, seed=3))
    assert same(tables[0].at(5), cluster_table(*problems[0], 6, seed=3).at(5))
    before = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        alone = list(cluster_tables(problems, 6, seed=3))
    finally:
        numba.set_num_threads(before)
    assert [len(table.at(1).labels) for table in tables] == [50 + seed for seed in range(12)]
    assert all(same(a.at(k), b.at(k)) for a, b in zip(tables, alone, strict=True) for k in (1, 6))


# --- odd input ------------------------------------------------------------------------------------


def test_points_of_zero_weight_do_not_influence_centres() -> None:
    points, ones = blobs(4, num_points=60), np.ones(60)
    far = np.full((5, 4), 50.0) + np.arange(5)[:, None]
    with_far = cluster(np.vstack([far, points]), np.append(np.zeros(5), ones), 6)
    alone = cluster(points, ones, 6)
    np.testing.assert_array_equal(with_far.labels[5:], alone.labels)
    np.testing.assert_array_equal(with_far.centres, alone.centres)
    np.testing.assert_array_equal(with_far.labels[:5], nearest(far, alone.centres))


def test_equal_points_are_one_cluster() -> None:
    points = np.full((30, 3), 0.1)
    clusters = cluster(points, np.linspace(1, 2, 30), 4)
    assert (len(clusters), clusters.error, clusters.objective) == (1, 0, 0)
    table = cluster_table(points, np.linspace(1, 2, 30), 4)
    assert table.errors.tolist() == [0, 0, 0, 0]
    assert len(table.at(4)) == 1


@pytest.mark.parametrize("k", [5, 6, 100])
def test_one_cluster_per_distinct_point_has_zero_error(k: int) -> None:
    points = np.repeat(np.random.default_rng(1).random((5, 7)), 6, axis=0)
    clusters = cluster(points, np.random.default_rng(2).random(30) + 0.1, k)
    assert (len(clusters), clusters.error, clusters.objective) == (5, 0, 0)


def test_one_point_is_its_own_centre() -> None:
    clusters = cluster([[1.5, 2.5]], [0.3], 3)
    assert clusters.labels.tolist() == [0]
    assert clusters.centres.tolist() == [[1.5, 2.5]]


@pytest.mark.parametrize(
    ("points", "weights", "message"),
    [
        ([[1.0], [np.nan]], [1, 1], "point 1 has a coordinate"),
        ([[np.inf], [1.0]], [1, 1], "point 0 has a coordinate"),
        ([[1e300], [1.0]], [1, 1], "point 0 has a coordinate"),
        ([[0.0], [-1e16]], [1, 1], r"point 1 has .* not a number from -1e\+15 to 1e\+15"),
        ([1.0, 2.0], [1, 1], r"an array \[N, D\]"),
        (np.zeros((0, 2)), [], r"an array \[N, D\]"),
        ([[1.0]], [1, 1], "1 points need 1 weights"),
        ([[1.0], [2.0]], [1, np.nan], "weights must be finite"),
        ([[1.0], [2.0]], [1, -1], "weights must be finite"),
        ([[1.0], [2.0]], [0, 0], "not all zero"),
    ],
)
def test_bad_points_and_weights_are_refused_in_one_sentence(points, weights, message) -> None:
    with pytest.raises(InvalidValueError, match=message):
        cluster(points, weights, 1)
    with pytest.raises(InvalidValueError, match=message):
        cluster_table(points, weights, 1)


def test_bad_settings_are_refused() -> None:
    with pytest.raises(UnknownNameError, match="l2 and emd"):
        cluster([[1.0]], [1], 1, metric="l1")
    for settings_ in ({"k": 0}, {"seed": -1}, {"restarts": 0}, {"limit": 0}):
        with pytest.raises(InvalidValueError, match="whole number"):
            cluster(**{"points": [[1.0]], "weights": [1], "k": 1, **settings_})
    with pytest.raises(InvalidValueError, match="from 1 to 2"):
        cluster_table([[1.0]], [1], 2).at(3)
    with pytest.raises(InvalidValueError, match="coordinates"):
        nearest([[1.0, 2.0]], [[1.0]])


@pytest.mark.parametrize("points", [[[0.5, 0.5], [1.0, 1.0]], [[1.5, -0.5], [1.0, 0.0]]])
def test_the_earth_mover_takes_histograms_of_one_mass(points) -> None:
    with pytest.raises(InvalidValueError, match="same mass"):
        cluster(points, [1, 1], 1, metric="emd")

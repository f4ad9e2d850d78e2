import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equilibrist.abstraction.clustering import cluster
from equilibrist.abstraction.intervals import best_intervals
from equilibrist.errors import InvalidValueError, UnknownNameError

pytestmark = pytest.mark.kernels

weighted_numbers = st.dictionaries(
    st.integers(0, 40), st.integers(1, 20), min_size=1, max_size=8
).map(lambda table: tuple(np.array(sorted(table.items()), float).T))


def mean_distances(values, weights, labels, power):
    total = 0.0
    for label in set(labels):
        x, w = values[labels == label], weights[labels == label]
        total += w @ np.abs(x - np.average(x, weights=w)) ** power
    return total / weights.sum()


def every_division(num_values, k):
    for cuts in itertools.combinations(range(1, num_values), k - 1):
        yield np.searchsorted(cuts, np.arange(num_values), side="right")


@settings(max_examples=60, deadline=None)
@given(numbers=weighted_numbers)
def test_no_division_is_better(numbers) -> None:
    values, weights = numbers
    for objective, power in (("squared", 2), ("distance", 1)):
        table = best_intervals(values, weights[None], 5, objective=objective)
        found = (table.errors if power == 1 else table.squares)[0]
        for k in range(1, 6):
            divisions = every_division(len(values), min(k, len(values)))
            best = min(mean_distances(values, weights, labels, power) for labels in divisions)
            assert found[k - 1] == pytest.approx(best, abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(numbers=weighted_numbers, objective=st.sampled_from(["squared", "distance"]))
def test_errors_are_those_of_the_labels(numbers, objective: str) -> None:
    values, weights = numbers
    table = best_intervals(values, weights[None], 4, objective=objective)
    for k in range(1, 5):
        labels = table.labels(0, k)
        assert set(labels) == set(range(min(k, len(values))))
        errors, squares = (mean_distances(values, weights, labels, power) for power in (1, 2))
        assert table.errors[0, k - 1] == pytest.approx(errors, abs=1e-12)
        assert table.squares[0, k - 1] == pytest.approx(squares, abs=1e-12)
        found = np.searchsorted(table.thresholds(0, k), values, side="right")
        np.testing.assert_array_equal(found, labels)


@pytest.mark.parametrize("seed", range(5))
def test_no_search_is_better_than_the_optimum(seed: int) -> None:
    random = np.random.default_rng(seed)
    values = np.unique(random.gamma(2, 200, 400).astype(np.float32)).astype(float)
    weights = random.integers(1, 30, len(values)).astype(float)
    table = best_intervals(values, weights[None], 12)
    for k in (2, 5, 12):
        searched = cluster(values[:, None], weights, k, seed=seed)
        assert table.squares[0, k - 1] <= searched.objective * (1 + 1e-6)
        assert table.squares[0, k - 1] >= searched.objective * 0.9  # and searches are not bad


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_each_objective_never_rises_and_is_the_lower_of_the_two(seed: int) -> None:
    random = np.random.default_rng(seed)
    # Steps below the rounding of the sum repeat a value, in three draws of a thousand.
    values = np.unique(np.cumsum(random.exponential(1, random.integers(20, 120)) ** 3))
    weights = random.exponential(1, (2, len(values))) ** 4
    squared, distance = (
        best_intervals(values, weights, 15, objective=objective)
        for objective in ("squared", "distance")
    )
    assert (np.diff(squared.squares) <= 1e-12 * squared.squares[:, :1]).all()
    assert (np.diff(distance.errors) <= 1e-12 * distance.errors[:, :1]).all()
    # Costs are differences of sums over all values, so they are exact to the rounding of the whole.
    rounding = 1e-12 * squared.squares[:, :1]
    assert (squared.squares <= distance.squares * (1 + 1e-9) + rounding).all()
    assert (distance.errors <= squared.errors * (1 + 1e-9)).all()


def test_least_squares_may_raise_the_mean_distance() -> None:
    values, weights = [2.0, 4.0, 5.0, 8.0], [[2.0, 15.0, 13.0, 1.0]]
    squared = best_intervals(values, weights, 3)
    distance = best_intervals(values, weights, 3, objective="distance")
    assert squared.labels(0, 2).tolist() == distance.labels(0, 2).tolist() == [0, 0, 1, 1]
    assert squared.labels(0, 3).tolist() == [0, 1, 1, 2]
    assert distance.labels(0, 3).tolist() == [0, 1, 2, 2]
    assert squared.errors[0, 2] > squared.errors[0, 1] > distance.errors[0, 2]


def test_values_without_weight_change_nothing() -> None:
    values, weights = np.array([1.0, 2.0, 4.0, 8.0, 9.0]), np.array([[1, 0, 2, 0, 1.0]])
    table = best_intervals(values, weights, 4)
    reduced = best_intervals(values[[0, 2, 4]], weights[:, [0, 2, 4]], 4)
    np.testing.assert_array_equal(table.errors, reduced.errors)
    assert table.errors[0, 2:].tolist() == [0, 0]
    assert table.thresholds(0, 4).tolist() == table.thresholds(0, 3).tolist() == [4, 9]
    assert table.labels(0, 3).tolist() == [0, 0, 1, 1, 2]


def test_one_value_is_one_interval() -> None:
    table = best_intervals([7.0], [[2.0]], 3)
    assert table.errors.tolist() == [[0, 0, 0]]
    assert table.thresholds(0, 3).tolist() == []


@pytest.mark.parametrize(
    ("values", "weights", "message"),
    [
        ([0, 1], [[1, 2, 3]], "weights an array"),
        ([], [[]], "weights an array"),
        ([0, np.nan], [[1, 2]], "finite and ascending"),
        ([1, 1], [[1, 2]], "finite and ascending"),
        ([0, 1], [[1, np.nan]], "weights must be finite"),
        ([0, 1], [[1, -1]], "weights must be finite"),
        ([0, 1], [[1, 2], [0, 0]], "not all zero in any row"),
    ],
)
def test_bad_problems_are_refused_in_one_sentence(values, weights, message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        best_intervals(values, weights, 2)


def test_unknown_objectives_and_numbers_of_intervals_are_refused() -> None:
    with pytest.raises(UnknownNameError, match="squared and distance"):
        best_intervals([0, 1], [[1, 1]], 2, objective="cubed")
    with pytest.raises(InvalidValueError, match="from 1 to"):
        best_intervals([0, 1], [[1, 1]], 0)
    with pytest.raises(InvalidValueError, match="from 1 to 2"):
        best_intervals([0, 1], [[1, 1]], 2).thresholds(0, 3)

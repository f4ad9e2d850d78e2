import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equilibrist.abstraction.allocation import allocate, total_error
from equilibrist.errors import InvalidValueError, UnknownNameError


def falling_errors(random, num_buckets: int, most: int, noise: float = 0.3) -> np.ndarray:
    """Return errors that never increase, neither convex nor all different."""
    errors = random.uniform(0.1, 1, (num_buckets, 1)) / np.arange(1, most + 1)
    errors *= 1 + noise * random.random(errors.shape)
    return np.minimum.accumulate(errors, axis=1)


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 2**32), exactly=st.booleans(), forbid=st.booleans())
def test_the_optimum_is_that_of_all_allocations(seed: int, exactly: bool, forbid: bool) -> None:
    random = np.random.default_rng(seed)
    num_buckets, most = random.integers(1, 5), random.integers(1, 5)
    errors = falling_errors(random, num_buckets, most)
    if forbid:
        errors[:, 1:][random.random((num_buckets, most - 1)) < 0.3] = np.inf
    weights = random.dirichlet(np.ones(num_buckets))
    total = int(random.integers(num_buckets, num_buckets * most + 1))
    every = [
        children
        for children in itertools.product(range(1, most + 1), repeat=num_buckets)
        if (sum(children) == total if exactly else sum(children) <= total)
        and np.isfinite(errors[np.arange(num_buckets), np.array(children) - 1]).all()
    ]
    possible = np.isfinite(errors)
    capacity = (possible * np.arange(1, most + 1)).max(axis=1).sum()
    for method in ("highs", "dynamic"):
        if total > capacity or not every:
            with pytest.raises(InvalidValueError, match=str(total)):
                allocate(errors, weights, total, exactly=exactly, method=method)
            continue
        children = allocate(errors, weights, total, exactly=exactly, method=method)
        assert tuple(children) in every
        best = min(total_error(errors, weights, children) for children in every)
        assert total_error(errors, weights, children) == pytest.approx(best, abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_integer_and_dynamic_program_agree_on_many_buckets(seed: int) -> None:
    random = np.random.default_rng(seed)
    errors, weights = falling_errors(random, 200, 18, 0.1), random.dirichlet(np.ones(200))
    for total in (200, 350, 1200, 3600):
        found = [allocate(errors, weights, total, method=way) for way in ("highs", "dynamic")]
        first, second = (total_error(errors, weights, children) for children in found)
        assert first == pytest.approx(second, rel=1e-9)
        assert all(children.sum() <= total for children in found)


def test_convex_errors_are_allocated_greedily() -> None:
    random = np.random.default_rng(1)
    errors = random.uniform(1, 2, (30, 1)) / np.arange(1, 13)
    weights = random.dirichlet(np.ones(30))
    saved = -np.diff(errors * weights[:, None])
    cheapest = np.sort(saved.ravel())[::-1][:100].min()
    children = allocate(errors, weights, 130)
    np.testing.assert_array_equal(children, 1 + (saved >= cheapest).sum(axis=1))


def test_children_that_lower_nothing_are_not_given() -> None:
    errors = [[2.0, 1.0, 1.0, 1.0], [1.0, 0.0, 0.0, 0.0]]
    for method in ("highs", "dynamic"):
        assert allocate(errors, [1, 1], 8, method=method).tolist() == [2, 2]
        assert allocate(errors, [1, 0], 8, method=method).tolist() == [2, 1]
        assert allocate(errors, [1, 1], 7, exactly=True, method=method).sum() == 7


@pytest.mark.parametrize("total", [1, 7, 2.5, True])
def test_impossible_totals_are_refused_with_the_possible_range(total) -> None:
    with pytest.raises(
        InvalidValueError, match="2 buckets with 1 to 3 each is a whole number from 2 to 6"
    ):
        allocate(np.ones((2, 3)), [1, 1], total)


def test_totals_that_the_offered_numbers_miss_are_refused() -> None:
    errors = [[1.0, np.inf, 0.0], [1.0, np.inf, 0.0]]
    for method in ("highs", "dynamic"):
        assert allocate(errors, [1, 1], 5, method=method).sum() == 4
        with pytest.raises(InvalidValueError, match="sum to 5"):
            allocate(errors, [1, 1], 5, exactly=True, method=method)


@pytest.mark.parametrize(
    ("errors", "weights", "message"),
    [
        ([[1.0, np.nan]], [1.0], "bucket 0 has errors"),
        ([[1.0, 0.5], [1.0, -1.0]], [1.0, 1.0], "bucket 1 has errors"),
        ([[np.inf, np.inf]], [1.0], "at least one must be finite"),
        ([[1.0]], [np.nan], "weights of buckets"),
        ([[1.0]], [-1.0], "weights of buckets"),
        ([[1.0]], [1.0, 1.0], "weights an array"),
        ([1.0], [1.0], "weights an array"),
        (np.zeros((0, 3)), [], "both not empty"),
    ],
)
def test_bad_tables_are_refused_in_one_sentence(errors, weights, message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        allocate(errors, weights, 1)


def test_unknown_methods_are_refused() -> None:
    with pytest.raises(UnknownNameError, match="highs and dynamic"):
        allocate([[1.0]], [1.0], 1, method="greedy")

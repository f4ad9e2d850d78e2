"""Products that skip zeros compared with NumPy's."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equilibrist.kernels.cpu import products
from equilibrist.models.products import product

pytestmark = pytest.mark.kernels


def multiplied(left: np.ndarray, matrix: np.ndarray, *, is_transposed: bool) -> np.ndarray:
    counts = np.empty((-(-left.shape[1] // products.BLOCK), -(-len(left) // 2)), np.int64)
    products.count_kept(left, counts)
    start = np.concatenate([[0], np.cumsum(counts)])
    column, value = np.full(start[-1], 255, np.uint8), np.full((start[-1], 2), np.nan, np.float32)
    products.keep(left, start, column, value)
    num_columns = matrix.shape[0 if is_transposed else 1]
    out = np.full((len(left), num_columns), np.nan, np.float32)
    products.multiply(start, column, value, matrix, is_transposed, out)
    return out


@given(
    shape=st.tuples(st.integers(1, 9), st.integers(1, 300), st.integers(1, 300)),
    density=st.sampled_from([0.0, 0.1, 0.6, 1.0]),
    is_transposed=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
@settings(max_examples=60, deadline=None)
def test_equals_the_dense_product(
    shape: tuple[int, int, int], density: float, is_transposed: bool, seed: int
) -> None:
    random = np.random.default_rng(seed)
    rows, inner, columns = shape
    # Small whole numbers: sums are exact in any order.
    left = random.integers(-9, 10, (rows, inner)) * (random.random((rows, inner)) < density)
    matrix = random.integers(-9, 10, (columns, inner) if is_transposed else (inner, columns))
    found = multiplied(
        left.astype(np.float32), matrix.astype(np.float32), is_transposed=is_transposed
    )
    assert (found == left @ (matrix.T if is_transposed else matrix)).all()


@pytest.mark.parametrize("density", [0.05, 0.9])
@pytest.mark.parametrize("is_transposed", [False, True])
def test_either_way_is_the_same_product(density: float, is_transposed: bool) -> None:
    random = np.random.default_rng(7)
    left = (random.random((33, 1200)) * (random.random((33, 1200)) < density)).astype(np.float32)
    matrix = random.random((1200, 1200)).astype(np.float32)
    exact = left.astype(np.float64) @ (matrix.T if is_transposed else matrix)
    assert np.allclose(product(left, matrix, is_transposed=is_transposed), exact, rtol=1e-5)


def test_no_rows_make_no_product() -> None:
    matrix = np.ones((1200, 1200), np.float32)
    assert product(np.empty((0, 1200), np.float32), matrix).shape == (0, 1200)

"""The vector type of the kernels, against NumPy."""

import numpy as np
import pytest
from numba import njit

from equilibrist.kernels.cpu.lanes import as_wide, choose, load, spread, spread_half, store, turn

WIDTHS = {
    8: njit(lambda number: spread(number)),
    4: njit(lambda number: spread_half(number)),
    1: njit(lambda number: number),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("width", WIDTHS)
def test_arithmetic_is_that_of_single_numbers(width, dtype):
    wide = WIDTHS[width]

    @njit
    def compute(a, b, out, at):
        zero = wide(a.dtype.type(0))
        x, y = load(a, at, zero), load(b, at, zero)
        two = as_wide(a.dtype.type(2), zero)
        store(out, at, choose(x - y, x * y + two, x / y))

    rng = np.random.default_rng(width)
    a, b = rng.normal(size=(2, 20)).astype(dtype)
    out = np.full(20, 7, dtype)
    compute(a, b, out, np.uint64(3))
    expected = np.full(20, 7, dtype)
    expected[3 : 3 + width] = np.where(a > b, a * b + dtype(2), a / b)[3 : 3 + width]
    np.testing.assert_array_equal(out, expected)


def test_whole_numbers_go_around():
    @njit
    def compute(a, b, out):
        zero, at = spread(a.dtype.type(0)), np.uint64(1)
        x, y = load(a, at, zero), load(b, at, zero)
        store(out, at, x * y + x - y)

    a, b = np.random.default_rng(1).integers(0, 2**32, (2, 10), np.uint32)
    out = np.zeros(10, np.uint32)
    compute(a, b, out)
    np.testing.assert_array_equal(out, [0, *(a * b + a - b)[1:9], 0])


def test_numbers_are_widened_when_read():
    @njit
    def copy(narrow, out):
        store(out, np.uint64(1), load(narrow, np.uint64(2), spread(0.0)))

    narrow, out = np.arange(10, dtype=np.float32) / 3, np.zeros(10)
    copy(narrow, out)
    np.testing.assert_array_equal(out, [0, *narrow[2:].astype(np.float64), 0])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_become_columns(dtype):
    @njit
    def transpose(source, starts, out):
        places = (
            starts[0], starts[1], starts[2], starts[3], starts[4], starts[5], starts[6], starts[7]
        )  # fmt: skip
        turn(source, places, out, np.uint64(5))

    source = np.arange(200, dtype=dtype)
    starts = np.array([0, 50, 3, 3, 120, 192, 70, 11], np.uint64)
    out = np.zeros(80, dtype)
    transpose(source, starts, out)
    rows = source[starts.astype(np.int64)[:, None] + np.arange(8)]
    np.testing.assert_array_equal(out, [0] * 5 + rows.T.ravel().tolist() + [0] * 11)

"""The vector type of the kernels, against NumPy."""

import numpy as np
import pytest
from numba import njit

from equilibrist.kernels.cpu.simd import (
    add_turned,
    as_wide,
    choose,
    load,
    load_some,
    spread,
    spread_half,
    spread_line,
    store,
    store_some,
    turn,
    width_of,
)

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


def test_whole_numbers_wrap_around():
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


@pytest.mark.parametrize(("dtype", "width"), [(np.float32, 16), (np.float64, 8)])
def test_a_line_of_the_cache_is_64_bytes(dtype, width):
    @njit
    def fill(out):
        number = spread_line(out.dtype.type(3))
        store(out, np.uint64(1), number)
        return width_of(number)

    out = np.zeros(20, dtype)
    assert fill(out) == width
    np.testing.assert_array_equal(out, [0] + [3] * width + [0] * (19 - width))


@pytest.mark.parametrize("dtype", [np.float32, np.int16])
@pytest.mark.parametrize("count", [None, 0, 3, 16])
def test_the_first_lanes_are_read_and_written(dtype, count):
    @njit
    def copy(source, out, count):
        zero = spread_line(np.float32(0))
        store(out, np.uint64(0), load_some(source, np.uint64(2), zero, count))
        store_some(out, np.uint64(17), load(source, np.uint64(2), zero), count)

    source, out = np.arange(1, 19).astype(dtype), np.full(34, 99, dtype)
    copy(source, out, None if count is None else np.uint64(count))
    most = 16 if count is None else count
    np.testing.assert_array_equal(out[:16], [*source[2 : 2 + most], *[0] * (16 - most)])
    np.testing.assert_array_equal(out[16:], [99, *source[2 : 2 + most], *[99] * (17 - most)])


@njit
def eight_places(starts):
    return starts[0], starts[1], starts[2], starts[3], starts[4], starts[5], starts[6], starts[7]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("width", [8, 16])
@pytest.mark.parametrize("count", [None, 0, 5, 8])
def test_rows_become_columns(dtype, width, count):
    @njit
    def transpose(source, starts, out, width, count):
        turn(source, eight_places(starts), out, np.uint64(5), width, count)

    source = np.arange(200, dtype=dtype)
    starts = np.array([0, 50, 3, 3, 120, 192, 70, 11], np.uint64)
    out = np.zeros(160, dtype)
    transpose(source, starts, out, np.uint64(width), None if count is None else np.uint64(count))
    expected = np.zeros(160, dtype)
    rows = source[starts.astype(np.int64)[:, None] + np.arange(8)]
    rows[:, 8 if count is None else count :] = 0
    expected[5 : 5 + 8 * width].reshape(8, width)[:, :8] = rows.T
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("width", [8, 16])
@pytest.mark.parametrize("count", [None, 0, 5, 8])
def test_columns_are_added_to_rows_also_twice_to_one(dtype, width, count):
    @njit
    def add(source, out, starts, width, count):
        add_turned(source, np.uint64(5), width, out, eight_places(starts), count)

    source, out = np.arange(160, dtype=dtype), np.arange(200, dtype=dtype)
    starts = np.array([0, 50, 30, 30, 120, 192, 70, 11], np.uint64)
    expected = out.copy()
    for i, start in enumerate(starts.astype(np.int64)):
        most = 8 if count is None else count
        expected[start : start + most] += source[5 + i + width * np.arange(most)]
    add(source, out, starts, np.uint64(width), None if count is None else np.uint64(count))
    np.testing.assert_array_equal(out, expected)

"""Kernels and products of matrices use the number of threads that a command was given."""

import numba
import numpy as np
import pytest

from equilibrist.cli.options import prepare_kernels
from equilibrist.kernels import threads


@pytest.fixture
def numbers():
    """Restore the numbers of threads after a test."""
    kernels, products = numba.get_num_threads(), threads.product_threads()
    yield
    threads.use_threads(products or kernels)
    numba.set_num_threads(kernels)


def test_the_library_of_products_is_found_in_numpys_wheels():
    if "openblas" not in np.show_config(mode="dicts")["Build Dependencies"]["blas"]["name"]:
        pytest.skip("NumPy is built with another library here")
    assert threads.product_threads() is not None


@pytest.mark.parametrize("number", [1, 2])
def test_commands_set_the_threads_of_kernels_and_of_products(numbers, number):
    if number > numba.config.NUMBA_NUM_THREADS:
        pytest.skip("this machine has one processor")
    prepare_kernels(number)
    assert numba.get_num_threads() == number
    assert threads.product_threads() in (number, None)


def test_an_unknown_library_keeps_its_own_number(numbers, monkeypatch):
    monkeypatch.setattr(threads, "_blas", lambda: None)
    threads.use_threads(1)
    assert numba.get_num_threads() == 1
    assert threads.product_threads() is None

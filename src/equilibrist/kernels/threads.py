"""The number of threads that kernels and NumPy's products of matrices use.

Kernels ask Numba for its number (`team.py`). Products of matrices are computed by the BLAS library
that NumPy was built with, which has a number of its own for the whole process.
"""

from __future__ import annotations

import ctypes
import functools
from typing import Any

import numba
from numpy.linalg import _umath_linalg

# OpenBLAS in NumPy's wheels, as Linux distributions build it, and Intel's library.
_BLAS = (
    ("scipy_openblas_set_num_threads64_", "scipy_openblas_get_num_threads64_"),
    ("openblas_set_num_threads64_", "openblas_get_num_threads64_"),
    ("openblas_set_num_threads", "openblas_get_num_threads"),
    ("MKL_Set_Num_Threads", "MKL_Get_Max_Threads"),
)


def use_threads(threads: int) -> None:
    """Let kernels called by this thread, and all products of matrices, use a number of threads.

    A BLAS library that is not known here keeps its own number.
    """
    numba.set_num_threads(threads)
    if (found := _blas()) is not None:
        found[0](ctypes.c_int(threads))


def product_threads() -> int | None:
    """Return the number of threads of products of matrices; None if it is not known."""
    found = _blas()
    return None if found is None else int(found[1]())


@functools.cache
def _blas() -> tuple[Any, Any] | None:
    """Return the functions that set and return the number of threads of NumPy's BLAS library."""
    try:  # a library also finds the functions of those that it is linked with
        library = ctypes.CDLL(_umath_linalg.__file__)
    except (AttributeError, OSError, TypeError):
        return None
    for setter, getter in _BLAS:
        if hasattr(library, setter) and hasattr(library, getter):
            return getattr(library, setter), getattr(library, getter)
    return None

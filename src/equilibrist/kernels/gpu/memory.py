"""Arrays in the memory of the GPU: those of CuPy, or of NumPy where Numba simulates the GPU.

NumPy's functions accept arrays of CuPy and return such arrays (NEP 18 and 35), so code that only
calls them, with `like=` where it creates arrays, runs on either device.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from equilibrist.kernels.gpu.device import cuda, cupy, errors_of_memory, is_simulated


def empty(shape: int | tuple[int, ...] = 0, dtype: Any = np.float64) -> Any:
    """Return an array on the GPU whose numbers are not set."""
    return np.empty(shape, dtype) if is_simulated() else cupy().empty(shape, dtype)


def upload(array: NDArray[Any]) -> Any:
    """Return a contiguous copy of an array on the GPU."""
    if is_simulated():
        return np.array(array, order="C")
    with errors_of_memory(f"an array of {array.nbytes:,} bytes"):
        return cupy().asarray(array, order="C")


def for_kernels(array: NDArray[Any]) -> Any:
    """Return a copy of an array on the GPU that only kernels read, in tuples of their arguments."""
    return np.ascontiguousarray(array) if is_simulated() else cuda().to_device(array)


def download(array: Any) -> NDArray[Any]:
    """Return an array in the memory of the CPU: itself, or a copy of one on the GPU."""
    return array.get() if hasattr(array, "get") else np.asarray(array)

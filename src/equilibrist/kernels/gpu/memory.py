"""Arrays in the memory of the GPU, and kernels with a thread for each of their numbers.

The arrays are those of CuPy, or of NumPy where Numba simulates the GPU. NumPy's functions accept
arrays of CuPy and return such arrays (NEP 18 and 35), so code that only calls them, with `like=`
where it creates arrays, runs on either device.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from equilibrist.kernels.gpu.device import cuda, cupy, errors_of_memory, is_simulated

_BLOCK = 128  # threads of a block
_MOST_BLOCKS = 65_535  # along y


def empty(shape: int | tuple[int, ...] = 0, dtype: Any = np.float64) -> Any:
    """Return an array on the GPU whose numbers are not set."""
    return np.empty(shape, dtype) if is_simulated() else cupy().empty(shape, dtype)


def upload(array: NDArray[Any]) -> Any:
    """Return a contiguous copy of an array on the GPU."""
    if is_simulated():
        return np.array(array, order="C")
    with errors_of_memory(f"an array of {array.nbytes:,} bytes"):
        return cupy().asarray(array, order="C")


def download(array: Any) -> NDArray[Any]:
    """Return an array in the memory of the CPU: itself, or a copy of one on the GPU."""
    return array.get() if is_array_on_gpu(array) else np.asarray(array)


def is_array_on_gpu(array: Any) -> bool:
    """Return whether an array is one of CuPy, or stands for one in the simulator."""
    return hasattr(array, "get")


def for_kernels(array: NDArray[Any]) -> Any:
    """Return a copy of an array on the GPU that only kernels read."""
    return np.array(array) if is_simulated() else cuda().to_device(array)


def views(*arrays: Any) -> tuple[Any, ...]:
    """Return arrays as kernels take them, which saves Numba the conversion at each launch."""
    if is_simulated():
        return arrays
    return tuple(cuda().as_cuda_array(array, sync=False) for array in arrays)


def launch(kernel: Any, states: int, rows: int, *arguments: Any) -> None:
    """Run a kernel with a thread per state along x, in `rows` rows of blocks along y.

    A kernel strides over rows by `gridDim.y`, since there may be more rows than blocks; the
    simulator, which starts a thread of Python for each thread, has one row of blocks.
    """
    if states == 0 or rows == 0:
        return
    block = min(_BLOCK, states) if is_simulated() else _BLOCK
    grid = (-(-states // block), 1 if is_simulated() else min(rows, _MOST_BLOCKS))
    kernel[grid, block](*arguments)

"""Products of many small matrices at once: cuBLAS, or NumPy in the simulator."""

from __future__ import annotations

from typing import Any

import numpy as np

from equilibrist.kernels.gpu import device

# Numbers of cuBLAS's interface.
_KINDS = {np.dtype(np.float16): 2, np.dtype(np.float32): 0}
_COMPUTE_32F, _DEFAULT_ALGORITHM = 68, -1


def multiply(
    left: Any, right: Any, out: Any, *, is_transposed: bool = False, is_added: bool = False
) -> None:
    """Write `left` [C, M, J] · `right` [C, J, N], or [C, N, J] transposed, into `out` [C, M, N].

    Or add the product to `out`. Numbers are float16 or float32, sums float32; the last axis of each
    array is contiguous.
    """
    if device.is_simulated():
        second = right.transpose(0, 2, 1) if is_transposed else right
        product = np.matmul(left.astype(np.float32), second.astype(np.float32))
        out[:] = product + out if is_added else product
        return
    cublas = device.cupy().cuda.cublas
    handle = device.cupy().cuda.device.get_cublas_handle()
    alpha, beta = np.ones(1, np.float32), np.full(1, is_added, np.float32)
    (number, rows, inner), columns = left.shape, out.shape[2]
    # cuBLAS counts by columns: its `a` is `right`, its `b` is `left`, both transposed.
    cublas.gemmStridedBatchedEx(
        handle, int(is_transposed), 0,
        columns, rows, inner,
        alpha.ctypes.data,
        right.data.ptr, _KINDS[right.dtype], *_strides(right),
        left.data.ptr, _KINDS[left.dtype], *_strides(left),
        beta.ctypes.data,
        out.data.ptr, _KINDS[out.dtype], *_strides(out),
        number, _COMPUTE_32F, _DEFAULT_ALGORITHM,
    )  # fmt: skip


def _strides(array: Any) -> tuple[int, int]:
    """Return the numbers of elements between rows and between matrices."""
    size = array.dtype.itemsize
    return array.strides[1] // size, array.strides[0] // size

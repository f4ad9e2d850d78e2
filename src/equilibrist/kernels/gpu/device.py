"""The GPU of this machine: whether there is one, its memory, and the libraries that use it.

Each function raises `DeviceError` with one sentence if what it needs is missing.
"""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np

from equilibrist.errors import DeviceError

_INSTALL = "install the extra gpu: pip install -c constraints.txt '.[gpu]'"


@functools.cache
def cuda() -> ModuleType:
    """Return the module `numba.cuda`, after a check that a GPU answers."""
    if not hasattr(np, "row_stack"):  # numba-cuda 0.30 uses it; NumPy 2.5 has removed it
        np.row_stack = np.vstack  # noqa: NPY201
    try:
        from numba import cuda as module
    except ImportError as error:
        raise DeviceError(f"no GPU can be used: {error}; {_INSTALL}") from None
    if is_simulated():
        return module
    try:
        module.current_context()
    except Exception as error:
        raise DeviceError(f"no GPU can be used: {_reason(error)}") from None
    from numba import config

    config.CUDA_LOW_OCCUPANCY_WARNINGS = 0
    return module


def _reason(error: Exception) -> str:
    """Return the first sentence of an error of the driver, which may be long."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    while len(lines) > 1 and lines[0].endswith(":"):
        del lines[0]
    return lines[0].rstrip(".:") if lines else type(error).__name__


@functools.cache
def cupy() -> ModuleType:
    """Return the module `cupy`."""
    try:
        import cupy as module
    except ImportError as error:
        raise DeviceError(f"CuPy is missing ({error}); {_INSTALL}") from None
    return module


def is_simulated() -> bool:
    """Return whether Numba simulates the GPU."""
    return os.environ.get("NUMBA_ENABLE_CUDASIM", "0") not in ("", "0")


def has_gpu() -> bool:
    """Return whether this machine has a GPU that can be used, or simulates one."""
    try:
        cuda()
    except DeviceError:
        return False
    return True


def free_bytes() -> int:
    """Return the bytes of free memory of the GPU."""
    if is_simulated():
        return 1 << 34
    free, _ = cuda().current_context().get_memory_info()
    return int(free)


def device_name() -> str:
    """Return the name of the GPU, for messages."""
    if is_simulated():
        return "Numba's simulator of a GPU"
    name = cuda().get_current_device().name
    return name.decode() if isinstance(name, bytes) else str(name)


@contextlib.contextmanager
def errors_of_memory(what: str) -> Iterator[None]:
    """Raise `DeviceError` instead of the libraries' errors if the GPU's memory is short."""
    try:
        yield
    except Exception as error:
        text = f"{type(error).__name__}: {error}"
        if not any(word in text for word in ("OUT_OF_MEMORY", "OutOfMemory", "out of memory")):
            raise
        raise DeviceError(f"the memory of the GPU is too small for {what}") from error


def jit(function: Any = None, **options: Any) -> Any:
    """Compile a kernel for the GPU when it is first launched; the simulator runs it as it is."""
    if function is None:
        return functools.partial(jit, **options)
    cached = {} if is_simulated() else {"cache": True}
    return cuda().jit(function, **cached, **options)


def part(function: Any) -> Any:
    """Compile a function that only kernels call."""
    return cuda().jit(function, device=True)

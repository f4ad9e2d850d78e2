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

_MAJOR = 1000  # of a version of CUDA: 12040 is 12.4
_USUAL_SHARED = 48 << 10  # bytes of dynamic shared memory that any kernel may have
_DRIVER = "install NVIDIA's driver"
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
        raise DeviceError(f"no GPU can be used: {_reason(error)}; {_DRIVER}") from None
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
    """Return the module `cupy`, after a check that the driver is new enough for it."""
    try:
        import cupy as module
    except ImportError as error:
        raise DeviceError(f"CuPy is missing ({error}); {_INSTALL}") from None
    try:
        has, needs = (
            module.cuda.runtime.driverGetVersion(),
            module.cuda.runtime.runtimeGetVersion(),
        )
    except Exception as error:
        raise DeviceError(f"CuPy cannot use the GPU: {_reason(error)}; {_DRIVER}") from None
    if has // _MAJOR < needs // _MAJOR:
        raise DeviceError(
            f"the driver of the GPU supports CUDA {_version(has)} and CuPy was built for "
            f"{_version(needs)}; install a newer driver, or CuPy for CUDA {has // _MAJOR}"
        )
    return module


def _version(number: int) -> str:
    """Return a version of CUDA as it is written: 12040 is 12.4."""
    return f"{number // _MAJOR}.{number % _MAJOR // 10}"


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


def launch(kernel: Any, grid: Any, block: Any, shared_bytes: int, *arguments: Any) -> None:
    """Launch a kernel with dynamic shared memory, also with more than the usual 48 KB."""
    if shared_bytes >= _USUAL_SHARED and not is_simulated():
        _allow_shared(kernel, shared_bytes, arguments)
    kernel[grid, block, 0, shared_bytes](*arguments)


def _allow_shared(kernel: Any, shared_bytes: int, arguments: tuple[Any, ...]) -> None:
    """Raise a kernel's limit of dynamic shared memory, for which numba-cuda has no option."""
    compiled = kernel.compile(tuple(map(kernel.typeof_pyval, arguments)))
    if getattr(compiled, "allowed_shared", 0) >= shared_bytes:
        return
    from numba.cuda.cudadrv import driver

    function = compiled.library.get_cufunc()
    name = "CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES"
    attribute = getattr(driver.binding.CUfunction_attribute, name)
    try:
        driver.driver.cuKernelSetAttribute(
            attribute, shared_bytes, function.handle, function.device.id
        )
    except driver.CudaAPIError:
        raise DeviceError(
            f"the GPU has less than {shared_bytes:,} bytes of shared memory per block; "
            "use the device cpu"
        ) from None
    compiled.allowed_shared = shared_bytes

"""What is said where a GPU, its driver or its libraries are missing, with stubs in their place."""

import sys
from types import SimpleNamespace

import numba
import pytest

from equilibrist.errors import DeviceError
from equilibrist.kernels.gpu import device

NO_DRIVER = """Error at driver init:

CUDA driver library cannot be found.
If you are sure that a CUDA driver is installed, try another path.
:"""


@pytest.fixture(autouse=True)
def afresh(monkeypatch):
    """Nothing is simulated, and what was found earlier is forgotten, before and after."""
    monkeypatch.delenv("NUMBA_ENABLE_CUDASIM", raising=False)
    for function in (device.cuda, device.cupy):
        function.cache_clear()
    yield
    for function in (device.cuda, device.cupy):
        function.cache_clear()


def raising(error):
    def function():
        raise error

    return function


def stub_cupy(monkeypatch, driver, runtime):
    found = SimpleNamespace(driverGetVersion=driver, runtimeGetVersion=lambda: runtime)
    module = SimpleNamespace(cuda=SimpleNamespace(runtime=found))
    monkeypatch.setitem(sys.modules, "cupy", module)
    return module


def test_without_a_driver_it_says_what_to_install(monkeypatch):
    module = SimpleNamespace(current_context=raising(RuntimeError(NO_DRIVER)))
    monkeypatch.setattr(numba, "cuda", module, raising=False)
    monkeypatch.setitem(sys.modules, "numba.cuda", module)
    with pytest.raises(DeviceError) as caught:
        device.cuda()
    expected = "CUDA driver library cannot be found; install NVIDIA's driver"
    assert str(caught.value) == f"no GPU can be used: {expected}"
    assert not device.has_gpu()


def test_without_cupy_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(DeviceError, match=r"CuPy is missing .*; install the extra gpu: pip insta"):
        device.cupy()


def test_an_older_driver_is_named_with_what_would_fit(monkeypatch):
    stub_cupy(monkeypatch, lambda: 12040, 13000)
    with pytest.raises(DeviceError) as caught:
        device.cupy()
    assert str(caught.value) == (
        "the driver of the GPU supports CUDA 12.4 and CuPy was built for 13.0; install a newer "
        "driver, or CuPy for CUDA 12"
    )


@pytest.mark.parametrize("driver", [13000, 13010, 14000])
def test_a_driver_of_the_same_or_a_later_version_is_accepted(driver, monkeypatch):
    module = stub_cupy(monkeypatch, lambda: driver, 13020)
    assert device.cupy() is module


def test_a_driver_that_cupy_cannot_ask_is_one_sentence(monkeypatch):
    error = RuntimeError("cudaErrorInsufficientDriver: the version is insufficient")
    stub_cupy(monkeypatch, raising(error), 13000)
    with pytest.raises(DeviceError, match=r"CuPy cannot use the GPU: cudaError.*; install NVIDIA"):
        device.cupy()


class OutOfMemoryError(MemoryError):
    """CuPy's class of this name derives from `MemoryError` too."""


@pytest.mark.parametrize(
    "error",
    [
        OutOfMemoryError("Out of memory allocating 512 bytes"),
        RuntimeError("[CUresult.CUDA_ERROR_OUT_OF_MEMORY] Call to cuMemAlloc failed"),
    ],
)
def test_short_memory_of_a_gpu_is_one_error_for_both_libraries(error):
    with (
        pytest.raises(DeviceError, match="memory of the GPU is too small for this"),
        device.errors_of_memory("this"),
    ):
        raise error


def test_other_errors_stay_as_they_are():
    with pytest.raises(MemoryError, match="Unable to allocate"), device.errors_of_memory("this"):
        raise MemoryError("Unable to allocate 3 GiB")

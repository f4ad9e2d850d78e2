"""Games of buckets on the GPU: the checks of `gpu_buckets.py`, simulated or on a device."""

from pathlib import Path

import pytest

from gpu import names, results

SCRIPT = Path(__file__).with_name("gpu_buckets.py")


@pytest.fixture(scope="module")
def simulated():
    return results(SCRIPT, simulated=True)


@pytest.fixture(scope="module")
def real():
    return results(SCRIPT, simulated=False)


@pytest.mark.parametrize("check", names(SCRIPT))
def test_in_the_simulator(check, simulated):
    assert simulated[check] == ""


@pytest.mark.gpu
@pytest.mark.parametrize("check", names(SCRIPT))
def test_on_a_gpu(check, real):
    assert real[check] == ""

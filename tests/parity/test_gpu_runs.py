"""Runs that end early on a GPU: the checks of `gpu_runs.py`, simulated or on a device."""

from pathlib import Path

import pytest

from gpu import names, results

SCRIPT = Path(__file__).with_name("gpu_runs.py")


@pytest.fixture(scope="module")
def simulated():
    return results(SCRIPT, simulated=True)


@pytest.fixture(scope="module")
def real():
    return results(SCRIPT, simulated=False)


@pytest.mark.slow
@pytest.mark.parametrize("check", names(SCRIPT))
def test_in_the_simulator(check, simulated):
    assert simulated[check] == ""


@pytest.mark.gpu
@pytest.mark.parametrize("check", names(SCRIPT))
def test_on_a_gpu(check, real):
    assert real[check] == ""

"""The engine gpu of split games: the checks of a script, simulated or on a device."""

from pathlib import Path

import pytest

from gpu import names, results

CHECKS = Path(__file__).with_name("gpu_subgames.py")


@pytest.fixture(scope="module")
def simulated():
    return results(CHECKS, simulated=True)


@pytest.fixture(scope="module")
def real():
    return results(CHECKS, simulated=False)


@pytest.mark.slow
@pytest.mark.parametrize("check", names(CHECKS))
def test_in_the_simulator(check, simulated):
    assert simulated[check] == ""


@pytest.mark.gpu
@pytest.mark.parametrize("check", names(CHECKS))
def test_on_a_gpu(check, real):
    assert real[check] == ""

"""Real-game best responses on the GPU: the checks of two scripts, simulated or on a device."""

from pathlib import Path

import pytest

from gpu import names, results

QUICK, BUCKETS = (
    Path(__file__).with_name(name) for name in ("gpu_real_game.py", "gpu_real_game_buckets.py")
)


@pytest.fixture(scope="module")
def simulated():
    return results(QUICK, simulated=True)


@pytest.fixture(scope="module")
def simulated_buckets():
    return results(BUCKETS, simulated=True)


@pytest.fixture(scope="module")
def real():
    return results(QUICK, simulated=False) | results(BUCKETS, simulated=False)


@pytest.mark.parametrize("check", names(QUICK))
def test_in_the_simulator(check, simulated):
    assert simulated[check] == ""


@pytest.mark.slow
@pytest.mark.parametrize("check", names(BUCKETS))
def test_buckets_in_the_simulator(check, simulated_buckets):
    assert simulated_buckets[check] == ""


@pytest.mark.gpu
@pytest.mark.parametrize("check", names(QUICK) + names(BUCKETS))
def test_on_a_gpu(check, real):
    assert real[check] == ""

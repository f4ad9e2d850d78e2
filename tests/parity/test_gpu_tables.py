"""Kernels of spots on the GPU, run by Numba's simulator or on a device, compared with the CPU's.

The simulator is chosen when Numba is imported, so the cases (`simulated_gpu.py`) run in processes
of their own.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

CASES = Path(__file__).with_name("simulated_gpu.py")
QUICK = (
    "sweep river 32",
    "sweep river 16",
    "resume",
    "moved",
    "small_numbers",
    "damage",
    "refused",
)
SLOW = (
    "sweep turn 32", "sweep turn 32 1 1", "sweep turn 16", "sweep flop 32", "sweep locked 32",
    "sweep raked 32", "float64", "solved",
)  # fmt: skip


def run(*cases, simulated=True):
    command = [sys.executable, *(["-W", "error"] if simulated else []), str(CASES), *cases]
    found = subprocess.run(
        command, capture_output=True, text=True, timeout=1500,
        env=os.environ | {"NUMBA_ENABLE_CUDASIM": str(int(simulated))},
    )  # fmt: skip
    assert found.returncode == 0, found.stderr[-3000:]
    assert found.stdout.splitlines() == [f"{case}: passed" for case in cases]


def test_the_simulated_gpu_plays_as_the_cpu():
    run(*QUICK)


@pytest.mark.slow
@pytest.mark.parametrize("case", SLOW)
def test_the_simulated_gpu_plays_larger_games_as_the_cpu(case):
    run(case)


@pytest.mark.gpu
def test_a_gpu_plays_as_the_cpu():
    run(*QUICK, *SLOW, simulated=False)

"""A training killed at random moments ends with the arrays of one that was never killed."""

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from equilibrist.storage.artefact import open_artefact

BOT = """
from equilibrist.strategies.bots import BOTS, Bot
BOTS["tiny"] = Bot(
    "tiny", "Buckets of few cards", recipe="percentile", buckets=(2, 8, 32, 64),
    max_raises="3 3 3 3", target=5.0, game="royal-holdem",
)
from equilibrist.cli import main
main()
"""
PARTS = ("buckets", "counts", "solution", "strategy")


def begin(folder: Path) -> subprocess.Popen:
    command = [sys.executable, "-c", BOT, "train", "tiny", "--out", str(folder)]
    return subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=os.environ
    )


def whole(folder: Path) -> None:
    """Train without a kill."""
    process = begin(folder)
    error = process.communicate()[1]
    assert process.returncode == 0, error


def writings(folder: Path) -> set[tuple[str, int]]:
    """Files in a folder and when they were written."""
    found = set()
    for path in folder.rglob("*"):
        with contextlib.suppress(FileNotFoundError):  # removed since
            found.add((str(path), path.stat().st_mtime_ns))
    return found


@pytest.mark.slow
def test_a_training_killed_at_random_ends_with_the_same_arrays(tmp_path):
    """Every kill falls within half a second after something was written."""
    whole(tmp_path / "whole")  # and all is compiled: no kill falls into that, over and over
    rng, kills, written = random.Random(5), 0, set()
    while kills < 20:
        before = writings(tmp_path / "killed")
        process = begin(tmp_path / "killed")
        while process.poll() is None and writings(tmp_path / "killed") == before:
            time.sleep(0.002)
        time.sleep(rng.random() / 2)
        process.kill()
        process.communicate()
        if process.returncode != -signal.SIGKILL:
            break  # it was done before
        kills += 1
        written |= {part for part in PARTS if (tmp_path / "killed" / part).exists()}
    assert kills > 3
    assert written >= {"buckets", "counts", "solution"}
    whole(tmp_path / "killed")
    for part in PARTS:
        found, wanted = (open_artefact(tmp_path / name / part) for name in ("killed", "whole"))
        found.verify()
        assert found.arrays.keys() == wanted.arrays.keys()
        for name, array in wanted.arrays.items():
            columns = np.s_[:, [0, 2, 3, 4, 5]] if name == "trace" else np.s_[...]  # not seconds
            assert np.array_equal(found.arrays[name][columns], array[columns]), name

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
from equilibrist.bots.bot import BucketBot
from equilibrist.bots.registry import BOTS
BOTS.add(BucketBot(
    "tiny", "Buckets of few cards", recipe="percentile", buckets=(2, 8, 32, 64),
    max_raises="3 3 3 3", target=2.0, game="royal-holdem",
))
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
    """Killed just after something was written: buckets, counts, the solution, and that again."""
    whole(tmp_path / "whole")  # and all is compiled: no kill falls into that, over and over
    rng, killed = random.Random(5), tmp_path / "killed"
    for part in ("buckets", "counts", "solution", "solution", "solution"):
        before = writings(killed / part)
        process = begin(killed)
        while process.poll() is None and writings(killed / part) == before:
            time.sleep(0.002)
        time.sleep(rng.random() / 20)
        process.kill()
        process.communicate()
        assert process.returncode == -signal.SIGKILL, f"done before {part} was written"
    whole(tmp_path / "killed")
    for part in PARTS:
        found, wanted = (open_artefact(tmp_path / name / part) for name in ("killed", "whole"))
        found.verify()
        assert found.arrays.keys() == wanted.arrays.keys()
        for name, array in wanted.arrays.items():
            columns = np.s_[:, [0, 2, 3, 4, 5]] if name == "trace" else np.s_[...]  # not seconds
            assert np.array_equal(found.arrays[name][columns], array[columns]), name

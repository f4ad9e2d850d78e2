"""Checks of runs that are killed or run out of memory on a GPU; `test_gpu_runs.py` runs them."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).parents[1]))

from equilibrist.abstraction.joint_counts import joint
from equilibrist.abstraction.recipes import build
from equilibrist.errors import DeviceError
from equilibrist.games.bet_menu import BetMenu
from equilibrist.games.catalog import get_game
from equilibrist.kernels.gpu import device
from equilibrist.solving.best_response import evaluate
from equilibrist.solving.cfr import CFR
from equilibrist.solving.solution_run import Store
from equilibrist.solving.solve import Budget, Run, solve
from equilibrist.storage.checkpoint import CheckpointClock
from equilibrist.strategies.description import BucketDescription
from equilibrist.strategies.solution import Solution
from gpu import main, prepare_simulator

MANY = 1_000_000  # iterations: more than a run has before it is killed
PATIENCE = 300.0  # seconds until the first checkpoint
SPOT = (
    "spot", "--board", "Td9d6hQc2s", "--oop", "AA,QJs", "--ip", "KK,76s", "--pot", "200",
    "--stack", "200", "--bets", "a",
)  # fmt: skip
prepare_simulator()


def start(*arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "equilibrist", *arguments]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ
    )


def run(*arguments: str) -> dict:
    """Run a command to its end; return what it prints as JSON."""
    process = start(*arguments, "--json")
    answer, error = process.communicate()
    assert process.returncode == 0, error
    return json.loads(answer)


def iterations(folder: Path) -> int:
    return int(json.loads((folder / "manifest.json").read_text())["info"]["iterations"])


def kill_after_a_checkpoint(folder: Path, *arguments: str) -> int:
    """Start a run, kill it once a checkpoint is there; return the iteration of that."""
    process = start(*arguments, "--out", str(folder), "--iterations", str(MANY))
    end = time.monotonic() + PATIENCE
    while not (folder / "manifest.json").exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end, "no checkpoint was written"
        time.sleep(0.01)
    time.sleep(0.1)
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    return iterations(folder)


def check_a_killed_spot_continues_on_the_other_device() -> None:
    for first, second in (("gpu", "cpu"), ("cpu", "gpu")):
        with tempfile.TemporaryDirectory() as home:
            folder = Path(home) / "spot"
            done = kill_after_a_checkpoint(folder, *SPOT, "--device", first)
            assert done > 0
            more = ("--iterations", str(done + 3), "--resume", "--device", second)
            run(*SPOT, "--out", str(folder), *more)
            assert iterations(folder) == done + 3
            run("verify", str(folder))


def check_a_killed_game_of_buckets_continues_on_the_other_device() -> None:
    for first, second in (("gpu", "cpu"), ("cpu", "gpu")):
        with tempfile.TemporaryDirectory() as home:
            described(Path(home))
            folder = Path(home) / "solution"
            counts = ("--joint", str(Path(home) / "counts"))
            what = ("solve", str(Path(home) / "buckets"), *counts)
            done = kill_after_a_checkpoint(folder, *what, "--device", first)
            more = ("--iterations", str(done + 3), "--resume", "--device", second)
            run(*what, "--out", str(folder), *more)
            assert iterations(folder) == done + 3
            run("verify", str(folder))


def described(folder: Path) -> BucketDescription:
    """Return the description of a game of buckets whose parts are in a folder."""
    found = build("percentile", get_game("leduc"), [2, 4])
    parents = {"first": found.save(folder / "buckets")}
    joint(found).save(folder / "counts", parents)
    return BucketDescription.of(folder / "buckets", folder / "counts", BetMenu())


@contextlib.contextmanager
def short_memory() -> Iterator[None]:
    """Leave the GPU no memory; the simulator fails in the words of CuPy."""
    if device.is_simulated():
        error = MemoryError("CUDA_ERROR_OUT_OF_MEMORY: cuMemAlloc failed")
        with mock.patch("equilibrist.kernels.gpu.products.empty", side_effect=error):
            yield
        return
    pool = device.cupy().get_default_memory_pool()
    pool.free_all_blocks()
    pool.set_limit(size=max(1, pool.used_bytes()))
    try:
        yield
    finally:
        pool.set_limit(size=0)


def check_memory_that_gets_short_leaves_the_last_checkpoint() -> None:
    """The run ends with one sentence, and continues on the CPU as if nothing had happened."""
    solver = CFR()
    with tempfile.TemporaryDirectory() as home, contextlib.ExitStack() as later:
        description = described(Path(home))
        game = description.build()
        gpu = game.on("gpu")
        store = Store(Path(home) / "solution", gpu, description, solver, 0, "float64")

        def use_all(so_far: Run) -> None:
            if int(so_far.state["iteration"]) == 4:
                later.enter_context(short_memory())

        always = mock.patch.object(CheckpointClock, "is_due", return_value=True)
        try:
            with always:
                budget = Budget(iterations=9, every=2)
                solve(gpu, solver, budget, save=store.save, watch=use_all)
        except DeviceError as error:
            text = str(error)
        assert text == (
            f"the memory of the GPU is too small for cfr+ on {game.name}; the last checkpoint is "
            "from iteration 4; continue on the device cpu"
        ), text
        later.close()
        near = Store(Path(home) / "solution", game, description, solver, 0, "float64")
        solve(game, solver, Budget(iterations=9), run=near.resume(), save=near.save)
        plans = tuple(Solution.load(Path(home) / "solution", in_memory=True).plans)
        whole = solve(game, solver, Budget(iterations=9)).evaluation
        assert abs(evaluate(game, plans).exploitability - whole.exploitability) < 1e-12


if __name__ == "__main__":
    main(globals())

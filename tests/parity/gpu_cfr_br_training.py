"""A training by CFR-BR on the GPU, against one on the CPU; `test_gpu_cfr_br.py` runs it.

Arrays of the simulator are strict (`gpu_buckets`), so every step of a training must treat arrays of
CuPy as such: the iterations, the measurement, the rounding, and the folder that it resumes from.
"""

import contextlib
import shutil
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from unittest import mock

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))

import gpu_buckets
from gpu_real_game import BOARDS, FEW, SMALL

from equilibrist.bots import real_game_training
from equilibrist.bots.bot import RealGameBot
from equilibrist.bots.registry import BOTS
from equilibrist.bots.train import TrainingOptions, train
from equilibrist.evaluation.real_game.batched_gradients import batched_gradients
from equilibrist.evaluation.real_game.opponent import FlopOpponent
from equilibrist.games.catalog import GAMES, GameEntry
from equilibrist.storage.artefact import open_artefact
from gpu import main

BOT = RealGameBot(
    "nine",
    "nine cards against best responses, on one flop",
    game="nine",
    recipe="percentile",
    buckets=(2, 2, 4, 4),
    max_raises="1 1 1 1",
    target=1.0,
    flops=1,
    measured=6,
    iterations=1,  # after it, regrets that are zero but for rounding may be matched otherwise
    evaluate_every=1,
)
TIES = 0.03  # of the largest number: the opponent's choices between equals decide about as much
ROUNDING = 2**-7  # of checkpoints: numbers that differ in the last digits may be rounded apart


def single(game, buckets):
    """Engines of the GPU whose products have the digits of the CPU's tests."""
    if game.backend != "gpu":
        return None
    return batched_gradients(game.betting, buckets, "float32")


class OneFlop(FlopOpponent):
    """An opponent that is dealt one flop, because the simulator is slow."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self._measured = np.array([BOARDS.index(FEW)])

    def draw(self, iteration):
        return [FEW], np.array([1.0 + iteration])

    def seconds(self, plans):
        assert [type(plan) for plan in plans] == 2 * [type(plans[0])]
        return 1.0, 1.0


def trained(folder, device, bot=BOT):
    with contextlib.ExitStack() as stack:
        stack.enter_context(GAMES.added(GameEntry("nine", "nine cards", SMALL)))
        stack.enter_context(BOTS.added(bot))
        stack.enter_context(mock.patch.object(real_game_training, "FlopOpponent", OneFlop))
        stack.enter_context(mock.patch.object(real_game_training, "_engines", single))
        options = TrainingOptions(threads=1, device=device)
        return train("nine", folder, options=options).models[0].run


def check_a_training_has_the_numbers_of_the_cpu_and_continues_there():
    with tempfile.TemporaryDirectory() as home:
        near, far = Path(home) / "cpu", Path(home) / "gpu"
        trained(near, "cpu")
        shutil.copytree(near, far)
        for part in ("training", "solution", "strategy"):
            shutil.rmtree(far / part)
        trained(far, "gpu")
        wanted, found = (open_artefact(folder / "training").arrays for folder in (near, far))
        assert wanted.keys() == found.keys()
        for name, array in wanted.items():
            own = np.asarray(found[name])
            if array.dtype == np.uint16:
                array, own = (real_game_training.widened(part) for part in (array, own))
            assert np.isfinite(own).all()
            if name in ("gains", "latest"):  # what is won does not depend on ties
                np.testing.assert_allclose(own, array, 1e-4, err_msg=name)
            elif name != "trace":
                scale = np.abs(array).max()
                np.testing.assert_allclose(own, array, ROUNDING, TIES * scale, err_msg=name)
        run = trained(far, "cpu", replace(BOT, iterations=2))
        assert [row.iteration for row in run.trace] == [1, 2]
        assert not isinstance(run.state["regret0"], gpu_buckets.StrictArray)


if __name__ == "__main__":
    main(globals())

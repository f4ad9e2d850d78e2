"""Checks of best responses in the real game on the GPU; `test_gpu_real_game.py` runs them.

The GPU's numbers are those of the CPU, to the last bit.
"""

import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from equilibrist import stopping
from equilibrist.errors import DeviceError
from equilibrist.evaluation.real_game import run as runs
from equilibrist.evaluation.real_game.batches import BatchedResponses
from equilibrist.evaluation.real_game.response import Flops, Response, board_cards
from equilibrist.games.betting_tree import BettingTree
from equilibrist.games.catalog import get_game
from equilibrist.kernels.gpu import device
from equilibrist.strategies.played import FixedMix, IdentifiedStrategy
from gpu import main, prepare_simulator

SMALL = replace(
    get_game("holdem-limit"), name="nine cards", num_ranks=3, num_suits=3, max_raises=(1, 1, 1, 1)
)
BOARDS = [tuple(board.tolist()) for board in Flops.of(SMALL).boards]


def num_rivers(flop):
    turns = board_cards(SMALL, flop).following
    return sum(len(board_cards(SMALL, (*flop, card)).following) for card, _ in turns)


FEW = min(BOARDS, key=num_rivers)
prepare_simulator()


def both_seats(strategy):
    return Response(strategy, 0), Response(strategy, 1)


def assert_same(strategy, flops):
    responses = both_seats(strategy)
    found = dict(BatchedResponses(responses).computed(flops))
    assert list(found) == list(range(len(flops)))
    for place, flop in enumerate(flops):
        for response, own in zip(responses, found[place], strict=True):
            np.testing.assert_array_equal(own, response.flop_values(flop))


def check_mixes_on_all_flops_of_one_kind():
    assert_same(FixedMix(BettingTree.build(SMALL), (0.2, 0.5, 0.3)), BOARDS[:1])


def check_strategies_that_never_see_a_river():
    assert_same(FixedMix(BettingTree.build(SMALL), (1.0, 0.0, 0.0)), BOARDS[:1])


def check_runs_begin_on_one_device_and_end_on_the_other():
    strategy = FixedMix(BettingTree.build(SMALL), (0.1, 0.6, 0.3))
    named = IdentifiedStrategy("mix", strategy, "mix")
    responses = runs.responses_to(named)
    chosen, gpu = runs.on_device("auto", responses)
    assert chosen.name == "gpu"
    run, plain = (runs.open_or_start(named, responses, None) for _ in range(2))
    runs.run_flops(run, responses, np.array([1]), engine=gpu)
    assert run.is_done.sum() == 1
    runs.run_flops(run, responses, np.array([1, 2]))
    runs.run_flops(plain, responses, np.array([1, 2]))
    for one, two in zip(run.values, plain.values, strict=True):
        np.testing.assert_array_equal(one, two)


def check_no_batch_is_started_after_a_stop_was_requested():
    batched = BatchedResponses(both_seats(FixedMix(BettingTree.build(SMALL), (0.1, 0.6, 0.3))))
    with stopping.on_signals(lambda text: None) as stop:
        computed = batched.computed(BOARDS)
        assert next(computed)[0] == 0
        stop.request()
        assert list(computed) == []


def check_too_little_memory_is_one_sentence():
    responses = both_seats(FixedMix(BettingTree.build(SMALL), (0.1, 0.6, 0.3)))
    free = device.free_bytes
    device.free_bytes = lambda: 1 << 10
    try:
        chosen, gpu = runs.on_device("auto", responses)
        assert (chosen.name, gpu) == ("cpu", None)
        assert "GiB free; use the device cpu" in chosen.why
        try:
            runs.on_device("gpu", responses)
        except DeviceError:
            return
        raise AssertionError("the GPU was used without memory")
    finally:
        device.free_bytes = free


def check_memory_that_gets_short_keeps_the_flops_that_are_done():
    named = IdentifiedStrategy("mix", FixedMix(BettingTree.build(SMALL), (0.1, 0.6, 0.3)), "mix")
    responses = runs.responses_to(named)
    gpu = runs.on_device("gpu", responses)[1]
    rooms, respond = iter([False, False, True]), gpu._responder._respond  # both seats of a batch

    def first_batch_only(*arguments):
        if next(rooms):
            raise MemoryError("CUDA_ERROR_OUT_OF_MEMORY")
        return respond(*arguments)

    gpu._responder._respond = first_batch_only
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home) / "run"
        run = runs.open_or_start(named, responses, folder)
        try:
            runs.run_flops(run, responses, np.array([1, 2]), engine=gpu, folder=folder)
        except DeviceError as error:
            text = str(error)
        assert text.endswith("is too small for more flops; continue on the device cpu"), text
        again = runs.open_or_start(named, responses, folder)
        assert again.is_done.sum() == 1
        runs.run_flops(again, responses, np.array([1, 2]), folder=folder)
        assert again.is_done[[1, 2]].all()


if __name__ == "__main__":
    main(globals())

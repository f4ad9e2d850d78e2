"""Checks of the engine gpu against the engine threads; `test_gpu_subgames.py` runs them.

The game has 6 cards, three rounds and hands of two cards, because the simulator starts a thread of
Python for each thread of a GPU. Regrets start at random positive numbers: from zero, a regret that
is zero but for rounding decides for a hand, and two orders of the same sum play differently.
"""

import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from equilibrist.errors import DeviceError, InvalidValueError
from equilibrist.games.catalog import get_game
from equilibrist.models.game import BEST, EXPECTATION, REGRET
from equilibrist.models.split import Split
from equilibrist.solving.decomposed import DecomposedCFR
from equilibrist.solving.gpu_engine import GpuEngines
from equilibrist.solving.solve import Budget, solve
from equilibrist.solving.split_run import SplitRun, SplitSettings
from equilibrist.solving.subgame_engine import (
    AVERAGES,
    REGRETS,
    STILL,
    Kept,
    Key,
    MemoryTables,
    Order,
    Threads,
    zeros,
)
from gpu import main, prepare_simulator
from split_runs import go_on

prepare_simulator()

RULES = replace(
    get_game("holdem-limit"), name="six-cards", num_ranks=3, num_suits=2, max_raises=(1, 1, 1),
    raise_sizes=(10, 10, 20), first_players=(1, 0, 0), num_board_cards=(0, 1, 1), discards=(),
)  # fmt: skip

FEW = replace(RULES, name="six-cards-few-raises", max_raises=(1, 0, 1))


def begun(split, bits, seed=3):
    """Return tables after a first iteration: positive regrets, and averages."""
    found, rng = MemoryTables(split, bits), np.random.default_rng(seed)
    for subgame in range(split.num_subgames):
        for half in (0, 1):
            tables = {}
            for key in (Key("regret", half), Key("average", 1 - half)):
                own = zeros(split, subgame, key, bits)
                for array in own:
                    most = 30_000 if array.dtype.kind == "i" else 1
                    array[:] = (rng.random(len(array)) + 0.1) / 1.1 * most
                tables[key] = own
            found.kept[subgame, half] = Kept(half + 1, tables, np.zeros(0))
    return found


def solvers(split, bits, current=False):
    """Return solvers by threads and by the GPU with equal tables, and their states."""
    for make in (Threads, GpuEngines.checked(0).in_memory):
        tables = begun(split, bits)
        engine = make(tables, split) if make is Threads else make(split, bits)
        engine.tables.kept.update(tables.kept)
        solver = DecomposedCFR(split, engine, bits=bits, current=current)
        state, rng = solver.init(split.trunk), np.random.default_rng(5)
        state["iteration"][...] = 1
        for player in (0, 1):
            regret = state[f"regret{player}"]
            regret[:] = rng.random(len(regret)) + 0.1
            behaviour = state[f"behaviour{player}"]
            split.trunk.realize(player, behaviour, state[f"plan{player}"])
        yield solver, state


def orders():
    """Return an iteration's halves, and what `evaluate` asks for, after the first iteration."""
    row = (0.9, 0.5, 0.0, 2.0)
    yield Order(2, ((0, REGRET),), row, REGRETS)
    yield Order(3, ((1, REGRET),), row, REGRETS)
    yield Order(4, ((1, EXPECTATION), (0, BEST), (1, BEST)), STILL, AVERAGES)


def compare_subgames(after, only, bits, tolerance):
    """Tables and values of some subgames are the same, whatever the reaches are."""
    split, rng = Split.of(RULES, after), np.random.default_rng(1)
    (near, _), (far, _) = solvers(split, bits)
    for order in orders():
        reaches = rng.random((len(order.halves), split.start[-1]))
        values = [solver.engine.sweep(order, reaches, only) for solver in (near, far)]
        np.testing.assert_allclose(*values, rtol=0, atol=tolerance)
        assert np.abs(values[0]).max() > 0.01


def compare(after, bits, tolerance, iterations=1, current=False):
    """Trunks, values and best responses are the same after some iterations."""
    split = Split.of(FEW, after)
    (near, ours), (far, theirs) = solvers(split, bits, current)
    for solver, state in ((near, ours), (far, theirs)):
        solver.step(split.trunk, state, iterations)
    for name, array in ours.items():
        np.testing.assert_allclose(theirs[name], array, rtol=0, atol=tolerance, err_msg=name)
    expected, found = near.evaluate(split.trunk, ours), far.evaluate(split.trunk, theirs)
    values = (found.value, *found.best_response), (expected.value, *expected.best_response)
    np.testing.assert_allclose(*values, rtol=0, atol=tolerance)
    assert expected.exploitability > 0.01


def check_a_subgame():
    compare_subgames("flop", [4], 64, 1e-12)


def check_subgames_after_preflop():
    compare_subgames("preflop", [1], 64, 1e-12)


def check_sixteen_bits():
    compare_subgames("flop", [0, 4], 16, 5e-3)


def check_a_split_after_the_flop():
    compare("flop", 64, 1e-9, iterations=2)


def check_a_split_after_preflop():
    compare("preflop", 64, 1e-9)


def check_current_strategies():
    compare("flop", 64, 1e-9, current=True)


def check_a_run_on_a_disk_changes_its_engine():
    split = Split.of(FEW, "flop")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "run"
        run = SplitRun.begin(place, split, SplitSettings("flop", "cfr+"))
        go_on(run, 3)
        for make in (GpuEngines.checked(0).on_disks, None):
            stored = SplitRun.open(place, for_resume=True, make_engine=make)
            go_on(stored, int(stored.run().state["iteration"]) + 1)
        found = SplitRun.verified(place).run()
        assert found.state["iteration"] == 5
        exact = solve(split.trunk, DecomposedCFR.of(split), Budget(iterations=5)).evaluation
        assert abs(found.evaluation.value - exact.value) < 0.05
        stored = SplitRun.open(place, make_engine=GpuEngines.checked(0).on_disks)
        again = stored.solver.evaluate(split.trunk, found.state)
        theirs = found.evaluation.best_response
        np.testing.assert_allclose(again.best_response, theirs, rtol=0, atol=1e-9)


def check_too_little_memory_is_said_before():
    with pytest.raises(InvalidValueError, match="six-cards needs on the GPU"):
        GpuEngines.checked(1 << 50).in_memory(Split.of(RULES, "flop"), 32)


def check_games_of_one_card_are_refused():
    with pytest.raises(DeviceError, match="two-card hands only, not leduc"):
        GpuEngines.checked(0).in_memory(Split.of(get_game("leduc"), "preflop"), 64)


if __name__ == "__main__":
    main(globals())

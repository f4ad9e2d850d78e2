"""Checks of games of buckets on the GPU against the CPU; `test_gpu_buckets.py` runs them.

In the simulator there is no CuPy. Arrays are then of a class that refuses what CuPy refuses: to be
mixed with plain arrays of NumPy without an explicit conversion.
"""

import functools
import importlib
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from equilibrist.abstraction.joint_counts import Joint, joint
from equilibrist.abstraction.recipes import build
from equilibrist.errors import InvalidValueError
from equilibrist.games.bet_menu import BetMenu
from equilibrist.games.catalog import get_game
from equilibrist.kernels.gpu import device, memory
from equilibrist.models.bucketed import bucket_game
from equilibrist.models.endings import Showdown
from equilibrist.models.exact import exact_game
from equilibrist.models.game import BEST, EXPECTATION, REGRET, SOFTMAX, SequenceGame
from equilibrist.papers.range_of_skill.solver import RangeOfSkill
from equilibrist.solving.best_response import best_response, evaluate
from equilibrist.solving.cfr import CFR, CFR_VARIANTS
from equilibrist.solving.excessive_gap import ExcessiveGap
from equilibrist.solving.solution_run import Store
from equilibrist.solving.solve import Budget, solve
from equilibrist.strategies.description import BucketDescription
from equilibrist.strategies.solution import Solution
from gpu import main, prepare_simulator

prepare_simulator()
_CONVERSIONS = (np.asarray, np.array, np.zeros, np.empty, np.arange, np.copyto)


class StrictArray(np.ndarray):
    """Array that stands for one of CuPy: plain arrays of NumPy must be converted explicitly."""

    def get(self) -> np.ndarray:
        return np.array(self.view(np.ndarray))

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        _refuse_mixing(inputs)
        out = options.pop("out", None)
        if out is not None:
            options["out"] = tuple(map(_plain, out))
        found = getattr(ufunc, method)(*map(_plain, inputs), **options)
        return out[0] if out is not None else _strict(found)

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        if function not in _CONVERSIONS:
            _refuse_mixing(args)
        return _strict(function(*_plain(args), **{k: _plain(v) for k, v in options.items()}))

    def __setitem__(self, place: Any, value: Any) -> None:
        _refuse_mixing([value])
        super().__setitem__(_plain(place), _plain(value))


def _refuse_mixing(values: Any) -> None:
    for value in values:
        if isinstance(value, list | tuple):
            _refuse_mixing(value)
        if type(value) is np.ndarray and value.ndim:
            raise TypeError("an array of NumPy among arrays on the GPU")


def _plain(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return type(value)(map(_plain, value))
    return value.view(np.ndarray) if isinstance(value, StrictArray) else value


def _strict(found: Any) -> Any:
    return found.view(StrictArray) if isinstance(found, np.ndarray) else found


_ON_CPU = np.ascontiguousarray


def _contiguous(array: Any, dtype: Any = None, *, like: Any = None) -> Any:
    """`np.ascontiguousarray`, which asks arrays of CuPy only if they are also `like`."""
    if not isinstance(array, StrictArray):
        return _ON_CPU(array, dtype)
    if like is None:
        raise TypeError("an array on the GPU made contiguous on the CPU")
    return _strict(_ON_CPU(_plain(array), dtype))


if device.is_simulated():
    np.ascontiguousarray = _contiguous
    memory.empty = lambda shape=0, dtype=np.float64: np.empty(shape, dtype).view(StrictArray)
    memory.upload = lambda array: np.array(array, order="C").view(StrictArray)


# --- the games --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Buckets:
    """Buckets without cards: parents by round."""

    rules: Any
    parents: tuple[np.ndarray, ...]

    @property
    def num_buckets(self) -> tuple[int, ...]:
        return tuple(map(len, self.parents))


def buckets(name: str, *sizes: list[int]) -> Buckets:
    """Return buckets by the number of children of each bucket, round by round."""
    first = np.full(sizes[0][0], -1, np.int32)
    later = [np.repeat(np.arange(len(size)), size).astype(np.int32) for size in sizes[1:]]
    return Buckets(get_game(name), (first, *later))


def counts(first: Buckets, second: Buckets) -> Joint:
    """Return random whole counts."""
    shape = (3, first.num_buckets[-1], second.num_buckets[-1])
    return Joint(*np.random.default_rng(4).integers(0, 9, shape))


FEW = buckets("rhode-island", [2], [2, 3], [1, 2, 3, 1, 2])
OTHER = buckets("rhode-island", [3], [1, 2, 1], [2, 1, 3, 1])
PAIR = buckets("leduc", [3], [2, 3, 1])


@functools.cache
def games() -> dict[str, SequenceGame]:
    ending = Showdown.of(counts(PAIR, PAIR), PAIR, 0, bet=1.0)
    return {
        "two rounds": bucket_game(PAIR, counts(PAIR, PAIR)),
        "two abstractions": bucket_game(FEW, counts(FEW, OTHER), second=OTHER),
        "an ending": bucket_game(PAIR, counts(PAIR, PAIR), last_round=0, ending=ending),
    }


def on_cpu(array: Any) -> np.ndarray:
    return memory.download(array)


def behaviour(game: SequenceGame, player: int, seed: int = 1) -> np.ndarray:
    """Return random behaviour that leaves some actions out."""
    rng = np.random.default_rng(seed)
    plan = game.realize(player, game.uniform(player))
    return game.behaviour(player, plan * rng.random(len(plan)) * (rng.random(len(plan)) > 0.2))


# --- the checks -------------------------------------------------------------------------------


def check_plans_and_gradients_agree() -> None:
    for game in games().values():
        gpu = game.on("gpu")
        for dtype, rounding in ((np.float64, 1e-14), (np.float32, 1e-6)):
            for player in (0, 1):
                played = behaviour(game, player).astype(dtype)
                plan = game.realize(player, played)
                there = gpu.realize(player, memory.upload(played))
                np.testing.assert_allclose(on_cpu(there), plan, rtol=rounding)
                holes = plan * (np.random.default_rng(6).random(len(plan)) > 0.2).astype(dtype)
                back = on_cpu(gpu.behaviour(player, memory.upload(holes)))
                np.testing.assert_allclose(back, game.behaviour(player, holes), rtol=rounding)
                even = on_cpu(gpu.uniform(player, dtype))
                np.testing.assert_array_equal(even, game.uniform(player, dtype))
                values = game.gradient(1 - player, plan.astype(np.float64))
                found = on_cpu(gpu.gradient(1 - player, there))
                assert found.dtype == dtype
                error = rounding * np.abs(values).max()
                np.testing.assert_allclose(found, values, atol=error, rtol=0)


def check_every_rule_folds_as_on_the_cpu() -> None:
    for game in games().values():
        gpu, rng = game.on("gpu"), np.random.default_rng(2)
        for player in (0, 1):
            for rule in (EXPECTATION, BEST, REGRET, SOFTMAX):
                values, table = rng.normal(size=(2, game.lengths[player]))
                if rule == SOFTMAX:
                    table = game.uniform(player) + 1
                arrays = [values, behaviour(game, player), table]
                there = [memory.upload(array) for array in arrays]
                factors = np.array([0.9, 0.5, 0.7])
                value = game.fold_up(player, rule, *arrays, factors)
                assert abs(gpu.fold_up(player, rule, *there, factors) - value) < 1e-12
                for ours, theirs in zip(there, arrays, strict=True):
                    np.testing.assert_allclose(on_cpu(ours), theirs, atol=1e-12)


def check_every_method_gives_the_numbers_of_the_cpu() -> None:
    game = games()["two rounds"]
    gpu = game.on("gpu")
    for solver in (*CFR_VARIANTS.values(), ExcessiveGap(), ExcessiveGap(centring=True)):
        found = []
        for one in (game, gpu):
            state = solver.init(one)
            solver.step(one, state, 5)
            proof = evaluate(one, solver.plans(one, state))
            found.append((proof.value, *proof.best_response))
        np.testing.assert_allclose(found[1], found[0], rtol=0, atol=1e-9, err_msg=solver.name)


def check_a_best_response_is_that_of_the_cpu() -> None:
    game = games()["two rounds"]
    plan = game.realize(0, behaviour(game, 0))
    value, response = best_response(game, 1, plan)
    found, there = best_response(game.on("gpu"), 1, memory.upload(plan))
    assert abs(found - value) < 1e-12
    np.testing.assert_array_equal(on_cpu(there), response)


def check_float32_is_near_float64() -> None:
    game = games()["two rounds"].on("gpu")
    proofs = []
    for dtype in ("float32", "float64"):
        solver = CFR(dtype=dtype)
        state = solver.init(game)
        solver.step(game, state, 10)
        assert state["average0"].dtype == dtype
        proofs.append(evaluate(game, solver.plans(game, state)).exploitability)
    assert abs(proofs[0] / proofs[1] - 1) < 1e-4


def check_a_run_continues_on_the_other_device() -> None:
    solver, iterations = CFR(), (4, 9)
    with tempfile.TemporaryDirectory() as folder:
        description = described(Path(folder))
        game = description.build()
        whole = solve(game, solver, Budget(iterations=iterations[1])).evaluation
        for devices in (("cpu", "gpu"), ("gpu", "cpu")):
            out, run = Path(folder) / devices[0], None
            for name, most in zip(devices, iterations, strict=True):
                there = game.on(name)
                store = Store(out, there, description, solver, 0, "float64")
                run = None if run is None else store.resume()
                run = solve(there, solver, Budget(iterations=most), run=run, save=store.save)
                assert hasattr(run.state["average0"], "get") == (name == "gpu")
            assert abs(run.evaluation.exploitability - whole.exploitability) < 1e-12
            stored = Solution.load(out)
            again = evaluate(game, tuple(np.array(plan) for plan in stored.plans))
            assert abs(again.exploitability - whole.exploitability) < 1e-12


def described(folder: Path) -> BucketDescription:
    """Return the description of a game of buckets whose parts are in a folder."""
    found = build("percentile", get_game("leduc"), [2, 4])
    parents = {"first": found.save(folder / "buckets")}
    joint(found).save(folder / "counts", parents)
    return BucketDescription.of(folder / "buckets", folder / "counts", BetMenu())


def check_range_of_skill_gives_the_numbers_of_the_cpu() -> None:
    game = bucket_game(PAIR, _symmetric(counts(PAIR, PAIR)))
    solver = RangeOfSkill().for_target(0.5, "float64")
    found = []
    for one in (game, game.on("gpu")):
        state = solver.init(one)
        solver.step(one, state, 2)
        plans = solver.plans(one, state)
        report = solver.report(one, state)
        found.append((*state["gains"][1:], evaluate(one, plans).exploitability, *report.table[-1]))
    np.testing.assert_allclose(found[1], found[0], rtol=0, atol=1e-9)


def _symmetric(found: Joint) -> Joint:
    return replace(
        found,
        wins=found.wins + found.losses.T,
        ties=found.ties + found.ties.T,
        losses=found.losses + found.wins.T,
    )


def check_no_field_hides_a_method_of_tuples() -> None:
    """The simulator does not mind; the compiler takes `index` for the method."""
    steps = importlib.import_module("equilibrist.kernels.gpu.sequence_form")
    assert not {"index", "count"} & set(steps.Round._fields)


def check_other_games_are_refused() -> None:
    for name in ("kuhn", "leduc"):
        game = exact_game(get_game(name))
        if game.fits_gpu:  # one board per round, as Kuhn has
            continue
        with pytest.raises(InvalidValueError, match="games of buckets"):
            game.on("gpu")


if __name__ == "__main__":
    main(globals())

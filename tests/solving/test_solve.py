import time

import numpy as np
import pytest

from equilibrist.errors import DeviceError, InvalidValueError
from equilibrist.games.betting_tree import BettingTree
from equilibrist.games.catalog import get_game
from equilibrist.models.exact import exact_game
from equilibrist.solving.cfr import CFR
from equilibrist.solving.forecast import forecast
from equilibrist.solving.solve import Budget, Outcome, check_finite, solve


@pytest.fixture(scope="module")
def kuhn():
    return exact_game(get_game("kuhn"))


def test_a_run_stops_at_its_target(kuhn):
    run = solve(kuhn, CFR(), Budget(target=0.01, iterations=10_000))
    assert run.outcome is Outcome.TARGET_REACHED
    assert run.evaluation.exploitability <= 0.01
    assert all(row.evaluation.exploitability > 0.01 for row in run.trace[:-1])


def test_a_run_stops_at_its_budget_of_iterations(kuhn):
    run = solve(kuhn, CFR(), Budget(iterations=37))
    assert run.outcome is Outcome.BUDGET_SPENT
    assert [row.iteration for row in run.trace] == [1, 2, 5, 10, 20, 37]


def test_a_run_stops_at_its_budget_of_seconds(kuhn):
    run = solve(kuhn, CFR(), Budget(seconds=0.05))
    assert run.seconds >= 0.05


def test_a_run_is_evaluated_every_given_number_of_iterations(kuhn):
    run = solve(kuhn, CFR(), Budget(iterations=10, every=4))
    assert [row.iteration for row in run.trace] == [4, 8, 10]


def test_a_resumed_run_has_the_same_numbers(kuhn):
    whole = solve(kuhn, CFR(), Budget(iterations=100))
    half = solve(kuhn, CFR(), Budget(iterations=50))
    both = solve(kuhn, CFR(), Budget(iterations=100), run=half)
    assert all((whole.state[name] == both.state[name]).all() for name in whole.state)
    assert [row.iteration for row in both.trace] == [row.iteration for row in whole.trace]


def test_a_resumed_run_reaches_its_target_where_a_clean_one_does(kuhn):
    target = 0.0041  # reached after 33 iterations, but not after 20
    clean = solve(kuhn, CFR(), Budget(target=target))
    assert [row.iteration for row in clean.trace][-2:] == [20, 50]
    run = solve(kuhn, CFR(), Budget(iterations=33))  # where a signal might have stopped it
    assert run.evaluation.exploitability < target
    solve(kuhn, CFR(), Budget(target=target), run=run)
    assert run.outcome is clean.outcome is Outcome.TARGET_REACHED
    assert int(run.state["iteration"]) == 50
    for name, array in clean.state.items():
        np.testing.assert_array_equal(run.state[name], array)
    # At the end of a budget the target counts, wherever that is.
    run = solve(kuhn, CFR(), Budget(iterations=33, target=target))
    assert run.outcome is Outcome.TARGET_REACHED
    assert len(solve(kuhn, CFR(), Budget(iterations=33, target=target), run=run).trace) == 6


def test_an_interrupted_run_is_saved(kuhn):
    def interrupt(run) -> None:
        if run.trace[-1].iteration >= 10:
            raise KeyboardInterrupt

    saved = []
    run = solve(
        kuhn, CFR(), Budget(iterations=1000), watch=interrupt, save=lambda r: saved.append(r)
    )
    assert run.outcome is Outcome.INTERRUPTED
    assert 10 <= int(run.state["iteration"]) < 1000
    assert saved


def test_a_run_is_watched_between_evaluations_too(kuhn):
    seen = []
    solve(kuhn, CFR(), Budget(iterations=64, every=64),
          watch=lambda run: seen.append((int(run.state["iteration"]), len(run.trace))))  # fmt: skip
    iterations, evaluations = zip(*seen, strict=True)
    assert list(iterations) == sorted(set(iterations))
    assert len(seen) > 3
    assert evaluations == (0,) * (len(seen) - 1) + (1,)
    assert iterations[-1] == 64


class Slow(CFR):
    """Takes a sixteenth of a second per iteration, by a clock of its own."""

    def __init__(self, monkeypatch):
        super().__init__()
        object.__setattr__(self, "chunks", [])
        monkeypatch.setattr(time, "perf_counter", lambda: sum(self.chunks) / 16)

    def step(self, game, state, iterations):
        super().step(game, state, iterations)
        self.chunks.append(iterations)


def test_a_request_to_stop_waits_for_about_a_second_of_iterations(kuhn, monkeypatch):
    solver = Slow(monkeypatch)
    solve(kuhn, solver, Budget(iterations=100, every=100))
    assert sum(solver.chunks) == 100
    assert max(solver.chunks) <= 16
    # Looking at the clock costs little: once the speed is known, not before a quarter of a second.
    assert min(solver.chunks[4:-1]) >= 4


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_not_finite_are_found_in_a_state(number):
    check_finite({"regret0": np.ones(3), "iteration": np.array(5), "none": np.zeros(0)})
    state = {"regret0": np.array([0.0, number, 1.0])}
    what = "NaN" if np.isnan(number) else "infinity"
    with pytest.raises(InvalidValueError, match=f"regret0 of its state holds {what}"):
        check_finite(state)
    if not np.isnan(number):
        check_finite({"exploitability": state["regret0"]})  # not known yet


def test_the_trace_is_an_array_of_six_columns(kuhn):
    trace = solve(kuhn, CFR(), Budget(iterations=10)).trace_array()
    assert trace.shape == (4, 6)
    assert (np.diff(trace[:, 0]) > 0).all()


@pytest.mark.parametrize(
    "budget",
    [{}, {"iterations": 0}, {"iterations": -5}, {"target": 0.0}, {"target": float("nan")},
     {"target": float("inf")}, {"seconds": float("inf")},
     {"seconds": -1.0}, {"iterations": 5, "every": 0}],
)  # fmt: skip
def test_impossible_budgets_are_refused(kuhn, budget):
    with pytest.raises(InvalidValueError):
        solve(kuhn, CFR(), Budget(**budget))


def test_every_outcome_says_what_to_do():
    assert all(len(outcome.value) > 10 for outcome in Outcome)


def test_a_game_too_large_for_memory_is_refused_with_advice():
    rules = get_game("holdem-limit")
    needed = forecast(rules, BettingTree.build(rules))
    assert needed.bytes > 10**14
    with pytest.raises(InvalidValueError, match="max_raises"):
        needed.check(rules.name)


def test_the_forecast_counts_the_plans_of_a_model():
    rules = get_game("rhode-island")
    assert forecast(rules, BettingTree.build(rules)).sequences == 2 * 5_413_551


class Hungry(CFR):
    """CFR that runs out of memory at iteration 30."""

    def step(self, game, state, steps):
        if int(state["iteration"]) + steps > 30:
            raise MemoryError("12 bytes")
        super().step(game, state, steps)


class HungryOnGpu(Hungry):
    """The same, on a GPU: the error has the words of the driver."""

    def step(self, game, state, steps):
        try:
            super().step(game, state, steps)
        except MemoryError:
            raise RuntimeError("CUDA_ERROR_OUT_OF_MEMORY: cuMemAlloc failed") from None


def test_short_memory_of_a_gpu_ends_a_run_with_its_last_checkpoint(kuhn, monkeypatch):
    monkeypatch.setattr("equilibrist.storage.checkpoint.CheckpointClock.is_due", lambda clock: True)
    saved = []
    with pytest.raises(DeviceError) as caught:
        solve(kuhn, HungryOnGpu(), Budget(iterations=99, every=10), save=saved.append)
    assert str(caught.value) == (
        "the memory of the GPU is too small for cfr+ on kuhn; the last checkpoint is from "
        "iteration 30; continue on the device cpu"
    )
    assert len(saved) == 3


def test_short_memory_ends_a_run_with_its_last_checkpoint(kuhn, monkeypatch):
    monkeypatch.setattr("equilibrist.storage.checkpoint.CheckpointClock.is_due", lambda clock: True)
    saved = []
    with pytest.raises(MemoryError, match=r"12 bytes; the last checkpoint is from iteration 30$"):
        solve(
            kuhn, Hungry(), Budget(iterations=99, every=10),
            save=lambda run: saved.append(int(run.state["iteration"])),
        )  # fmt: skip
    assert saved == [10, 20, 30]

"""Runs stopped at any moment resume to the numbers of a run that was never stopped."""

import os
import random
import signal
import threading

import numpy as np
import pytest

from equilibrist import stopping
from equilibrist.errors import SolverError
from equilibrist.games.catalog import get_game
from equilibrist.models.exact import exact_game, matrix_game
from equilibrist.models.game import SequenceGame
from equilibrist.models.spot import Chips, Spot
from equilibrist.papers.range_of_skill import solver as range_of_skill
from equilibrist.solving import excessive_gap
from equilibrist.solving.cfr import CFR
from equilibrist.solving.methods import get_method
from equilibrist.solving.solve import Budget, Outcome, Run, solve
from equilibrist.solving.spot_run import SolvedSpot, solver

ITERATIONS = 40
# Where compiled code, or else the work of an iteration, is called: by method.
WORK = {
    "cfr+": (SequenceGame, "sweeps"),
    "dcfr": (SequenceGame, "sweeps"),
    "egt": (excessive_gap, "_accept"),
    "mccfr": ("equilibrist.kernels.cpu.external_sampling", "external"),
    "pcs": ("equilibrist.kernels.cpu.sampling", "public_chance"),
    "spot": ("equilibrist.kernels.cpu.table_sweeps", "sweeps"),
    "range-of-skill": (range_of_skill, "generalized_best_response"),
}


def case(method):
    """Return a game and its solver."""
    if method == "spot":
        given = Spot.of("Td9d6hQc2s", "AA,76s", "KK,QJs", Chips(pot=200, stack=400), bets="50%,a")
        return given.build().game, solver("cfr+", 32)
    name = "kuhn" if method == "range-of-skill" else "leduc"
    return exact_game(get_game(name)), get_method(method)


def with_signal(monkeypatch, method, at):
    """Send SIGINT from within the work of an iteration, as a key pressed while a kernel runs."""
    owner, name = WORK[method]
    if isinstance(owner, str):
        owner = __import__(owner, fromlist=[name])
    work, calls = getattr(owner, name), []

    def slow(*arguments, **options):
        found = work(*arguments, **options)
        calls.append(None)
        if len(calls) == at:
            os.kill(os.getpid(), signal.SIGINT)
        return found

    monkeypatch.setattr(owner, name, slow)


def states_are_equal(first, second):
    return first.keys() == second.keys() and all(
        np.array_equal(first[name], second[name]) for name in first
    )


def copied(run):
    state = {name: np.array(array) for name, array in run.state.items()}
    return Run(state, list(run.trace), run.seconds)


@pytest.fixture(scope="module")
def clean():
    """States of runs that were never stopped, by method."""
    found = {}

    def clean(method):
        if method not in found:
            game, by = case(method)
            found[method] = game, by, solve(game, by, Budget(iterations=ITERATIONS)).state
        return found[method]

    return clean


@pytest.mark.parametrize("method", WORK)
@pytest.mark.parametrize("at", [2, 5, 9])
def test_a_signal_within_an_iteration_ends_the_run_after_it(clean, method, at, monkeypatch, capsys):
    game, by, wanted = clean(method)
    saved = []
    with monkeypatch.context() as patch, stopping.on_signals() as stop:
        with_signal(patch, method, at)
        run = solve(
            game, by, Budget(iterations=ITERATIONS), save=lambda run: saved.append(copied(run))
        )
    assert stop.exit_code == 130
    assert run.outcome is Outcome.INTERRUPTED
    assert int(saved[-1].state["iteration"]) == run.trace[-1].iteration < ITERATIONS
    again = solve(game, by, Budget(iterations=ITERATIONS), run=saved[-1])
    assert states_are_equal(again.state, wanted)
    assert "stopping after this" in capsys.readouterr().err


@pytest.mark.parametrize("method", WORK)
def test_without_handlers_an_interrupt_within_an_iteration_saves_nothing_of_it(
    clean, method, monkeypatch
):
    game, by, wanted = clean(method)
    saved, runs = [], []

    def save(run):
        saved.append(copied(run))
        runs.append(run)

    with monkeypatch.context() as patch:
        with_signal(patch, method, 9)
        with pytest.raises(KeyboardInterrupt):
            solve(game, by, Budget(iterations=ITERATIONS), save=save)
    assert saved
    again = solve(game, by, Budget(iterations=ITERATIONS), run=saved[-1])
    assert states_are_equal(again.state, wanted)
    with pytest.raises(SolverError, match="within an iteration"):
        solve(game, by, Budget(iterations=ITERATIONS), run=runs[-1])


@pytest.mark.parametrize("seed", range(12))
def test_a_run_stopped_at_random_moments_has_the_numbers_of_a_clean_one(seed, capsys):
    method = ("cfr+", "dcfr", "mccfr", "pcs")[seed % 4]
    game, by = case(method)
    wanted = solve(game, by, Budget(iterations=2000)).state
    rng, run = random.Random(seed), None
    for _ in range(10_000):
        with stopping.on_signals():
            press = threading.Timer(
                0.002 + 0.02 * rng.random(), os.kill, (os.getpid(), signal.SIGINT)
            )
            press.start()
            found = solve(game, by, Budget(iterations=2000), run=run)
            press.join()
        run = copied(found)
        if int(run.state["iteration"]) == 2000:
            break
    assert states_are_equal(run.state, wanted)


def test_a_signal_before_the_first_iteration_saves_nothing():
    game, by = case("cfr+")
    saved = []
    with stopping.on_signals() as stop:
        stop.request()
        run = solve(game, by, Budget(iterations=10), save=saved.append)
    assert run.outcome is Outcome.INTERRUPTED
    assert int(run.state["iteration"]) == 0
    assert not saved


def test_a_run_within_an_iteration_is_not_written(tmp_path):
    given = Spot.of("Td9d6hQc2s", "AA", "KK", Chips(pot=200, stack=100), bets="a")
    by = solver("cfr+", 32)
    run = solve(given.build().game, by, Budget(iterations=2))
    run.is_whole = False
    with pytest.raises(SolverError, match="last checkpoint"):
        SolvedSpot(given, by, run).save(tmp_path / "spot")
    assert not (tmp_path / "spot").exists()


@pytest.mark.parametrize(
    ("array", "number", "fault"),
    [
        ("average0", np.nan, "average0 of its state holds NaN"),
        ("average1", np.inf, "average1 of its state holds infinity"),
        ("plan1", np.nan, "the value is not a number (NaN)"),
    ],
)
def test_a_number_that_is_not_finite_stops_the_run_and_is_named(array, number, fault, monkeypatch):
    game = matrix_game([[1.0, -1.0], [-1.0, 1.0]])

    class Breaking(CFR):
        def step(self, game, state, steps):
            super().step(game, state, steps)
            if int(state["iteration"]) >= 3:
                state[array][:] = number

        def plans(self, game, state):
            return state["plan0"], state["plan1"]

    if array == "plan1":  # a fault of the plans alone, not of the arrays that they are made of
        monkeypatch.setattr("equilibrist.solving.solve.check_finite", lambda state: None)
    saved = []
    with pytest.raises(SolverError) as caught:
        solve(
            game, Breaking(), Budget(iterations=10), save=lambda run: saved.append(len(run.trace))
        )
    assert str(caught.value) == (
        f"cfr+ on {game.name}: {fault} after iteration 5; the last checkpoint is from iteration 2"
    )
    assert saved == [1, 2]

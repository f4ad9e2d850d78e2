"""Methods whose result is the best measured plan of each seat."""

import math

import numpy as np
import pytest

from equilibrist import stopping
from equilibrist.errors import InvalidValueError, SolverError
from equilibrist.games.catalog import get_game
from equilibrist.models.exact import exact_game
from equilibrist.solving.best_measured import KeepsBest
from equilibrist.solving.best_response import evaluate
from equilibrist.solving.cfr import CFR
from equilibrist.solving.linear_program import LinearProgram
from equilibrist.solving.short_state import as_stored, is_rounded
from equilibrist.solving.solve import Budget, Outcome, solve
from equilibrist.strategies.evaluation import Evaluation


class Scripted:
    """A measure that returns given numbers, one pair after the other."""

    def __init__(self, *won):
        self.won, self.plans = list(won), []

    def evaluate(self, plans):
        self.plans.append(plans)
        return Evaluation(0.0, self.won[min(len(self.plans), len(self.won)) - 1], "chips")


def test_each_seat_keeps_its_own_best_plan():
    game, measure = exact_game(get_game("kuhn")), Scripted((3.0, 9.0), (1.0, 9.5), (2.0, 4.0))
    solver = KeepsBest(CFR(), measure)
    run = solve(game, solver, Budget(iterations=3, every=1))
    first, second = solver.plans(game, run.state)
    assert run.state["gains"].tolist() == [1.0, 4.0]
    # What the opponent in seat 1 wins is from player 0's plan: the last was its best.
    np.testing.assert_allclose(first, measure.plans[2][0], atol=1e-12)
    np.testing.assert_allclose(second, measure.plans[1][1], atol=1e-12)
    assert [row.evaluation.best_response for row in run.trace] == measure.won


def test_what_is_won_from_the_kept_plans_is_known_before_and_after_a_measurement():
    game, measure = exact_game(get_game("kuhn")), Scripted((7.0, 8.0), (3.0, 9.0), (4.0, 5.0))
    solver = KeepsBest(CFR(), measure, schedule=Budget(every=10, iterations=20))
    state = solver.init(game)
    solver.step(game, state, 1)
    assert solver.measured(game, state).best_response == (7.0, 8.0)
    solver.step(game, state, 9)
    solver.evaluate(game, state)
    solver.step(game, state, 10)
    assert solver.evaluate(game, state).best_response == (4.0, 5.0)
    kept = solver.measured(game, state)
    assert kept.best_response == (3.0, 5.0)
    assert kept.value == pytest.approx(evaluate(game, solver.plans(game, state)).value)
    assert len(measure.plans) == 3


def test_a_run_ends_when_plans_no_longer_improve():
    game = exact_game(get_game("kuhn"))
    measure = Scripted((3.0, 3.0), (2.0, 2.0), (1.9999, 2.0), (2.5, 2.0))
    run = solve(game, KeepsBest(CFR(), measure, patience=2), Budget(iterations=50, every=1))
    assert run.outcome is Outcome.FINISHED
    assert int(run.state["iteration"]) == 4
    assert run.state["gains"].tolist() == [1.9999, 2.0]


def test_nothing_is_measured_twice():
    game, measure = exact_game(get_game("kuhn")), Scripted((1.0, 1.0))
    solver = KeepsBest(CFR(), measure)
    run = solve(game, solver, Budget(iterations=5, every=5))
    solve(game, solver, Budget(iterations=5), run=run)
    assert len(measure.plans) == 1


@pytest.mark.parametrize(("seconds", "number"), [(0.0, 1), (1000.0, 0)])
def test_a_measurement_that_would_end_after_a_pause_does_not_begin(seconds, number):
    game, measure = exact_game(get_game("kuhn")), Scripted((1.0, 1.0))
    budget = Budget(iterations=4, every=4)
    solver = KeepsBest(CFR(), measure, schedule=budget, evaluation_seconds=seconds)
    with stopping.on_signals(lambda text: None) as stop:
        stop.pause_after(500.0)
        solve(game, solver, budget)
    assert len(measure.plans) == number


def test_with_a_schedule_other_iterations_are_not_measured():
    game, measure = exact_game(get_game("kuhn")), Scripted((3.0, 3.0), (2.0, 2.0))
    budget = Budget(iterations=10, every=4)
    solver = KeepsBest(CFR(), measure, schedule=budget)
    state = solver.init(game)
    for _ in range(3):
        solver.step(game, state, 1)
        assert solver.evaluate(game, state).best_response != (0.0, 0.0)
        assert not measure.plans
    solver.step(game, state, 1)
    assert solver.evaluate(game, state).best_response == (3.0, 3.0)
    solver.step(game, state, 3)
    assert solver.evaluate(game, state).best_response == (3.0, 3.0)
    solver.step(game, state, 1)
    assert solver.evaluate(game, state).best_response == (2.0, 2.0)
    solver.step(game, state, 2)
    solver.evaluate(game, state)  # the last iteration of the budget
    assert len(measure.plans) == 3


def test_with_a_schedule_the_state_and_the_measured_plans_have_the_numbers_of_checkpoints():
    game, measure = exact_game(get_game("leduc")), Scripted((1.0, 1.0))
    solver = KeepsBest(CFR(), measure, schedule=Budget(iterations=7, every=7))
    run = solve(game, solver, Budget(iterations=7, every=7))
    for name, array in run.state.items():
        if is_rounded(name):
            np.testing.assert_array_equal(array, as_stored(array))
    for kept, measured in zip(solver.plans(game, run.state), measure.plans[0], strict=True):
        np.testing.assert_array_equal(kept, measured)
    plain = solve(game, CFR(), Budget(iterations=7, every=7)).state
    assert (run.state["regret0"] != plain["regret0"]).any()
    np.testing.assert_allclose(run.state["regret0"], plain["regret0"], rtol=2**-8)


def test_current_plans_are_kept_if_they_are_better():
    game, measure = exact_game(get_game("kuhn")), Scripted((3.0, 3.0), (4.0, 2.0))
    solver = KeepsBest(CFR(), measure, with_current=True)
    run = solve(game, solver, Budget(iterations=5, every=5))
    (average, current), kept = measure.plans, solver.plans(game, run.state)
    assert (current[0] != average[0]).any()
    assert run.state["gains"].tolist() == [3.0, 2.0]
    np.testing.assert_allclose(kept[1], average[1], atol=1e-12)  # seat 0 won 3 and 4 from it
    np.testing.assert_allclose(kept[0], current[0], atol=1e-12)
    assert run.evaluation.best_response == (3.0, 3.0)  # the trace is of averages
    with pytest.raises(InvalidValueError, match="lp has no current plans"):
        KeepsBest(LinearProgram(), measure, with_current=True).init(game)


def test_a_better_current_plan_prolongs_a_run():
    won = (3.0, 3.0), (2.0, 2.0), (3.0, 3.0), (1.0, 1.0), (3.0, 3.0), (1.0, 1.0)
    solver = KeepsBest(CFR(), Scripted(*won), patience=1, with_current=True)
    run = solve(exact_game(get_game("kuhn")), solver, Budget(iterations=9, every=1))
    assert int(run.state["iteration"]) == 3  # the second average is not better, its plan is


@pytest.mark.parametrize("won", [math.nan, math.inf])
def test_a_measurement_that_is_not_finite_ends_the_run(won):
    game = exact_game(get_game("kuhn"))
    with pytest.raises(SolverError, match=r"best response is .* after iteration 2"):
        solve(game, KeepsBest(CFR(), Scripted((1.0, won))), Budget(iterations=2, every=2))

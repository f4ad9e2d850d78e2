import numpy as np
import pytest

from equilibrist.errors import InvalidValueError
from equilibrist.games.catalog import get_game
from equilibrist.models.build import exact_game, matrix_game
from equilibrist.solving.best_response import evaluate
from equilibrist.solving.double_oracle import DoubleOracle
from equilibrist.solving.matrix_lp import solve_matrix

pytestmark = pytest.mark.kernels


def run(game, steps, solver=None):
    solver = solver or DoubleOracle()
    state = solver.init(game)
    solver.step(game, state, steps)
    return evaluate(game, solver.plans(game, state)), state


def test_matrix_games_of_known_value():
    # Rock, paper, scissors; matching pennies with a side bet; a saddle point.
    for payoffs, value in (
        ([[0, -1, 1], [1, 0, -1], [-1, 1, 0]], 0),
        ([[3, 0], [1, 2]], 1.5),
        ([[4, 3], [2, 1]], 3),
        ([[0, 0], [0, 0]], 0),
    ):
        solution = solve_matrix(payoffs)
        assert (solution.value, solution.bound) == pytest.approx((value, value), abs=1e-12)
        assert solution.row.sum() == pytest.approx(1)
        assert solution.column.sum() == pytest.approx(1)


def test_a_matrix_game_may_start_at_the_basis_of_a_smaller_one():
    payoffs = np.random.default_rng(0).normal(size=(12, 15))
    basis = solve_matrix(payoffs[:9, :11]).basis
    warm, cold = solve_matrix(payoffs, basis), solve_matrix(payoffs)
    assert warm.value == pytest.approx(cold.value, abs=1e-12)


def test_what_is_not_a_matrix_is_refused():
    for payoffs in ([1, 2], [[np.nan]], np.zeros((0, 3))):
        with pytest.raises(InvalidValueError, match="finite matrix"):
            solve_matrix(payoffs)


def test_rock_paper_scissors_ends_in_a_third_each():
    game = matrix_game([[0, -1, 1], [1, 0, -1], [-1, 1, 0]])
    evaluation, state = run(game, 10)
    assert evaluation.exploitability == pytest.approx(0, abs=1e-12)
    plans = DoubleOracle().plans(game, state)
    np.testing.assert_allclose(plans, [[1, 1 / 3, 1 / 3, 1 / 3]] * 2, atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_random_matrix_games_have_the_value_of_their_linear_program(seed):
    rng = np.random.default_rng(seed)
    payoffs = rng.normal(size=rng.integers(2, 30, 2))
    evaluation, state = run(matrix_game(payoffs), 100)
    assert evaluation.value == pytest.approx(solve_matrix(payoffs).value, abs=1e-9)
    assert evaluation.exploitability < 1e-9
    assert (state["gains"] <= 1e-9).all()
    assert len(state["plans0"]) <= payoffs.shape[0] + 1  # each pure strategy once, and uniform


def test_kuhn_is_worth_minus_one_eighteenth():
    evaluation, state = run(exact_game(get_game("kuhn")), 30)
    assert evaluation.value == pytest.approx(-1 / 18, abs=1e-9)
    assert evaluation.exploitability < 1e-9
    assert len(state["plans0"]) < 15  # of 64 pure plans


@pytest.mark.slow
def test_leduc_has_its_known_value():
    evaluation, state = run(exact_game(get_game("leduc")), 600)
    assert evaluation.value == pytest.approx(-0.085606424078, abs=1e-9)
    assert evaluation.exploitability < 1e-6
    print(f"\nLeduc: {len(state['plans0'])} and {len(state['plans1'])} plans")


def test_the_matrix_holds_what_the_plans_win():
    game = exact_game(get_game("leduc"))
    _, state = run(game, 6)
    for i, first in enumerate(state["plans0"]):
        for j, second in enumerate(state["plans1"]):
            assert state["payoffs"][i, j] == pytest.approx(first @ game.gradient(0, second))


def test_an_interrupted_run_goes_on_to_the_same_numbers():
    game, solver = exact_game(get_game("leduc")), DoubleOracle()
    _, whole = run(game, 40)
    _, parts = run(game, 17)
    resumed = {name: array.copy() for name, array in parts.items()}
    solver.step(game, resumed, 3)
    solver.step(game, resumed, 20)
    assert resumed.keys() == whole.keys()
    for name, array in whole.items():
        np.testing.assert_array_equal(resumed[name], array)


def test_steps_after_the_end_change_nothing():
    game = exact_game(get_game("kuhn"))
    _, state = run(game, 30)
    _, longer = run(game, 40)
    for name in state.keys() - {"iteration"}:
        np.testing.assert_array_equal(longer[name], state[name])
    assert longer["iteration"] == 40

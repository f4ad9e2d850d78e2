import numpy as np
import pytest

from equilibrist.errors import InvalidValueError
from equilibrist.games.catalog import get_game
from equilibrist.models.exact import exact_game, matrix_game
from equilibrist.solving import double_oracle
from equilibrist.solving.best_response import evaluate
from equilibrist.solving.double_oracle import DoubleOracle
from equilibrist.solving.matrix_lp import solve_matrix


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


def test_arrays_that_are_not_matrices_are_refused():
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
    assert state["finished"]
    assert (state["gains"] <= 1e-9).all()
    assert len(state["plans0"]) <= payoffs.shape[0] + 1  # each pure strategy once, and uniform


def test_kuhn_is_solved_by_few_of_its_64_pure_plans():
    _, state = run(exact_game(get_game("kuhn")), 30)
    assert state["finished"]
    assert len(state["plans0"]) < 15


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


def test_an_interruption_leaves_the_state_of_the_last_iteration(monkeypatch):
    game, solver = exact_game(get_game("kuhn")), DoubleOracle()
    _, state = run(game, 3)
    before = {name: array.copy() for name, array in state.items()}

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(double_oracle, "solve_matrix", interrupted)
        with pytest.raises(KeyboardInterrupt):
            solver.step(game, state, 1)
    for name, array in before.items():
        np.testing.assert_array_equal(state[name], array)
    solver.step(game, state, 30)
    assert evaluate(game, solver.plans(game, state)).exploitability < 1e-9

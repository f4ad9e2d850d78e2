"""Linear programs: matrix games compared with SciPy, locked decisions, and failures.

Values of poker games are in `tests/oracles/test_game_values.py`.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import linprog

from equilibrist.errors import EquilibristError, InvalidValueError, SolverError, UnknownNameError
from equilibrist.games.catalog import get_game
from equilibrist.models.exact import exact_game, matrix_game
from equilibrist.models.game import BEST, SequenceGame
from equilibrist.models.sequence_matrix import payoff_matrix, player_sequences, sequence_matrix
from equilibrist.solving import linear_program
from equilibrist.solving.best_response import evaluate
from equilibrist.solving.linear_program import METHODS, LinearProgram

KUHN, LEDUC = get_game("kuhn"), get_game("leduc")
HOLDEM = replace(
    get_game("holdem-limit"), name="holdem 2×4", num_ranks=4, num_suits=2, raise_sizes=(10, 20),
    max_raises=(1, 1), first_players=(1, 0), num_board_cards=(0, 1), discards=(),
)  # fmt: skip

each_method = pytest.mark.parametrize("method", METHODS)


def random_plan(game: SequenceGame, player: int, seed: int = 0) -> np.ndarray:
    weights = np.random.default_rng(seed).random(game.lengths[player])
    plan = game.realize(player, game.uniform(player) * weights)
    return game.realize(player, game.behaviour(player, plan))


def lock(game: SequenceGame, player: int, *decisions: int) -> SequenceGame:
    locked = game.trees[player].locked.copy()
    locked[list(decisions)] = True
    trees = list(game.trees)
    trees[player] = trees[player]._replace(locked=locked)
    return replace(game, trees=(trees[0], trees[1]))


# --- the matrices ---------------------------------------------------------------------------------


@pytest.mark.parametrize("leaves", ["dense", "sorted"])
@pytest.mark.parametrize("rules", [KUHN, LEDUC, HOLDEM], ids=lambda rules: rules.name)
def test_the_matrix_times_a_plan_is_the_gradient(rules, leaves):
    game = exact_game(rules, leaves=leaves)
    x, y = random_plan(game, 0), random_plan(game, 1)
    payoff = payoff_matrix(game)
    np.testing.assert_allclose(payoff @ y, game.gradient(0, y), atol=1e-12)
    np.testing.assert_allclose(-payoff.T @ x, game.gradient(1, x), atol=1e-12)


def test_plans_and_variables_are_the_same_strategies():
    game = exact_game(LEDUC)
    matrix = sequence_matrix(game)
    found = []
    for player, side in enumerate(matrix.sequences):
        plan = random_plan(game, player)
        x = np.zeros(side.constraints.shape[1])
        x[side.variable] = plan
        np.testing.assert_allclose(side.constraints @ x, side.right_side, atol=1e-14)
        np.testing.assert_array_equal(side.plan(x), plan)
        np.testing.assert_array_equal(side.expansion @ x, plan)
        found.append((x, plan))
    (x, first), (y, second) = found
    assert x @ matrix.payoff @ y == pytest.approx(first @ game.gradient(0, second), abs=1e-14)
    # One variable per sequence: Leduc by ranks has 144 infosets per player, and 336 actions.
    assert matrix.payoff.shape == (337, 337)
    assert matrix.sequences[0].constraints.shape == (145, 337)


def test_locked_and_unreachable_rows_have_no_variables():
    game = lock(exact_game(KUHN), 0, 0)
    behaviour = game.uniform(0)
    behaviour[3:6], behaviour[6:9] = [0, 1, 0.25], [1, 0, 0.75]  # check and bet, by card
    side = player_sequences(game.trees[0], behaviour)
    # The second decision is left, except with the queen, which never checks.
    assert side.constraints.shape == (3, 5)
    np.testing.assert_array_equal(side.factor[3:9], behaviour[3:9])
    assert side.factor[9] == side.factor[12] == 0
    assert side.constraints.toarray()[:, 0].tolist() == [1, -1, -0.25]


# --- matrix games ---------------------------------------------------------------------------------


@each_method
def test_rock_paper_scissors_is_a_third_each(method):
    game = matrix_game([[0, -1, 1], [1, 0, -1], [-1, 1, 0]])
    solution = LinearProgram(method).solve(game)
    for plan in solution.plans:
        np.testing.assert_allclose(plan, [1, 1 / 3, 1 / 3, 1 / 3], atol=1e-6)
    assert solution.value == pytest.approx(0, abs=1e-8)


def scipy_value(matrix: np.ndarray) -> float:
    """Return max v such that xᵀ M ≥ v, Σ x = 1, x ≥ 0."""
    rows, columns = matrix.shape
    found = linprog(
        c=np.eye(1, rows + 1, rows)[0] * -1,
        A_ub=np.hstack([-matrix.T, np.ones((columns, 1))]),
        b_ub=np.zeros(columns),
        A_eq=np.append(np.ones(rows), 0)[None],
        b_eq=[1],
        bounds=[(0, None)] * rows + [(None, None)],
    )
    assert found.success
    return -found.fun


@each_method
@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (7, 2), (12, 12), (40, 25)])
def test_random_matrix_games_have_scipys_value(method, shape):
    rng = np.random.default_rng(shape[0])
    for scale in (1e-3, 1.0, 1e4):
        matrix = rng.normal(size=shape) * scale
        solution = LinearProgram(method).solve(matrix_game(matrix))
        assert solution.value == pytest.approx(scipy_value(matrix), abs=1e-6 * scale)
        assert 0 <= solution.certificate.exploitability + 1e-12 * scale <= 1e-6 * scale


@each_method
def test_a_game_without_payoffs_is_solved(method):
    assert LinearProgram(method).solve(matrix_game(np.zeros((3, 4)))).certificate.nash_conv == 0


# --- the solver's protocol ------------------------------------------------------------------------


def test_play_is_uniform_until_the_first_step_solves():
    game, method = exact_game(KUHN), LinearProgram()
    state = method.init(game)
    uniform = evaluate(game, method.plans(game, state))
    assert uniform.nash_conv == pytest.approx(11 / 12)
    method.step(game, state, 5)
    assert (int(state["iteration"]), bool(state["finished"])) == (1, True)


@each_method
def test_the_number_of_threads_changes_nothing(method):
    game = exact_game(LEDUC)
    values = [LinearProgram(method, threads=threads).solve(game).value for threads in (1, 2, 0)]
    assert values == pytest.approx([-0.085606424078] * 3, abs=1e-8)


def test_libraries_are_imported_only_when_a_program_is_solved():
    code = (
        "import sys, equilibrist.solving.linear_program, equilibrist.strategies.openspiel;"
        "print([m for m in ('highspy', 'clarabel', 'pyspiel') if m in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


# --- locked decisions -----------------------------------------------------------------------------


@each_method
def test_against_a_locked_player_the_program_is_a_best_response(method):
    game = exact_game(LEDUC)
    game = lock(game, 1, *range(len(game.trees[1].locked)))
    behaviour = game.behaviour(1, random_plan(game, 1, seed=3))
    solution = LinearProgram(method).solve(game, (game.uniform(0), behaviour))
    fixed = game.realize(1, behaviour)
    best = game.fold_up(0, BEST, game.gradient(0, fixed), game.uniform(0))
    np.testing.assert_allclose(solution.plans[1], fixed, atol=1e-12)
    assert solution.value == pytest.approx(best, abs=1e-6)


@each_method
def test_locking_what_an_equilibrium_plays_keeps_its_value(method):
    free = exact_game(LEDUC)
    solution = LinearProgram("highs-simplex").solve(free)
    game = lock(lock(free, 0, 0, 3), 1, 1)
    behaviour = tuple(free.behaviour(player, solution.plans[player]) for player in (0, 1))
    again = LinearProgram(method).solve(game, behaviour)
    assert again.value == pytest.approx(solution.value, abs=1e-6)


def test_locking_a_blunder_costs_its_player_and_is_kept_in_the_plan():
    game, method = lock(exact_game(KUHN), 0, 0), LinearProgram()
    state = method.init(game)
    state["behaviour0"][3:9] = [0, 0, 0, 1, 1, 1]  # player 0 always bets
    method.step(game, state, 1)
    plans = method.plans(game, state)
    assert plans[0][3:9].tolist() == [0, 0, 0, 1, 1, 1]
    # Against a bet the queen folds (−1), the ace calls (2), and the king calls: 0 beats −1.
    assert evaluate(game, plans).value == pytest.approx(-(-1 + 0 + 2) / 3)


# --- failures -------------------------------------------------------------------------------------


@each_method
def test_running_out_of_time_is_an_error_and_leaves_the_state(method):
    game = exact_game(HOLDEM)
    solver = LinearProgram(method, time_limit=1e-6)
    state = solver.init(game)
    with pytest.raises(SolverError, match=rf"{method} ended with status .*[Tt]ime.*; try ") as info:
        solver.step(game, state, 1)
    assert isinstance(info.value, EquilibristError)
    assert state["iteration"] == 0


@each_method
def test_a_wrong_matrix_gives_no_solution_whatever_the_library_says(method, monkeypatch):
    def negated(game, behaviour):
        matrix = sequence_matrix(game, behaviour)
        return replace(matrix, payoff=-matrix.payoff)

    monkeypatch.setattr(linear_program, "sequence_matrix", negated)
    with pytest.raises(SolverError, match=r"(Optimal|Solved)' and plans exploitable by .* allowed"):
        LinearProgram(method).solve(exact_game(KUHN))


@each_method
def test_an_impossible_program_is_reported_as_such(method, monkeypatch):
    def contradictory(game, behaviour):
        matrix = sequence_matrix(game, behaviour)
        first, second = matrix.sequences
        constraints = first.constraints.copy()
        constraints.data[constraints.data < 0] = 1.0  # 1 + Σ x = 0
        return replace(matrix, sequences=(replace(first, constraints=constraints), second))

    monkeypatch.setattr(linear_program, "sequence_matrix", contradictory)
    with pytest.raises(SolverError, match="nfeasible"):
        LinearProgram(method).solve(exact_game(KUHN))


@each_method
def test_numbers_that_are_nan_are_refused(method, monkeypatch):
    def poisoned(game, behaviour):
        matrix = sequence_matrix(game, behaviour)
        return replace(matrix, payoff=matrix.payoff * np.nan)

    monkeypatch.setattr(linear_program, "sequence_matrix", poisoned)
    with pytest.raises(SolverError):
        LinearProgram(method).solve(exact_game(KUHN))


def test_a_missing_library_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "clarabel", None)
    with pytest.raises(SolverError, match="pip install"):
        LinearProgram("clarabel").solve(exact_game(KUHN))


def test_bad_settings_are_refused():
    with pytest.raises(UnknownNameError, match="highs-ipm, highs-simplex, clarabel"):
        LinearProgram("highs-barrier")
    for wrong in (
        {"tolerance": 0},
        {"tolerance": float("nan")},
        {"time_limit": -1},
        {"threads": -1},
    ):
        with pytest.raises(InvalidValueError, match="above zero"):
            LinearProgram(**wrong)

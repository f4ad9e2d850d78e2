"""Contract of every solver of `solving/methods.py`: one suite for all methods."""

import functools
from dataclasses import replace

import numpy as np
import pytest

from equilibrist.games.catalog import get_game
from equilibrist.models.exact import exact_game, matrix_game
from equilibrist.models.game import Floats, SequenceGame
from equilibrist.models.sequence_matrix import sequence_matrix
from equilibrist.papers.range_of_skill.solver import RangeOfSkill
from equilibrist.solving.best_response import evaluate
from equilibrist.solving.excessive_gap import ExcessiveGap
from equilibrist.solving.linear_program import LinearProgram
from equilibrist.solving.methods import get_method, method_names
from equilibrist.solving.sampling import ExternalSampling, PublicChanceSampling
from equilibrist.solving.solve import Budget, Outcome, solve
from equilibrist.solving.solver import State

VALUES = {
    "kuhn": -1 / 18,  # Kuhn 1950
    "leduc": -0.085606424078,  # by linear program; OpenSpiel agrees
    "matrix": 1.5,  # [[3, 0], [1, 2]]: rows 1/4 and 3/4, columns 1/2 each
}
# Iterations, and the exploitability that they must reach: about twice what they were seen to reach.
BUDGETS = {
    "cfr": {"kuhn": (1000, 0.002), "leduc": (1000, 0.025), "matrix": (1000, 0.002)},
    "cfr+": {"kuhn": (1000, 2e-4), "leduc": (1000, 5e-4), "matrix": (1000, 0.001)},
    "linear-cfr": {"kuhn": (1000, 2e-4), "leduc": (1000, 0.012), "matrix": (1000, 4e-4)},
    "dcfr": {"kuhn": (1000, 3e-4), "leduc": (1000, 3e-4), "matrix": (1000, 4e-4)},
    "dcfr+": {"kuhn": (1000, 3e-4), "leduc": (1000, 4e-4), "matrix": (1000, 0.002)},
    "log-dcfr+": {"kuhn": (1000, 3e-4), "leduc": (1000, 3e-4), "matrix": (1000, 0.0025)},
    "pcfr+": {"kuhn": (1000, 1e-7), "leduc": (1000, 0.0015), "matrix": (1000, 1e-7)},
    "cfr-br": {"kuhn": (3000, 0.01), "leduc": (1000, 0.1), "matrix": (1000, 0.012)},
    "egt": {"kuhn": (300, 0.0015), "leduc": (300, 0.015), "matrix": (300, 0.0012)},
    "lp": {"kuhn": (1, 1e-12), "leduc": (1, 1e-12), "matrix": (1, 1e-12)},
    "double-oracle": {"kuhn": (30, 1e-9), "leduc": (100, 0.3), "matrix": (30, 1e-9)},
    "range-of-skill": {"kuhn": (30, 1e-7), "leduc": (30, 0.3), "matrix": (30, 1e-7)},
    "mccfr": {"kuhn": (30_000, 0.01), "leduc": (30_000, 0.12), "matrix": (30_000, 0.01)},
    "pcs": {"kuhn": (1000, 0.002), "leduc": (3000, 0.12), "matrix": (1000, 0.002)},
}
RANDOM = {"mccfr", "pcs"}
ENDING = {"lp", "double-oracle", "range-of-skill"}  # which Kuhn is soon solved by
ROUNDING = 1e-9  # of sums over a game in float64
PROGRAM = 1e-7  # what HiGHS leaves

each_method = pytest.mark.parametrize("method", method_names())
each_game = pytest.mark.parametrize("name", VALUES)
# Values of the hyper-parameters that take other ways through the same step.
VARIANTS = {method: get_method(method) for method in method_names()} | {
    "egt, centred": ExcessiveGap(centring=True),
    "egt, float32": ExcessiveGap(centring=True, dtype="float32"),
    "mccfr, linear": ExternalSampling(gamma=1),
    "mccfr, float32": ExternalSampling(gamma=0.7, dtype="float32"),
    "pcs, linear": PublicChanceSampling(gamma=1),
    "pcs, float32": PublicChanceSampling(gamma=0.7, dtype="float32"),
    "cfr+, float32": get_method("cfr+", "float32"),
    "log-dcfr+, float32": get_method("log-dcfr+", "float32"),
    "range-of-skill, half-oracle": RangeOfSkill(method="half-oracle"),
    "range-of-skill, cfr+": RangeOfSkill(0.05, "cfr+", 0.02),
}
each_variant = pytest.mark.parametrize("solver", VARIANTS.values(), ids=VARIANTS)


@functools.cache
def make_game(name: str) -> SequenceGame:
    return matrix_game([[3, 0], [1, 2]]) if name == "matrix" else exact_game(get_game(name))


@functools.cache
def solved(method: str, name: str) -> tuple[Floats, Floats]:
    """The plans that a method reaches within its budget."""
    game, solver = make_game(name), get_method(method)
    state = solver.init(game)
    solver.step(game, state, BUDGETS[method][name][0])
    return solver.plans(game, state)


def lock(game: SequenceGame, player: int, decisions) -> SequenceGame:
    locked = game.trees[player].locked.copy()
    locked[decisions] = True
    trees = list(game.trees)
    trees[player] = trees[player]._replace(locked=locked)
    return replace(game, trees=(trees[0], trees[1]))


def value_by_linear_program(game: SequenceGame, behaviours: tuple[Floats, Floats]) -> float:
    """Return what player 0 wins if both play optimally where not locked; no plan is folded up."""
    matrix = sequence_matrix(game, behaviours)
    _, x, y = LinearProgram("highs-simplex").saddle_point(matrix)
    return float(x @ matrix.payoff @ y)


def assert_plans(game: SequenceGame, plans: tuple[Floats, Floats], tolerance: float) -> None:
    """E x = e, x ≥ 0, by the constraints of `models/sequence_matrix.py`; copies are copies."""
    for plan, side in zip(plans, sequence_matrix(game).sequences, strict=True):
        x = np.zeros(side.constraints.shape[1])
        x[side.variable] = plan
        assert x.min() >= 0
        np.testing.assert_allclose(side.constraints @ x, side.right_side, atol=tolerance)
        np.testing.assert_allclose(side.plan(x), plan, atol=tolerance)


def assert_same(state: State, other: State) -> None:
    assert state.keys() == other.keys()
    for name, array in state.items():
        assert array.dtype == other[name].dtype, name
        np.testing.assert_array_equal(array, other[name], err_msg=name, strict=True)


def copied(state: State) -> State:
    return {name: array.copy() for name, array in state.items()}


def saved_and_loaded(state: State, folder) -> State:
    for name, array in state.items():
        np.save(folder / f"{name}.npy", array, allow_pickle=False)
    return {name: np.load(folder / f"{name}.npy", allow_pickle=False) for name in state}


# --- what is found --------------------------------------------------------------------------------


@each_game
@each_method
def test_plans_are_realization_plans_from_the_first_to_the_last(method, name):
    game, solver = make_game(name), get_method(method)
    state = solver.init(game)
    assert_plans(game, solver.plans(game, state), 1e-12)
    solver.step(game, state, 1)
    assert_plans(game, solver.plans(game, state), 1e-12)
    assert_plans(game, solved(method, name), 1e-12)


@each_game
@each_method
def test_the_value_is_known_to_within_the_proven_exploitability(method, name):
    found, value = evaluate(make_game(name), solved(method, name)), VALUES[name]
    assert found.exploitability <= BUDGETS[method][name][1]
    # Player 0 is sure of −b₁ and player 1 keeps it to b₀, so both values lie between.
    least, most = -found.best_response[1], found.best_response[0]
    assert least - ROUNDING <= value <= most + ROUNDING
    assert abs(found.value - value) <= found.nash_conv + ROUNDING


@each_game
@each_method
def test_a_pair_is_an_approximation_to_twice_its_exploitability(method, name):
    """CFR+ supplement, equations 11–13: ε = max(ε₁, ε₂) ≤ ε₁ + ε₂ ≤ x₁ + x₂ = 2x.

    v̂ is what player 0 wins with the pair and v the known value. ε_i is what player i gains by its
    best deviation, x_i how far the best opponent pushes its plan below the value. With b_i what the
    best deviation wins, found here by a linear program in which the other's plan is given,

        ε₁ = b₀ − v̂,   ε₂ = b₁ + v̂,   x₁ = v + b₁,   x₂ = b₀ − v,

    so (11) and (12) hold with equality by definition and (13) is left: no ε_i and no x_i is below
    zero (no plan of one player does better than v against all of the other's), and x, which is
    the mean of x₁ and x₂ whatever v is, is the exploitability that best responses report.
    """
    game, plans, value = make_game(name), solved(method, name), VALUES[name]
    found = evaluate(game, plans)
    behaviours = (game.behaviour(0, plans[0]), game.behaviour(1, plans[1]))
    everything = slice(None)
    best = (
        value_by_linear_program(lock(game, 1, everything), behaviours),
        -value_by_linear_program(lock(game, 0, everything), behaviours),
    )
    assert found.best_response == pytest.approx(best, abs=PROGRAM)
    gains = (best[0] - found.value, best[1] + found.value)
    losses = (value + best[1], best[0] - value)
    assert min(*gains, *losses) >= -PROGRAM
    assert sum(losses) / 2 == pytest.approx(found.exploitability, abs=PROGRAM)
    assert max(gains) - PROGRAM <= sum(gains) <= sum(losses) + PROGRAM


@pytest.mark.parametrize("method", [m for m in method_names() if hasattr(get_method(m), "dtype")])
def test_float32_is_kept_and_reaches_what_it_can_show(method):
    game, solver = make_game("leduc"), get_method(method, "float32")
    iterations, level = BUDGETS[method]["leduc"]
    state = solver.init(game)
    solver.step(game, state, iterations)
    long = [array.dtype for array in state.values() if array.shape == (game.lengths[0],)]
    assert set(long) == {np.dtype("float32")}
    plans = solver.plans(game, state)
    assert_plans(game, plans, 1e-5)
    assert evaluate(game, plans).exploitability <= level


@each_method
def test_locked_decisions_stay_and_the_rest_is_solved_around_them(method):
    """The first decision of player 0 and two of player 1, by uniform probabilities."""
    game, solver = lock(lock(make_game("leduc"), 0, [0]), 1, [1, 2]), get_method(method)
    iterations, level = BUDGETS[method]["leduc"]
    state = solver.init(game)
    solver.step(game, state, iterations)
    plans = solver.plans(game, state)
    for player, plan in enumerate(plans):
        tree, behaviour = game.trees[player], game.behaviour(player, plan)
        for d in np.flatnonzero(tree.locked):  # in the first round, where three states are
            size, start = int(tree.decision_size[d]), int(tree.decision_first[d]) * 3
            np.testing.assert_allclose(behaviour[start : start + size * 3], 1 / size, rtol=1e-12)
    found = evaluate(game, plans)
    value = value_by_linear_program(game, (game.uniform(0), game.uniform(1)))
    assert abs(found.value - value) <= found.nash_conv + PROGRAM
    assert found.exploitability <= 2 * level


# --- how it is found ------------------------------------------------------------------------------


@each_method
def test_every_method_is_known_by_its_own_name_and_has_a_budget_here(method):
    assert get_method(method).name == method
    assert BUDGETS[method].keys() == VALUES.keys()


@each_variant
def test_a_state_is_arrays_that_begin_at_iteration_0(solver):
    state = solver.init(make_game("leduc"))
    assert all(type(array) is np.ndarray for array in state.values())
    assert not any(array.dtype.hasobject for array in state.values())
    iteration = state["iteration"]
    assert (iteration.shape, iteration.dtype, int(iteration)) == ((), np.dtype("int64"), 0)


@each_variant
def test_a_run_in_parts_saved_and_loaded_is_the_run_in_one_bit_for_bit(solver, tmp_path):
    game = make_game("leduc")
    whole, parts = solver.init(game, 1), solver.init(game, 1)
    solver.step(game, whole, 20)
    for steps in (1, 7, 0, 12):
        solver.step(game, parts, steps)
        parts = saved_and_loaded(parts, tmp_path)
        solver.plans(game, parts)  # looking changes nothing
    assert all(type(array) is np.ndarray for array in whole.values())
    assert_same(whole, parts)
    for plan, again in zip(solver.plans(game, whole), solver.plans(game, parts), strict=True):
        np.testing.assert_array_equal(plan, again)


@each_method
def test_the_seed_decides_every_number_and_only_where_chance_is_sampled(method):
    game, solver = make_game("leduc"), get_method(method)
    first, again, other = (solver.init(game, seed) for seed in (1, 1, 2))
    for state in (first, again, other):
        solver.step(game, state, 10)
    assert_same(first, again)
    same = all(np.array_equal(first[name], other[name]) for name in first)
    assert same is (method not in RANDOM)


@each_method
def test_iterations_are_counted_until_a_method_ends_and_no_further(method):
    game, solver = make_game("kuhn"), get_method(method)
    run = solve(game, solver, Budget(iterations=40))
    state, ended = run.state, copied(run.state)
    if method not in ENDING:
        assert (run.outcome, int(state["iteration"])) == (Outcome.BUDGET_SPENT, 40)
        return
    assert run.outcome is Outcome.FINISHED
    assert 0 < run.trace[-1].iteration == state["iteration"] < 40
    solver.step(game, state, 5)
    assert_same(state, ended)

import numpy as np
import pytest

from equilibrist.errors import InvalidValueError, SolverError, UnknownNameError
from equilibrist.games.catalog import get_game
from equilibrist.models.exact import exact_game, matrix_game
from equilibrist.models.restricted import RestrictedGame, symmetrise
from equilibrist.papers.range_of_skill.solver import (
    RangeOfSkill,
    is_ranked,
    number_game,
    ranked_list,
    skill_table,
)
from equilibrist.solving import generalized_best_response as module
from equilibrist.solving.best_response import evaluate
from equilibrist.solving.generalized_best_response import (
    GeneralizedResponse,
    generalized_best_response,
)

ROCK_PAPER_SCISSORS = [[0, -1, 1], [1, 0, -1], [-1, 1, 0]]


def pure_plans(number):
    return np.hstack([np.ones((number, 1)), np.eye(number)])


def random_plans(game, player, number, seed):
    rng, plans = np.random.default_rng(seed), []
    for _ in range(number):
        probabilities = game.uniform(player) * rng.random(game.lengths[player]) ** 3
        plans.append(
            game.realize(player, game.behaviour(player, game.realize(player, probabilities)))
        )
    return np.stack(plans)


def run(game, solver, most=1000):
    state = solver.init(game)
    solver.step(game, state, most)
    assert state["finished"]
    return state


# --- generalized best responses -------------------------------------------------------------------


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize(("name", "number"), [("kuhn", 1), ("kuhn", 8), ("leduc", 6)])
def test_generalized_best_responses_one_and_two_agree(name, number, player):
    game = exact_game(get_game(name))
    restricted = RestrictedGame(game, player, random_plans(game, player, number, number))
    first = generalized_best_response(restricted, "half-oracle", 1e-9)
    second = generalized_best_response(restricted, "lp", 1e-9)
    assert first.value == pytest.approx(second.value, abs=1e-9)
    for response in (first, second):
        # The proof, recomputed in the whole game: worst of the list, and the mixture's best reply.
        wins = [
            response.plan @ game.gradient(1 - player, plan) for plan in restricted.plans
        ]  # fmt: skip
        assert min(wins) == pytest.approx(response.value, abs=1e-12)
        mixture = response.weights @ restricted.plans
        plans = (mixture, response.plan) if player == 0 else (response.plan, mixture)
        assert evaluate(game, plans).best_response[1 - player] == pytest.approx(response.bound)


def test_regret_matching_finds_nearly_the_same_response():
    game = exact_game(get_game("leduc"))
    restricted = RestrictedGame(game, 1, random_plans(game, 1, 6, 0))
    exact = generalized_best_response(restricted, "lp")
    near = generalized_best_response(restricted, "cfr+", 1e-3)
    assert exact.value - 1e-3 <= near.value <= exact.value + 1e-12
    assert near.bound >= exact.bound - 1e-9


@pytest.mark.parametrize("share", [1.0, 1e-38])
def test_regret_matching_continues_from_a_shorter_list(share):
    # Regrets that faded over many lists are nearly zero: they must not be divisors.
    game = exact_game(get_game("leduc"))
    plans = random_plans(game, 1, 6, 0).astype(np.float32)
    utilities = np.stack([game.gradient(0, plan) for plan in plans])
    shorter = RestrictedGame(game, 1, plans[:5], utilities[:5])
    carried = generalized_best_response(shorter, "cfr+", 1e-3).carried
    carried = {name: numbers.copy() for name, numbers in carried.items()}
    carried["regret0"] *= np.float32(share)
    near = generalized_best_response(
        RestrictedGame(game, 1, plans, utilities), "cfr+", 1e-3, carried
    )
    exact = generalized_best_response(RestrictedGame(game, 1, random_plans(game, 1, 6, 0)), "lp")
    assert near.value == pytest.approx(exact.value, abs=1.1e-3)
    assert np.isfinite(near.plan).all()


def test_against_every_pure_strategy_the_response_is_an_equilibrium():
    game = matrix_game(ROCK_PAPER_SCISSORS)
    for method in ("lp", "half-oracle"):
        response = generalized_best_response(RestrictedGame(game, 0, pure_plans(3)), method)
        np.testing.assert_allclose(response.plan[1:], 1 / 3, atol=1e-9)
        np.testing.assert_allclose(response.weights, 1 / 3, atol=1e-9)


def test_unsolvable_requests_are_refused(monkeypatch):
    restricted = RestrictedGame(matrix_game(ROCK_PAPER_SCISSORS), 0, pure_plans(3)[:2])
    with pytest.raises(UnknownNameError, match="methods: lp, half-oracle, cfr"):
        generalized_best_response(restricted, "simplex")
    with pytest.raises(InvalidValueError, match="above zero"):
        generalized_best_response(restricted, accuracy=0)
    poor = GeneralizedResponse(np.array([1.0, 1, 0, 0]), np.array([1.0, 0]), -1.0, 1.0)
    monkeypatch.setitem(module.METHODS, "lp", lambda game, accuracy: poor)
    with pytest.raises(SolverError, match="a gap of 2"):
        generalized_best_response(restricted)


# --- ranked lists ---------------------------------------------------------------------------------


def test_ranked_lists_follow_their_definition():
    table = np.array([[0, -3, -2], [3, 0, -1], [2, 1, 0]])
    assert is_ranked(table, 0.9)
    assert not is_ranked(table, 1)  # strictly more than ε
    assert ranked_list(table, 1) == [0, 1]
    assert ranked_list(table, 3) == [0]


@pytest.mark.parametrize("largest", [1, 2, 5, 20, 60])
def test_the_range_of_the_number_game_is_linear(largest):
    """Footnote 1. For ¾ ≤ ε < 1 the range is n exactly.

    The numbers in order are ε-ranked. And if the median of σ is not above that of τ, then σ ≤ τ has
    probability ≥ ¼, so u(σ, τ) ≤ ¾: on a ranked list the medians rise, and there are n of them.
    """
    table = skill_table(number_game(largest), pure_plans(largest))
    assert is_ranked(table, 0.99)
    assert len(ranked_list(table, 0.99)) == largest


def test_the_method_solves_the_number_game_with_one_response():
    # The range only bounds the responses from above: the largest number beats everything.
    game, solver = number_game(50), RangeOfSkill()
    state = run(game, solver)
    assert solver.report(game, state).lower_bound(0.9) == 2
    np.testing.assert_allclose(solver.plans(game, state)[0][-1], 1)


# --- the method -----------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["lp", "half-oracle"])
def test_gains_never_rise_and_the_list_is_ranked(method):
    # Theorem 1, equations 6 and 7.
    game, solver = exact_game(get_game("kuhn")), RangeOfSkill(1e-4, method, 1e-9)
    state = run(game, solver)
    assert (np.diff(state["gains"][1:]) <= 1e-9).all()
    report = solver.report(game, state)
    assert is_ranked(report.table, 1e-4 - 1e-9)
    np.testing.assert_allclose(report.table, -report.table.T, atol=1e-12)
    for i in range(1, len(report.table)):
        assert report.table[i, :i].min() == pytest.approx(state["gains"][i], abs=1e-9)


@pytest.mark.parametrize(
    ("name", "epsilons"),
    [
        ("kuhn", (0.5, 0.1, 0.05, 0.01, 1e-6)),
        ("leduc", (0.5,)),
        pytest.param("leduc", (0.5, 0.1, 0.05, 0.01), marks=pytest.mark.slow),
    ],
)
def test_finer_play_needs_longer_lists(name, epsilons):
    game, lengths = exact_game(get_game(name)), []
    for epsilon in epsilons:
        solver = RangeOfSkill(epsilon)
        state = run(game, solver)
        evaluation = evaluate(game, solver.plans(game, state))
        assert evaluation.exploitability <= epsilon
        assert evaluation.exploitability == pytest.approx(float(state["exploitability"]), abs=1e-9)
        lengths.append(len(state["gains"]))
        assert solver.report(game, state).lower_bound(epsilon - 1e-9) == lengths[-1]
        print(f"\n{name}: {lengths[-1]} strategies for {epsilon} chips")
    assert lengths == sorted(lengths)


def test_the_safest_mixture_is_the_best_of_the_list():
    game, solver = exact_game(get_game("kuhn")), RangeOfSkill(0.05)
    state = run(game, solver)
    safest = evaluate(game, solver.plans(game, state)).exploitability
    both, rng = symmetrise(game), np.random.default_rng(0)
    for weights in rng.dirichlet(np.full(len(state["weights"]), 0.3), 50):
        mixture = both.split(weights @ state["strategies"])
        assert evaluate(game, mixture).exploitability >= safest - 1e-12


def test_a_symmetric_matrix_game_needs_one_plan_for_both_seats():
    game, solver = matrix_game([[0, -1, 2], [1, 0, -1], [-2, 1, 0]]), RangeOfSkill()
    state = run(game, solver)
    first, second = solver.plans(game, state)
    np.testing.assert_array_equal(first, second)
    np.testing.assert_allclose(first, [1, 0.25, 0.5, 0.25], atol=1e-6)


@pytest.mark.parametrize("stored_dtype", ["float64", "float32"])
def test_regret_matching_gives_ranked_lists_too(stored_dtype):
    game = exact_game(get_game("kuhn"))
    solver = RangeOfSkill(0.02, "cfr+", 1e-3, stored_dtype=stored_dtype)
    state = run(game, solver)
    assert {state[name].dtype for name in ("strategies", "utilities")} == {np.dtype(stored_dtype)}
    assert evaluate(game, solver.plans(game, state)).exploitability <= 0.02
    assert solver.report(game, state).lower_bound(0.02) > 4


def test_the_report_has_a_plan_for_each_seat():
    game, solver = exact_game(get_game("kuhn")), RangeOfSkill(0.1)
    state = run(game, solver)
    report = solver.report(game, state)
    first, second = report.seats
    wins = (first @ np.stack([game.gradient(0, plan) for plan in second]).T) / 2
    np.testing.assert_allclose(report.table, wins - wins.T, atol=1e-12)
    assert report.unit == "chips"


def test_impossible_settings_are_refused():
    with pytest.raises(InvalidValueError, match="at most epsilon"):
        RangeOfSkill(epsilon=1e-3, accuracy=1e-2)
    with pytest.raises(InvalidValueError, match="at least 1"):
        number_game(0)

from dataclasses import replace

import numpy as np
import pytest

from equilibrist.errors import InvalidValueError
from equilibrist.games.catalog import get_game
from equilibrist.games.rules import GameRules
from equilibrist.models.exact import exact_game, matrix_game
from equilibrist.models.restricted import RestrictedGame, is_symmetric, symmetrise
from equilibrist.solving.best_response import best_response, evaluate
from equilibrist.solving.cfr import CFR

TINY_HOLDEM = GameRules(
    name="tiny-holdem", betting="limit", blinds=(2, 1), raise_sizes=(2, 4), max_raises=(1, 2),
    first_players=(1, 0), num_suits=2, num_ranks=4, num_hole_cards=2, num_board_cards=(0, 3),
)  # fmt: skip
GAMES = {
    "matrix": lambda: matrix_game(np.random.default_rng(5).normal(size=(4, 3))),
    "kuhn": lambda: exact_game(get_game("kuhn")),
    "leduc": lambda: exact_game(get_game("leduc")),
    "tiny hold'em, sorted leaves": lambda: exact_game(TINY_HOLDEM, leaves="sorted"),
}


@pytest.fixture(params=GAMES)
def game(request):
    return GAMES[request.param]()


def random_plans(game, player, number, rng):
    """Return plans of random behaviour, some of it nearly pure."""
    plans = []
    for _ in range(number):
        probabilities = game.uniform(player) * rng.random(game.lengths[player]) ** 3
        plans.append(
            game.realize(player, game.behaviour(player, game.realize(player, probabilities)))
        )
    return np.stack(plans)


def payoff_matrix(game):
    """Return what player 0 wins, by rows of both plans: one gradient per row of player 1's."""
    units = np.eye(game.lengths[1])
    return np.stack([game.gradient(0, unit) for unit in units], axis=1)


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("name", ["matrix", "kuhn", "leduc"])
def test_gradients_of_a_restricted_game_are_those_of_its_payoff_matrix(name, player):
    game, rng = GAMES[name](), np.random.default_rng(player)
    plans = random_plans(game, player, 4, rng)
    restricted = RestrictedGame(game, player, plans)
    weights = np.append(1.0, rng.dirichlet(np.ones(4)))
    other = random_plans(game, 1 - player, 1, rng)[0]
    payoffs = payoff_matrix(game) if player == 0 else -payoff_matrix(game).T
    own = np.append(0.0, plans @ payoffs @ other)
    theirs = -(weights[1:] @ plans @ payoffs)
    np.testing.assert_allclose(restricted.gradient(player, other), own, atol=1e-12)
    np.testing.assert_allclose(restricted.gradient(1 - player, weights), theirs, atol=1e-12)
    np.testing.assert_allclose(
        game.gradient(1 - player, restricted.mixture(weights)), theirs, atol=1e-12
    )


def test_a_restricted_game_grows_by_a_plan(game):
    plans = random_plans(game, 0, 3, np.random.default_rng(1))
    grown = RestrictedGame(game, 0, plans[0]).extend(plans[1]).extend(plans[2])
    at_once = RestrictedGame(game, 0, plans)
    np.testing.assert_array_equal(grown.plans, at_once.plans)
    np.testing.assert_array_equal(grown.utilities, at_once.utilities)
    assert grown.lengths == (4, game.lengths[1])
    assert [len(tree.num_sequences) for tree in grown.trees] == [
        1, len(game.trees[1].num_sequences)
    ]  # fmt: skip


def test_a_single_plan_has_the_value_of_its_best_response():
    game = exact_game(get_game("kuhn"))
    plan = game.realize(0, game.uniform(0))
    restricted = RestrictedGame(game, 0, plan)
    assert best_response(restricted, 1, np.ones(2))[0] == pytest.approx(5 / 12)
    evaluation = evaluate(restricted, (np.ones(2), game.realize(1, game.uniform(1))))
    assert (evaluation.value, evaluation.best_response[0]) == pytest.approx((0.125, 0.125))


@pytest.mark.parametrize(("dtype", "backend"), [("float32", "reference"), ("float64", "cpu")])
def test_regret_matching_solves_restricted_games(dtype, backend):
    game = exact_game(get_game("kuhn"), backend=backend)
    plans = random_plans(game, 1, 5, np.random.default_rng(2)).astype(dtype)
    restricted, solver = RestrictedGame(game, 1, plans), CFR(dtype=dtype)
    state = solver.init(restricted)
    solver.step(restricted, state, 1000)
    assert state["plan1"].dtype == dtype
    assert evaluate(restricted, solver.plans(restricted, state)).exploitability < 1e-3


def test_plans_that_do_not_fit_are_refused():
    game = exact_game(get_game("kuhn"))
    with pytest.raises(InvalidValueError, match=r"rows of 15 numbers, not .* \(2, 4\)"):
        RestrictedGame(game, 0, np.ones((2, 4)))
    with pytest.raises(InvalidValueError, match="0 or 1"):
        RestrictedGame(game, 2, np.ones((1, 15)))


def test_the_symmetrised_utility_is_the_mean_over_both_seatings(game):
    both, rng = symmetrise(game), np.random.default_rng(3)
    mine, yours = random_plans(both.game, 0, 2, rng)
    (x, y), (their_x, their_y) = both.split(mine), both.split(yours)
    mean = (x @ game.gradient(0, their_y) + y @ game.gradient(1, their_x)) / 2
    assert mine @ both.game.gradient(0, yours) == pytest.approx(mean, abs=1e-12)
    assert yours @ both.game.gradient(1, mine) == pytest.approx(-mean, abs=1e-12)
    assert is_symmetric(both.game)


def test_the_symmetrised_game_has_the_same_plans_and_exploitability(game):
    both = symmetrise(game)
    plan = random_plans(both.game, 0, 1, np.random.default_rng(4))[0]
    seats = both.split(plan)
    for player, own in enumerate(seats):
        again = game.realize(player, game.behaviour(player, own))
        np.testing.assert_allclose(again, own, atol=1e-12)
    expected = evaluate(game, seats).exploitability
    assert evaluate(both.game, (plan, plan)).exploitability == pytest.approx(expected, abs=1e-12)


def test_a_symmetric_game_is_not_changed():
    game = matrix_game([[0, -1, 1], [1, 0, -1], [-1, 1, 0]])
    both = symmetrise(game)
    assert both.game is game
    assert both.split(np.array([1.0, 0.2, 0.3, 0.5]))[1].tolist() == [1.0, 0.2, 0.3, 0.5]
    assert not is_symmetric(matrix_game([[1, -1], [-1, 1]]))


def test_seats_that_see_different_cards_cannot_be_exchanged():
    game = exact_game(get_game("kuhn"))
    uneven = game.pairs.joint.copy()
    uneven[1] *= 2
    with pytest.raises(InvalidValueError, match="same states"):
        symmetrise(replace(game, pairs=game.pairs._replace(joint=uneven)))

"""Restricted Nash responses: against linear programs, a grid of other strategies, and mixtures."""

import itertools

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog

from equilibrist.errors import InvalidValueError
from equilibrist.games.catalog import get_game
from equilibrist.models.exact import exact_game, matrix_game
from equilibrist.models.sequence_matrix import payoff_matrix, sequence_matrix
from equilibrist.solving.best_response import best_response, evaluate
from equilibrist.solving.cfr import CFR
from equilibrist.solving.linear_program import LinearProgram
from equilibrist.solving.restricted_nash import RestrictedNash
from equilibrist.solving.solve import Budget, solve

SHARES = (0.0, 0.3, 0.6, 0.9, 0.97, 1.0)
VALUE = {"kuhn": -1 / 18, "leduc": -0.08560642407800}


def random_plan(game, player, seed):
    rng = np.random.default_rng(seed)
    rows = game.uniform(player) * rng.random(game.lengths[player]) ** 2
    return game.realize(player, game.behaviour(player, game.realize(player, rows)))


def wins(game, seat, own, fixed):
    return float(own @ game.gradient(seat, fixed))


def loss(game, seat, own):
    """Return what a best response wins from a plan."""
    return best_response(game, 1 - seat, own)[0]


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("name", ["kuhn", "leduc"])
def test_the_whole_curve_is_that_of_the_linear_program(name, seat):
    game = exact_game(get_game(name))
    fixed = random_plan(game, 1 - seat, 3)
    sign, curve = (1 if seat == game.first_player else -1), []
    for p in SHARES:
        restricted = RestrictedNash.of(game, 1 - seat, fixed, p)
        exact = LinearProgram().solve(restricted)
        run = solve(restricted, CFR(), Budget(target=2e-4, iterations=20_000))
        assert run.evaluation.exploitability <= 2e-4
        assert run.evaluation.value == pytest.approx(exact.value, abs=4e-4)
        plan = exact.plans[seat]
        curve.append((wins(game, seat, plan, fixed), loss(game, seat, plan)))
        # What the responder gets: p times its win, and 1 − p times what it is sure of.
        value = p * curve[-1][0] - (1 - p) * curve[-1][1]
        assert sign * exact.value == pytest.approx(value, abs=1e-6)
    assert -curve[0][1] == pytest.approx(sign * VALUE[name], abs=1e-6)  # p = 0: an equilibrium
    best = best_response(game, seat, fixed)[0]
    assert curve[-1][0] == pytest.approx(best, abs=1e-6)  # p = 1: a best response
    for (win, given), (more, away) in itertools.pairwise(curve):
        assert more >= win - 1e-6
        assert away >= given - 1e-6 or p == 1


@pytest.mark.parametrize("seat", [0, 1])
def test_no_strategy_of_a_grid_wins_more_at_the_same_exploitability(seat):
    game = exact_game(get_game("kuhn"))
    fixed = random_plan(game, 1 - seat, 5)
    others = np.stack(list(_grid(game, seat)))
    won = others @ game.gradient(seat, fixed)
    lost = np.array([loss(game, seat, plan) for plan in others])
    tried = 0
    for p in (0.05, 0.1, 0.2, 0.5, 0.8, 0.95):
        own = LinearProgram().solve(RestrictedNash.of(game, 1 - seat, fixed, p)).plans[seat]
        better = won > wins(game, seat, own, fixed) + 1e-7
        tried += int(better.sum())
        assert (lost[better] > loss(game, seat, own) + 1e-9).all()
    assert tried > 1000  # strategies that win more, all of which lose more


def most_won(game, seat, fixed, lost):
    """Return the most that a strategy wins from a plan among those that lose at most `lost`.

    Of a plan x the opponent's best response wins min f·u, with Fᵀu ≥ −Mᵀx by duality; so x and u
    are the variables of one linear program.
    """
    matrix = sequence_matrix(game)
    payoff = matrix.payoff if seat == 0 else -matrix.payoff.T
    own, other = matrix.sequences[seat], matrix.sequences[1 - seat]
    theirs = np.zeros(payoff.shape[1])
    theirs[other.variable] = fixed  # entries of a round repeat variables
    num_own, num_values = payoff.shape[0], other.constraints.shape[0]
    above = sparse.block_array([
        [-payoff.T, -other.constraints.T],
        [None, sparse.csr_array(other.right_side[None, :])],
    ])  # fmt: skip
    equal = sparse.block_array(
        [[own.constraints, sparse.csr_array((len(own.right_side), num_values))]]
    )
    found = linprog(
        np.append(-(payoff @ theirs), np.zeros(num_values)),
        A_ub=above, b_ub=np.append(np.zeros(payoff.shape[1]), lost),
        A_eq=equal, b_eq=own.right_side,
        bounds=[(0, None)] * num_own + [(None, None)] * num_values, method="highs",
    )  # fmt: skip
    assert found.success
    return -found.fun


@pytest.mark.parametrize("seat", [0, 1])
def test_no_strategy_at_all_wins_more_at_the_same_exploitability(seat):
    """The whole set of strategies of Leduc hold'em instead of a grid, by a linear program."""
    game = exact_game(get_game("leduc"))
    fixed = random_plan(game, 1 - seat, 3)
    for p in (0.3, 0.6, 0.9, 0.97):
        run = solve(RestrictedNash.of(game, 1 - seat, fixed, p), CFR(), Budget(target=2e-4))
        own = CFR().plans(game, run.state)[seat]
        win, lost = wins(game, seat, own, fixed), loss(game, seat, own)
        gap = sum(run.evaluation.best_response)
        assert win - 1e-6 <= most_won(game, seat, fixed, lost) <= win + gap / p + 1e-6
    best = best_response(game, seat, fixed)[0]
    assert most_won(game, seat, fixed, 100.0) == pytest.approx(best, abs=1e-6)
    assert most_won(game, seat, fixed, -VALUE["leduc"] * (1 - 2 * seat) + 0.01) < best - 0.1


def _grid(game, player):
    """Yield plans of all combinations of six probabilities in quarters."""
    for shares in itertools.product((0, 0.25, 0.5, 0.75, 1), repeat=6):
        behaviour, own = game.uniform(player), np.array(shares)
        tree = game.trees[player]
        for d, first in enumerate(tree.decision_first):  # one round, one board, three cards
            rows = behaviour.reshape(-1, 3)
            rows[first], rows[first + 1] = own[3 * d : 3 * d + 3], 1 - own[3 * d : 3 * d + 3]
        yield game.realize(player, behaviour)


def test_a_mixture_of_equilibrium_and_best_response_is_worse():
    game = exact_game(get_game("leduc"))
    fixed = random_plan(game, 1, 3)
    nash = LinearProgram().solve(game).plans[0]
    best = game.realize(0, best_response(game, 0, fixed)[1])
    own = LinearProgram().solve(RestrictedNash.of(game, 1, fixed, 0.6)).plans[0]
    win, away = wins(game, 0, own, fixed), loss(game, 0, own)
    # The mixture that wins as much gives away far more, and the one of weight p is no solution.
    floor, top = wins(game, 0, nash, fixed), wins(game, 0, best, fixed)
    weight = (win - floor) / (top - floor)
    mixture = (1 - weight) * nash + weight * best
    assert wins(game, 0, mixture, fixed) == pytest.approx(win)
    assert loss(game, 0, mixture) > away + 0.1
    given = 0.4 * nash + 0.6 * best
    worth = 0.6 * wins(game, 0, given, fixed) - 0.4 * loss(game, 0, given)
    assert worth < 0.6 * win - 0.4 * away - 0.01


@pytest.mark.parametrize("restricted", [0, 1])
def test_gradients_are_those_of_the_adjusted_payoffs_and_linear(restricted):
    game = matrix_game(np.random.default_rng(5).normal(size=(4, 3)))
    fixed = random_plan(game, restricted, 1)
    half = RestrictedNash.of(game, restricted, fixed, 0.3)
    payoff = half.adjusted(payoff_matrix(game)).toarray()
    for seed in (0, 1):
        x, y = (random_plan(game, player, seed) for player in (0, 1))
        values = half.gradient(0, y), half.gradient(1, x)
        assert x @ values[0] == pytest.approx(x @ payoff @ y)
        assert y @ values[1] == pytest.approx(-x @ payoff @ y)
        mixed = half.p * fixed + (1 - half.p) * (y if restricted else x)
        direct = (x, mixed) if restricted else (mixed, y)
        assert x @ values[0] == pytest.approx(evaluate(game, direct).value)


@pytest.mark.parametrize("p", [-0.1, 1.5, np.nan])
def test_p_is_a_probability(p):
    game = exact_game(get_game("kuhn"))
    with pytest.raises(InvalidValueError, match="p must be a probability from 0 to 1"):
        RestrictedNash.of(game, 1, random_plan(game, 1, 0), p)


def test_a_plan_of_another_length_is_refused():
    game = exact_game(get_game("kuhn"))
    with pytest.raises(InvalidValueError, match="must have 15 numbers"):
        RestrictedNash.of(game, 1, np.ones(3), 0.5)

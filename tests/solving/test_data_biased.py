"""Data-biased responses: against a linear program written here, and at the ends of the scale."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog

from equilibrist.errors import EquilibristError
from equilibrist.games.catalog import get_game
from equilibrist.models.exact import exact_game
from equilibrist.models.sequence_matrix import sequence_matrix
from equilibrist.solving.best_response import best_response, evaluate
from equilibrist.solving.cfr import CFR
from equilibrist.solving.data_biased import Confidence, DataBiased
from equilibrist.solving.linear_program import LinearProgram
from equilibrist.solving.restricted_nash import RestrictedNash
from equilibrist.solving.solve import Budget, solve


def random_behaviour(game, player, seed):
    rng = np.random.default_rng(seed)
    rows = game.uniform(player) * rng.random(game.lengths[player]) ** 2
    return game.behaviour(player, game.realize(player, rows))


def random_shares(game, player, seed):
    """Return a share per decision and state: none, some or all."""
    rng = np.random.default_rng(seed)
    tree, shares = game.trees[player], np.zeros(game.lengths[player])
    for board in range(len(tree.num_states)):
        r = int(np.searchsorted(tree.board_start, board, "right")) - 1
        own = shares[tree.block_start[board] : tree.block_start[board + 1]]
        rows = own.reshape(tree.num_sequences[r], tree.num_states[board])
        for d in range(tree.decision_start[r], tree.decision_start[r + 1]):
            first, size = tree.decision_first[d], tree.decision_size[d]
            rows[first : first + size] = rng.choice([0, 0.5, 0.9, 1], rows.shape[1])
    return shares


def linear_program(game, biased, given, share):
    """Return the value to the responder: y(a) ≥ P(I) · given(a) · y(I) replaces y ≥ 0."""
    matrix = sequence_matrix(game)
    payoff = matrix.payoff if biased == 1 else -matrix.payoff.T
    own, other = matrix.sequences[1 - biased], matrix.sequences[biased]
    least = np.zeros(other.constraints.shape[1])
    np.maximum.at(least, other.variable, share * given)  # entries repeat variables, with share 0
    rows = other.constraints.tocoo()
    parent = np.zeros(len(least), int)
    above = {r: c for r, c, v in zip(*rows.coords, rows.data, strict=True) if v < 0}
    for r, c, v in zip(*rows.coords, rows.data, strict=True):
        if v > 0 and r > 0:
            parent[c] = above[r]
    places = np.arange(len(least))
    bound = sparse.csr_array((np.ones(len(least)), (places, places)))
    bound = bound - sparse.csr_array((least, (places, parent)), bound.shape)
    equal = sparse.block_array(
        [
            [other.constraints.T, bound.T, -payoff.T],
            [None, None, own.constraints],
        ]
    )
    num_values, num_own = other.constraints.shape[0], payoff.shape[0]
    right = np.append(np.zeros(len(least)), own.right_side)
    cost = np.zeros(equal.shape[1])
    cost[0] = -1
    limits = [(None, None)] * num_values + [(0, None)] * (len(least) + num_own)
    found = linprog(cost, A_eq=equal, b_eq=right, bounds=limits, method="highs")
    assert found.success
    return -found.fun


@pytest.mark.parametrize("biased", [0, 1])
@pytest.mark.parametrize("name", ["kuhn", "leduc"])
def test_the_value_is_that_of_a_linear_program(name, biased):
    game = exact_game(get_game(name))
    given, share = random_behaviour(game, biased, 2), random_shares(game, biased, 4)
    half = DataBiased.of(game, biased, given, share)
    run = solve(half, CFR(), Budget(target=3e-4, iterations=20_000))
    sign = 1 if game.first_player == 1 - biased else -1
    value = linear_program(game, biased, given, share)
    assert run.evaluation.exploitability <= 3e-4
    assert sign * run.evaluation.value == pytest.approx(value, abs=6e-4)


@pytest.mark.parametrize("biased", [0, 1])
def test_with_share_0_it_is_the_game_and_with_1_the_given_strategy(biased):
    game = exact_game(get_game("leduc"))
    given = random_behaviour(game, biased, 1)
    responder = 1 - biased
    free = DataBiased.of(game, biased, given, np.zeros_like(given))
    plans = LinearProgram().solve(game).plans
    assert evaluate(free, plans).exploitability == pytest.approx(0, abs=1e-7)
    fixed = DataBiased.of(game, biased, given, np.ones_like(given))
    plan = fixed.realize(biased, fixed.uniform(biased))
    np.testing.assert_allclose(plan, game.realize(biased, given), atol=1e-15)
    best = game.realize(responder, best_response(game, responder, plan)[1])
    both = (best, plan) if responder == 0 else (plan, best)
    assert evaluate(fixed, both).exploitability == pytest.approx(0, abs=1e-12)


def test_one_decision_makes_it_the_restricted_game_and_more_do_not():
    game = exact_game(get_game("leduc"))
    given = random_behaviour(game, 1, 3)
    shares = np.full_like(given, 0.5)
    biased = DataBiased.of(game, 1, given, shares)
    restricted = RestrictedNash.of(game, 1, game.realize(1, given), 0.5)
    run = solve(biased, CFR(), Budget(target=1e-3, iterations=5000))
    assert abs(run.evaluation.value - LinearProgram().solve(restricted).value) > 0.01


def test_behaviour_is_the_inverse_of_realize():
    game = exact_game(get_game("leduc"))
    given, share = random_behaviour(game, 0, 6), random_shares(game, 0, 7)
    biased = DataBiased.of(game, 0, given, share)
    plan = biased.realize(0, random_behaviour(game, 0, 8))
    again = biased.realize(0, biased.behaviour(0, plan))
    np.testing.assert_allclose(again, plan, atol=1e-14)


def test_confidence_is_zero_where_nothing_was_seen():
    for text in ("1-step", "10-step", "10-linear", "1-curve", "10-curve"):
        shares = Confidence.parse(text, 0.9).of(np.array([0.0, 1, 5, 10, 1e9]))
        assert shares[0] == 0
        assert (np.diff(shares) >= 0).all()
        assert shares[-1] == pytest.approx(0.9)


@pytest.mark.parametrize("text", ["step", "0-step", "3-jump", "", "1.5-curve"])
def test_an_unknown_confidence_is_refused(text):
    with pytest.raises(EquilibristError, match="is not a confidence; write"):
        Confidence.parse(text, 0.5)


def test_the_linear_program_says_that_it_does_not_take_the_game():
    game = exact_game(get_game("kuhn"))
    given = game.uniform(0)
    with pytest.raises(EquilibristError, match="use cfr"):
        LinearProgram().solve(DataBiased.of(game, 0, given, given * 0.5))

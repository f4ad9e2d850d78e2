"""Best responses with locked decisions, compared with linear programs and with all plans."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from equilibrist.games.catalog import get_game
from equilibrist.models.exact import exact_game
from equilibrist.models.game import Floats, SequenceGame
from equilibrist.models.sequence_matrix import sequence_matrix
from equilibrist.solving.best_response import best_response, evaluate
from equilibrist.solving.cfr import CFR
from equilibrist.solving.linear_program import LinearProgram
from equilibrist.solving.solve import Budget, Run, solve

ALL = slice(None)


def lock(game: SequenceGame, player: int, decisions) -> SequenceGame:
    locked = game.trees[player].locked.copy()
    locked[decisions] = True
    trees = list(game.trees)
    trees[player] = trees[player]._replace(locked=locked)
    return replace(game, trees=(trees[0], trees[1]))


def random_behaviour(game: SequenceGame, player: int, seed: int) -> Floats:
    probabilities = np.random.default_rng(seed).random(game.lengths[player]) ** 3
    return game.behaviour(player, game.realize(player, game.uniform(player) * probabilities))


def value_by_linear_program(game: SequenceGame, behaviours: tuple[Floats, Floats]) -> float:
    """Return what player 0 wins if both play the rest optimally; no plan is folded up."""
    matrix = sequence_matrix(game, behaviours)
    _, x, y = LinearProgram("highs-simplex").saddle_point(matrix)
    return float(x @ matrix.payoff @ y)


def test_a_best_response_keeps_its_own_plan_at_locked_decisions():
    free = exact_game(get_game("leduc"))
    game = lock(lock(free, 0, [0, 2, 5, 9]), 1, [1, 3, 4])
    behaviours = (random_behaviour(game, 0, 1), random_behaviour(game, 1, 2))
    plans = (game.realize(0, behaviours[0]), game.realize(1, behaviours[1]))
    found = evaluate(game, plans)
    # With every decision of the opponent locked to its plan, a linear program is a best response.
    expected = (
        value_by_linear_program(lock(game, 1, ALL), behaviours),
        -value_by_linear_program(lock(game, 0, ALL), behaviours),
    )
    assert found.best_response == pytest.approx(expected, abs=1e-8)
    unlocked = evaluate(free, plans)  # a responder that may choose there wins more
    assert unlocked.best_response[0] > found.best_response[0] + 0.01
    assert unlocked.best_response[1] > found.best_response[1] + 0.01


@pytest.mark.parametrize("locked", [[0], [1]])
def test_no_plan_that_keeps_the_locked_decision_beats_the_best_response(locked):
    game = lock(exact_game(get_game("kuhn")), 0, locked)
    own, other = random_behaviour(game, 0, 3), random_behaviour(game, 1, 4)
    plan = game.realize(1, other)
    wins = []
    for actions in itertools.product((0, 1), repeat=3):  # of the other decision, by card
        behaviour = own.copy()
        first = int(game.trees[0].decision_first[1 - locked[0]]) * 3
        behaviour[first : first + 3] = np.array(actions) == 0
        behaviour[first + 3 : first + 6] = np.array(actions) == 1
        wins.append(game.realize(0, behaviour) @ game.gradient(0, plan))
    value, behaviour = best_response(game, 0, plan, own)
    assert value == pytest.approx(max(wins), abs=1e-14)
    assert game.realize(0, behaviour) @ game.gradient(0, plan) == pytest.approx(value, abs=1e-14)
    first = int(game.trees[0].decision_first[locked[0]]) * 3
    np.testing.assert_array_equal(behaviour[first : first + 6], own[first : first + 6])


def test_given_probabilities_count_where_a_plan_is_zero():
    # Player 1 bets after a check and folds to a bet. Player 0 always bets and wins 1, so its plan
    # does not define the locked decision, after a check and a bet. If that is to call, checking the
    # ace wins 2; if it is played uniformly, half of 2 and half of −1.
    game = lock(exact_game(get_game("kuhn")), 0, [1])
    bets, calls, folds = (0, 1), (0, 1), (1, 0)  # passive action first
    own = np.repeat((1.0, *bets, *calls), 3)
    other = np.repeat((1.0, *bets, *folds), 3)
    plans = (game.realize(0, own), game.realize(1, other))
    assert evaluate(game, plans).best_response[0] == pytest.approx(1)
    given = evaluate(game, plans, (own, other))
    assert given.best_response[0] == pytest.approx((1 + 1 + 2) / 3)
    assert best_response(game, 0, plans[1], own)[0] == given.best_response[0]


def test_a_run_certifies_its_plans_by_the_given_probabilities():
    game = lock(lock(exact_game(get_game("leduc")), 0, [0, 4]), 1, [2])
    behaviours = (random_behaviour(game, 0, 5), random_behaviour(game, 1, 6))
    value = value_by_linear_program(game, behaviours)
    for solver, precision in ((CFR(), 1e-3), (LinearProgram(), 1e-8)):
        start = solver.init(game)
        for player, behaviour in enumerate(behaviours):
            start[f"behaviour{player}"][:] = behaviour
            start[f"plan{player}"][:] = game.realize(player, behaviour)
        run = solve(game, solver, Budget(iterations=2000), run=Run(start))
        assert run.evaluation.exploitability < precision
        assert abs(run.evaluation.value - value) <= run.evaluation.nash_conv + 1e-9

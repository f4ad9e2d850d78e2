"""Bucket games compared with exact ones."""

from dataclasses import replace

import numpy as np
import pytest

from equilibrist.abstraction.features import Strengths
from equilibrist.abstraction.joint_counts import joint
from equilibrist.abstraction.recipes import build
from equilibrist.abstraction.recipes.lossless import lossless
from equilibrist.abstraction.recipes.percentile import percentile
from equilibrist.abstraction.streets import Streets
from equilibrist.errors import InvalidValueError
from equilibrist.games.bet_menu import BetMenu
from equilibrist.games.betting_tree import NodeKind
from equilibrist.games.catalog import get_game
from equilibrist.models.bucketed import bucket_game, lift
from equilibrist.models.exact import exact_game
from equilibrist.solving.best_response import evaluate
from equilibrist.solving.linear_program import LinearProgram
from equilibrist.solving.solve import Budget, solve


@pytest.mark.parametrize(("name", "value"), [("kuhn", -1 / 18), ("leduc", -0.085606424078)])
def test_lossless_buckets_have_the_value_of_the_game(name, value):
    buckets = lossless(get_game(name))
    run = solve(bucket_game(buckets, joint(buckets)), LinearProgram(), Budget(iterations=1))
    assert run.evaluation.value == pytest.approx(value, abs=1e-9)
    assert run.evaluation.exploitability < 1e-9


@pytest.mark.parametrize("name", ["leduc", "rhode-island"])
def test_lifted_strategies_are_worth_the_same_in_the_real_game(name):
    """J and W of buckets give every pair of plans the value that the cards give."""
    rules = get_game(name)
    sides = [
        percentile(Strengths.of(Streets.of(rules)), [3 * 2**r for r in range(rules.num_rounds)]),
        percentile(Strengths.of(Streets.of(rules)), [2 * 2**r for r in range(rules.num_rounds)]),
    ]
    if name == "leduc":
        sides[1] = sides[0]
    small = bucket_game(sides[0], joint(*sides), second=sides[1])
    real = exact_game(rules)
    random = np.random.default_rng(7)
    plans, lifted = [], []
    for player in (0, 1):
        noise = random.random(small.lengths[player]) + 0.01
        plan = small.realize(player, small.behaviour(player, small.realize(player, noise)))
        plans.append(plan)
        behaviour = lift(real, small, sides[player], player, plan)
        lifted.append(real.realize(player, behaviour))
    ours, truth = evaluate(small, tuple(plans)), evaluate(real, tuple(lifted))
    assert ours.value == pytest.approx(truth.value, abs=1e-9)
    # Fewer strategies: the best response with buckets wins no more than with cards.
    assert all(a <= b + 1e-9 for a, b in zip(ours.best_response, truth.best_response, strict=True))


def test_counts_must_fit_the_buckets():
    leduc = Strengths.of(Streets.of(get_game("leduc")))
    with pytest.raises(InvalidValueError, match="do not fit"):
        bucket_game(percentile(leduc, [3, 3]), joint(percentile(leduc, [3, 6])))


def test_lifting_needs_the_same_betting():
    buckets = lossless(get_game("leduc"))
    small = bucket_game(buckets, joint(buckets), BetMenu(max_raises=(1, 1)))
    real = exact_game(get_game("leduc"))
    with pytest.raises(InvalidValueError, match="a different betting tree"):
        lift(real, small, buckets, 0, small.realize(0, small.uniform(0)))


def test_matrix_products_and_loops_give_the_same_gradient():
    """Wide dense boards are played by BLAS, the reference by plain products."""
    from dataclasses import replace

    buckets = percentile(Strengths.of(Streets.of(get_game("rhode-island"))), [4, 16, 64])
    game = bucket_game(buckets, joint(buckets))
    slow = replace(game, backend="reference")
    for dtype, tolerance in ((np.float64, 1e-14), (np.float32, 1e-6)):
        for player in (0, 1):
            plan = game.realize(1 - player, game.uniform(1 - player, dtype))
            ours, truth = game.gradient(player, plan), slow.gradient(player, plan)
            assert ours.dtype == dtype
            np.testing.assert_allclose(ours, truth, atol=tolerance)


def test_all_ins_before_the_last_round_win_the_mean_over_the_cards_to_come():
    rules = replace(
        get_game("leduc"), name="leduc-nolimit", betting="nolimit", blinds=(10, 10),
        stacks=(60, 60), raise_sizes=(), max_raises=(),
    )  # fmt: skip
    menu, buckets = BetMenu.parse("100%,a", max_raises="2"), build("lossless", rules)
    exact = exact_game(rules, menu, symmetry="suits")
    model = bucket_game(buckets, joint(buckets), menu)
    assert exact.betting.counts(NodeKind.SHOWDOWN)[0] > 0
    random = np.random.default_rng(0)
    plans = [model.realize(p, model.behaviour(p, random.random(model.lengths[p]))) for p in (0, 1)]
    lifted = [exact.realize(p, lift(exact, model, buckets, p, plans[p])) for p in (0, 1)]
    found, expected = (
        evaluate(game, (own[0], own[1])) for game, own in ((model, plans), (exact, lifted))
    )
    assert found.value == pytest.approx(expected.value, abs=1e-12)
    assert found.best_response == pytest.approx(expected.best_response, abs=1e-12)

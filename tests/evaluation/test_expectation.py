"""Exact expectations compared with enumeration, closed forms and solved games."""

import dataclasses

import numpy as np
import pytest

from equilibrist.abstraction.features import Strengths
from equilibrist.abstraction.joint_counts import joint
from equilibrist.abstraction.recipes.percentile import percentile
from equilibrist.abstraction.streets import Streets
from equilibrist.errors import InvalidValueError, UnknownNameError
from equilibrist.evaluation.expectation import (
    expectation,
    fixed_mix,
    head_to_head,
    pair_value,
)
from equilibrist.games.action import action_name
from equilibrist.games.bet_menu import BetMenu
from equilibrist.games.betting_tree import BettingTree
from equilibrist.games.catalog import get_game
from equilibrist.models.bucketed import bucket_game, lift
from equilibrist.models.exact import exact_game, matrix_game
from equilibrist.solving.best_response import evaluate
from equilibrist.solving.cfr import CFR
from equilibrist.strategies.description import GameDescription
from equilibrist.strategies.played import mixed_probabilities
from equilibrist.strategies.solution import Solution

FOLD, CALL, RAISE = (1, 0, 0), (0, 1, 0), (0, 0, 1)


def solved(game, iterations):
    state = CFR().init(game)
    CFR().step(game, state, iterations)
    return CFR().plans(game, state)


def solution(game, iterations):
    plans = solved(game, iterations)
    return Solution(
        GameDescription.of(game), plans, "cfr+", iterations, 0.0, evaluate(game, plans),
        np.zeros((0, 6)),
    )  # fmt: skip


def test_always_fold_loses_750_to_always_raise():
    # A fold is legal only facing a bet: 10 chips as big blind, 5 as dealer, of a big blind of 10.
    game = exact_game(get_game("preflop-holdem"))
    result = expectation(game, fixed_mix(game, FOLD), fixed_mix(game, RAISE))
    assert result.seats == pytest.approx((-10, -5), abs=1e-12)
    assert result.win_rate("mbb/g")[0] == pytest.approx(-750, abs=1e-9)
    assert result.win_rate("sb/h")[0] == pytest.approx(-0.75, abs=1e-12)


@pytest.mark.parametrize("name", ["kuhn", "leduc", "preflop-holdem"])
def test_always_call_against_always_raise_is_even(name):
    game = exact_game(get_game(name))
    result = expectation(game, fixed_mix(game, CALL), fixed_mix(game, RAISE))
    assert result.seats == pytest.approx((0, 0), abs=1e-12)


@pytest.mark.parametrize("name", ["kuhn", "leduc"])
def test_winnings_are_zero_sum_and_zero_against_itself(name):
    game = exact_game(get_game(name))
    good, mixed = solved(game, 500), fixed_mix(game, (0.2, 0.5, 0.3))
    there, back = expectation(game, good, mixed), expectation(game, mixed, good)
    assert there.mean == pytest.approx(-back.mean, abs=1e-12)
    assert there.seats == pytest.approx((-back.seats[1], -back.seats[0]), abs=1e-12)
    assert expectation(game, mixed, mixed).mean == pytest.approx(0, abs=1e-12)
    assert there.mean > 0.05


def test_seats_of_a_solved_game_are_its_value():
    game = exact_game(get_game("kuhn"))
    good = solved(game, 5000)
    assert expectation(game, good, good).seats == pytest.approx((-1 / 18, 1 / 18), abs=1e-4)


def test_value_is_that_of_the_evaluation_and_survives_float32():
    game = exact_game(get_game("leduc"))
    plans = solved(game, 50)
    value = pair_value(game, plans)
    assert value == pytest.approx(evaluate(game, plans).value, abs=1e-12)
    small = (plans[0].astype(np.float32), plans[1].astype(np.float32))
    assert pair_value(game, small) == pytest.approx(value, abs=1e-6)


def test_a_mix_gives_illegal_shares_to_calling():
    # In Leduc a raise is illegal after two: its share is called. Exact by a closed form: the mixer
    # never folds, so both see a showdown with equal hands, and nobody wins on average.
    game = exact_game(get_game("leduc"))
    assert pair_value(game, (fixed_mix(game, (0, 0.3, 0.7))[0], fixed_mix(game, RAISE)[1])) == (
        pytest.approx(0, abs=1e-12)
    )


def test_several_sizes_share_the_probability_of_raising():
    rules = get_game("holdem-nolimit")
    tree = BettingTree.build(rules, BetMenu.parse("50%,100%,a"), last_round=0)
    kinds = [action_name(tree.action(child))[0] for child in tree.children(0)]
    assert kinds == ["f", "c", "r", "r", "r"]
    probabilities = mixed_probabilities(tree, 0, (0.2, 0.5, 0.3))
    assert probabilities == pytest.approx([0.2, 0.5, 0.1, 0.1, 0.1])


def test_bucket_strategies_meet_in_buckets_as_they_do_in_the_real_game():
    rules = get_game("leduc")
    strengths = Strengths.of(Streets.of(rules))
    coarse, fine = percentile(strengths, [2, 4]), percentile(strengths, [3, 6])
    here = bucket_game(coarse, joint(coarse, fine), second=fine)
    there = bucket_game(fine, joint(fine, coarse), second=coarse)
    own = {"c": bucket_game(coarse, joint(coarse)), "f": bucket_game(fine, joint(fine))}
    plans = {name: solved(game, 30) for name, game in own.items()}
    met = expectation(here, plans["c"], plans["f"], swapped=there)
    real = exact_game(rules)
    lifted = [
        tuple(real.realize(p, lift(real, own[name], side, p, plans[name][p])) for p in (0, 1))
        for name, side in (("c", coarse), ("f", fine))
    ]
    assert met.seats == pytest.approx(expectation(real, *lifted).seats, abs=1e-12)


def test_solutions_meet_where_their_games_are_the_same():
    game = exact_game(get_game("leduc"))
    good, poor = solution(game, 300), solution(game, 3)
    result = head_to_head(good, poor)
    assert result.mean > 0.1
    assert result == expectation(game, good.plans, poor.plans)
    assert result.to_json() == {
        "win_rate": result.mean, "unit": "chips", "seats": list(result.seats), "exact": True,
    }  # fmt: skip
    kuhn = solution(exact_game(get_game("kuhn")), 3)
    with pytest.raises(InvalidValueError, match="leduc and kuhn have different rules"):
        head_to_head(good, kuhn)
    capped = exact_game(dataclasses.replace(get_game("leduc"), max_raises=(1, 1)))
    with pytest.raises(InvalidValueError, match="different rules"):
        head_to_head(good, solution(capped, 3))
    by_cards = solution(exact_game(get_game("leduc"), symmetry="cards"), 3)
    with pytest.raises(InvalidValueError, match="different symmetry"):
        head_to_head(good, by_cards)


def test_a_plan_may_miss_by_a_ten_thousandth():
    game = exact_game(get_game("kuhn"))
    first, second = fixed_mix(game, RAISE)
    assert first[-1] == 0  # a call after a check that never happens
    first[-1] = 1e-4
    assert pair_value(game, (first, second)) == pair_value(game, fixed_mix(game, RAISE))
    first[-1] = 1.01e-4
    with pytest.raises(InvalidValueError, match="player 0's array is not a realization plan"):
        pair_value(game, (first, second))


def test_what_is_no_plan_gives_one_sentence():
    game = exact_game(get_game("kuhn"))
    plans = fixed_mix(game, CALL)
    with pytest.raises(InvalidValueError, match=r"plans of kuhn have \d+ numbers"):
        pair_value(game, (plans[0][:-1], plans[1]))
    with pytest.raises(InvalidValueError, match="not a realization plan of kuhn"):
        pair_value(game, (plans[0] * 0.5, plans[1]))
    with pytest.raises(InvalidValueError, match="not a realization plan"):
        pair_value(game, (plans[0] * np.nan, plans[1]))
    with pytest.raises(InvalidValueError, match="three probabilities"):
        fixed_mix(game, (0.5, 0.5, 0.5))
    with pytest.raises(InvalidValueError, match="no betting tree to mix actions in"):
        fixed_mix(matrix_game([[1, -1], [-1, 1]]), CALL)
    with pytest.raises(UnknownNameError, match="kuhn have no unit 'mbb/g'"):
        expectation(game, plans, plans).win_rate("mbb/g")

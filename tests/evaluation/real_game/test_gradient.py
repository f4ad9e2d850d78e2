"""Gradients against best responses below flops: the numbers of exact models, by other programs."""

from dataclasses import replace

import numpy as np
import pytest

from equilibrist.abstraction.recipes import build
from equilibrist.abstraction.recipes.lossless import lossless
from equilibrist.cards.hand import NUM_HANDS, class_table
from equilibrist.errors import InvalidValueError
from equilibrist.evaluation.real_game.gradient import FlopGradient, openings
from equilibrist.evaluation.real_game.measure import RealGameMeasure
from equilibrist.evaluation.real_game.opponent import FlopOpponent
from equilibrist.evaluation.real_game.response import Flops, Response
from equilibrist.games.betting_tree import BettingTree
from equilibrist.games.catalog import get_game
from equilibrist.kernels.cpu.sequence_form import normalize, realize
from equilibrist.kernels.treeplex import block
from equilibrist.models.bucketed import bucket_tree
from equilibrist.models.one_sided import one_sided_games
from equilibrist.solving.cfr_br import ModelOpponent
from equilibrist.strategies.played import BucketColumns, TableStrategy

pytestmark = pytest.mark.kernels

NINE_CARDS = replace(
    get_game("holdem-limit"), name="nine cards", num_ranks=3, num_suits=3, max_raises=(1, 1, 1, 1)
)


@pytest.fixture(scope="module")
def prepared():
    buckets = build("percentile", NINE_CARDS, [2, 2, 4, 4])
    return BettingTree.build(NINE_CARDS), buckets, one_sided_games(buckets)


def random_behaviour(tree, seed, *, zeros=False):
    rng = np.random.default_rng(seed)
    numbers = rng.random(int(tree.block_start[-1]))
    if zeros:
        numbers *= rng.random(len(numbers)) < 0.6
    plan, behaviour = np.empty_like(numbers), np.empty_like(numbers)
    normalize(tree, numbers, behaviour)
    realize(tree, behaviour, plan)
    normalize(tree, plan, behaviour)
    return behaviour, plan


@pytest.mark.parametrize("player", [0, 1])
def test_all_flops_give_the_gradient_of_the_exact_model(prepared, player):
    betting, buckets, games = prepared
    plan = random_behaviour(bucket_tree(betting, player, buckets), 5)[1]
    opponent = FlopOpponent(betting, buckets, None)
    trunk = opponent.trunk(1 - player)
    behaviour = random_behaviour(trunk, 7)[0]
    gradient, values = opponent.answer(player, plan, behaviour, 1)
    exact = ModelOpponent(games, rounds=1)
    # The exact model numbers the classes of hands before the flop in its own way.
    cards = games[player].trees[1 - player]
    states = _states_of_classes(NINE_CARDS, int(cards.num_states[0]))
    used = states >= 0
    theirs = np.zeros(int(exact.trunk(1 - player).block_start[-1]))
    own = block(exact.trunk(1 - player), 0, 0, theirs)
    own[:, states[used]] = block(trunk, 0, 0, behaviour)[:, used]
    expected, wanted = exact.answer(player, plan, theirs, 1)
    np.testing.assert_allclose(gradient, expected, atol=1e-12)
    mapped = block(exact.trunk(1 - player), 0, 0, wanted)[:, states[used]]
    np.testing.assert_allclose(block(trunk, 0, 0, values)[:, used], mapped, atol=1e-12)
    assert not block(trunk, 0, 0, values)[:, ~used].any()


def _states_of_classes(rules, number):
    """Return the state in the exact model of each of the 169 classes, −1 outside the deck."""
    states, table = np.full(169, -1), lossless(rules).buckets(())
    held = table >= 0
    states[class_table()[held]] = table[held]
    assert states.max() == number - 1
    return states


@pytest.mark.parametrize("player", [0, 1])
def test_values_are_those_of_the_fast_response(prepared, player):
    betting, buckets, _ = prepared
    trees = bucket_tree(betting, 0, buckets), bucket_tree(betting, 1, buckets)
    found = [random_behaviour(tree, 3 + p) for p, tree in enumerate(trees)]
    plans = found[0][1], found[1][1]
    behaviour = found[0][0], found[1][0]
    strategy = TableStrategy(betting, betting, trees, behaviour, BucketColumns(buckets))
    response = Response(strategy, 1 - player)
    rows = [block(trees[player], r, r, plans[player]) for r in (1, 2, 3)]
    flops = [tuple(board.tolist()) for board in Flops.of(NINE_CARDS).boards]
    engine = FlopGradient(betting, buckets, player)
    for flop in flops[::3]:
        values = engine.respond([flop], np.ones(1), rows, None).values
        expected = response.values(flop)[:, :NUM_HANDS]
        nodes = response.positions[0].nodes
        place = {node: p for p, node in enumerate(openings(betting, 1).tolist())}
        own = values[[place[node] for node in nodes]]
        np.testing.assert_allclose(own, expected, atol=2e-5)


def test_flops_and_threads_add_up(prepared):
    betting, buckets, _ = prepared
    tree = bucket_tree(betting, 0, buckets)
    plan = random_behaviour(tree, 1, zeros=True)[1]
    rows = [block(tree, r, r, plan) for r in (1, 2, 3)]
    reach = np.random.default_rng(0).random((len(openings(betting, 1)), 169))[:, class_table()]
    flops = [tuple(board.tolist()) for board in Flops.of(NINE_CARDS).boards[:3]]
    weights = np.array([1.0, 0.5, 2.0])
    whole = FlopGradient(betting, buckets, 0, threads=2).respond(flops, weights, rows, reach)
    engine = FlopGradient(betting, buckets, 0)
    parts = [
        engine.respond([flop], weights[i : i + 1], rows, reach) for i, flop in enumerate(flops)
    ]
    np.testing.assert_allclose(whole.values, sum(part.values for part in parts), rtol=1e-12)
    for r in range(3):
        total = sum(part.gradients[r] for part in parts)
        np.testing.assert_allclose(whole.gradients[r], total, rtol=1e-9, atol=1e-12)


def test_exploitability_of_all_flops_is_that_of_the_model(prepared):
    betting, buckets, games = prepared
    plans = tuple(
        random_behaviour(bucket_tree(betting, player, buckets), 9)[1] for player in (0, 1)
    )
    found = FlopOpponent(betting, buckets, None).evaluate(plans)
    expected = ModelOpponent(games).evaluate(plans)
    assert found.best_response == pytest.approx(expected.best_response, rel=1e-10)


@pytest.mark.parametrize("number", [6, 9, None])
def test_a_sample_of_flops_is_measured_alike_by_both_programs(prepared, number):
    betting, buckets, _ = prepared
    first, second = (
        random_behaviour(bucket_tree(betting, player, buckets), 11, zeros=True)[1]
        for player in (0, 1)
    )
    found = RealGameMeasure(betting, buckets, number).evaluate((first, second))
    expected = FlopOpponent(betting, buckets, 1, measured=number).evaluate((first, second))
    assert found.best_response == pytest.approx(expected.best_response, rel=1e-6)
    assert found.unit == expected.unit == "chips"


def test_draws_are_reproducible(prepared):
    betting, buckets, _ = prepared
    opponent = FlopOpponent(betting, buckets, 7, seed=3)
    (flops, weights), (again, _), (other, _) = (opponent.draw(t) for t in (1, 1, 2))
    assert flops == again
    assert flops != other
    assert weights.sum() == pytest.approx(84)  # raw flops of nine cards
    seeds = [FlopOpponent(betting, buckets, 7, seed=seed) for seed in (0, 1, 2, 3)]
    drawn = [str([own.draw(t)[0] for t in range(1, 7)]) for own in seeds]
    assert len(set(drawn)) == 4
    with pytest.raises(InvalidValueError, match="number of flops"):
        FlopOpponent(betting, buckets, 0)


def test_the_mean_over_draws_is_the_sum_over_all_flops(prepared):
    betting, buckets, _ = prepared
    opponent = FlopOpponent(betting, buckets, 6)
    flops = Flops.of(NINE_CARDS)
    seen = dict.fromkeys((tuple(board.tolist()) for board in flops.boards), 0.0)
    for t in range(1, 4001):
        for flop, weight in zip(*opponent.draw(t), strict=True):
            seen[flop] += weight / 4000
    assert list(seen.values()) == pytest.approx(flops.multiplicity.tolist(), rel=0.1)

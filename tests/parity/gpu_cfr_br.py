"""Checks of gradients against best responses on the GPU; `test_gpu_cfr_br.py` runs them.

Values are those of the CPU's best response; gradients are what these values lose by a change of
the plan, because a best response is, to first order, the same after it.
"""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))

from gpu_real_game import FEW, SMALL

from equilibrist.abstraction.recipes import build
from equilibrist.cards.hand import NUM_HANDS, hand_table
from equilibrist.evaluation.real_game.batched_gradients import batched_gradients
from equilibrist.evaluation.real_game.response import Response
from equilibrist.games.betting_tree import BettingTree
from equilibrist.kernels.cpu.sequence_form import normalize, realize
from equilibrist.kernels.gpu.memory import download
from equilibrist.kernels.treeplex import block
from equilibrist.models.bucketed import bucket_tree
from equilibrist.strategies.played import BucketColumns, TableStrategy
from gpu import main, prepare_simulator

prepare_simulator()


def random_table(rules, seed=1):
    """Return a random strategy of a few buckets that plays everything with some probability."""
    tree, buckets = BettingTree.build(rules), build("strength-potential", rules, [2, 2, 2, 3])
    trees = bucket_tree(tree, 0, buckets), bucket_tree(tree, 1, buckets)
    rng, behaviour = np.random.default_rng(seed), []
    for own in trees:
        numbers = rng.random(int(own.block_start[-1])) + 0.05
        behaviour.append(np.empty_like(numbers))
        normalize(own, numbers, behaviour[-1])
    return TableStrategy(tree, tree, trees, tuple(behaviour), BucketColumns(buckets))


def plan_of(table, player):
    tree = table.trees[player]
    plan = np.empty_like(table.behaviour[player])
    realize(tree, table.behaviour[player], plan)
    return [block(tree, r, r, plan) for r in (1, 2, 3)]


def some_reach(table, seed=3):
    """Return random reach of the second round's openings, the same for hands of equal suits."""
    number = np.count_nonzero((table.tree.round == 1) & (table.tree.action_kind == 0))
    cards = hand_table().astype(np.int64)
    ranks = np.sort(cards // 4, axis=1)
    kind = (ranks[:, 0] * 13 + ranks[:, 1]) * 2 + (cards[:, 0] % 4 == cards[:, 1] % 4)
    return np.random.default_rng(seed).random((number, 400))[:, kind]


def assert_gradients(rules, player, dtype="float32", tolerance=2e-5, chunk=None):
    table, weight = random_table(rules), 3.0
    engine = batched_gradients(table.tree, table.columns.buckets, dtype)[player]
    rows, reach = plan_of(table, player), some_reach(table)
    single = [own.astype(np.float32) for own in rows]
    values, found = engine.respond([FEW], np.array([weight]), single, reach)
    gradients = [download(own).astype(np.float64) for own in found]
    # The CPU's numbers: positions of the response are the openings, in its own order.
    response = Response(table, 1 - player)
    nodes = np.flatnonzero((table.tree.round == 1) & (table.tree.action_kind == 0))
    place = [response._opening(int(node)) for node in nodes]
    expected = weight * response.values(FEW)[place, :NUM_HANDS]
    np.testing.assert_allclose(values, expected, rtol=tolerance, atol=tolerance * expected.max())
    # The plan wins what the response loses.
    total = sum((own * found).sum() for own, found in zip(rows, gradients, strict=True))
    lost = -(reach * expected).sum()
    np.testing.assert_allclose(total, lost, rtol=tolerance, atol=tolerance * abs(expected).sum())
    # A small change of the plan changes what the response wins by the gradient.
    for r in (1, 2, 3):
        other = changed(table, player, r)
        pairs = zip(plan_of(other, player), rows, gradients, strict=True)
        terms = [(new - own) * found for new, own, found in pairs]
        after = weight * Response(other, 1 - player).values(FEW)[place, :NUM_HANDS]
        difference = -(reach * (after - expected)).sum()
        size = sum(np.abs(term).sum() for term in terms)
        np.testing.assert_allclose(sum(map(np.sum, terms)), difference, atol=0.01 * size)


def changed(table, player, r, seed=5):
    """Return the strategy with another behaviour of one player in a round, a little."""
    tree, behaviour = table.trees[player], list(table.behaviour)
    behaviour[player] = numbers = behaviour[player].copy()
    rng, own = np.random.default_rng(seed), block(tree, r, r, numbers)
    own *= 1 + 1e-4 * rng.normal(size=own.shape)
    normalize(tree, numbers, proper := np.empty_like(numbers))
    behaviour[player] = proper
    return replace(table, behaviour=tuple(behaviour))


def check_player_that_acts_first():
    assert_gradients(replace(SMALL, max_raises=(1, 2, 1, 1)), 0)


def check_player_that_acts_last():
    assert_gradients(replace(SMALL, max_raises=(1, 1, 1, 2)), 1)


def check_half_precision():
    assert_gradients(SMALL, 0, "float16", 2e-3)


if __name__ == "__main__":
    main(globals())

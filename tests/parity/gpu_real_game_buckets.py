"""Slower checks of best responses in the real game on the GPU, against strategies of buckets."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))

from gpu_real_game import FEW, SMALL, assert_same

from equilibrist.abstraction.recipes import build
from equilibrist.evaluation.real_game.batches import BatchedResponses
from equilibrist.evaluation.real_game.response import Response
from equilibrist.games.bet_menu import BetMenu
from equilibrist.games.betting_tree import BettingTree
from equilibrist.kernels.cpu.sequence_form import normalize
from equilibrist.kernels.gpu import device
from equilibrist.models.bucketed import bucket_tree
from equilibrist.strategies.composition import GluedBuckets
from equilibrist.strategies.played import BucketColumns, TableStrategy
from gpu import main

MORE = replace(SMALL, max_raises=(1, 1, 1, 2))


def random_table(buckets, seed=1, zeros=0.2):
    """Return a random strategy of buckets with a raise per round; some probabilities are 0."""
    known = BettingTree.build(SMALL, BetMenu.parse(None, None, "1 1 1 1"))
    trees = bucket_tree(known, 0, buckets), bucket_tree(known, 1, buckets)
    rng, behaviour = np.random.default_rng(seed), []
    for tree in trees:
        numbers = rng.random(int(tree.block_start[-1])) ** 3
        numbers[rng.random(len(numbers)) < zeros] = 0
        behaviour.append(np.empty_like(numbers))
        normalize(tree, numbers, behaviour[-1])
    real = BettingTree.build(buckets.rules)
    return TableStrategy(real, known, trees, tuple(behaviour), BucketColumns(buckets))


def check_buckets():
    buckets = build("strength-potential", MORE, [2, 2, 2, 3])
    assert_same(random_table(buckets), [FEW])


def check_buckets_that_are_glued_to_an_opening():
    opening = (np.arange(1326) % 5).astype(np.int16)
    glued = GluedBuckets(opening, build("strength-potential", SMALL, [1, 2, 2, 2]))
    assert_same(random_table(glued), [FEW])


def check_probabilities_can_be_replaced():
    buckets = build("strength-potential", SMALL, [2, 2, 2, 2])
    first, second = (random_table(buckets, seed=seed, zeros=0) for seed in (2, 3))
    response, other = Response(first, 0), Response(second, 0)
    batched = BatchedResponses([response])
    batch = batched.batch([FEW])
    before = batched.start(batch).values()[0]
    rows = [device.cuda().to_device(np.ascontiguousarray(r)) for r in other.opponent.rows]
    batched.set_rows(0, rows)
    (values,) = batched.start(batch).values()
    assert not np.array_equal(values, before)
    np.testing.assert_allclose(values[0].sum(axis=1), other.values(FEW).sum(axis=1), rtol=1e-12)


if __name__ == "__main__":
    main(globals())

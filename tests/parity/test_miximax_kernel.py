"""The search of a betting tree compared with plain recursion."""

import math

import numpy as np
import pytest

from equilibrist.games.betting_tree import NodeKind
from equilibrist.games.catalog import get_game
from equilibrist.kernels.cpu.miximax import fold_up_mixed
from equilibrist.players.context_tree import Contexts

pytestmark = pytest.mark.kernels


def search(contexts, node, own, probabilities, warmth, leaves):
    """Return the value of a node by the definition."""
    tree = contexts.tree
    children = [(a, int(c)) for a, c in enumerate(contexts.child[node]) if c < len(tree)]
    if not children:
        return leaves[node]
    values = [search(contexts, child, own, probabilities, warmth, leaves) for _, child in children]
    if tree.kind[node] == NodeKind.ROUND_END:
        return values[0]
    if tree.player[node] != own:
        return sum(probabilities[node, a] * v for (a, _), v in zip(children, values, strict=True))
    if warmth == 0:
        return max(values)
    weights = [math.exp(value / warmth) for value in values]
    return sum(w * v for w, v in zip(weights, values, strict=True)) / sum(weights)


@pytest.mark.parametrize("own", [0, 1])
@pytest.mark.parametrize("warmth", [0.0, 0.7])
def test_one_pass_is_the_recursion(own, warmth):
    contexts = Contexts.of(get_game("leduc"))
    size, random = len(contexts.tree), np.random.default_rng(1)
    leaves = random.normal(size=size)
    legal = contexts.child < size
    probabilities = random.random((size, 3)) * legal
    probabilities /= np.maximum(probabilities.sum(axis=1, keepdims=True), 1e-12)
    for node in (0, contexts.tree.parse("cr"), contexts.tree.parse("rc/")):
        values = leaves.copy()
        nodes = contexts.below(node).inner
        fold_up_mixed(
            contexts.child, contexts.tree.player, own, nodes, probabilities[nodes], warmth, values
        )
        assert values[node] == pytest.approx(
            search(contexts, node, own, probabilities, warmth, leaves)
        )
        assert (values[:node] == leaves[:node]).all()

"""Conditional distributions of hands, compared with an enumeration of all deals."""

import itertools

import numpy as np
import pytest

from equilibrist.abstraction.conditioning import LaterClasses, conditioned
from equilibrist.abstraction.joint_counts import joint
from equilibrist.abstraction.recipes import build
from equilibrist.errors import InvalidValueError
from equilibrist.games.catalog import get_game

LEDUC_CARDS = get_game("leduc").deck.cards


@pytest.fixture(scope="module")
def leduc():
    buckets = build("strength-potential", get_game("leduc"), [3, 2])
    return buckets, joint(buckets)


def test_every_deal_counts_by_the_product_of_its_priors(leduc):
    buckets, counts = leduc
    x, y = (0.2, 0.5, 1.0), (1.0, 0.0, 0.25)
    met, won = np.zeros((2, 2)), np.zeros((2, 2))
    for one, two, board in itertools.permutations(LEDUC_CARDS, 3):
        weight = x[buckets.bucket(one)] * y[buckets.bucket(two)]
        s, t = (buckets.bucket(card, (board,)) % 2 for card in (one, two))
        met[s, t] += weight
        strength = [(card // 4 == board // 4, card // 4) for card in (one, two)]
        won[s, t] += weight * ((strength[0] > strength[1]) - (strength[0] < strength[1]))
    found = conditioned(buckets, counts, (x, y))
    np.testing.assert_allclose(found.met, met)
    np.testing.assert_allclose(found.won, won, atol=1e-12)


def test_later_classes_are_nested_without_the_first_round(leduc):
    classes = LaterClasses.of(leduc[0])
    assert classes.num_buckets == (1, 2)
    assert [parents.tolist() for parents in classes.parents] == [[-1], [0, 0]]


def test_buckets_that_depend_on_their_parents_cannot_forget_them():
    grown = build("percentile", get_game("leduc"), [3, 6])
    with pytest.raises(InvalidValueError, match="cannot drop their first round"):
        LaterClasses.of(grown)


@pytest.mark.parametrize("prior", [(0, 0, 0), (1, 1), (1, -1, 1), (1, np.inf, 1)])
def test_priors_that_are_not_probabilities_are_refused(leduc, prior):
    with pytest.raises(InvalidValueError, match="prior must be 3 probabilities"):
        conditioned(*leduc, ((1, 1, 1), prior))

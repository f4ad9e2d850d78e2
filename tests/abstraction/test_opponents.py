"""Strength against clusters of opponents, compared with another program and plain strength."""

import warnings

import numpy as np
import pytest

from equilibrist.abstraction.features import Strengths, last_strengths
from equilibrist.abstraction.opponents import OpponentStrengths, strength_clusters
from equilibrist.abstraction.recipes import build
from equilibrist.abstraction.streets import Streets
from equilibrist.cards.card import card_name
from equilibrist.cards.hand import class_table, hand_table
from equilibrist.cards.ranking import rank_cards
from equilibrist.errors import InvalidValueError
from equilibrist.games.catalog import get_game
from equilibrist.games.rules import GameRules

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import eval7

pytestmark = pytest.mark.kernels

CARDS = [eval7.Card(card_name(card)) for card in range(52)]
SMALL = GameRules(
    name="small", betting="limit", blinds=(1, 1), raise_sizes=(2, 2, 4), max_raises=(1, 1, 1),
    num_suits=3, num_ranks=5, num_hole_cards=2, num_board_cards=(0, 2, 1),
)  # fmt: skip


def test_clusters_of_holdem_against_brute_force():
    """Twenty boards, ten hands each, all 990 opponents one by one, in eight clusters of classes."""
    streets = Streets.of(get_game("holdem-limit"))
    clusters = class_table().astype(np.int64) % 8
    random = np.random.default_rng(0)
    boards = random.choice(len(streets[-1].boards), 20, replace=False)
    found = OpponentStrengths.of(streets, clusters, boards)
    hands = hand_table()
    for n, board in enumerate(boards):
        cards = streets[-1].boards[board].tolist()
        shown = [CARDS[card] for card in cards]
        free = [h for h in range(1326) if not set(hands[h].tolist()) & set(cards)]
        value = {h: eval7.evaluate([CARDS[card] for card in hands[h]] + shown) for h in free}
        for hand in random.choice(free, 10, replace=False):
            wins, met = np.zeros((2, 8), np.int64)
            for other in free:
                if not set(hands[other].tolist()) & set(hands[hand].tolist()):
                    met[clusters[other]] += 1
                    wins[clusters[other]] += 2 * (value[hand] > value[other])
                    wins[clusters[other]] += value[hand] == value[other]
            assert found.wins[n, hand].tolist() == wins.tolist()
            assert found.met[n, hand].tolist() == met.tolist()


@pytest.mark.parametrize("rules", [SMALL, get_game("rhode-island"), get_game("leduc")])
def test_clusters_weighted_by_their_probability_are_plain_strength(rules):
    """Test that on every board 2 · wins + ties and the numbers of possible hands add up exactly."""
    streets = Streets.of(rules)
    clusters = np.zeros(streets.num_hands, np.int64)
    clusters[streets.in_deck] = np.random.default_rng(1).integers(0, 4, len(streets.in_deck))
    clusters[streets.in_deck[0]] = 3
    found = OpponentStrengths.of(streets, clusters)
    plain = last_strengths(streets)
    held = plain >= 0
    np.testing.assert_array_equal(found.wins.sum(axis=2)[held], plain[held])
    assert (found.wins[~held] == -1).all()
    assert (found.met[~held] == 0).all()
    others = found.met.sum(axis=2)[held]
    assert len(np.unique(others)) == 1  # the same number of hands for every opponent
    equity = found.equity()
    assert np.isnan(equity[~held]).all()
    mean = (equity[held] * found.met[held]).sum(axis=1) / others
    np.testing.assert_allclose(mean, plain[held] / (2 * others), atol=1e-6)


def test_one_card_hands_by_hand():
    """Rhode Island: a pair of kings on K72, against each rank apart."""
    streets = Streets.of(get_game("rhode-island"))
    ranks = np.arange(52) >> 2
    found = OpponentStrengths.of(streets, ranks)
    cards = next(b for b in streets[-1].boards.tolist() if len({card >> 2 for card in b}) == 2)
    n = streets[-1].boards.tolist().index(cards)
    hand = next(card for card in range(52) if card not in cards)
    own = rank_cards([hand, *cards], "three-card")
    for rank in range(13):
        others = [c for c in range(52) if c >> 2 == rank and c not in {hand, *cards}]
        values = [rank_cards([c, *cards], "three-card") for c in others]
        assert found.met[n, hand, rank] == len(others)
        assert found.wins[n, hand, rank] == sum(2 * (own > v) + (own == v) for v in values)


def test_clusters_before_the_flop_are_intervals_of_strength():
    strengths = Strengths.of(Streets.of(get_game("rhode-island")))
    clusters = strength_clusters(strengths, 4)
    order = np.argsort(strengths.tables[0][0], kind="stable")
    assert (np.diff(clusters[order]) >= 0).all()
    assert clusters.max() == 3
    # The buckets of an abstraction before the first board card do as well.
    buckets = build("expectation", get_game("rhode-island"), [4, 8, 16]).buckets(())
    assert OpponentStrengths.of(strengths.streets, buckets, [0]).wins.shape == (1, 52, 4)


def test_invalid_clusters_are_refused():
    streets = Streets.of(get_game("leduc"))
    with pytest.raises(InvalidValueError, match="one for each of 52 hands"):
        OpponentStrengths.of(streets, [0, 1, 2])
    with pytest.raises(InvalidValueError, match="numbered from 0"):
        OpponentStrengths.of(streets, np.full(52, -1))
    with pytest.raises(InvalidValueError, match="the number of clusters"):
        strength_clusters(Strengths.of(streets), 0)

"""Joint counts against all pairs of hands on all boards, one by one."""

import itertools

import numpy as np
import pytest

from equilibrist.abstraction.features import Strengths
from equilibrist.abstraction.joint import Joint, Progress, joint, sampled_joint
from equilibrist.abstraction.recipes.lossless import lossless
from equilibrist.abstraction.recipes.percentile import percentile
from equilibrist.abstraction.streets import Streets
from equilibrist.cards.ranking import rank_cards
from equilibrist.errors import InvalidValueError
from equilibrist.games.catalog import get_game
from equilibrist.games.rules import GameRules

pytestmark = pytest.mark.kernels

SMALL = GameRules(
    name="small", betting="limit", blinds=(1, 1), raise_sizes=(2, 2, 4), max_raises=(1, 1, 1),
    num_suits=2, num_ranks=4, num_hole_cards=2, num_board_cards=(0, 2, 1),
)  # fmt: skip


@pytest.fixture(scope="module")
def coarse():
    return percentile(Strengths.of(Streets.of(SMALL)), [2, 4, 8])


@pytest.fixture(scope="module")
def fine():
    return percentile(Strengths.of(Streets.of(SMALL)), [3, 3, 9])


def by_hand(first, second):
    """Every board in its order, every pair of hands."""
    wins, ties = np.zeros((2, first.num_buckets[-1], second.num_buckets[-1]))
    losses = np.zeros_like(wins)
    deck = SMALL.deck.cards
    hands = {tuple(pair): n for n, pair in enumerate(first.streets.hands.tolist())}
    for flop in itertools.combinations(deck, 2):
        for turn in set(deck) - set(flop):
            board = (*flop, turn)
            one, two = first.buckets(board), second.buckets(board)
            left = sorted(set(deck) - set(board))
            for a, b in itertools.permutations(itertools.combinations(left, 2), 2):
                if not set(a) & set(b):
                    cell = one[hands[a]], two[hands[b]]
                    ours, theirs = rank_cards([*a, *board]), rank_cards([*b, *board])
                    table = wins if ours > theirs else losses if ours < theirs else ties
                    table[cell] += 1
    return wins, ties, losses


def test_counts_are_those_of_all_pairs(coarse):
    found = joint(coarse)
    for ours, expected in zip((found.wins, found.ties, found.losses), by_hand(coarse, coarse),
                              strict=True):  # fmt: skip
        np.testing.assert_array_equal(ours, expected)


def test_counts_between_two_abstractions(coarse, fine):
    found = joint(coarse, fine)
    for ours, expected in zip((found.wins, found.ties, found.losses), by_hand(coarse, fine),
                              strict=True):  # fmt: skip
        np.testing.assert_array_equal(ours, expected)


def test_counts_go_on_where_they_stopped(coarse):
    seen: list[Progress] = []
    whole = joint(
        coarse,
        watch=lambda now, share: seen.append(Progress(now.wins.copy(), now.ties.copy(), now.done)),
    )
    assert seen[-1].done == len(seen)
    again = joint(coarse, so_far=seen[len(seen) // 3])
    np.testing.assert_array_equal(again.wins, whole.wins)
    np.testing.assert_array_equal(again.ties, whole.ties)


def test_counts_are_stored(coarse, tmp_path):
    found = joint(coarse)
    found.save(tmp_path / "joint", {"first": "x"})
    again = Joint.open(tmp_path / "joint")
    np.testing.assert_array_equal(again.met, found.met)
    assert again.distance is None


def test_a_sample_is_as_far_off_as_it_says():
    """Rhode Island: the true distance of samples against the mean of what they claim."""
    buckets = percentile(Strengths.of(Streets.of(get_game("rhode-island"))), [3, 9, 27])
    exact = joint(buckets).met
    exact /= exact.sum()
    claimed, true = [], []
    for seed in range(12):
        sample = sampled_joint(buckets, num_boards=800, seed=seed)
        met = sample.met / sample.total
        true.append(np.abs(met - exact).sum() / 2)
        claimed.append(sample.distance)
    assert np.mean(claimed) == pytest.approx(np.mean(true), rel=0.35)
    assert np.mean(true) < 0.05


def test_what_cannot_be_counted(coarse):
    with pytest.raises(InvalidValueError, match="different games"):
        joint(coarse, lossless(get_game("leduc")))
    with pytest.raises(InvalidValueError, match="at least 8 boards"):
        sampled_joint(coarse, num_boards=3)

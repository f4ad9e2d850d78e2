"""Joint counts compared with an enumeration of all pairs of hands on all boards."""

import copy
import itertools
from dataclasses import replace

import numpy as np
import pytest

from equilibrist.abstraction import joint_counts as counting
from equilibrist.abstraction import joint_counts_by_tile
from equilibrist.abstraction.features import Strengths
from equilibrist.abstraction.joint_counts import Joint, Progress, joint, sampled_joint
from equilibrist.abstraction.joint_counts_by_board import all_links, count_boards
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
    """Enumerate every ordered board and every pair of hands."""
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


@pytest.fixture(params=["whole", "tiled"])
def way(request, monkeypatch):
    """Test both ways of counting for any number of buckets."""
    monkeypatch.setattr(counting, "TILED", 0 if request.param == "tiled" else 10**9)
    return request.param


def assert_equal(found, expected):
    for ours, theirs in zip((found.wins, found.ties, found.losses), expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_counts_are_those_of_all_pairs(coarse, way):
    found = joint(coarse)
    assert found.wins.dtype == (np.uint32 if way == "tiled" else np.float64)
    assert_equal(found, by_hand(coarse, coarse))


def test_counts_between_two_abstractions(coarse, fine, way):
    assert_equal(joint(coarse, fine), by_hand(coarse, fine))
    assert_equal(joint(fine, coarse), by_hand(fine, coarse))


@pytest.mark.parametrize(
    ("game", "numbers"), [("kuhn", [3]), ("leduc", [3, 6]), ("rhode-island", [3, 12, 60])]
)
def test_two_abstractions_that_are_the_same_meet_as_one(game, numbers):
    """Hands of one card, and more buckets than a group of rows has."""
    buckets = percentile(Strengths.of(Streets.of(get_game(game))), numbers)
    whole = joint(buckets)
    assert_equal(joint(buckets, replace(buckets)), (whole.wins, whole.ties, whole.losses))


def test_a_count_too_large_for_32_bits_is_counted_again(coarse, fine):
    links = all_links(coarse.streets)
    many = links._replace(weights=links.weights * 2.0**24)
    for more, one in zip(*(count_boards(coarse, fine, w) for w in (many, links)), strict=True):
        np.testing.assert_array_equal(more, one * 2**24)


@pytest.mark.parametrize("hole_cards", [1, 2])
def test_tiles_of_other_games(hole_cards, monkeypatch):
    """Rhode Island's 52 cards, and a deck of 3 × 3 where suits can be renamed; some boards only."""
    rules = get_game("rhode-island")
    if hole_cards == 2:
        rules = replace(SMALL, num_suits=3, num_ranks=3)
    streets = Streets.of(rules)
    buckets = percentile(Strengths.of(streets), [3, 6, 18])
    boards = np.arange(0, len(streets[-2].boards), 2)
    for chosen in (None, boards):
        whole = joint(buckets, boards=chosen)
        with monkeypatch.context() as patch:
            patch.setattr(counting, "TILED", 0)
            tiled = joint(buckets, boards=chosen)
        assert_equal(tiled, (whole.wins, whole.ties, whole.losses))
        np.testing.assert_array_equal(tiled.met, whole.met)
        np.testing.assert_array_equal(tiled.won, whole.won)
        assert tiled.total == whole.total


def test_counts_that_do_not_fit_are_counted_again(coarse, monkeypatch):
    monkeypatch.setattr(counting, "TILED", 0)
    monkeypatch.setattr(joint_counts_by_tile, "NUM_BLOCKS", 1)
    monkeypatch.setattr(joint_counts_by_tile, "_ROOM", 2**32)  # the first block foretells too much
    found = joint(coarse)
    assert found.wins.dtype == np.uint64
    assert_equal(found, by_hand(coarse, coarse))


def test_a_count_too_large_is_noticed(coarse):
    small = [np.full((8, 8), 250, np.uint8) for _ in range(2)]
    assert not joint_counts_by_tile._count(coarse, coarse, None, small, 1, None)


@pytest.mark.slow
def test_tiles_and_row_groups_of_the_full_deck(monkeypatch):
    """Count all runouts of some flops of hold'em in all ways."""
    streets = Streets.of(get_game("holdem-limit"))
    buckets = percentile(Strengths.of(streets), [5, 25, 125, 625])
    boards = np.flatnonzero(np.isin(streets.parents(2), [3, 700, 1754]))
    whole = joint(buckets, boards=boards)
    grouped = joint(buckets, replace(buckets), boards=boards)
    assert_equal(grouped, (whole.wins, whole.ties, whole.losses))
    monkeypatch.setattr(counting, "TILED", 0)
    assert_equal(joint(buckets, boards=boards), (whole.wins, whole.ties, whole.losses))


@pytest.mark.parametrize("is_same", [True, False])
def test_counts_continue_where_they_stopped(coarse, fine, way, is_same):
    seen: list[Progress] = []
    second = None if is_same else fine
    whole = joint(coarse, second, watch=lambda now, share: seen.append(copy.deepcopy(now)))
    assert seen[-1].done == 64
    assert sorted({now.done for now in seen}) == [now.done for now in seen]
    again = joint(coarse, second, so_far=seen[len(seen) // 3])
    assert_equal(again, (whole.wins, whole.ties, whole.losses))


def test_counts_are_stored(coarse, fine, tmp_path, way):
    for number, other in enumerate((None, fine)):
        found = joint(coarse, other)
        found.save(tmp_path / str(number), {"first": "x"})
        again = Joint.open(tmp_path / str(number))
        assert_equal(again, (found.wins, found.ties, found.losses))
        assert again.distance is None


def test_a_sample_is_as_far_off_as_it_says():
    """Compare the true distance of samples with the mean of their estimates (Rhode Island)."""
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


def test_impossible_counts_are_refused(coarse):
    with pytest.raises(InvalidValueError, match="different games"):
        joint(coarse, lossless(get_game("leduc")))
    with pytest.raises(InvalidValueError, match="at least 8 boards"):
        sampled_joint(coarse, num_boards=3)


def test_counts_that_do_not_fit_into_memory(coarse, monkeypatch, way):
    monkeypatch.setattr(counting, "available_bytes", lambda: 100)
    with pytest.raises(InvalidValueError, match="8 by 8 buckets need"):
        joint(coarse)
    with pytest.raises(InvalidValueError, match="fewer buckets"):
        sampled_joint(coarse, num_boards=80)

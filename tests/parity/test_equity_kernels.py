"""Compiled equity kernels compared with comparison matrices."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equilibrist.cards.equity import equity, hand_equities
from equilibrist.cards.hand import class_table, hand_table
from equilibrist.cards.range import Range
from equilibrist.cards.ranking import rank_tables
from equilibrist.kernels.cpu import equity as compiled
from equilibrist.kernels.cpu import joint
from equilibrist.kernels.reference import equity as reference

pytestmark = pytest.mark.kernels

SUIT_IMAGES = np.array(list(itertools.permutations(range(4))))
SUBGROUPS = {
    "trivial": [0],
    "swap of clubs and diamonds": [0, 6],
    "two swaps": [0, 1, 6, 7],
    "hearts fixed": [i for i, image in enumerate(SUIT_IMAGES) if image[2] == 2],
    "all": list(range(24)),
}


def canonical_boards(deck: list[int], num_new: int, images: np.ndarray) -> dict:
    boards = np.zeros((math.comb(len(deck), num_new), 5), np.uint8)
    sizes = np.zeros(len(boards), np.uint8)
    found = compiled.canonical_boards(
        np.array(deck, np.uint8), num_new, images.astype(np.uint64), boards, sizes
    )
    cards = [tuple(board[:num_new]) for board in boards[:found].tolist()]
    return dict(zip(cards, sizes[:found].tolist(), strict=True))


def orbit(cards: tuple[int, ...], images: np.ndarray) -> frozenset:
    moved = ((np.array(cards, int) & ~3) + image[np.array(cards, int) & 3] for image in images)
    return frozenset(tuple(sorted(image.tolist())) for image in moved)


@pytest.mark.parametrize("name", SUBGROUPS)
@pytest.mark.parametrize("num_new", [0, 1, 2, 3])
def test_one_board_per_orbit(name: str, num_new: int) -> None:
    images = SUIT_IMAGES[SUBGROUPS[name]]
    deck = [card for card in range(52) if card >> 2 in (0, 3, 4, 8, 12)]
    fast = canonical_boards(deck, num_new, images)
    slow = dict(reference.canonical_boards(deck, num_new, images))
    assert len(fast) == len(slow)
    assert sum(fast.values()) == math.comb(len(deck), num_new)
    assert {orbit(board, images): size for board, size in fast.items()} == {
        orbit(board, images): size for board, size in slow.items()
    }


@pytest.mark.parametrize(("num_new", "size"), [(3, 1755), (5, 134_459)])
def test_all_suit_permutations_leave_the_known_number_of_boards(num_new: int, size: int) -> None:
    fast = canonical_boards(list(range(52)), num_new, SUIT_IMAGES)
    assert len(fast) == size
    assert sum(fast.values()) == math.comb(52, num_new)


def play(boards, times, hands, weights, first, second, pairwise, chunks=3):
    out = np.zeros((chunks, 3, len(hands)))
    compiled.showdown_boards(
        rank_tables(7),
        boards.astype(np.uint8),
        times.astype(np.uint8),
        hands.astype(np.uint8),
        weights,
        (first, second),
        pairwise,
        out,
    )
    return out.sum(axis=0)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32), num_ranks=st.integers(3, 13), integers=st.booleans())
def test_sweep_and_pairs_give_what_the_matrices_give(
    seed: int, num_ranks: int, integers: bool
) -> None:
    random = np.random.default_rng(seed)
    deck = random.choice(13, num_ranks, replace=False)[:, None] * 4 + np.arange(4)
    boards = np.stack([random.choice(deck.ravel(), 5, replace=False) for _ in range(5)])
    times = random.integers(1, 25, 5)
    hands = hand_table()[np.isin(hand_table(), deck).all(axis=1)].astype(np.int64)
    hands = hands[random.random(len(hands)) < random.choice([0.1, 1.0])]
    weights = random.random(len(hands)) * (random.random(len(hands)) < 0.7)
    if integers:
        weights = np.ceil(weights)
    places = np.arange(len(hands))
    expected = reference.showdown_boards(boards, times.astype(float), hands, weights)
    for pairwise in (True, False):
        results = play(boards, times, hands, weights, places, np.flatnonzero(weights), pairwise)
        if integers:
            np.testing.assert_array_equal(results, expected)
        else:
            np.testing.assert_allclose(results, expected, atol=1e-10)


def test_results_do_not_depend_on_the_chunks_of_integer_weights() -> None:
    random = np.random.default_rng(1)
    boards = np.stack([random.choice(52, 5, replace=False) for _ in range(50)])
    none, times = np.zeros(0, np.int64), np.ones(50)
    one, seven = (
        play(boards, times, hand_table(), np.ones(1326), none, none, False, chunks)
        for chunks in (1, 7)
    )
    np.testing.assert_array_equal(one, seven)


def test_classes_meet_as_in_the_matrices() -> None:
    random = np.random.default_rng(5)
    boards = np.stack([random.choice(52, 5, replace=False) for _ in range(4)])
    boards = np.vstack([boards, [32, 36, 40, 44, 48], [0, 1, 2, 3, 4]])  # straight flush, quads
    times = np.arange(1, 7)
    wins, ties = np.zeros((2, 3, 169, 169))
    joint.class_showdowns(
        rank_tables(7),
        boards.astype(np.uint8),
        times.astype(np.uint8),
        hand_table().copy(),
        class_table().copy(),
        wins,
        ties,
    )
    expected = reference.class_showdowns(
        boards, times.astype(float), hand_table().astype(int), class_table().astype(int)
    )
    np.testing.assert_array_equal(wins.sum(axis=0), expected[0])
    np.testing.assert_array_equal(ties.sum(axis=0), expected[1])


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32), by_class=st.tuples(st.booleans(), st.booleans()))
def test_suit_orbits_change_no_count_on_a_small_deck(
    seed: int, by_class: tuple[bool, bool]
) -> None:
    random = np.random.default_rng(seed)
    deck = (random.choice(13, 4, replace=False)[:, None] * 4 + np.arange(4)).ravel()
    dead = [card for card in range(52) if card not in deck]
    board = random.choice(deck, random.integers(2, 5), replace=False).tolist()
    live = ~np.isin(hand_table(), [*dead, *board]).any(axis=1)
    own, other = (
        live * ((random.random(169)[class_table()] if whole else random.random(1326)) < 0.5)
        for whole in by_class
    )
    hands, rest = hand_table().astype(int)[live], [card for card in deck if card not in board]
    new = list(itertools.combinations(rest, 5 - len(board)))
    boards = np.array([[*board, *cards] for cards in new])
    wins, ties, total = reference.showdown_boards(
        boards, np.ones(len(boards)), hands, other[live].astype(float)
    )
    if not own[live] @ total:
        return
    result = equity(Range(own), Range(other), board, dead)
    counts = (result.wins, result.ties, result.total)
    assert counts == tuple(own[live] @ count for count in (wins, ties, total))
    shares = hand_equities(Range(own), Range(other), board, dead)[live]
    held = own[live] & (total > 0)
    np.testing.assert_allclose(shares[held], (wins + ties / 2)[held] / total[held])
    assert np.isnan(shares[~held]).all()

"""Bulk look-ups of hands, compared with single look-ups."""

import itertools

import numpy as np
import pytest

from equilibrist.abstraction.recipes import build
from equilibrist.cards.card import parse_cards
from equilibrist.cards.hand import hand_index
from equilibrist.errors import CardError, InvalidValueError
from equilibrist.games.catalog import get_game
from equilibrist.games.rules import GameRules

pytestmark = pytest.mark.kernels

SMALL = GameRules(
    name="small", betting="limit", blinds=(1, 1), raise_sizes=(2, 2, 4), max_raises=(1, 1, 1),
    num_suits=3, num_ranks=4, num_hole_cards=2, num_board_cards=(0, 2, 1),
)  # fmt: skip
CASES = [
    ("percentile", SMALL, [3, 6, 12]),
    ("potential-aware", get_game("rhode-island"), [4, 12, 36]),
    ("lossless", SMALL, None),
    ("percentile", get_game("leduc"), [3, 6]),
]


def deals(rules, count, num_cards, seed=0):
    random = np.random.default_rng(seed)
    deck = np.array(rules.deck.cards)
    return np.array([random.choice(deck, num_cards, replace=False) for _ in range(count)])


@pytest.mark.parametrize(("recipe", "rules", "numbers"), CASES)
def test_many_hands_are_in_the_buckets_of_one_at_a_time(recipe, rules, numbers):
    found = build(recipe, rules, numbers)
    in_deck = found.streets.in_deck
    for end in itertools.accumulate(rules.num_board_cards):
        boards = deals(rules, 300, end)
        hands = np.random.default_rng(1).choice(in_deck, len(boards))  # some share a card
        expected = [
            found.buckets(tuple(board))[hand]
            for board, hand in zip(boards.tolist(), hands, strict=True)
        ]
        ours = found.buckets_of(hands, boards.reshape(len(boards), end))
        assert ours.tolist() == expected
        assert end == 0 or -1 in expected


def test_hands_outside_the_deck_are_in_no_bucket():
    found = build("percentile", get_game("leduc"), [3, 6])
    assert found.buckets_of([0], np.zeros((1, 0), np.int64)).tolist() == [-1]


@pytest.mark.parametrize(
    ("hands", "boards", "error", "sentence"),
    [
        ([51], [[51, 50]], CardError, "has 0 or 1 cards, not 2"),
        ([51], [[0]], CardError, r"row 0: hand 51 of 52 on the cards \[0\]"),
        ([51, 50], [[47], [300]], CardError, "row 1"),
        ([52], [[47]], CardError, "hand 52 of 52"),
        ([51], [47], InvalidValueError, r"\[1\] and \[1\]"),
        ([51, 50], [[47]], InvalidValueError, r"\[2\] and \[1, 1\]"),
    ],
)
def test_wrong_rows_are_named(hands, boards, error, sentence):
    found = build("percentile", get_game("leduc"), [3, 6])
    with pytest.raises(error, match=sentence):
        found.buckets_of(hands, boards)


def test_a_card_twice_on_a_board_is_refused():
    found = build("percentile", get_game("rhode-island"), [3, 9, 27])
    with pytest.raises(CardError, match="different and in the deck"):
        found.buckets_of([0], [[7, 7]])


def test_the_path_of_a_hand_has_a_bucket_for_every_round_of_its_board():
    found = build("percentile", SMALL, [3, 6, 12])
    hand, board = parse_cards("AdKd"), parse_cards("JdQhKh")
    path = found.path("AdKd", "JdQhKh")
    assert [cards for cards, _ in path] == ["", "JdQh", "JdQhKh"]
    assert [bucket for _, bucket in path] == [
        found.bucket(hand_index(*hand), board[:end]) for end in (0, 2, 3)
    ]
    assert found.path("AdKd", "JdQh") == path[:2]
    with pytest.raises(CardError, match="a hand of small has 2 cards, not 1"):
        found.path("Ad")
    with pytest.raises(CardError, match="shares a card"):
        found.path("AdKd", "JdAd")

import itertools
import os
import subprocess
import sys

import numpy as np
import pytest

from equilibrist.cards.card import parse_cards
from equilibrist.cards.ranking import (
    category,
    category_bounds,
    hand_description,
    rank_cards,
    rank_hands,
)
from equilibrist.errors import CardError, InvalidValueError, UnknownNameError

# Best first; each beats the next.
LADDER = [
    ("AhKhQhJhTh2c3d", "royal flush"),
    ("5h4h3h2hAhKhKd", "straight flush, five high"),
    ("7c7d7h7sAcAdAh", "four of a kind, sevens"),
    ("7c7d7h7sKcKdKh", "four of a kind, sevens"),
    ("KhKdKc4c4dJsQc", "full house, kings over fours"),
    ("3h3d3cAcAdAsQc", "full house, aces over threes"),
    ("Ah9h7h4h2hAdAc", "flush, ace high"),
    ("6c5d4h3s2cAdAc", "straight, six high"),
    ("5d4h3s2cAdAcKc", "straight, five high"),
    ("6c6d6hAcKd9h2s", "three of a kind, sixes"),
    ("KhKd4c4d9hJsQc", "two pair, kings and fours"),
    ("KhKd4c4d3h3sJc", "two pair, kings and fours"),
    ("6c6dAcKd9h3s2s", "a pair of sixes"),
    ("AcKdQhJs9c3d2h", "ace-king high"),
]


def test_descriptions_use_the_usual_words():
    for cards, words in LADDER:
        assert hand_description(parse_cards(cards)) == words


def test_better_hands_have_higher_values():
    order = [0, 1, 2, 3, 5, 4, 6, 7, 8, 9, 10, 11, 12, 13]  # aces over threes beats kings over …
    values = [rank_cards(parse_cards(LADDER[i][0])) for i in order]
    assert values == sorted(values, reverse=True)
    assert len(set(values)) == len(values)


def test_five_six_and_seven_cards_share_one_scale():
    best = parse_cards("AhAdAcKsKd")
    assert rank_cards(best) == rank_cards((*best, 0)) == rank_cards((*best, 0, 5))


def test_three_card_hands_rank_trips_above_straights_above_flushes():
    hands = ["4h3h2h", "3c3d3h", "Ac3d2h", "Ah9h7h", "AcAdKh", "AcKdJh"]
    values = [rank_cards(parse_cards(hand), "three-card") for hand in hands]
    assert values == sorted(values, reverse=True)
    assert hand_description(parse_cards("Ah2h3h"), "three-card") == "straight flush, three high"
    assert category(parse_cards("AhQdKh"), "three-card") == "straight"


def test_with_few_cards_there_are_no_straights_or_flushes():
    assert category(parse_cards("AhKhQh")) == "high card"
    assert rank_cards(parse_cards("QhQs")) > rank_cards(parse_cards("AhKh"))
    assert rank_cards(parse_cards("Ks")) > rank_cards(parse_cards("Qs"))


@pytest.mark.parametrize(("num_cards", "classes"), [(1, 13), (2, 91), (5, 7462), (7, 7462)])
def test_values_are_dense(num_cards, classes):
    bounds = list(category_bounds(num_cards).values())
    assert bounds[0][0] == 0
    assert bounds[-1][1] == classes
    assert all(end == start for (_, end), (start, _) in itertools.pairwise(bounds))


@pytest.mark.parametrize("text", ["", "2c3c4c5c6c7c8c9c"])
def test_only_one_to_seven_cards_are_ranked(text):
    with pytest.raises(CardError, match="cannot be ranked; 1 to 7 can"):
        rank_cards(parse_cards(text))


def test_the_three_card_ranking_ranks_three_cards():
    with pytest.raises(CardError, match="it ranks exactly 3"):
        rank_cards(parse_cards("AhKhQhJh"), "three-card")


def test_an_unknown_ranking_is_named():
    with pytest.raises(UnknownNameError, match="'badugi'; there are standard and three-card"):
        rank_cards((0, 1), "badugi")


@pytest.mark.parametrize("hand", [[0, 0, 1, 2, 3], [0, 1, 2, 3, 52], [-1, 0, 1, 2, 3]])
def test_impossible_hands_in_an_array_are_named(hand):
    with pytest.raises(CardError, match="hand 1 repeats a card") as caught:
        rank_hands([[0, 1, 2, 3, 4], hand])
    assert (caught.value.value, caught.value.position) == (hand, 1)


@pytest.mark.parametrize("hands", [[0, 1, 2], [[0.5, 1.5]], np.zeros((2, 2, 2), int)])
def test_hands_come_as_an_integer_matrix(hands):
    with pytest.raises(InvalidValueError, match="integer array"):
        rank_hands(hands)


def test_zero_hands_have_zero_values():
    assert rank_hands(np.zeros((0, 7), np.uint8)).tolist() == []


def test_hands_in_foreign_byte_order():
    hands = np.array([[48, 49, 50, 51, 44], [0, 5, 10, 15, 16]])
    assert rank_hands(hands.astype(">i4")).tolist() == rank_hands(hands).tolist()


@pytest.mark.parametrize("num_cards", [0, 8, 9, -1])
def test_only_one_to_seven_cards_have_categories(num_cards):
    with pytest.raises(CardError, match="1 to 7 can"):
        category_bounds(num_cards)
    with pytest.raises(CardError, match="it ranks exactly 3"):
        category_bounds(4, "three-card")


def test_the_first_of_many_bad_hands_is_named():
    hands = np.tile(np.arange(5), (100_000, 1))
    hands[[77_777, 99_999], 4] = 0, 52
    with pytest.raises(CardError, match="hand 77777 repeats a card") as caught:
        rank_hands(hands)
    assert caught.value.position == 77_777


def test_a_hand_is_ranked_without_compiled_code():
    program = "from equilibrist.cards.ranking import rank_cards; print(rank_cards((51, 50)))"
    result = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(result.stdout) == rank_cards((51, 50))

"""Strengths and potentials against brute force and exact equities."""

import itertools

import numpy as np
import pytest

from equilibrist.cards.card import parse_cards
from equilibrist.cards.equity import equity
from equilibrist.cards.hand import hand_index, hand_name, hand_table
from equilibrist.cards.ranking import rank_cards
from equilibrist.errors import InvalidValueError
from equilibrist.games.catalog import get_game
from equilibrist.players.hand_strength import (
    check_holdem,
    final_strengths,
    outlook,
    strengths,
    win_probability,
)

pytestmark = pytest.mark.kernels

SPOTS = [("AhKh", "2c7d9h"), ("5h4h", "2hKh9c"), ("7s2d", "7c7d7hJsJc"), ("QsJs", "TsTd3c4s")]


def compare(hole, other, board):
    own, theirs = rank_cards(hole + board), rank_cards(other + board)
    return 0 if own > theirs else 1 if own == theirs else 2


@pytest.mark.parametrize(("hole", "board"), SPOTS)
def test_the_outlook_is_that_of_brute_force(hole, board):
    hole, board = parse_cards(hole), parse_cards(board)
    free = [card for card in range(52) if card not in hole + board]
    others = list(itertools.combinations(free, 2))[::7]  # a seventh will do: weights say which
    weights = np.zeros(1326)
    weights[[hand_index(*other) for other in others]] = 1
    now, moved = np.zeros(3), np.zeros((3, 3))
    for other in others:
        before = compare(hole, other, board)
        now[before] += 1
        for card in free if len(board) < 5 else ():
            if card not in other:
                moved[before, compare(hole, other, (*board, card))] += 1
    found = outlook(hole, board, weights)
    assert found.strength == pytest.approx((now[0] + now[1] / 2) / now.sum())
    if len(board) < 5:
        gained = moved[2, 0] + moved[2, 1] / 2 + moved[1, 0] / 2
        lost = moved[0, 2] + moved[0, 1] / 2 + moved[1, 2] / 2
        assert found.positive == pytest.approx(gained / (moved[2].sum() + moved[1].sum() / 2))
        assert found.negative == pytest.approx(lost / (moved[0].sum() + moved[1].sum() / 2))


@pytest.mark.parametrize(("hole", "board"), SPOTS[2:])
def test_probabilities_to_win_are_exact_equities_late(hole, board):
    exact = equity(hole, "random", parse_cards(board)).equity
    cards = parse_cards(hole), parse_cards(board)
    assert win_probability(*cards, np.ones(1326)) == pytest.approx(exact)
    assert final_strengths(*cards).mean() == pytest.approx(exact)


@pytest.mark.parametrize(("hole", "board"), SPOTS[:2])
def test_probabilities_to_win_are_near_early(hole, board):
    exact = equity(hole, "random", parse_cards(board)).equity
    assert win_probability(parse_cards(hole), parse_cards(board), np.ones(1326)) == pytest.approx(
        exact, abs=0.15
    )


def test_strength_before_the_flop_is_near_the_equity():
    # The exact equities are those of tests/oracles/preflop_equities.csv.
    for hand, exact in (("AhAd", 0.8520), ("7h2d", 0.3458), ("KsTs", 0.6179)):
        assert outlook(parse_cards(hand), ()).strength == pytest.approx(exact, abs=0.03)


def test_places_of_hands_follow_their_values():
    board = parse_cards("2c7d9hJsTc")
    found = strengths(board)
    assert hand_name(int(found.argmax())) in {"KcQc", "KdQd", "KhQh", "KsQs", "KcQd"} | {
        hand_name(h) for h in range(1326) if {c >> 2 for c in hand_table()[h].tolist()} == {10, 11}
    }
    assert found[hand_index(*parse_cards("4h3d"))] < 0.05
    assert found.max() < 1


def test_other_games_are_refused():
    for game in ("kuhn", "holdem-nolimit", "royal-holdem", "preflop-holdem"):
        with pytest.raises(InvalidValueError, match="poki plays limit hold'em"):
            check_holdem(get_game(game), "poki")

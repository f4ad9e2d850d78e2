"""Tests of EctomynX's swap rule: its printed reasons, unusual circumstances, and definitions."""

import itertools

import pytest

from equilibrist.cards.card import card_name, parse_cards
from equilibrist.cards.ranking import category
from equilibrist.errors import CardError
from equilibrist.papers.ectomynx.reference import swapping
from equilibrist.papers.ectomynx.swap_rule import card_to_swap, swap_places


def swapped(hand: str, board: str) -> str:
    card = card_to_swap(parse_cards(hand), parse_cards(board))
    return "none" if card is None else card_name(card)


@pytest.mark.parametrize(
    ("hand", "board", "card"),
    [
        # I.d: the ace is associated with the flush draw, the queen is not.
        ("AcQh", "2c3c5c", "Qh"),
        # I.d: "if we hold 84 on a board of 99884, we won't discard the 4 as we should".
        ("8h4c", "9c9d8c8d4s", "none"),
        # VI.a, in its order: flush draws stay, but of a one-card draw the offsuit card goes.
        ("Jh9h", "Ah8h4d", "none"),
        ("Jh9s", "Ah8h4h", "9s"),
        # Two-way straight draws stay, unless three of a suit are on the board.
        ("9h8s", "7d6cKh", "none"),
        ("9s8s", "7d6dKd", "8s"),
        # Monsters: a flush draw with a two-way draw or a gutshot.
        ("9h8h", "7h6cKh", "none"),
        ("9h8h", "7h5cKh", "none"),
        # Gutshots go: the card of lower power, or the lower one.
        ("8h7s", "9d5cKh", "7s"),
        ("Jh7s", "Td8c2h", "7s"),
        # A flush draw and a pair, a straight draw and a pair: both cards stay.
        ("Jh9h", "AhJd4h", "none"),
        ("9h8s", "8d7c6h", "none"),
        # "If the draw is a gutshot straight draw, we can ignore it and discard the unpaired card."
        ("9h8s", "8d7c5h", "9h"),
        # Pairs: of the hand, of one card, of both.
        ("2c2d", "AhKdQc", "none"),
        ("Ah9s", "9d5c2h", "Ah"),
        ("9h5s", "9d5c2h", "none"),
        # Made straights and flushes stay; cards that they do not need go.
        ("9h8s", "7d6c5h", "none"),
        ("9hKs", "8d7c6h5s", "Ks"),
        ("9hTs", "8d7c6h5s", "none"),  # the ten makes the better straight
        ("9h4s", "8d7c6h5s", "4s"),  # and the four the worse one
        ("AhKh", "9h6h2h", "none"),
        ("AhKs", "9h6h2h3h", "Ks"),
        ("AhKh", "9h6h2h3h", "Kh"),  # of six hearts neither is needed
        # A double gutshot is a two-way draw: a six or a ten.
        ("Jh5s", "9d8c7h", "none"),
        # Two runs that both wait for a seven are a gutshot; the powers are equal.
        ("9h4s", "8d6c5h", "4s"),
        # The ends have one way only.
        ("Ah2s", "3d4cKh", "2s"),
        ("AhKs", "QdJc2h", "Ks"),
        # Nothing: the lower card goes, and a straight draw of the board alone does not count.
        ("Ah7s", "Kd9c2h", "7s"),
        ("Kh2s", "9d8c7h6s", "2s"),
        # Of a card in a gutshot and one that is not, the latter goes, although it is higher.
        ("KhTs", "8d7c6h", "Kh"),
        ("Kh5s", "9d8c7hAs", "Kh"),
    ],
)
def test_the_rule_swaps_the_expected_card(hand: str, board: str, card: str) -> None:
    assert swapped(hand, board) == card
    assert swapped(hand[2:] + hand[:2], board) == card  # in either order


def test_a_card_is_associated_if_the_draw_is_gone_without_it() -> None:
    ace, queen = parse_cards("AcQh")
    board = parse_cards("2c3c5c")
    draw = swapping.has_flush_draw
    assert swapping.is_associated(draw, ace, (queen, *board))
    assert not swapping.is_associated(draw, queen, (ace, *board))


def test_draws_are_completed_by_one_more_card() -> None:
    # Two-way and one-way draws, counted by ranking six cards instead of searching for runs.
    deck = range(0, 52, 4)  # one card per rank, of one suit: given suits, no flush is made
    suits = (0, 1, 2, 3, 1)
    for ranks in itertools.combinations(range(13), 5):
        cards = tuple(4 * rank + suit for rank, suit in zip(ranks, suits, strict=True))
        if category(cards) == "straight":
            continue
        makes = [
            rank
            for rank in range(13)
            if rank not in ranks and category((*cards, deck[rank] + 3)) == "straight"
        ]
        assert swapping.has_two_way_draw(cards) == (len(makes) > 1), cards
        assert bool(swapping.straight_draws(cards)) == bool(makes)


@pytest.mark.parametrize(
    ("hand", "board", "message"),
    [
        ("AcQh2d", "2c3c5c", "not 3 on 3"),
        ("AcQh", "2c3c", "not 2 on 2"),
        ("AcQh", "2c3cQh", "Qh is dealt twice"),
    ],
)
def test_wrong_cards_are_named(hand: str, board: str, message: str) -> None:
    with pytest.raises(CardError, match=message):
        card_to_swap(parse_cards(hand), parse_cards(board))


def test_wrong_rows_are_named() -> None:
    with pytest.raises(CardError, match="row 1 repeats a card"):
        swap_places([(0, 1), (2, 3)], [(4, 5, 6), (3, 4, 5)])

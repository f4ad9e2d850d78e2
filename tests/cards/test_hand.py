from collections import Counter

import pytest

from equilibrist.cards.card import make_card
from equilibrist.cards.hand import (
    NUM_CLASSES,
    NUM_HANDS,
    class_name,
    class_table,
    hand_cards,
    hand_index,
    hand_name,
    hand_table,
    parse_class,
)
from equilibrist.errors import CardError


def test_every_hand_has_one_index_whatever_the_order_of_its_cards():
    for hand in range(NUM_HANDS):
        high, low = hand_cards(hand)
        assert high > low
        assert hand_index(high, low) == hand_index(low, high) == hand


def test_hands_are_in_colexicographic_order():
    pairs = [(int(high), int(low)) for low, high in hand_table()]
    assert pairs == sorted(pairs)


def test_the_169_classes_have_6_4_or_12_hands():
    sizes = Counter(class_table().tolist())
    assert len(sizes) == NUM_CLASSES
    assert Counter(sizes.values()) == {6: 13, 4: 78, 12: 78}


def test_class_names_parse_back_and_fit_their_hands():
    assert all(parse_class(class_name(c)) == c for c in range(NUM_CLASSES))
    ace_king = hand_index(make_card(12, 0), make_card(11, 0))
    assert class_name(int(class_table()[ace_king])) == "AKs"
    assert hand_name(ace_king) == "AcKc"


@pytest.mark.parametrize("name", ["", "A", "AK", "KAs", "AAs", "AAo", "AKx", "1Ks", "AKso"])
def test_an_unknown_class_name_is_refused(name):
    with pytest.raises(CardError, match="is not a class of hands"):
        parse_class(name)


def test_a_hand_needs_two_different_cards():
    with pytest.raises(CardError, match="must differ"):
        hand_index(7, 7)


def test_tables_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        hand_table()[0, 0] = 1


@pytest.mark.parametrize("cards", [(60, -3), (0, 52), (-1, 5), (0, 1.5)])
def test_a_hand_is_made_of_cards(cards):
    with pytest.raises(CardError, match="is not a card"):
        hand_index(*cards)


@pytest.mark.parametrize("hand", [-1, NUM_HANDS, 0.5, 10**30])
def test_an_invalid_hand_has_no_cards(hand):
    with pytest.raises(CardError, match="is not a hand"):
        hand_cards(hand)


@pytest.mark.parametrize("number", [-1, NUM_CLASSES, 0.5])
def test_an_invalid_class_has_no_name(number):
    with pytest.raises(CardError, match="a class of hands is a whole number from 0 to 168"):
        class_name(number)

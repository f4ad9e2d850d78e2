import numpy as np
import pytest

from equilibrist.cards.card import (
    FULL_DECK,
    Deck,
    card_name,
    cards_name,
    cards_symbols,
    check_distinct,
    make_card,
    parse_card,
    parse_cards,
    rank_of,
    suit_of,
)
from equilibrist.errors import CardError, EquilibristError, InvalidValueError


def test_all_52_cards_have_names_that_parse_back():
    assert [parse_card(card_name(card)) for card in range(52)] == list(range(52))


def test_cards_are_four_times_rank_plus_suit():
    assert card_name(0) == "2c"
    assert card_name(51) == "As"
    assert all(make_card(rank_of(card), suit_of(card)) == card for card in range(52))


@pytest.mark.parametrize("text", ["AhKh", "ah kh", " Ah  Kh ", "AHKH"])
def test_cards_may_be_written_together_or_apart_in_either_case(text):
    assert cards_name(parse_cards(text)) == "AhKh"


def test_empty_text_parses_to_zero_cards():
    assert parse_cards("  ") == ()


@pytest.mark.parametrize(
    ("text", "value", "position"),
    [("AhXx", "Xx", 2), ("1h", "1h", 0), ("Ah K", "K", 3), ("AhAh", "Ah", 2), ("Ah,Kd", ",K", 2)],
)
def test_a_bad_card_is_named_with_its_place(text, value, position):
    with pytest.raises(CardError) as caught:
        parse_cards(text)
    assert (caught.value.value, caught.value.position) == (value, position)
    assert isinstance(caught.value, EquilibristError)


@pytest.mark.parametrize("text", ["", "AhKh"])
def test_parse_card_requires_exactly_one_card(text):
    with pytest.raises(CardError, match="exactly one is expected"):
        parse_card(text)


@pytest.mark.parametrize("card", [-1, 52, 10**9])
def test_numbers_outside_the_deck_are_not_cards(card):
    with pytest.raises(CardError, match="is not a card"):
        card_name(card)


def test_cards_dealt_twice_are_found_across_groups():
    with pytest.raises(CardError, match="Kh is dealt twice"):
        check_distinct(parse_cards("AhKh"), parse_cards("2c3d"), parse_cards("Kh"))


def test_small_decks_take_the_highest_ranks_and_suits():
    assert Deck(3, 1).names == "QsKsAs"
    assert Deck(3, 2).names == "QhQsKhKsAhAs"
    assert len(Deck(5, 4)) == 20
    assert Deck(5, 4).names.startswith("Tc")
    assert parse_card("Tc") in Deck(5, 4)
    assert parse_card("9s") not in Deck(5, 4)
    assert "Tc" not in Deck(5, 4)


@pytest.mark.parametrize(("ranks", "suits"), [(0, 4), (14, 4), (13, 0), (13, 5)])
def test_impossible_decks_are_refused(ranks, suits):
    with pytest.raises(InvalidValueError):
        Deck(ranks, suits)


def test_four_colours_in_a_terminal():
    plain, coloured = cards_symbols((0, 1, 2, 3)), cards_symbols((0, 1, 2, 3), colour=True)
    assert plain == "2♣ 2♦ 2♥ 2♠"
    codes = [part.split("m")[0] for part in coloured.split("\x1b[")[1::2]]
    assert len(set(codes)) == 4


@pytest.mark.parametrize(("rank", "suit"), [(20, 9), (13, 0), (-1, 0), (0, 4), (0, -1), (1.5, 0)])
def test_a_card_is_made_of_a_rank_and_a_suit(rank, suit):
    with pytest.raises(InvalidValueError, match="is a whole number from 0 to"):
        make_card(rank, suit)


@pytest.mark.parametrize("card", [52, -1, 10**30, 1.5, "As", None])
def test_an_invalid_card_has_no_name(card):
    with pytest.raises(CardError, match="is not a card"):
        card_name(card)


def test_a_deck_holds_integers_of_any_kind():
    assert np.int64(51) in FULL_DECK
    assert np.uint8(0) in FULL_DECK
    assert np.int64(0) not in Deck(3, 2)
    for card in (52, -1, 51.0, "As", None):
        assert card not in FULL_DECK

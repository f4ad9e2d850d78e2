import itertools

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from equilibrist.cards.card import FULL_DECK, Deck, cards_name, parse_cards
from equilibrist.cards.isomorphism import BoardIndexer, DealIndexer
from equilibrist.errors import CardError, InvalidValueError

PATTERNS = [
    (2,), (2, 3), (2, 3, 1), (2, 3, 1, 1), (2, 5), (2, 4), (3,), (3, 1), (3, 1, 1), (5,), (2, 2),
    (2, 2, 3, 1, 1), (1, 1, 1), (7,), (3, 2), (3, 1, 1, 2), (4, 4), (1, 2, 3),
]  # fmt: skip
DECKS = [Deck(3, 2), Deck(5, 4), Deck(4, 3), Deck(13, 1), Deck(9, 4), Deck(13, 2)]


def renamed(deal, permutation, num_suits=4):
    first = 4 - num_suits
    names = [*range(first), *(first + p for p in permutation)]
    return tuple(4 * (card >> 2) + names[card & 3] for card in deal)


@st.composite
def deals(draw):
    """Draw a pattern, a deck and a deal of all its rounds."""
    deck = draw(st.sampled_from([FULL_DECK, FULL_DECK, *DECKS]))
    rounds = draw(st.sampled_from(PATTERNS))
    assume(sum(rounds) <= len(deck))
    cards = draw(st.permutations(deck.cards))[: sum(rounds)]
    return rounds, deck, tuple(cards)


@settings(max_examples=400, deadline=None)
@given(deals(), st.data())
def test_renaming_suits_and_reordering_rounds_keeps_the_index(deal, data):
    rounds, deck, cards = deal
    indexer = DealIndexer(rounds, deck)
    permutation = data.draw(st.permutations(range(deck.num_suits)))
    moved, at = [], 0
    for num_cards in rounds:
        moved += data.draw(st.permutations(cards[at : at + num_cards]))
        at += num_cards
    assert indexer.indices(cards) == indexer.indices(renamed(moved, permutation, deck.num_suits))


@settings(max_examples=400, deadline=None)
@given(deals())
def test_unindex_inverts_index_in_every_round(deal):
    rounds, deck, cards = deal
    indexer = DealIndexer(rounds, deck)
    for r, index in enumerate(indexer.indices(cards)):
        assert 0 <= index < indexer.sizes[r]
        canonical = indexer.unindex(index, r)
        assert len(canonical) == sum(rounds[: r + 1])
        assert all(card in deck for card in canonical)
        assert indexer.index(canonical) == index


def test_every_flop_index_is_used_and_multiplicities_sum_to_all_deals():
    indexer = DealIndexer((2, 3))
    multiplicities = indexer.multiplicities()
    assert multiplicities.sum() == indexer.raw_sizes[1] == 25_989_600
    assert indexer.multiplicities(0).sum() == indexer.raw_sizes[0] == 1_326
    everything = np.arange(indexer.size)
    deals = indexer.unindex_array(everything)
    assert (indexer.index_array(deals) == everything).all()
    sample = np.random.default_rng(2).choice(everything, 300, replace=False).tolist()
    for index in sample:
        deal = indexer.unindex(index)
        images = {
            (tuple(sorted(image[:2])), tuple(sorted(image[2:])))
            for image in (renamed(deal, p) for p in itertools.permutations(range(4)))
        }
        assert indexer.multiplicity(index) == multiplicities[index] == len(images)


def test_children_are_contiguous_and_parents_own_them():
    indexer = DealIndexer((2, 3, 1, 1))
    end = 0
    for hole in range(169):
        flops = indexer.children(hole, 0)
        assert flops.start == end
        end = flops.stop
    assert end == indexer.sizes[1]
    for index in np.random.default_rng(3).integers(0, indexer.size, 200).tolist():
        turn = indexer.parent(index)
        assert index in indexer.children(turn, 2)
        flop = indexer.parent(turn, 2)
        assert turn in indexer.children(flop, 1)
        assert indexer.unindex(flop, 1) == indexer.unindex(index)[:5]


def test_states_of_all_canonical_flops_are_all_canonical_flop_deals():
    flops = BoardIndexer((3,))
    total = 0
    for index in range(flops.boards.size):
        total += flops.states(flops.boards.unindex(index))[1]
    assert total == flops.num_states == 1_286_792


def test_board_first_works_in_a_small_deck():
    royal = BoardIndexer((3,), Deck(5, 4))
    states, num_states = royal.states(parse_cards("TsJsQs"))
    assert num_states == len(set(states.tolist()) - {-1})
    assert (states >= 0).sum() == 17 * 16 // 2


@pytest.mark.parametrize("rounds", [(), (0,), (2, 0), (-1,), (14,), (7, 7)])
def test_impossible_patterns_are_refused(rounds):
    with pytest.raises(InvalidValueError):
        DealIndexer(rounds)


def test_more_deals_than_64_bits_can_number_are_refused():
    with pytest.raises(InvalidValueError, match="64-bit"):
        DealIndexer((1,) * 13)


@pytest.mark.parametrize("text", ["Ah", "AhKh2c", "AhKh2c3c4c5c6c7c"])
def test_cards_must_complete_a_round(text):
    with pytest.raises(CardError, match="2 or 5 or 6 or 7 cards do"):
        DealIndexer((2, 3, 1, 1)).index(parse_cards(text))


def test_repeated_and_foreign_cards_are_refused():
    indexer, royal = DealIndexer((2,)), DealIndexer((2,), Deck(5, 4))
    with pytest.raises(CardError, match="2s is dealt twice"):
        indexer.index((3, 3))
    with pytest.raises(CardError, match="repeats a card"):
        indexer.index_array([(3, 3)])
    for card in (99, -1, 10**30, 1.5, "As"):
        with pytest.raises(CardError, match="is not a card"):
            indexer.index((3, card))
    with pytest.raises(CardError, match="outside 0 … 51"):
        indexer.index_array([(3, 4), (3, 99)])
    for ask, cards in ((royal.index, parse_cards("2cAs")), (royal.index_array, [(0, 51)])):
        with pytest.raises(CardError, match="2c is not in the deck"):
            ask(cards)
    assert cards_name(Deck(2, 1).cards) == "KsAs"


@pytest.mark.parametrize("index", [-1, 169, 10**18])
def test_indices_outside_the_pattern_are_refused(index):
    with pytest.raises(InvalidValueError, match="outside 0 … 168"):
        DealIndexer((2,)).unindex(index)


def test_rounds_outside_the_pattern_are_refused():
    with pytest.raises(InvalidValueError, match="round 4 is outside"):
        DealIndexer((2, 3, 1, 1)).unindex(0, 4)
    with pytest.raises(InvalidValueError):
        DealIndexer((2, 3)).children(0, 1)


def test_deals_come_as_an_integer_matrix():
    with pytest.raises(InvalidValueError, match="integer array"):
        DealIndexer((2,)).index_array([0, 1])


def test_the_first_round_has_no_parent():
    with pytest.raises(InvalidValueError, match="no parent"):
        DealIndexer((2, 3)).parent(5, 0)


@pytest.mark.parametrize("index", [-1, 169, 2**63, 2**64, -(2**70)])
def test_an_index_outside_is_refused_however_large(index):
    indexer = DealIndexer((2,))
    for ask in (indexer.unindex, indexer.multiplicity):
        with pytest.raises(InvalidValueError, match=f"index {index} is outside"):
            ask(index)


def test_indices_are_whole_numbers():
    indexer = DealIndexer((2,))
    for ask in (indexer.unindex, indexer.multiplicity):
        with pytest.raises(InvalidValueError, match=r"whole number, not 1\.7"):
            ask(1.7)
    for indices in ([1.7], [[1]], ["1"], 1):
        with pytest.raises(InvalidValueError, match="integer array"):
            indexer.unindex_array(indices)
    assert indexer.unindex_array([]).shape == (0, 2)
    assert (indexer.unindex_array(np.array([5], np.int8)) == indexer.unindex_array([5])).all()


def test_deals_in_foreign_byte_order():
    indexer = DealIndexer((2,))
    deals = np.array([[50, 46], [3, 7]])
    assert (indexer.index_array(deals.astype(">i4")) == indexer.index_array(deals)).all()


@pytest.mark.parametrize("num_hole_cards", [0, 3, -1])
def test_only_hands_of_one_or_two_cards_have_board_states(num_hole_cards):
    with pytest.raises(InvalidValueError, match=f"hands of {num_hole_cards} cards"):
        BoardIndexer((3,), num_hole_cards=num_hole_cards)


def test_hands_of_one_card_have_board_states():
    states, num_states = BoardIndexer((1,), Deck(3, 2), num_hole_cards=1).states(parse_cards("Qh"))
    assert (len(states), num_states) == (52, 5)

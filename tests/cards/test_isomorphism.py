import itertools

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from equilibrist.cards.card import FULL_DECK, Deck, cards_name, parse_cards
from equilibrist.cards.hand import hand_table
from equilibrist.cards.isomorphism import BoardIndexer, DealIndexer
from equilibrist.errors import CardError, InvalidValueError
from equilibrist.kernels.reference.isomorphism import canonical_deals, count_deals

pytestmark = pytest.mark.kernels

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
    """A pattern, a deck and a deal of all its rounds."""
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


@settings(max_examples=300, deadline=None)
@given(deals(), st.randoms(use_true_random=False))
def test_two_deals_share_an_index_exactly_when_a_suit_permutation_maps_them(deal, random):
    rounds, deck, cards = deal
    other = list(cards)
    # A near miss: one card changed, so that both answers occur.
    other[random.randrange(len(other))] = random.choice(deck.cards)
    assume(len(set(other)) == len(other))
    indexer = DealIndexer(rounds, deck)
    first, second = canonical_deals(np.array([cards, other]), rounds, deck.num_suits)
    assert (indexer.index(cards) == indexer.index(other)) == (first == second).all()


@pytest.mark.parametrize("deck", DECKS, ids=lambda deck: f"{deck.num_ranks}x{deck.num_suits}")
@pytest.mark.parametrize("rounds", [(1,), (2,), (1, 1), (2, 1), (1, 2), (3,), (2, 2), (4, 1)])
def test_small_decks_completely_against_brute_force(rounds, deck):
    if sum(rounds) > 4 and len(deck) > 20:
        rounds = rounds[:1]
    indexer = DealIndexer(rounds, deck)
    everything = []
    for flat in itertools.permutations(deck.cards, sum(rounds)):
        at, ordered = 0, True
        for num_cards in rounds:
            ordered &= list(flat[at : at + num_cards]) == sorted(flat[at : at + num_cards])
            at += num_cards
        if ordered:
            everything.append(flat)
    everything = np.array(everything)
    if len(everything) > 60_000:
        everything = everything[:: len(everything) // 60_000 + 1]
        dense = False
    else:
        dense = True
    indices = indexer.index_array(everything)
    canonical = canonical_deals(everything, rounds, deck.num_suits)
    classes = np.unique(np.hstack([canonical, indices[:, None]]), axis=0)
    assert len(np.unique(classes[:, :-1], axis=0)) == len(classes) == len(np.unique(indices))
    if dense:
        numbers, multiplicities = np.unique(indices, return_counts=True)
        assert numbers.tolist() == list(range(indexer.size))
        assert multiplicities.tolist() == [indexer.multiplicity(i) for i in numbers]


@pytest.mark.parametrize("rounds", PATTERNS, ids=str)
@pytest.mark.parametrize("deck", [FULL_DECK, *DECKS], ids=lambda d: f"{d.num_ranks}x{d.num_suits}")
def test_sizes_agree_with_burnsides_lemma(rounds, deck):
    if sum(rounds) > len(deck):
        with pytest.raises(InvalidValueError, match="from a deck of"):
            DealIndexer(rounds, deck)
        return
    assert DealIndexer(rounds, deck).size == count_deals(rounds, deck.num_ranks, deck.num_suits)


def test_every_flop_index_is_used_and_multiplicities_sum_to_all_deals():
    indexer = DealIndexer((2, 3))
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
        assert indexer.multiplicity(index) == len(images)


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


def test_a_board_first_state_is_an_orbit_of_hands_under_renamings_that_keep_the_board():
    boards = BoardIndexer((3, 1))
    board = parse_cards("7s8s9d2d")
    states, num_states = boards.states(board)
    blocked = np.isin(hand_table(), board).any(axis=1)
    assert ((states < 0) == blocked).all()
    assert sorted(set(states[~blocked].tolist())) == list(range(num_states))
    free = hand_table()[~blocked].astype(np.int64)
    deals = np.hstack([np.tile(np.array(board), (len(free), 1)), free])
    canonical = canonical_deals(deals, (3, 1, 2))
    pairs = np.unique(np.hstack([canonical, states[~blocked][:, None]]), axis=0)
    assert len(pairs) == len(np.unique(canonical, axis=0)) == num_states


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
    with pytest.raises(CardError, match="repeats a card"):
        DealIndexer((2,)).index((3, 3))
    with pytest.raises(CardError, match="outside 0 … 51"):
        DealIndexer((2,)).index((3, 99))
    with pytest.raises(CardError, match="2c is not in the deck"):
        DealIndexer((2,), Deck(5, 4)).index(parse_cards("2cAs"))
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

"""The index of deals compared with the reference, which tries all renamings of the suits."""

import itertools
import math

import numpy as np
import pytest

from equilibrist.cards.card import FULL_DECK, Deck, parse_cards
from equilibrist.cards.hand import hand_table
from equilibrist.cards.isomorphism import BoardIndexer, DealIndexer
from equilibrist.errors import InvalidValueError
from equilibrist.kernels.reference.isomorphism import canonical_deals, count_deals

pytestmark = pytest.mark.kernels

PATTERNS = [
    (2,), (2, 3), (2, 3, 1), (2, 3, 1, 1), (2, 5), (2, 4), (3,), (3, 1), (3, 1, 1), (5,), (2, 2),
    (2, 2, 3, 1, 1), (1, 1, 1), (7,), (3, 2), (3, 1, 1, 2), (4, 4), (1, 2, 3),
]  # fmt: skip
DECKS = [Deck(3, 2), Deck(5, 4), Deck(4, 3), Deck(13, 1), Deck(9, 4), Deck(13, 2)]
SMALL = [(1,), (2,), (1, 1), (2, 1), (1, 2), (3,), (2, 2), (4, 1)]
MOST_DEALS = 400_000


def deck_name(deck):
    return f"{deck.num_ranks}x{deck.num_suits}"


def num_deals(rounds, deck):
    left = itertools.accumulate(rounds, lambda cards, dealt: cards - dealt, initial=len(deck))
    return math.prod(math.comb(cards, dealt) for cards, dealt in zip(left, rounds, strict=False))


def all_deals(rounds, cards):
    """Return every deal of some cards, ascending within a round."""
    if not rounds:
        yield ()
        return
    for dealt in itertools.combinations(cards, rounds[0]):
        left = [card for card in cards if card not in dealt]
        for rest in all_deals(rounds[1:], left):
            yield (*dealt, *rest)


def assert_same_classes(indices, canonical):
    """Assert that two deals have the same index exactly if they have the same canonical deal."""
    pairs = np.unique(np.hstack([canonical, indices[:, None]]), axis=0)
    assert len(np.unique(canonical, axis=0)) == len(pairs) == len(np.unique(indices))


@pytest.mark.parametrize(
    ("rounds", "deck"),
    [(p, deck) for p in PATTERNS for deck in (FULL_DECK, *DECKS) if sum(p) <= len(deck)],
    ids=lambda value: deck_name(value) if isinstance(value, Deck) else str(value),
)
def test_two_deals_share_an_index_exactly_when_a_suit_permutation_maps_them(rounds, deck):
    random = np.random.default_rng(sum(rounds))
    order = random.random((500, len(deck))).argsort(axis=1)
    deals = np.array(deck.cards)[order[:, : sum(rounds)]]
    # Near misses, so that both answers occur: the same deals with one card or its suit changed.
    near = deals.copy()
    near[:, 0] = random.choice(deck.cards, len(near))
    suits = deals.copy()
    suits[:, -1] = (suits[:, -1] & ~3) + random.integers(4 - deck.num_suits, 4, len(suits))
    deals = np.vstack([deals, near, suits])
    distinct = (np.diff(np.sort(deals, axis=1), axis=1) > 0).all(axis=1)
    deals = deals[distinct]
    canonical = canonical_deals(deals, rounds, deck.num_suits)
    assert_same_classes(DealIndexer(rounds, deck).index_array(deals), canonical)


@pytest.mark.parametrize(
    ("rounds", "deck"),
    [
        pytest.param(rounds, deck, id=f"{rounds} {deck_name(deck)}")
        for rounds, deck in itertools.product(SMALL, DECKS)
        if num_deals(rounds, deck) <= MOST_DEALS
    ],
)
def test_every_deal_of_a_small_deck_against_brute_force(rounds, deck):
    indexer = DealIndexer(rounds, deck)
    everything = np.array(list(all_deals(rounds, deck.cards)))
    indices = indexer.index_array(everything)
    assert_same_classes(indices, canonical_deals(everything, rounds, deck.num_suits))
    numbers, counts = np.unique(indices, return_counts=True)
    assert numbers.tolist() == list(range(indexer.size))
    assert (counts == indexer.multiplicities()).all()
    assert [indexer.multiplicity(i) for i in range(0, indexer.size, 97)] == counts[::97].tolist()


@pytest.mark.parametrize("rounds", PATTERNS, ids=str)
@pytest.mark.parametrize("deck", [FULL_DECK, *DECKS], ids=deck_name)
def test_sizes_agree_with_burnsides_lemma(rounds, deck):
    if sum(rounds) > len(deck):
        with pytest.raises(InvalidValueError, match="from a deck of"):
            DealIndexer(rounds, deck)
        return
    assert DealIndexer(rounds, deck).size == count_deals(rounds, deck.num_ranks, deck.num_suits)


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

import numpy as np
import pytest

from equilibrist.cards.ranking import rank_cards, rank_hands, rank_tables
from equilibrist.kernels.cpu import ranking as cpu
from equilibrist.kernels.hand_strengths import THREE_CARD
from equilibrist.kernels.parts import kernel
from equilibrist.kernels.reference import ranking as reference

pytestmark = pytest.mark.kernels


def random_hands(num_hands: int, num_cards: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.random((num_hands, 52)).argsort(axis=1)[:, :num_cards]


@pytest.mark.parametrize("num_cards", range(1, 8))
def test_fast_and_reference_ranking_agree(num_cards):
    hands = random_hands(20_000, num_cards, seed=num_cards)
    assert (rank_hands(hands) == reference.rank_hands(hands)).all()


def test_fast_and_reference_ranking_agree_on_flushes():
    # Two suits only: most seven-card hands hold a flush.
    rng = np.random.default_rng(9)
    deck = np.array([card for card in range(52) if card & 3 < 2])
    hands = deck[rng.random((20_000, 26)).argsort(axis=1)[:, :7]]
    assert (rank_hands(hands) == reference.rank_hands(hands)).all()


def test_three_card_ranking_agrees_on_every_hand():
    hands = np.array([(a, b, c) for a in range(52) for b in range(a) for c in range(b)])
    fast = rank_hands(hands, "three-card")
    assert (fast == reference.rank_hands(hands, THREE_CARD)).all()


@kernel(cache=False)
def rank_one(tables, cards):
    return cpu.rank_hand(tables, cards, len(cards))


def test_the_scalar_the_bulk_and_the_single_hand_agree():
    for hand in random_hands(200, 7, seed=1):
        (value,) = rank_hands(hand[None])
        assert value == rank_one(rank_tables(7), hand) == rank_cards(hand.tolist())

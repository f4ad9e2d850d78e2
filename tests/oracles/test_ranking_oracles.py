"""Hand values compared with two independent evaluators and with the known counts.

Values of different evaluators are different numbers (phevaluator's even fall as hands get better),
so what is compared is the order: two hands are equal for one exactly when they are for the other,
and a better hand is better for both.
"""

from __future__ import annotations

import warnings
from itertools import combinations

import numpy as np
import phevaluator
import pytest
from numpy.typing import NDArray

from equilibrist.cards.card import card_name
from equilibrist.cards.ranking import category_bounds, rank_hands, rank_tables
from equilibrist.kernels.cpu import ranking as kernel

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # eval7 calls pyparsing by its old names
    import eval7

EVAL7_CARDS = [eval7.Card(card_name(card)) for card in range(52)]
RANDOM_HANDS = {7: 200_000, 6: 50_000, 5: 50_000}


def random_hands(count: int, num_cards: int, seed: int) -> NDArray[np.uint8]:
    """Hands [count, num_cards], each of distinct cards."""
    order = np.random.default_rng(seed).random((count, 52), dtype=np.float32)
    return np.argpartition(order, num_cards, axis=1)[:, :num_cards].astype(np.uint8)


def eval7_values(hands: NDArray[np.uint8]) -> NDArray[np.int64]:
    cards, evaluate = EVAL7_CARDS, eval7.evaluate
    return np.array([evaluate([cards[card] for card in hand]) for hand in hands.tolist()])


def phevaluator_values(hands: NDArray[np.uint8]) -> NDArray[np.int64]:
    # It numbers cards as we do, and its best hand is 1.
    assert [phevaluator.Card(card_name(card)).id_ for card in range(52)] == list(range(52))
    evaluate = phevaluator.evaluate_cards
    return -np.array([evaluate(*hand) for hand in hands.tolist()])


EVALUATORS = {"eval7": eval7_values, "phevaluator": phevaluator_values}


def assert_same_order(ours: NDArray[np.integer], theirs: NDArray[np.integer]) -> None:
    """Higher where higher, equal where equal, for every pair of hands."""
    order = np.lexsort((theirs, ours))
    our_steps = np.diff(ours[order].astype(np.int64))
    their_steps = np.diff(theirs[order].astype(np.int64))
    np.testing.assert_array_equal(np.sign(our_steps), np.sign(their_steps))


@pytest.mark.parametrize("evaluator", EVALUATORS)
@pytest.mark.parametrize("num_cards", RANDOM_HANDS)
def test_random_hands_are_ordered_as_by_other_evaluators(num_cards: int, evaluator: str) -> None:
    hands = random_hands(RANDOM_HANDS[num_cards], num_cards, seed=num_cards)
    assert hands.shape == ({7: 200_000, 6: 50_000, 5: 50_000}[num_cards], num_cards)
    assert_same_order(rank_hands(hands), EVALUATORS[evaluator](hands))


@pytest.mark.parametrize("num_cards", RANDOM_HANDS)
def test_a_few_thousand_hands_are_ordered_as_by_eval7_within_bounds(num_cards: int) -> None:
    hands = random_hands(3_000, num_cards, seed=52)
    assert_same_order(rank_hands(hands), eval7_values(hands))


def test_five_six_and_seven_cards_share_one_scale() -> None:
    # eval7 has one scale too, so hands of different sizes can be compared with one another.
    batches = [random_hands(5_000, num_cards, seed=99) for num_cards in (5, 6, 7)]
    ours = np.concatenate([rank_hands(hands) for hands in batches])
    theirs = np.concatenate([eval7_values(hands) for hands in batches])
    assert_same_order(ours, theirs)


# --- known counts ---------------------------------------------------------------------------------


def counts_of_categories(
    counts: NDArray[np.int64], num_cards: int, ranking: str = "standard"
) -> dict[str, int]:
    """Return the number of hands of each category, best first, from the count of each value."""
    bounds = category_bounds(num_cards, ranking)
    return {name: int(counts[low:high].sum()) for name, (low, high) in reversed(bounds.items())}


def all_hands(num_cards: int) -> NDArray[np.uint8]:
    flat = np.fromiter(
        (card for hand in combinations(range(52), num_cards) for card in hand), np.uint8
    )
    return flat.reshape(-1, num_cards)


def test_every_five_card_hand_is_in_its_category() -> None:
    # Counts by combinatorics, in every textbook: 2,598,960 hands in 7,462 classes.
    counts = np.bincount(rank_hands(all_hands(5)))
    assert counts_of_categories(counts, 5) == {
        "straight flush": 40,
        "four of a kind": 624,
        "full house": 3_744,
        "flush": 5_108,
        "straight": 10_200,
        "three of a kind": 54_912,
        "two pair": 123_552,
        "pair": 1_098_240,
        "high card": 1_302_540,
    }
    assert (np.count_nonzero(counts), counts.sum()) == (7_462, 2_598_960)


def test_every_seven_card_hand_is_in_its_category() -> None:
    # 133,784,560 hands in 4,824 classes of the 7,462.
    counts = np.zeros((8, 7_462), np.int64)
    kernel.count_seven_card_values(rank_tables(7), counts)
    counts = counts.sum(axis=0)
    assert counts_of_categories(counts, 7) == {
        "straight flush": 41_584,
        "four of a kind": 224_848,
        "full house": 3_473_184,
        "flush": 4_047_644,
        "straight": 6_180_020,
        "three of a kind": 6_461_620,
        "two pair": 31_433_400,
        "pair": 58_627_800,
        "high card": 23_294_460,
    }
    assert (np.count_nonzero(counts), counts.sum()) == (4_824, 133_784_560)


def test_every_rhode_island_hand_is_in_its_category() -> None:
    counts = np.bincount(rank_hands(all_hands(3), "three-card"))
    found = counts_of_categories(counts, 3, "three-card")
    assert found == {
        "straight flush": 48,
        "three of a kind": 52,
        "straight": 720,
        "flush": 1_096,
        "pair": 3_744,
        "high card": 16_440,
    }
    assert list(found)[:4] == ["straight flush", "three of a kind", "straight", "flush"]
    assert counts.sum() == 22_100

"""Compiled counts of leads, and the classes of hands, compared with plain arrays."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equilibrist.cards.hand import hand_table
from equilibrist.cards.ranking import rank_tables
from equilibrist.kernels.cpu import potential as compiled
from equilibrist.kernels.hand_strengths import STANDARD, THREE_CARD
from equilibrist.kernels.reference import potential as reference
from equilibrist.papers.ectomynx.kernels import texture as compiled_texture
from equilibrist.papers.ectomynx.reference import texture as reference_texture
from equilibrist.papers.ectomynx.textures import straight_tables

pytestmark = pytest.mark.kernels


def count(boards, deck, hands, later: str = "standard"):
    num_cards = hands.shape[1] + boards.shape[1]
    columns = np.arange(len(hands))[::-1].copy()  # hands may be in any column
    out = np.full((len(boards), 3, 3, len(hands)), 7, np.int32)
    compiled.potentials(
        rank_tables(num_cards),
        rank_tables(num_cards + 1, later),
        boards.astype(np.uint8),
        deck.astype(np.uint8),
        hands.astype(np.uint8),
        columns,
        out,
    )
    return out[..., columns]


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32), num_ranks=st.integers(3, 6), num_board=st.integers(0, 4))
def test_two_card_hands_lead_as_often_as_in_the_matrices(
    seed: int, num_ranks: int, num_board: int
) -> None:
    random = np.random.default_rng(seed)
    deck = np.sort(
        (random.choice(13, num_ranks, replace=False)[:, None] * 4 + np.arange(4)).ravel()
    )
    boards = np.stack([random.choice(deck, num_board, replace=False) for _ in range(2)])
    hands = hand_table()[np.isin(hand_table(), deck).all(axis=1)].astype(np.int64)
    np.testing.assert_array_equal(
        count(boards, deck, hands), reference.potentials(boards, deck, hands)
    )


@pytest.mark.parametrize("num_board", [3, 4])
def test_all_hands_of_the_full_deck_lead_as_often_as_in_the_matrices(num_board: int) -> None:
    board = np.random.default_rng(num_board).choice(52, num_board, replace=False)[None]
    deck, hands = np.arange(52), hand_table().astype(np.int64)
    counts = count(board, deck, hands)
    np.testing.assert_array_equal(counts, reference.potentials(board, deck, hands))


@pytest.mark.parametrize("num_board", [0, 1])
def test_one_card_hands_lead_as_often_as_in_the_matrices(num_board: int) -> None:
    deck, hands = np.arange(52), np.arange(52)[:, None]
    boards = np.arange(0, 52, 5)[:, None][:, :num_board]
    later = STANDARD if num_board == 0 else THREE_CARD  # Rhode Island's last card
    np.testing.assert_array_equal(
        count(boards, deck, hands, later.name),
        reference.potentials(boards, deck, hands, STANDARD, later),
    )


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32), num_board=st.integers(3, 5), num_ranks=st.sampled_from([5, 13]))
def test_classes_of_hands_are_those_of_the_array_program(
    seed: int, num_board: int, num_ranks: int
) -> None:
    random = np.random.default_rng(seed)
    deck = np.arange(52 - 4 * num_ranks, 52)
    hands = hand_table()[np.isin(hand_table(), deck).all(axis=1)]
    boards = np.stack([random.choice(deck, num_board, replace=False) for _ in range(20)])
    out = np.empty((len(boards), len(hands)), np.int8)
    lowest = 13 - num_ranks
    compiled_texture.strength_classes(
        boards.astype(np.uint8), hands, np.arange(len(hands)), *straight_tables(), lowest, out
    )
    for board, found in zip(boards, out, strict=True):
        live = ~np.isin(hands, board).any(axis=1)
        on_board = np.broadcast_to(board, (int(live.sum()), num_board))
        expected = reference_texture.strength_classes(hands[live].astype(int), on_board, lowest)
        np.testing.assert_array_equal(found[live], expected)
        assert (found[~live] == compiled_texture.BLOCKED).all()

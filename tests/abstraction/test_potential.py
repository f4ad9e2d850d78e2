"""Hand potential, compared with eval7, with strengths and with published values."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest

from equilibrist.abstraction.features import Strengths
from equilibrist.abstraction.potential import (
    AHEAD,
    BEHIND,
    TIED,
    Potential,
    has_potential,
    potentials,
)
from equilibrist.abstraction.streets import Streets
from equilibrist.cards.card import card_name, parse_cards
from equilibrist.cards.hand import hand_index, hand_table
from equilibrist.cards.ranking import rank_tables
from equilibrist.errors import InvalidValueError
from equilibrist.games.catalog import get_game
from equilibrist.kernels.cpu import potential as kernel
from equilibrist.kernels.reference import potential as reference

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # eval7 calls pyparsing by its old names
    import eval7

CARDS = [eval7.Card(card_name(card)) for card in range(52)]


@pytest.fixture(scope="module")
def royal() -> Streets:
    return Streets.of(get_game("royal-holdem"))


def counts_on(board: tuple[int, ...]) -> np.ndarray:
    """Return the counts of every hand on one board of the full deck: [3, 3, 1326]."""
    out = np.empty((1, 3, 3, 1326), np.uint16)
    kernel.potentials(
        rank_tables(len(board) + 2),
        rank_tables(len(board) + 3),
        np.array([board], np.uint8),
        np.arange(52, dtype=np.uint8),
        hand_table().copy(),
        np.arange(1326),
        out,
    )
    return out[0].astype(int)


def counts_by_eval7(hand: tuple[int, ...], board: tuple[int, ...]) -> np.ndarray:
    """Enumerate every opponent hand and every next card."""

    def value(cards: tuple[int, ...]) -> int:
        return eval7.evaluate([CARDS[card] for card in cards])

    def standing(mine: int, theirs: int) -> int:
        return AHEAD if mine > theirs else TIED if mine == theirs else BEHIND

    counts = np.zeros((3, 3), int)
    free = [card for card in range(52) if card not in (*hand, *board)]
    mine = value(hand + board)
    then = {card: value((*hand, *board, card)) for card in free}
    for other in itertools.combinations(free, 2):
        now = standing(mine, value(other + board))
        for card in free:
            if card not in other:
                counts[now, standing(then[card], value((*other, *board, card)))] += 1
    return counts


@pytest.mark.parametrize(("num_board", "total"), [(3, 48_645), (4, 45_540)])
def test_counts_are_those_of_eval7(num_board: int, total: int) -> None:
    random = np.random.default_rng(num_board)
    for _ in range(25):
        cards = tuple(random.choice(52, 2 + num_board, replace=False).tolist())
        hand, board = cards[:2], cards[2:]
        found = counts_on(board)[:, :, hand_index(*hand)]
        assert found.sum() == total
        np.testing.assert_array_equal(found, counts_by_eval7(hand, board))


def test_papps_example_leads_one_hand_in_nine() -> None:
    # Papp 1998, section 5.3: 8d7d on 9d6c2d has the strongest hand with 11.5 %.
    found = counts_on(parse_cards("9d6c2d"))[:, :, hand_index(*parse_cards("8d7d"))]
    assert (found[AHEAD].sum() + found[TIED].sum() / 2) / found.sum() == pytest.approx(
        0.115, abs=5e-4
    )


def test_a_hand_that_cannot_lose_has_no_potential(royal: Streets) -> None:
    board = parse_cards("AsKsQsTh")
    turn = Potential.of(royal, 2)
    _, number, columns = royal.locate(board)
    best = hand_index(*parse_cards("JsTs"))
    assert turn.positive()[number][columns][best] == 0.0
    assert turn.negative()[number][columns][best] == 0.0
    assert turn.leading()[number][columns][best] == 1.0


@pytest.mark.parametrize("r", [1, 2])
def test_counts_do_not_depend_on_the_names_of_suits_or_the_order_of_cards(
    royal: Streets, r: int
) -> None:
    random = np.random.default_rng(r)
    found = Potential.of(royal, r)
    deck, hands = np.array(royal.rules.deck.cards), royal.hands[royal.in_deck].astype(np.int64)
    for _ in range(10):
        board = random.choice(deck, r + 2, replace=False)
        expected = reference.potentials(board[None], deck, hands)[0]
        np.testing.assert_array_equal(found.on(board.tolist())[:, :, royal.in_deck], expected)


def test_leads_on_the_river_agree_with_strength(royal: Streets) -> None:
    # Leads later, without regard to leads now, are 2 · wins + ties over all rivers.
    strengths = Strengths.of(royal)
    turn = Potential.of(royal, 2)
    for number in range(0, len(royal[2].boards), 7):
        later = turn.on(royal[2].boards[number].tolist()).astype(int).sum(axis=0)
        held = strengths.tables[2][number] >= 0
        strength = 2 * later[AHEAD] + later[TIED]
        np.testing.assert_array_equal(strength[held], strengths.tables[2][number][held])
        assert not later[:, ~held].any()


def test_tables_hold_the_shares_of_the_counts(royal: Streets) -> None:
    flop = Potential.of(royal, 1)
    number = 11
    counts = flop.on(royal[1].boards[number].tolist()).astype(float)
    held = counts.any(axis=(0, 1))
    behind = counts[BEHIND].sum(axis=0) + counts[TIED].sum(axis=0) / 2
    better = counts[BEHIND, AHEAD] + (counts[BEHIND, TIED] + counts[TIED, AHEAD]) / 2
    ahead = counts[AHEAD].sum(axis=0) + counts[TIED].sum(axis=0) / 2
    worse = counts[AHEAD, BEHIND] + (counts[AHEAD, TIED] + counts[TIED, BEHIND]) / 2
    for table, part, whole in (
        (flop.positive(), better, behind),
        (flop.negative(), worse, ahead),
        (flop.leading(), ahead, counts.sum(axis=(0, 1))),
    ):
        np.testing.assert_allclose(
            table[number][held] * whole[held], part[held], rtol=1e-6, atol=1e-6
        )
        assert (table[number][~held] == -1).all()


def test_one_card_games_have_potential_before_the_last_card() -> None:
    streets = Streets.of(get_game("rhode-island"))
    found = potentials(streets)
    assert [each is not None for each in found] == [True, True, False]
    # A nine is behind jacks and better, 20 cards, and pairs one of three nines: 50 · 49 deals.
    nine = parse_cards("9s")[0]
    assert found[0] is not None
    assert found[0].on(())[:, :, nine].sum() == 51 * 50
    assert found[0].on(())[BEHIND, AHEAD, nine] == 20 * 3
    assert found[0].on(())[AHEAD, BEHIND, nine] == 28 * 3


@pytest.mark.parametrize(("r", "come"), [(0, 3), (3, 0)])
def test_rounds_without_one_card_to_come_have_no_potential(
    royal: Streets, r: int, come: int
) -> None:
    assert not has_potential(royal.rules, r)
    with pytest.raises(InvalidValueError, match=f"one card follows; .* is {come}$"):
        Potential.of(royal, r)


def test_counts_of_another_round_are_refused(royal: Streets) -> None:
    with pytest.raises(InvalidValueError, match="counts of round 2"):
        Potential.of(royal, 1).on(parse_cards("AsKsQsJs"))


@pytest.mark.slow
def test_every_hand_of_holdem_meets_every_opponent_and_card() -> None:
    streets = Streets.of(get_game("holdem-limit"))
    for r, total in ((1, 48_645), (2, 45_540)):
        found = Potential.of(streets, r)
        assert np.isin(found.counts.sum(axis=(1, 2), dtype=np.int64), (0, total)).all()
        random = np.random.default_rng(r)
        for _ in range(200):
            board = tuple(random.choice(52, r + 2, replace=False).tolist())
            np.testing.assert_array_equal(found.on(board), counts_on(board))

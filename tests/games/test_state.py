"""Hands with cards: deals, boards, swaps and payoffs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from equilibrist.cards.card import Card, parse_card, parse_cards
from equilibrist.errors import CardError, IllegalActionError, InvalidValueError
from equilibrist.games.action import KEEP, SWAP, Action, parse_action, raise_to
from equilibrist.games.catalog import get_game
from equilibrist.games.notation import parse_state, state_line
from equilibrist.games.state import Deal, HandState


def deal_of(holes: str, board: str = "", draws: str = "") -> Deal:
    hands = tuple(parse_cards(hole) for hole in holes.split("|"))
    return Deal(hands, parse_cards(board), parse_cards(draws))


def play(name: str, deal: Deal, actions: str) -> HandState:
    state = HandState.start(get_game(name), deal)
    for action in actions.split():
        state = state.apply(parse_action(action))
    return state


# --- payoffs --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "holes", "board", "actions", "payoffs"),
    [
        ("kuhn", "As|Qs", "", "c c", (1, -1)),
        ("kuhn", "Qs|As", "", "c r c", (-2, 2)),
        ("kuhn", "Qs|As", "", "r f", (1, -1)),
        ("leduc", "Qs|As", "Qh", "r c r r c", (11, -11)),  # a pair beats an ace
        ("leduc", "Qs|Qh", "Ah", "c c c c", (0, 0)),
        ("rhode-island", "2c|Ah", "3c4c", "c c c c r c", (25, -25)),  # straight flush
        ("rhode-island", "2c|Ah", "2d2h", "c c c c c c", (5, -5)),  # three of a kind
        ("holdem-limit", "AhKh|QsQd", "2c7d9hJsTc", "c c c c c c r c", (-30, 30)),
        ("holdem-limit", "AhKh|AsKs", "2c7d9hJsTc", "r c r c r c r c", (0, 0)),
        ("preflop-holdem", "AhKh|QsQd", "2h7h9hJsTc", "r r c", (30, -30)),
        ("royal-holdem", "AhKh|TsTd", "JcJdThKsAs", "c c c c c c c c", (-10, 10)),
    ],
)
def test_payoffs_by_hand(
    name: str, holes: str, board: str, actions: str, payoffs: tuple[int, int]
) -> None:
    assert play(name, deal_of(holes, board), actions).payoffs() == payoffs


def test_payoffs_need_the_end_and_the_cards() -> None:
    with pytest.raises(InvalidValueError, match="not over"):
        play("kuhn", deal_of("As|Qs"), "c").payoffs()
    with pytest.raises(InvalidValueError, match="player 1's cards are not known"):
        play("kuhn", deal_of("As|"), "c c").payoffs()
    with pytest.raises(InvalidValueError, match="need the complete board"):
        play("leduc", deal_of("As|Qs"), "c c c c").payoffs()
    assert play("kuhn", deal_of("|"), "r f").payoffs() == (1, -1)


def test_the_board_opens_round_by_round() -> None:
    deal = deal_of("AhKh|QsQd", "2c7d9hJsTc")
    boards = ["", "2c7d9h", "2c7d9hJs", "2c7d9hJsTc"]
    for rounds, board in enumerate(boards):
        state = play("holdem-limit", deal, "c c " * rounds)
        assert state.board == parse_cards(board)
    assert play("preflop-holdem", deal, "c").board == ()
    assert play("preflop-holdem", deal, "c c").board == parse_cards("2c7d9hJsTc")
    assert play("preflop-holdem", deal, "f").board == ()


# --- swaps ----------------------------------------------------------------------------------------

DISCARDS = deal_of("2cKh|3d3h", "4s5s6s9c9d", "7d8d Ac Ad")


def test_a_swap_takes_the_card_set_aside_for_that_turn_and_player() -> None:
    state = play("discard-holdem", DISCARDS, "c c d2c k c c")
    assert state.holes == (parse_cards("7dKh"), parse_cards("3d3h"))
    state = state.apply(KEEP).apply(parse_action("d3h"))
    assert state.holes == (parse_cards("7dKh"), parse_cards("3dAd"))
    assert state.swaps == ((parse_cards("2c7d"),), (parse_cards("3hAd"),))


def test_a_swapped_in_card_may_be_swapped_again() -> None:
    state = play("discard-holdem", DISCARDS, "c c d2c k c c d7d k")
    assert state.holes[0] == parse_cards("AcKh")


@pytest.mark.parametrize("action", ["d", "dAs", "d3d", "d4s", "c", "f", "r4"])
def test_only_cards_held_can_be_swapped(action: str) -> None:
    state = play("discard-holdem", DISCARDS, "c c")
    assert str(state.legal_actions()) == "k, d2c, dKh"
    assert not state.can(parse_action(action))
    with pytest.raises(IllegalActionError, match="legal are k, d2c, dKh") as caught:
        state.apply(parse_action(action))
    assert caught.value.value == action
    assert "STATE:0:cc/:2cKh|3d3h/4s5s6s" in str(caught.value)


@pytest.mark.parametrize(
    ("before", "action", "words"),
    [
        ("", "d2c", "comes where no card may be swapped"),  # before the flop
        ("c c d2c k", "d7d", "comes where no card may be swapped"),  # twice, after both had a turn
        ("c c d2c k c c d7d k c c", "dAc", "comes where no card may be swapped"),  # on the river
        ("c c d2c", "d7d", "does not name a card of player 1"),  # twice in a row
        ("c c", "d3d", "does not name a card of player 0"),  # out of turn
    ],
)
def test_swaps_out_of_turn_are_said(before: str, action: str, words: str) -> None:
    state = play("discard-holdem", DISCARDS, before)
    with pytest.raises(IllegalActionError, match=f"^{action} {words} in STATE:0:.*; legal are"):
        state.apply(parse_action(action))


def test_a_hidden_hand_swaps_an_unnamed_card() -> None:
    state = play("discard-holdem", replace(DISCARDS, holes=((), DISCARDS.holes[1])), "c c")
    assert str(state.legal_actions()) == "k, d"
    state = state.apply(SWAP)
    assert state.holes[0] == ()
    assert not state.can(SWAP)


def test_an_unknown_replacement_is_said() -> None:
    state = play("discard-holdem", replace(DISCARDS, draws=()), "c c")
    with pytest.raises(InvalidValueError, match="replacement for 2c is not known"):
        state.apply(Action("d", card=parse_card("2c")))


# --- illegal deals and actions --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("holes", "board", "draws", "words"),
    [
        ("AhKh", "", "", "1 hands dealt to 2 players"),
        ("AhKh|Qs", "", "", "Qs is not a hand of discard-holdem"),
        ("AhKh|QsQdQh", "", "", "3 cards, not 2"),
        ("AhKh|QsAh", "", "", "Ah is dealt twice"),
        ("AhKh|QsQd", "2c3cAh", "", "Ah is dealt twice"),
        ("AhKh|QsQd", "2c3c4c5c6c7c", "", "6 board cards are too many"),
        ("AhKh|QsQd", "2c3c4c5c6c", "6c", "6c is dealt twice"),
        ("AhKh|QsQd", "", "2d3d4d5d6d", "5 replacement cards are too many"),
    ],
)
def test_a_deal_that_does_not_fit_the_game_is_refused(
    holes: str, board: str, draws: str, words: str
) -> None:
    with pytest.raises(CardError, match=words):
        HandState.start(get_game("discard-holdem"), deal_of(holes, board, draws))


@pytest.mark.parametrize("card", [0, 52, -1])
def test_cards_outside_the_deck_are_refused(card: Card) -> None:
    with pytest.raises(CardError):
        HandState.start(get_game("leduc"), Deal(((card,), ())))


def test_an_action_after_the_end_is_refused_with_the_state() -> None:
    state = play("leduc", deal_of("Qs|As", "Qh"), "r f")
    with pytest.raises(
        IllegalActionError, match=r"c comes after the end of the hand in STATE:0:rf:Qs\|As"
    ):
        state.apply(parse_action("c"))


def test_states_are_values() -> None:
    deal = deal_of("Qs|As", "Qh")
    first, second = play("leduc", deal, "r c"), play("leduc", deal, "r c")
    assert first == second
    assert hash(first) == hash(second)


@pytest.mark.parametrize("number", [-1, 2**32, 1.5])
def test_a_hand_has_a_number_that_a_line_can_say(number: int) -> None:
    state = parse_state(get_game("kuhn"), "STATE:0:c:Ks|Qs").state
    with pytest.raises(InvalidValueError, match="a hand number is a whole number"):
        HandState.start(state.rules, state.deal, number)


@pytest.mark.parametrize("viewer", [2, 3, -1, 0.5])
def test_only_players_look(viewer: int) -> None:
    state = parse_state(get_game("kuhn"), "STATE:0:c:Ks|Qs").state
    with pytest.raises(InvalidValueError, match="the viewer"):
        state_line(state, viewer)


@pytest.mark.parametrize("amount", [300.5, -1, "300", 10**30])
def test_a_raise_goes_to_whole_chips(amount: int) -> None:
    with pytest.raises(InvalidValueError, match="the total of a raise is a whole number"):
        raise_to(amount)


def test_a_raise_takes_integers_of_any_kind() -> None:
    assert raise_to(np.int64(300)) == raise_to(300)
    assert type(raise_to(np.int64(300)).amount) is int

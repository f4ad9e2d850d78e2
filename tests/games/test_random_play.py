"""Random hands of every game and of random games: invariants that hold at every step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from equilibrist.errors import IllegalActionError, InvalidValueError
from equilibrist.games.action import CALL, FOLD, KEEP, RAISE, SWAP, Action, action_name, raise_to
from equilibrist.games.bet_menu import BetMenu
from equilibrist.games.betting import Betting
from equilibrist.games.betting_tree import BettingTree, NodeKind
from equilibrist.games.catalog import game_names, get_game
from equilibrist.games.dealing import Dealer
from equilibrist.games.notation import parse_betting, parse_state, state_line
from equilibrist.games.rules import GameRules, parse_rules, rules_text
from equilibrist.games.state import HandState

catalogued = st.sampled_from(game_names()).map(get_game)


@st.composite
def invented(draw: st.DrawFn) -> GameRules:
    """Small games of 2 to 4 players with odd stacks, caps, boards and discards."""
    players, rounds = draw(st.integers(2, 4)), draw(st.integers(1, 3))

    def numbers(low: int, high: int, length: int) -> tuple[int, ...]:
        return draw(st.tuples(*[st.integers(low, high)] * length))

    blinds = numbers(0, 6, players)
    stacks = tuple(
        blind + more for blind, more in zip(blinds, numbers(0, 40, players), strict=True)
    )
    stacks = tuple(max(1, stack) for stack in stacks)
    limit = draw(st.booleans())
    values: dict[str, Any] = {
        "betting": "limit" if limit else "nolimit",
        "stacks": stacks if not limit or draw(st.booleans()) else None,
        "raise_sizes": numbers(1, 9, rounds) if limit else (),
        "num_hole_cards": draw(st.integers(1, 3)),
        "discards": tuple(map(bool, numbers(0, 1, rounds))),
    }
    return GameRules(
        name="invented",
        blinds=blinds,
        max_raises=numbers(0, 4, rounds),
        first_players=numbers(0, players - 1, rounds),
        num_suits=4,
        num_ranks=draw(st.integers(8, 13)),
        num_board_cards=numbers(0, 1, rounds),
        rollout_cards=draw(st.integers(0, 1)),
        **values,
    )


def choices(state: HandState) -> list[Action]:
    """Return all legal actions; of a span of raises, the ends and the middle."""
    legal = state.legal_actions()
    actions = list(legal.actions)
    if legal.raise_to is not None:
        low, high = legal.raise_to
        actions += [raise_to(amount) for amount in sorted({low, (low + high) // 2, high})]
    return actions


def random_hand(rules: GameRules, data: st.DataObject) -> Iterator[HandState]:
    deal = next(Dealer(rules, data.draw(st.integers(0, 2**32 - 1), label="seed")))
    state = HandState.start(rules, deal, hand_number=7)
    yield state
    while not state.is_over:
        state = state.apply(data.draw(st.sampled_from(choices(state)), label="action"))
        yield state


@settings(deadline=None, max_examples=150)
@given(catalogued | invented(), st.data())
def test_chips_are_conserved_and_nobody_loses_more_than_was_put_in(
    rules: GameRules, data: st.DataObject
) -> None:
    *_, last = random_hand(rules, data)
    payoffs = last.payoffs()
    assert sum(payoffs) == 0
    for won, spent, stack in zip(payoffs, last.betting.spent, rules.stack_chips, strict=True):
        assert -spent <= won <= last.betting.pot - spent
        assert spent <= stack


@settings(deadline=None, max_examples=150)
@given(catalogued | invented(), st.data())
def test_exactly_the_legal_actions_can_be_applied(rules: GameRules, data: st.DataObject) -> None:
    for state in random_hand(rules, data):
        legal = choices(state)
        assert bool(legal) != state.is_over
        for action in legal:
            assert state.can(action)
            assert state.apply(action).betting.num_actions == state.betting.num_actions + 1
        span = state.legal_actions().raise_to
        beyond = [] if span is None else [raise_to(span[0] - 1), raise_to(span[1] + 1)]
        unheld = [Action("d", card=card) for card in range(0, 52, 5)]
        for action in (FOLD, CALL, RAISE, SWAP, KEEP, raise_to(2**31), *beyond, *unheld):
            if action in legal:
                continue
            assert not state.can(action)
            with pytest.raises(IllegalActionError) as caught:
                state.apply(action)
            assert caught.value.value == action_name(action)
            assert str(state) in str(caught.value)


@settings(deadline=None, max_examples=150)
@given(catalogued | invented(), st.data())
def test_every_state_round_trips_through_its_line(rules: GameRules, data: st.DataObject) -> None:
    for state in random_hand(rules, data):
        assert parse_betting(rules, state.betting.text) == state.betting
        for viewer in (None, *range(rules.num_players)):
            line = state_line(state, viewer)
            seen, read_viewer = parse_state(rules, line + "\r\n")
            assert state_line(seen, read_viewer) == line
            assert read_viewer == viewer
            assert (seen.betting, seen.board) == (state.betting, state.board)
            if viewer is not None:
                assert seen.holes[viewer] == state.holes[viewer]
                if seen.actor == viewer:
                    assert seen.legal_actions() == state.legal_actions()
        if state.is_over:
            assert parse_state(rules, str(state)).state.payoffs() == state.payoffs()


@settings(deadline=None)
@given(invented())
def test_invented_games_round_trip_through_their_definition(rules: GameRules) -> None:
    assert parse_rules(rules_text(rules)) == rules


@settings(deadline=None, max_examples=150)
@given(invented(), st.data())
def test_betting_trees_agree_with_play(rules: GameRules, data: st.DataObject) -> None:
    pot = data.draw(st.none() | st.sampled_from([0, min(rules.stack_chips) * rules.num_players]))
    pot = None if rules.stacks is None else pot
    menu = BetMenu.parse(bets="50%,a", max_raises="2").clipped(rules)
    try:
        tree = BettingTree.build(rules, menu, pot=pot, most_nodes=5_000)
    except InvalidValueError:
        assume(False)  # too large to be worth the time
    node, betting = 0, Betting.start(tree.rules, pot=pot)
    while True:
        kind, round = NodeKind(tree.kind[node]), int(tree.round[node])
        assert betting.spent == tuple(tree.spent[node])
        assert betting.round >= round
        # Slashes that play writes and the tree has not walked yet: rounds without a decision.
        assert betting.text == tree.name(node) + "/" * (betting.round - round)
        assert tree.parse(tree.name(node)) == node
        assert (kind is NodeKind.DECISION) == (betting.actor is not None and betting.round == round)
        assert (kind is NodeKind.SHOWDOWN) == betting.is_showdown
        assert (kind is NodeKind.FOLD) == (betting.is_over and not betting.is_showdown)
        if kind is NodeKind.DECISION:
            assert betting.actor == tree.player[node]
        children = tree.children(node)
        assert bool(children) == (not betting.is_over)
        if not children:
            break
        node = data.draw(st.sampled_from(children), label="child")
        if (action := tree.action(node)) is not None:
            betting = betting.apply(action)

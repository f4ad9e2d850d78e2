"""What decisions cost, beside a recursion that deals every card and asks the players."""

import itertools

import pytest

import equilibrist as eq
from equilibrist.games.action import parse_action
from equilibrist.games.catalog import get_game
from equilibrist.games.dealing import Dealer
from equilibrist.games.match_log import actions_of
from equilibrist.games.records import HandRecord
from equilibrist.games.state import Deal, HandState
from equilibrist.play.luck import LuckAdjuster
from equilibrist.play.session import Person
from equilibrist.players.catalog import make_player
from equilibrist.players.player import View

LEDUC = get_game("leduc")


@pytest.fixture(scope="module")
def bot(tmp_path_factory):
    """A weak solution of Leduc as a player."""
    folder = tmp_path_factory.mktemp("solutions") / "leduc"
    eq.solve("leduc", iterations=20).save(folder)
    return make_player(f"solution:{folder}", LEDUC)


def expected(state, player, bot):
    """Chips that a player wins from a state on, if everybody plays like the bot."""
    if state.actor is None:
        return state.payoffs()[player]
    mixture = bot.mixture(View.of(state, state.actor))
    return sum(p * expected(state.apply(action), player, bot) for action, p in mixture)


def by_dealing(hand, player, before, bot):
    """The value of each action after `before` actions, over all cards that may be hidden there."""
    actions = list(actions_of(hand))
    start = HandState.start(LEDUC, hand.deal)
    for action in actions[:before]:
        start = start.apply(action)
    seen = len(View.of(start, player).board)
    own = hand.deal.holes[player]
    total, values = 0.0, [0.0] * len(start.legal_actions().actions)
    for other, public in itertools.permutations(set(LEDUC.deck.cards) - {*own}, 2):
        if seen and (public,) != hand.deal.board[:1]:
            continue
        holes = (own, (other,)) if player == 0 else ((other,), own)
        state = HandState.start(LEDUC, Deal(holes, (public,)))
        weight = 1.0
        for action in actions[:before]:
            if state.actor != player:
                weight *= dict(bot.mixture(View.of(state, state.actor))).get(action, 0.0)
            state = state.apply(action)
        total += weight
        for place, action in enumerate(state.legal_actions().actions):
            values[place] += weight * expected(state.apply(action), player, bot)
    paid = start.betting.spent[player]
    return [paid + value / total for value in values]


def test_values_are_those_of_dealing_every_card_and_asking_the_players(bot):
    adjuster = LuckAdjuster(LEDUC, (Person(lambda view: None), bot))
    assert adjuster.exact_from == 0
    lines = ("cc/rc", "cr", "rc/cr", "crrc/cc", "cc/crf", "rf", "crc/r", "cc/cc")
    dealer, checked = Dealer(LEDUC, seed=3), set()
    for line, deal in zip(lines, dealer):  # noqa: B905 - deals do not end
        state = HandState.start(LEDUC, deal)
        for letter in line.replace("/", "") + "c":
            if not state.is_over:
                state = state.apply(parse_action(letter))
        while not state.is_over:
            state = state.apply(parse_action("c"))
        for player in (0, 1):
            names = ("you", bot.name) if player == 0 else (bot.name, "you")
            found = adjuster.decisions(HandRecord.of(state, names))
            actions, start = list(actions_of(state)), HandState.start(LEDUC, deal)
            places = []
            for number, action in enumerate(actions):
                if start.actor == player:
                    places.append((number, start.legal_actions().actions.index(action)))
                start = start.apply(action)
            if len(found) < len(places):  # the bot never plays like this
                continue
            for decision, (number, place) in zip(found, places, strict=True):
                values = by_dealing(state, player, number, bot)
                assert decision.values == pytest.approx(values, abs=1e-6)
                assert decision.taken == place
                assert decision.cost == pytest.approx(max(values) - values[place], abs=1e-6)
                checked.add((player, number))
    assert {player for player, _ in checked} == {0, 1}
    assert len(checked) > 6

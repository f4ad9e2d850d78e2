"""AIVAT in no-limit games: over all deals and actions the mean is that of the chips, exactly."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from equilibrist.errors import InvalidValueError
from equilibrist.games.action import CALL, FOLD, raise_to
from equilibrist.games.bet_menu import BetMenu
from equilibrist.games.catalog import get_game
from equilibrist.games.state import Deal, HandState
from equilibrist.models.exact import exact_game
from equilibrist.play.luck import LuckAdjuster
from equilibrist.play.match import play_match
from equilibrist.play.match_run import MatchSettings, play_as_set
from equilibrist.play.range_luck import RangeLuck
from equilibrist.players.belief import belief_about
from equilibrist.players.catalog import make_player
from equilibrist.players.player import View
from equilibrist.players.strategy_player import RealTree, StrategyPlayer
from equilibrist.solving.cfr import RISING_CFR_PLUS
from equilibrist.strategies.played import TableStrategy

# Four cards, one in each hand and one on the board.
RULES = replace(
    get_game("leduc"), name="leduc-nolimit", num_suits=1, num_ranks=4, betting="nolimit",
    blinds=(10, 10), stacks=(200, 200), raise_sizes=(), max_raises=(2, 2),
)  # fmt: skip


@pytest.fixture(scope="module")
def player():
    game = exact_game(RULES, BetMenu.parse("50%,a"), symmetry="cards")
    state = RISING_CFR_PLUS.init(game)
    RISING_CFR_PLUS.step(game, state, 5)
    table = TableStrategy.of_game(game, RISING_CFR_PLUS.plans(game, state))
    return StrategyPlayer(RealTree(table), RULES, "stored")


def stranger(state):
    """Return an action that depends on cards and betting and that no strategy has."""
    betting = state.betting
    drawn = sum(state.holes[betting.actor]) * 7 + sum(state.board) + 5 * betting.num_actions
    if betting.can_raise and drawn % 3 == 0:
        return raise_to(min(betting.min_raise_to + drawn % 37, betting.max_raise_to))
    return FOLD if betting.can_fold and drawn % 5 == 1 else CALL


def ends(state, belief, seat):
    """Yield the ends of all hands that the player may play with its hand, and their weights."""
    hand = state.deal.holes[seat][0]
    if not belief.weights[hand] > 0:
        return
    if state.is_over:
        yield state, float(belief.weights[hand])
        return
    view = View.of(state, seat)
    if state.actor == seat:
        actions = [action for action, _ in belief.options(view, None)]
    else:
        actions = [stranger(state)]
    for action in actions:
        yield from ends(state.apply(action), belief.after(view, action), seat)


@pytest.mark.parametrize("seat", [0, 1])
def test_the_mean_is_that_of_the_chips_and_the_variance_is_smaller(player, seat):
    luck, plain, corrected, weights = RangeLuck(player, RULES), [], [], []
    start = belief_about(player, seat, RULES)
    for first, second, board in itertools.permutations(RULES.deck.cards, 3):
        state = HandState.start(RULES, Deal(((first,), (second,)), (board,)))
        for end, weight in ends(state, start, seat):
            weights.append(weight)
            plain.append(end.payoffs()[seat])
            corrected.append(luck.chips(end, seat))
    assert sum(weights) == pytest.approx(24)
    one, two = (np.array(chips) for chips in (plain, corrected))
    mean = np.average(one, weights=weights)
    assert np.average(two, weights=weights) == pytest.approx(mean, abs=1e-9)
    before, after = (np.average((own - mean) ** 2, weights=weights) for own in (one, two))
    assert after < 0.6 * before


def test_the_players_own_cards_may_be_hidden(player):
    match = play_match(RULES, (player, make_player("uniform", RULES)), 6, keep_log=True)
    luck = RangeLuck(player, RULES)
    for number, record in enumerate(match.logs[0].hands):
        seat, state = number % 2, record.state
        hidden = [() if s == seat else hole for s, hole in enumerate(state.deal.holes)]
        blind = replace(state, deal=replace(state.deal, holes=tuple(hidden)))
        assert luck.chips(blind, seat) == luck.chips(state, seat)


def test_a_match_is_corrected_whoever_is_first(player):
    other = make_player("mix:0.2,0.6,0.2", RULES)
    settings = MatchSettings(hands=60, duplicate=True, seed=3, aivat=True)
    first, second = (
        play_as_set(RULES, pair, settings).matches[0] for pair in ((player, other), (other, player))
    )
    assert first.aivat.known == second.aivat.known == ("stored",)
    assert first.aivat.corrections == ("cards", "actions of stored")
    for match in (first, second):
        low, high = match.aivat.statistics("chips").estimate.ci95
        assert low < match.rate() < high


def test_on_decks_with_many_boards_samples_leave_the_mean():
    """All-in before the flop: the mean over boards drawn is near the exact equity."""
    rules = get_game("holdem-nolimit")
    from equilibrist.cards.card import parse_cards

    deal = Deal((parse_cards("AsAd"), parse_cards("7h2c")), parse_cards("KsKd9h4s3c"))
    state = HandState.start(rules, deal).apply(raise_to(20_000)).apply(CALL)
    walk_luck = RangeLuck.__new__(RangeLuck)
    walk_luck.rules = rules
    from equilibrist.play.range_luck import _Walk

    weights = np.zeros(1326)
    from equilibrist.cards.hand import hand_index

    weights[hand_index(*deal.holes[0])] = 1
    walk = _Walk(walk_luck, state, 0)

    class Known:
        pass

    known = Known()
    known.weights = weights
    found = walk._result(known, HandState.start(rules, deal).betting)
    assert found / 20_000 == pytest.approx(2 * 0.8816 - 1, abs=0.06)  # aces against 7-2 offsuit


def test_no_limit_needs_a_stored_strategy(player):
    pair = make_player("uniform", RULES), make_player("always-call", RULES)
    with pytest.raises(InvalidValueError, match="needs a stored strategy, such as nolimit-quick"):
        LuckAdjuster(RULES, pair)

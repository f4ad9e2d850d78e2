"""Local best responses: exact in small games, closed forms, and figures of the paper."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from equilibrist.cards.card import parse_cards
from equilibrist.cards.hand import hand_index, hand_table
from equilibrist.cards.ranking import rank_cards
from equilibrist.errors import InvalidValueError, ParseError
from equilibrist.evaluation.bucket_values import live_hands, standings
from equilibrist.games.action import parse_action
from equilibrist.games.bet_menu import BetMenu
from equilibrist.games.betting_tree import NodeKind
from equilibrist.games.catalog import get_game
from equilibrist.games.state import Deal, HandState
from equilibrist.kernels.treeplex import block
from equilibrist.models.exact import exact_game
from equilibrist.models.treeplex import player_rows
from equilibrist.play.match import play_match
from equilibrist.play.response_match import Responder, local_response
from equilibrist.players.belief import belief_about
from equilibrist.players.catalog import make_player
from equilibrist.players.local_best_response import (
    LITERATURE,
    LocalBestResponse,
    make_local_best_response,
    parse_setting,
    shares_won,
)
from equilibrist.players.player import View
from equilibrist.players.strategy_player import RealTree, StrategyPlayer
from equilibrist.players.translated_plan import with_more_sizes
from equilibrist.solving.best_response import evaluate
from equilibrist.solving.cfr import RISING_CFR_PLUS
from equilibrist.strategies.played import TableStrategy

GAME = get_game("holdem-nolimit")
# Four cards, one in each hand and one on the board; two cards in each hand of eight.
ONE = replace(
    get_game("leduc"), name="leduc-nolimit", num_suits=1, num_ranks=4, betting="nolimit",
    blinds=(10, 10), stacks=(200, 200), raise_sizes=(), max_raises=(2, 2),
)  # fmt: skip
TWO = replace(
    GAME, name="nolimit 2×3", num_suits=2, num_ranks=3, blinds=(20, 10), stacks=(200, 200),
    max_raises=(2, 2), first_players=(1, 0), num_board_cards=(0, 1), discards=(),
)  # fmt: skip


def game(rules, bets):
    return exact_game(rules, BetMenu.parse(bets), symmetry="cards")


def solved(found, iterations):
    state = RISING_CFR_PLUS.init(found)
    RISING_CFR_PLUS.step(found, state, iterations)
    return RISING_CFR_PLUS.plans(found, state)


def player_of(found, plans, threshold=0.0):
    tree = RealTree(TableStrategy.of_game(found, plans))
    return StrategyPlayer(tree, found.betting.rules, "small", threshold)


def deals(rules, seat):
    """Yield all cards that a responder can get at a seat."""
    deck, size = rules.deck.cards, rules.num_hole_cards
    for hole in itertools.combinations(deck, size):
        for card in deck:
            if card not in hole:
                yield Deal(((hole, ()), ((), hole))[seat], (card,))


def whole_win(rules, player, setting, seat):
    responder = Responder(rules, player, setting)
    return float(np.mean([responder.wins(deal, seat) for deal in deals(rules, seat)]))


def plan_of(large, response, seat):
    """Return the plan [L] of a local best response in a game with all bets of both players."""
    betting, states, tree = large.betting, large.states, large.trees[seat]
    found, rows = large.uniform(seat), player_rows(betting, seat).row
    for deal in deals(betting.rules, seat):
        todo = [(0, HandState.start(betting.rules, deal))]
        while todo:
            node, state = todo.pop()
            if betting.kind[node] == NodeKind.ROUND_END:
                todo.append((betting.children(node)[0], state))
                continue
            children = betting.children(node)
            if children and betting.player[node] == seat:
                r = int(betting.round[node])
                action = response.act(View.of(state, seat))
                chosen = [child for child in children if betting.action(child) == action]
                assert len(chosen) == 1, (state, action)
                hole = deal.holes[seat]
                hand = hand_index(*hole) if len(hole) == 2 else hole[0]
                number = [tuple(b) for b in states.boards[r].tolist()].index(deal.board[:r])
                column = states.state_of_hand[r][number, hand]
                own = block(tree, r, int(tree.board_start[r]) + number, found)
                own[rows[list(children)], column] = 0
                own[rows[chosen], column] = 1
                children = chosen
            todo += [(child, state.apply(betting.action(child))) for child in children]
    return large.realize(seat, found)


@pytest.mark.parametrize(
    ("rules", "few", "both", "setting"),
    [
        (ONE, "100%,a", "100%,a", "fcpa"),
        (ONE, "50%,a", "50%,100%,a", "fcpa"),
        (ONE, "100%,a", "100%,a", "fc"),
        (TWO, "50%,a", "50%,100%,a", "fc/fcpa"),
    ],
)
@pytest.mark.parametrize("seat", [0, 1])
def test_it_wins_what_its_plan_wins_exactly_and_no_more_than_a_best_response(
    rules, few, both, setting, seat
):
    small, large = game(rules, few), game(rules, both)
    plans = solved(small, 3)  # far from an equilibrium, so that there is much to win
    player = player_of(small, plans)
    other = large.realize(1 - seat, with_more_sizes(small, large, 1 - seat, plans[1 - seat]))
    values = large.gradient(seat, other)
    plan = plan_of(large, LocalBestResponse(rules, player, setting), seat)
    won = whole_win(rules, player, setting, seat)
    assert won == pytest.approx(float(plan @ values), abs=1e-9)
    both_plans = (plan, other) if seat == 0 else (other, plan)
    assert won <= evaluate(large, both_plans).best_response[seat] + 1e-9


@pytest.mark.parametrize("threshold", [0.0, 1.0])
def test_a_match_of_the_player_has_the_same_mean(threshold):
    small = game(ONE, "50%,a")
    player = player_of(small, solved(small, 3), threshold)
    exact = np.mean([whole_win(ONE, player, "fcpa", seat) for seat in (0, 1)])
    response = LocalBestResponse(ONE, player, "fcpa")
    match = play_match(ONE, (response, player), 600, duplicate=True, seed=4)
    played = match.statistics("chips").estimate
    assert abs(played.mean - exact) < 4 * played.standard_error
    drawn = local_response(ONE, player, "fcpa", 400, seed=4).statistics("chips")
    assert abs(drawn.win_rate - exact) < 4 * drawn.estimate.standard_error


def test_weights_of_a_belief_are_split_between_readings_and_add_up():
    small = game(ONE, "50%,200%")
    player = player_of(small, solved(small, 3))
    state = HandState.start(ONE, Deal(((51,), ()), (47,)))
    view = View.of(state, 0)
    belief = belief_about(player, 1, ONE)
    raised = make_raise(state, 30)
    after = belief.after(view, raised)
    assert len(after.readings) == 2
    assert after.weights == pytest.approx(belief.weights)
    options = after.options(View.of(state.apply(raised), 0), np.random.default_rng(0))
    live = [39, 43]  # other cards are taken or not in the deck
    assert sum(own for _, own in options)[live] == pytest.approx(after.weights[live])
    folds = dict(options)[parse_action("f")]
    assert belief.folds(view, [raised])[0][live] == pytest.approx(folds[live])


def make_raise(state, amount):
    action = parse_action(f"r{amount}")
    assert state.can(action)
    return action


# --- no-limit hold'em -----------------------------------------------------------------------------


@pytest.mark.parametrize("setting", LITERATURE[1:])
def test_always_fold_loses_750(setting):
    """Published for these three settings: 750 ± 0 (Moravčík et al. 2017)."""
    found = local_response(GAME, make_player("always-fold", GAME), setting, 40).statistics()
    assert (found.win_rate, found.estimate.standard_error) == (750.0, 0.0)


def test_without_bets_always_fold_loses_only_its_small_blind():
    """Published: 250 ± 0. The big blind is never asked, so its hands are checked down."""
    rules = replace(GAME, num_ranks=5)  # hands are compared on few boards before the flop
    found = local_response(rules, make_player("always-fold", rules), "fc", 2000).statistics()
    assert abs(found.win_rate - 250) < 4 * found.estimate.standard_error < 50


def test_it_does_not_lose_to_always_call_when_it_never_bets():
    """Calling to the end is a tie on average, and it never folds against a random hand it beats."""
    found = local_response(GAME, make_player("always-call", GAME), "c", 400).statistics()
    assert found.estimate.ci95[0] < 0 < found.estimate.ci95[1]


def test_against_always_call_it_bets_all_in_exactly_where_it_is_ahead():
    """Then it wins stakes of 20,000 chips, times how far it is ahead of a random hand."""
    hole, board = parse_cards("AsAd"), parse_cards("Ac7d2h9s5s")
    deal = Deal((hole, ()), board)
    caller = make_player("always-call", GAME)
    own, live = shares_won(GAME, hole, board[:4]), live_hands(GAME, [hole + board[:4]])[0]
    assert own[live].mean() > 0.5
    lost = standings(GAME, [board], hand_index(*hole))[0]
    live = live_hands(GAME, [hole + board])[0]
    found = Responder(GAME, caller, "c/c/fcpa/fcpa").wins(deal, 0)
    assert found == pytest.approx(-20_000 * lost[live].mean())
    weak = Deal((parse_cards("3s2d"), ()), parse_cards("AcKdQhJh9s"))
    assert Responder(GAME, caller, "c/c/fcpa/fcpa").wins(weak, 0) > -101  # checks to the end


@pytest.mark.parametrize("board", ["Ts", "Ts8d"])
def test_shares_of_one_and_two_cards_agree_with_comparing_on_every_board(board):
    rules = replace(TWO, num_suits=4, num_ranks=5, num_board_cards=(1, 2), name="small deck")
    hole, seen = parse_cards("AsKd"), parse_cards(board)
    found, table = shares_won(rules, hole, seen[:1]), hand_table()
    for number in np.flatnonzero(live_hands(rules, [hole + seen[:1]])[0])[::17].tolist():
        theirs, won = tuple(table[number].tolist()), []
        free = [c for c in rules.deck.cards if c not in (*hole, *seen[:1], *theirs)]
        for cards in itertools.combinations(free, 2):
            one, two = (rank_cards(h + seen[:1] + cards) for h in (hole, theirs))
            won.append(0.5 * (np.sign(one - two) + 1))
        assert found[number] == pytest.approx(np.mean(won))


def test_results_repeat_with_the_same_seed():
    player = make_player("uniform", GAME)
    first, again, other = (
        local_response(GAME, player, "c/c/fcpa/fcpa", 20, seed=seed).chips for seed in (3, 3, 4)
    )
    assert (first == again).all()
    assert (first != other).any()


# --- wrong input ----------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["", "fcp", "fc/fc", "c/c/c/c/c", "fc/fc/fc/x"])
def test_wrong_settings_are_refused(text):
    with pytest.raises(ParseError, match="no setting of local best response: write one of c, fc"):
        parse_setting(text, 4)


def test_wrong_opponents_and_games_are_refused_in_a_sentence():
    with pytest.raises(InvalidValueError, match="whose strategy is stored"):
        local_response(GAME, LocalBestResponse(GAME, make_player("uniform", GAME), "fc"), "fc", 4)
    with pytest.raises(InvalidValueError, match="no game of two players without discards"):
        Responder(get_game("discard-holdem"), make_player("uniform", GAME), "fc")
    with pytest.raises(InvalidValueError, match="even number of hands, not 5"):
        local_response(GAME, make_player("uniform", GAME), "c", 5)
    with pytest.raises(InvalidValueError, match="not to lbr; write lbr:nolimit-quick"):
        make_local_best_response(GAME, "lbr:" * 50_000)

"""A bucket strategy that solves turn and river again, in no-limit hold'em with twenty cards."""

import random
from dataclasses import replace

import numpy as np
import pytest

from equilibrist.abstraction.joint_counts import joint
from equilibrist.abstraction.recipes import build
from equilibrist.cards.hand import hand_index, hand_table
from equilibrist.errors import InvalidValueError, ParseError, StorageError
from equilibrist.games.action import parse_action, raise_to
from equilibrist.games.bet_menu import BetMenu
from equilibrist.games.betting_tree import NodeKind
from equilibrist.games.catalog import get_game
from equilibrist.games.dealing import Dealer
from equilibrist.games.state import HandState
from equilibrist.models.bucketed import bucket_game
from equilibrist.models.subgame import compatible
from equilibrist.play.match import play_match
from equilibrist.players.bucket_strategy import BucketStrategy
from equilibrist.players.catalog import make_player
from equilibrist.players.player import Player, View
from equilibrist.players.resolving_player import ResolvingPlayer, locate
from equilibrist.players.strategy_player import StrategyPlayer, check_game
from equilibrist.solving.best_response import evaluate
from equilibrist.solving.cfr import CFR
from equilibrist.solving.realtime import DecisionBudget

RULES = replace(get_game("holdem-nolimit"), name="royal-nolimit", num_ranks=5, stacks=(2000, 2000))
MENU = BetMenu.parse("100%,a", max_raises="2 1 2 2")


@pytest.fixture(scope="module")
def strategy():
    buckets = build("percentile", RULES, [2, 4, 8, 16])
    game = bucket_game(buckets, joint(buckets), MENU)
    state = CFR().init(game)
    CFR().step(game, state, 50)
    return BucketStrategy(game.betting, CFR().plans(game, state), buckets)


@pytest.fixture
def player(strategy):
    return ResolvingPlayer(strategy, RULES, "resolve", DecisionBudget(None, 30))


def played(line, deal):
    state = HandState.start(RULES, deal)
    for step in line.split():
        state = state.apply(parse_action(step))
    return state


def view_after(line, seed=5):
    state = played(line, next(iter(Dealer(RULES, seed))))
    return View.of(state, state.actor)


def test_before_the_turn_it_plays_the_stored_strategy(strategy, player):
    view = view_after("r300 c")
    assert player.mixture(view) == StrategyPlayer(strategy, RULES, "stored").mixture(view)
    assert not player.decisions


@pytest.mark.parametrize("line", ["r300 c c c", "r300 c c c c c"])
def test_the_stored_strategy_is_lifted_hand_by_hand(strategy, line):
    view = view_after(line)
    player = ResolvingPlayer(strategy, RULES, "resolve", is_safe=False)  # needs both players' plans
    r, board = view.betting.round, view.board
    known = player.stored(view)
    betting = known.profile.subgame.betting
    node = strategy.tree.parse("r300c/cc/" if r == 2 else "r300c/cc/cc/")
    for below in np.flatnonzero((betting.kind == NodeKind.DECISION) & (betting.round == r)):
        whole = strategy.tree.parse(strategy.tree.name(node) + betting.name(int(below)))
        found = known.profile.probabilities(int(below), board)[:, hand_index(*view.hole)]
        assert found == pytest.approx(strategy.probabilities(whole, view), abs=1e-6)
    for seat in (0, 1):
        own = strategy.reach(node, seat, board)
        assert known.profile.reach(seat, 0, board) == pytest.approx(own / own.max())


@pytest.mark.parametrize("line", ["r300 c c c", "r300 c c c r700", "r300 c c c c c r500"])
def test_the_opponents_hands_win_no_more_than_before(strategy, line):
    view = view_after(line)
    player = ResolvingPlayer(strategy, RULES, "resolve", DecisionBudget(None, 200))
    known = player.stored(view)
    player.mixture(view)
    new, opponent = player.known.profile, 1 - view.player
    place = locate(known, view.betting)
    before = known.profile.worth(opponent, place.node, view.board)
    after = new.worth(opponent, 0, view.board)
    own = new.reach(view.player, 0, view.board)
    share = compatible(hand_table(), own) * new.weight(0, view.board)
    gap = evaluate(new.subgame.game, new.plans).nash_conv
    held = before != 0
    assert share[held].sum() == pytest.approx(1)
    assert (share * np.maximum(after - before, 0))[held].sum() <= gap + 0.01
    assert gap < 15  # chips, of a pot of 600
    assert (after - before)[held].min() < -20  # some hands win less


def test_every_street_is_solved_by_itself(player):
    player.mixture(view_after("r300 c c c"))
    player.mixture(view_after("r300 c c c c c"))  # both check: the turn's solution has the river
    assert [decision.round for decision in player.decisions] == [2, 3]
    assert player.known.start.round == 3


def test_decisions_may_be_asked_for_in_any_order(strategy, player):
    turn, river = view_after("r300 c c c"), view_after("r300 c c c c c")
    other = view_after("r300 c c c", seed=6)
    first = player.mixture(turn)
    player.mixture(river)
    assert player.mixture(turn) == first
    alone = ResolvingPlayer(strategy, RULES, "resolve", DecisionBudget(None, 30))
    assert player.mixture(other) == alone.mixture(other)


def test_values_are_scaled_where_a_bet_before_the_turn_was_translated(player):
    view = view_after("r350 c c c")  # read as r300, or as all-in
    known = player.stored(view)
    assert known.scale == pytest.approx(700 / 600)
    place = locate(known, view.betting)
    before = known.profile.worth(1 - view.player, place.node, view.board)
    player.mixture(view)
    new = player.known.profile
    assert new.subgame.betting.spent[0].tolist() == [350, 350]
    own = new.reach(view.player, 0, view.board)
    share = compatible(hand_table(), own) * new.weight(0, view.board)
    paid = new.subgame.game.offer.values.sum()
    assert paid == pytest.approx((share * before).sum() * 7 / 6, rel=1e-3)


def test_an_odd_bet_is_in_the_tree_of_the_solution(player):
    first = view_after("r300 c c c c")  # the dealer acts last on the turn
    player.mixture(first)
    odd = view_after("r300 c c c c c r457")
    assert odd.player == first.player
    mixture = player.mixture(odd)
    start = player.known.start
    assert start == odd.betting
    assert player.known.profile.subgame.betting.spent[0].max() == 457
    assert sum(share for _, share in mixture) == pytest.approx(1, abs=1e-6)
    assert all(odd.betting.can(action) for action, _ in mixture)


def test_a_known_bet_in_the_same_street_is_answered_by_the_same_solution(strategy):
    deal = next(iter(Dealer(RULES, 5)))
    player = ResolvingPlayer(strategy, RULES, "resolve", DecisionBudget(None, 10))
    check = played("r300 c c c", deal)
    player.mixture(View.of(check, check.actor))
    tree = player.known.profile.subgame.betting
    bets = [tree.step(v) for v in range(len(tree)) if tree.name(v).startswith("cr")]
    known = check.apply(parse_action("c")).apply(parse_action(bets[0]))
    assert known.actor == check.actor
    player.mixture(View.of(known, known.actor))
    assert len(player.decisions) == 1
    unknown = check.apply(parse_action("c")).apply(raise_to(511))
    player.mixture(View.of(unknown, unknown.actor))
    assert len(player.decisions) == 2


def test_hands_repeat_with_the_same_seed_and_iterations(strategy):
    def hands():
        players = [
            ResolvingPlayer(strategy, RULES, "resolve", DecisionBudget(None, 5)), Odd("odd")
        ]  # fmt: skip
        return play_match(RULES, players, 12, seed=3).chips.tolist()

    assert hands() == hands()


class Odd(Player):
    """Raises to any legal amount, calls, and folds sometimes, at random."""

    def __init__(self, name):
        self.name = name

    def reset(self, seed):
        self.random = random.Random(seed)

    def act(self, view):
        legal = view.legal_actions()
        if legal.raise_to is not None and self.random.random() < 0.3:
            low, high = legal.raise_to
            sizes = [
                low,
                self.random.randint(low, high),
                self.random.randint(low, min(high, 3 * low)),
            ]
            return raise_to(self.random.choice(sizes))
        return parse_action("f" if self.random.random() < 0.1 and view.betting.can_fold else "c")


@pytest.mark.parametrize("is_safe", [True, False])
def test_every_odd_bet_is_met_by_a_legal_action(strategy, is_safe):
    budget = DecisionBudget(None, 3)
    players = [
        ResolvingPlayer(strategy, RULES, "resolve", budget, is_safe=is_safe), Odd("odd")
    ]  # fmt: skip
    match = play_match(RULES, players, 150, seed=1)  # an illegal action raises an error
    assert match.chips.size == 150
    assert len(players[0].decisions) > 30


def test_limit_bots_solve_again_too_after_raises_beyond_their_caps():
    rules, menu = get_game("royal-holdem"), BetMenu.parse(max_raises="1 1 1 1")
    buckets = build("percentile", rules, [2, 4, 8, 16])
    game = bucket_game(buckets, joint(buckets), menu)
    plans = [game.realize(p, game.uniform(p)) for p in (0, 1)]
    stored = BucketStrategy(game.betting, (plans[0], plans[1]), buckets)
    solver = ResolvingPlayer(stored, rules, "resolve", DecisionBudget(None, 3))
    other = make_player("mix:0.05,0.35,0.6", rules)
    match = play_match(rules, [solver, other], 60, seed=4)
    assert match.chips.size == 60
    assert {decision.round for decision in solver.decisions} == {2, 3}


def test_every_odd_bet_is_met_by_a_legal_action_of_the_stored_strategy(strategy):
    match = play_match(RULES, [StrategyPlayer(strategy, RULES, "stored"), Odd("odd")], 300, seed=2)
    assert match.chips.size == 300


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("resolve:nolimit-quick,0", ParseError, "'0' is not a time for resolve"),
        ("resolve:nolimit-quick,iterations=0", ParseError, "'iterations=0' is not a time"),
        ("resolve:nolimit-quick,-1", ParseError, "'-1' is not a time for resolve"),
        ("resolve:nolimit-quick,fast", ParseError, "'fast' is not a time for resolve"),
        ("resolve:nolimit-quik", StorageError, "nolimit-quik"),
        ("resolve", ParseError, "resolve needs options"),
    ],
)
def test_wrong_texts_are_refused_in_a_sentence(text, error, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error, match=message):
        make_player(text, get_game("holdem-nolimit"))


def test_other_stacks_are_refused(strategy):
    with pytest.raises(InvalidValueError, match="stacks of 20 big blinds, not for the 30"):
        ResolvingPlayer(strategy, replace(RULES, stacks=(3000, 3000)), "resolve")


def test_the_bot_with_the_nearest_stacks_is_named():
    own = get_game("holdem-nolimit")
    with pytest.raises(InvalidValueError, match="nearest stacks is nolimit-quick-100, 100 big"):
        check_game(own, replace(own, name="short", stacks=(12_000, 12_000)), "mine")

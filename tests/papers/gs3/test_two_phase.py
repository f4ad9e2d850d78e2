"""Tests of GS2's two-phase player: beliefs against Bayes' rule hand by hand, subgames, log."""

from dataclasses import replace

import numpy as np
import pytest

from equilibrist.abstraction.joint_counts import joint
from equilibrist.abstraction.recipes import build
from equilibrist.cards.hand import hand_table
from equilibrist.errors import InvalidValueError, ParseError, StorageError
from equilibrist.games.action import parse_action
from equilibrist.games.bet_menu import BetMenu
from equilibrist.games.catalog import get_game
from equilibrist.games.dealing import Dealer
from equilibrist.games.state import Deal, HandState
from equilibrist.kernels.treeplex import block
from equilibrist.models.bucketed import bucket_game
from equilibrist.models.subgame import subgame
from equilibrist.models.treeplex import player_rows
from equilibrist.papers.gs3.two_phase import TwoPhasePlayer
from equilibrist.play.match import play_match
from equilibrist.players.bucket_strategy import BucketStrategy
from equilibrist.players.catalog import make_player
from equilibrist.players.player import View
from equilibrist.players.translation import find_node
from equilibrist.solving.best_response import evaluate
from equilibrist.solving.cfr import CFR
from equilibrist.solving.leaf_values import play_out
from equilibrist.solving.realtime import DecisionBudget, TableSolution

RULES = get_game("royal-holdem")
MENU = BetMenu(max_raises=(1, 1, 1, 1))


@pytest.fixture(scope="module")
def model():
    """Return a truncated game of few buckets, its solution and the buckets."""
    buckets = build("percentile", RULES, [2, 4, 8, 16])
    counts = joint(buckets)
    ending = play_out(buckets, counts, MENU, 2, iterations=50)
    game = bucket_game(buckets, counts, MENU, last_round=2, ending=ending)
    state = CFR().init(game)
    CFR().step(game, state, 50)
    return game, CFR().plans(game, state), buckets


@pytest.fixture(scope="module")
def strategy(model):
    game, plans, buckets = model
    return BucketStrategy(game.betting, plans, buckets)


def played(text, deal, rules=RULES):
    """Return a hand after some actions."""
    state = HandState.start(rules, deal)
    for letter in text:
        state = state.apply(parse_action(letter))
    return state


def test_beliefs_are_the_product_of_the_probabilities_of_each_hand(strategy):
    deal = next(iter(Dealer(RULES, 5)))
    line = "rccrc"  # before the flop, on the flop, the turn is next
    turn = played(line, deal)
    node = find_node(strategy.tree, turn.betting)
    board = View.of(turn, turn.actor).board
    for player in (0, 1):
        found = strategy.reach(node, player, board)
        free = [h for h in np.flatnonzero(found >= 0) if not set(hand_table()[h]) & set(board)]
        in_deck = [h for h in free if set(hand_table()[h].tolist()) <= set(RULES.deck.cards)]
        assert len(in_deck) == 16 * 15 // 2
        others = {*deal.holes[1 - player], *deal.board}
        for hand in in_deck[::3]:
            if others & set(hand_table()[hand].tolist()):
                continue
            holes = list(deal.holes)
            holes[player] = tuple(hand_table()[hand].tolist()[::-1])
            state, probability = HandState.start(RULES, Deal(tuple(holes), deal.board)), 1.0
            for letter in line:
                if state.actor == player:
                    view = View.of(state, player)
                    at = find_node(strategy.tree, state.betting)
                    children = list(strategy.tree.children(at))
                    wanted = strategy.tree.child(at, letter)
                    probability *= strategy.probabilities(at, view)[children.index(wanted)]
                state = state.apply(parse_action(letter))
            assert found[hand] == pytest.approx(probability, rel=1e-12)
        blocked = np.isin(hand_table(), board).any(axis=1)
        assert not found[blocked].any()


def test_the_player_uses_the_average_strategy_of_the_subgame(strategy):
    """Compare the mixture at the turn with one computed from beliefs, subgame and CFR+."""
    reported = []
    player = TwoPhasePlayer(strategy, RULES, "gs2", DecisionBudget(None, 20), reported.append)
    turn = played("rccc", next(iter(Dealer(RULES, 6))))
    view = View.of(turn, turn.actor)
    mixture = dict(player.mixture(view))
    node = find_node(strategy.tree, turn.betting)
    weights = [strategy.reach(node, seat, view.board) for seat in (0, 1)]
    ranges = tuple(np.maximum(weight, 1e-4 * weight.max()) for weight in weights)
    found = subgame(RULES, view.board, ranges, MENU, pot=40)
    solver = CFR(dtype="float32")
    state = solver.init(found.game)
    solver.step(found.game, state, 20)
    behaviour = found.game.behaviour(view.player, solver.plans(found.game, state)[view.player])
    hand = np.flatnonzero((hand_table() == sorted(view.hole)).all(axis=1))[0]
    column = found.states.state_of_hand[0][0, hand]
    rows = found.rows[view.player].row[found.betting.children(0)]
    truth = block(found.game.trees[view.player], 0, 0, behaviour)[rows, column]
    probabilities = [mixture.get(parse_action(letter), 0.0) for letter in "cr"]
    assert probabilities == pytest.approx(truth.tolist(), abs=1e-5)
    (decision,) = reported
    assert (decision.iterations, decision.pot, decision.is_late) == (20, 40, False)
    proof = evaluate(found.game, solver.plans(found.game, state))
    assert decision.exploitability == pytest.approx(proof.exploitability, abs=1e-4)
    assert player.act(view) in mixture
    assert len(reported) == 1  # the same decision, not solved again


@pytest.mark.parametrize("opponent", ["always-raise", "uniform"])
def test_matches_are_legal_and_repeatable_with_iterations(strategy, opponent):
    """Play legal, repeatable matches; always-raise goes beyond the caps in every round."""
    results, logs = [], []
    for _ in range(2):
        reported = []
        player = TwoPhasePlayer(strategy, RULES, "gs2", DecisionBudget(None, 3), reported.append)
        match = play_match(RULES, (player, make_player(opponent, RULES)), hands=12, seed=3)
        results.append(match.rate())
        logs.append([replace(decision, seconds=0.0) for decision in reported])
    assert results[0] == results[1]
    assert logs[0] == logs[1]
    done = {(decision.place.split()[0], decision.iterations) for decision in logs[0]}
    assert done == {("turn", 3), ("river", 300)}  # equal work in each round


def test_at_the_end_of_its_time_it_plays_the_current_solution_and_logs_it(strategy):
    reported = []
    player = TwoPhasePlayer(strategy, RULES, "gs2", DecisionBudget(1e-9), reported.append)
    turn = played("rccc", next(iter(Dealer(RULES, 7))))
    action = player.act(View.of(turn, turn.actor))
    assert turn.betting.can(action)
    assert reported[0].is_late
    assert reported[0].iterations == 3  # the least
    assert str(reported[0]).endswith("out of time")
    # The other seat decides later in the round, and again: it continues from there.
    again = TwoPhasePlayer(
        strategy, RULES, "gs2", DecisionBudget(30.0, iterations=4), reported.append
    )
    again.act(View.of(turn, turn.actor))
    assert not reported[1].is_late
    assert reported[1].iterations == 4


def test_empty_ranges_are_replaced_by_all_hands(model):
    game, plans, buckets = model
    folds = [game.behaviour(player, plan) for player, plan in enumerate(plans)]
    node = game.betting.parse("rc")  # player 1 raises, player 0 never calls
    rows = player_rows(game.betting, 0).row
    own = block(game.trees[0], 0, 0, folds[0])
    for child in game.betting.children(game.betting.parent[node]):
        own[rows[child]] = 0.0 if child == node else 0.5
    never = (game.realize(0, folds[0]), plans[1])
    reported = []
    player = TwoPhasePlayer(
        BucketStrategy(game.betting, never, buckets),
        RULES,
        "gs2",
        DecisionBudget(None, 2),
        reported.append,
    )
    turn = played("rccc", next(iter(Dealer(RULES, 8))))
    assert turn.betting.can(player.act(View.of(turn, turn.actor)))
    assert reported[0].note == "player 0 can have no hand, so any hand is assumed"
    river = turn
    for letter in "cc":
        river = river.apply(parse_action(letter))
    player.act(View.of(river, river.actor))
    assert reported[1].place.startswith("river")
    assert reported[1].note == reported[0].note


def test_rivers_solved_by_themselves_are_less_exploitable_than_those_of_a_short_turn(strategy):
    """Compare all rivers of a turn with few iterations, as solved or solved again by themselves."""
    turn = played("rccc", next(iter(Dealer(RULES, 9))))
    view = View.of(turn, turn.actor)
    node = find_node(strategy.tree, turn.betting)
    ranges = [np.maximum(strategy.reach(node, p, view.board), 1e-4) for p in (0, 1)]
    found = subgame(RULES, view.board, tuple(ranges), MENU, pot=40, symmetry="cards")
    solved = TableSolution(found)
    solved.improve(DecisionBudget(None, 10), 0.0)
    game, tree = found.game, found.betting
    kept = [average_behaviour(solved, player) for player in (0, 1)]
    again = [behaviour.copy() for behaviour in kept]
    for end in np.flatnonzero((tree.round == 2) & (tree.kind == 3)):
        reached = [solved.reach(player, int(end)) for player in (0, 1)]
        weights = tuple(np.maximum(reach, 1e-4 * reach.max()) for reach in reached)
        for number, board in enumerate(found.states.boards[1]):
            pot = int(tree.spent[end].sum())
            river = subgame(RULES, tuple(board.tolist()), weights, MENU, pot=pot, symmetry="cards")
            one = TableSolution(river)
            one.improve(DecisionBudget(None, 200), 0.0)
            for player in (0, 1):
                _copy_river(found, number, int(end), again[player], river, one, player)
    values = [
        evaluate(game, tuple(game.realize(p, behaviour[p]) for p in (0, 1))).exploitability
        for behaviour in (kept, again)
    ]
    assert values[1] < 0.7 * values[0]  # 1.07 and 0.45 of 40 chips


def average_behaviour(solved, player):
    return solved.subgame.game.behaviour(player, solved.average(player).astype(np.float64))


def _copy_river(found, number, end, into, river, solved, player):
    """Write the behaviour of a river below the end of a turn into that of the turn's game."""
    tree, place = found.game.trees[player], int(found.game.trees[player].board_start[1]) + number
    ours = block(tree, 1, place, into)
    theirs = block(river.game.trees[player], 0, 0, average_behaviour(solved, player))
    opening = int(found.betting.children(end)[0])
    for v in range(1, len(river.betting)):
        name = river.betting.name(v)
        there = found.betting.parse(found.betting.name(opening) + name)
        if river.betting.player[river.betting.parent[v]] == player:
            ours[found.rows[player].row[there]] = theirs[river.rows[player].row[v]]


def test_invalid_options_raise_helpful_errors(tmp_path, monkeypatch, strategy):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ParseError, match="'-1' is not a time for gs2; write seconds per decision"):
        make_player("gs2:-1", RULES)
    with pytest.raises(ParseError, match="'iterations=0' is not a time"):
        make_player("gs2:iterations=0", RULES)
    with pytest.raises(ParseError, match="'iterations=999"):
        make_player("gs2:iterations=" + "9" * 5000, RULES)
    with pytest.raises(StorageError, match="equilibrist train gs2"):
        make_player("gs2:0.5", RULES)
    with pytest.raises(InvalidValueError, match="plays limit games"):
        TwoPhasePlayer(strategy, get_game("holdem-nolimit"), "gs2")

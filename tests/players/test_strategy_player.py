"""Tests of strategies at the table against the values and probabilities of their plans."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from equilibrist.errors import InvalidValueError, ParseError, StorageError
from equilibrist.games.action import CALL, parse_action
from equilibrist.games.bet_menu import BetMenu
from equilibrist.games.betting import Betting
from equilibrist.games.betting_tree import BettingTree
from equilibrist.games.catalog import get_game
from equilibrist.games.dealing import Dealer
from equilibrist.games.state import HandState
from equilibrist.models.exact import exact_game
from equilibrist.play.match import play_match
from equilibrist.players.catalog import make_player
from equilibrist.players.player import View
from equilibrist.players.strategy_player import (
    ExactStrategy,
    StrategyPlayer,
    thresholded,
)
from equilibrist.players.translation import find_node
from equilibrist.solving.best_response import evaluate
from equilibrist.solving.cfr import CFR
from equilibrist.solving.solve import Budget, solve
from equilibrist.strategies.behaviour_table import behaviour_table
from equilibrist.strategies.description import GameDescription
from equilibrist.strategies.solution import Solution


def solution(name, iterations=300, menu=None, symmetry=None):
    game = exact_game(get_game(name), *([menu] if menu else []), symmetry=symmetry)
    run = solve(game, CFR(), Budget(iterations=iterations))
    plans = CFR().plans(game, run.state)
    return Solution(
        game=GameDescription.of(game),
        plans=plans,
        method="cfr+",
        iterations=iterations,
        seconds=0.0,
        certificate=evaluate(game, plans),
        trace=np.zeros((0, 3)),
    )


@pytest.fixture(scope="module")
def leduc():
    return solution("leduc")


@pytest.mark.parametrize("symmetry", ["cards", "suits", "ranks"])
def test_probabilities_are_those_of_the_behaviour_table(symmetry):
    found = solution("leduc", 20, symmetry=symmetry)
    strategy, game = ExactStrategy(found), found.game.build()
    checked = 0
    for deal, node in zip(
        Dealer(get_game("leduc"), 3), ["", "cr", "cc/", "rc/r"] * 8, strict=False
    ):
        state = HandState.start(get_game("leduc"), deal)
        for letter in node.replace("/", ""):
            state = state.apply(parse_action(letter))
        view = View.of(state, state.actor)
        board = "" if not view.board else view.state.cards_text().split("/")[1]
        table = behaviour_table(game, found.plans, node, board)
        rank = view.state.cards_text(view.player).replace("|", "")[0]
        rows = [i for i, hand in enumerate(table.hands) if hand[0] == rank]
        probabilities = strategy.probabilities(find_node(strategy.tree, state.betting), view)
        assert any(np.allclose(probabilities, table.probabilities[i]) for i in rows)
        checked += len(rows)
    assert checked >= 32


def test_a_strategy_acts_by_the_mixture_it_reports(leduc):
    rules = get_game("leduc")
    player = StrategyPlayer(ExactStrategy(leduc), rules, "A", threshold=0.05)
    state = HandState.start(rules, next(Dealer(rules, 5))).apply(parse_action("r"))
    view = View.of(state, 1)
    mixture = dict(player.mixture(view))
    assert sum(mixture.values()) == pytest.approx(1)
    assert all(probability >= 0.05 for probability in mixture.values())
    drawn = Counter(player.act(view) for _ in range(4000))
    assert set(drawn) == set(mixture)
    for action, probability in mixture.items():
        # Four standard errors of a share of 4,000 draws.
        assert abs(drawn[action] / 4000 - probability) < 4 * (0.25 / 4000) ** 0.5


def test_two_equilibria_win_the_value_of_the_game(leduc):
    rules = get_game("leduc")
    players = [StrategyPlayer(ExactStrategy(leduc), rules, name) for name in "AB"]
    match = play_match(rules, tuple(players), 6000, seed=1)
    # Even hands: the first player acts first, and is worth −0.0856 chips.
    first = np.where(np.arange(6000) % 2 == 0, match.chips[0], -match.chips[0])
    error = first.std(ddof=1) / np.sqrt(len(first))
    assert abs(first.mean() + 0.0856) < 4 * error


def test_an_equilibrium_beats_the_static_players(leduc):
    rules = get_game("leduc")
    for name in ("always-call", "always-raise", "always-fold", "uniform"):
        player = StrategyPlayer(ExactStrategy(leduc), rules, "A")
        players = player, make_player(name, rules)
        won = play_match(rules, players, 4000, duplicate=True).results.rates
        assert won.mean() > 3 * won.std() / np.sqrt(len(won))


@pytest.mark.parametrize(
    ("played", "name"),
    [
        ("", ""),
        ("cr", "cr"),
        ("rr", None),  # one raise too many: call it
        ("rrc", "rc/"),
        ("crr", None),
        ("crrc", "crc/"),
        ("rrcr", "rc/r"),
        ("rrcrr", None),
        ("ccr", "cc/r"),
    ],
)
def test_an_extra_raise_is_called_and_ignored(played, name):
    rules = get_game("leduc")
    tree = BettingTree.build(rules, BetMenu.parse(None, None, "1 1"))
    betting = Betting.start(rules)
    for letter in played:
        betting = betting.apply(parse_action(letter))
    node = find_node(tree, betting)
    assert (None if node is None else tree.name(node)) == name


def test_a_tree_without_raises_calls_all_of_them():
    rules = get_game("leduc")
    tree = BettingTree.build(rules, BetMenu.parse(None, None, "0 1"))
    betting = Betting.start(rules).apply(parse_action("r"))
    assert find_node(tree, betting) is None
    assert tree.name(find_node(tree, betting.apply(CALL))) == "cc/"


def test_a_capped_strategy_plays_the_whole_game():
    rules = get_game("leduc")
    capped = solution("leduc", menu=BetMenu.parse(None, None, "1 1"))
    player = StrategyPlayer(ExactStrategy(capped), rules, "A")
    match = play_match(rules, (player, make_player("always-raise", rules)), 2000, keep_log=True)
    texts = {record.state.betting.text for record in match.logs[0].hands}
    assert any("rr" in text for text in texts)
    assert match.results.rates.mean() > 0


def test_rhode_island_boards_are_found_in_any_suits():
    # Uniform plans: every decision of every hand must have probabilities that sum to one.
    rules = get_game("rhode-island")
    game = exact_game(rules)
    plans = tuple(game.realize(p, game.uniform(p)) for p in (0, 1))
    found = Solution(GameDescription.of(game), plans, "none", 0, 0.0, evaluate(game, plans),
                     np.zeros((0, 3)))  # fmt: skip
    player = StrategyPlayer(ExactStrategy(found), rules, "A")
    assert play_match(rules, (player, make_player("always-call", rules)), 50).num_hands == 50


def test_purification_leaves_the_most_frequent_action():
    assert thresholded(np.array([0.4, 0.2, 0.4]), 1).tolist() == [0.5, 0, 0.5]
    assert thresholded(np.array([0.05, 0.95]), 0).tolist() == [0.05, 0.95]


def test_a_stored_solution_plays_by_name(leduc, tmp_path):
    leduc.save(tmp_path / "eq")
    rules = get_game("leduc")
    for options, threshold in (("", 0), (",purify", 1), (",threshold=0.1", 0.1)):
        player = make_player(f"solution:{tmp_path / 'eq'}{options}", rules)
        assert (player.name, player.threshold) == (f"eq{options}", threshold)
    with pytest.raises(ParseError, match=r"threshold=0\.15"):
        make_player(f"solution:{tmp_path / 'eq'},threshold=x", rules)
    with pytest.raises(StorageError):
        make_player(f"solution:{tmp_path / 'nothing'}", rules)


def test_a_strategy_of_another_game_is_refused(leduc):
    strategy = ExactStrategy(leduc)
    for rules in (get_game("kuhn"), replace(get_game("leduc"), num_ranks=4, name="other")):
        with pytest.raises(InvalidValueError, match=f"for leduc, not for {rules.name}"):
            StrategyPlayer(strategy, rules, "eq")
    with pytest.raises(InvalidValueError, match="raise caps 2 2, above the 1 2 of leduc"):
        StrategyPlayer(strategy, replace(get_game("leduc"), max_raises=(1, 2)), "eq")
    with pytest.raises(InvalidValueError, match="for leduc, not for holdem-nolimit"):
        StrategyPlayer(ExactStrategy(leduc), get_game("holdem-nolimit"), "eq")

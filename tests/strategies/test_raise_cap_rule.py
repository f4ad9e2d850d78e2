"""Strategies that face more raises than they know: as behaviour, and at the table."""

import numpy as np
import pytest

from equilibrist.errors import InvalidValueError
from equilibrist.evaluation.expectation import expectation, fixed_mix
from equilibrist.games.bet_menu import BetMenu
from equilibrist.games.catalog import get_game
from equilibrist.models.exact import exact_game, matrix_game
from equilibrist.play.match import play_match
from equilibrist.players.static import Mix
from equilibrist.players.strategy_player import ExactStrategy, StrategyPlayer
from equilibrist.solving.best_response import evaluate
from equilibrist.strategies.description import GameDescription
from equilibrist.strategies.raise_cap_rule import follow, with_more_raises
from equilibrist.strategies.solution import Solution


def random_plans(game, seed):
    rng = np.random.default_rng(seed)
    return tuple(
        game.realize(player, game.behaviour(player, rng.random(game.lengths[player])))
        for player in (0, 1)
    )


def games(name, caps):
    rules = get_game(name)
    return exact_game(rules, BetMenu.parse(None, None, caps)), exact_game(rules)


def widened(small, large, plans):
    return tuple(
        large.realize(player, with_more_raises(small, large, player, plans[player]))
        for player in (0, 1)
    )


@pytest.mark.parametrize("caps", ["1 1", "2 1", "0 1"])
def test_a_widened_strategy_wins_what_its_player_wins_at_the_table(caps):
    # The player translates hand by hand (`players.translation`), in independent code.
    small, large = games("leduc", caps)
    plans = random_plans(small, 3)
    mix = (0.05, 0.35, 0.6)
    exact = expectation(large, widened(small, large, plans), fixed_mix(large, mix))
    proof = evaluate(small, plans)
    found = Solution(GameDescription.of(small), plans, "none", 0, 0.0, proof, np.zeros((0, 3)))
    player = StrategyPlayer(ExactStrategy(found), get_game("leduc"), "A")
    won = play_match(get_game("leduc"), (player, Mix(*mix)), 6_000, seed=5).results.rates
    assert abs(won.mean() - exact.mean) < 4 * won.std() / np.sqrt(len(won))


def test_the_same_betting_changes_nothing():
    _, large = games("leduc", "1 1")
    plans = random_plans(large, 4)
    for ours, theirs in zip(widened(large, large, plans), plans, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-15)


def test_nodes_where_a_player_believes_it_is():
    small, large = games("leduc", "1 1")
    places = follow(small.betting, large.betting, 1)
    name = small.betting.name
    at = large.betting.parse
    assert name(places[at("cr")][0]) == "cr"
    assert places[at("rr")][0] == -2  # player 1 does not know that raise, so it never makes it
    node, after = places[at("crr")]
    assert (node, name(after)) == (-1, "crc")
    node, after = follow(small.betting, large.betting, 0)[at("rr")]
    assert (node, name(after)) == (-1, "rc")
    assert name(follow(small.betting, large.betting, 0)[at("rrc/c")][0]) == "rc/c"


def test_games_that_do_not_belong_together_are_refused():
    leduc = exact_game(get_game("leduc"))
    kuhn = exact_game(get_game("kuhn"))
    with pytest.raises(InvalidValueError, match="different cards"):
        with_more_raises(kuhn, leduc, 0, kuhn.uniform(0))
    with pytest.raises(InvalidValueError, match="no betting"):
        with_more_raises(matrix_game([[1, 0], [0, 1]]), leduc, 0, np.ones(3))

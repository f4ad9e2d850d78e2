"""Matches that stop by themselves: the hands they play and their error rate."""

import numpy as np
import pytest

from equilibrist.errors import InvalidValueError
from equilibrist.evaluation.sequential import MixtureSPRT, SequentialTest
from equilibrist.games.catalog import get_game
from equilibrist.play.match import MatchSettings
from equilibrist.play.match_run import check_settings
from equilibrist.play.sequential_match import play_sequential_match
from equilibrist.players.catalog import make_player

LIMIT, LEDUC = get_game("holdem-limit"), get_game("leduc")


def pair(first, second, game):
    return make_player(first, game), make_player(second, game)


def test_a_clear_winner_ends_the_match_early():
    players = pair("always-raise", "mix:0.6,0.4,0", LIMIT)
    match, test = play_sequential_match(LIMIT, players, MatchSettings(hands=100_000, seed=2))
    assert test.is_decided
    assert test.interval[0] > 0
    assert test.decided_at <= match.num_hands < 1.4 * test.decided_at
    assert match.num_hands == test.num_results
    again = SequentialTest()
    again.add(match.results.rates)
    assert (again.decided_at, again.p_value) == (test.decided_at, test.p_value)


def test_parts_have_deals_of_their_own_and_both_runs():
    match, test = play_sequential_match(
        LIMIT,
        pair("uniform", "always-call", LIMIT),
        MatchSettings(hands=1200, duplicate=True, runner="views"),
    )
    assert match.chips.shape == (2, test.num_results)
    parts = match.chips[:, :100], match.chips[:, 100:200]
    assert (parts[0] != parts[1]).any()
    tables = play_sequential_match(
        LIMIT,
        pair("always-call", "always-raise", LIMIT),
        MatchSettings(hands=600, duplicate=True, runner="tables"),
    )[0]
    assert tables.runner == "tables"
    assert not tables.results.rates.any()


def test_the_last_part_ends_where_hands_do():
    players = pair("always-call", "always-raise", LEDUC)
    match, test = play_sequential_match(LEDUC, players, MatchSettings(hands=777, runner="views"))
    assert match.num_hands == 777
    assert not test.is_decided


def test_a_match_says_how_far_it_is():
    shares = []
    players = pair("always-call", "always-raise", LIMIT)
    settings = MatchSettings(hands=400, duplicate=True, runner="views")
    play_sequential_match(LIMIT, players, settings, watch=shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1


def test_wrong_numbers_are_refused_before_the_first_hand():
    with pytest.raises(InvalidValueError, match="even number"):
        play_sequential_match(
            LIMIT, pair("uniform", "always-call", LIMIT), MatchSettings(hands=7, duplicate=True)
        )


@pytest.mark.parametrize("learner", ["aadapti", "vexbot", "vexbot:miximix"])
def test_players_that_learn_are_not_tested_hand_by_hand(learner):
    players = pair("uniform", learner, LIMIT)
    with pytest.raises(InvalidValueError, match="learns, so its hands depend on each other"):
        check_settings(LIMIT, players, MatchSettings(hands=100, until_sure=True))
    check_settings(LIMIT, players, MatchSettings(hands=100, matches=2))


def test_equal_players_are_rarely_distinguished():
    # The same mix against itself: decided in no more than 5 % of matches, here 100 of 2,000 hands.
    players = pair("mix:0.1,0.5,0.4", "mix:0.1,0.5,0.4", LEDUC)
    rule = MixtureSPRT(horizon=1000)
    settings = [MatchSettings(hands=2000, seed=seed, runner="tables") for seed in range(100)]
    tests = [play_sequential_match(LEDUC, players, one, rule=rule)[1] for one in settings]
    wrong = [test.is_decided for test in tests]
    assert np.mean(wrong) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 100)

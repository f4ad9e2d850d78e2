"""Matches, compared with what is known without playing: chips, deals, seats, memories."""

import numpy as np
import pytest

from equilibrist.errors import IllegalActionError, InvalidValueError
from equilibrist.evaluation.statistics import unit_chips
from equilibrist.games.action import FOLD
from equilibrist.games.catalog import game_names, get_game
from equilibrist.games.match_log import log_lines, read_log, replay
from equilibrist.games.phh import parse_phh, phh_text
from equilibrist.play.match import (
    Match,
    MatchSettings,
    play_match,
    play_matches,
    run_match,
    series_score,
)
from equilibrist.players.catalog import make_player
from equilibrist.players.player import Player
from equilibrist.players.static import Mix, Uniform

LIMIT = get_game("holdem-limit")


def pair(first, second, game=LIMIT):
    return make_player(first, game), make_player(second, game)


class Recorder(Uniform):
    """A uniform player that records what it has seen since its last reset."""

    def __init__(self, name):
        self.name, self.runs = name, []
        super().__init__()

    def observe(self, result):
        self.runs[-1].append(result)

    def reset(self, seed):
        self.runs.append([])
        super().reset(seed)


def test_always_fold_loses_750_to_always_raise():
    # 1000 mbb in the big blind, 500 as the dealer.
    match = play_match(LIMIT, pair("always-fold", "always-raise"), 200, duplicate=True)
    assert (match.results.rates / unit_chips(LIMIT)["mbb/g"] == -750).all()
    assert match.rate() / unit_chips(LIMIT)["sb/h"] == -0.75


@pytest.mark.parametrize("duplicate", [False, True])
def test_statistics_of_a_match_are_those_of_its_log(duplicate):
    # The win rate once more, from the chips of every hand in the log, a name at a time.
    players = pair("uniform", "always-call")
    match = play_match(LIMIT, players, 300, seed=4, duplicate=duplicate, keep_log=True)
    hands = [record for log in match.logs for record in log.hands]
    won = [record.payoffs[record.names.index("uniform")] for record in hands]
    found = match.statistics()
    assert found.hands == len(won) == 300
    assert found.hands_each == 1 + duplicate
    assert found.win_rate == pytest.approx(1000 * sum(won) / len(won) / 10)  # mbb/g, of 10 chips
    assert found.names == ("uniform", "always-call")
    assert match.rate() == pytest.approx(sum(won) / 300)
    deals = np.reshape(won, (1 + duplicate, -1)).mean(axis=0)
    error = np.std(deals, ddof=1) / np.sqrt(len(deals))
    assert found.estimate.standard_error == pytest.approx(100 * error)


def test_always_call_and_always_raise_are_worth_the_same():
    # The same bets go in for all cards: a duplicate pair is exactly zero.
    players = pair("always-call", "always-raise")
    assert not play_match(LIMIT, players, 200, duplicate=True).results.rates.any()
    plain = play_match(LIMIT, players, 2000).results.rates
    assert abs(plain.mean()) < 4 * plain.std(ddof=1) / np.sqrt(len(plain))
    assert plain.std() > 50


@pytest.mark.parametrize("game", game_names())
def test_chips_are_conserved(game):
    first, second = Recorder("A"), Recorder("B")
    match = play_match(get_game(game), (first, second), 300, seed=3)
    own = [result.chips for result in first.runs[-1]]
    assert match.chips[0].tolist() == own
    assert [-chips for chips in own] == [result.chips for result in second.runs[-1]]


def test_seats_change_every_hand_and_runs_swap_them():
    first, second = Recorder("A"), Recorder("B")
    match = play_match(LIMIT, (first, second), 40, seed=9, duplicate=True, keep_log=True)
    runs = [[result.view for result in run] for run in first.runs[-2:]]
    assert [view.player for view in runs[0]] == [0, 1] * 10
    assert [view.player for view in runs[1]] == [1, 0] * 10
    others = [result.view for result in second.runs[-2]]
    # What one held in the first run the other holds in the second.
    assert [view.hole for view in runs[1]] == [view.hole for view in others]
    assert [log.seats for log in match.logs] == [("A", "B"), ("B", "A")]
    totals = [log.score for log in match.logs]
    assert [totals[0][0], totals[1][1]] == match.chips.sum(axis=1).tolist()


def test_memories_are_reset_between_the_runs_of_a_duplicate_match():
    first, second = Recorder("A"), Recorder("B")
    play_match(LIMIT, (first, second), 20, duplicate=True)
    assert [len(run) for run in first.runs[1:]] == [10, 10]


def test_the_same_seed_plays_the_same_match():
    games = [play_match(LIMIT, pair("uniform", "mix:0.2,0.4,0.4"), 60, seed=5) for _ in range(2)]
    assert (games[0].chips == games[1].chips).all()
    other = play_match(LIMIT, pair("uniform", "mix:0.2,0.4,0.4"), 60, seed=6)
    assert (other.chips != games[0].chips).any()


def test_logs_read_back_and_replay_from_their_seed():
    match = play_match(LIMIT, pair("uniform", "always-call"), 50, seed=11, keep_log=True)
    (log,) = match.logs
    lines = list(log_lines(log))
    assert lines[0].endswith("holdem-limit.game 50 11")
    back = read_log(LIMIT, lines)
    assert back.score[0] == match.chips.sum()
    assert len(replay(back).hands) == 50
    assert parse_phh(phh_text(log.hands[7])).payoffs == log.hands[7].payoffs


def test_agreed_rounds_are_called_without_asking():
    match = play_match(
        LIMIT, pair("always-fold", "always-raise"), 10, agreed_rounds=1, keep_log=True
    )
    assert {record.state.betting.text for record in match.logs[0].hands} == {"cc/rf", "cc/crf"}
    assert (match.chips == -10).all()


def test_a_match_says_how_far_it_is():
    shares = []
    settings = MatchSettings(hands=30, duplicate=True, runner="views")
    run_match(LIMIT, pair("always-call", "uniform"), settings, shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1


def test_matches_of_a_series_have_deals_of_their_own():
    settings = MatchSettings(hands=20, matches=3, seed=1, runner="views")
    matches = play_matches(LIMIT, pair("always-call", "always-raise"), settings)
    assert [match.num_hands for match in matches] == [20] * 3
    assert len({tuple(match.chips[0]) for match in matches}) == 3
    assert matches[0].rate(0.1) == matches[0].chips[0, -2:].mean()


def test_equal_series_count_wins_losses_and_ties():
    chips = np.array([[3, -1, 0, 0, -2, 1, 5, 5], [-1, -1, 0, 0, -2, 1, 5, 5]])
    match = Match(LIMIT, ("A", "B"), 0, chips)
    assert series_score(match, 4) == (1, 1, 2)
    with pytest.raises(InvalidValueError, match="8 deals cannot be split into 20"):
        series_score(match)


def test_duplicate_lowers_the_spread_of_limit_holdem():
    players = pair("mix:0.05,0.55,0.4", "mix:0,0.6,0.4")
    duplicate = play_match(LIMIT, players, 1500, seed=2, duplicate=True)
    # Two independent hands have a variance of half of one; two of the same deal less than that.
    assert duplicate.results.rates.std() < 0.8 * duplicate.chips.std() / np.sqrt(2)


@pytest.mark.parametrize("hands", [0, -2, 1.5, 2**32])
def test_impossible_numbers_of_hands_are_refused(hands):
    with pytest.raises(InvalidValueError, match="number of hands"):
        play_match(LIMIT, pair("uniform", "always-call"), hands)


def test_an_odd_duplicate_match_is_refused():
    with pytest.raises(InvalidValueError, match="an even number, not 7"):
        play_match(LIMIT, pair("uniform", "always-call"), 7, duplicate=True)


def test_one_player_cannot_sit_on_both_sides():
    player = Uniform()
    with pytest.raises(InvalidValueError, match="make two players"):
        play_match(LIMIT, (player, player), 2)


@pytest.mark.parametrize(("game", "rounds"), [("holdem-limit", 4), ("discard-holdem", 2)])
def test_rounds_that_cannot_be_agreed_on_are_refused(game, rounds):
    rules = get_game(game)
    with pytest.raises(InvalidValueError):
        play_match(rules, pair("uniform", "always-call", rules), 2, agreed_rounds=rounds)


def test_an_illegal_action_names_the_player():
    class Folder(Mix):
        def act(self, view):
            return FOLD

    players: tuple[Player, Player] = (Folder(0, 1, 0, "folder"), Mix(0, 1, 0))
    with pytest.raises(IllegalActionError, match="folder: f folds without facing a bet"):
        play_match(get_game("kuhn"), players, 1)


@pytest.mark.slow
def test_chips_are_conserved_over_many_hands():
    for game in ("holdem-limit", "holdem-nolimit", "leduc"):
        first, second = Recorder("A"), Recorder("B")
        play_match(get_game(game), (first, second), 20_000, seed=1)
        chips = np.array([[r.chips for r in player.runs[-1]] for player in (first, second)])
        assert not chips.sum(axis=0).any()
        assert chips.any()

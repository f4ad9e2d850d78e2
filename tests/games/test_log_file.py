"""Logs of any kind, complete and truncated."""

import io
from dataclasses import replace
from pathlib import Path

import pytest
from pokerkit import HandHistory

from equilibrist.errors import InvalidValueError, RecordError
from equilibrist.games.action import CALL
from equilibrist.games.catalog import get_game
from equilibrist.games.dealing import Dealer, secret_seed
from equilibrist.games.log_file import LogFile, write_hands
from equilibrist.games.match_log import (
    MatchHeader,
    MatchLog,
    log_lines,
    read_log,
    replay,
    write_log,
)
from equilibrist.games.phh import write_phh
from equilibrist.games.records import HandRecord, log_line
from equilibrist.games.state import HandState
from equilibrist.play.match import play_match
from equilibrist.players.static import Mix, Uniform

LIMIT = get_game("holdem-limit")
LOGS = Path(__file__).parent / "logs"


@pytest.fixture(scope="module")
def match_log():
    return play_match(LIMIT, (Uniform(), Mix(0, 1, 0, "caller")), 12, seed=4, keep_log=True).logs[0]


def same(hands, others):
    """Return whether hands have the same text; cards that nobody saw may differ."""
    return list(map(log_line, hands)) == list(map(log_line, others))


def test_an_acpc_log_says_its_game_by_its_header():
    read = LogFile(LOGS / "nolimit.log")
    assert (read.form, read.rules) == ("ACPC", get_game("holdem-nolimit"))
    assert [record.hand_number for record in read] == [0, 1, 2]
    assert (read.seats, read.is_finished, read.rest) == (("Alice", "Bob"), True, "")


def test_many_histories_in_one_file_read_back_and_are_pokerkits(match_log, tmp_path):
    path = tmp_path / "match.phhs"
    write_hands(match_log, path)
    read = LogFile(path)
    assert (read.form, read.rules.name) == ("PHH", "holdem-limit")
    assert same(read, match_log.hands)
    assert read.seats == match_log.seats
    theirs = list(HandHistory.load_all(io.BytesIO(path.read_bytes())))
    assert [history.hand for history in theirs] == list(range(12))
    assert [history.players for history in theirs] == [list(r.names) for r in match_log.hands]


def test_a_folder_of_histories_is_a_log(match_log, tmp_path):
    for record in match_log.hands:
        write_phh(record, tmp_path / f"{record.hand_number:04}.phh")
    assert same(LogFile(tmp_path), match_log.hands)


def test_a_log_says_the_seed_of_its_deals_in_either_form(match_log, tmp_path):
    for name in ("match.log", "match.phhs"):
        write_hands(match_log, tmp_path / name)
        read = LogFile(tmp_path / name)
        assert len(list(read)) == 12
        assert read.seed == 4
    write_hands(replace(match_log, header=None), tmp_path / "no-seed.phhs")
    assert LogFile(tmp_path / "no-seed.phhs").seed is None


def test_a_seed_may_be_a_secret_until_the_end(match_log):
    seed = 2**128 - 1
    shown = match_log.header._replace(seed=seed)
    hidden = shown._replace(seed=None)
    assert len(str(shown)) == len(str(hidden))
    lines = list(log_lines(replace(match_log, header=hidden)))
    log = read_log(LIMIT, lines)
    assert log.header == hidden
    with pytest.raises(InvalidValueError, match="no header with a seed"):
        replay(log)
    # A pipe cannot be written again at its beginning: there the whole header comes last.
    assert read_log(LIMIT, [*lines, str(shown)]).header == shown


def test_a_match_dealt_with_a_secret_seed_replays():
    seed, hands = secret_seed(), []
    for number, deal in zip(range(5), Dealer(LIMIT, seed), strict=False):
        state = HandState.start(LIMIT, deal, number)
        while not state.is_over:
            state = state.apply(CALL)
        hands.append(HandRecord.of(state, ("a", "b") if number % 2 == 0 else ("b", "a")))
    header = MatchHeader("a.b", "holdem-limit.game", 5, seed)
    log = read_log(LIMIT, list(log_lines(MatchLog(LIMIT, ("a", "b"), tuple(hands), header))))
    assert same(replay(log).hands, hands)
    with pytest.raises(RecordError, match="in hand 0"):
        replay(log, seed ^ 1)


def test_another_suffix_is_an_acpc_log(match_log, tmp_path):
    write_hands(match_log, tmp_path / "match.txt")
    assert same(read_log(LIMIT, tmp_path / "match.txt").hands, match_log.hands)


def test_an_acpc_log_may_be_cut_anywhere(match_log, tmp_path):
    path = tmp_path / "cut.log"
    whole = "".join(f"{line}\n" for line in log_lines(match_log))
    ends = [at + 1 for at, c in enumerate(whole) if c == "\n"]
    named = 0
    for cut in range(ends[0], len(whole)):
        path.write_text(whole[:cut])
        read = LogFile(path)
        complete = sum(end <= cut for end in ends) - 1  # of the lines behind the header
        hands = list(read)
        # A line without its end may be whole, or be taken for one whose last name is shorter.
        assert complete <= len(hands) <= complete + 1
        states = [str(record.state) for record in match_log.hands]
        assert [str(record.state) for record in hands] == states[: len(hands)]
        assert read.is_finished == (cut == len(whole) - 1)
        named += "the log ends early" in read.rest
        assert read.rest or read.is_finished
    assert named > 300


def test_histories_may_be_cut_anywhere(match_log, tmp_path):
    path = tmp_path / "cut.phhs"
    write_hands(match_log, path)
    whole = path.read_text()
    for cut in range(whole.index("[3]") + 4, whole.index("[5]"), 7):
        path.write_text(whole[:cut])
        read = LogFile(path)
        hands = list(read)
        assert 2 <= len(hands) <= 4
        assert same(hands[:2], match_log.hands[:2])
        if len(hands) == 2:
            assert "the log ends early" in read.rest


def test_a_problem_before_the_end_is_an_error_that_names_the_place(match_log, tmp_path):
    path = tmp_path / "bad.log"
    lines = list(log_lines(match_log))
    path.write_text("\n".join([*lines[:3], "STATE:9:x", *lines[3:]]) + "\n")
    with pytest.raises(RecordError, match=r"bad\.log, line 4"):
        list(LogFile(path))
    path = tmp_path / "bad.phhs"
    write_hands(match_log, path)
    path.write_text(path.read_text().replace('variant = "FT"', 'variant = "XX"', 1))
    with pytest.raises(RecordError, match=r"bad\.phhs \[1\]"):
        list(LogFile(path))


def test_a_log_without_a_game_of_the_catalogue_needs_one(match_log, tmp_path):
    path = tmp_path / "match.log"
    write_log(match_log, path)
    path.write_text(path.read_text().replace("holdem-limit.game", "mystery.game"))
    with pytest.raises(RecordError, match="does not say which game"):
        LogFile(path)
    assert len(list(LogFile(path, LIMIT))) == 12
    with pytest.raises(RecordError, match="cannot read"):
        LogFile(tmp_path / "none.log")
    (tmp_path / "empty").mkdir()
    with pytest.raises(RecordError, match="does not say which game"):
        LogFile(tmp_path / "empty")

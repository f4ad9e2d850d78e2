"""Log lines and match logs: known hands, round trips, and errors for invalid ones."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equilibrist.errors import EquilibristError, InvalidValueError, RecordError, StorageError
from equilibrist.games.action import CALL, raise_to
from equilibrist.games.amounts import hand_total, street_total
from equilibrist.games.catalog import game_names, get_game
from equilibrist.games.dealing import Dealer
from equilibrist.games.match_log import (
    MatchHeader,
    MatchLog,
    iter_log,
    log_lines,
    read_log,
    replay,
    write_log,
)
from equilibrist.games.notation import parse_betting, parse_state
from equilibrist.games.records import HandRecord, log_line, parse_log_line
from equilibrist.games.rules import GameRules
from equilibrist.games.state import HandState

LOGS = Path(__file__).parent / "logs"
LIMIT, NOLIMIT, KUHN = (get_game(name) for name in ("holdem-limit", "holdem-nolimit", "kuhn"))
GOOD = "STATE:1:r20000c///:Jc6c|7h5d/As5cAh/Qh/Tc:-20000|20000:Bob|Alice"
VALUES, NAMES = GOOD.index("-20000"), GOOD.index("Bob")


def play(rules: GameRules, seed: int, number: int, choose: st.DataObject) -> HandState:
    """Draw a random hand: a deal by seed and number, any legal action at each turn."""
    dealer = Dealer(rules, seed)
    for _ in range(number):
        next(dealer)
    state = HandState.start(rules, next(dealer), hand_number=number)
    while not state.is_over:
        legal = state.legal_actions()
        actions = list(legal.actions)
        if legal.raise_to is not None:
            actions += [raise_to(amount) for amount in sorted({*legal.raise_to})]
        state = state.apply(choose.draw(st.sampled_from(actions)))
    return state


# --- known hands ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "rules", "score"), [("limit", LIMIT, 75), ("nolimit", NOLIMIT, 19800)]
)
def test_a_log_written_by_hand_reads_writes_and_replays_from_its_seed(
    name: str, rules: GameRules, score: int
) -> None:
    log = read_log(rules, LOGS / f"{name}.log")
    assert log.seats == ("Alice", "Bob")
    assert log.score == (score, -score)
    assert log.is_finished
    assert log.header is not None
    assert log.header.num_hands == len(log.hands)
    assert read_log(rules, log_lines(log)) == log
    replayed = replay(log)
    assert list(log_lines(replayed)) == list(log_lines(log))
    assert all(len(record.state.deal.board) == 5 for record in replayed.hands)


def test_players_are_in_player_order_and_the_score_in_seat_order() -> None:
    log = read_log(LIMIT, LOGS / "limit.log")
    assert [record.names[0] for record in log.hands] == ["Alice", "Bob", "Alice", "Bob"]
    assert [record.payoffs for record in log.hands] == [(50, -50), (5, -5), (-10, 10), (-40, 40)]
    swapped = [*list(log_lines(log))[:-1], "SCORE:-75|75:Bob|Alice"]
    assert read_log(LIMIT, swapped).seats == ("Bob", "Alice")


def test_a_log_is_read_with_any_line_ends_and_without_the_last() -> None:
    text = (LOGS / "nolimit.log").read_text()
    log = read_log(NOLIMIT, LOGS / "nolimit.log")
    for variant in (text.replace("\n", "\r\n"), text.rstrip("\n"), text.replace("\n", "\n\n")):
        assert read_log(NOLIMIT, variant.splitlines(keepends=True)) == log


def test_a_log_that_ends_between_hands_has_no_score_line() -> None:
    lines = (LOGS / "limit.log").read_text().splitlines()[:6]
    log = read_log(LIMIT, lines)
    assert not log.is_finished
    assert log.score == (45, -45)
    assert list(log_lines(log)) == lines


def test_hands_are_streamed() -> None:
    lines = iter(["STATE:0:cc:Ks|Qs:1|-1:A|B", "nonsense"])
    hands = iter_log(KUHN, lines)
    assert next(hands).payoffs == (1, -1)
    with pytest.raises(RecordError, match="line 2"):
        next(hands)


def test_a_player_may_play_against_itself() -> None:
    lines = [
        "STATE:0:rf:Ks|Qs:1|-1:me|me",
        "STATE:1:cc:Ks|Qs:1|-1:me|me",
        "STATE:2:rc:Ks|Qs:2|-2:me|me",
        "SCORE:2|-2:me|me",
    ]
    assert read_log(KUHN, lines).score == (2, -2)


def test_an_odd_pot_may_be_split_exactly_or_to_the_lowest_players() -> None:
    # Three players put in 5 each, one folds: a tie of the other two shares 15 chips.
    rules = replace(
        get_game("holdem-limit"),
        name="three",
        blinds=(5, 5, 5),
        raise_sizes=(10,),
        max_raises=(1,),
        first_players=(0,),
        num_board_cards=(5,),
        discards=(),
    )
    cards = "2c3c|2d3d|4c4dAhKhQhJhTh"
    fold = "STATE:0:rfc:" + cards
    state = parse_state(rules, fold).state
    assert state.payoffs() == (3, -5, 2)
    exact = parse_log_line(rules, fold + ":2.5|-5|2.5:a|b|c")
    assert exact.payoffs == (Fraction(5, 2), -5, Fraction(5, 2))
    whole = parse_log_line(rules, fold + ":3|-5|2:a|b|c")
    assert whole.payoffs == (3, -5, 2)
    for record in (exact, whole):
        assert parse_log_line(rules, log_line(record)) == record
    lines = [log_line(exact), log_line(replace(exact, state=replace(state, hand_number=1)))]
    assert read_log(rules, [*lines, "SCORE:5|-10|5:a|b|c"]).score == (5, -10, 5)


def test_amounts_of_the_hand_and_of_the_street_differ_by_the_earlier_chips() -> None:
    flop = parse_betting(NOLIMIT, "r300c/")
    assert street_total(flop, 900) == 600
    preflop = parse_betting(NOLIMIT, "")
    assert street_total(preflop, 300) == 300  # blinds are bets of the first street
    kuhn = parse_betting(KUHN, "")
    assert street_total(kuhn, 2) == 1  # antes are not
    for betting in (flop, preflop, kuhn):
        assert hand_total(betting, street_total(betting, 12345)) == 12345


# --- random hands ---------------------------------------------------------------------------------


@settings(deadline=None, max_examples=150)
@given(st.sampled_from(game_names()), st.integers(0, 2**32 - 1), st.integers(0, 3), st.data())
def test_random_hands_of_every_game_round_trip(
    name: str, seed: int, number: int, data: st.DataObject
) -> None:
    state = play(get_game(name), seed, number, data)
    line = log_line(HandRecord.of(state, ("Alice", "Bob")))
    record = parse_log_line(state.rules, line)
    assert log_line(record) == line
    assert record.payoffs == state.payoffs()
    assert parse_log_line(state.rules, log_line(record)) == record


@settings(deadline=None, max_examples=40)
@given(st.sampled_from(game_names()), st.integers(0, 2**32 - 1), st.data())
def test_a_match_dealt_from_a_seed_replays_to_the_same_hands_and_scores(
    name: str, seed: int, data: st.DataObject
) -> None:
    rules, seats = get_game(name), ("Alice", "Bob")
    hands = [
        HandRecord.of(play(rules, seed, number, data), (seats[number % 2], seats[1 - number % 2]))
        for number in (0, 1, 3)
    ]
    header = MatchHeader("a match", f"{name}.game", len(hands), seed)
    written = MatchLog(rules, seats, tuple(hands), header, ("#--t_response 600000",))
    log = read_log(rules, log_lines(written))
    assert log.score == written.score
    again = replay(log)
    assert [record.state for record in again.hands] == [record.state for record in hands]
    assert list(log_lines(again)) == list(log_lines(written))


def test_a_wrong_seed_is_found_at_the_first_hand_whose_cards_differ() -> None:
    log = read_log(LIMIT, LOGS / "limit.log")
    with pytest.raises(RecordError, match=r"seed 1 deals .* in hand 0, but the log has 5d5c"):
        replay(log, seed=1)
    with pytest.raises(InvalidValueError, match="specify the seed"):
        replay(replace(log, header=None))
    with pytest.raises(EquilibristError, match="seed"):
        replay(log, seed=-1)


def test_a_written_file_reads_back(tmp_path: Path) -> None:
    log = read_log(NOLIMIT, LOGS / "nolimit.log")
    write_log(log, tmp_path / "match.log")
    assert read_log(NOLIMIT, str(tmp_path / "match.log")) == log
    with pytest.raises(StorageError, match="cannot write"):
        write_log(log, tmp_path / "no" / "folder.log")


# --- bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "message", "position"),
    [
        ("", "a hand must be STATE:", 0),
        ("MATCHSTATE:0:0:cc:Ks|Qs", "a hand must be STATE:", 0),
        ("\x7fELF", "a hand must be STATE:", 0),
        (GOOD[:30], "a hand must be STATE:", 0),
        (GOOD.replace(":1:", ":-1:"), "hand number", 6),
        (GOOD.replace(":1:", ":99999999999:"), "hand number", 6),
        (GOOD.replace("20000c///", "20001c///"), "above the largest raise", 8),
        (GOOD.replace("c///", ""), "board cards", None),
        ("STATE:0:r300:8dJd|Td4d:-300|300:A|B", "not over", 8),
        (GOOD.replace("7h5d", "7hJc"), "twice", None),
        (GOOD.replace("7h5d", ""), "player 1's cards are not known", VALUES - 4),
        (
            GOOD.replace("-20000", "-2000"),
            "wins -2000 in the line, but by the rules -20000",
            VALUES,
        ),
        (GOOD.replace("|20000:", "|19999.5:"), "wins 19999.5 in the line", VALUES + 7),
        (GOOD.replace("-20000", "much"), "'much' is not a number of chips", VALUES),
        (GOOD.replace("-20000", "-1" + "0" * 5000), "is not a number of chips", VALUES),
        (GOOD.replace("-20000", "nan"), "'nan' is not a number of chips", VALUES),
        (GOOD.replace("-20000|", ""), "1 values for 2 players", VALUES),
        (GOOD.replace("Bob|", ""), "1 names for 2 players", NAMES),
        (GOOD.replace("Bob|Alice", "Bob|"), "a player's name must be printable", NAMES),
        (GOOD.replace("Alice", "Alice:"), "7 fields", 0),
    ],
)
def test_a_bad_line_is_refused_in_one_sentence(
    line: str, message: str, position: int | None
) -> None:
    with pytest.raises(RecordError, match=message.replace("(", r"\(")) as caught:
        parse_log_line(NOLIMIT, line)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500
    if position is not None:
        assert caught.value.position == position


@pytest.mark.parametrize(
    ("lines", "message", "number"),
    [
        ([], "the log has no hands", 0),
        (["# a comment"], "the log has no hands", 1),
        (["# name/game/hands/seed x y -3 0"], "the header must be", 1),
        (["# name/game/hands/seed x y 3 " + "9" * 50], "the header must be", 1),
        (["", "TO 1 at 1.5 MATCHSTATE:0:0::Ks|"], "line 2: a hand must be STATE", 2),
        (["STATE:0:cc:Ks|Qs:1|-1:A|B", "STATE:0:cc:Ks|Qs:1|-1:B|A"], "numbers must increase", 2),
        (["STATE:0:cc:Ks|Qs:1|-1:A|B", "STATE:1:cc:Ks|Qs:1|-1:C|A"], "C is not one of", 2),
        (["STATE:0:cc:Ks|Qs:1|-1:A|B", "STATE:1:cc:Ks|Qs:1|-1:A|A"], "A is not one of", 2),
        (["STATE:0:cc:Ks|Qs:1|-1:A|B", "SCORE:1|-1:A|C"], "C is not one of", 2),
        (["STATE:0:cc:Ks|Qs:1|-1:A|B", "SCORE:-1|1:A|B"], "A's score is -1, but", 2),
        (["STATE:0:cc:Ks|Qs:1|-1:A|B", "SCORE:1.5|-1.5:A|B"], "the hands sum to 1 ", 2),
        (["STATE:0:cc:Ks|Qs:1|-1:A|B", "SCORE:1|-1"], "a score must be SCORE", 2),
        (["STATE:0:cc:Ks|Qs:1|-1:A|B", "SCORE:1:A|B"], "1 values for 2 players", 2),
        (["SCORE:1|-1:A|B"], "the hands sum to 0", 1),
        (["SCORE:0|0:A|B", "STATE:0:cc:Ks|Qs:1|-1:A|B"], "follows the SCORE", 2),
        (["# name/game/hands/seed x y 3 0", "SCORE:0|0:A|B"], "0 hands, the header 3", 2),
        (["STATE:0:cc:Ks|Qs:1|-1:A|B\n", "STATE:1:cc:Ks"], "may be cut off", 2),
    ],
)
def test_a_bad_log_is_refused_with_the_number_of_the_line(
    lines: list[str], message: str, number: int
) -> None:
    with pytest.raises(RecordError, match=message) as caught:
        read_log(KUHN, lines)
    assert caught.value.position == number
    assert f"line {number}: " in str(caught.value)


def test_a_bad_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "match.log"
    with pytest.raises(RecordError, match=r"cannot read .*match\.log: No such file"):
        read_log(KUHN, path)
    with pytest.raises(RecordError, match="cannot read"):
        read_log(KUHN, "a\0b")
    path.write_bytes(b"STATE:0:cc:Ks|Qs:1|-1:A|B\nSTATE:1:c")
    with pytest.raises(RecordError, match=r"match\.log, line 2: .*may be cut off"):
        read_log(KUHN, path)
    path.write_bytes(b"\xff\xfe\x00\x81")
    with pytest.raises(RecordError, match="not a text file"):
        read_log(KUHN, path)


def test_a_log_of_another_game_is_refused() -> None:
    with pytest.raises(RecordError, match="line 5"):
        read_log(NOLIMIT, LOGS / "limit.log")
    with pytest.raises(RecordError, match="line 5"):
        read_log(KUHN, LOGS / "limit.log")


def test_records_that_no_line_can_hold_are_refused(tmp_path: Path) -> None:
    log = read_log(LIMIT, LOGS / "limit.log")
    record = log.hands[0]
    with pytest.raises(InvalidValueError, match="not over"):
        HandRecord.of(HandState.start(LIMIT, record.state.deal), ("A", "B"))
    with pytest.raises(InvalidValueError, match="1 names for 2 players"):
        HandRecord.of(record.state, ("A",))
    for bad in (
        replace(log, hands=(replace(record, names=("A|B", "C")),)),
        replace(log, seats=("Alice", "Bob\n")),
        replace(log, comments=("no comment",)),
        replace(log, comments=("# two\nlines",)),
        replace(log, header=MatchHeader("", "game", 4, 0)),
        replace(log, header=MatchHeader("name", "a game", 4, 0)),
    ):
        with pytest.raises(EquilibristError):
            write_log(bad, tmp_path / "bad.log")
    assert not (tmp_path / "bad.log").exists()


@settings(deadline=None, max_examples=200)
@given(st.text(alphabet="STAE:0123456789cfr/|AKQs-. #\r\n", max_size=60))
def test_any_text_is_a_record_or_a_record_error(text: str) -> None:
    for read in (parse_log_line, lambda rules, text: read_log(rules, text.splitlines(True))):
        with contextlib.suppress(RecordError):
            read(KUHN, text)


def test_a_replay_deals_no_more_hands_than_it_can() -> None:
    lines = ["STATE:4000000000:cc:Ks|Qs:1|-1:A|B"]
    with pytest.raises(RecordError, match="hand 4000000000 cannot be dealt") as caught:
        replay(read_log(KUHN, lines), seed=1)
    assert caught.value.position == 4_000_000_000


def test_a_log_with_a_gap_replays() -> None:
    dealer = Dealer(KUHN, 5)
    dealer.skip(123_456)
    state = HandState.start(KUHN, next(dealer), hand_number=123_456).apply(CALL).apply(CALL)
    log = MatchLog(KUHN, ("A", "B"), (HandRecord.of(state, ("A", "B")),))
    assert replay(log, seed=5).hands == log.hands
    twice = replace(log, hands=log.hands * 2)
    with pytest.raises(RecordError, match="numbers must increase"):
        replay(twice, seed=5)


@pytest.mark.parametrize("path", ["a\0b", "x" * 5000])
def test_a_log_cannot_be_written_where_no_file_can_be(path: str) -> None:
    with pytest.raises(StorageError, match="cannot write"):
        write_log(read_log(LIMIT, LOGS / "limit.log"), path)

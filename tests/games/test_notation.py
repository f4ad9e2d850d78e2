"""ACPC state lines: valid lines, and errors for invalid ones."""

from __future__ import annotations

from dataclasses import replace

import pytest

from equilibrist.cards.card import parse_cards
from equilibrist.errors import RecordError
from equilibrist.games.action import parse_action
from equilibrist.games.catalog import get_game
from equilibrist.games.notation import parse_betting, parse_state, state_line
from equilibrist.games.state import Deal, HandState

LINES = [
    ("holdem-nolimit", "MATCHSTATE:0:30::9s8h|"),
    ("holdem-nolimit", "MATCHSTATE:0:30:cc/r250c/r500c/r1250c:9s8h|9c6h/8c8d5c/6s/2d"),
    (
        "holdem-nolimit",
        "MATCHSTATE:1:31:r300r900c/r1800r3600r9000c/r20000c/:KsJs|JdTc/6dJc9c/Kh/Qc",
    ),
    ("holdem-nolimit", "MATCHSTATE:1:7:r20000c///:KsJs|JdTc/6dJc9c/Kh/Qc"),
    ("holdem-limit", "MATCHSTATE:1:0:rrf:|9hQd"),
    ("holdem-limit", "STATE:0:crc/crrc/cc/:5d5c|9hQd/8dAs8s/4h/6d"),
    ("kuhn", "MATCHSTATE:1:4294967295:crc:Qs|As"),
    ("leduc", "STATE:3:cc/:Qs|Ah/Ks"),
    ("preflop-holdem", "STATE:3:rc:AhKh|QsQd/2c7d9hJsTc"),
    ("preflop-holdem", "STATE:3:f:AhKh|QsQd"),
    ("discard-holdem", "STATE:3:cc/dk:2cKh~2c7d|3c3d/4s5s6s"),
    ("discard-holdem", "MATCHSTATE:1:3:cc/dkcc/d:|3c3d/4s5s6s/7s"),
    ("discard-holdem", "STATE:3:r200c/dd/kd/:2cKh~2c7d|3c3d~3cAd~3dAc/4s5s6s/7s/8s"),
]


@pytest.mark.parametrize(("name", "line"), LINES)
@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_a_line_is_written_as_it_was_read(name: str, line: str, end: str) -> None:
    state, viewer = parse_state(get_game(name), line + end)
    assert state_line(state, viewer) == line


def test_the_others_cards_are_hidden_until_a_showdown() -> None:
    rules = get_game("discard-holdem")
    deal = Deal(
        (parse_cards("2cKh"), parse_cards("3c3d")),
        parse_cards("4s5s6s7s8s"),
        parse_cards("7d2d4d5d"),
    )
    state = HandState.start(rules, deal, hand_number=8)
    for action in ("c", "c", "d2c", "d3d", "c", "c", "k", "k", "c", "c", "c"):
        state = state.apply(parse_action(action))
    before = "cc/ddcc/kkcc/c:{}/4s5s6s/7s/8s"
    assert state_line(state, 0) == "MATCHSTATE:0:8:" + before.format("2cKh~2c7d|")
    assert state_line(state, 1) == "MATCHSTATE:1:8:" + before.format("|3c3d~3d2d")
    shown = state.apply(parse_action("c"))
    for viewer in (0, 1):
        assert state_line(shown, viewer).endswith("cc:2cKh~2c7d|3c3d~3d2d/4s5s6s/7s/8s")
    folded = state.apply(parse_action("r50")).apply(parse_action("f"))
    assert "|3c3d" not in state_line(folded, 0)


def test_a_board_in_the_first_round_stands_right_behind_the_hands() -> None:
    river = replace(
        get_game("holdem-limit"),
        name="river",
        raise_sizes=(20,),
        max_raises=(4,),
        first_players=(0,),
        num_board_cards=(5,),
        discards=(),
    )
    for line in ("MATCHSTATE:0:1:c:AhKh|2c7d9hJsTc", "STATE:1:cc:AhKh|QsQd2c7d9hJsTc"):
        state, viewer = parse_state(river, line)
        assert state.board == parse_cards("2c7d9hJsTc")
        assert state_line(state, viewer) == line
        with pytest.raises(RecordError) as caught:
            parse_state(river, line.replace("Js", "Jx"))
        assert caught.value.position == line.index("Js")


@pytest.mark.parametrize(
    ("name", "line", "position", "words"),
    [
        # Foreign or truncated.
        ("holdem-nolimit", "", 0, "must start with MATCHSTATE: or STATE:"),
        ("holdem-nolimit", "#GAMEOVER", 0, "must start with"),
        ("holdem-nolimit", "matchstate:0:30::9s8h|", 0, "must start with"),
        ("holdem-nolimit", "MATCHSTATE:0:30:", 0, "4 fields, but MATCHSTATE:<viewer>:<hand>"),
        ("holdem-nolimit", "MATCHSTATE:0:30::9s8h|:c", 0, "6 fields"),
        ("holdem-nolimit", "STATE:30:", 0, "3 fields, but STATE:<hand>:<betting>:<cards> has 4"),
        ("holdem-nolimit", "MATCHSTATE:0:30::9s8h", 17, "1 hands, but"),
        ("holdem-nolimit", "MATCHSTATE:0:30:cc/:9s8h|", 25, "board cards of 0 later rounds"),
        ("holdem-nolimit", "MATCHSTATE:0:30:cc/:9s8h|/8c8d", 26, "'8c8d' has 2 cards; 3"),
        ("holdem-nolimit", "MATCHSTATE:0:30:cc/:9s8h|/8c8d5", 30, "'5' at character 5"),
        # Numbers.
        ("holdem-nolimit", "MATCHSTATE:2:30::9s8h|", 11, "position must be 0 to 1, not '2'"),
        ("holdem-nolimit", "MATCHSTATE:-1:30::9s8h|", 11, "not '-1'"),
        ("holdem-nolimit", "MATCHSTATE:0:x::9s8h|", 13, "hand number must be 0 to"),
        (
            "holdem-nolimit",
            "MATCHSTATE:0:99999999999::9s8h|",
            13,
            "hand number must be 0 to 4294967295",
        ),
        ("holdem-nolimit", "MATCHSTATE:0:030::9s8h|", 13, "should read"),
        # Betting.
        ("holdem-nolimit", "MATCHSTATE:0:30:x:9s8h|", 16, "'x' is not an action"),
        ("holdem-nolimit", "MATCHSTATE:0:30:cr:9s8h|", 17, "below the smallest raise r200"),
        ("holdem-nolimit", "MATCHSTATE:0:30:cr150:9s8h|", 17, "r150 is below"),
        ("holdem-nolimit", "MATCHSTATE:0:30:cr20001:9s8h|", 17, "above the largest raise r20000"),
        ("holdem-nolimit", "MATCHSTATE:0:30:r" + "9" * 5000 + ":9s8h|", 16, "is not an action"),
        ("holdem-nolimit", "MATCHSTATE:0:30:r0200:9s8h|", 17, "should read"),
        ("holdem-nolimit", "MATCHSTATE:0:30:ff:9s8h|", 17, "comes after the end"),
        ("holdem-nolimit", "MATCHSTATE:0:30:cf:9s8h|", 17, "folds without facing a bet"),
        ("holdem-nolimit", "MATCHSTATE:0:30:c/:9s8h|", 17, "should read"),
        ("holdem-nolimit", "MATCHSTATE:0:30:cc:9s8h|/8c8d5c", 18, "should read"),
        ("holdem-nolimit", "STATE:0:r20000c:9s8h|AhKh/8c8d5c/2c/3c", 15, "should read"),
        ("holdem-limit", "STATE:0:rrrr:9s8h|AhKh", 11, "exceeds the 3 raises allowed"),
        ("holdem-limit", "STATE:0:r20:9s8h|AhKh", 8, "limit raises have no amount"),
        # Cards.
        ("holdem-nolimit", "MATCHSTATE:0:30::9s|", 17, "'9s' has 1 cards; 0 or 2 are expected"),
        ("holdem-nolimit", "MATCHSTATE:0:30::9s9s|", 19, "9s appears twice"),
        ("holdem-nolimit", "STATE:30::9s8h|8h2c", 15, "8h is dealt twice"),
        ("holdem-nolimit", "MATCHSTATE:0:30:cc/:9s8h|/8c8d9s", 30, "9s is dealt twice"),
        ("holdem-nolimit", "MATCHSTATE:0:30::1s8h|", 17, "'1s' at character 1"),
        ("holdem-nolimit", "MATCHSTATE:0:30::9S8h|", 18, "should read"),
        ("holdem-nolimit", "MATCHSTATE:0:30::9s 8h|", 19, "should read"),
        ("holdem-nolimit", "MATCHSTATE:0:30::9s8h|AhKh", 22, "should read"),
        ("holdem-nolimit", "MATCHSTATE:0:30::|9s8h", 17, "cards of player 0, whose view this is"),
        ("leduc", "MATCHSTATE:0:30::9s|", 17, "9s is not in the deck of leduc"),
        # Swaps.
        ("discard-holdem", "STATE:0:cc/dk:2cKh~3c7d|3c3d/4s5s6s", 19, "does not hold it"),
        ("discard-holdem", "STATE:0:cc/dk:2cKh|3c3d/4s5s6s", 14, "0 swaps, but the betting has 1"),
        ("discard-holdem", "STATE:0:cc/kk:2cKh~2c7d|3c3d/4s5s6s", 14, "1 swaps, but"),
        ("discard-holdem", "STATE:0:cc/dk:2cKh~2c4s|3c3d/4s5s6s", 29, "4s is dealt twice"),
        ("discard-holdem", "STATE:0:cc/dk:2cKh~2c|3c3d/4s5s6s", 19, "'2c' has 1 cards; 2"),
        ("discard-holdem", "STATE:0:cc/c:2cKh|3c3d/4s5s6s", 11, "c is not legal"),
        ("discard-holdem", "STATE:0:cc/d2c:2cKh|3c3d/4s5s6s", 12, "'2c' is not an action"),
    ],
)
def test_a_bad_line_is_refused_with_its_place(
    name: str, line: str, position: int, words: str
) -> None:
    with pytest.raises(RecordError) as caught:
        parse_state(get_game(name), line)
    assert words in str(caught.value)
    assert caught.value.position == position
    assert caught.value.value is not None
    assert len(str(caught.value)) < 600
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["", "crc/r", "rrc/crf", "cc/"])
def test_betting_round_trips_through_its_text(text: str) -> None:
    assert parse_betting(get_game("leduc"), text).text == text


@pytest.mark.parametrize("text", ["cc", "c/c", "cc//", "/", "crrrc", "C", "cc/ "])
def test_bad_betting_is_refused(text: str) -> None:
    with pytest.raises(RecordError):
        parse_betting(get_game("leduc"), text)

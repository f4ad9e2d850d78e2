"""Game definitions: reading, writing and errors."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from equilibrist.errors import GameFileError, InvalidValueError
from equilibrist.games.catalog import game_names, get_game
from equilibrist.games.rules import parse_rules, read_rules, rules_text

# As in the ACPC's distribution, with its comments, blank lines and capitals.
HOLDEM = """\
# limit Texas hold'em

GameDef
LIMIT
numPlayers = 2
numrounds = 4
blind = 10 5
raiseSize = 10 10 20 20   # chips
firstPlayer = 2 1 1 1
maxRaises = 3 4 4 4
numSuits = 4
numRanks = 13
numHoleCards = 2
numBoardCards = 0 3 1 1
end gamedef
anything may follow
"""


@pytest.mark.parametrize("name", game_names())
def test_every_game_round_trips_through_its_definition(name: str) -> None:
    rules = get_game(name)
    assert parse_rules(rules_text(rules)) == rules


def test_case_comments_and_order_of_keys_do_not_matter() -> None:
    assert replace(parse_rules(HOLDEM), name="holdem-limit") == get_game("holdem-limit")
    head, *lines, tail, _after = HOLDEM.replace("\n", "\r\n").strip().split("\r\n")[2:]
    text = "\r\n".join([head, *reversed(lines), tail])
    assert replace(parse_rules(text), name="holdem-limit") == get_game("holdem-limit")


def test_caps_and_first_players_default_as_at_the_acpc() -> None:
    lines = [line for line in HOLDEM.splitlines() if "Player =" not in line and "max" not in line]
    rules = parse_rules("\n".join(lines))
    assert rules.first_players == (0, 0, 0, 0)
    assert rules.max_raises == (255, 255, 255, 255)


def test_a_file_names_its_game(tmp_path: Path) -> None:
    path = tmp_path / "six-bets.game"
    path.write_text(HOLDEM)
    assert read_rules(path).name == "six-bets"
    path.write_text(rules_text(get_game("leduc")))
    assert read_rules(path) == get_game("leduc")


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("GameDef", "Game", 3, "must start with GAMEDEF"),
        ("maxRaises", "maxRaise", 10, "maxRaise: unknown key; did you mean maxRaises?"),
        ("maxRaises", "!!", 10, "unknown key"),
        ("blind = 10 5", "blind = 10 x", 7, "blind: 'x' is not a whole number"),
        ("blind = 10 5", "blind = 10 ٥", 7, "blind: '٥' is not a whole number"),
        ("blind = 10 5", "blind = 10 -5", 7, "blind: -5 is negative"),
        ("blind = 10 5", "blind = 10 99999999999", 7, "2147483647"),
        (
            "blind = 10 5",
            "blind = 10 2147483648",
            7,
            "blinds must contain whole numbers 0 to 2147483647",
        ),
        ("blind = 10 5", "blind = 10 5 5", 7, "blind: too many values; 2 expected, not 3"),
        ("blind = 10 5", "blind = 10", 7, "blind: too few values"),
        ("numrounds = 4", "numRounds = 3", 8, "raiseSize: too many values"),
        ("numrounds = 4", "numRounds = 4\nnumRounds = 4", 7, "given twice, first in line 6"),
        (
            "numRanks = 13",
            "numRanks = 14",
            12,
            "numRanks: num_ranks must contain whole numbers 1 to 13",
        ),
        ("firstPlayer = 2", "firstPlayer = 0", 9, "firstPlayer: first_players"),
        ("firstPlayer = 2", "firstPlayer = 3", 9, "firstPlayer: first_players"),
        ("maxRaises = 3", "maxRaises = 256", 10, "maxRaises"),
        ("raiseSize = 10", "raiseSize = 0", 8, "raiseSize"),
        ("raiseSize = 10", "raiseSize = 2000000000", 8, "a player could put in 6000000210 chips"),
        ("numHoleCards = 2", "numHoleCards = 3", 14, "at most 7 cards"),
        ("numSuits = 4", "numSuits = 4\nstack = 9 500", 7, "a blind of 10 is above"),
        ("LIMIT", "LIMIT\n# equilibrist: rankin = three-card", 5, "did you mean ranking?"),
        ("LIMIT", "LIMIT\n# equilibrist: ranking = four-card", 5, "standard or three-card"),
        ("LIMIT", "LIMIT\n# equilibrist: ranking = three-card", 5, "needs 3 cards"),
        ("LIMIT", "LIMIT\n# equilibrist: discards = 0 1 1", 5, "too few values"),
        ("LIMIT", "LIMIT\n# equilibrist: discards = 0 1 2 0", 5, "0 to 1, not 2"),
        ("end gamedef", "", 17, "ends without END GAMEDEF"),
    ],
)
def test_a_malformed_definition_names_line_and_key(
    old: str, new: str, line: int, words: str
) -> None:
    assert old in HOLDEM
    text = HOLDEM.replace(old, new, 1)
    if old == "end gamedef":
        text = text.replace("anything may follow", "")
    with pytest.raises(GameFileError) as caught:
        parse_rules(text)
    assert words in str(caught.value)
    assert f"line {line}" in str(caught.value)
    assert caught.value.position == line


@pytest.mark.parametrize("key", ["numPlayers", "numrounds", "blind", "numSuits", "numBoardCards"])
def test_a_missing_key_is_named(key: str) -> None:
    text = "\n".join(line for line in HOLDEM.splitlines() if not line.startswith(key))
    with pytest.raises(GameFileError, match=f"(?i)has no {key}"):
        parse_rules(text)


def test_the_kind_of_betting_is_required() -> None:
    with pytest.raises(GameFileError, match="neither limit nor nolimit"):
        parse_rules(HOLDEM.replace("LIMIT\n", ""))


def test_no_limit_needs_stacks_and_no_raise_sizes() -> None:
    with pytest.raises(GameFileError, match="needs 0 values"):
        parse_rules(HOLDEM.replace("LIMIT", "nolimit"))
    text = HOLDEM.replace("LIMIT", "nolimit").replace("raiseSize = 10 10 20 20", "")
    with pytest.raises(GameFileError, match="no-limit betting needs a stack"):
        parse_rules(text)


@pytest.mark.parametrize("text", ["", "\n\n", "# nothing\n", "GAMEDEF", "GAMEDEF\nlimit\n"])
def test_an_unfinished_definition_is_refused(text: str) -> None:
    with pytest.raises(GameFileError, match="END GAMEDEF"):
        parse_rules(text)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(GameFileError, match=r"cannot read .*nowhere\.game"):
        read_rules(tmp_path / "nowhere.game")
    with pytest.raises(GameFileError, match="cannot read"):
        read_rules(tmp_path)
    binary = tmp_path / "binary.game"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(GameFileError, match="not a text file"):
        read_rules(binary)


@pytest.mark.parametrize(
    "change",
    [
        {"blinds": (1,)},
        {"blinds": (1,) * 11},
        {"blinds": (1, -1)},
        {"blinds": (1, 1.5)},
        {"blinds": (0, 2**31)},
        {"stacks": (0, 5)},
        {"stacks": (5, 5, 5)},
        {"raise_sizes": (2,)},
        {"max_raises": (2, -1)},
        {"first_players": (0, 2)},
        {"num_board_cards": ()},
        {"num_board_cards": (0, 1, 1)},
        {"num_hole_cards": 0},
        {"num_hole_cards": 3},
        {"num_suits": 5},
        {"num_ranks": 2, "num_suits": 1},
        {"rollout_cards": 7},
        {"discards": (True, True)},
        {"betting": "pot-limit"},
        {"name": ""},
        {"name": "two\nlines"},
    ],
)
def test_impossible_rules_are_refused(change: dict[str, object]) -> None:
    with pytest.raises(InvalidValueError):
        replace(get_game("leduc"), **change)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("change", "limits"),
    [
        ({"blinds": (1, -1)}, "0 to 2147483647, not -1"),
        ({"stacks": (0, 5)}, "1 to 2147483647, not 0"),
        ({"raise_sizes": (2, 0)}, "1 to 2147483647, not 0"),
        ({"max_raises": (2, -1)}, "0 to 255, not -1"),
        ({"first_players": (0, 2)}, "0 to 1, not 2"),
        ({"num_board_cards": (0, 8)}, "0 to 7, not 8"),
        ({"num_suits": 5}, "1 to 4, not 5"),
        ({"num_ranks": 14}, "1 to 13, not 14"),
        ({"num_hole_cards": 8}, "1 to 7, not 8"),
        ({"rollout_cards": 8}, "0 to 7, not 8"),
    ],
)
def test_numbers_out_of_range_are_refused_with_the_range(
    change: dict[str, object], limits: str
) -> None:
    with pytest.raises(
        InvalidValueError, match=f"{next(iter(change))} must contain whole numbers {limits}"
    ):
        replace(get_game("leduc"), **change)  # type: ignore[arg-type]


def test_rules_are_values() -> None:
    leduc = get_game("leduc")
    assert leduc == parse_rules(rules_text(leduc))
    assert len({leduc, parse_rules(rules_text(leduc))}) == 1
    assert all(field.name in repr(leduc) for field in fields(leduc))


def test_a_game_may_be_called_standard() -> None:
    rules = replace(get_game("leduc"), name="standard")
    assert parse_rules(rules_text(rules)) == rules


@pytest.mark.parametrize("path", ["a\0b.game", "\ud800.game"])
def test_a_path_that_no_file_can_have(path: str) -> None:
    with pytest.raises(GameFileError, match="cannot read"):
        read_rules(path)


names = st.text(max_size=20).filter(
    lambda text: text and text.isprintable() and "#" not in text and text == text.strip()
)


@given(names | st.sampled_from(["standard", "limit", "0", "= x", "name", "GAMEDEF", "END GAMEDEF"]))
def test_every_name_reads_back(name: str) -> None:
    rules = replace(get_game("leduc"), name=name)
    assert parse_rules(rules_text(rules)) == rules


def test_a_file_that_is_too_long_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "long.game").write_text(rules_text(get_game("leduc")))
    monkeypatch.setattr("equilibrist.games.files.MOST_CHARACTERS", 100)
    with pytest.raises(GameFileError, match="longer than 100 characters"):
        read_rules(tmp_path / "long.game")


@pytest.mark.parametrize("word", ["limit", "end gamedef"])
def test_our_comments_hold_only_our_keys(word: str) -> None:
    text = rules_text(get_game("kuhn")).replace("limit\n", f"# equilibrist: {word}\nlimit\n", 1)
    with pytest.raises(GameFileError, match="unknown key"):
        parse_rules(text)


def test_a_byte_order_mark_is_ignored(tmp_path: Path) -> None:
    path = tmp_path / "kuhn.game"
    path.write_text("\ufeff" + rules_text(get_game("kuhn")), encoding="utf-8")
    assert read_rules(path) == get_game("kuhn")

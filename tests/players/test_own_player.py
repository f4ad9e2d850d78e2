"""Players that users write: objects with one method, classes in files."""

import pytest

from equilibrist.errors import EquilibristError, InvalidValueError, ParseError
from equilibrist.games.catalog import get_game
from equilibrist.play.match import play_match
from equilibrist.players.catalog import make_player

CALLER = """
from dataclasses import dataclass
from equilibrist.games.action import CALL

@dataclass
class Caller:
    def act(self, view):
        return CALL

class Knowing:
    name = "knowing"
    def __init__(self, rules):
        self.rules = rules
    def act(self, view):
        return CALL

class Mute:
    pass

number = 3
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(CALLER)
    return path


def test_a_class_in_a_file_plays_as_always_call_does(file):
    leduc = get_game("leduc")
    mine, other = make_player(f"{file}:Caller", leduc), make_player("always-raise", leduc)
    known = make_player("always-call", leduc)
    found = play_match(leduc, (mine, other), 200, seed=5)
    expected = play_match(leduc, (known, other), 200, seed=5)
    assert found.names == ("Caller", "always-raise")
    assert found.chips.tolist() == expected.chips.tolist()


def test_a_class_may_take_the_rules(file):
    leduc = get_game("leduc")
    assert make_player(f"{file}:Knowing", leduc).name == "knowing"


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("{}", ParseError, "write the class behind the file"),
        ("{}:not a name", ParseError, "write the class behind the file"),
        ("{}:Nobody", InvalidValueError, "has no class Nobody"),
        ("{}:number", InvalidValueError, "has no class number"),
        ("{}:Mute", InvalidValueError, "Mute has none"),
        ("nowhere.py:Caller", InvalidValueError, "there is no file nowhere.py"),
    ],
)
def test_other_texts_give_one_sentence(file, text, error, words):
    with pytest.raises(error, match=words):
        make_player(text.format(file), get_game("kuhn"))


def test_a_file_that_fails_names_its_error(tmp_path):
    path = tmp_path / "broken.py"
    path.write_text("1 / 0")
    with pytest.raises(EquilibristError, match="ZeroDivisionError"):
        make_player(f"{path}:Caller", get_game("kuhn"))

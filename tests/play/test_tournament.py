"""Cross tables and rankings, compared with ones computed by hand; invalid files."""

import numpy as np
import pytest

from equilibrist.errors import InvalidValueError, ParseError, UnknownNameError
from equilibrist.play.tournament import CrossTable, Tournament, play_tournament, read_tournament

GOOD = 'game = "leduc"\nplayers = ["always-call", "always-fold", "always-raise"]\nhands = 40\n'


def write(folder, text):
    path = folder / "cup.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_all_pairs_play_and_the_table_is_antisymmetric(tmp_path):
    shares = []
    table = play_tournament(read_tournament(write(tmp_path, GOOD)), shares.append)
    off = ~np.eye(3, dtype=bool)
    assert np.isnan(table.rates[~off]).all()
    assert (table.rates == -table.rates.T)[off].all()
    assert table.rates[1, 2] == -1  # one ante per hand
    assert shares[-1] == 1


def test_instant_runoff_takes_out_the_smallest_bankroll_again_and_again():
    # d is everybody's victim; a lives off d alone and goes as soon as d is gone.
    rates = np.array(
        [
            [np.nan, -1, -2, 9],
            [1, np.nan, -1, 1],
            [2, 1, np.nan, 0],
            [-9, -1, 0, np.nan],
        ]
    )
    table = CrossTable(tuple("abcd"), rates, np.zeros_like(rates))
    assert table.bankroll_ranking() == [0, 2, 1, 3]
    assert table.runoff_ranking() == [2, 1, 0, 3]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (GOOD.replace("hands", "hand"), "did you mean hands"),
        (GOOD.replace("hands = 40\n", ""), "has no hands"),
        (GOOD.replace("40", '"40"'), "hands must be a whole number"),
        (GOOD + "duplicate = 1\n", "duplicate must be true or false"),
        ("game = \n", "is not TOML"),
        (GOOD.replace('"always-fold"', "7"), "players must be a list of texts"),
        (GOOD + "seed = " + "9" * 5000 + "\n", "has a number of more digits than can be read"),
        (GOOD + "duplicate = [0x" + "f" * 9999 + "]\n", "true or false, not a huge value"),
        (GOOD + "x = " + "[" * 50_000 + "\n", "nested too deeply"),
        (GOOD + "x = " + "{a=" * 50_000 + "\n", "nested too deeply"),
        (GOOD + "a." * 400_000 + "a = 1\n", "dotted name"),
        (GOOD + '"a" . ' * 100_000 + "a = 1\n", "dotted name"),
        (GOOD + "a" * 999_990 + " = 1\n", "longer than 1,000,000 characters"),
        (GOOD + "a" * 90_000 + " = 1\n", "unknown entry 'aaaa"),
    ],
)
def test_an_invalid_file_is_refused_with_a_reason(tmp_path, text, words):
    with pytest.raises(ParseError, match=words):
        read_tournament(write(tmp_path, text))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ParseError, match="cannot read"):
        read_tournament(tmp_path / "none.toml")


def test_wrong_players_are_refused_before_the_first_hand():
    with pytest.raises(InvalidValueError, match="2 to 1,000 players, not 1"):
        Tournament("leduc", ("always-call",), 10)
    many = tuple(f"mix:0,{n}e-9,{1 - n * 1e-9!r}" for n in range(30_000))
    with pytest.raises(InvalidValueError, match="2 to 1,000 players, not 30,000"):
        Tournament("leduc", many, 10)
    with pytest.raises(InvalidValueError, match=r"a seed is .* not a huge number"):
        Tournament("leduc", ("always-call", "uniform"), 10, seed=10**5000)
    with pytest.raises(InvalidValueError, match=r"number of hands is .* not a huge number"):
        Tournament("leduc", ("always-call", "uniform"), 10**5000)
    with pytest.raises(InvalidValueError, match="twice"):
        Tournament("leduc", ("always-call", "always-call"), 10)
    with pytest.raises(UnknownNameError):
        play_tournament(Tournament("leduc", ("always-call", "allways-cool"), 10))

"""`equilibrist flops`: solving, showing, grouping, resuming, complaining."""

import csv
import json

import pytest

GAME = """GAMEDEF
nolimit
numPlayers = 2
numRounds = 4
stack = 20000 20000
blind = 100 50
firstPlayer = 2 1 1 1
numSuits = 4
numRanks = 5
numHoleCards = 2
numBoardCards = 0 3 1 1
END GAMEDEF
"""


@pytest.fixture
def options(tmp_path):
    """Options of a small situation, of the cards from ten to ace."""
    path = tmp_path / "royal.game"
    path.write_text(GAME)
    return [
        "--game", path, "--oop", "AQ,JJ,KTs", "--ip", "KK,QJs,AT:0.5", "--pot", "40",
        "--stack", "60", "--bets", "50% / a / a", "--raises", "a",
    ]  # fmt: skip


def test_flops_are_solved_reported_shown_again_and_continued(answer, run, options, tmp_path):
    out, table = tmp_path / "study", tmp_path / "flops.csv"
    few = [*options, "--flops", "3", "--iterations", "20", "--out", out]
    found = answer("flops", *few, "--node", "c", "--by", "suits", "--csv", table)
    assert len(found["flops"]) == 3
    assert sum(row["weight"] for row in found["flops"]) == pytest.approx(1)
    assert sum(group["weight"] for group in found["groups"]) == pytest.approx(1)
    assert found["mean"]["ev_oop"] + found["mean"]["ev_ip"] == pytest.approx(40)
    assert found["subset_equity"] == pytest.approx(found["mean"]["equity_oop"])
    assert abs(found["subset_equity"] - found["all_equity"]) < 0.05
    with table.open() as file:
        rows = list(csv.DictReader(file))
    assert [row["flop"] for row in rows] == [row["flop"] for row in found["flops"]]
    assert float(rows[0]["c r20"]) == pytest.approx(found["flops"][0]["c r20"])
    shown = answer("flops", out, "--node", "c", "--by", "suits")
    assert shown == found
    text = run("flops", out, "--node", "c").stdout
    assert max(map(len, text.splitlines())) <= 80
    assert "in position after c:" in text
    assert "points" in text
    refused = run("flops", *few)
    assert (refused.returncode, "--resume" in refused.stderr) == (2, True)
    again = answer("flops", *few, "--resume", "--node", "c", "--by", "suits")
    assert again == found
    more = answer("flops", out, "--iterations", "40")
    assert [row["iterations"] for row in more["flops"]] == [40] * 3
    spot = answer("spot", out / found["flops"][0]["flop"])
    assert spot["iterations"] == 40
    assert answer("verify", out)["kind"] == "flops"


def test_flops_have_the_menu_and_the_rake_of_a_spot(answer, run, options, tmp_path):
    out = tmp_path / "study"
    money = ["--pot", "5.5bb", "--stack", "9bb,12bb", "--rake", "5%", "--rake-cap", "3bb"]
    menu = ["--bets", "50%", "--donks", "-", "--merge", "10%", "--min-bet", "2bb"]
    menu += ["--add-all-in", "150%", "--force-all-in", "20%"]
    few = [*options, *money, *menu, "--flops", "AsKdTc,QsJhTh", "--iterations", "20"]
    solved = run("flops", *few, "--out", out)
    assert "1/2 AsKdTc: mean gain by deviating " in solved.stderr
    assert "pot 5.5 bb, 9 bb behind (the effective stack of 9 and 12), rake 5% up to 3 bb" in (
        " ".join(solved.stdout.split())
    )
    assert "gain %" in solved.stdout
    assert "expl" not in solved.stdout + solved.stderr
    found = answer("flops", out)
    assert (found["unit"], found["pot"], found["rake"], found["rake_cap"]) == (
        "bb", 5.5, "5%", "3bb",
    )  # fmt: skip
    assert found["menu"].endswith("donks - / -; add all-in 150%; force all-in 20%; merge 10%")
    for row in (*found["flops"], found["mean"]):
        house = row["expected_rake"]
        assert row["ev_oop"] + row["ev_ip"] + house == pytest.approx(5.5, abs=1e-4)
        assert 0.05 * 5.5 - 1e-6 <= house <= 3
        assert row["percent_of_pot"] == pytest.approx(100 * row["exploitability"] / 5.5, rel=1e-3)
    alone = answer("spot", out / "AsKdTc")
    assert alone["menu"] == found["menu"]
    assert alone["expected_rake"] == found["flops"][0]["expected_rake"]


def test_progress_goes_to_stderr(run, options):
    result = run("flops", *options, "--flops", "AsKdTc,QsJhTh", "--iterations", "2", "--json")
    assert json.loads(result.stdout)["out"] is None
    assert "1/2" in result.stderr
    assert "left" in result.stderr
    assert "points" in result.stderr


def test_a_picture_is_drawn(answer, options, tmp_path):
    pytest.importorskip("matplotlib")
    few = ["--flops", "AsKdTc,QsJhTh", "--iterations", "2"]
    for name in ("flops.png", "flops.svg"):
        answer("flops", *options, *few, "--node", "r20", "--plot", tmp_path / name)
        assert (tmp_path / name).stat().st_size > 1000


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--flops", "0"], "must be 1 to"),
        (["--flops", "-3"], "not a card"),
        (["--flops", "AsKdTc,TcAsKd"], "the same flop up to suits"),
        (["--flops", "AsKdTc:0"], "above zero"),
        (["--flops", "AsKdTc:1,QsJhTh"], "every flop a weight"),
        (["--flops", ""], "the list of flops is empty"),
        (["--flops", "AsKd"], "three"),
        (["--flops", "AsKd2c"], "2c is not in the deck"),
        (["--flops", "missing.txt"], "No such file"),
        (["--node", "x"], "not a node"),
        (["--node", "cc/"], "not a decision on the flop"),
        (["--by", "colour"], "suits, pairs, high"),
        (["--to", "much"], "a number with a unit"),
        (["--iterations", "0"], "above zero"),
        (["--oop", "AhKh", "--ip", "AhQh"], "shares a card"),
        (["--oop", "JsJh", "--flops", "AsKdTc,JsKhTd"], "no hands of the ranges can meet"),
        (["--resume"], "--resume needs --out"),
        (["--oop", ""], "--oop is missing"),
        (["--palette", "grey"], "--palette must be"),
        (["--limit"], "leave out --limit or --game"),
        (["--donks", "x"], "'x' at character 1 of 'x' is not a bet size"),
        (["--rake-cap", "3"], "the cap of the rake, 3, needs a rake"),
    ],
)
def test_bad_input_is_one_sentence(run, options, words, message):
    result = run("flops", *options, *words)
    assert result.returncode == 2
    assert message in result.stderr
    assert result.stdout == ""


def test_a_folder_defines_its_flops(run, options, tmp_path):
    refused = run("flops", tmp_path, *options).stderr
    assert "already says what is solved and how: leave out --oop and --ip and --pot" in refused
    for flag in ("--method", "--rake", "--flops", "--out"):
        assert f"leave out {flag}" in run("flops", tmp_path, flag, "5%").stderr
    assert run("flops", tmp_path / "missing").returncode == 2

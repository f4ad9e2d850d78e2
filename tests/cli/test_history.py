"""`log` as its users meet it."""

import json
import os
import subprocess
import sys

import pytest

from equilibrist.games.catalog import get_game
from equilibrist.games.match_log import read_log


@pytest.fixture
def match(answer, tmp_path):
    path = tmp_path / "match.log"
    data = answer("match", "uniform", "always-call", "--hands", 40, "--seed", 3, "--log", path)
    return path, data


def test_a_log_says_what_the_match_said(match, answer, run):
    path, played = match
    data = answer("log", path)
    for field in ("win_rate", "standard_error", "ci95", "unit", "hands", "seed"):
        assert data[field] == pytest.approx(played[field])
    assert (data["format"], data["finished"], data["rest"]) == ("ACPC", True, "")
    assert data["players"] == ["uniform", "always-call"]
    assert tuple(data["score"]) == read_log(get_game("holdem-limit"), path).score
    text = run("log", path).stdout
    assert "ACPC, holdem-limit, 40 hands" in text
    assert data["verdict"] in text


def test_a_log_cut_in_the_middle_of_a_hand_keeps_its_whole_hands(match, answer, run):
    path, _ = match
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:18]) + lines[18][:20])
    data = answer("log", path)
    assert (data["hands"], data["finished"]) == (17, False)
    assert data["rest"].startswith("the log ends early: line 19")
    result = run("log", path)
    assert result.returncode == 0
    assert data["rest"] in result.stdout


def test_one_history_and_none(answer, tmp_path):
    folder = tmp_path / "hands"
    answer("match", "uniform", "always-call", "--hands", 1, "--phh", folder)
    data = answer("log", folder / "0-0000000.phh")
    assert (data["format"], data["hands"], data["ci95"]) == ("PHH", 1, None)
    text = (folder / "0-0000000.phh").read_text()
    (folder / "0-0000000.phh").write_text(text[:-60])
    assert answer("log", folder, "--game", "holdem-limit")["hands"] == 0


def test_deals_are_checked_against_the_seed(match, run, answer):
    path, _ = match
    assert "all deals match seed 3" in run("log", path, "--replay").stdout
    assert answer("log", path, "--replay")["replayed"] is True
    path.write_text(path.read_text().replace(" 40 3\n", " 40 4\n"))
    wrong = run("log", path, "--replay")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "seed 4 deals" in wrong.stderr
    path.write_text(path.read_text().replace(" 40 4\n", " 40 " + "?" * 39 + "\n"))
    assert "does not state the seed" in run("log", path, "--replay").stderr
    assert answer("log", path)["seed"] is None


def test_names_beyond_ascii_are_read_whatever_the_locale(match):
    path, _ = match
    text = path.read_text().replace("uniform", "Zoë♠").replace("always-call", "Łukasz")
    path.write_text(text, encoding="utf-8")
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    program = "from equilibrist.cli import main; main()"
    result = subprocess.run(
        [sys.executable, "-c", program, "log", str(path), "--json"],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["players"] == ["Zoë♠", "Łukasz"]


@pytest.mark.parametrize(
    ("text", "words"),
    [("", "does not say which game"), ("STATE:0:x", "does not say which game")],
)
def test_wrong_input_gives_one_sentence(run, tmp_path, text, words):
    path = tmp_path / "bad.log"
    path.write_text(text)
    result = run("log", path)
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert words in result.stderr
    assert "cannot read" in run("log", tmp_path / "none.log").stderr

"""`players`, `match` and `tournament` as their users meet them."""

import errno
import importlib.util
import os
from pathlib import Path

import pytest

from equilibrist.games.catalog import get_game
from equilibrist.games.match_log import read_log
from equilibrist.games.phh import read_phh
from equilibrist.storage import output_file


def test_players_are_listed_with_their_options(run, answer):
    names = {row["name"]: row["options"] for row in answer("players")["players"]}
    assert names["always-call"] == ""
    assert names["mix"] == "FOLD,CALL,RAISE"
    assert "mix:FOLD,CALL,RAISE" in run("players").stdout


def test_a_match_says_rate_interval_and_verdict(answer):
    data = answer("match", "always-fold", "always-raise", "--hands", 20, "--duplicate")
    assert (data["win_rate"], data["unit"], data["standard_error"]) == (-750, "mbb/g", 0)
    assert (data["ci95"], data["hands"], data["samples"]) == ([-750, -750], 20, 10)
    assert data["sb_per_hand"] == -0.75
    assert data["verdict"].startswith("always-raise beats always-fold by 750.000 ± 0.000 mbb/g")


def test_the_interval_is_that_of_the_samples(answer, tmp_path):
    log = tmp_path / "match.log"
    data = answer("match", "uniform", "always-call", "--hands", 50, "--seed", 3, "--log", log)
    hands = read_log(get_game("holdem-limit"), log).hands
    won = [100 * float(hand.payoffs[hand.names.index("uniform")]) for hand in hands]
    mean = sum(won) / 50
    error = (sum((x - mean) ** 2 for x in won) / 49 / 50) ** 0.5
    assert data["win_rate"] == pytest.approx(mean)
    assert data["standard_error"] == pytest.approx(error)
    student = 2.009575  # 97.5 % of Student's distribution with 49 degrees of freedom, by table
    assert data["ci95"] == pytest.approx([mean - student * error, mean + student * error])
    assert data["standard_deviation"] == pytest.approx(error * 50**0.5)


def test_the_text_says_the_same(run):
    text = run("match", "always-call", "uniform", "--hands", 20, "--game", "leduc").stdout
    assert "chips" in text.splitlines()[0]
    assert "leduc, 20 hands, seed 0" in text


def test_a_duplicate_match_writes_both_runs(answer, tmp_path):
    log, folder = tmp_path / "match.log", tmp_path / "hands"
    data = answer("match", "uniform", "always-call", "--hands", 6, "--duplicate", "--postflop",
                  "--log", log, "--phh", folder)  # fmt: skip
    assert [read_log(get_game("holdem-limit"), path).seats for path in data["log"]] == [
        ("uniform", "always-call"),
        ("always-call", "uniform"),
    ]
    assert data["log"][1].endswith("match.swapped.log")
    assert len(list(folder.iterdir())) == 6
    assert read_phh(folder / "1-0000002.phh").hand_number == 2


def test_tables_run_compiled_unless_a_log_is_wanted(answer, tmp_path):
    line = ("match", "always-call", "always-raise", "--hands", 40, "--seed", 2)
    tables, views = answer(*line), answer(*line, "--runner", "views")
    assert (tables["runner"], views["runner"]) == ("tables", "views")
    same = ("win_rate", "standard_error", "ci95", "p_value", "verdict", "samples")
    assert [tables[field] for field in same] == [views[field] for field in same]
    assert answer(*line, "--log", tmp_path / "log")["runner"] == "views"
    assert answer(*line, "--game", "holdem-nolimit")["runner"] == "views"
    assert answer(*line, "--matches", 2)["runner"] == "tables"


def test_a_match_stops_when_it_is_decided(run, answer):
    line = ("match", "always-raise", "mix:0.6,0.4,0", "--hands", 50_000, "--until-sure")
    data = answer(*line)
    assert data["sequential"] == {"decided": True, "decided_at": data["sequential"]["decided_at"],
                                  "alpha": 0.05}  # fmt: skip
    assert 100 <= data["sequential"]["decided_at"] <= data["hands"] < 50_000
    assert data["p_value"] < 0.05
    assert 0 < data["ci95"][0] < data["win_rate"] < data["ci95"][1]
    text = run(*line).stdout
    assert text.startswith("always-raise beats mix:0.6,0.4,0 by ")
    assert "always-valid 95 % interval" in text


def test_a_match_that_cannot_be_decided_goes_to_its_end(run, answer):
    line = ("match", "always-call", "always-raise", "--hands", 2000, "--duplicate", "--until-sure")
    data = answer(*line)  # every pair is zero: nothing is known of the spread
    assert (data["hands"], data["p_value"], data["ci95"]) == (2000, 1.0, None)
    assert data["sequential"]["decided"] is False
    assert run(*line).stdout.startswith("no verdict after 2,000 hands")


def test_matches_of_learners_are_listed_one_by_one(answer):
    data = answer("match", "uniform", "always-call", "--hands", 20, "--matches", 3)
    assert (data["hands"], data["samples"], len(data["matches"])) == (60, 3, 3)
    assert data["win_rate"] == pytest.approx(sum(data["matches"]) / 3)
    assert set(data["last_tenth"]) == {"win_rate", "standard_error", "ci95"}


def test_winnings_are_drawn(run, tmp_path):
    picture = tmp_path / "match.png"
    run("match", "uniform", "always-call", "--hands", 10, "--plot", picture)
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_a_tournament_prints_its_table(run, answer, tmp_path):
    file, csv = tmp_path / "cup.toml", tmp_path / "table.csv"
    file.write_text(
        'game = "holdem-limit"\nplayers = ["always-fold", "always-raise", "always-call"]\n'
        "hands = 20\n"
    )
    picture = tmp_path / "table.png"
    data = answer("tournament", file, "--csv", csv, "--plot", picture)
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert data["table"][0][:2] == [None, -750]
    assert data["bankroll_ranking"][0] == "always-raise"
    head, fold, *_ = (line.split(",") for line in csv.read_text().splitlines())
    assert head[:5] == ["", "always-fold", "always-raise", "always-call", "average"]
    assert head[5:] == ["± always-fold", "± always-raise", "± always-call"]
    assert [fold[1], float(fold[2]), fold[5], float(fold[6])] == ["", -750, "", 0]
    assert "instant runoff: always-raise" in run("tournament", file).stdout


def test_a_table_that_could_not_be_written_leaves_the_one_before(run, tmp_path, monkeypatch):
    file, csv = tmp_path / "cup.toml", tmp_path / "table.csv"
    file.write_text('game = "leduc"\nplayers = ["uniform", "always-call"]\nhands = 20\n')
    csv.write_text("precious")

    def broken(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("equilibrist.storage.output_file.os.replace", broken)
    found = run("tournament", file, "--csv", csv)
    assert found.returncode == 2
    assert "No space left on device" in found.stderr
    assert csv.read_text() == "precious"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cup.toml", "table.csv"]


def test_logs_and_histories_are_replaced_only_by_force(run, tmp_path):
    log, swapped, folder = (tmp_path / name for name in ("a.log", "a.swapped.log", "hands"))
    line = ("match", "uniform", "always-call", "--hands", 4)
    assert run(*line, "--duplicate", "--log", log, "--phh", folder).returncode == 0
    before = {path.name: path.read_text() for path in (log, *folder.iterdir())}
    log.unlink()
    for wanted, words in (
        (("--duplicate", "--log", log), "a.swapped.log exists; choose another name, or replace"),
        (("--phh", folder), "hands holds histories; choose another folder, or replace"),
    ):
        result = run(*line, *wanted)
        assert (result.returncode, result.stdout, result.stderr.count("\n")) == (2, "", 1)
        assert words in result.stderr
        assert not log.exists()
        assert swapped.exists()
    other = ("match", "always-raise", "always-call", "--hands", 2, "--seed", 9, "--force")
    assert run(*other, "--log", swapped, "--phh", folder).returncode == 0
    assert "always-raise" in swapped.read_text()
    assert sorted(path.name for path in folder.iterdir()) == ["0-0000000.phh", "0-0000001.phh"]
    assert (folder / "0-0000000.phh").read_text() != before["0-0000000.phh"]
    (folder / "mine.phh").write_text("precious")
    result = run(*other, "--phh", folder)
    assert (result.returncode, "histories that no match wrote" in result.stderr) == (2, True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.swapped.log", "hands"]


def test_a_full_disk_leaves_the_old_log_and_the_report(run, tmp_path, monkeypatch):
    log, folder = tmp_path / "match.log", tmp_path / "hands"
    line = ("match", "uniform", "always-call", "--hands", 4, "--force")
    assert run(*line, "--log", log, "--phh", folder).returncode == 0
    before = {path.name: path.read_text() for path in (log, *folder.iterdir())}
    monkeypatch.setattr(output_file.os, "fsync", _full)
    monkeypatch.setattr(Path, "write_text", _full)
    for wanted in (("--log", log), ("--phh", folder)):
        result = run(*line, "--seed", 3, *wanted)
        assert result.returncode == 2
        assert "leave" not in result.stdout
        assert "4 hands, seed 3" in result.stdout
        assert "No space left on device; existing files are unchanged" in result.stderr
        assert result.stderr.count("\n") == 1
    monkeypatch.undo()
    assert before == {path.name: path.read_text() for path in (log, *folder.iterdir())}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["hands", "match.log"]


def _full(*_, **__):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_given_seed_replaces_that_of_the_file_and_zero_is_a_seed(answer, tmp_path):
    plan = 'game = "leduc"\nplayers = ["uniform", "always-call"]\nhands = 20\n'
    files = {name: tmp_path / f"{name}.toml" for name in ("none", "zero", "five")}
    files["none"].write_text(plan)
    files["zero"].write_text(plan + "seed = 0\n")
    files["five"].write_text(plan + "seed = 5\n")
    found = {name: answer("tournament", file) for name, file in files.items()}
    assert [data["seed"] for data in found.values()] == [0, 0, 5]
    assert found["none"] == found["zero"]
    assert found["zero"]["table"] != found["five"]["table"]
    assert answer("tournament", files["five"], "--seed", 0) == found["zero"]
    assert answer("tournament", files["zero"], "--seed", 5) == found["five"]


@pytest.mark.parametrize("command", ["match uniform always-call --hands 2", "tournament cup.toml"])
def test_a_picture_that_cannot_be_drawn_is_refused_before_the_match(
    run, monkeypatch, tmp_path, command
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cup.toml").write_text('game = "none"\nplayers = ["a", "b"]\nhands = 2\n')
    for name, words in (
        ("no/such.png", "its folder does not exist"),
        ("picture.txt", "file types are "),
        ("x" * 300 + ".png", "File name too long"),
    ):
        result = run(*command.split(), "--plot", name)
        assert (result.returncode, result.stdout) == (2, "")
        assert words in result.stderr
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert "plots need matplotlib" in run(*command.split(), "--plot", "a.png").stderr
    assert not list(tmp_path.glob("*.png"))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("match", "uniform", "uniform", "--log", "x" * 300), "File name too long"),
        (("match", "uniform", "uniform", "--phh", "x" * 300), "File name too long"),
        (("match", "always-cal", "uniform"), "did you mean always-call"),
        (("match", "uniform", "uniform", "--hands", "0"), "from 1 to"),
        (("match", "uniform", "uniform", "--hands", "7", "--duplicate"), "even number, not 7"),
        (("match", "uniform", "uniform", "--game", "ludec"), "did you mean leduc"),
        (("match", "uniform", "uniform", "--log", "no/such/folder.log"), "is not a folder"),
        (("match", "uniform", "uniform", "--matches", "2", "--log", "x.log"), "holds one match"),
        (("match", "mix:1,2,3", "uniform"), "sum to 1"),
        (("match", "poki", "uniform", "--runner", "tables"), "not both tables"),
        (("match", "uniform", "uniform", "--game", "kuhn", "--postflop"), "agreed rounds"),
        (("match", "aadapti", "uniform", "--until-sure"), "aadapti learns"),
        (("match", "uniform", "poki", "--until-sure", "--matches", "2"), "leave out --matches"),
        (("tournament", "none.toml"), "cannot read"),
        (("match", "lbr:" * 20_000, "uniform", "--game", "discard-holdem"), "not to lbr"),
        (("match", "uniform", "uniform", "--hands", "9" * 5000), "--hands"),
        (("match", "uniform", "uniform", "--hands", "9" * 4000), "a huge number"),
    ],
)
def test_wrong_input_gives_one_sentence(run, arguments, words):
    result = run(*arguments)
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert words in result.stderr


def test_a_solution_plays_its_game(run, answer, tmp_path):
    folder = tmp_path / "kuhn"
    assert run("solve", "kuhn", "--iterations", "50", "--out", folder).returncode == 0
    data = answer("match", f"solution:{folder}", "always-call", "--game", "kuhn", "--hands", 20)
    assert (data["game"], data["unit"]) == ("kuhn", "chips")
    wrong = run("match", f"solution:{folder},purify", "always-call", "--game", "leduc")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "kuhn,purify is a strategy for kuhn, not for leduc" in wrong.stderr


def test_aivat_prints_the_win_rate_without_luck_beside_the_plain_one(run, answer):
    line = ("match", "uniform", "always-shove", "--game", "leduc", "--hands", 200, "--seed", 3)
    plain, data = answer(*line), answer(*line, "--aivat")
    assert {name: data[name] for name in plain if name != "seconds"} == {
        name: plain[name] for name in plain if name != "seconds"
    }
    found = data["aivat"]
    assert found["known"] == ["uniform"]
    assert found["corrections"] == ["cards", "actions of uniform", "seats"]
    assert found["unit"] == "chips"
    assert found["ci95"][0] < found["win_rate"] < found["ci95"][1]
    ratio = (data["standard_error"] / found["standard_error"]) ** 2
    assert found["variance_factor"] == pytest.approx(ratio)
    text = run(*line, "--aivat").stdout
    assert "without luck (AIVAT): always-shove beats uniform by" in text
    assert "corrected for: cards, actions of uniform, seats" in text


def test_aivat_of_two_tables_is_exact_also_in_duplicate_and_series(run, answer):
    line = ("match", "uniform", "always-raise", "--game", "kuhn", "--hands", 20, "--aivat")
    found = [answer(*line, *more) for more in ((), ("--duplicate",), ("--matches", 3))]
    # Always-raise against uniform in Kuhn, by hand: as player 0 it bets, and half of all bets are
    # folded; as player 1 it bets after a check, and calls a bet: 0.5 · 1 and 0.5 · (0.5 · 1).
    for data in found:
        assert data["aivat"]["win_rate"] == pytest.approx(-0.375, abs=1e-9)
        assert data["aivat"]["variance_factor"] is None
        assert data["aivat"]["ci95"] == [data["aivat"]["win_rate"]] * 2
    assert "this is the exact expectation" in run(*line).stdout


def test_aivat_works_in_limit_holdem(run, answer):
    line = ("match", "always-call", "poki", "--hands", 60, "--duplicate", "--seed", 3, "--aivat")
    data = answer(*line)
    found = data["aivat"]
    assert found["known"] == ["always-call"]
    assert found["corrections"] == ["cards", "actions of always-call", "seats"]
    assert found["variance_factor"] > 1
    assert found["unit"] == "mbb/g"
    assert "without luck (AIVAT): " in run(*line).stdout
    # Both are known, but the cards of one are taken as seen, so this is no exact expectation.
    text = run("match", "always-call", "uniform", "--hands", 2, "--duplicate", "--aivat").stdout
    assert "corrected for: cards, actions of always-call, actions of uniform, seats" in text
    assert "exact" not in text


def test_aivat_that_cannot_be_computed_is_refused_before_the_match(run):
    for line, words in (
        (("poki", "always-shove", "--aivat"), "neither poki nor always-shove is known"),
        (("poki", "always-call", "--aivat", "--until-sure"), "leave out --matches, --log, --phh"),
        (("always-shove", "always-shove", "--game", "kuhn", "--aivat"), "neither always-shove"),
        (
            ("uniform", "always-call", "--game", "holdem-nolimit", "--aivat"),
            "needs a stored strategy",
        ),
    ):
        result = run("match", *line)
        assert result.returncode == 2
        assert words in result.stderr
        assert result.stdout == ""

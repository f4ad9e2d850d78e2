"""Split games as their user meets them: solved in folders, resumed, exploited and planned."""

import pytest

from equilibrist.cli.split import parse_bytes
from equilibrist.errors import InvalidValueError
from equilibrist.games.catalog import get_game
from equilibrist.models.split import Split
from equilibrist.solving.solve import Budget, solve
from equilibrist.solving.split_run import SplitRun, SplitSettings
from equilibrist.storage.artefact import read_identity

SPLIT = ("solve", "leduc", "--split", "preflop")


def test_a_split_game_is_solved_resumed_and_exploited(answer, run, tmp_path):
    folder = str(tmp_path / "leduc")
    first = answer(*SPLIT, "--iterations", "3", "--store", folder, "--memory", "1MB")
    assert (first["subgames"], first["iterations"], first["actions"]) == (15, 3, 1092)
    assert first["bytes"] > 0
    again = answer(*SPLIT, "--iterations", "6", "--store", folder, "--resume")
    whole = answer(*SPLIT, "--iterations", "6")
    assert again["exploitability"] == whole["exploitability"]
    assert "bytes" not in whole
    found = answer("exploit", folder)
    assert found["matches"] is True
    assert found["exploitability"] == again["exploitability"]
    assert answer("verify", folder)["kind"] == "split run"
    text = run("exploit", folder).stdout
    assert "split after preflop" in text
    assert "matches the certificate" in text


def test_a_run_that_was_killed_after_its_last_evaluation_is_not_called_wrong(run, tmp_path):
    folder = tmp_path / "leduc"
    begun = SplitRun.begin(folder, Split.of(get_game("leduc"), "preflop"), SplitSettings("preflop"))
    trunk = begun.split.trunk
    done = solve(trunk, begun.solver, Budget(iterations=2), run=begun.run(), save=begun.save)
    assert read_identity(folder).info["certificate"]["value"] == done.evaluation.value
    begun.solver.step(trunk, done.state, 1)
    assert "certificate" not in read_identity(folder).info
    found = run("exploit", folder)
    assert (found.returncode, "before iteration 3 was evaluated" in found.stderr) == (2, True)


def test_a_split_game_is_shown_and_played(answer, tmp_path):
    folder = str(tmp_path / "leduc")
    answer(*SPLIT, "--iterations", "50", "--store", folder)
    found = answer("show", folder, "--node", "cc/r", "--board", "Ks")
    assert found["actions"] == ["f", "c", "r"]
    assert [sum(row) for row in found["probabilities"]] == pytest.approx([1] * len(found["hands"]))
    assert found["checked"] == ["checksums of the tables that are read", "schema"]
    match = ("match", f"solution:{folder}", "uniform", "--game", "leduc", "--hands", "2000")
    played = answer(*match, "--duplicate", "--seed", "3")
    assert played["win_rate"] > 0
    assert played["hands"] == 2000


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--split", "flop"), "leduc has 2 rounds, so it cannot be split after flop"),
        (("--split", "river"), "split after preflop or flop, not after 'river'"),
        (("--split", "preflop", "--out", "x"), "takes no --out: use --store"),
        (("--split", "preflop", "--plot", "x.png"), "takes no --plot"),
        (("--split", "preflop", "--device", "gpu"), "takes no --device"),
        (("--store", "y"), "--store needs --split"),
        (("--bits", "16"), "--bits needs --split"),
        (("--current",), "--current needs --split"),
        (("--split", "preflop", "--resume"), "--resume needs --store"),
        (("--split", "preflop", "--memory", "1GB"), "--memory and --compress need --store"),
        (("--split", "preflop", "--bits", "8"), "16, 32 or 64 bits, not 8"),
        (("--split", "preflop", "--method", "egt"), "not egt"),
        (("--split", "preflop", "--compress", "gzip", "--store", "y"), "raw or zstd, not 'gzip'"),
        (("--split", "preflop", "--memory", "lots", "--store", "y"), "a size such as 4GB"),
    ],
)
def test_options_that_do_not_fit_are_refused(run, tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    result = run("solve", "leduc", "--iterations", "2", *arguments)
    assert result.returncode == 2
    assert words in result.stderr
    assert not list(tmp_path.iterdir())


def test_folders_of_other_runs_are_refused(run, answer, tmp_path):
    folder = str(tmp_path / "leduc")
    answer(*SPLIT, "--iterations", "1", "--store", folder)
    for arguments, words in (
        (SPLIT, "--resume to continue it"),
        ((*SPLIT, "--resume", "--bits", "16"), "was started with bits 64, not 16"),
        (("solve", "leduc", "--split", "preflop", "--max-raises", "1 1", "--resume"), "game"),
        (("solve", "leduc", "--resume", "--out", folder, "--iterations", "2"), "split run"),
    ):
        store = () if "--out" in arguments else ("--store", folder)
        result = run(*arguments, "--iterations", "2", *store)
        assert result.returncode == 2, arguments
        assert words in result.stderr
    assert answer("exploit", folder)["iterations"] == 1


def test_a_game_that_fits_on_no_disk_is_refused_with_advice(run, tmp_path):
    result = run("solve", "holdem-limit", "--split", "flop", "--store", tmp_path / "x")
    assert result.returncode == 2
    assert "needs on the disk 534,7" in result.stderr
    assert not list(tmp_path.iterdir())


def test_a_plan_of_hold_em_stands_beside_cepheus(answer, run):
    arguments = ("--nodes", "200", "--cores", "24", "--bits", "16", "--current")
    found = answer("plan", "holdem-limit", *arguments)
    assert (found["subgames"], found["actions"]) == (110_565, 35_888_449_446_577)
    assert found["cepheus"]["core_years"] == 900
    assert found["bytes"] == 2 * found["actions"]
    assert "1,579" in run("plan", "holdem-limit").stdout
    royal = answer("plan", "royal-holdem", "--compress", "zstd")
    assert (royal["actions"], royal["cepheus"]) == (20_783_783_545, None)
    assert royal["network_bytes_per_iteration"] == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--nodes", "0"), "nodes must be above zero"),
        (("--disk", "fast"), "--disk must be a size such as 4GB"),
        (("--bits", "12"), "--bits must be 16, 32 or 64, not 12"),
        (("--iterations", "0"), "--iterations must be at least 1"),
        (("--split", "turn"), "split after preflop or flop"),
        (("--compress", "lzma"), "--compress must be raw or zstd"),
    ],
)
def test_plans_of_nonsense_are_refused(run, arguments, words):
    result = run("plan", "royal-holdem", *arguments)
    assert result.returncode == 2
    assert words in result.stderr


@pytest.mark.parametrize("text", ["", "GB", "-4GB", "1e400", "0", "4 XB", "nan"])
def test_sizes_that_are_none_are_refused(text):
    with pytest.raises(InvalidValueError, match="a size such as 4GB"):
        parse_bytes(text, "--memory")

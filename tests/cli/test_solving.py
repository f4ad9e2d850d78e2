"""Solving as its user meets it: commands, saved solutions, resumed and killed runs."""

import json
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from equilibrist.cli.runs import default_evaluate_every
from equilibrist.games.catalog import get_game
from equilibrist.games.rules import rules_text
from equilibrist.solving.cfr import CFR
from equilibrist.solving.methods import METHODS
from equilibrist.storage.artefact import Header, open_artefact, write_artefact
from equilibrist.strategies.solution import Solution


def test_a_solution_is_saved_exploited_shown_and_verified(answer, run, tmp_path):
    folder = str(tmp_path / "leduc")
    solved = answer("solve", "leduc", "--iterations", "300", "--out", folder)
    assert solved["unit"] == "chips"
    assert solved["iterations"] == 300
    assert abs(solved["value"] - -0.085606424078) <= solved["nash_conv"]
    checked = answer("exploit", folder)
    assert checked["matches"] is True
    assert checked["checked"] == ["checksums", "schema", "certificate"]
    assert checked["exploitability"] == pytest.approx(solved["exploitability"])
    table = answer("show", folder, "--node", "cc/r", "--board", "Ks")
    assert table["actions"] == ["f", "c", "r"]
    assert np.sum(table["probabilities"], axis=1) == pytest.approx(np.ones(3))
    assert table["checked"] == ["checksums", "schema"]
    verified = answer("verify", folder)
    assert (verified["kind"], verified["checked"]) == ("solution", ["checksums", "schema"])
    assert "checksums detect damage, not forgery" in run("verify", folder).stdout
    assert "(all checksums match)" in run("exploit", folder).stdout
    assert "(all checksums match)\nhand" in run("show", folder).stdout


def test_a_resumed_run_has_the_numbers_of_one_never_stopped(answer, tmp_path):
    once, twice = str(tmp_path / "once"), str(tmp_path / "twice")
    answer("solve", "kuhn", "--iterations", "60", "--out", once)
    answer("solve", "kuhn", "--iterations", "25", "--out", twice)
    answer("solve", "kuhn", "--iterations", "60", "--out", twice, "--resume")
    first, second = Solution.load(once), Solution.load(twice)
    assert all((first.state[name] == second.state[name]).all() for name in first.state)


@pytest.mark.parametrize("method", ["cfr", "dcfr", "egt", "lp", "double-oracle", "range-of-skill"])
def test_every_method_solves_kuhn_from_the_command_line(answer, method):
    data = answer("solve", "kuhn", "--method", method, "--iterations", "200")
    assert abs(data["value"] - -1 / 18) <= data["nash_conv"] + 1e-9
    assert data["exploitability"] < 0.05


def test_the_range_of_skill_reports_its_list_and_what_it_proves_of_the_game(answer, run):
    data = answer("solve", "kuhn", "--method", "range-of-skill", "--to", "0.1")
    skill, table = data["skill"], np.array(data["skill"]["table"])
    # Definition 1, read off the table: everybody on the list beats all before by more than ε.
    ranked = [i - 1 for i in skill["ranked"]]
    assert skill["epsilon"] == 0.1
    assert skill["lower_bound"] == len(ranked) == 5
    assert all(table[i, j] > 0.1 for i in ranked for j in ranked if i > j)
    assert table == pytest.approx(-table.T, abs=1e-12)
    assert skill["gains"] == [
        None, *(pytest.approx(table[i, :i].min()) for i in range(1, len(table)))
    ]  # fmt: skip
    # Theorem 1: no more responses than the range of skill; the last one joined, and is no longer ε.
    assert data["iterations"] == skill["lower_bound"] == len(table) - 1
    assert skill["gains"][-1] <= 0.1
    assert sum(skill["weights"]) == pytest.approx(1)
    text = run("solve", "kuhn", "--method", "range-of-skill", "--to", "0.1")[1]
    assert "ROS_ε ≥ 5" in text
    assert "ε = 0.1 chips" in text
    assert f"{table[3, 1]:9.3g}" in text


def test_a_long_list_is_cut_in_the_middle_and_whole_in_json(answer, run):
    text = run("solve", "kuhn", "--method", "range-of-skill")[1]
    assert len(answer("solve", "kuhn", "--method", "range-of-skill")["skill"]["table"]) > 20
    assert text.count("…") > 2
    assert max(map(len, text.splitlines()[1:-1])) <= 80


def test_a_target_may_have_a_unit_which_is_printed(answer, run, tmp_path):
    rules = replace(get_game("kuhn"), name="blinds", blinds=(2, 1), raise_sizes=(2,))
    path = tmp_path / "blinds.game"
    path.write_text(rules_text(rules))
    data = answer("solve", path, "--to", "5mbb")
    assert data["mbb/g"] <= 5
    assert (data["target"], data["to"]) == (0.01, "5mbb")
    same = answer("solve", path, "--to", "0.01")
    assert same["iterations"] == data["iterations"]
    assert (same["target"], same["to"]) == (0.01, "0.01chips")
    shown = run("solve", path, "--to", "5mbb")
    assert "cfr+: target 0.01 chips (5 mbb/g)\n" in shown.stderr
    assert shown.stdout.endswith("the target is reached; target 0.01 chips (5 mbb/g)\n")
    without = answer("solve", "kuhn", "--iterations", "3")
    assert (without["target"], without["to"]) == (None, None)
    text = run("compare", path, "--methods", "cfr+", "--to", "0.2 chips").stdout
    assert text.splitlines()[0].endswith("information sets, target 0.2 chips")


def test_methods_are_compared_and_drawn(answer, tmp_path):
    picture = tmp_path / "kuhn.png"
    data = answer(
        "compare", "kuhn", "--methods", "cfr+,lp", "--seconds", "0.2", "--plot", str(picture)
    )
    assert [row["method"] for row in data["rows"]] == ["cfr+", "lp"]
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_a_truncated_array_is_refused_by_name(answer, run, tmp_path):
    folder = tmp_path / "kuhn"
    answer("solve", "kuhn", "--iterations", "5", "--out", str(folder))
    (array,) = folder.glob("plan0-*.npy")
    array.write_bytes(array.read_bytes()[:-8])
    code, out, err = run("exploit", str(folder))
    assert (code, out) == (2, "")
    assert array.name in err


BAD = [
    (("solve", "kuhn", "--method", "cfrr"), "did you mean cfr"),
    (("solve", "kuhn", "--iterations", "0"), "iterations must be above zero"),
    (("solve", "kuhn", "--iterations", "-3"), "iterations must be above zero"),
    (("solve", "rhode-island", "--iterations", "0"), "iterations must be above zero"),
    (("solve", "kuhn", "--every", "0"), "every must be above zero"),
    (("solve", "kuhn", "--seconds", "nan"), "seconds must be above zero"),
    (("solve", "kuhn", "--plot", "no-such-folder/plot.png"), "folder does not exist"),
    (("solve", "kuhn", "--to", "0"), "target must be above zero"),
    (("solve", "kuhn", "--to", "inf", "--method", "range-of-skill"), "target must be above zero"),
    (("solve", "kuhn", "--to", "5 mb"), "a number with a unit, such as 5mbb, 0.3% of the pot"),
    (("solve", "kuhn", "--to", "5mbb"), "kuhn has no big blind in which 5mbb could be counted"),
    (("compare", "leduc", "--to", "1%"), "leduc starts without a pot of which 1% could be a share"),
    (("solve", "kuhn", "--dtype", "float16"), "float32 or float64"),
    (("solve", "kuhn", "--symmetry", "colours"), "cards, suits, ranks"),
    (("solve", "kuhn", "--resume"), "--resume needs --out"),
    (("solve", "holdem-limit"), "GiB"),
    (("solve", "discard-holdem", "--bets", "a"), "discards"),
    (("exploit", "no-such-folder"), "no-such-folder"),
    (("verify", "no-such-folder"), "no-such-folder"),
    (("compare", "kuhn", "--methods", "cfr+,magic"), "magic"),
    (("compare", "kuhn", "--methods", ""), "methods: cfr"),
    (("compare", "kuhn", "--seconds", "0"), "seconds must be above zero"),
    (("reproduce", "psoptimal"), "psopti"),
]


@pytest.mark.parametrize(("command", "words"), BAD, ids=lambda value: " ".join(value)[:40])
def test_wrong_input_gives_one_sentence_and_exit_code_2(run, command, words):
    code, out, err = run(*command)
    assert (code, out) == (2, "")
    assert words in err
    assert err.count("\n") == 1


def test_nothing_is_overwritten(answer, run, tmp_path):
    (tmp_path / "letter.txt").write_text("dear reader")
    code, _, err = run("solve", "kuhn", "--iterations", "5", "--out", str(tmp_path))
    assert code == 2
    assert "exists" in err
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]


def test_a_run_killed_before_its_first_checkpoint_can_be_started_again(answer, tmp_path):
    folder = tmp_path / "kuhn"
    answer("solve", "kuhn", "--iterations", "5", "--out", str(folder))
    (folder / "manifest.json").unlink()  # what a kill inside the first write leaves
    assert answer("solve", "kuhn", "--iterations", "5", "--out", str(folder))["iterations"] == 5


def test_a_solution_is_not_overwritten_and_another_artefact_not_resumed(answer, run, tmp_path):
    solved, other = str(tmp_path / "solved"), str(tmp_path / "other")
    answer("solve", "kuhn", "--iterations", "5", "--out", solved)
    write_artefact(other, Header("match", configuration={}), {"chips": np.arange(3)})
    assert "holds a solution" in run("solve", "kuhn", "--out", solved)[2]
    for more in ((), ("--resume",)):
        code, out, err = run("solve", "kuhn", "--iterations", "5", "--out", other, *more)
        assert (code, out) == (2, "")
        assert "holds a match, which a solution does not overwrite" in err
    assert open_artefact(other).kind == "match"


def test_a_file_is_no_output_folder(run, tmp_path):
    (tmp_path / "file").write_text("in the way")
    code, out, err = run("solve", "kuhn", "--iterations", "5", "--out", str(tmp_path / "file"))
    assert (code, out, err.count("\n")) == (2, "", 1)


def test_another_game_or_method_cannot_resume(answer, run, tmp_path):
    folder = str(tmp_path / "kuhn")
    answer("solve", "kuhn", "--iterations", "5", "--out", folder)
    others = {
        "game kuhn, not leduc": ("leduc",),
        "method cfr+, not cfr": ("kuhn", "--method", "cfr"),
        "seed 0, not 1": ("kuhn", "--seed", "1"),
        "dtype float64, not float32": ("kuhn", "--dtype", "float32"),
        "another game": ("kuhn", "--symmetry", "cards"),
    }
    for words, options in others.items():
        code, _, error = run("solve", *options, "--out", folder, "--resume")
        assert code == 2
        assert f"was started with {words}; resume with the same" in error


def killed_and_resumed(folder: Path, iterations: int, kills: int, seed: int) -> int:
    """Run a solve to its end, killing it at random moments; how often it was killed."""
    command = [
        sys.executable, "-c", "from equilibrist.cli import main; main()", "solve", "leduc",
        "--iterations", str(iterations), "--every", "200", "--out", str(folder),
    ]  # fmt: skip
    rng = random.Random(seed)
    killed = 0
    while True:
        resume = ["--resume"] if (folder / "manifest.json").exists() else []
        process = subprocess.Popen(
            [*command, *resume], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        if killed < kills:
            # Wait until it writes, then a little more.
            before = folder.stat().st_mtime_ns if folder.exists() else 0
            while process.poll() is None and (
                not folder.exists() or folder.stat().st_mtime_ns == before
            ):
                time.sleep(0.001)
            time.sleep(rng.random() * 0.05)
            process.kill()
        error = process.communicate()[1]
        if process.returncode == -signal.SIGKILL:
            killed += 1
            continue
        assert process.returncode == 0, error
        return killed


@pytest.mark.parametrize(
    ("kills", "iterations"), [(2, 100_000), pytest.param(25, 400_000, marks=pytest.mark.slow)]
)
def test_a_solve_killed_at_random_moments_resumes_to_the_same_numbers(
    answer, tmp_path, kills, iterations
):
    killed = killed_and_resumed(tmp_path / "killed", iterations, kills, seed=3)
    whole = str(tmp_path / "whole")
    answer("solve", "leduc", "--iterations", str(iterations), "--every", "200", "--out", whole)
    first, second = Solution.load(tmp_path / "killed"), Solution.load(whole)
    assert killed >= kills - 1
    assert all((first.state[name] == second.state[name]).all() for name in second.state)
    assert first.certificate == second.certificate


def test_a_forged_certificate_is_reported_and_fails(answer, run, tmp_path):
    folder = tmp_path / "kuhn"
    answer("solve", "kuhn", "--iterations", "20", "--out", folder)
    stored = open_artefact(folder, in_memory=True)
    certificate = stored.info["certificate"] | {"value": 0.25}
    info = {**stored.info, "certificate": certificate}
    write_artefact(folder, replace(stored, info=info), stored.arrays)
    assert answer("verify", folder)["kind"] == "solution"
    found = run("exploit", folder)
    assert found.returncode == 1
    assert "DOES NOT match the certificate" in found.stdout
    assert "- the value is -0.0" in found.stdout
    found = run("exploit", folder, "--json")
    assert found.returncode == 1
    assert json.loads(found.stdout)["matches"] is False


def test_a_damaged_state_is_not_continued(answer, run, tmp_path):
    folder = tmp_path / "kuhn"
    line = ("solve", "kuhn", "--out", folder)
    answer(*line, "--iterations", "20")
    path = next(folder.glob("state.regret0-*.npy"))
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    found = run(*line, "--iterations", "40", "--resume")
    assert found.returncode == 2
    assert "its checksum differs from the manifest's" in found.stderr
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    ("dtype", "target", "is_warned"),
    [("float32", "9e-7", True), ("float32", "1.1e-6", False), ("float64", "9e-7", False)],
)
def test_float32_is_warned_of_where_it_cannot_reach_the_target(run, dtype, target, is_warned):
    found = run("solve", "kuhn", "--iterations", "3", "--to", target, "--dtype", dtype)
    assert ("may not reach" in found.stderr) == is_warned
    assert ("float32 may not reach 9e-07; use float64" in found.stderr) == is_warned


def test_a_number_that_is_not_finite_is_never_printed(run, monkeypatch):
    monkeypatch.setattr("equilibrist.cli.runs.mbb_per_game", lambda *_: {"mbb/g": float("nan")})
    for option in ((), ("--json",)):
        found = run("solve", "kuhn", "--iterations", "3", *option)
        assert (found.returncode, found.stdout) == (2, "")
        assert "mbb/g came out as nan; nothing is printed" in found.stderr


def test_a_run_whose_numbers_are_not_finite_keeps_its_last_checkpoint(run, tmp_path, monkeypatch):
    step = CFR.step

    def breaking(self, game, state, steps):
        step(self, game, state, steps)
        if int(state["iteration"]) > 2:
            state["regret0"][:] = np.nan

    monkeypatch.setattr(CFR, "step", breaking)
    folder = tmp_path / "kuhn"
    found = run("solve", "kuhn", "--iterations", "100", "--out", folder, "--json")
    assert (found.returncode, found.stdout) == (2, "")
    fault, _, last = found.stderr.splitlines()[-1].partition("; ")
    assert fault.endswith("cfr+ on kuhn: regret0 of its state holds NaN after iteration 5")
    saved = Solution.load(folder)
    assert last == f"the last checkpoint is from iteration {saved.iterations}"
    assert np.isfinite(saved.state["regret0"]).all()


def test_methods_of_long_iterations_are_evaluated_after_each():
    found = {name: default_evaluate_every(method.load()) for name, method in METHODS.items()}
    assert {name for name, every in found.items() if every == 1} == {
        "double-oracle",
        "range-of-skill",
    }

"""`equilibrist counter` as its user meets it: responses that other commands open."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import equilibrist as eq
from equilibrist.evaluation.expectation import expectation
from equilibrist.evaluation.observation import _check_rules
from equilibrist.front_door.counters import point_folder
from equilibrist.games.catalog import get_game
from equilibrist.games.phh import parse_phh
from equilibrist.games.rules import rules_text
from equilibrist.models.exact import exact_game
from equilibrist.players.catalog import make_player
from equilibrist.players.known_plans import known_plans
from equilibrist.solving.solve import Outcome
from equilibrist.storage.manifest import MANIFEST
from equilibrist.strategies.solution import Solution

MIX = "mix:0.3,0.5,0.2"


def test_a_response_is_a_solution_that_other_commands_open(answer, run, tmp_path):
    folder = str(tmp_path / "response")
    found = answer("counter", MIX, "--game", "leduc", "--p", "0.9", "--out", folder)
    (point,) = found["points"]
    assert (found["game"], found["target"], found["model_hands"]) == ("leduc", MIX, None)
    assert (point["method"], point["p"], point["unit"]) == ("rnr", 0.9, "chips")
    checked = answer("exploit", folder)
    assert checked["matches"] is True
    assert checked["exploitability"] == pytest.approx(point["exploitability"])
    assert answer("verify", folder)["checked"] == ["checksums", "schema"]
    assert answer("show", folder, "--node", "r")["actions"] == ["f", "c", "r"]
    played = answer(
        "match", f"solution:{folder}", MIX, "--game", "leduc", "--hands", "20000", "--duplicate"
    )
    low, high = played["ci95"]
    assert low - 0.03 < point["win"] < high + 0.03
    assert "responses to" in run("counter", MIX, "--game", "leduc", "--iterations", "5").stdout


def test_a_curve_is_drawn_and_resumed(answer, tmp_path):
    out, plot = str(tmp_path / "curve"), tmp_path / "curve.png"
    command = ["counter", MIX, "--game", "kuhn", "--curve", "0,0.5,1", "--out", out]
    first = answer(*command, "--plot", str(plot), "--real-game", "--match-hands", "2000")
    assert plot.stat().st_size > 5000
    win = [point["win"] for point in first["points"]]
    away = [point["exploitability"] for point in first["points"]]
    assert win == sorted(win)
    assert away == sorted(away)
    assert first["points"][0]["real_game"]["exploitability"] == pytest.approx(away[0], abs=1e-6)
    again = answer(*command, "--resume")
    for one, two in zip(first["points"], again["points"], strict=True):
        assert {key: two[key] for key in one if key in two} == {
            key: one[key] for key in one if key in two
        } | {"outcome": "finished"}


def test_options_of_the_real_game_are_checked_before_any_work(run, tmp_path):
    rules = replace(get_game("holdem-limit"), num_ranks=3, num_suits=3, max_raises=(1, 1, 1, 1))
    game, out = tmp_path / "nine.game", tmp_path / "response"
    game.write_text(rules_text(rules))
    command = ["counter", MIX, "--game", game, "--out", out, "--real-game"]
    for more, words in (
        (["--flops", "2"], "the number of flops must be"),
        ([], "the response has exact hands: its exploitability is that in the game itself"),
    ):
        found = run(*command, *more)
        assert (found.returncode, found.stdout) == (2, "")
        assert words in found.stderr
        assert not out.exists()


def test_a_log_is_modelled_with_and_without_mucked_hands(answer, tmp_path):
    log = str(tmp_path / "match.log")
    answer("match", MIX, "always-call", "--game", "leduc", "--hands", "2000", "--log", log)
    for more in ((), ("--hide-mucked",)):
        for method in ("dbr", "fbr", "rnr"):
            found = answer(
                "counter", "--log", log, "--player", "mix 0.3,0.5,0.2", "--method", method, *more
            )
            assert found["model_hands"] == 2000
            assert found["points"][0]["win"] > 0.3


def test_data_biased_responses_lose_less_than_frequentist_ones_on_few_hands():
    fbr, dbr = (
        eq.counter(MIX, game="leduc", method=method, hands=300, seed=3)[0]
        for method in ("fbr", "dbr")
    )
    assert dbr.exploitability < fbr.exploitability / 3
    assert fbr.model_wins.mean > fbr.wins.mean + 0.2  # it overfits what it saw
    assert dbr.win > 0.4


def test_a_solution_and_a_bot_of_buckets_are_known_in_their_own_game(answer, tmp_path):
    folder = str(tmp_path / "leduc")
    answer("solve", "leduc", "--iterations", "3", "--out", folder)
    found = answer("counter", folder, "--p", "1")
    assert found["model_hands"] is None
    assert found["points"][0]["win"] == pytest.approx(
        answer("exploit", folder)["exploitability"], abs=1e-6
    )
    buckets, counts, solved = (str(tmp_path / name) for name in ("buckets", "counts", "solved"))
    answer("abstract", "percentile", "--game", "leduc", "--buckets", "3-6", "--out", buckets)
    answer("joint", buckets, "--out", counts)
    answer("solve", buckets, "--joint", counts, "--iterations", "3", "--out", solved)
    best = answer("counter", solved, "--p", "1", "--out", str(tmp_path / "best"))
    assert best["points"][0]["win"] == pytest.approx(
        answer("exploit", solved)["exploitability"], abs=1e-6
    )
    assert answer("exploit", str(tmp_path / "best"))["matches"] is True
    seen = answer("counter", MIX, "--game", solved, "--hands", "500", "--method", "dbr")
    assert seen["model_hands"] == 500


def test_a_target_in_other_buckets_is_known_exactly(answer, run, tmp_path):
    """In Leduc both strategies can be compared in the game itself, where no bucket is merged."""
    folders = {}
    for name, numbers in (("own", "3-6"), ("other", "2-4")):
        buckets, counts, solved = (str(tmp_path / f"{name}{n}") for n in range(3))
        answer("abstract", "percentile", "--game", "leduc", "--buckets", numbers, "--out", buckets)
        answer("joint", buckets, "--out", counts)
        answer("solve", buckets, "--joint", counts, "--iterations", "20", "--out", solved)
        folders[name] = solved
    out = str(tmp_path / "response")
    command = ["counter", folders["other"], "--game", folders["own"], "--out", out]
    found = answer(*command, "--p", "0.8")
    assert found["model_hands"] is None
    rules = get_game("leduc")
    game = exact_game(rules, symmetry="suits")
    own, other = (known_plans(make_player(f"solution:{folder}", rules), game)
                  for folder in (out, folders["other"]))  # fmt: skip
    exact = expectation(game, own, other)
    assert found["points"][0]["win_seats"] == pytest.approx(exact.seats, abs=1e-5)
    assert found["points"][0]["gap"] <= 2 * 0.001
    code, _, err = run(*command[:-1], str(tmp_path / "dbr"), "--method", "dbr")
    assert (code, "observe it for some hands (--hands" in err) == (2, True)
    assert not (tmp_path / "dbr").exists()


def test_mixtures_of_both_ends_lose_more_than_responses():
    curve = eq.counter(MIX, game="leduc", p=[0, 0.6, 1])
    mixtures = curve.mixtures(9)
    for end, row in ((0, mixtures[0]), (-1, mixtures[-1])):
        assert row["win"] == pytest.approx(curve[end].win)
        assert row["exploitability"] == pytest.approx(curve[end].exploitability)
    at = [row["win"] for row in mixtures], [row["exploitability"] for row in mixtures]
    assert np.interp(curve[1].win, *at) > 2 * curve[1].exploitability


def test_values_of_p_that_are_close_have_folders_of_their_own(tmp_path):
    close = [0.9, 0.9000001, 0.0]
    names = [point_folder(tmp_path, p, is_curve=True).name for p in close]
    assert names == ["p-0.9", "p-0.9000001", "p-0"]


def test_more_iterations_continue_a_response(answer, tmp_path):
    command = ["counter", MIX, "--game", "kuhn", "--p", "0.5", "--out", str(tmp_path / "out")]
    first = answer(*command, "--iterations", "3")["points"][0]
    again = answer(*command, "--iterations", "30", "--resume")["points"][0]
    assert (first["iterations"], again["iterations"]) == (6, 60)
    assert (first["outcome"], again["gap"] < first["gap"]) == ("budget_spent", True)


def test_no_number_of_hands_is_not_the_default():
    with pytest.raises(eq.EquilibristError, match="number of hands must be at least 1, not 0"):
        eq.counter(MIX, game="kuhn", hands=0)


def test_a_killed_run_resumes_to_the_same_numbers(answer, tmp_path):
    out, once = tmp_path / "killed", tmp_path / "once"
    budget = ["--iterations", "3000", "--to", "1e-9chips", "--game", "leduc", "--p", "0.5"]
    command = [sys.executable, "-m", "equilibrist", "counter", MIX, *budget, "--out", str(out)]
    started = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while not (out / MANIFEST).exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    os.kill(started.pid, signal.SIGKILL)
    started.wait()
    resume = ["--resume"] if (out / MANIFEST).exists() else []
    unfinished = answer("exploit", str(out))
    assert unfinished["matches"] is True  # also between checkpoints
    answer("counter", MIX, *budget, "--out", str(out), *resume)
    answer("counter", MIX, *budget, "--out", str(once))
    first, second = Solution.load(out), Solution.load(once)
    assert first.iterations == second.iterations == 6000
    for one, two in zip(first.plans, second.plans, strict=True):
        np.testing.assert_array_equal(one, two)


BAD = [
    (["--p", "1.2", MIX, "--game", "leduc"], "p must be a probability from 0 to 1, not 1.2"),
    ([MIX], "give the game of the response to mix:0.3,0.5,0.2"),
    ([], "give either a target or --log FILE"),
    ([MIX, "--game", "leduc", "--hands", "5"], "too few for a response in leduc: at least"),
    ([MIX, "--game", "leduc", "--curve", "0,x"], "--curve must be different numbers"),
    ([MIX, "--game", "leduc", "--curve", "0,2"], "p must be a probability"),
    ([MIX, "--game", "leduc", "--method", "abc"], "no method of responding is called 'abc'"),
    ([MIX, "--game", "leduc", "--confidence", "big"], "'big' is not a confidence"),
    ([MIX, "--game", "leduc", "--player", "Alice"], "--player and --hide-mucked need --log"),
    ([MIX, "--game", "leduc", "--flops", "3"], "--flops needs --real-game"),
    ([MIX, "--game", "leduc", "--resume"], "--resume needs --out"),
    (["nobody", "--game", "leduc"], "no player is called 'nobody'"),
    ([MIX, "--game", "holdem-limit"], "holdem-limit is too large to respond in it"),
    (["--log", "nowhere.log", "--player", "Alice"], "cannot read nowhere.log"),
    ([MIX, "--game", "leduc", "--real-game", "--p", "1"], "--real-game needs --out"),
    (
        [MIX, "--game", "leduc", "--real-game", "--out", "x", "--match-hands", "3"],
        "--match-hands must be even and at least 4",
    ),
    (["vexbot", "--game", "leduc"], "vexbot learns while it plays"),
    (
        [MIX, "--game", "leduc", "--real-game", "--flops", "3", "--out", "x"],
        "leduc is not hold'em and has no flops: leave out --flops",
    ),
]


@pytest.mark.parametrize(("arguments", "words"), BAD)
def test_bad_input_is_one_sentence(run, arguments, words):
    code, out, err = run("counter", *arguments)
    complaints = [line for line in err.splitlines() if line.startswith("equilibrist: ")]
    assert (code, out, len(complaints)) == (2, "", 1)
    assert words in complaints[0]


def test_resume_needs_a_run(run, tmp_path):
    folder = tmp_path / "response"
    command = ["counter", MIX, "--game", "kuhn", "--iterations", "5", "--out", str(folder)]
    for more, place in (([], folder), (["--curve", "0,0.5"], folder / "p-0")):
        code, _, err = run(*command, *more, "--resume")
        assert (code, f"{place} holds no run to resume" in err) == (2, True)
        assert not folder.exists()
    assert run(*command).returncode == 0
    (folder / MANIFEST).unlink()  # its arrays and its lock remain
    before = {path.name: path.read_bytes() for path in folder.glob("*.npy")}
    code, _, err = run(*command, "--resume")
    assert (code, f"{folder} holds no run to resume" in err) == (2, True)
    assert {path.name: path.read_bytes() for path in folder.glob("*.npy")} == before


def test_a_resumed_curve_begins_responses_that_had_not_begun(answer, run, tmp_path):
    folder = tmp_path / "curve"
    command = ["counter", MIX, "--game", "kuhn", "--iterations", "5", "--out", str(folder)]
    answer(*command, "--curve", "0")
    found = answer(*command, "--curve", "0,0.5", "--resume")
    assert [point["p"] for point in found["points"]] == [0, 0.5]
    foreign = folder / "p-1"
    foreign.mkdir()
    (foreign / "notes.txt").write_text("mine")
    code, _, err = run(*command, "--curve", "0,0.5,1", "--resume")
    assert (code, f"{foreign} exists and is not an artefact" in err) == (2, True)


def test_a_log_of_another_game_is_refused(answer, run, tmp_path):
    log = str(tmp_path / "kuhn.log")
    answer("match", MIX, "always-call", "--game", "kuhn", "--hands", "100", "--log", log)
    code, _, err = run("counter", "--log", log, "--player", "always-call", "--game", "leduc")
    assert (code, "the hands are of kuhn, not of leduc" in err) == (2, True)
    code, _, err = run("counter", "--log", log, "--player", "Alice")
    assert (code, "no player of the hands is called 'Alice'" in err) == (2, True)
    code, _, err = run("counter", "--log", log)
    assert (code, "name the opponent among the players" in err) == (2, True)


PHH = """variant = "FT"
antes = [0, 0]
blinds_or_straddles = [{0}, {1}]
small_bet = {1}
big_bet = {2}
starting_stacks = [{3}, {3}]
actions = ["d dh p1 AsKs", "d dh p2 QdQh", "p2 f"]
players = ["Alice", "Bob"]
"""


def test_logs_that_name_no_game_are_read_by_the_given_one(run, tmp_path):
    """Each of these is refused in one sentence that says what the user can change."""
    for name, text in (("empty", ""), ("bare", "STATE:0:rf:As|Ks:1|-1:Alice|Bob\n")):
        (tmp_path / f"{name}.log").write_text(text)
    for number, values in enumerate([(1, 2, 4, "inf"), (5, 10, 20, 1000)]):
        (tmp_path / f"{number}.phh").write_text(PHH.format(*values))
    player = ["--player", "Alice"]
    for name, more, words in (
        ("empty.log", [], "does not say which game"),
        ("empty.log", ["--game", "kuhn"], "0 hands of Alice are too few for a response in kuhn"),
        ("bare.log", ["--game", "kuhn"], "1 hands of Alice are too few for a response in kuhn"),
        ("bare.log", ["--game", "leduc"], "1 hands of Alice are too few for a response in leduc"),
        ("0.phh", [], "names no game of the catalogue: give the game of the response"),
        ("0.phh", ["--game", "kuhn"], "the hands are of FT, not of kuhn"),
    ):
        code, _, err = run("counter", "--log", str(tmp_path / name), *player, *more)
        assert (code, words in err) == (2, True), (name, err)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ((1, 2, 4, "inf"), "the hands are of FT, not of holdem-limit: blind is 2 1, not 10 5"),
        ((5, 10, 20, 1000), "not of holdem-limit: stack is 1000 1000, not unlimited"),
    ],
)
def test_stakes_and_stacks_of_a_log_are_those_of_the_game(values, words):
    record = parse_phh(PHH.format(*values))
    with pytest.raises(eq.EquilibristError, match=words):
        _check_rules(record.rules, get_game("holdem-limit"))


def test_a_learner_needs_a_number_of_hands():
    from equilibrist.front_door.counters import Arena, Opponent

    leduc = Arena.open("leduc")
    with pytest.raises(eq.EquilibristError, match="learns while it plays, so it has no fixed"):
        Opponent.of_player("vexbot", leduc)


def test_the_front_door_says_how_a_run_ended(tmp_path):
    found = eq.counter(MIX, game="kuhn", p=0.5, iterations=3, folder=tmp_path / "out")
    assert found[0].outcome is Outcome.BUDGET_SPENT
    assert Path(found[0].folder, MANIFEST).exists()
    assert "wins" in repr(found)

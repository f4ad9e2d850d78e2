"""Signals to commands: each stops with its results so far, prints that, and can be resumed."""

import contextlib
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest

from equilibrist.bots.registry import BOTS
from equilibrist.cli import range_of_skill
from equilibrist.games.catalog import get_game
from equilibrist.games.rules import rules_text
from equilibrist.papers.gs3 import tables
from equilibrist.storage.artefact import open_artefact
from equilibrist.storage.ownership import read_lock

CODES = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}


@contextlib.contextmanager
def pressed(monkeypatch, place, at, number=signal.SIGINT):
    """Send a signal from within the n-th call of a function."""
    owner, _, name = place.rpartition(".")
    module, work, calls = __import__(owner, fromlist=[name]), None, []
    work = getattr(module, name)

    def slow(*arguments, **options):
        found = work(*arguments, **options)
        calls.append(None)
        if len(calls) == at:
            os.kill(os.getpid(), number)
        return found

    with monkeypatch.context() as patch:
        patch.setattr(module, name, slow)
        yield


def arrays_are_equal(first, second, without=()):
    first, second = (open_artefact(folder).arrays for folder in (first, second))
    assert first.keys() == second.keys()
    return all(np.array_equal(first[n], second[n]) for n in first if n not in without)


@pytest.mark.parametrize("number", CODES)
def test_a_solve_ends_after_its_iteration_and_continues(run, answer, tmp_path, monkeypatch, number):
    line = ("solve", "leduc", "--method", "pcs", "--iterations", "400")
    answer(*line, "--out", tmp_path / "clean")
    out = tmp_path / "stopped"
    with pressed(monkeypatch, "equilibrist.kernels.cpu.sampling.public_chance", 9, number):
        found = run(*line, "--out", out, "--json")
    assert found.returncode == CODES[number]
    data = json.loads(found.stdout)
    assert data["outcome"] == "interrupted"
    assert "stopping after this" in found.stderr
    assert f"stopped after iteration {data['iterations']}, saved in {out}" in found.stderr
    assert "--resume" in found.stderr
    assert answer("exploit", out)["matches"]
    assert answer(*line, "--out", out, "--resume")["iterations"] == 400
    assert arrays_are_equal(tmp_path / "clean", out, without=["trace"])


def test_a_solve_stopped_while_it_prepares_writes_nothing(run, tmp_path, monkeypatch):
    out = tmp_path / "out"
    with pressed(monkeypatch, "equilibrist.solving.problem.exact_game", 1):
        found = run("solve", "leduc", "--out", out)
    assert found.returncode == 130
    assert "stopping after this preparation" in found.stderr
    assert "nothing is half written" in found.stderr
    assert not out.exists()


def owners(monkeypatch, place, folder):
    """The contents of a folder's lock at each call of a function."""
    owner, _, name = place.rpartition(".")
    module, seen = __import__(owner, fromlist=[name]), []
    work = getattr(module, name)

    def looked(*arguments, **options):
        lock = read_lock(folder)
        seen.append(lock is not None and lock.is_run and lock.process == os.getpid())
        return work(*arguments, **options)

    monkeypatch.setattr(module, name, looked)
    return seen


def test_a_folder_is_owned_before_the_game_is_built(answer, tmp_path, monkeypatch):
    seen = owners(monkeypatch, "equilibrist.solving.problem.exact_game", tmp_path / "out")
    answer("solve", "kuhn", "--iterations", 10, "--out", tmp_path / "out")
    assert seen == [True]


def test_a_folder_is_owned_before_the_responses_are_prepared(answer, tmp_path, monkeypatch):
    game = tmp_path / "nine.game"
    rules = replace(get_game("holdem-limit"), num_ranks=3, num_suits=3, max_raises=(1, 1, 1, 1))
    game.write_text(rules_text(rules))
    place = "equilibrist.evaluation.real_game.run.responses_to"
    seen = owners(monkeypatch, place, tmp_path / "out")
    line = ("exploit", "always-call", "--real-game", "--game", game, "--flops", 8)
    answer(*line, "--out", tmp_path / "out")
    assert seen == [True]


def test_a_bot_is_owned_between_the_parts_of_its_training(add_bot, answer, tmp_path, monkeypatch):
    few = replace(BOTS["gs3-small"], game="royal-holdem", boards=800, buckets=(1, 2, 4, 8))
    add_bot(few)
    folder = tmp_path / "bot"
    seen = owners(monkeypatch, "equilibrist.bots.training.count_deals", folder)
    later = owners(monkeypatch, "equilibrist.bots.training.prepare", folder)
    answer("train", few.name, "--to", 500, "--out", folder)
    assert seen == later == [True]
    assert not (folder / "lock").exists()


def test_bots_that_papers_train_are_owned_while_they_are_solved(add_bot, tmp_path, monkeypatch):
    few = replace(BOTS["gs3-small"], game="royal-holdem", boards=800)
    add_bot(few)
    monkeypatch.chdir(tmp_path)
    solution = tmp_path / "1-2-4-8/solution-0.01s"
    seen = owners(monkeypatch, "equilibrist.bots.training.run", solution)
    list(tables.finer_rows([(1, 2, 4, 8)], tmp_path, 0.01, 20, 1, lambda what, share: None))
    assert seen == [True]
    bot = replace(few, buckets=(1, 2, 4, 8), family="1-2-4-8", target=500.0, solution="solution")
    monkeypatch.setattr("equilibrist.bots.bot.HOME", tmp_path)
    seen = owners(monkeypatch, "equilibrist.bots.training.save_strategy", bot.folder / "solution")
    assert range_of_skill._trained(bot).iterations > 0
    assert seen == [True]


def test_a_comparison_reports_what_it_has(run, monkeypatch):
    with pressed(monkeypatch, "equilibrist.solving.solve.evaluate", 5):
        found = run("compare", "kuhn", "--methods", "cfr+,dcfr", "--seconds", "600", "--json")
    assert found.returncode == 130
    assert [row["method"] for row in json.loads(found.stdout)["rows"]] == ["cfr+"]
    assert "stopped at cfr+" in found.stderr


@pytest.mark.parametrize("runner", ["views", "tables"])
@pytest.mark.parametrize("duplicate", [False, True])
def test_a_match_reports_the_hands_that_were_played(
    run, answer, tmp_path, monkeypatch, runner, duplicate
):
    line = ["match", "uniform", "always-call", "--game", "leduc", "--runner", runner]
    line += ["--duplicate"] if duplicate else []
    log, played = tmp_path / "match.log", 60 if duplicate else 30
    before = 100 if duplicate else 0  # hands of the first run
    monkeypatch.setattr("equilibrist.play.compiled_match.BATCH", 10)
    place, calls = "play.match.play_hand", before + 30
    if runner == "tables":  # two walks a batch
        place, calls = "kernels.cpu.matches.play_hands", (before + 30) // 5
    with pressed(monkeypatch, f"equilibrist.{place}", calls):
        found = run(*line, "--hands", before + 100, "--log", log, "--json")
    assert found.returncode == 130
    data = json.loads(found.stdout)
    assert (data["outcome"], data["hands"], data["duplicate"]) == ("interrupted", played, duplicate)
    assert data["ci95"] is not None
    logs = [log, log.with_name("match.swapped.log")][: 1 + duplicate]
    numbers = [len(re.findall("^STATE:", path.read_text(), re.M)) for path in logs]
    assert numbers == ([100, 30] if duplicate else [30])
    whole = answer(*line, "--hands", played)
    assert whole["outcome"] == "finished"
    assert data["win_rate"] == whole["win_rate"]


def test_a_match_stopped_before_its_first_hand_says_so(run, monkeypatch):
    with pressed(monkeypatch, "equilibrist.play.match.check_match", 1):
        found = run("match", "uniform", "always-call", "--game", "leduc", "--hands", 100)
    assert found.returncode == 130
    assert found.stdout == ""
    assert "stopped before the first hand" in found.stderr


def test_a_match_until_sure_reports_its_test(run, monkeypatch):
    with pressed(monkeypatch, "equilibrist.play.match.play_hand", 250):
        found = run(
            "match", "uniform", "always-call", "--game", "leduc", "--hands", 100_000,
            "--until-sure", "--runner", "views", "--json",
        )  # fmt: skip
    assert found.returncode == 130
    data = json.loads(found.stdout)
    assert (data["outcome"], data["hands"]) == ("interrupted", 250)
    assert "sequential" in data


def test_an_abstraction_and_its_counts_continue_to_the_same_hash(
    run, answer, tmp_path, monkeypatch
):
    line = ("abstract", "potential-aware", "--game", "leduc", "--buckets", "3,6")
    clean = answer(*line, "--out", tmp_path / "clean")
    out = tmp_path / "stopped"
    with pressed(monkeypatch, "equilibrist.abstraction.resume.write_artefact", 1):
        found = run(*line, "--out", out)
    assert found.returncode == 130
    assert "finished parts are saved in" in found.stderr
    assert answer(*line, "--out", out, "--resume")["hash"] == clean["hash"]
    line = ("joint", out)
    counted = answer(*line, "--out", tmp_path / "counts")
    monkeypatch.setattr("equilibrist.abstraction.joint_counts_by_board._LEAST_SECONDS", 0)
    with pressed(monkeypatch, "equilibrist.kernels.cpu.joint.bucket_showdowns", 7):
        found = run(*line, "--out", tmp_path / "again")
    assert found.returncode == 130
    assert open_artefact(tmp_path / "again").configuration["done"] == 7
    again = answer(*line, "--out", tmp_path / "again", "--resume")
    assert again["hash"] == counted["hash"]
    found = run(*line, "--out", tmp_path / "again", "--resume")
    assert found.returncode == 2
    assert found.stderr.endswith("is complete: nothing is left to do\n")


def test_a_training_by_hands_continues_to_the_same_weights(run, answer, tmp_path, monkeypatch):
    monkeypatch.setattr("equilibrist.papers.ectomynx.level_training._BLOCK", 64)
    monkeypatch.setattr("equilibrist.papers.ectomynx.level_training._MATCH_DEALS", 64)
    line = ("train", "ectomynx", "--cycles", 2, "--hands", 128)
    answer(*line, "--out", tmp_path / "clean")
    with pressed(monkeypatch, "equilibrist.papers.ectomynx.level_training.play_block", 3):
        found = run(*line, "--out", tmp_path / "stopped")
    assert found.returncode == 130
    assert "stopped after 192 hands, saved in" in found.stderr
    answer(*line, "--out", tmp_path / "stopped")
    assert arrays_are_equal(tmp_path / "clean", tmp_path / "stopped")


def test_two_runs_cannot_have_one_folder(run, answer, tmp_path):
    out = tmp_path / "solution"
    line = ("solve", "kuhn", "--iterations", 10, "--out", out)
    program = "import sys; from equilibrist.storage.ownership import owned\n"
    program += f"with owned({str(out)!r}): print('ready', flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout.readline() == b"ready\n"
        found = run(*line)
        assert found.returncode == 2
        assert f"process {other.pid} has been working on {out}" in found.stderr
        other.send_signal(signal.SIGSTOP)  # a stopped run still owns its folder
        assert run(*line).returncode == 2
        other.kill()
    assert answer(*line)["iterations"] == 10


def started(*arguments):
    """The command line in a process of its own."""
    program = "from equilibrist.cli import main; main()"
    return subprocess.Popen(
        [sys.executable, "-c", program, *map(str, arguments)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def test_a_process_answers_a_signal_while_it_solves(answer, tmp_path):
    out = tmp_path / "out"
    process = started("solve", "leduc", "--seconds", "600", "--out", out, "--json")
    assert process.stderr.readline().startswith("cfr+ 1:")
    process.send_signal(signal.SIGTERM)
    output, error = process.communicate(timeout=600)
    assert process.returncode == 143
    assert error.count("stopping after this") == 1
    done = json.loads(output)["iterations"]
    assert f"stopped after iteration {done:,}, saved in" in error
    line = ("solve", "leduc", "--iterations", done + 10)
    answer(*line, "--out", out, "--resume")
    answer(*line, "--out", tmp_path / "clean")
    assert arrays_are_equal(out, tmp_path / "clean", without=["trace"])


@pytest.mark.slow
@pytest.mark.parametrize("method", ["cfr+", "dcfr", "egt", "mccfr", "pcs", "range-of-skill"])
def test_processes_stopped_at_random_moments_continue_to_the_same_numbers(answer, tmp_path, method):
    """Signals of all kinds, half of them twice, most of them between two checkpoints."""
    iterations = {"egt": 3000, "range-of-skill": 60}.get(method, 300_000)
    line = ("solve", "leduc", "--method", method, "--iterations", iterations)
    answer(*line, "--out", tmp_path / "clean")
    out, rng, codes = tmp_path / "stopped", random.Random(5), []
    while 0 not in codes:
        again = ["--resume"] if (out / "manifest.json").exists() else []
        process = started(*line, "--out", out, *again)
        if len(codes) < 12:
            process.stderr.readline()
            time.sleep(rng.random())
            number = rng.choice(list(CODES))
            process.send_signal(number)
            if rng.random() < 0.5:
                time.sleep(0.3)
                process.send_signal(number)
        _, error = process.communicate(timeout=600)
        # A second signal that arrives while Python exits kills it, for shells with the same code.
        codes.append(process.returncode if process.returncode >= 0 else 128 - process.returncode)
        assert codes[-1] in (0, *CODES.values()), error
    assert arrays_are_equal(out, tmp_path / "clean", without=["trace"])


LATE = """
import atexit, contextlib, os, signal, sys
from equilibrist import stopping
from equilibrist.cli import main

interrupt = lambda: os.kill(os.getpid(), signal.SIGINT)
inside = stopping.on_signals

@contextlib.contextmanager
def followed_by_a_signal(say=None):
    with inside(say) as stop:
        yield stop
    interrupt()

if sys.argv[1] == "handlers":
    stopping.on_signals = followed_by_a_signal
else:
    atexit.register(interrupt)
sys.argv = ["equilibrist", *sys.argv[2:]]
main()
"""


@pytest.mark.parametrize("moment", ["handlers", "exit"])
@pytest.mark.parametrize("line", ["solve kuhn --iterations 5 --json", "equity AhKh QsQd --json"])
def test_an_interrupt_after_the_result_changes_nothing(moment, line):
    found = subprocess.run(
        [sys.executable, "-c", LATE, moment, *line.split()], capture_output=True, text=True
    )
    assert found.returncode == 0, found.stderr
    assert json.loads(found.stdout)
    assert "interrupted" not in found.stderr
    assert "Traceback" not in found.stderr


def test_a_second_interrupt_after_the_result_ends_a_process_that_hangs():
    program = LATE.replace("(interrupt)", "(lambda: [interrupt(), interrupt()])")
    found = subprocess.run(
        [sys.executable, "-c", program, "exit", "rank", "AhKh", "--json"], capture_output=True
    )
    assert found.returncode == -signal.SIGINT
    assert json.loads(found.stdout)

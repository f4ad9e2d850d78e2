"""`exploit --real-game`: results, certificates, killed runs and wrong input."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
from dataclasses import replace

import numpy as np
import pytest

from equilibrist import stopping
from equilibrist.bots.listing import known_response, known_responses
from equilibrist.bots.open import open_strategy
from equilibrist.bots.registry import BOTS
from equilibrist.errors import DeviceError
from equilibrist.evaluation.expectation import fixed_mix
from equilibrist.evaluation.real_game import run as runs
from equilibrist.games.catalog import get_game, load_game
from equilibrist.games.rules import rules_text
from equilibrist.kernels.gpu import device
from equilibrist.models.exact import exact_game
from equilibrist.solving.best_response import evaluate
from equilibrist.storage.artefact import Header, open_artefact, write_artefact

pytestmark = pytest.mark.kernels

MIX = "mix:0.1,0.6,0.3"
# Writes after every flop, and is killed just after the third.
KILLED = """
import os, signal
from equilibrist.evaluation.real_game import run as runs
from equilibrist.storage import checkpoint
runs._PAUSE, checkpoint.SHARE = -1.0, 1e9
save, done = runs.save, []
def save_and_die(*arguments):
    save(*arguments)
    done.append(1)
    if len(done) == 3:
        os.kill(os.getpid(), signal.SIGKILL)
runs.save = save_and_die
from equilibrist.cli import main
main()
"""


@pytest.fixture
def game(tmp_path):
    """Limit hold'em with the nine cards from queen to ace of three suits."""
    rules = replace(get_game("holdem-limit"), num_ranks=3, num_suits=3, max_raises=(1, 1, 1, 1))
    path = tmp_path / "nine.game"
    path.write_text(rules_text(rules))
    return path


def test_a_whole_run_says_what_the_exact_model_says(answer, game, tmp_path):
    out = tmp_path / "response"
    found = answer("exploit", MIX, "--real-game", "--game", game, "--out", out)
    model = exact_game(load_game(game))
    proof = evaluate(model, fixed_mix(model, (0.1, 0.6, 0.3)))
    assert found["unit"] == "mbb/g"
    assert found["best_response"] == pytest.approx(
        [100 * chips for chips in proof.best_response], rel=1e-6
    )
    assert found["exploitability"] == pytest.approx(100 * proof.exploitability, rel=1e-6)
    assert (found["estimate"], found["flops"]) == (False, found["all_flops"])
    # It is all there: nothing is computed again.
    again = answer("exploit", MIX, "--real-game", "--game", game, "--out", out)
    assert again == found


def test_a_run_that_was_killed_continues_to_the_same_numbers(answer, game, tmp_path):
    options = ["--real-game", "--game", str(game), "--json"]
    command = [sys.executable, "-c", KILLED, "exploit", MIX, *options]
    process = subprocess.run(
        [*command, "--out", str(tmp_path / "killed")], capture_output=True, env=os.environ
    )
    assert process.returncode == -signal.SIGKILL
    assert open_artefact(tmp_path / "killed").info["flops"] == 3
    whole, killed = (
        answer("exploit", MIX, *options[:-1], "--out", tmp_path / name)
        for name in ("whole", "killed")
    )
    assert killed["best_response"] == whole["best_response"]
    for name in ("done", "values0", "values1"):
        np.testing.assert_array_equal(
            *(open_artefact(tmp_path / folder).arrays[name] for folder in ("whole", "killed"))
        )


def test_the_first_flop_says_how_long_it_takes(run, game, tmp_path, monkeypatch):
    flop_values, say, said = runs.flop_values, stopping._say, threading.Event()

    def slow(*arguments):
        os.kill(os.getpid(), signal.SIGINT)
        assert said.wait(600)
        return flop_values(*arguments)

    monkeypatch.setattr(stopping, "_say", lambda text: [say(text), said.set()])
    monkeypatch.setattr(runs, "forecast", lambda *_: 600_000.0)
    monkeypatch.setattr(runs, "flop_values", slow)
    line = ["exploit", MIX, "--real-game", "--game", game, "--threads", "1", "--flops", 8]
    found = run(*line, "--out", tmp_path / "stopped")
    assert found.returncode == 130
    assert re.search(r"stopping after this flop, about 12(49|50) min;", found.stderr)


def stop_after(monkeypatch, flops):
    """Ask the run to stop after this number of flops."""
    flop_values, done = runs.flop_values, []

    def slow(*arguments):
        found = flop_values(*arguments)
        done.append(None)
        if len(done) == flops:
            os.kill(os.getpid(), signal.SIGINT)
        return found

    monkeypatch.setattr(runs, "flop_values", slow)


def test_a_run_that_is_asked_to_stop_keeps_its_flops_and_the_finished_estimate(
    answer, run, game, tmp_path, monkeypatch
):
    line = ["exploit", MIX, "--real-game", "--game", game, "--threads", "1"]
    whole = answer(*line, "--out", tmp_path / "whole")
    out = tmp_path / "stopped"
    estimate = answer(*line, "--out", out, "--flops", 8)
    with monkeypatch.context() as patch:
        stop_after(patch, 2)
        found = run(*line, "--out", out)
    assert found.returncode == 130
    assert found.stdout == ""
    assert "stopping after this flop" in found.stderr
    assert f"stopped after 10 of {whole['all_flops']} flops; saved in {out}" in found.stderr
    stored = open_artefact(out)
    assert stored.arrays["done"].sum() == 10
    wanted = {"exploitability": estimate["exploitability"], "unit": "mbb/g"}
    assert stored.info == wanted | {"flops": 8, "estimate": True}
    assert answer("verify", out)["flops"] == 10
    assert answer(*line, "--out", out)["best_response"] == whole["best_response"]
    assert open_artefact(out).info["estimate"] is False
    for name in ("done", "values0", "values1"):
        np.testing.assert_array_equal(
            *(open_artefact(tmp_path / folder).arrays[name] for folder in ("whole", "stopped"))
        )


def test_verify_finds_a_result_that_the_flops_do_not_give(answer, run, game, tmp_path):
    out = tmp_path / "response"
    answer("exploit", MIX, "--real-game", "--game", game, "--out", out)
    stored = open_artefact(out, in_memory=True)
    info = stored.info | {"exploitability": stored.info["exploitability"] * 0.999}
    write_artefact(out, replace(stored, info=info), stored.arrays)
    found = run("verify", out)
    assert found.returncode == 2
    assert "states an exploitability of" in found.stderr


def test_verify_computes_flops_of_a_certificate_again(answer, run, game, tmp_path):
    out = tmp_path / "response"
    found = answer("exploit", MIX, "--real-game", "--game", game, "--out", out)
    checked = answer("verify", out, "--flops", 3)
    assert checked["checked_flops"] == 3
    assert checked["exploitability"] == found["exploitability"]
    # A certificate whose checksums are right but whose values are not.
    named = open_strategy(MIX, load_game(game))
    responses = runs.responses_to(named)
    forged = runs.open_or_start(named, responses, out)
    forged.values[0][:, 0, 168] += 0.1
    runs.save(forged, out)
    result = run("verify", out)
    assert result.returncode != 0
    assert "another value than the certificate states" in result.stderr


def test_other_limit_games_are_walked_plainly(answer):
    found = answer("exploit", MIX, "--real-game", "--game", "leduc")
    model = exact_game(get_game("leduc"))
    proof = evaluate(model, fixed_mix(model, (0.1, 0.6, 0.3)))
    assert found["best_response"] == pytest.approx(proof.best_response)
    assert found["unit"] == "chips"


def test_some_flops_are_an_estimate(answer, game):
    found = answer("exploit", "always-call", "--real-game", "--game", game, "--flops", 7)
    assert found["estimate"]
    assert found["flops"] == 7


def test_without_a_gpu_auto_computes_on_the_cpu_and_says_why(
    answer, run, game, tmp_path, monkeypatch
):
    def missing():
        raise DeviceError("no GPU can be used: none is here")

    monkeypatch.setattr(device, "cuda", missing)
    line = ["exploit", MIX, "--real-game", "--game", game]
    found = run(*line, "--device", "auto", "--json")
    assert found.returncode == 0
    assert "computing on the CPU: no GPU can be used: none is here" in found.stderr
    assert json.loads(found.stdout)["best_response"] == answer(*line)["best_response"]
    found = run(*line, "--device", "gpu", "--out", tmp_path / "response")
    assert found.returncode == 2
    assert "no GPU can be used: none is here" in found.stderr
    found = run("exploit", tmp_path, "--device", "gpu")
    assert "--device needs --real-game" in found.stderr


def test_wrong_input_gives_one_sentence(run, game, tmp_path):
    real = ("--real-game", "--game", game)
    run("exploit", MIX, *real, "--out", tmp_path / "response")
    cases = {
        ("always-cal",): "always-cal is not a strategy: give a bot",
        ("mix:1,1,1",): "mix:1,1,1 is not a mix; write the probabilities",
        ("always-call", "--game", "leduc", "--flops", "9"): "leduc is not hold'em and has no flops",
        (
            "always-call",
            "--game",
            "leduc",
            "--device",
            "gpu",
        ): "leave out --flops, --out, --device and --engine",
        ("always-call", "--device", "tpu"): "--device must be auto, cpu or gpu, not 'tpu'",
        ("always-call", "--game", "holdem-nolimit"): "holdem-nolimit is not a limit game",
        (
            "always-call",
            "--flops",
            "100000",
        ): "not 100,000",
        (MIX[:-1] + "4", "--out", tmp_path): "is not a mix",
        (
            "always-fold",
            "--out",
            tmp_path / "response",
        ): "with strategy mix:0.1,0.6,0.3, not",
    }
    for arguments, message in cases.items():
        options = [] if "--game" in arguments else ["--game", game]
        result = run("exploit", *arguments, "--real-game", *options)
        assert result.returncode == 2
        assert message in result.stderr
    result = run("exploit", tmp_path / "response", "--flops", "9")
    assert result.returncode == 2
    assert "--flops needs --real-game" in result.stderr


def test_bots_print_the_certificate_of_what_they_play(add_bot, tmp_path, monkeypatch):
    def solution(number):
        arrays = {"plan": np.full(3, float(number))}
        return write_artefact(tmp_path / "solution", Header("solution", configuration={}), arrays)

    info = {"exploitability": 400.0, "unit": "mbb/g", "flops": 1755, "estimate": False}
    identity = {"identity": solution(1)}
    done = {"done": np.ones(1755, np.uint8)}
    write_artefact(
        tmp_path / "real-game", Header(runs.KIND, configuration=identity, info=info), done
    )
    assert known_response(BOTS["smallbot"], tmp_path)["real_game"] == 400.0
    monkeypatch.setattr("equilibrist.bots.bot.HOME", tmp_path.parent)
    add_bot(replace(BOTS["smallbot"], family=tmp_path.name))
    assert [row["name"] for row in known_responses()] == ["smallbot"]
    solution(2)  # trained on: the certificate is another's
    assert known_response(BOTS["smallbot"], tmp_path) == {}
    assert known_responses() == []

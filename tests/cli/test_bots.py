"""Bots as their user meets them: listed, trained, trained on, played."""

import shutil
from dataclasses import replace

import numpy as np
import pytest

from equilibrist.abstraction.joint import Progress, joint
from equilibrist.abstraction.recipes import build
from equilibrist.games.catalog import get_game
from equilibrist.solving.best_response import evaluate
from equilibrist.storage.artefact import open_artefact
from equilibrist.strategies.bots import BOTS, Bot
from equilibrist.strategies.strategy import Solution, game_of

TINY = Bot(
    "tiny", "Few buckets of few cards", recipe="percentile", buckets=(1, 2, 4, 8),
    max_raises="1 1 1 1", target=1.0, game="royal-holdem", dtype="float64",
)  # fmt: skip


TWO_PHASES = replace(TINY, name="two-phases", last_round=2, target=20.0)


@pytest.fixture
def bots(monkeypatch, tmp_path):
    """A folder to train in, where one more bot is known."""
    monkeypatch.setitem(BOTS, TWO_PHASES.name, TWO_PHASES)
    monkeypatch.setitem(BOTS, TINY.name, TINY)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "bots"


def test_a_bot_is_trained_listed_and_played(bots, answer, run):
    assert not answer("bots")["bots"][-1]["trained"]
    trained = answer("train", "tiny")
    assert trained["mbb/g"] <= 1
    assert trained["outcome"] == "target_reached"
    # The same from the library, all deals counted.
    buckets = build("percentile", get_game("royal-holdem"), [1, 2, 4, 8])
    assert (joint(buckets).wins == open_artefact(bots / "tiny/counts").arrays["wins"]).all()
    solution = Solution.load(bots / "tiny/solution")
    found = evaluate(game_of(solution), solution.plans)
    assert found.exploitability == pytest.approx(trained["exploitability"])
    row = answer("bots")["bots"][-1]
    assert row["trained"]
    assert row["mbb/g"] == pytest.approx(trained["mbb/g"])
    match = answer(
        "match", "solution:bots/tiny/solution", "uniform", "--game", "royal-holdem", "--hands", 5000
    )
    assert match["win_rate"] > 0
    assert "tiny" in run("bots").stdout


def test_training_goes_on_where_it_was(bots, answer):
    whole = answer("train", "tiny")
    again = answer("train", "tiny")
    assert again["iterations"] == whole["iterations"]
    further = answer("train", "tiny", "--to", 0.1)
    assert further["iterations"] > whole["iterations"]
    shutil.rmtree(bots)
    once = answer("train", "tiny", "--to", 0.1)
    assert once["best_response"] == further["best_response"]


def test_unfinished_counts_are_finished(bots, answer):
    answer("train", "tiny")
    whole = open_artefact(bots / "tiny/counts")
    shutil.rmtree(bots / "tiny/solution")
    shutil.rmtree(bots / "tiny/counts")
    stopped = []

    def stop(progress, share):
        stopped.append(share)
        Progress(np.array(progress.wins), np.array(progress.ties), progress.done).save(
            bots / "tiny/counts", whole.parents
        )
        raise KeyboardInterrupt

    buckets = build("percentile", get_game("royal-holdem"), [1, 2, 4, 8])
    with pytest.raises(KeyboardInterrupt):
        joint(buckets, watch=stop)
    answer("train", "tiny")
    assert open_artefact(bots / "tiny/counts").hash == whole.hash


def test_other_buckets_are_refused(bots, run, answer, monkeypatch):
    answer("train", "tiny")
    monkeypatch.setitem(BOTS, "tiny", Bot(**vars(TINY) | {"buckets": (1, 2, 4, 4)}))
    failed = run("train", "tiny")
    assert failed.returncode == 2
    assert "holds other buckets than percentile 1-2-4-4" in failed.stderr


def test_a_folder_that_cannot_be_is_named(bots, run, tmp_path):
    (tmp_path / "file").write_text("mine")
    failed = run("train", "tiny", "--out", "file")
    assert failed.returncode == 2
    assert "cannot write file" in failed.stderr
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("train", "smalbot"), "did you mean smallbot"),
        (("train", "smallbot", "--to", "0"), "target must be above zero"),
        (("train", "smallbot", "--seconds", "-1"), "seconds must be above zero"),
        (("reproduce", "range-of-skill"), "`equilibrist train smallbot` makes bots/smallbot"),
        (("reproduce", "rang-of-skill"), "there are cfr-plus, range-of-skill"),
        (("match", "smallbot", "uniform"), "`equilibrist train smallbot` makes bots/smallbot"),
    ],
)
def test_what_cannot_be_is_one_sentence(bots, run, arguments, words):
    failed = run(*arguments)
    assert failed.returncode == 2
    assert words in failed.stderr
    assert not bots.exists()


def test_a_bot_of_two_phases_is_trained_and_goes_on_at_the_table(bots, answer, run):
    trained = answer("train", "two-phases")
    assert trained["outcome"] == "target_reached"
    again = answer("train", "two-phases")
    assert again["iterations"] == trained["iterations"]
    folder = bots / "two-phases/solution"
    solution = Solution.load(folder)
    assert solution.game.last_round == 2
    found = evaluate(game_of(solution), solution.plans)
    assert found.exploitability == pytest.approx(trained["exploitability"])
    log = bots / "decisions.txt"
    player = f"gs2:iterations=2,from={folder},log={log}"
    match = answer("match", player, "uniform", "--game", "royal-holdem", "--hands", 10)
    assert match["hands"] == 10
    lines = log.read_text().splitlines()
    assert lines
    assert all(": 2 iterations in " in line for line in lines)
    # Time instead of iterations: what it has by then is played, and the log says so.
    late = f"gs2:1e-6,from={folder},log={log}"
    answer("match", late, "uniform", "--game", "royal-holdem", "--hands", 10)
    assert all(line.endswith(", out of time") for line in log.read_text().splitlines())
    refused = run("match", f"solution:{folder}", "uniform", "--game", "royal-holdem")
    assert refused.returncode == 2
    assert f"play it as gs2:from={folder}" in " ".join(refused.stderr.split())

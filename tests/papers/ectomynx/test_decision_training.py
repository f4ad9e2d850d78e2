"""Tests of the training of `ectomynx-frc`: results, the two updates, and resumed runs."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from equilibrist import stopping
from equilibrist.errors import InvalidValueError, StorageError
from equilibrist.papers.ectomynx import decision_training
from equilibrist.papers.ectomynx.decision_game import by_rule, num_rows
from equilibrist.papers.ectomynx.decision_training import (
    Decisions,
    DecisionTraining,
    head_to_head,
    load_strategy,
    load_training,
    save_training,
    strategy_of_run,
    train,
)
from equilibrist.papers.ectomynx.kernels import decisions
from equilibrist.storage.artefact import open_artefact

TINY = Decisions(hands=1000, block=300, seed=4)


@pytest.fixture(autouse=True)
def _short_matches(monkeypatch):
    monkeypatch.setattr(decision_training, "_MATCH_DEALS", 20_000)


@pytest.mark.parametrize("update", ["regret", "exponential"])
def test_both_updates_learn_to_beat_a_uniform_player(update: str) -> None:
    settings = Decisions(hands=16_000, block=1000, update=update, rate=0.3, seed=3)
    run = train(settings, cycles=1)
    anything = np.ones((num_rows(), 4), np.float32)
    won, error = head_to_head(strategy_of_run(settings, run), anything, deals=20_000, seed=1)
    assert won > 6 * error


def test_a_strategy_ties_with_itself() -> None:
    assert head_to_head(by_rule(), by_rule(), deals=500) == (0, 0)


def test_regrets_are_added_and_cut_at_zero() -> None:
    scores = np.array([[5, 1, 0, 0], [0, 0, 0, 0]], np.float32)
    average = np.array([[1, 1, 1, 0], [0, 0, 0, 0]], np.float32)
    gains = np.zeros((2, 2, 4), np.int64)
    gains[:, 0] = np.array([[-2, -3, 1, 0], [1, 0, 1, 3]]) * decisions.GAIN_UNIT
    chosen = np.zeros_like(gains)
    chosen[1, 0] = np.array([0.5, 0.25, 0.25, 0]) * decisions.PROBABILITY_UNIT
    visits = np.ones((2, 2), np.int64)
    decisions.match_regrets(scores, average, gains, chosen, visits, 4.0)
    assert scores.tolist() == [[4, 0, 2, 3], [0, 0, 0, 0]]
    assert average.tolist() == [[3, 2, 2, 0], [0, 0, 0, 0]]
    assert not gains.any()
    assert not chosen.any()
    assert not visits.any()


def test_the_reports_update_multiplies_by_profit_per_visit_and_cleans() -> None:
    scores = np.array([[0.5, 0.496, 0.004, 0], [0.2, 0.3, 0.5, 0]], np.float32)
    gains = np.zeros((2, 2, 4), np.int64)
    gains[:, 0, 0] = 3 * decisions.GAIN_UNIT  # six chips in four visits
    visits = np.array([[3, 0], [1, 0]])
    decisions.multiply_scores(scores, gains, np.zeros_like(gains), visits, 0.1, 0.005)
    expected = np.array([0.5 * np.exp(0.1 * 6 / 4), 0.496, 0, 0])
    np.testing.assert_allclose(scores[0], expected / expected.sum(), rtol=1e-6)
    assert scores[1].tolist() == pytest.approx([0.2, 0.3, 0.5, 0])


def test_large_rates_give_the_best_action_probability_one_and_no_nan() -> None:
    scores = np.array([[0.5, 0.5, 0, 0]], np.float32)
    gains = np.array([[[-1, 2, 9, 0]]]) * decisions.GAIN_UNIT  # a score of zero does not count
    decisions.multiply_scores(scores, gains, np.zeros_like(gains), np.ones((1, 1), int), 1e6, 0.005)
    assert scores.tolist() == [[0, 1, 0, 0]]


def test_unvisited_rows_call_and_small_probabilities_are_cleaned() -> None:
    run = DecisionTraining.begin(TINY)
    run.average[0], run.scores[0] = (400, 599, 1, 0), (0, 0, 5, 5)
    run.scores[1] = (0, 30, 10, 0)  # regrets are known, but the opponent's actions never led there
    found = strategy_of_run(TINY, run)
    np.testing.assert_allclose(found[0], np.array([400, 599, 0, 0]) / 999, rtol=1e-6)
    np.testing.assert_allclose(found[1], (0, 0.75, 0.25, 0))
    np.testing.assert_array_equal(found[2:], by_rule()[2:])
    assert by_rule().sum() == num_rows()


def test_a_stopped_run_resumes_to_the_same_strategy(tmp_path) -> None:
    whole = train(TINY, cycles=2)

    class Stopped(Exception):  # noqa: N818
        pass

    def stop(run: DecisionTraining) -> None:
        if len(run.cycles) == 1 and run.hands_done == 600:
            save_training(tmp_path, TINY, run)
            raise Stopped

    with pytest.raises(Stopped):
        train(TINY, cycles=2, watch=stop)
    again = train(TINY, cycles=2, out=tmp_path, resume=True)
    np.testing.assert_array_equal(again.scores, whole.scores)
    np.testing.assert_array_equal(again.average, whole.average)
    assert again.cycles == whole.cycles
    np.testing.assert_array_equal(load_strategy(tmp_path), strategy_of_run(TINY, whole))


def test_other_settings_and_versions_are_refused(tmp_path, monkeypatch) -> None:
    save_training(tmp_path, TINY, DecisionTraining.begin(TINY))
    with pytest.raises(StorageError, match="started with seed 4, not 5"):
        load_training(tmp_path, Decisions(hands=1000, block=300, seed=5))
    monkeypatch.setattr(decision_training, "VERSION", 3)
    with pytest.raises(StorageError, match="started with version 2, not 3"):
        load_strategy(tmp_path)
    with pytest.raises(InvalidValueError, match="by regret or exponential, not 'hedge'"):
        Decisions(update="hedge")
    with pytest.raises(InvalidValueError, match="at least one hand"):
        Decisions(hands=0)
    with pytest.raises(InvalidValueError, match="a rate must be above zero"):
        Decisions(rate=float("nan"))


def test_arrays_of_other_shapes_are_refused(tmp_path) -> None:
    run = DecisionTraining.begin(TINY)
    run.average = run.average[:10]
    save_training(tmp_path, TINY, run)
    with pytest.raises(StorageError, match=r"has shape \[10, "):
        load_training(tmp_path)


KILLED = """
import sys
from pathlib import Path
from equilibrist.papers.ectomynx import decision_training, level_training
from equilibrist.storage import checkpoint
decision_training._MATCH_DEALS = 20_000
level_training._FIRST_SAVE, checkpoint.SHARE = 0.0, 1e9
settings, out = decision_training.Decisions(hands=20_000, block=2000, seed=4), Path(sys.argv[1])
decision_training.train(settings, 2, out=out, resume=(out / "manifest.json").exists())
"""


def written(folder: Path) -> int:
    """Return the number of times a run has been written to a folder."""
    return open_artefact(folder).generation if (folder / "manifest.json").exists() else 0


@pytest.mark.slow
def test_a_killed_run_resumes_to_the_same_strategy(tmp_path) -> None:
    whole = train(Decisions(hands=20_000, block=2000, seed=4), cycles=2)
    command = [sys.executable, "-c", KILLED, str(tmp_path)]
    seen = 0
    for _ in range(3):
        process = subprocess.Popen(command)
        while process.poll() is None and written(tmp_path) < seen + 3:
            time.sleep(0.01)
        seen = written(tmp_path)
        process.kill()
        process.wait()
    subprocess.run(command, check=True)
    found = load_training(tmp_path)
    np.testing.assert_array_equal(found.scores, whole.scores)
    np.testing.assert_array_equal(found.average, whole.average)


def test_a_training_with_a_stop_request_resumes_to_the_same_strategy(tmp_path, monkeypatch):
    settings = Decisions(hands=192, block=64)
    monkeypatch.setattr(decision_training, "_MATCH_DEALS", 64)
    clean = decision_training.train(settings, 1)
    walk, blocks = decision_training.walk_block, []

    def slow(*arguments):
        walk(*arguments)
        blocks.append(None)
        if len(blocks) == 2:
            os.kill(os.getpid(), signal.SIGTERM)

    with monkeypatch.context() as patch, stopping.on_signals(say=lambda text: None):
        patch.setattr(decision_training, "walk_block", slow)
        with pytest.raises(stopping.Stopped):
            decision_training.train(settings, 1, out=tmp_path / "run")
    assert decision_training.load_training(tmp_path / "run", settings).hands_done == 128
    again = decision_training.train(settings, 1, out=tmp_path / "run", resume=True)
    for name in ("scores", "average", "before"):
        assert (getattr(again, name) == getattr(clean, name)).all()
    assert again.cycles == clean.cycles

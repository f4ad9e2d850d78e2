"""Bots that play against themselves as their user meets them: trained, listed, played."""

import numpy as np
import pytest

from equilibrist.errors import StorageError
from equilibrist.papers.ectomynx import decision_training, level_training
from equilibrist.papers.ectomynx.level_training import (
    FixedStrategy,
    Training,
    load_training,
    save_training,
    train,
)

SMALL = ("--hands", 5_000, "--cycles")


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path):
    """A folder to train in, and short matches."""
    monkeypatch.setattr(level_training, "_MATCH_DEALS", 500)
    monkeypatch.setattr(decision_training, "_MATCH_DEALS", 500)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "bots"


def listed(answer, name="ectomynx"):
    return next(row for row in answer("bots")["bots"] if row["name"] == name)


def test_ectomynx_is_trained_listed_and_played(home, answer, run):
    assert listed(answer)["state"] == "not trained"
    trained = answer("train", "ectomynx", *SMALL, 2)
    assert trained["hands"] == 10_000
    assert [row["cycle"] for row in trained["cycles"]] == [1, 2]
    for row in trained["cycles"]:
        low, high = row["ci95"]
        assert (low + high) / 2 == pytest.approx(row["win_rate"])
        assert row["unit"] == "mbb/g"
        assert row["mean_change"] > 0
    whole = train(FixedStrategy(hands=5_000), cycles=2)
    np.testing.assert_array_equal(load_training(home / "ectomynx").weights, whole.weights)
    chips = trained["cycles"][0]["win_rate"] * 2 / 1000
    assert chips == pytest.approx(whole.cycles[0].win_rate)
    row = listed(answer)
    assert (row["state"], row["cycles"], row["hands"]) == ("trained", 2, 5_000)
    assert row["problem"] is None
    assert "2 × 5,000 hands" in run("bots").stdout
    match = answer("match", "ectomynx", "ectomynx:first", "--game", "discard-holdem", "--hands", 20)
    assert match["hands"] == 20


def test_training_continues_where_it_was(home, answer):
    answer("train", "ectomynx", *SMALL, 1)
    further = answer("train", "ectomynx", *SMALL, 2)
    assert further["cycles"] == answer("train", "ectomynx", *SMALL, 2, "--out", "again")["cycles"]
    found, whole = load_training(home / "ectomynx"), load_training(home.parent / "again")
    np.testing.assert_array_equal(found.weights, whole.weights)
    assert answer("train", "ectomynx", *SMALL, 2)["hands_per_second"] is None  # nothing was left


def test_a_run_killed_before_its_cycle_ended_continues(home, answer):
    # All hands are played and kept; the match that ends the cycle is not.
    settings = FixedStrategy(hands=5_000)
    run = Training.begin(settings)
    level_training.play_block(settings, run)
    save_training(home / "ectomynx", settings, run)
    again = answer("train", "ectomynx", *SMALL, 1)
    assert again["hands_per_second"] is None
    whole = train(settings, cycles=1)
    np.testing.assert_array_equal(load_training(home / "ectomynx").weights, whole.weights)


def test_a_rate_for_regrets_is_refused(home, run):
    failed = run("train", "ectomynx-frc", "--rate", 0.1)
    assert failed.returncode == 2
    assert "only the exponential update has a rate" in " ".join(failed.stderr.split())
    assert not home.exists()


def test_progress_prints_speed_change_and_head_to_head(run):
    said = run("train", "ectomynx", *SMALL, 1).stderr
    assert "1 cycles of 5,000 hands, 5,000 to play, about " in said
    assert "iB of memory" in said.splitlines()[0]
    line = next(line for line in said.splitlines() if line.startswith("cycle 1: "))
    for words in ("probabilities changed by", "mbb/g (95 %) from the previous strategy", "hands/s"):
        assert words in line


def test_weights_are_cleaned_only_if_asked(home, answer):
    answer("train", "ectomynx", *SMALL, 1)
    answer("train", "ectomynx", *SMALL, 1, "--cleaning", 0.02, "--out", "clean")
    kept = load_training(home / "ectomynx").weights
    cleaned = load_training(home.parent / "clean").weights
    assert ((kept > 0) & (kept < 0.02)).any()
    assert not ((cleaned > 0) & (cleaned < 0.02)).any()


def test_the_improved_bot_is_trained_listed_and_played(home, answer):
    trained = answer("train", "ectomynx-frc", "--hands", 150, "--cycles", 1)
    assert trained["hands"] == 150
    whole = decision_training.train(decision_training.Decisions(hands=150), cycles=1)
    found = decision_training.load_training(home / "ectomynx-frc")
    np.testing.assert_array_equal(found.average, whole.average)
    row = listed(answer, "ectomynx-frc")
    assert (row["state"], row["cycles"], row["hands"]) == ("trained", 1, 150)
    match = answer(
        "match", "ectomynx-frc", "always-call", "--game", "discard-holdem", "--hands", 20
    )
    assert match["hands"] == 20
    other = answer(
        "train", "ectomynx-frc", "--hands", 150, "--cycles", 1, "--update", "exponential",
        "--out", "other",
    )  # fmt: skip
    assert other["cycles"] != trained["cycles"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--to", 3), "ectomynx learns in cycles: use --cycles and --hands, not --to"),
        (("--cycles", 0), "the number of cycles is at least 1, not 0"),
        (("--hands", 0), "a cycle needs at least one hand"),
        (("--cleaning", 1), "cleaning must be from 0 to 1"),
        (("--update", "regret"), "only ectomynx-frc has a choice"),
        (("--rate", "nan"), "a rate must be above zero and finite, not nan"),
        (("--force",), "learns in cycles: use --cycles and --hands, not --force"),
    ],
)
def test_what_cannot_be_gives_one_sentence(home, run, arguments, words):
    failed = run("train", "ectomynx", *arguments)
    assert failed.returncode == 2
    assert words in " ".join(failed.stderr.split())
    assert not home.exists()


def test_a_run_of_other_settings_or_version_is_refused(home, run, answer, monkeypatch):
    answer("train", "ectomynx", *SMALL, 1)
    failed = run("train", "ectomynx", "--hands", 10_000)
    assert failed.returncode == 2
    assert "bots/ectomynx was started with hands 5000, not 10000" in failed.stderr
    monkeypatch.setattr(level_training, "VERSION", 3)
    with pytest.raises(StorageError, match="started with version 2, not 3"):
        load_training(home / "ectomynx")
    assert "version 2, not 3" in listed(answer)["problem"]
    refused = run("match", "ectomynx", "always-call", "--game", "discard-holdem")
    assert refused.returncode == 2
    assert "started with version 2, not 3" in refused.stderr


def test_stacks_that_it_was_not_trained_for_are_refused(home, answer, run, tmp_path):
    answer("train", "ectomynx", *SMALL, 1)
    definition = answer("games", "show", "discard-holdem")["definition"]
    deep = tmp_path / "deep.game"
    deep.write_text(definition.replace("stack = 200 200", "stack = 400 400"))
    failed = run("match", "ectomynx", "always-call", "--game", deep)
    assert failed.returncode == 2
    assert "stacks of 200 and blinds of 1 and 2, not" in " ".join(failed.stderr.split())

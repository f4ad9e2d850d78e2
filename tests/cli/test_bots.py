"""Bots as their user meets them: listed, trained, trained on, played."""

import shutil
from dataclasses import replace

import numpy as np
import pytest

from equilibrist.abstraction.joint import Progress, joint
from equilibrist.abstraction.recipes import build
from equilibrist.games.catalog import get_game
from equilibrist.papers import range_of_skill
from equilibrist.solving.best_response import evaluate
from equilibrist.solving.solve import solve
from equilibrist.solving.training import prepare
from equilibrist.storage.artefact import open_artefact
from equilibrist.strategies.bots import BOTS, Bot, get_bot
from equilibrist.strategies.strategy import Solution, game_of

TINY = Bot(
    "tiny", "Few buckets of few cards", recipe="percentile", buckets=(1, 2, 4, 8),
    max_raises="1 1 1 1", target=1.0, game="royal-holdem", dtype="float64",
)  # fmt: skip
# The same buckets and counts, by the range of skill, to what one round cannot reach.
SKILLED = replace(
    TINY, name="skilled", family="tiny", solution="solution-skill", method="range-of-skill",
    target=40.0, looks=1,
)  # fmt: skip


@pytest.fixture
def bots(monkeypatch, tmp_path):
    """A folder to train in, where more bots are known."""
    monkeypatch.setitem(BOTS, SKILLED.name, SKILLED)
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


def test_bots_of_a_family_share_buckets_and_counts(bots, answer):
    answer("train", "tiny")
    before = {part: open_artefact(bots / "tiny" / part).hash for part in ("buckets", "counts")}
    skilled = answer("train", "skilled")
    assert skilled["method"] == "range-of-skill"
    assert skilled["mbb/g"] <= 40
    assert before == {part: open_artefact(bots / "tiny" / part).hash for part in before}
    assert not (bots / "skilled").exists()
    rows = {row["name"]: row for row in answer("bots")["bots"]}
    assert rows["skilled"]["mbb/g"] == pytest.approx(skilled["mbb/g"])
    assert rows["tiny"]["method"] == "cfr+"


def test_bigbot_is_smallbot_under_the_full_rules(bots, run):
    small, big = get_bot("smallbot"), get_bot("bigbot")
    assert (big.folder, big.solution) == (small.folder, small.solution)
    failed = run("match", "bigbot", "uniform")
    assert "`equilibrist train bigbot` makes bots/smallbot" in failed.stderr


def test_the_range_of_skill_goes_on_from_its_rounds(bots, answer):
    """The list, its utilities and the trace are those of a run that was never stopped."""
    whole = answer("train", "skilled")
    expected = Solution.load(bots / "tiny/solution-skill", in_memory=True)
    assert len(expected.trace) == whole["iterations"] >= 3
    shutil.rmtree(bots / "tiny/solution-skill")
    game, solver, store, _ = prepare(SKILLED, bots / "tiny")
    solve(game, solver, iterations=2, every=1, save=store.save)
    assert Solution.load(bots / "tiny/solution-skill").iterations == 2
    answer("train", "skilled")
    again = Solution.load(bots / "tiny/solution-skill")
    for name, array in expected.state.items():
        np.testing.assert_array_equal(again.state[name], array)
    without_seconds = [0, 2, 3, 4, 5]
    np.testing.assert_array_equal(
        again.trace[:, without_seconds], expected.trace[:, without_seconds]
    )


def test_the_paper_is_reproduced_beside_ours(bots, answer, run, monkeypatch, tmp_path):
    """The whole command on few cards: buckets, counts, stopped bot, matches and rounds."""
    family = {"family": "smallbot"}
    for name, settings in {
        "smallbot": {},
        "bigbot": family,
        "smallbot-stopped": family | {"solution": "solution-stopped", "target": 20.0, "looks": 1},
        "smallbot-skill": {**vars(SKILLED), **family},
    }.items():
        monkeypatch.setitem(BOTS, name, Bot(**vars(TINY) | settings | {"name": name}))
    monkeypatch.setattr(range_of_skill, "FINER", (2, 4, 8, 16))
    monkeypatch.setattr(range_of_skill, "STAND_INS", {"Teddy": "always-raise"})
    monkeypatch.setattr(range_of_skill, "BASELINES", ("always-fold",))
    answer("train", "smallbot")
    answer("train", "smallbot-skill")
    found = answer("reproduce", "range-of-skill", "--hands", 8, "--plot", tmp_path / "rounds.png")
    assert all({"name", "paper", "ours", "unit", "ci95"} <= set(row) for row in found["rows"])
    rows = {row["name"]: row["ours"] for row in found["rows"]}
    assert 0.01 < rows["smallbot-stopped: 5 buckets, 2 3 3 3, average"] <= 0.02
    assert rows["smallbot: 5 buckets, 2 3 3 3, average"] <= 0.001
    for bot in ("smallbot", "smallbot-stopped"):
        assert (
            rows[f"{bot}: 5 buckets, 2 3 3 3, average"]
            <= rows[f"{bot}: 10 buckets, 2 3 3 3, average"] + 1e-9
            <= rows[f"{bot}: 10 buckets, all raises, average"] + 2e-9
        )
    assert rows["BigBot2298 – Hyperborean"] is None
    assert rows["BigBot2298 – Teddy"] is not None
    assert rows["bigbot – always-fold"] is not None
    assert rows["ε after round 1"] > rows["ε after round 3"]
    assert (tmp_path / "rounds.png").stat().st_size > 0
    text = run("reproduce", "range-of-skill", "--hands", 8).stdout
    assert "no stand-in" in text
    assert "0.0690" in text


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

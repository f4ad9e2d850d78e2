"""Bots as their user meets them: listed, trained, trained on, played."""

import shutil
from dataclasses import replace

import numpy as np
import pytest

from equilibrist.abstraction.joint_counts import Joint, Progress, joint
from equilibrist.abstraction.recipes import build
from equilibrist.bots import listing
from equilibrist.bots.bot import BucketBot
from equilibrist.bots.registry import BOTS, strategy_of
from equilibrist.bots.training import needs, prepare
from equilibrist.errors import StorageError
from equilibrist.games.catalog import get_game
from equilibrist.papers.psopti import composing
from equilibrist.papers.range_of_skill import tables
from equilibrist.solving.best_response import evaluate
from equilibrist.solving.solve import Budget, solve
from equilibrist.storage.artefact import open_artefact
from equilibrist.strategies.solution import Solution, game_of

TINY = BucketBot(
    "tiny", "Few buckets of few cards", recipe="percentile", buckets=(1, 2, 4, 8),
    max_raises="1 1 1 1", target=1.0, game="royal-holdem", dtype="float64",
)  # fmt: skip
# The same buckets and counts, by the range of skill, to what one round cannot reach.
SKILLED = replace(
    TINY, name="skilled", family="tiny", solution="solution-skill", method="range-of-skill",
    target=40.0, evaluate_every=1,
)  # fmt: skip


GLUED = replace(
    BOTS["psopti2"], name="glued", description="Models of few buckets", buckets=(2, 2, 2, 2),
    max_raises="1 1 1 1", target=10.0, game="royal-holdem",
)  # fmt: skip
TWO_PHASES = replace(TINY, name="two-phases", last_round=2, target=20.0, player=BOTS["gs2"].player)


@pytest.fixture
def bots(add_bot, monkeypatch, tmp_path):
    """A folder to train in, where more bots are known."""
    for bot in (SKILLED, TWO_PHASES, GLUED, TINY):
        add_bot(bot)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "bots"


def listed(answer, name="tiny"):
    """The row of a bot in the list."""
    return next(row for row in answer("bots")["bots"] if row["name"] == name)


def test_a_bot_is_trained_listed_and_played(bots, answer, run):
    assert not listed(answer)["trained"]
    trained = answer("train", "tiny")
    assert trained["mbb/g"] <= 1
    assert trained["outcome"] == "target_reached"
    # The same from the library, all deals counted.
    buckets = build("percentile", get_game("royal-holdem"), [1, 2, 4, 8])
    assert (joint(buckets).wins == open_artefact(bots / "tiny/counts").arrays["wins"]).all()
    solution = Solution.load(bots / "tiny/solution")
    found = evaluate(game_of(solution), solution.plans)
    assert found.exploitability == pytest.approx(trained["exploitability"])
    row = listed(answer)
    assert row["trained"]
    assert row["mbb/g"] == pytest.approx(trained["mbb/g"])
    match = answer(
        "match", "solution:bots/tiny/solution", "uniform", "--game", "royal-holdem", "--hands", 5000
    )
    assert match["win_rate"] > 0
    assert "tiny" in run("bots").stdout


def test_a_bot_that_needs_a_gpu_is_listed_as_such(bots, add_bot, run, tmp_path):
    add_bot(replace(TINY, name="huge", minutes=9000.0))
    lines = {line.split()[0]: line for line in run("bots").stdout.splitlines()}
    assert "needs a GPU" in lines["smallbot-br"]
    assert "≈ 6 days" in lines["huge"]
    assert "training: about 347 days on two cores: it needs a GPU\n" in run(
        "bots", "show", "smallbot-br"
    ).stdout  # fmt: skip


def test_bots_are_ranked_by_real_exploitability(bots, answer, monkeypatch):
    won = {"gs3": 300.0, "psopti1": 653.0, "tiny": 150.0}
    listed_row = listing.bot_row

    def row(bot, folder):
        found = listed_row(bot, folder)
        return found | (
            {"real_game": won[bot.name], "real_game_estimate": False} if bot.name in won else {}
        )

    monkeypatch.setattr(listing, "bot_row", row)
    names = [row["name"] for row in answer("bots")["bots"]]
    assert names[:4] == ["tiny", "gs3", "psopti1", "smallbot"]


def test_training_continues_where_it_was(bots, answer):
    whole = answer("train", "tiny")
    again = answer("train", "tiny")
    assert again["iterations"] == whole["iterations"]
    further = answer("train", "tiny", "--to", 0.1)
    assert further["iterations"] > whole["iterations"]
    shutil.rmtree(bots)
    once = answer("train", "tiny", "--to", "0.001chips")  # 0.1 mbb/g: the big blind is 10 chips
    assert once["best_response"] == further["best_response"]
    assert once["to"] == further["to"] == "0.1mbb"


def test_a_training_pauses_in_time_and_continues(bots, answer, run):
    paused = run("train", "tiny", "--pause-after", 1e-6)
    assert paused.returncode == 0
    assert "paused in time; finished steps are saved, run the same command" in paused.stderr
    assert not (bots / "tiny/strategy").exists()
    assert answer("train", "tiny", "--pause-after", 3600)["outcome"] == "target_reached"
    refused = run("train", "tiny", "--pause-after", 0)
    assert refused.returncode == 2
    assert "--pause-after must be a number of seconds above zero, not 0" in refused.stderr


def test_the_range_of_skill_continues_to_a_new_target(bots, answer):
    answer("train", "tiny")
    first = answer("train", "skilled")
    assert answer("train", "skilled")["iterations"] == first["iterations"]
    assert answer("train", "skilled", "--to", 20)["mbb/g"] <= 20 < first["mbb/g"]


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
    small, big = BOTS["smallbot"], BOTS["bigbot"]
    assert (big.folder, big.solution) == (small.folder, small.solution)
    failed = run("match", "bigbot", "uniform")
    assert "run `equilibrist train bigbot`" in failed.stderr


def test_the_range_of_skill_continues_from_its_rounds(bots, answer):
    """The list, its utilities and the trace are those of a run that was never stopped."""
    whole = answer("train", "skilled")
    expected = Solution.load(bots / "tiny/solution-skill", in_memory=True)
    assert len(expected.trace) == whole["iterations"] >= 3
    shutil.rmtree(bots / "tiny/solution-skill")
    game, solver, store, _ = prepare(SKILLED, bots / "tiny")
    solve(game, solver, Budget(iterations=2, every=1), save=store.save)
    assert Solution.load(bots / "tiny/solution-skill").iterations == 2
    answer("train", "skilled")
    again = Solution.load(bots / "tiny/solution-skill")
    for name, array in expected.state.items():
        np.testing.assert_array_equal(again.state[name], array)
    without_seconds = [0, 2, 3, 4, 5]
    np.testing.assert_array_equal(
        again.trace[:, without_seconds], expected.trace[:, without_seconds]
    )


def test_the_paper_is_reproduced_beside_ours(bots, add_bot, answer, run, monkeypatch, tmp_path):
    """The whole command on few cards: buckets, counts, stopped bot, matches and rounds."""
    family = {"family": "smallbot"}
    for name, settings in {
        "smallbot": {},
        "bigbot": family,
        "smallbot-stopped": family
        | {"solution": "solution-stopped", "target": 20.0, "evaluate_every": 1},
        "smallbot-skill": {**vars(SKILLED), **family},
    }.items():
        add_bot(replace(TINY, **settings | {"name": name}))
    monkeypatch.setattr(tables, "FINER", (2, 4, 8, 16))
    monkeypatch.setattr(tables, "STAND_INS", {"Teddy": "always-raise"})
    monkeypatch.setattr(tables, "BASELINES", ("always-fold",))
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


def test_other_buckets_are_refused(bots, add_bot, run, answer):
    answer("train", "tiny")
    add_bot(replace(TINY, buckets=(1, 2, 4, 4)))
    failed = run("train", "tiny")
    assert failed.returncode == 2
    assert "bots/tiny/buckets was started with buckets 1-2-4-8, not 1-2-4-4" in failed.stderr


def test_counts_of_other_deals_are_refused(bots, add_bot, run, answer):
    """A sample is no counts of all deals, nor of more boards, nor of another seed."""
    add_bot(replace(TINY, boards=80))
    answer("train", "tiny")
    cases = {
        ("train", "tiny", "--seed", 1): "not of a sample of 80 boards with seed 1",
        ("train", "tiny", "--force"): "not of a sample of 160 boards with seed 0",
        ("train", "tiny"): "not of all deals",
    }
    for (arguments, words), boards in zip(cases.items(), (80, 160, None), strict=True):
        add_bot(replace(TINY, boards=boards))
        failed = run(*arguments)
        assert failed.returncode == 2
        assert "bots/tiny/counts holds counts of a sample of 80 boards with seed 0" in failed.stderr
        assert words in failed.stderr
        assert "remove it and the solutions beside it" in failed.stderr
    shutil.rmtree(bots / "tiny/counts")
    shutil.rmtree(bots / "tiny/solution")
    assert answer("train", "tiny")["boards"] is None
    add_bot(replace(TINY, boards=80))
    assert "holds counts of all deals" in run("train", "tiny").stderr


def test_every_step_is_forecast_and_refused_where_memory_is_short(bots, run, answer, monkeypatch):
    first = run("train", "tiny").stderr
    for step in ("buckets: ", "counts: ", "solution: "):
        assert f"  {step}" in first
    assert "already done" not in first
    assert run("train", "tiny").stderr.count("already done") == 2
    shutil.rmtree(bots)
    needed = needs(TINY, get_game("royal-holdem"), bots, 1).solution.bytes
    monkeypatch.setattr("equilibrist.solving.forecast.available_bytes", lambda: needed * 3 // 4)
    failed = run("train", "tiny")
    assert failed.returncode == 2
    assert "1-1-3-6 buckets would fit; force tries it anyway" in failed.stderr
    assert not bots.exists()
    assert run("train", "tiny", "--force").returncode == 0
    solved = ("solve", "bots/tiny/buckets", "--joint", "bots/tiny/counts", "--iterations", 1)
    refused = run(*solved)
    assert refused.returncode == 2
    assert "buckets would fit; force tries it anyway" in refused.stderr
    assert run(*solved, "--force").returncode == 0


def test_buckets_that_changed_under_a_strategy_are_named_everywhere(bots, run, answer):
    answer("train", "tiny")
    other = build("percentile", get_game("royal-holdem"), [1, 2, 4, 8], seed=0)
    last = replace(other.last, lower=other.last.lower + (np.arange(8) % 2))
    replace(other, last=last).save(bots / "tiny/buckets")
    player = "solution:bots/tiny/solution"
    for command in (
        ("exploit", "bots/tiny/solution"),
        ("match", player, "uniform", "--game", "royal-holdem"),
        ("play", player, "--game", "royal-holdem"),
    ):
        failed = run(*command)
        assert failed.returncode == 2
        assert "bots/tiny/buckets has changed since" in failed.stderr
        assert "its hash is" in failed.stderr
    assert "bots/tiny/buckets has changed since" in listed(answer)["problem"]
    assert "tiny: " in run("bots").stdout.splitlines()[-1]


def test_a_folder_that_cannot_be_read_does_not_hide_the_other_bots(bots, run, answer):
    answer("train", "tiny")
    (bots / "tiny/solution/manifest.json").write_text("{")
    row = listed(answer)
    assert (row["state"], row["trained"]) == ("unreadable", False)
    assert "manifest.json" in row["problem"]
    assert listed(answer, "smallbot")["state"] == "not trained"
    run("solve", "kuhn", "--iterations", 5, "--out", "other")
    shutil.copy("other/manifest.json", bots / "tiny/solution/manifest.json")
    assert "is a solution of kuhn, not of the bot's buckets" in listed(answer)["problem"]
    assert "tiny: " in run("bots").stdout.splitlines()[-1]


def test_a_damaged_strategy_is_written_again_from_the_solution(bots, run, answer):
    answer("train", "tiny")
    path = next((bots / "tiny/strategy").glob("chances0-*.npy"))
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    assert run("verify", "bots/tiny/strategy").returncode == 2
    answer("train", "tiny")
    assert run("verify", "bots/tiny/strategy").returncode == 0
    path = next((bots / "tiny/strategy").glob("chances0-*.npy"))
    assert path.read_bytes() == whole


def test_counts_that_changed_under_a_strategy_are_named(bots, run, answer):
    answer("train", "tiny")
    counts = open_artefact(bots / "tiny/counts")
    found = Joint.open(bots / "tiny/counts")
    Joint(found.wins, found.ties + 1, found.losses).save(bots / "tiny/counts", counts.parents)
    assert "bots/tiny/counts has changed since" in run("exploit", "bots/tiny/solution").stderr
    assert "bots/tiny/counts has changed since" in listed(answer)["problem"]


def test_a_bot_is_listed_with_where_it_is_from(answer, run):
    rows = {row["name"]: row for row in answer("bots")["bots"]}
    assert rows["smallbot"]["paper"] == "Zinkevich, Bowling and Burch 2007"
    assert rows["smallbot"]["boards"] is None
    assert rows["smallbot-quick"]["boards"] == 40_000
    text = run("bots").stdout
    assert "40,000 boards" in text
    assert "all deals" in text


def test_the_list_of_bots_fits_a_terminal_and_one_bot_is_shown_whole(bots, run, answer):
    assert all(len(line) <= 80 for line in run("bots").stdout.splitlines())
    text = run("bots", "show", "psopti1").stdout
    assert all(len(line) <= 80 for line in text.splitlines())
    assert text.startswith("psopti1: PsOpti1: Selby's preflop hold'em, then models")
    assert "\npaper: Billings et al. 2003\n" in text
    assert "\nboards: all deals\n" in text
    rows = {row["name"]: row for row in answer("bots")["bots"]}
    assert answer("bots", "show", "psopti1") == rows["psopti1"]
    wrong = run("bots", "show", "psopti9")
    assert (wrong.returncode, "did you mean psopti" in wrong.stderr) == (2, True)
    misplaced = run("bots", "--json", "show", "psopti1")
    assert (misplaced.returncode, "bots show NAME --json" in misplaced.stderr) == (2, True)


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
        (("train", "ectomnyx"), "did you mean ectomynx"),
        (("train", "smallbot", "--hands", "3"), "smallbot is solved to a target: use --to"),
        (("train", "smallbot", "--to", "0"), "target must be above zero"),
        (("train", "smallbot", "--to", "1%"), "smallbot starts without a pot of which 1% could be"),
        (("train", "smallbot", "--seconds", "-1"), "seconds must be above zero"),
        (("reproduce", "range-of-skill"), "run `equilibrist train smallbot`"),
        (("reproduce", "rang-of-skill"), "choose one of psopti, gs3, range-of-skill"),
        (("reproduce", "psopti"), "run `equilibrist train psopti1`"),
        (("reproduce", "gs3", "--plot", "a.png"), "gs3 does not use --plot"),
        (("reproduce", "cfr-plus", "--hands", 4), "cfr-plus does not use --hands"),
        (("match", "smallbot", "uniform"), "run `equilibrist train smallbot`"),
        (("exploit", "smalbot"), "add --real-game to evaluate the bot smallbot"),
        (("exploit", "gs3"), "add --real-game to evaluate the bot gs3"),
    ],
)
def test_what_cannot_be_gives_one_sentence(bots, run, arguments, words):
    failed = run(*arguments)
    assert failed.returncode == 2
    assert words in failed.stderr
    assert not bots.exists()


def test_a_bot_of_two_phases_is_trained_and_continues_at_the_table(bots, answer, run):
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
    assert {("turn" in line, line.split(": ")[1].split()[0]) for line in lines} == {
        (True, "2"),
        (False, "200"),  # as much work
    }
    # Time instead of iterations: what it has by then is played, and the log says so.
    late = f"gs2:1e-6,from={folder},log={log}"
    answer("match", late, "uniform", "--game", "royal-holdem", "--hands", 10)
    assert all(line.endswith(", out of time") for line in log.read_text().splitlines())
    refused = run("match", f"solution:{folder}", "uniform", "--game", "royal-holdem")
    assert refused.returncode == 2
    assert f"play it as gs2:from={folder}" in " ".join(refused.stderr.split())


# --- bots of several models -----------------------------------------------------------------------


def test_a_glued_bot_is_trained_model_by_model_listed_and_played(bots, answer):
    trained = answer("train", "glued")
    ways = ["preflop", "postflop-cc", "postflop-rc", "postflop-crc"]
    assert [model["model"] for model in trained["models"]] == ways
    assert all(model["mbb/g"] <= 10 for model in trained["models"])
    row = next(row for row in answer("bots")["bots"] if row["name"] == "glued")
    assert row["trained"]
    assert row["mbb/g"] == pytest.approx(max(model["mbb/g"] for model in trained["models"]))
    player = "solution:bots/glued/strategy"
    match = answer("match", player, "always-raise", "--game", "royal-holdem", "--hands", 2000)
    assert match["hands"] == 2000
    again = answer("train", "glued")
    assert [m["iterations"] for m in again["models"]] == [
        m["iterations"] for m in trained["models"]
    ]
    # A model that is solved anew leaves the glued strategy behind, until it is glued again.
    model = Solution.load(bots / "glued/postflop-rc", in_memory=True)
    first = model.plans[0].copy()
    first[-1] += 1e-9
    replace(model, plans=(first, model.plans[1])).save(bots / "glued/postflop-rc")
    with pytest.raises(StorageError, match="`equilibrist train glued` to glue these"):
        strategy_of("glued")
    composing.save_glued(GLUED, bots / "glued")
    assert strategy_of("glued").name == "strategy"


def test_an_opening_that_is_solved_better_has_its_models_solved_again(bots, answer):
    answer("train", "glued")
    before = Solution.load(bots / "glued/postflop-cc").game.priors
    answer("train", "glued", "--to", "1")
    after = Solution.load(bots / "glued/postflop-cc")
    assert after.game.priors != before
    assert after.certificate.exploitability <= 0.01

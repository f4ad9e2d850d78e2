"""Bots that are trained against best responses in the real game, on a deck of nine cards."""

import contextlib
import re
import shutil
from dataclasses import replace
from unittest import mock

import numpy as np
import pytest

from equilibrist import stopping
from equilibrist.abstraction.joint_counts import sampled_joint
from equilibrist.abstraction.recipes import build
from equilibrist.bots.bot import BucketBot, RealGameBot
from equilibrist.bots.listing import bot_row
from equilibrist.bots.registry import BOTS
from equilibrist.bots.train import TrainingOptions, TrainingReport, train
from equilibrist.cards.hand import NUM_HANDS
from equilibrist.errors import InvalidValueError, SolverError, StorageError
from equilibrist.evaluation.real_game.measure import RealGameMeasure
from equilibrist.evaluation.real_game.opponent import FlopOpponent
from equilibrist.games.bet_menu import BetMenu
from equilibrist.games.betting_tree import BettingTree
from equilibrist.games.catalog import GAMES, GameEntry, get_game
from equilibrist.solving import solve
from equilibrist.solving.certificate import check
from equilibrist.solving.short_state import rounded, widened
from equilibrist.solving.solve import Outcome
from equilibrist.stopping import Stopped
from equilibrist.storage.artefact import Header, open_artefact, write_artefact
from equilibrist.storage.checkpoint import CheckpointClock
from equilibrist.strategies.composition import GluedBuckets
from equilibrist.strategies.solution import Solution

pytestmark = pytest.mark.kernels

DECK = replace(
    get_game("holdem-limit"), name="nine-cards", num_ranks=3, num_suits=3, max_raises=(1, 1, 1, 1)
)
BOT = RealGameBot(
    "nine",
    "nine cards against best responses",
    game="nine-cards",
    recipe="percentile",
    buckets=(2, 2, 4, 4),
    max_raises="1 1 1 1",
    target=1.0,
    flops=7,
    measured=20,
    iterations=8,
    evaluate_every=4,
)
OPTIONS = TrainingOptions(threads=1)


@pytest.fixture(autouse=True)
def catalogued():
    with GAMES.added(GameEntry("nine-cards", "nine cards", DECK)):
        yield


def trained(bot, folder, options=OPTIONS):
    with BOTS.added(bot):
        return train(bot.name, folder, options=options)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("bot")
    with GAMES.added(GameEntry("nine-cards", "nine cards", DECK)):
        trained(BOT, found)
    return found


def test_the_strategy_is_as_exploitable_as_the_training_measured(folder):
    solution, betting = Solution.load(folder / "solution"), BettingTree.build(DECK)
    run = trained(BOT, folder).models[0].run
    buckets = build("percentile", DECK, [2, 2, 4, 4])
    found = FlopOpponent(betting, buckets, None).evaluate(solution.plans)
    assert found.best_response == pytest.approx(run.state["gains"].tolist(), rel=1e-3)
    best = np.min([row.evaluation.best_response for row in run.trace[:-1]], axis=0)
    assert run.state["gains"].tolist() == pytest.approx(best.tolist())
    assert run.evaluation.value == pytest.approx(solution.certificate.value)


def test_the_solution_has_a_certificate_within_its_buckets(folder):
    assert check(folder / "solution").matches
    row = bot_row(BOT, folder)
    assert row["trained"]
    assert (row["method"], row["iterations"]) == ("cfr-br", 8)


class StopsAt(TrainingReport):
    """Requests a stop after some iterations, and keeps what is said."""

    def __init__(self, *iterations):
        self.iterations, self.said = iterations, []

    def say(self, text):
        self.said.append(text)

    @contextlib.contextmanager
    def solving(self, game, solver, budget, bot):
        step = type(solver.solver).step

        def stopping_step(own, game, state, steps):
            step(own, game, state, steps)
            if int(state["iteration"]) in self.iterations:
                self.stop.request()

        with mock.patch.object(type(solver.solver), "step", stopping_step):
            yield None


def stopped(bot, folder, *iterations):
    """Train until a stop after an iteration; return the report."""
    report = StopsAt(*iterations)
    listening = stopping.on_signals(lambda text: None)
    with BOTS.added(bot), listening as report.stop, contextlib.suppress(Stopped):
        train(bot.name, folder, options=OPTIONS, report=report)
    return report


def test_a_training_that_is_stopped_anywhere_ends_with_the_numbers_of_one_that_is_not(
    folder, tmp_path
):
    report = stopped(BOT, tmp_path, 3)
    assert report.said[-1] == "nine has saved nothing yet: it saves every 4 iterations"
    assert not (tmp_path / "solution").exists()
    assert stopped(BOT, tmp_path, 4).said[-1].startswith("nine continues from iteration 4, saved")
    said = stopped(BOT, tmp_path, 7).said
    assert any("; 4 iterations are left" in text for text in said)
    assert trained(BOT, tmp_path).models[0].run.outcome is Outcome.BUDGET_SPENT
    for part in ("training", "solution"):
        found, wanted = open_artefact(tmp_path / part), open_artefact(folder / part)
        assert found.arrays.keys() == wanted.arrays.keys()
        for name, array in wanted.arrays.items():
            columns = np.s_[:, [0, 2, 3, 4, 5]] if name == "trace" else np.s_[...]  # not seconds
            np.testing.assert_array_equal(found.arrays[name][columns], array[columns], name)


def test_the_time_of_an_iteration_is_forecast(tmp_path):
    said = stopped(BOT, tmp_path, 1).said
    text = next(line for line in said if "iteration on" in line)
    assert re.fullmatch(
        r"an iteration on 7 flops takes about \S+ s, a measurement on 20 flops \S+ s; "
        r"8 iterations are left, about \S+ min",
        text,
    )


def test_the_forecast_counts_measurements_of_current_plans_too(tmp_path):
    bot = replace(BOT, measures_current=True, iterations=4)
    with mock.patch.object(FlopOpponent, "seconds", return_value=(0.0, 60.0)):
        said = stopped(bot, tmp_path, 1).said
    text = next(line for line in said if "iteration on" in line)
    assert text.endswith("a measurement on 20 flops 1.2e+02 s; 4 iterations are left, about 2 min")


def test_every_measurement_is_saved_even_if_no_checkpoint_is_due(tmp_path):
    never = mock.patch.object(CheckpointClock, "is_due", return_value=False)
    with never, mock.patch.object(solve, "_LONGEST_CHUNK", 0.0):  # one iteration at a time
        report = stopped(BOT, tmp_path, 7)
    assert report.said[-1].startswith("nine continues from iteration 4, saved")


def test_a_training_without_a_measurement_ends_with_one(tmp_path):
    """After one iteration buckets lose less to buckets, 1,845 mbb/g, than to cards."""
    bot, short = replace(BOT, target=1900.0), replace(OPTIONS, seconds=1e-3)
    run = trained(bot, tmp_path, short).models[0].run
    assert run.outcome is Outcome.BUDGET_SPENT
    buckets, plans = build("percentile", DECK, [2, 2, 4, 4]), Solution.load(tmp_path / "solution")
    found = FlopOpponent(BettingTree.build(DECK), buckets, None).evaluate(plans.plans)
    assert run.evaluation.best_response == pytest.approx(found.best_response)
    assert found.exploitability > 19.0


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"flops": 9}, "flops 7, not 9"),
        ({"measured": 7}, "measured flops 20, not 7"),
        ({"evaluate_every": 2}, "evaluate every 4, not 2"),
        ({"buckets": (2, 2, 2, 2)}, "buckets 2-2-4-4, not 2-2-2-2"),
    ],
)
def test_a_training_of_other_settings_is_refused(folder, change, text):
    with pytest.raises(StorageError, match=text):
        trained(replace(BOT, **change), folder)


def test_a_training_of_another_seed_is_refused(folder):
    with pytest.raises(StorageError, match="seed 0, not 1"):
        trained(BOT, folder, replace(OPTIONS, seed=1))


def test_a_damaged_checkpoint_is_refused(folder, tmp_path):
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    stored = open_artefact(tmp_path / "training", in_memory=True)
    header = Header(
        stored.kind,
        configuration=stored.configuration,
        info=stored.info,
        parents=stored.parents,
        timings={"seconds": 1.0},
    )
    regrets = stored.arrays["regret0"].copy()
    regrets[5] = 0x7FC0  # NaN
    arrays = stored.arrays | {"regret0": regrets}
    write_artefact(tmp_path / "training", header, arrays, may_be_infinite=("gains",))
    with pytest.raises(SolverError, match="regret0 of its state holds NaN after iteration 8"):
        trained(BOT, tmp_path)
    array = next((tmp_path / "training").rglob("*best1*"))
    content = bytearray(array.read_bytes())
    content[-1] ^= 1
    array.write_bytes(content)
    with pytest.raises(StorageError, match="training"):
        trained(BOT, tmp_path)


def test_a_checkpoint_of_other_buckets_is_refused(folder, tmp_path):
    other = replace(BOT, buckets=(2, 2, 2, 2), iterations=4)
    trained(other, tmp_path)
    shutil.rmtree(tmp_path / "training")
    shutil.copytree(folder / "training", tmp_path / "training")
    with pytest.raises(StorageError, match="another set of buckets"):
        trained(other, tmp_path)


def test_fewer_raises_than_the_game_has_are_refused():
    rules = replace(DECK, max_raises=(2, 1, 1, 1))
    betting = BettingTree.build(rules, BetMenu.parse(None, None, "1 1 1 1"))
    with pytest.raises(InvalidValueError, match="needs all raises of nine-cards, 2 1 1 1"):
        FlopOpponent(betting, build("percentile", rules, [2, 2, 4, 4]), None)


def test_what_has_no_real_cards_is_refused():
    betting, buckets = BettingTree.build(DECK), build("percentile", DECK, [2, 2, 4, 4])
    glued = GluedBuckets(np.zeros(NUM_HANDS, np.int16), buckets)
    for counts in (sampled_joint(buckets, num_boards=8), glued):
        text = f"deals real cards, so it needs buckets .*, not {type(counts).__name__}"
        for measure in (FlopOpponent, RealGameMeasure):
            with pytest.raises(InvalidValueError, match=text):
                measure(betting, counts, None)


def test_buckets_of_another_deck_are_refused():
    other = build("percentile", replace(DECK, name="twelve", num_ranks=4), [2, 2, 4, 4])
    with pytest.raises(InvalidValueError, match=r"of twelve, with 12 cards, and .* nine-cards, w"):
        FlopOpponent(BettingTree.build(DECK), other, None)


def test_numbers_of_checkpoints_have_eight_bits():
    numbers = np.random.default_rng(0).normal(size=1000).astype(np.float32)
    assert np.abs(widened(rounded(numbers)) / numbers - 1).max() <= 2**-8
    assert not widened(rounded(np.zeros(3, np.float32))).any()


BY_THE_REAL_GAME = TrainingOptions(threads=1, stop="real-game")
PLAIN = BucketBot(
    "nine-plain",
    "nine cards",
    game="nine-cards",
    recipe="percentile",
    buckets=(2, 2, 4, 4),
    max_raises="1 1 1 0",
    target=1.0,
    minutes=0.1,
)


def test_ordinary_training_stops_by_the_real_game(tmp_path):
    found = trained(PLAIN, tmp_path, BY_THE_REAL_GAME)
    run = found.models[0].run
    assert run.outcome is Outcome.FINISHED
    rows = [row.evaluation.best_response for row in run.trace[:-1]]
    assert run.state["gains"].tolist() == pytest.approx(np.min(rows, axis=0).tolist())
    assert run.evaluation.exploitability < run.trace[-2].exploitability  # of what is stored
    assert run.evaluation.best_response == pytest.approx(run.state["gains"].tolist())
    assert (tmp_path / "strategy-real-game").exists()
    assert not (tmp_path / "solution").exists()
    with BOTS.added(PLAIN):
        assert found.player == f"solution:{tmp_path / 'strategy-real-game'}"


def test_the_quick_bot_keeps_its_least_exploitable_strategy(tmp_path):
    quick = replace(
        BOTS["limit-quick"], name="tiny-quick", game="nine-cards", buckets=(2, 2, 4, 4),
        max_raises="1 1 1 1", boards=60, measured=20,
    )  # fmt: skip
    run = trained(quick, tmp_path).models[0].run
    rows = [row.evaluation.best_response for row in run.trace[:-1]]
    assert len(rows) > 1
    assert run.state["gains"].tolist() == np.min(rows, axis=0).tolist()
    assert run.outcome in (Outcome.FINISHED, Outcome.BUDGET_SPENT)
    row = bot_row(quick, tmp_path)
    assert (row["trained"], row["method"], row["boards"]) == (True, "cfr+", 60)


def test_what_training_cannot_stop_by_is_refused(tmp_path):
    with pytest.raises(InvalidValueError, match="stops by real-game, not by 'luck'"):
        trained(PLAIN, tmp_path, TrainingOptions(stop="luck"))
    with pytest.raises(InvalidValueError, match="gs2 solves its last rounds during play"):
        train("gs2", tmp_path, options=TrainingOptions(stop="real-game"))
    with pytest.raises(InvalidValueError, match="only variants of cfr can be stopped"):
        trained(replace(PLAIN, method="range-of-skill"), tmp_path, BY_THE_REAL_GAME)
    assert not list(tmp_path.iterdir())  # before any work
    with pytest.raises(InvalidValueError, match="no option stop"):
        train("psopti1", tmp_path, options=TrainingOptions(stop="real-game"))

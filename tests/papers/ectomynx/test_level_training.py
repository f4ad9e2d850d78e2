"""Tests of EctomynX's training: the report's worked example, its bugs, and resumed runs."""

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from equilibrist.errors import InvalidValueError, StorageError
from equilibrist.kernels.parts import kernel
from equilibrist.papers.ectomynx import level_training
from equilibrist.papers.ectomynx.betting_lines import BB, BU, Mark, all_lines, line_numbers
from equilibrist.papers.ectomynx.kernels import fixed_strategy
from equilibrist.papers.ectomynx.kernels.fixed_strategy import play_results
from equilibrist.papers.ectomynx.level_game import level_game
from equilibrist.papers.ectomynx.level_training import (
    FixedStrategy,
    Training,
    head_to_head,
    load_training,
    save_training,
    train,
    updated,
)
from equilibrist.papers.ectomynx.level_weights import (
    groups,
    line_block,
    line_starts,
    num_weights,
    report_start,
)
from equilibrist.papers.ectomynx.textures import CLASS_NAMES

TINY = FixedStrategy(hands=3000, seed=4)
EMPTY = np.zeros((2, num_weights(), 2), np.int64)


def pure(seat: int, slots: dict[tuple[Mark, ...], int]) -> np.ndarray:
    """Return weights that choose the same slot in all states of a line; slot 0 elsewhere."""
    weights = np.zeros(num_weights())
    for number, line in enumerate(all_lines()):
        block = line_block(weights, number)
        for group in groups(line, seat):
            block[:, group.start] = 1
        if line.history in slots:
            block[:] = 0
            block[:, slots[line.history]] = 1
    return weights


RAISED = (Mark(is_led=False, level=2),)


def test_profits_are_credited_with_the_printed_shares() -> None:
    # IV: BU raises to 6, BB calls; BB checks, BU bets 8, BB folds. BU +6 for the bet and +4.8 for
    # the raise; BB −6 and −4.8.
    flop = all_lines()[line_numbers()[RAISED]]
    bb = pure(BB, {(): 2, RAISED: flop.num_levels})  # call; check and fold
    bu = pure(BU, {(): 2, RAISED: 1})  # raise; bet against a check
    run = Training(np.array([bb, bu]), np.zeros((2, num_weights(), 2), np.int64))
    level_training.play_block(FixedStrategy(hands=500), run)
    start = line_starts()[line_numbers()[RAISED]]
    for seat, sign in ((BB, -1), (BU, 1)):
        profit, visits = run.sums[seat].T
        per_visit = {
            "preflop": profit[:start].sum() / 125 / visits[:start].sum(),
            "flop": profit[start:].sum() / 125 / visits[start:].sum(),
        }
        assert per_visit == pytest.approx({"preflop": 4.8 * sign, "flop": 6.0 * sign})


@pytest.mark.parametrize("meant", [0, 3])
def test_a_player_that_has_not_acted_learns_nothing(meant: int) -> None:
    # BU folds first: BB wins a chip whatever it intended, and has decided nothing.
    run = Training(np.array([pure(BB, {(): meant}), pure(BU, {})]), np.zeros_like(EMPTY))
    level_training.play_block(FixedStrategy(hands=500), run)
    assert not run.sums[BB].any()
    assert run.sums[BU].sum(axis=0).tolist() == [-125 * 500, 500]


@pytest.mark.parametrize("rate", [100.0, 1e6])
def test_large_rates_choose_the_most_profitable_slot(rate: float) -> None:
    weights, sums = np.array([report_start(BB), report_start(BU)]), EMPTY.copy()
    weights[:, :6] = (0, 0.5, 0.3, 0.2, 0, 0)
    sums[BB, :6] = [(125 * won, 1) for won in (9, 1, 8, 7, 9, 9)]  # weights of zero do not count
    assert updated(weights, sums, rate)[BB, :6] == pytest.approx([0, 0, 1, 0, 0, 0], abs=1e-40)


@pytest.mark.parametrize("rate", [0.0, -1.0, float("nan"), float("inf")])
def test_invalid_rates_are_refused(rate: float) -> None:
    with pytest.raises(InvalidValueError, match="a rate must be above zero and finite, not"):
        FixedStrategy(rate=rate)


def test_weights_are_multiplied_and_sum_to_one_again() -> None:
    weights = np.array([report_start(BB), report_start(BU)])
    sums = np.zeros((2, num_weights(), 2), np.int64)
    row = 7 * 6  # the seventh class before the flop: 92o folds, limps or raises
    weights[:, row : row + 6] = (0.5, 0.3, 0.2, 0, 0, 0)
    sums[BB, row + 1] = (125 * 30, 10)  # three chips per visit
    sums[BB, row + 2] = (-125 * 8, 4)  # minus two
    found = updated(weights, sums, rate=0.1)
    expected = np.array([0.5, 0.3 * np.exp(0.3), 0.2 * np.exp(-0.2), 0, 0, 0])
    np.testing.assert_allclose(found[BB, row : row + 6], expected / expected.sum(), rtol=1e-12)
    np.testing.assert_allclose(found[BU], weights[BU], atol=1e-15)


def test_cleaning_is_off_by_default() -> None:
    weights = np.array([report_start(BB), report_start(BU)])
    weights[:, :6] = (0.004, 0.596, 0.4, 0, 0, 0)
    sums = np.zeros((2, num_weights(), 2), np.int64)
    assert updated(weights, sums, rate=0.1)[BB, 0] == pytest.approx(0.004)
    cleaned = updated(weights, sums, rate=0.1, cleaning=0.005)[BB, :6]
    assert cleaned == pytest.approx(np.array([0, 0.596, 0.4, 0, 0, 0]) / 0.996)


@kernel(cache=False)
def choose(weights, start, stop, number):
    return fixed_strategy.choose(weights, start, stop, number)


def test_slots_of_weight_zero_are_never_chosen() -> None:
    # V: "3-bet shoving the river with 10 high (the probability … initialized to 0 …)".
    numbers = [0.0, 0.3, 0.7, 1 - 2**-53]
    for weights in ([0, 0.1, 0.2, 0.7, 0], [0.1] * 3 + [0], [0, 0, 1], [0, 1 / 3, 1 / 3, 1 / 3, 0]):
        chosen = {choose(np.array(weights), 0, len(weights), number) for number in numbers}
        assert all(weights[place] > 0 for place in chosen)


def test_weights_of_zero_stay_zero(monkeypatch) -> None:
    monkeypatch.setattr(level_training, "_MATCH_DEALS", 1000)
    start = Training.begin(TINY).weights
    trained = train(TINY, cycles=2).weights
    assert not trained[start == 0].any()
    assert (trained != start).any()


def test_a_hand_made_by_a_swap_is_played_by_its_new_class() -> None:
    # V: "Flopping middle pair, …, then swapping to make a set, and checking the rest of the way".
    # Weights that bet only three of a kind: on the turn and river every bet is one.
    three = CLASS_NAMES.index("three of a kind")
    weights = pure(BB, {})
    lines = [number for number, line in enumerate(all_lines()) if line.street > 0]
    for number in lines:
        block = line_block(weights, number).reshape(14, -1, all_lines()[number].num_slots)
        block[three] = 0
        block[three, :, 1] = 1
    weights[: 169 * 6] = np.tile([0, 1, 0, 0, 0, 0], 169)
    passive = pure(BU, {(): 1})
    count = 4000
    profits, streets = np.zeros((2, count), np.int64)
    traces = np.zeros((count, 4, 2, 2), np.int64)
    play_results(level_game(), weights, passive, np.uint64(5), 0, profits, traces, streets)
    bets = set()
    for trace, last in zip(traces, streets, strict=True):
        for street in range(1, last):
            place = int(trace[street, BB, 0])
            number = int(np.searchsorted(line_starts(), place, side="right")) - 1
            line = all_lines()[number]
            state, slot = divmod(place - int(line_starts()[number]), line.num_slots)
            strength = state // (len(line_block(weights, number)) // 14)
            assert (slot == 1) == (strength == three)
            if slot == 1:
                bets.add(street)
    assert bets == {1, 2, 3}


def test_a_strategy_ties_with_itself_and_a_folder_loses() -> None:
    weights = np.array([report_start(BB), report_start(BU)])
    assert head_to_head(weights, weights, deals=2000) == (0, 0)  # the same hands in both seats
    folder = np.array([pure(BB, {}), pure(BU, {})])
    won, error = head_to_head(weights, folder, deals=20_000, seed=1)
    assert won > 0.5 + 4 * error
    back, _ = head_to_head(folder, weights, deals=20_000, seed=1)
    assert back < 0


def test_a_cycle_wins_from_the_one_before() -> None:
    run = train(FixedStrategy(hands=400_000, seed=2), cycles=1)
    assert run.cycles[0].win_rate > 5 * run.cycles[0].standard_error
    assert run.cycles[0].mean_change > 0


def test_a_stopped_run_resumes_to_the_same_weights(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(level_training, "_MATCH_DEALS", 1000)
    monkeypatch.setattr(level_training, "_BLOCK", 700)
    whole = train(TINY, cycles=2)
    monkeypatch.setattr(level_training, "_BLOCK", 1100)

    class Stopped(Exception):  # noqa: N818
        pass

    def stop(run: Training) -> None:
        save_training(tmp_path, TINY, run)
        if len(run.cycles) == 1 and run.hands_done > 1000:
            raise Stopped

    with pytest.raises(Stopped):
        train(TINY, cycles=2, watch=stop)
    again = train(TINY, cycles=2, out=tmp_path, resume=True)
    np.testing.assert_array_equal(again.weights, whole.weights)
    stored = load_training(tmp_path)
    np.testing.assert_array_equal(stored.weights, whole.weights)
    assert [cycle.number for cycle in stored.cycles] == [1, 2]
    assert stored.cycles[0].mean_change == whole.cycles[0].mean_change


def test_other_settings_and_versions_are_refused(tmp_path, monkeypatch) -> None:
    save_training(tmp_path, TINY, Training.begin(TINY))
    with pytest.raises(StorageError, match="started with seed 4, not 5"):
        load_training(tmp_path, FixedStrategy(hands=3000, seed=5))
    monkeypatch.setattr(level_training, "VERSION", 3)
    with pytest.raises(StorageError, match="started with version 2, not 3"):
        load_training(tmp_path)
    with pytest.raises(InvalidValueError, match="start from report or random"):
        FixedStrategy(start="zero")
    with pytest.raises(InvalidValueError, match="at least one hand"):
        FixedStrategy(hands=0)


KILLED = """
import sys
from pathlib import Path
from equilibrist.papers.ectomynx import level_training
from equilibrist.storage import checkpoint
level_training._MATCH_DEALS, level_training._BLOCK = 1000, 20_000
level_training._FIRST_SAVE, checkpoint.SHARE = 0.0, 1e9
settings, out = level_training.FixedStrategy(hands=200_000, seed=4), Path(sys.argv[1])
level_training.train(settings, 2, out=out, resume=(out / "manifest.json").exists())
"""


@pytest.mark.slow
def test_a_killed_run_resumes_to_the_same_weights(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(level_training, "_MATCH_DEALS", 1000)
    whole = train(FixedStrategy(hands=200_000, seed=4), cycles=2)
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
    np.testing.assert_array_equal(load_training(tmp_path).weights, whole.weights)


def written(folder: Path) -> int:
    """Return the number of times a run has been written to a folder."""
    manifest = folder / "manifest.json"
    return json.loads(manifest.read_text())["generation"] if manifest.exists() else 0

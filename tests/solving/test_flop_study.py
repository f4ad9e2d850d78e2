"""Studies of many flops: the same as spots solved one by one, stored, stopped and continued."""

import dataclasses

import numpy as np
import pytest

from equilibrist import stopping
from equilibrist.errors import EquilibristError, StorageError
from equilibrist.games.catalog import get_game
from equilibrist.models.spot import Chips, Spot
from equilibrist.solving import flop_study
from equilibrist.solving.flop_study import FlopStudy, check_nodes, flop_list, sample_flop
from equilibrist.solving.solve import Budget
from equilibrist.solving.spot_run import SolvedSpot, solve_spot, solver
from equilibrist.stopping import Stopped
from equilibrist.strategies.flop_report import mean_result

ROYAL = dataclasses.replace(get_game("holdem-nolimit"), name="royal-nolimit", num_ranks=5)
RANGES = ("AQ,JJ,KTs", "KK,QJs,AT:0.5")
FLOPS = "AsKdTc:12,QsJhTh:24,KsKhJs:12"
BY = solver("cfr+", 32)
BUDGET = Budget(iterations=20)


def situation(board="AsKdTc", ranges=RANGES, **options):
    chips = Chips(pot=40, stack=60)
    return Spot.of(board, *ranges, chips, game=ROYAL, bets="50% / a / a", raises="a", **options)


@pytest.fixture(scope="module")
def study():
    return FlopStudy.of(situation(), BY, FLOPS)


@pytest.fixture(scope="module")
def report(study):
    return study.run(BUDGET, nodes=("c", "r20"))


def test_every_flop_is_the_spot_solved_alone(study, report):
    for name, result in zip(study.subset.names, report.results, strict=True):
        spot = situation(name)
        alone = solve_spot(spot, BY, spot.build(), BUDGET)
        assert result.name == spot.board
        assert result.values == alone.shares.values
        assert result.exploitability == alone.run.evaluation.exploitability
        first, after = (alone.answers().at(node) for node in ("", "c"))
        assert result.nodes[0].frequencies == tuple(first.frequencies)
        assert result.nodes[1].frequencies == tuple(after.frequencies)
        assert result.equity == pytest.approx(first.mean_equity, abs=1e-6)
        assert sum(result.values) == pytest.approx(40)


def test_the_reach_of_a_node_is_the_frequency_of_the_actions_that_lead_there(report):
    for result in report.results:
        first, *after = result.nodes
        assert first.reach == pytest.approx(1, abs=1e-6)
        for at, frequency in zip(after, first.frequencies, strict=True):
            assert at.reach == pytest.approx(frequency, abs=1e-5)


def test_means_weigh_flops_by_probability_and_nodes_by_reach(study, report):
    weights, mean = study.subset.weights, report.mean
    values = np.array([own.values for own in report.results])
    np.testing.assert_allclose(mean.values, weights @ values)
    assert mean.equity == pytest.approx(study.subset.mean_equity)
    often = np.array([own.nodes[1].frequencies for own in report.results])
    reach = weights * [own.nodes[1].reach for own in report.results]
    np.testing.assert_allclose(mean.nodes[1].frequencies, reach @ often / reach.sum())
    assert mean.nodes[1].reach == pytest.approx(reach.sum())
    assert mean.weight == pytest.approx(1)


@pytest.mark.parametrize("by", ["suits", "pairs", "high"])
def test_groups_divide_the_flops(report, by):
    groups = report.groups(by)
    assert sum(own.weight for own in groups) == pytest.approx(1)
    again = mean_result("mean", groups)
    assert again.values == pytest.approx(report.mean.values)
    for at, other in zip(again.nodes, report.mean.nodes, strict=True):
        assert at.frequencies == pytest.approx(other.frequencies)
    with pytest.raises(EquilibristError, match="suits, pairs, high, not 'colour'"):
        report.groups("colour")


def test_rows_have_one_column_per_action_of_each_node(report):
    rows = report.rows()
    assert [row["flop"] for row in rows] == [own.name for own in report.results]
    assert rows[0]["equity_oop"] + rows[0]["equity_ip"] == 1
    columns = {"first c", "first r20", "c reach", "c c", "c r20", "r20 f", "r20 c", "r20 r60"}
    assert columns <= set(rows[0])


def test_a_stopped_study_continues_and_ends_with_the_same_numbers(study, report, tmp_path):
    study.open_or_start(tmp_path)
    seen = []

    def stop_after_one(progress):
        seen.append(progress)
        stop.request()

    with stopping.on_signals() as stop, pytest.raises(Stopped):
        study.run(BUDGET, nodes=("c",), out=tmp_path, report=stop_after_one)
    assert [own.number for own in seen] == [1]
    folders = [tmp_path / name for name in study.subset.names]
    assert [(folder / "manifest.json").exists() for folder in folders] == [True, False, False]
    with pytest.raises(StorageError, match="2 of the 3 flops"):
        study.read(tmp_path)
    half = situation(study.subset.names[1])
    solve_spot(half, BY, half.build(), Budget(iterations=7), out=folders[1])  # killed midway
    again = FlopStudy.load(tmp_path)
    study.check_same(again, tmp_path)
    found = again.run(BUDGET, nodes=("c", "r20"), out=tmp_path)
    assert found.results == report.results
    assert again.read(tmp_path, ("c", "r20")).results == report.results


def test_finished_flops_are_not_solved_again(study, tmp_path, monkeypatch):
    study.open_or_start(tmp_path)
    study.run(BUDGET, out=tmp_path)
    monkeypatch.setattr(flop_study, "solve_spot", lambda *_, **__: pytest.fail("solved again"))
    report = study.run(BUDGET, out=tmp_path)
    assert len(report.results) == 3
    assert SolvedSpot.open(tmp_path / "KsKhJs").spot.board == "KsKhJs"


def test_another_study_is_refused_in_the_same_folder(study, tmp_path):
    study.open_or_start(tmp_path)
    for text, message in ((FLOPS.replace("24", "12"), "weights"), ("AsKdTc:12", "flops")):
        with pytest.raises(StorageError, match=message):
            FlopStudy.of(situation(), BY, text).open_or_start(tmp_path)
    other = FlopStudy.of(situation(ranges=("AQ,JJ", RANGES[1])), BY, FLOPS)
    with pytest.raises(StorageError, match="another spot"):
        other.open_or_start(tmp_path)


@pytest.mark.parametrize("node", ["x", "r20r7", "cc", "cc/", "cc/c", "r20f"])
def test_only_decisions_on_the_flop_can_be_reported(study, node):
    with pytest.raises(EquilibristError, match=r"not a node|not a decision on the flop"):
        check_nodes(study.spot, (node,))


def test_a_study_starts_on_flops():
    turn = Spot.of("AsKdTcJc", *RANGES, Chips(pot=40, stack=60), game=ROYAL, bets="a")
    with pytest.raises(EquilibristError, match="three of five board cards"):
        FlopStudy.of(turn, BY, "3")


def test_lists_come_from_numbers_texts_and_files(tmp_path):
    assert flop_list(7) == flop_list(" 7 ") == 7
    path = tmp_path / "flops.txt"
    path.write_text("# two flops\nAsKdTc:12\nQsJhTh:24\n")
    assert flop_list(path) == flop_list(str(path)) == path.read_text()
    assert len(FlopStudy.of(situation(), BY, flop_list(path)).subset.boards) == 2
    with pytest.raises(StorageError, match=r"missing\.txt: No such file"):
        flop_list("missing.txt")
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(StorageError, match="not text"):
        flop_list(path)


def test_the_sample_flop_leaves_both_ranges_a_hand():
    board = sample_flop(5, ("AsKs", "AhKh"), ROYAL.deck)
    spot = situation(board, ("AsKs", "AhKh"))
    assert all(own.num_combos for own in spot.ranges)
    assert sample_flop("QsJhTh:3,AsKdTc:1", RANGES) == "QsJhTh"

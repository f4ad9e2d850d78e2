"""Tests that `reproduce cfr-plus` prints the results of the algorithms."""

from __future__ import annotations

import json

import numpy as np
import pytest

from equilibrist.cli.runs import draw_curves
from equilibrist.display import curves
from equilibrist.errors import SolverError
from equilibrist.games.catalog import get_game
from equilibrist.kernels.treeplex import block, boards, decisions, num_rounds
from equilibrist.models.exact import exact_game
from equilibrist.papers.cfr_plus import claims
from equilibrist.solving.cfr import CFR_VARIANTS
from equilibrist.solving.solve import Budget, solve


@pytest.fixture(scope="module")
def reproduced():
    return claims.reproduce({"kuhn": 400, "leduc": 300})


def test_rows_equal_the_results_of_a_plain_run(reproduced):
    rows = {row.name: row for row in reproduced[0]}
    for method in ("cfr", "cfr+"):
        run = solve(exact_game(get_game("leduc")), CFR_VARIANTS[method], Budget(iterations=300))
        row = rows[f"leduc: {method}, average strategy"]
        assert row.ours == pytest.approx(run.evaluation.exploitability, abs=1e-12)
        assert (row.iterations, row.unit) == (300, "chips")


def test_cfr_plus_is_ahead_of_cfr_and_its_current_strategy_converges(reproduced):
    ours = {row.name: row.ours for row in reproduced[0]}
    for game in ("kuhn", "leduc"):
        assert ours[f"{game}: cfr+, average strategy"] < ours[f"{game}: cfr, average strategy"] / 2
        assert ours[f"{game}: cfr+, current strategy"] < ours[f"{game}: cfr, current strategy"] / 2


def test_every_curve_ends_with_its_row(reproduced):
    rows, curves = reproduced
    for row, curve in zip(rows, curves, strict=False):
        assert row.name.startswith(curve.game)
        assert curve.iterations[[0, -1]].tolist() == [1, row.iterations]
        assert curve.exploitability[-1] == row.ours
    assert len(curves) == 8


def test_results_of_the_full_game_are_not_yet_reached(reproduced):
    missing = [(row.paper, row.unit) for row in reproduced[0] if row.ours is None]
    assert missing == [(0.986, "mbb/g"), (1_579, "iterations")]


def test_the_sum_of_regrets_goes_over_every_information_set():
    game = exact_game(get_game("leduc"))
    rng = np.random.default_rng(2)
    state = {f"regret{player}": rng.normal(size=game.lengths[player]) for player in (0, 1)}
    largest = [
        max(0.0, block(tree, r, board, state[f"regret{player}"])[rows, column].max())
        for player, tree in enumerate(game.trees)
        for r in range(num_rounds(tree))
        for board in boards(tree, r)
        for _, _, rows in decisions(tree, r)
        for column in range(int(tree.num_states[board]))
    ]
    assert len(largest) == game.num_infosets
    assert claims.regret_sum(game, state) == pytest.approx(sum(largest), abs=1e-12)


def test_a_violated_bound_stops_the_reproduction(monkeypatch):
    monkeypatch.setattr(claims, "regret_bound", lambda game, t: 100.0 if t < 7 else 0.0)
    with pytest.raises(SolverError, match="after 7 iterations, where equation 7 allows 0"):
        claims.reproduce({"kuhn": 10})


@pytest.fixture
def printed(run, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # a folder without trained bots
    monkeypatch.setattr(claims, "GAMES", {"kuhn": 40, "leduc": 20, "rhode-island": 10**9})

    def printed(*options: str) -> str:
        result = run("reproduce", "cfr-plus", "--quick", *options)
        assert result.returncode == 0, result.stderr
        return result.stdout

    return printed


def test_the_command_prints_the_paper_beside_ours_and_draws(printed, tmp_path):
    picture = tmp_path / "cfr-plus.png"
    lines = printed("--plot", str(picture)).splitlines()
    assert lines[0].split()[:4] == ["what", "paper", "ours", "unit"]
    assert [line.split()[0] for line in lines[1:9]] == 4 * ["kuhn:"] + 4 * ["leduc:"]
    assert "0.986  not yet    mbb/g" in lines[9]
    assert "1,579  not yet    iterations" in lines[10]
    assert [line.split()[0] for line in lines[13:-1]] == [
        "always-call", "always-fold",
        "Rockhopper", "Polaris", "GGValuta", "Polaris", "Hyperborean", "Cepheus",
    ]  # fmt: skip
    assert lines[-1] == "to add our bots, run: equilibrist exploit smallbot --real-game"
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_the_picture_has_figure_s1_with_our_bots(tmp_path, monkeypatch):
    drawn = []
    monkeypatch.setattr(curves, "save_picture", lambda figure, path: drawn.append(figure))
    ours = {"name": "smallbot", "real_game": 360.9, "real_game_estimate": False}
    curve = claims.Curve("kuhn", "cfr", np.array([1, 2]), np.array([0.5, 0.2]), "chips")
    draw_curves([curve], claims.figure_s1([ours]), tmp_path / "figure.png")
    axes = drawn[0].axes[-1]
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names[:4] == ["always-call", "always-fold", "smallbot", "Rockhopper 2010"]
    widths = {name: bar.get_width() for name, bar in zip(names, axes.patches, strict=True)}
    assert widths == claims.MEASURED | {"smallbot": 360.9}
    colours = {name: bar.get_facecolor() for name, bar in zip(names, axes.patches, strict=True)}
    assert colours.pop("smallbot") not in colours.values()
    assert axes.get_ylim()[0] > axes.get_ylim()[1]  # the first is at the top


def test_the_command_gives_its_rows_as_json(printed):
    rows = json.loads(printed("--json"))["rows"]
    assert set(rows[0]) == {"name", "paper", "ours", "unit", "iterations", "regret", "bound"}
    assert rows[0]["regret"] <= rows[0]["bound"]
    assert rows[-1]["ours"] is None

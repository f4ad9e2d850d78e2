"""What the range of skill says of a game, in words and in JSON."""

from __future__ import annotations

import math
from typing import Any

from equilibrist.cli.options import table
from equilibrist.papers.range_of_skill.solver import SkillReport

_MOST_LISTED = 20  # strategies in the list
_MOST_PAIRED = 7  # and in the table of pairs, which has to fit a line
_WIDTH = 9  # characters of an amount
_ROUNDING = 1e-12  # amounts below are none


def report_data(report: SkillReport, epsilon: float) -> dict[str, Any]:
    """The whole report; amounts are in the game's unit, strategies count from 1."""
    return {
        "epsilon": epsilon,
        "lower_bound": report.lower_bound(epsilon),
        "ranked": [i + 1 for i in report.ranked(epsilon)],
        "gains": [None, *report.gains[1:].tolist()],  # nobody was before the first
        "weights": report.weights.tolist(),
        "table": report.table.tolist(),
    }


def report_text(report: SkillReport, epsilon: float) -> str:
    """The list, who beats whom, and the measure of the game; long lists lose their middle."""
    length, unit, bound = len(report.gains), report.unit, report.lower_bound(epsilon)
    ranks = [
        ("…", "", "")
        if i is None
        else (f"{i + 1}", _amount(report.gains[i]), f"{report.weights[i]:.4f}")
        for i in _ends(length, _MOST_LISTED)
    ]
    pairs = _ends(length, _MOST_PAIRED)
    wins = [
        (
            "…" if i is None else f"{i + 1}",
            *(_pair(report, i, j) for j in pairs),
        )
        for i in pairs
    ]
    columns = ("…" if j is None else f"{j + 1:{_WIDTH}}" for j in pairs)
    return "\n".join(
        [
            f"The list: a strategy wins at least its ε, in {unit}, from each before it.",
            table(ranks, header=("strategy", f"{'ε':>{_WIDTH}}", "weight in the answer")),
            "",
            f"What the strategy of a row wins from that of a column, in {unit}:",
            table(wins, header=("", *columns)),
            "",
            f"The range of skill: {bound:,} strategies that each win more than ε = {epsilon:g} "
            f"{unit} from all before, so ROS_ε ≥ {bound:,}; a strategy plays both seats.",
        ]
    )


def _ends(length: int, most: int) -> list[int | None]:
    """Places in a list; None stands for the middle of one that is too long.

    Example:
        >>> _ends(3, most=5), _ends(100, most=5)
        ([0, 1, 2], [0, 1, None, 98, 99])
    """
    if length <= most:
        return [*range(length)]
    half = most // 2
    return [*range(half), None, *range(length - half, length)]


def _pair(report: SkillReport, i: int | None, j: int | None) -> str:
    if j is None:
        return "…"
    return "…".rjust(_WIDTH) if i is None else _amount(report.table[i, j])


def _amount(number: float) -> str:
    """Three digits; a dash where nobody was there to be beaten."""
    if not math.isfinite(number):
        return "–".rjust(_WIDTH)
    return f"{0.0 if abs(number) < _ROUNDING else number:{_WIDTH}.3g}"

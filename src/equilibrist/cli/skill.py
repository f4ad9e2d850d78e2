"""The report of the range-of-skill method as text and as JSON."""

from __future__ import annotations

import math
from typing import Any

from equilibrist.cli.options import table
from equilibrist.papers.range_of_skill.solver import SkillReport

_MOST_LISTED = 20  # maximum number of strategies in the list
_MOST_PAIRED = 7  # maximum in the table of pairs, which must fit the width of a line
_WIDTH = 9  # characters per amount
_ROUNDING = 1e-12  # smaller amounts are printed as zero


def report_data(report: SkillReport, epsilon: float) -> dict[str, Any]:
    """Return the report as JSON; amounts are in the game's unit, strategies count from 1."""
    return {
        "epsilon": epsilon,
        "lower_bound": report.lower_bound(epsilon),
        "ranked": [i + 1 for i in report.ranked(epsilon)],
        "gains": [None, *report.gains[1:].tolist()],  # the first strategy has no predecessor
        "weights": report.weights.tolist(),
        "table": report.table.tolist(),
    }


def report_text(report: SkillReport, epsilon: float) -> str:
    """Return the list, the table of pairs and the lower bound as text; long lists are cut."""
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
            f"Strategies: each wins at least its ε, in {unit}, from each one before it.",
            table(ranks, header=("strategy", f"{'ε':>{_WIDTH}}", "weight in the solution")),
            "",
            f"Win rate of the row's strategy against the column's, in {unit}:",
            table(wins, header=("", *columns)),
            "",
            f"Range of skill: {bound:,} strategies, each of which wins more than ε = {epsilon:g} "
            f"{unit} from all before it, so ROS_ε ≥ {bound:,}; a strategy plays both seats.",
        ]
    )


def _ends(length: int, most: int) -> list[int | None]:
    """Return the indices of a list; None stands for the omitted middle of a long one.

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
    """Return an amount with three digits, or a dash if it is not finite."""
    if not math.isfinite(number):
        return "–".rjust(_WIDTH)
    return f"{0.0 if abs(number) < _ROUNDING else number:{_WIDTH}.3g}"

"""Runs and results of lower layers as notebooks display them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, TypeVar

from equilibrist.display.notebook import curve_svg, table_html
from equilibrist.solving.solve import Run
from equilibrist.strategies.solution import RAKED_COLUMNS

_T = TypeVar("_T")


def converted(kind: type[_T], found: Any) -> _T:
    """Return a result of a lower layer as its subclass here, which notebooks can display."""
    return kind(**{field.name: getattr(found, field.name) for field in fields(found)})


def curve_rows(run: Run) -> list[dict[str, Any]]:
    """Return one row per evaluation of a run."""
    trace = run.trace_array()
    labels = RAKED_COLUMNS[1 : trace.shape[1]]
    return [
        {"iteration": int(iteration), **dict(zip(labels, numbers, strict=True))}
        for iteration, *numbers in trace.tolist()
    ]


def run_html(title: str, run: Run, rows: Sequence[tuple[str, str]]) -> str:
    """Return a run as a small table and the curve of its exploitability."""
    points = [(float(row.iteration), row.evaluation.exploitability) for row in run.trace]
    label = f"{run.evaluation.measure}, {run.evaluation.unit}"
    return table_html((), rows, title) + curve_svg(points, "iterations", label)

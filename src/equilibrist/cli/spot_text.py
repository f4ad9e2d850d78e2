"""A solved spot and its nodes as text, JSON and CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from equilibrist.cards.hand import hand_name
from equilibrist.cards.range import parse_range
from equilibrist.cli.node_text import (
    actions_table,
    grid_with_legend,
    hands_table,
    head_text,
    wrapped,
)
from equilibrist.cli.options import table
from equilibrist.models.money import CHIPS
from equilibrist.models.spot import Spot
from equilibrist.solving.forecast import SpotForecast
from equilibrist.solving.spot_run import SolvedSpot
from equilibrist.solving.suggestions import Suggestion, Writer
from equilibrist.solving.target import Goal
from equilibrist.storage.memory import gigabytes
from equilibrist.storage.output_file import write_output
from equilibrist.strategies.spot_report import SEATS as SEATS
from equilibrist.strategies.spot_report import NodeReport


def forecast_text(
    spot: Spot, needed: SpotForecast, available: int, found: Sequence[Suggestion], write: Writer
) -> str:
    """Return the forecast of a spot in words; `write` writes an argument and its value."""
    fits = needed.bytes <= available
    lines = [
        wrapped(f"{spot.board}, {money_text(spot)}; {spot.written_menu}"),
        wrapped(f"{needed}"),
        f"{gigabytes(available)} are free: it {'fits' if fits else 'does not fit'}",
    ]
    if not fits:
        are_smaller = any(suggestion.fits for suggestion in found)
        lines.append("would fit, cheapest cut first:" if are_smaller else "the smallest tried:")
        lines += [f"  {suggestion.text(write)}" for suggestion in found]
    return "\n".join(lines)


def checks(done: SolvedSpot, folder: Path) -> tuple[list[str], str]:
    """Return the checks that an opened spot has passed, as JSON and as a line of text."""
    if done.is_checked_whole:
        return ["checksums", "schema"], f"{folder}: all checksums match"
    return (
        ["checksums of the blocks that were read", "schema"],
        f"{folder}: all checksums of the data read match; `equilibrist verify` checks all data",
    )


def result_text(done: SolvedSpot, goal: Goal | None = None) -> str:
    """Return a solved spot in one sentence, followed by its locks."""
    spot, run = done.spot, done.run
    locks = "".join(f"\nlocked {text}" for text in spot.locks)
    target = "" if goal is None else f", target {goal}"
    if target and run.evaluation.rake is not None:
        target += " for the mean"
    return (
        f"{spot.board}, {money_text(spot)}; {done.solver.name}, "
        f"{int(run.state['iteration']):,} iterations in {run.seconds:.2f} s: "
        f"{done.shares.proof()}{target}; {done.shares}{locks}"
    )


def money_text(spot: Spot) -> str:
    """Return the pot, the stacks and the rake of a spot; chips need no unit."""
    unit = spot.money
    ending = "" if unit.name == CHIPS else f" {unit.name}"
    parts = [f"pot {unit.text(spot.pot)}{ending}"]
    if spot.stack is not None and spot.stacks is not None:
        parts.append(f"{unit.text(spot.stack)}{ending} behind")
        if min(spot.stacks) < max(spot.stacks):
            first, second = map(unit.text, spot.stacks)
            parts[-1] += f" (the effective stack of {first} and {second})"
    if spot.rake is not None:
        cap = "" if spot.rake_cap is None else f" up to {spot.rake_cap.removesuffix(unit.name)}"
        parts.append(f"rake {spot.rake}{cap}{ending if cap else ''}")
    return ", ".join(parts)


def _chosen(report: NodeReport, hands: str) -> list[int]:
    """Return the positions of a range's hands within a report."""
    if not hands.strip():
        return []
    weights = parse_range(hands).weights
    return [place for place, hand in enumerate(report.hands) if weights[hand] > 0]


def report_data(report: NodeReport, hands: str = "") -> dict[str, Any]:
    """Return a node as JSON, with all hands or those of a range."""
    places = _chosen(report, hands or "random")
    return {
        **report.summary(),
        "hands": [
            {
                "hand": hand_name(int(report.hands[place])),
                "weight": float(report.weight[place]),
                "equity": float(report.equity[place]),
                "value": float(report.value[place]),
                "probabilities": report.probabilities[place].tolist(),
                "values": report.values[place].tolist(),
            }
            for place in places
        ],
    }


def report_text(report: NodeReport, hands: str, palette: str) -> str:
    """Return a node as text: its actions, its grid, and the hands of a range."""
    lines = [
        wrapped(head_text(report)),
        actions_table(report),
        "",
        grid_with_legend(report, palette),
    ]
    places = _chosen(report, hands)
    if places:
        lines += ["", hands_table(report, [[place] for place in places])]
    return "\n".join(lines)


def runouts_text(reports: list[NodeReport]) -> str:
    """Return a table with one line per next card."""
    header = ("card", "equity", reports[0].unit, *reports[0].action_words)
    rows = [
        (
            report.board[-2:],
            f"{100 * report.mean_equity:.1f} %",
            f"{report.mean_value:.4g}",
            *(f"{100 * frequency:.1f} %" for frequency in report.frequencies),
        )
        for report in reports
    ]
    node = f"{reports[0].node!r} ({reports[0].words})"
    return f"{reports[0].seat} acts at {node}\n{table(rows, header=header)}"


def write_csv(report: NodeReport, path: Path) -> None:
    """Write the hands of a node as CSV, one per line."""
    names = report.actions
    header = ["hand", "weight", "equity", "value"]
    header += [f"chance {name}" for name in names] + [f"value {name}" for name in names]
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(header)
    for place, hand in enumerate(report.hands):
        numbers = (
            report.weight[place], report.equity[place], report.value[place],
            *report.probabilities[place], *report.values[place],
        )  # fmt: skip
        writer.writerow([hand_name(int(hand)), *(f"{number:.9g}" for number in numbers)])
    write_output(path, text.getvalue())

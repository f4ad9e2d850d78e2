"""A node of any strategy as text and JSON: whose turn it is, its actions, its hands."""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import Sequence
from typing import Any

from equilibrist.cli.options import table
from equilibrist.display.grid import grid_text, legend_text
from equilibrist.strategies.node_strategy import NodeStrategy
from equilibrist.strategies.spot_report import NodeReport

_COLUMNS = 80


def has_colour() -> bool:
    """Return whether stdout is a terminal that shows colours."""
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ


def head_text(report: NodeStrategy) -> str:
    """Return a sentence on a node: whose turn it is, the betting so far, the board and the pot."""
    node = f"at {report.node!r} ({report.words})" if report.node else "first"
    board = f" on {report.board}" if report.board else ""
    to_call = f", {report.to_call:,} to call" if report.to_call else ""
    text = f"{report.seat} acts {node}{board}, pot {report.pot:,}{to_call}"
    if isinstance(report, NodeReport) and len(report.hands):
        text += f": equity {100 * report.mean_equity:.2f} %, expects "
        text += f"{report.mean_value:.4g} {report.unit}"
    return text


def wrapped(text: str, ending: str = "") -> str:
    """Return a sentence in lines of at most 80 characters; the ending stays in one line."""
    lines = textwrap.wrap(text, _COLUMNS, break_long_words=False, break_on_hyphens=False)
    if ending and len(lines[-1]) + 1 + len(ending) <= _COLUMNS:
        lines[-1] += f" {ending}"
    elif ending:
        lines.append(ending)
    return "\n".join(lines)


def actions_table(report: NodeStrategy) -> str:
    """Return the actions in words, their notation and frequency; in a spot also their value."""
    header, rows = ["action", "node", "frequency"], []
    for place, (word, name) in enumerate(zip(report.action_words, report.actions, strict=True)):
        row = [word, name, f"{100 * report.frequencies[place]:.1f} %"]
        if isinstance(report, NodeReport):
            weight = report.share * report.probabilities[:, place]
            mean = weight @ report.values[:, place] / weight.sum() if weight.any() else None
            row.append("—" if mean is None else _chips(mean))
        rows.append(row)
    if isinstance(report, NodeReport):
        header.append(report.unit)
    return table(rows, header=header)


def grid_with_legend(report: NodeStrategy, palette: str) -> str:
    """Return the 13 × 13 grid of a node and the lines that explain it."""
    colour = has_colour()
    grid = grid_text(report, colour=colour, palette=palette)
    return f"{grid}\n{legend_text(report, colour=colour, palette=palette)}"


def hands_table(report: NodeStrategy, groups: Sequence[Sequence[int]]) -> str:
    """Return one row for each group of hands that play alike, its first hand for all."""
    rows = []
    for group in groups:
        place = group[0]
        row = [row_name(report, group), f"{report.weight[place]:.4g}"]
        if isinstance(report, NodeReport):
            row += [f"{100 * report.equity[place]:.1f} %", _chips(report.value[place])]
        rows.append([*row, *(f"{100 * own:.1f} %" for own in report.probabilities[place])])
    first = ["hand", "reach"]
    first += ["equity", report.unit] if isinstance(report, NodeReport) else []
    return wide_table(rows, first, report.actions, report.action_words)


def wide_table(
    rows: Sequence[Sequence[object]],
    first: Sequence[str],
    actions: Sequence[str],
    words: Sequence[str],
) -> str:
    """Return a table whose last columns are actions: notation and words, if 80 columns hold both.

    Otherwise the columns have the notation, and a line below explains it.
    """
    both = [f"{action} {word}" for action, word in zip(actions, words, strict=True)]
    text = table(rows, header=[*first, *both])
    if max(map(len, text.splitlines())) <= _COLUMNS:
        return text
    return f"{table(rows, header=[*first, *actions])}\n{wrapped(', '.join(both))}"


def row_name(report: NodeStrategy, group: Sequence[int]) -> str:
    """Return the name of a group of hands, such as `KhQh ×4` for four hands."""
    name = report.hand_name(group[0])
    return name if len(group) == 1 else f"{name} ×{len(group)}"


def hand_text(report: NodeStrategy, place: int) -> str:
    """Return what one hand does: the probability of each action and, in a spot, its value."""
    rows = []
    for a, (word, name) in enumerate(zip(report.action_words, report.actions, strict=True)):
        row = [word, name, f"{100 * report.probabilities[place, a]:.2f} %"]
        if isinstance(report, NodeReport):
            row.append(_chips(report.values[place, a]))
        rows.append(row)
    reach = f"reach {100 * report.weight[place]:.4g} %"
    header = ["action", "node", "probability"]
    if isinstance(report, NodeReport):
        header.append(report.unit)
        reach += f", equity {100 * report.equity[place]:.2f} %, "
        reach += f"{_chips(report.value[place])} {report.unit}"
    return f"{report.hand_name(place)}: {reach}\n{table(rows, header=header)}"


def _chips(value: float) -> str:
    """Return chips with four digits; rounding errors around 0 are 0.

    Example:
        >>> _chips(149.234), _chips(-4e-6)
        ('149.2', '0')
    """
    return "0" if abs(value) < 5e-4 else f"{value:.4g}"


def node_data(report: NodeStrategy, groups: Sequence[Sequence[int]]) -> dict[str, Any]:
    """Return a node as JSON, one row for each group of hands that play alike."""
    first = [group[0] for group in groups]
    data = {
        "node": report.node,
        "words": report.words,
        "board": report.board,
        "player": report.player,
        "pot": report.pot,
        "to_call": report.to_call,
        "actions": list(report.actions),
        "action_words": list(report.action_words),
        "frequencies": report.frequencies.tolist(),
        "hands": [row_name(report, group) for group in groups],
        "probabilities": report.probabilities[first].tolist(),
        "reach": report.weight[first].tolist(),
    }
    if isinstance(report, NodeReport):
        data |= {
            "values": report.values[first].tolist(),
            "equity": report.equity[first].tolist(),
        }
    return data

"""Results as HTML for notebooks, and as pandas data frames.

HTML is plain text: tables, and curves as inline SVG. Nothing is imported to draw it.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from equilibrist.cards.hand import class_name
from equilibrist.display.grid import class_at, colours
from equilibrist.errors import InvalidValueError

if TYPE_CHECKING:
    from equilibrist.strategies.spot_report import NodeReport

_WIDTH, _HEIGHT, _MARGIN = 420, 200, 30  # of a curve, in pixels
_EMPTY = "#e5e7eb"  # colour of hands that do not reach a node


def table_html(header: Sequence[str], rows: Sequence[Sequence[object]], caption: str = "") -> str:
    """Return an HTML table; its texts are escaped.

    Example:
        >>> table_html((), [("A<K", 31)])
        '<table><tbody><tr><td>A&lt;K</td><td>31</td></tr></tbody></table>'
    """
    head = f"<thead>{_row('th', header)}</thead>" if header else ""
    body = "".join(_row("td", row) for row in rows)
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f"<table>{title}{head}<tbody>{body}</tbody></table>"


def _row(cell: str, texts: Sequence[object]) -> str:
    return f"<tr>{''.join(f'<{cell}>{escape(str(text))}</{cell}>' for text in texts)}</tr>"


def curve_svg(points: Sequence[tuple[float, float]], horizontal: str, vertical: str) -> str:
    """Return a curve as inline SVG with logarithmic axes; "" for fewer than two points above zero.

    Each point has a circle whose title is its two numbers.
    """
    shown = [(x, y) for x, y in points if 0 < x < math.inf and 0 < y < math.inf]
    if len(shown) < 2:
        return ""
    horizontals, verticals = zip(*shown, strict=True)
    across, up = _scaled(horizontals, _WIDTH), _scaled(verticals, _HEIGHT)
    places = list(zip(across, up, strict=True))
    line = " ".join(f"{x:.1f},{_HEIGHT - y:.1f}" for x, y in places)
    dots = "".join(
        f'<circle cx="{x:.1f}" cy="{_HEIGHT - y:.1f}" r="3" fill="#2563eb">'
        f"<title>{escape(f'{a!r}, {b!r}')}</title></circle>"
        for (x, y), (a, b) in zip(places, shown, strict=True)
    )
    low, high = min(verticals), max(verticals)
    first, last = min(horizontals), max(horizontals)
    texts = "".join(
        f'<text x="{x}" y="{y}" font-size="11" text-anchor="{anchor}">{escape(text)}</text>'
        for x, y, anchor, text in (
            (4, 12, "start", f"{vertical}, {high:.3g} to {low:.3g}"),
            (_WIDTH - 4, _HEIGHT - 6, "end", f"{horizontal}, {first:.3g} to {last:.3g}"),
        )
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{_HEIGHT}" '
        f'viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img">'
        f'<polyline points="{line}" fill="none" stroke="#2563eb"/>{dots}{texts}</svg>'
    )


def _scaled(numbers: Sequence[float], size: int) -> list[float]:
    """Return logarithms scaled to the pixels between the margins."""
    logs = [math.log(number) for number in numbers]
    low, span = min(logs), (max(logs) - min(logs)) or 1.0
    return [_MARGIN + (size - 2 * _MARGIN) * (log - low) / span for log in logs]


def grid_html(report: NodeReport) -> str:
    """Return the 13 × 13 grid of a node: each class coloured by its actions, numbers in titles."""
    *_, weight, frequency = report.by_class()
    shades = colours(report.actions)
    lines = []
    for row in range(13):
        cells = []
        for column in range(13):
            number = class_at(row, column)
            cells.append(_cell(report, number, float(weight[number]), frequency[number], shades))
        lines.append(f"<tr>{''.join(cells)}</tr>")
    legend = " ".join(
        f'<span style="background:{shade};color:#000;padding:0 4px">'
        f"{escape(name)} {100 * mean:.1f} %</span>"
        for name, shade, mean in zip(report.actions, shades, report.frequencies, strict=True)
    )
    where = escape(f"{report.board} {report.node}".strip())
    return (
        f"<div>{where}, pot {report.pot}: {legend}</div>"
        f'<table style="border-collapse:collapse">{"".join(lines)}</table>'
    )


def _cell(
    report: NodeReport, number: int, weight: float, frequency: Any, shades: Sequence[str]
) -> str:
    """Return the cell of a hand class; each colour's width is the frequency of its action."""
    name = escape(class_name(number))
    style = "color:#000;text-align:center;width:2.6em;font-size:11px;border:1px solid #fff;"
    if not weight > 0:
        return f'<td style="{style}background:{_EMPTY}" title="{name}: not held">{name}</td>'
    stops, begin = [], 0.0
    for shade, share in zip(shades, frequency.tolist(), strict=True):
        stops.append(f"{shade} {begin:.1f}% {begin + 100 * share:.1f}%")
        begin += 100 * share
    often = ", ".join(
        f"{action} {100 * share:.1f} %"
        for action, share in zip(report.actions, frequency.tolist(), strict=True)
    )
    title = escape(f"{class_name(number)}: weight {weight:.4f}, {often}")
    shade = f"background:linear-gradient(90deg,{','.join(stops)})"
    return f'<td style="{style}{shade}" title="{title}">{name}</td>'


def data_frame(rows: Sequence[Mapping[str, Any]]) -> Any:
    """Return rows as a pandas data frame; raise `InvalidValueError` if pandas is not installed."""
    try:
        pandas = importlib.import_module("pandas")
    except ImportError:
        raise InvalidValueError(
            "data frames need pandas: pip install pandas; rows() returns the same as dictionaries"
        ) from None
    return pandas.DataFrame(list(rows))

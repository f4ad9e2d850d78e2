"""Pictures of how exploitability falls."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from equilibrist.display.picture import save_picture
from equilibrist.models.game import SequenceGame

Line: TypeAlias = tuple[Any, Any]  # horizontal and vertical numbers


class Bars(NamedTuple):
    """Numbers by name as horizontal bars, from top to bottom; some are marked by their colour."""

    title: str
    label: str
    numbers: Mapping[str, float]
    marked: Collection[str] = ()


def draw_traces(traces: Mapping[str, NDArray[np.float64]], game: SequenceGame, path: Path) -> None:
    """Draw exploitability against seconds, one line per method, both axes logarithmic."""
    lines: dict[str, Line] = {name: (trace[:, 1], trace[:, 2]) for name, trace in traces.items()}
    draw_panels({game.name: lines}, "seconds", f"exploitability, {game.unit}", path)


def draw_panels(
    panels: Mapping[str, Mapping[str, Line]],
    horizontal: str,
    vertical: str,
    path: Path,
    bars: Bars | None = None,
) -> None:
    """Draw panels side by side, each with its lines by name, then bars; needs the extra `plot`."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    number = len(panels) + (bars is not None)
    figure, axes = pyplot.subplots(
        1, number, figsize=(1 + 5 * number, 4), squeeze=False, layout="constrained"
    )
    if bars is not None:
        _draw_bars(axes[0][-1], bars)
    for axis, (title, lines) in zip(axes[0], panels.items(), strict=False):
        for name, (x, y) in lines.items():
            shown = (np.asarray(x) > 0) & (np.asarray(y) > 0)
            axis.loglog(np.asarray(x)[shown], np.asarray(y)[shown], marker=".", label=name)
        axis.set(title=title, xlabel=horizontal, ylabel=vertical)
        axis.grid(alpha=0.3, which="both")
        axis.legend()
    try:
        save_picture(figure, path)
    finally:
        pyplot.close(figure)


def _draw_bars(axis: Any, bars: Bars) -> None:
    """Draw bars with their numbers on a logarithmic axis."""
    names = list(bars.numbers)
    colours = ["tab:orange" if name in bars.marked else "tab:blue" for name in names]
    drawn = axis.barh(names, list(bars.numbers.values()), color=colours)
    axis.bar_label(drawn, fmt="{:.4g}", padding=2)
    axis.invert_yaxis()
    axis.set(title=bars.title, xlabel=bars.label, xscale="log")
    axis.margins(x=0.2)
    axis.grid(alpha=0.3, axis="x")

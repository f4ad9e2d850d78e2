"""Pictures of one situation on many flops."""

from __future__ import annotations

from pathlib import Path

from equilibrist.display.grid import colours
from equilibrist.display.picture import save_picture
from equilibrist.errors import InvalidValueError
from equilibrist.strategies.flop_report import FlopReport

_MOST_NAMES = 100  # flops whose names fit under a picture


def draw_flops(report: FlopReport, path: Path, node: str = "", palette: str = "usual") -> None:
    """Draw the frequency of each action at a node, one bar per flop; needs the extra `plot`.

    Flops are in order of the frequency of the first action; a line has its mean over all flops.
    """
    from matplotlib.figure import Figure

    names = [at.node for at in report.mean.nodes]
    if node not in names:
        raise InvalidValueError(
            f"the report has no node {node!r}; it has {', '.join(map(repr, names))}", value=node
        )
    place = names.index(node)
    mean = report.mean.nodes[place]
    ordered = sorted(report.results, key=lambda own: -own.nodes[place].frequencies[0])
    figure = Figure(
        figsize=(max(6.0, min(16.0, 2 + 0.32 * len(ordered))), 4.5), layout="constrained"
    )
    axes = figure.subplots()
    below = [0.0] * len(ordered)
    for a, (action, colour) in enumerate(
        zip(mean.actions, colours(mean.actions, palette), strict=True)
    ):
        heights = [100 * own.nodes[place].frequencies[a] for own in ordered]
        label = f"{action}, mean {100 * mean.frequencies[a]:.0f} %"
        axes.bar(range(len(ordered)), heights, 0.9, bottom=below, color=colour, label=label)
        below = [low + height for low, height in zip(below, heights, strict=True)]
    axes.axhline(100 * mean.frequencies[0], color="black", linewidth=0.8, linestyle="--")
    flops = [own.name for own in ordered] if len(ordered) <= _MOST_NAMES else []
    axes.set_xticks(range(len(flops)), flops, rotation=90, family="monospace")
    axes.margins(x=0.01)
    axes.set(ylim=(0, 100), ylabel="frequency, %")
    seat = ("out of position", "in position")[mean.player]
    axes.set_title(f"{seat}, {'first decision' if not node else 'after ' + node}")
    figure.legend(loc="outside lower center", ncols=len(mean.actions), frameon=False)
    save_picture(figure, path)

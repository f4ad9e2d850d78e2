"""Pictures of how exploitability falls."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from equilibrist.display.picture import save_picture
from equilibrist.models.game import SequenceGame

Line: TypeAlias = tuple[Any, Any]  # horizontal and vertical numbers


def draw_traces(traces: Mapping[str, NDArray[np.float64]], game: SequenceGame, path: Path) -> None:
    """Draw exploitability against seconds, one line per method, both axes logarithmic."""
    lines: dict[str, Line] = {name: (trace[:, 1], trace[:, 2]) for name, trace in traces.items()}
    draw_panels({game.name: lines}, "seconds", f"exploitability, {game.unit}", path)


def draw_panels(
    panels: Mapping[str, Mapping[str, Line]], horizontal: str, vertical: str, path: Path
) -> None:
    """Draw panels side by side, each with its lines by name; needs the extra `plot`."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(
        1, len(panels), figsize=(1 + 5 * len(panels), 4), squeeze=False, layout="constrained"
    )
    for axis, (title, lines) in zip(axes[0], panels.items(), strict=True):
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

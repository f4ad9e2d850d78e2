"""The cross table of a tournament as rows, text, CSV and a picture."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from equilibrist.cli.options import table
from equilibrist.display.picture import save_picture

if TYPE_CHECKING:
    from equilibrist.play.tournament import CrossTable


def cross_rows(found: CrossTable, chips: float) -> dict[str, Any]:
    """Return win rates, standard errors and bankrolls, divided by `chips`, the chips per unit."""
    return {
        "rates": (found.rates / chips).tolist(),
        "errors": (found.errors / chips).tolist(),
        "bankrolls": (found.bankrolls() / chips).tolist(),
    }


def cross_text(data: dict[str, Any]) -> str:
    """Return the cross table and both rankings as text."""
    names = data["players"]
    rows = []
    for i, name in enumerate(names):
        cells = [
            "" if rate is None else f"{rate:.1f}" + ("" if error is None else f" ± {error:.1f}")
            for rate, error in zip(data["table"][i], data["standard_errors"][i], strict=True)
        ]
        rows.append((name, *cells, f"{data['bankrolls'][i]:.1f}"))
    return "\n".join(
        [
            f"{data['game']}, {data['hands']:,} hands per pair; the row wins from the column, "
            f"{data['unit']} ± standard error",
            table(rows, header=("", *names, "average")),
            f"bankroll: {', '.join(data['bankroll_ranking'])}",
            f"instant runoff: {', '.join(data['runoff_ranking'])}",
        ]
    )


def write_csv(path: Path, names: tuple[str, ...], rows: dict[str, Any]) -> None:
    """Write the table as CSV: win rates, their average, then standard errors."""
    import csv
    import io

    from equilibrist.storage.output_file import write_output

    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["", *names, "average", *(f"± {name}" for name in names)])
    lines = zip(names, rows["rates"], rows["bankrolls"], rows["errors"], strict=True)
    for name, rates, mean, errors in lines:
        writer.writerow([name, *map(_cell, rates), mean, *map(_cell, errors)])
    write_output(path, text.getvalue())


def _cell(number: float) -> float | str:
    return "" if math.isnan(number) else number


def draw_table(data: dict[str, Any], path: Path) -> None:
    """Draw the table: what the row wins from the column, darker colours for larger amounts."""
    import numpy as np
    from matplotlib.figure import Figure

    names, rates = data["players"], np.array(data["table"], np.float64)
    figure = Figure(figsize=(2 + 1.1 * len(names), 1.5 + 0.8 * len(names)), layout="constrained")
    axes = figure.subplots()
    most = 1.5 * max(float(np.nanmax(np.abs(rates))), 1e-9)  # keeps all numbers readable
    image = axes.imshow(rates, cmap="RdBu", vmin=-most, vmax=most, aspect="auto")
    for i, j in np.argwhere(~np.isnan(rates)):
        error = data["standard_errors"][i][j]
        text = f"{rates[i, j]:.1f}" + ("" if error is None else f"\n± {error:.1f}")
        axes.text(j, i, text, ha="center", va="center", fontsize=8)
    axes.set_xticks(range(len(names)), names, rotation=30, ha="right")
    axes.set_yticks(range(len(names)), names)
    axes.set_title(f"{data['game']}, {data['hands']:,} hands per pair")
    figure.colorbar(image, label=f"won by the row, {data['unit']} (± standard error)")
    save_picture(figure, path)

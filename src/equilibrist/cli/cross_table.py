"""The cross table of a tournament as rows, text, CSV and a picture."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from equilibrist.cli.options import table
from equilibrist.display.picture import save_picture

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from equilibrist.games.rules import GameRules
    from equilibrist.play.tournament import CrossTable, Tournament


def cross_data(found: CrossTable, plan: Tournament, rules: GameRules) -> dict[str, Any]:
    """Return the report of a tournament; rates are in a unit of the game, None on the diagonal."""
    from equilibrist.evaluation.statistics import chips_of_unit

    unit, chips = chips_of_unit(rules, None)
    names = found.names
    return {
        "game": rules.name,
        "unit": unit,
        "hands": plan.hands,
        "duplicate": plan.duplicate,
        "seed": plan.seed,
        "players": list(names),
        "table": _rows(found.rates / chips),
        "standard_errors": _rows(found.errors / chips),
        "bankrolls": (found.bankrolls() / chips).tolist(),
        "bankroll_ranking": [names[i] for i in found.bankroll_ranking()],
        "runoff_ranking": [names[i] for i in found.runoff_ranking()],
    }


def _rows(table: NDArray[np.float64]) -> list[list[float | None]]:
    return [[None if math.isnan(cell) else cell for cell in row] for row in table.tolist()]


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


def write_csv(path: Path, data: dict[str, Any]) -> None:
    """Write the table as CSV: win rates, their average, then standard errors."""
    import csv
    import io

    from equilibrist.storage.output_file import write_output

    text, names = io.StringIO(), data["players"]
    writer = csv.writer(text)
    writer.writerow(["", *names, "average", *(f"± {name}" for name in names)])
    columns = data["table"], data["bankrolls"], data["standard_errors"]
    for name, rates, mean, errors in zip(names, *columns, strict=True):
        writer.writerow([name, *rates, mean, *errors])  # None is written as nothing
    write_output(path, text.getvalue())


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

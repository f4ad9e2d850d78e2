"""Draws an abstraction: preflop buckets, bucket sizes and the spread of equity within them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from equilibrist.abstraction.buckets import Abstraction
from equilibrist.abstraction.features import strength_scales
from equilibrist.display.picture import save_picture
from equilibrist.papers.abstractions import StudyRow


def draw(found: Abstraction, path: Path) -> None:
    """Draw an abstraction to a file; needs the extra `plot`."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(13, 4.2), layout="constrained")
    grid, sizes, spread = figure.subplots(1, 3)
    _draw_first_street(found, grid)
    probabilities, deviations = last_street(found)
    order = np.argsort(probabilities)[::-1]
    sizes.plot(100 * probabilities[order], color="tab:blue")
    sizes.set(
        xlabel="bucket of the last round, largest first", ylabel="probability of the bucket (%)"
    )
    sizes.set_title("sizes")
    spread.hist(100 * deviations, bins=40, weights=probabilities * 100, color="tab:orange")
    spread.set(
        xlabel="standard deviation of equity in a bucket (%)", ylabel="total probability (%)"
    )
    spread.set_title("spread within last buckets")
    figure.suptitle(
        f"{found.rules.name}: {found.recipe} "
        f"{'-'.join(f'{number:,}' for number in found.num_buckets)}"
    )
    save_picture(figure, path)


def draw_study(rows: Sequence[StudyRow], path: Path) -> None:
    """Draw real-game exploitability against the number of buckets, one line per recipe."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.subplots()
    for recipe in dict.fromkeys(row.recipe for row in rows):
        own = [row for row in rows if row.recipe == recipe]
        axes.loglog([row.buckets[-1] for row in own], [row.real for row in own], "o-", label=recipe)
    axes.set(xlabel="buckets of the last round", ylabel="exploitability in the real game (chips)")
    axes.set_title("Rhode Island hold'em: exploitability caused by abstraction")
    axes.grid(True, which="both", alpha=0.3)
    axes.legend()
    save_picture(figure, path)


def last_street(found: Abstraction) -> tuple[Any, Any]:
    """Return each last-round bucket's probability and standard deviation of equity, [K] each."""
    from equilibrist.abstraction.joint_counts import marginals

    counts, sums, squares = marginals(found)
    mean = sums / np.maximum(counts, 1)
    variance = np.maximum(squares / np.maximum(counts, 1) - mean**2, 0)
    scale = strength_scales(found.rules)[-1]
    return counts / counts.sum(), np.sqrt(variance) / scale


def _draw_first_street(found: Abstraction, axes: Any) -> None:
    from equilibrist.cards.card import RANKS
    from equilibrist.cards.hand import class_table

    buckets = found.buckets(())
    if found.rules.num_hole_cards == 1 or len(found.rules.deck) < 52:
        held = np.flatnonzero(buckets >= 0)
        axes.scatter(held, buckets[held], s=12)
        axes.set(xlabel="hand index", ylabel="bucket of the first round")
        axes.set_title("first round")
        return
    square = np.zeros((13, 13))
    for hand, number in enumerate(class_table()):
        high, low = divmod(int(number), 13)
        square[12 - high, 12 - low] = buckets[hand]
    axes.imshow(square, cmap="viridis")
    for i in range(13):
        for j in range(13):
            axes.text(j, i, f"{square[i, j]:.0f}", ha="center", va="center", fontsize=6, color="w")
    axes.set_xticks(range(13), RANKS[::-1])
    axes.set_yticks(range(13), RANKS[::-1])
    axes.set_title("first round: suited above the diagonal")

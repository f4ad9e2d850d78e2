"""Pictures of what players win."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from equilibrist.display.picture import save_picture
from equilibrist.play.match import Match


def draw_winnings(played: Sequence[Match], names: tuple[str, str], path: Path) -> None:
    """Draw the first player's cumulative winnings, one line per match; needs the extra `plot`.

    The shaded area holds 95 % of matches between equal players.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.subplots()
    rules = played[0].rules
    bet = rules.raise_sizes[0] if rules.is_limit else rules.big_blind
    deals = [match.chips.sum(axis=0) / bet for match in played]
    hands = np.arange(max(map(len, deals)) + 1) * len(played[0].chips)
    luck = 1.96 * np.concatenate(deals).std() * np.sqrt(np.arange(len(hands)))
    axes.fill_between(hands, -luck, luck, color="grey", alpha=0.15, linewidth=0, label="luck, 95 %")
    for won in deals:
        axes.plot(hands[: len(won) + 1], np.concatenate([[0], won.cumsum()]), linewidth=1)
    axes.axhline(0, color="grey", linewidth=0.8)
    axes.margins(x=0)
    axes.grid(alpha=0.3)
    axes.legend(loc="upper left", frameon=False)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set(
        xlabel="hands",
        ylabel="small bets won" if rules.is_limit else "big blinds won",
        title=f"{names[0]} against {names[1]}, {rules.name}",
    )
    save_picture(figure, path)

"""A node of a spot for the eye: 13 × 13 classes of hands on a terminal or in a picture.

Suited hands stand above the diagonal, pairs on it. A cell is split by how often each action is
taken: fold blue, check and call green, bets from amber to purple by size. In pictures its height is
how often the hands of the cell get there.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from equilibrist.display.picture import save_picture

if TYPE_CHECKING:
    from equilibrist.strategies.spot_report import NodeReport

PALETTES = {
    "usual": ("#3b82f6", "#22c55e", ("#f59e0b", "#f97316", "#ef4444", "#a855f7")),
    # Okabe and Ito's, which people who see fewer colours can tell apart.
    "colour-blind": ("#0072b2", "#009e73", ("#f0e442", "#e69f00", "#d55e00", "#cc79a7")),
}
_RANKS = "AKQJT98765432"
_WIDTH = 6  # characters of a cell
_RARE = 0.005  # mean weight below which a cell is empty


def colours(actions: Sequence[str], palette: str = "usual") -> list[str]:
    """A colour for each action: fold, check or call, then bets by size.

    Example:
        >>> colours(["f", "c", "r120", "r900"])
        ['#3b82f6', '#22c55e', '#f59e0b', '#a855f7']
    """
    fold, call, bets = PALETTES[palette]
    raises = [action for action in actions if action.startswith("r")]
    steps = max(len(raises) - 1, 1)
    of_raise = {
        action: bets[round(place * (len(bets) - 1) / steps)] for place, action in enumerate(raises)
    }
    return [of_raise.get(action, fold if action == "f" else call) for action in actions]


def class_at(row: int, column: int) -> int:
    """The class of hands of a cell, counted from the aces in the upper left.

    Example:
        >>> from equilibrist.cards.hand import class_name
        >>> class_name(class_at(0, 1)), class_name(class_at(1, 0)), class_name(class_at(12, 12))
        ('AKs', 'AKo', '22')
    """
    return 13 * (12 - row) + 12 - column


def action_words(report: NodeReport) -> list[str]:
    """The actions as people say them: check, call 60, bet 120, raise to 300, fold."""
    words = {"f": "fold", "c": f"call {report.to_call}" if report.to_call else "check"}
    raise_word = "raise to" if report.to_call else "bet"
    return [words.get(action, f"{raise_word} {action[1:]}".strip()) for action in report.actions]


def grid_text(report: NodeReport, *, colour: bool, palette: str = "usual") -> str:
    """The grid as lines of text; without colour, the most frequent action of each class."""
    from equilibrist.cards.hand import class_name

    weight, often = report.by_class()
    lines = []
    for row in range(13):
        cells = []
        for column in range(13):
            number = class_at(row, column)
            name, chances = class_name(number), often[number]
            if weight[number] < _RARE:
                cells.append(("." if not colour else name).center(_WIDTH))
            elif colour:
                cells.append(_painted(name.center(_WIDTH), chances, report.actions, palette))
            else:
                best = int(chances.argmax())
                cells.append(f"{report.actions[best][0]}{100 * chances[best]:3.0f}".rjust(_WIDTH))
        lines.append(f"{_RANKS[row]} {''.join(cells)}".rstrip())
    head = "  " + "".join(rank.center(_WIDTH) for rank in _RANKS)
    return "\n".join([head.rstrip(), *lines])


def _painted(text: str, chances: Any, actions: Sequence[str], palette: str) -> str:
    """A cell whose characters have the colours of the actions, as many as they are frequent."""
    ends = [round(float(end) * len(text)) for end in chances.cumsum()]
    painted, begin = "", 0
    for end, shade in zip(ends, colours(actions, palette), strict=True):
        red, green, blue = (int(shade[i : i + 2], 16) for i in (1, 3, 5))
        if end > begin:
            painted += f"\x1b[30;48;2;{red};{green};{blue}m{text[begin:end]}"
            begin = end
    return painted + "\x1b[0m" + text[begin:]


def draw_grid(report: NodeReport, path: Path, palette: str = "usual") -> None:
    """Write the grid as a picture; needs the extra `plot`."""
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle

    from equilibrist.cards.hand import class_name

    weight, often = report.by_class()
    figure = Figure(figsize=(7.5, 8), layout="constrained")
    axes = figure.subplots()
    shades = colours(report.actions, palette)
    for row in range(13):
        for column in range(13):
            number, left = class_at(row, column), float(column)
            bottom, height = 12 - row + 0.03, 0.94 * min(1.0, float(weight[number]))
            axes.add_patch(Rectangle((column, 12 - row), 1, 1, facecolor="#e5e7eb", edgecolor="w"))
            for chance, shade in zip(often[number] if height > 0 else [], shades, strict=False):
                axes.add_patch(Rectangle((left, bottom), float(chance), height, facecolor=shade))
                left += float(chance)
            axes.text(column + 0.05, 12.7 - row, class_name(number), fontsize=7)
    words = action_words(report)
    for word, shade, often_all in zip(words, shades, report.frequencies, strict=True):
        axes.plot([], [], "s", color=shade, label=f"{word}  {100 * often_all:.1f} %")
    axes.set(xlim=(0, 13), ylim=(0, 13), aspect="equal", title=f"{report.board} {report.node}")
    axes.axis("off")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.01), ncols=4, frameon=False)
    save_picture(figure, path)

"""Draws a node of a spot as a 13 × 13 grid of hand classes, on a terminal or in a picture.

Suited hands are above the diagonal, pairs on it. A cell is divided by the probability of each
action: fold blue, check and call green, bets from amber to purple by size. In pictures the height
of a cell is the probability that its hands reach the node.
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
    # The palette of Okabe and Ito, which colour-blind readers can distinguish.
    "colour-blind": ("#0072b2", "#009e73", ("#f0e442", "#e69f00", "#d55e00", "#cc79a7")),
}
_RANKS = "AKQJT98765432"
_WIDTH = 6  # characters per cell
_RARE = 0.005  # mean weight below which a cell is empty


def colours(actions: Sequence[str], palette: str = "usual") -> list[str]:
    """Return a colour for each action: fold, check or call, then bets by size.

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
    """Return the hand class of a cell; row 0 and column 0 are the aces, at the upper left.

    Example:
        >>> from equilibrist.cards.hand import class_name
        >>> class_name(class_at(0, 1)), class_name(class_at(1, 0)), class_name(class_at(12, 12))
        ('AKs', 'AKo', '22')
    """
    return 13 * (12 - row) + 12 - column


def action_words(report: NodeReport) -> list[str]:
    """Return the actions in words: check, call 60, bet 120, raise to 300, fold."""
    words = {"f": "fold", "c": f"call {report.to_call}" if report.to_call else "check"}
    raise_word = "raise to" if report.to_call else "bet"
    return [words.get(action, f"{raise_word} {action[1:]}".strip()) for action in report.actions]


def grid_text(report: NodeReport, *, colour: bool, palette: str = "usual") -> str:
    """Return the grid as lines of text; without colour, each class shows its likeliest action."""
    from equilibrist.cards.hand import class_name

    weight, frequency = report.by_class()
    lines = []
    for row in range(13):
        cells = []
        for column in range(13):
            number = class_at(row, column)
            name, probabilities = class_name(number), frequency[number]
            if weight[number] < _RARE:
                cells.append(("." if not colour else name).center(_WIDTH))
            elif colour:
                cells.append(_painted(name.center(_WIDTH), probabilities, report.actions, palette))
            else:
                best = int(probabilities.argmax())
                percent = f"{100 * probabilities[best]:3.0f}"
                cells.append(f"{report.actions[best][0]}{percent}".rjust(_WIDTH))
        lines.append(f"{_RANKS[row]} {''.join(cells)}".rstrip())
    head = "  " + "".join(rank.center(_WIDTH) for rank in _RANKS)
    return "\n".join([head.rstrip(), *lines])


def _painted(text: str, probabilities: Any, actions: Sequence[str], palette: str) -> str:
    """Return a cell coloured by action; each colour's width is the action's probability."""
    ends = [round(float(end) * len(text)) for end in probabilities.cumsum()]
    painted, begin = "", 0
    for end, shade in zip(ends, colours(actions, palette), strict=True):
        red, green, blue = (int(shade[i : i + 2], 16) for i in (1, 3, 5))
        if end > begin:
            painted += f"\x1b[30;48;2;{red};{green};{blue}m{text[begin:end]}"
            begin = end
    return painted + "\x1b[0m" + text[begin:]


def draw_grid(report: NodeReport, path: Path, palette: str = "usual") -> None:
    """Draw the grid to a file; needs the extra `plot`."""
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle

    from equilibrist.cards.hand import class_name

    weight, frequency = report.by_class()
    figure = Figure(figsize=(7.5, 8), layout="constrained")
    axes = figure.subplots()
    shades = colours(report.actions, palette)
    for row in range(13):
        for column in range(13):
            number, left = class_at(row, column), float(column)
            bottom, height = 12 - row + 0.03, 0.94 * min(1.0, float(weight[number]))
            axes.add_patch(Rectangle((column, 12 - row), 1, 1, facecolor="#e5e7eb", edgecolor="w"))
            widths = frequency[number] if height > 0 else []
            for width, shade in zip(widths, shades, strict=False):
                axes.add_patch(Rectangle((left, bottom), float(width), height, facecolor=shade))
                left += float(width)
            axes.text(column + 0.05, 12.7 - row, class_name(number), fontsize=7)
    words = action_words(report)
    for word, shade, mean in zip(words, shades, report.frequencies, strict=True):
        axes.plot([], [], "s", color=shade, label=f"{word}  {100 * mean:.1f} %")
    axes.set(xlim=(0, 13), ylim=(0, 13), aspect="equal", title=f"{report.board} {report.node}")
    axes.axis("off")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.01), ncols=4, frameon=False)
    save_picture(figure, path)

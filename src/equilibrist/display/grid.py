"""Draws a node as a 13 × 13 grid of hand classes, on a terminal or in a picture.

Suited hands are above the diagonal, pairs on it. A cell is divided by the probability of each
action: fold blue, check and call green, bets from amber to purple by size. Its *reach* is the
probability that the player plays these hands to the node, beside that of the fullest cell: so a
node that is rarely reached is as legible as the first. On a terminal reach is the shade of a cell,
in a picture its height. Hands that the board blocks are blank.
"""

from __future__ import annotations

import itertools
import string
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equilibrist.cards.hand import class_name
from equilibrist.display.picture import save_picture
from equilibrist.errors import InvalidValueError
from equilibrist.strategies.node_strategy import NodeStrategy

PALETTES = {
    "usual": ("#3b82f6", "#22c55e", ("#f59e0b", "#f97316", "#ef4444", "#a855f7")),
    # The palette of Okabe and Ito, which colour-blind readers can distinguish.
    "colour-blind": ("#0072b2", "#009e73", ("#f0e442", "#e69f00", "#d55e00", "#cc79a7")),
}
_RANKS = "AKQJT98765432"
_WIDTH = 6  # characters per cell
_COLUMNS = 80  # characters per line
_RARE = 0.005  # share of the fullest cell's reach below which a cell is empty
_LEVELS = "▁▂▃▄▅▆▇ "  # eighths of the fullest cell's reach
_PALE = "#e5e7eb"  # background of pictures, and colour of no reach
_LEAST = 0.3  # share of its colour that the rarest cell keeps
_SIDE = 7.3  # inches of a picture's grid
_LINE = 0.2  # inches of a line of text in a picture
_LETTER = 0.09  # inches of a letter of the legend, at most in the mean
_TITLE = 88  # characters per line of a picture's title
_RAISE_LETTERS = "rstuvwxyz" + string.ascii_uppercase


def colours(actions: Sequence[str], palette: str = "usual") -> list[str]:
    """Return a colour for each action: fold, check or call, then bets by size.

    Example:
        >>> colours(["f", "c", "r120", "r900"])
        ['#3b82f6', '#22c55e', '#f59e0b', '#a855f7']
    """
    fold, call, bets = PALETTES[palette]
    raises = [action for action in actions if action.startswith("r")]
    steps, last = max(len(raises) - 1, 1), len(bets) - 1
    places = [place * last / steps for place in range(len(raises))]
    if steps <= last:
        places = [round(place) for place in places]
    of_raise = {raise_: _between(bets, at) for raise_, at in zip(raises, places, strict=True)}
    return [of_raise.get(action, fold if action == "f" else call) for action in actions]


def _between(shades: Sequence[str], place: float) -> str:
    """Return the colour at a place in a row of colours, mixed from both neighbours."""
    low = min(int(place), len(shades) - 2)
    return _mixed(shades[low + 1], shades[low], place - low)


def _mixed(colour: str, other: str, share: float) -> str:
    """Return a mixture of two colours; `share` is that of the first."""
    pairs = zip(_channels(colour), _channels(other), strict=True)
    return "#{:02x}{:02x}{:02x}".format(*(int(share * a + (1 - share) * b) for a, b in pairs))


def _channels(colour: str) -> tuple[int, int, int]:
    """Return red, green and blue of a colour, each from 0 to 255."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return red, green, blue


def letters(actions: Sequence[str]) -> list[str]:
    """Return a letter for each action in grids without colour; raises are r, s, t, … by size.

    Example:
        >>> letters(["f", "c", "r120", "r900"])
        ['f', 'c', 'r', 's']
    """
    raises = [action for action in actions if action.startswith("r")]
    marks = dict(itertools.zip_longest(raises, _RAISE_LETTERS[: len(raises)], fillvalue="?"))
    return [marks.get(action, action[0]) for action in actions]


def class_at(row: int, column: int) -> int:
    """Return the hand class of a cell; row 0 and column 0 are the aces, at the upper left.

    Example:
        >>> class_name(class_at(0, 1)), class_name(class_at(1, 0)), class_name(class_at(12, 12))
        ('AKs', 'AKo', '22')
    """
    return 13 * (12 - row) + 12 - column


class Cells(NamedTuple):
    """Contents of the cells of a grid, by class of hands."""

    is_possible: NDArray[np.bool_]  # [169] False: board or deck rule out all its hands
    level: NDArray[np.float64]  # [169] reach beside that of the fullest cell, 0 to 1
    frequency: NDArray[Any]  # [169, A]
    fullest: float  # reach of the fullest cell; 0: no hand arrives, and levels are 1


def grid_cells(report: NodeStrategy) -> Cells:
    """Return what a grid shows of a node; raise an error if its hands do not have two cards.

    If no hand arrives at the node, all hands that have probabilities are shown as if they did.
    """
    if report.rules.num_hole_cards != 2:
        raise InvalidValueError(
            f"{report.rules.name} has one card per hand, but a grid needs two: ask for a table",
            value=report.rules.name,
        )
    found = report.by_class()
    fullest = float(found.weight.max())
    shown = found.weight / fullest if fullest > 0 else found.frequency.sum(axis=1)
    return Cells(found.num_possible > 0, np.minimum(shown, 1.0), found.frequency, fullest)


def grid_text(report: NodeStrategy, *, colour: bool, palette: str = "usual") -> str:
    """Return the grid as 14 lines; without colour, each class shows its likeliest action."""
    cells, marks = grid_cells(report), letters(report.actions)
    lines = []
    for row in range(13):
        texts = []
        for column in range(13):
            number = class_at(row, column)
            name, level = class_name(number), float(cells.level[number])
            if not cells.is_possible[number]:
                texts.append(" " * _WIDTH)
            elif level < _RARE:
                texts.append(f"\x1b[90m{name.center(_WIDTH)}\x1b[0m" if colour else _plain(".", ""))
            elif colour:
                shades = [shaded(own, level) for own in colours(report.actions, palette)]
                texts.append(_painted(name.center(_WIDTH), cells.frequency[number], shades))
            else:
                best = int(cells.frequency[number].argmax())
                percent = f"{100 * cells.frequency[number, best]:3.0f}"
                texts.append(_plain(marks[best] + percent, _LEVELS[_eighth(level)]))
        lines.append(f"{_RANKS[row]} {''.join(texts)}".rstrip())
    head = "  " + "".join(rank.center(_WIDTH) for rank in _RANKS)
    return "\n".join([head.rstrip(), *lines])


def legend_text(report: NodeStrategy, *, colour: bool, palette: str = "usual") -> str:
    """Return the lines that explain a grid of `grid_text`, at most 80 characters each."""
    cells = grid_cells(report)
    parts = [] if colour else ["cell: likeliest action and its %"]
    if cells.fullest == 0:
        parts.append("no hand arrives here: cells show what it would do")
    elif colour:
        parts += [f"paler: less reach (full colour: {_percent(cells.fullest)})", "grey: no reach"]
    else:
        parts += [f"▁ to ▇: less reach (full: {_percent(cells.fullest)})", ".: no reach"]
    if not cells.is_possible.all():
        parts.append("blank: impossible")
    marks = letters(report.actions)
    if colour:
        marks = [f"{_background(own)}  \x1b[0m" for own in colours(report.actions, palette)]
    lines, room = [""], 0
    for mark, word in zip(marks, report.action_words, strict=True):
        room -= len(word) + 6
        if room < 0:
            lines.append("")
            room = _COLUMNS - len(word) - 6
        lines[-1] += f"{mark} {word}   "
    return "\n".join([*(line.rstrip() for line in lines[1:]), *_joined(parts)])


def _joined(parts: Sequence[str]) -> list[str]:
    """Return parts of a legend in as few lines as possible, `; ` between them."""
    lines = [parts[0]]
    for part in parts[1:]:
        if len(lines[-1]) + len(part) + 2 <= _COLUMNS:
            lines[-1] += f"; {part}"
        else:
            lines.append(part)
    return lines


def _plain(text: str, mark: str) -> str:
    """Return a cell without colour; the mark is in its last column."""
    return text.rjust(_WIDTH - 1) + (mark or " ")


def _eighth(level: float) -> int:
    return min(7, max(0, round(8 * level) - 1))


def _percent(share: float) -> str:
    """Return a probability in per cent with three digits, also if it is small.

    Example:
        >>> _percent(1.0), _percent(0.5), _percent(0.0000123)
        ('100 %', '50 %', '0.00123 %')
    """
    return f"{100 * share:.3g} %"


def shaded(colour: str, level: float) -> str:
    """Return a colour mixed with pale grey: pure at level 1.

    Example:
        >>> shaded("#000000", 1.0), shaded("#000000", 0.0)
        ('#000000', '#a0a1a4')
    """
    return _mixed(colour, _PALE, _LEAST + (1 - _LEAST) * level)


def _background(colour: str) -> str:
    """Return the escape code of black text on a colour."""
    red, green, blue = _channels(colour)
    return f"\x1b[30;48;2;{red};{green};{blue}m"


def _painted(text: str, probabilities: NDArray[Any], shades: Sequence[str]) -> str:
    """Return a cell coloured by action; each colour's width is the action's probability."""
    ends = [round(float(end) * len(text)) for end in probabilities.cumsum()]
    painted, begin = "", 0
    for end, shade in zip(ends, shades, strict=True):
        if end > begin:
            painted += _background(shade) + text[begin:end]
            begin = end
    return painted + "\x1b[0m" + text[begin:]


def draw_grid(report: NodeStrategy, path: Path, palette: str = "usual") -> None:
    """Draw the grid to a file; needs the extra `plot`."""
    save_picture(grid_figure(report, palette), path)


def grid_figure(report: NodeStrategy, palette: str = "usual") -> Any:
    """Return the grid as a matplotlib figure, higher if title or legend have many lines."""
    from matplotlib.figure import Figure

    cells, shades = grid_cells(report), colours(report.actions, palette)
    title = _title(report, cells.fullest)
    labels = [
        f"{word}  {100 * mean:.1f} %"
        for word, mean in zip(report.action_words, report.frequencies, strict=True)
    ]
    columns = max(1, min(4, int(_SIDE / (0.7 + _LETTER * max(map(len, labels))))))
    above = 0.18 + 0.9 * _LINE * (title.count("\n") + 1)
    below = 0.25 + _LINE * -(-len(labels) // columns)
    width, height = _SIDE + 0.2, above + _SIDE + below
    figure = Figure(figsize=(width, height))
    axes = figure.add_axes((0.1 / width, below / height, _SIDE / width, _SIDE / height))
    axes.set(xlim=(0, 13), ylim=(0, 13))
    axes.axis("off")
    _draw_cells(axes, cells, shades)
    figure.suptitle(title, fontsize=11, y=1 - 0.08 / height, verticalalignment="top")
    for label, shade in zip(labels, shades, strict=True):
        axes.plot([], [], "s", color=shade, label=label)
    figure.legend(loc="lower center", ncols=columns, frameon=False, fontsize=10)
    return figure


def _draw_cells(axes: Any, cells: Cells, shades: Sequence[str]) -> None:
    """Draw the 169 cells: a background, a part for each action, and the name of the class."""
    from matplotlib.patches import Rectangle

    for row in range(13):
        for column in range(13):
            number, left = class_at(row, column), float(column)
            is_possible = bool(cells.is_possible[number])
            pale = _PALE if is_possible else "#ffffff"
            axes.add_patch(Rectangle((column, 12 - row), 1, 1, facecolor=pale, edgecolor="w"))
            bottom, height = 12 - row + 0.03, 0.94 * float(cells.level[number])
            widths = cells.frequency[number] if height > 0 else []
            for width, shade in zip(widths, shades, strict=False):
                axes.add_patch(Rectangle((left, bottom), float(width), height, facecolor=shade))
                left += float(width)
            ink = "black" if is_possible else "#c4c8cf"
            axes.text(column + 0.05, 12.7 - row, class_name(number), fontsize=7, color=ink)


def _title(report: NodeStrategy, fullest: float) -> str:
    """Return the lines of a picture's title: board, betting, pot, and what a full cell means."""
    node = f"{report.words} ({report.node})" if report.node else "first decision"
    reach = f"full height: reach {_percent(fullest)}" if fullest else "no hand arrives here"
    board = f"{report.board}   " if report.board else ""
    betting = textwrap.wrap(f"{board}{node}", _TITLE, break_on_hyphens=False)
    return "\n".join([*betting, f"{report.seat} to act, pot {report.pot:,}, {reach}"])

"""Grids of hands: what their cells show, on terminals and in pictures, at rare nodes too."""

import re
from dataclasses import replace

import numpy as np
import pytest

from equilibrist.cards.hand import class_table, parse_class
from equilibrist.display.grid import (
    PALETTES,
    class_at,
    colours,
    draw_grid,
    grid_cells,
    grid_figure,
    grid_text,
    legend_text,
    letters,
)
from equilibrist.errors import InvalidValueError
from equilibrist.games.betting_tree import BettingTree
from equilibrist.games.catalog import get_game
from equilibrist.strategies.node_strategy import node_strategy
from equilibrist.strategies.played import FixedMix

ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture
def node():
    """A flop where hands fold, call and raise at random, and arrive with random weights."""
    mix = FixedMix(BettingTree.build(get_game("holdem-limit")), (0.1, 0.6, 0.3))
    found, random = node_strategy(mix, "cc/r", "AsAhAd"), np.random.default_rng(1)
    weight = random.random(len(found.hands)) ** 3
    weight[class_table()[found.hands] == parse_class("72o")] = 0
    return replace(
        found,
        weight=weight,
        share=weight / weight.sum(),
        probabilities=random.dirichlet([1, 1, 1], len(weight)),
    )


def cell(text, name):
    """Return the characters of a cell in a grid without colour."""
    number = parse_class(name)
    places = {class_at(row, column): (row, column) for row in range(13) for column in range(13)}
    row, column = places[number]
    return text.splitlines()[row + 1].ljust(80)[2 + 6 * column : 8 + 6 * column]


def scaled(node, factor):
    return replace(node, weight=node.weight * factor)


@pytest.mark.parametrize("colour", [False, True])
def test_a_grid_fits_80_columns(node, colour):
    for found in (node, scaled(node, 1e-9), scaled(node, 0)):
        grid, legend = (f(found, colour=colour) for f in (grid_text, legend_text))
        assert len(grid.splitlines()) == 14
        lines = ESCAPE.sub("", f"{grid}\n{legend}").splitlines()
        assert max(map(len, lines)) <= 80


def test_a_cell_shows_the_likeliest_action_within_its_reach(node):
    text, classes = grid_text(node, colour=False), node.by_class()
    own = classes.frequency[parse_class("KQo")]
    assert cell(text, "KQo").split()[0][0] == "fcr"[own.argmax()]
    assert f"{100 * own.max():.0f}" in cell(text, "KQo")
    assert cell(text, "AA") == " " * 6  # three aces are on the board
    assert cell(text, "72o").strip() == "."
    fullest = int(classes.weight.argmax())
    marks = [line[7::6] for line in text.splitlines()[1:]]
    row, column = next((r, c) for r in range(13) for c in range(13) if class_at(r, c) == fullest)
    assert marks[row].ljust(13)[column] == " "  # full reach has no mark


@pytest.mark.parametrize("factor", [1e-6, 1e-100, 1e-300])
def test_a_rare_node_is_drawn_like_a_frequent_one(node, factor, tmp_path):
    rare = scaled(node, factor)
    with np.errstate(all="raise", under="ignore"):
        cells, same = grid_cells(rare), grid_cells(node)
    np.testing.assert_allclose(cells.level, same.level, rtol=1e-6)
    assert cells.level.max() == 1
    np.testing.assert_allclose(cells.frequency, same.frequency, rtol=1e-6)
    for colour in (False, True):
        assert grid_text(rare, colour=colour) == grid_text(node, colour=colour)
    assert f"{100 * same.fullest * factor:.3g} %" in legend_text(rare, colour=False)


def test_the_picture_of_a_rare_node_has_the_same_cells(node, tmp_path):
    image = pytest.importorskip("matplotlib.image")
    pictures = []
    for name, factor in (("usual", 1.0), ("rare", 1e-12), ("never", 0.0)):
        draw_grid(scaled(node, factor), tmp_path / f"{name}.png")
        pictures.append(image.imread(tmp_path / f"{name}.png"))
    usual, rare, never = (picture[90:] for picture in pictures)  # without titles
    assert usual.shape == rare.shape == never.shape
    assert (usual == rare).mean() > 0.99
    assert (usual == never).mean() < 0.9
    green = np.array([0x22, 0xC5, 0x5E]) / 255  # of calls
    calls = [(np.abs(p[..., :3] - green) < 0.01).all(axis=2).mean() for p in (usual, rare, never)]
    assert calls[1] == pytest.approx(calls[0], rel=0.01)
    assert calls[2] > 1.5 * calls[0] > 0.01  # cells at full height


def test_a_node_without_reach_shows_what_the_strategy_would_do(node):
    never = scaled(node, 0)
    cells = grid_cells(never)
    assert cells.fullest == 0
    assert cells.level[cells.is_possible] == pytest.approx(1)
    assert "no hand arrives here" in legend_text(never, colour=False)
    assert "." not in grid_text(never, colour=False)


def test_colours_of_a_cell_are_as_wide_as_the_actions_are_likely(node):
    half = np.tile([0.5, 0.0, 0.5], (len(node.hands), 1))
    painted = grid_text(replace(node, probabilities=half), colour=True)
    fold, _, raise_ = colours(node.actions)
    assert fold != raise_
    widths = [len(text) for text in re.findall(r"48;2;[0-9;]+m([^\x1b]+)", painted)]
    assert set(widths) == {3}
    full = replace(node, weight=np.ones(len(node.hands)), probabilities=half)
    shades = set(re.findall(r"48;2;([0-9;]+)m", grid_text(full, colour=True)))
    pure = {";".join(str(int(c[i : i + 2], 16)) for i in (1, 3, 5)) for c in (fold, raise_)}
    assert shades == pure
    assert pure < set(re.findall(r"48;2;([0-9;]+)m", painted))  # rarer hands are paler


def many_raises(number):
    return "f", "c", *(f"r{12_345 * (place + 1)}" for place in range(number))


LONG_LINE = "call, raise to 20, raise to 30; " * 12


@pytest.mark.parametrize(
    ("num_raises", "words"), [(1, ""), (2, LONG_LINE), (3, ""), (7, LONG_LINE), (20, LONG_LINE)]
)
def test_title_and_legend_of_a_picture_fit_beside_the_whole_grid(node, num_raises, words):
    pytest.importorskip("matplotlib")
    actions = many_raises(num_raises)
    labels = ("fold", "call 12,345", *(f"raise to {int(name[1:]):,}" for name in actions[2:]))
    figure = grid_figure(
        replace(
            node,
            node="cr" * (len(words) // 4),  # one long word
            words=words,
            actions=actions,
            action_words=labels,
            probabilities=np.full((len(node.hands), len(actions)), 1 / len(actions)),
        )
    )
    figure.draw_without_rendering()
    grid, (legend,) = figure.axes[0].get_window_extent(), figure.legends
    title = figure._suptitle.get_window_extent()
    assert 0 <= title.x0 <= title.x1 <= figure.bbox.width
    assert grid.y1 <= title.y0 <= title.y1 <= figure.bbox.height
    assert grid.width == pytest.approx(grid.height)
    assert grid.width > 0.9 * figure.bbox.width
    texts = [text.get_window_extent() for text in legend.get_texts()]
    assert len(texts) == len(actions)
    assert all(0 <= text.x0 <= text.x1 <= figure.bbox.width for text in texts)
    assert all(0 <= text.y0 <= text.y1 <= grid.y0 for text in texts)


def test_every_raise_has_a_colour_of_its_own():
    for palette in PALETTES:
        for number in (1, 2, 3, 4, 7, 20):
            found = colours(many_raises(number), palette)
            assert len(set(found)) == number + 2


def test_raises_have_letters_of_their_own():
    assert letters(("c", "r20", "r90")) == ["c", "r", "s"]
    many = letters(many_raises(30))
    assert len(set(many)) == 32
    assert all(mark.isalpha() for mark in many)
    assert letters(many_raises(40))[-1] == "?"
    assert letters(("f", "c", "r")) == ["f", "c", "r"]


def test_hands_of_one_card_have_no_grid():
    kuhn = node_strategy(FixedMix(BettingTree.build(get_game("kuhn")), None))
    with pytest.raises(InvalidValueError, match="kuhn has one card per hand"):
        grid_text(kuhn, colour=False)

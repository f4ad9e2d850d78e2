"""Results as HTML and as data frames, read back and compared with the objects."""

import re
import sys
import types
from html.parser import HTMLParser

import numpy as np
import pytest

import equilibrist as eq
from equilibrist.cards.hand import class_name
from equilibrist.display.grid import class_at
from equilibrist.display.notebook import curve_svg, grid_html, table_html
from equilibrist.errors import InvalidValueError

VOID = {"br", "hr", "img"}


class Reader(HTMLParser):
    """Reads HTML; fails if a tag is not closed by its own."""

    def __init__(self, text):
        super().__init__()
        self.open, self.cells, self.texts, self.titles = [], [], [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        assert tag not in VOID
        self.open.append(tag)
        self.titles += [value for name, value in attrs if name == "title"]
        self.cells += [""] if tag in ("td", "th", "caption", "title") else []

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)
        if self.open and self.open[-1] in ("td", "th", "caption", "title"):
            self.cells[-1] += data


@pytest.fixture(scope="module")
def river():
    """A river with a known answer, roughly solved."""
    found = eq.spot("Td9d6hQc2s", oop="AA,76s,54s", ip="KK", pot=200, stack=200, bets="a")
    return found.solve(to="1%")


def test_texts_are_escaped():
    found = Reader(table_html(("<b>", "&"), [("</td>", '"')], caption="<script>"))
    assert found.cells == ["<script>", "<b>", "&", "</td>", '"']
    svg = Reader(curve_svg([(1.0, 2.0), (10.0, 1.0)], "<x>", "&y"))
    assert "<x>, 1 to 10" in svg.texts
    assert "&y, 2 to 1" in svg.texts


def test_the_curve_of_a_game_is_drawn_with_its_numbers():
    kuhn = eq.solve("kuhn", iterations=200)
    found = Reader(kuhn._repr_html_())
    assert f"{kuhn.exploitability:.6g} chips" in found.cells
    assert f"{kuhn.value:.6g} chips" in found.cells
    points = [
        tuple(map(float, cell.split(", "))) for cell in found.cells if re.match(r"\d.*, ", cell)
    ]
    assert points == [(float(t), gap) for t, _, gap in kuhn.curve]
    heights = [float(y) for y in re.findall(r'cy="([\d.]+)"', kuhn._repr_html_())]
    gaps = [gap for _, gap in points]
    # Larger numbers are higher, and SVG counts from the top.
    assert np.argsort(gaps).tolist() == np.argsort(heights)[::-1].tolist()


def test_a_curve_of_one_point_or_of_zeros_is_not_drawn():
    assert curve_svg([], "x", "y") == curve_svg([(1.0, 0.0), (2.0, 3.0)], "x", "y") == ""
    Reader(curve_svg([(1.0, 3.0), (1.0, 3.0)], "x", "y"))


def test_the_grid_has_the_frequencies_of_every_class(river):
    report = river.at().report
    weight, frequency = report.by_class()[-2:]
    found = Reader(grid_html(report))
    assert len(found.cells) == len(found.titles) == 169
    for place, (cell, title) in enumerate(zip(found.cells, found.titles, strict=True)):
        number = class_at(*divmod(place, 13))
        assert cell == class_name(number)
        if weight[number] == 0:
            assert title == f"{cell}: not held"
            continue
        numbers = [float(text) for text in re.findall(r"[\d.]+(?= %)", title)]
        assert numbers == pytest.approx(100 * frequency[number], abs=0.06)
        assert float(re.search(r"weight ([\d.]+)", title)[1]) == pytest.approx(
            weight[number], abs=1e-4
        )
    assert f"c {100 * river.at().frequencies['c']:.1f} %" in found.texts
    assert river.at()._repr_html_() in river._repr_html_()


def test_a_spot_shows_what_each_seat_expects_of_the_pot(river):
    first, second = river.shares.values
    cells = Reader(river._repr_html_()).cells
    assert f"{first:.4g} of 200 chips" in cells
    assert f"{second:.4g} of 200 chips" in cells
    # Six aces and three of seven bluffs win the pot: 9 / 13 of it (a known answer).
    assert first == pytest.approx(200 * 9 / 13, abs=2)
    assert first + second == pytest.approx(200)


def test_matches_and_equities_are_tables():
    found = eq.match("always-fold", "always-raise", hands=100, duplicate=True)
    assert isinstance(found, eq.Match)
    assert repr(found) == (
        "<always-fold against always-raise: -750 mbb/g in 100 hands of holdem-limit>"
    )
    assert "-750 mbb/g" in Reader(found._repr_html_()).cells
    assert sum(row["chips"] for row in found.rows()) == found.chips.sum() == -750
    assert len(found.rows()) == 100
    alone = eq.match("always-fold", "always-raise", hands=1)
    assert "chips" in Reader(alone._repr_html_()).cells
    equity = eq.equity("AhKh", "QsQd", board="2h7h9c")
    cells = Reader(equity._repr_html_()).cells
    assert cells[:4] == ["equity 54.14 %, exact", "result", "count", "share"]
    assert cells[4:7] == ["win", "536", f"{100 * 536 / 990:.2f} %"]
    assert [row["count"] for row in equity.rows()] == [536, 0, 454]


class Frame(list):
    """Stands for the data frame of pandas, which is not among the packages that tests need."""


def test_rows_are_given_to_pandas(river, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", types.SimpleNamespace(DataFrame=Frame))
    assert river.at().to_pandas() == river.at().rows()
    curve = river.to_pandas()
    assert isinstance(curve, Frame)
    assert curve[-1]["exploitability"] == river.exploitability
    assert [row["iteration"] for row in curve] == [row.iteration for row in river.solved.run.trace]


def test_without_pandas_the_error_says_what_to_do(river, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    for found in (river, river.at(), eq.equity("AhKh", "QsQd", board="2h7h9c3s")):
        with pytest.raises(InvalidValueError, match="pip install pandas"):
            found.to_pandas()

"""The notebooks of the examples, executed cell by cell without Jupyter."""

import ast
import json
from pathlib import Path

import pytest

NOTEBOOKS = Path(__file__).parents[1] / "examples" / "notebooks"
ALL = sorted(NOTEBOOKS.glob("*.ipynb"))


def cells(path):
    return json.loads(path.read_text(encoding="utf-8"))["cells"]


def shown(value):
    """Return what a notebook shows of the last expression of a cell."""
    show = getattr(value, "_repr_html_", None) or value.__repr__
    return show()


def run(path):
    """Execute the code cells in one namespace; return it and the shown values."""
    names, values = {"__name__": "__main__"}, []
    for cell in cells(path):
        if cell["cell_type"] != "code":
            continue
        tree = ast.parse("".join(cell["source"]))
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, path.name, "exec"), names)
        if last is not None:
            values.append(
                shown(eval(compile(ast.Expression(last.value), path.name, "eval"), names))
            )
    return names, values


def test_there_are_two_notebooks_without_outputs():
    assert [path.stem for path in ALL] == ["player", "student"]
    for path in ALL:
        assert not [cell for cell in cells(path) if cell.get("outputs")]


@pytest.mark.slow
def test_the_players_notebook_bluffs_as_pot_odds_demand(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names, values = run(NOTEBOOKS / "player.ipynb")
    for stack, called in names["calls"].items():
        assert called == pytest.approx(200 / (200 + stack), abs=0.05)
    grid = next(value for value in values if value.startswith("<div>Td9d6hQc2s, pot 200: "))
    assert grid.count("<td") >= 169  # a cell for each class of hands
    assert values[-1] == "'always-raise wins: 426 ± 109 mbb/g, p < 0.0001, 2,000 hands'"


@pytest.mark.slow
def test_the_students_notebook_solves_leduc_and_measures_buckets(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names, _ = run(NOTEBOOKS / "student.ipynb")
    assert names["leduc"].value == pytest.approx(-0.085606424078, abs=1e-9)
    assert (
        names["runs"]["cfr+", 1000].exploitability < 0.1 * names["runs"]["cfr", 1000].exploitability
    )
    assert (tmp_path / "leduc.png").stat().st_size > 1000
    for within, outside in names["study"].values():
        assert within < 1e-3 < 0.2 < outside

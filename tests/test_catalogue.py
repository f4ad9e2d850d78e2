"""Catalogues: which entries they have, from where, and in which order."""

import sys
import types
from dataclasses import dataclass

import pytest

from equilibrist.catalogue import Catalogue


@dataclass(frozen=True)
class Colour:
    name: str
    code: int = 0


@dataclass(frozen=True)
class Bright(Colour):
    pass


def names_of(catalogue):
    return [(entry.name, entry.code) for entry in catalogue.values()]


@pytest.fixture
def installed(monkeypatch, tmp_path):
    """Install a package with entry points: a colour, a built-in name, a derived one, a number."""
    module = types.ModuleType("paint")
    module.RED, module.GREEN, module.PINK = Colour("red", 9), Colour("green", 9), Bright("pink", 9)
    module.SEVEN = 7
    monkeypatch.setitem(sys.modules, "paint", module)
    folder = tmp_path / "paint-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Name: paint\nVersion: 1.0\n")
    points = "".join(f"{name} = paint:{name.upper()}\n" for name in ("red", "green", "pink"))
    (folder / "entry_points.txt").write_text(f"[equilibrist.colours]\n{points}")
    monkeypatch.syspath_prepend(tmp_path)
    return folder / "entry_points.txt"


def test_built_in_entries_come_first_then_derived_ones_then_those_of_packages(installed):
    found = Catalogue("colour", [Colour("red")], more=lambda: [Colour("green", 1)])
    assert names_of(found) == [("red", 0), ("green", 1), ("pink", 9)]
    assert found["pink"].code == 9
    assert "pink" in found
    assert len(found) == 3


def test_entries_of_another_type_are_left_out_with_a_warning(installed):
    installed.write_text("[equilibrist.colours]\nseven = paint:SEVEN\npink = paint:PINK\n")
    with pytest.warns(RuntimeWarning, match="colour seven .* paint:SEVEN is not a Colour"):
        assert list(Catalogue("colour", [Colour("red")])) == ["red", "pink"]


def test_the_kind_accepts_what_the_built_in_entries_are_not(installed):
    found = Catalogue("colour", [Bright("white")], kind=Colour)
    assert list(found) == ["white", "red", "green", "pink"]


def test_what_is_added_for_a_while_replaces_and_leaves():
    found = Catalogue("colour", [Colour("red"), Colour("green")])
    with found.added(Colour("red", 1), Colour("blue")):
        assert names_of(found) == [("red", 1), ("green", 0), ("blue", 0)]
    assert names_of(found) == [("red", 0), ("green", 0)]
    found.add(Colour("blue"))
    assert list(found) == ["red", "green", "blue"]


def test_an_addition_of_another_type_is_refused_and_changes_nothing():
    found = Catalogue("colour", [Colour("red")])
    other = types.SimpleNamespace(name="blue")
    with (
        pytest.raises(TypeError, match="blue is not a Colour"),
        found.added(Colour("red", 1), other),
    ):
        pass
    assert names_of(found) == [("red", 0)]


def test_get_returns_the_default_for_an_unknown_name():
    from equilibrist.solving.methods import METHODS

    assert METHODS.get("cfr+") is METHODS["cfr+"]
    assert METHODS.get("cfr++") is None
    assert METHODS.get("cfr++", METHODS["lp"]) is METHODS["lp"]

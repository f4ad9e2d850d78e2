"""Faster compiling: it changes neither the machine code nor the rest of the process."""

import copy
import gc

import numpy as np
import pytest
from numba import njit
from numba.core import errors, event, ir

import equilibrist.kernels  # noqa: F401  compiles faster from here on


@njit(inline="always")
def clamp(x, low, high):
    if x < low:
        return low
    return high if x > high else x


@njit(inline="always")
def row_total(matrix, i, low, high):
    total = 0.0
    for j in range(matrix.shape[1]):
        if matrix[i, j] != low:
            total += clamp(matrix[i, j], low, high)
    return total


def largest_row(matrix, low, high):
    best = 0
    for i in range(matrix.shape[0]):
        if row_total(matrix, i, low, high) > row_total(matrix, best, low, high):
            best = i
    return best


def compiled():
    """Return the result of largest_row, and its machine instructions."""
    function = njit(largest_row)
    found = function(np.arange(12.0).reshape(3, 4) % 7, 1.0, 4.0)
    (code,) = function.inspect_asm().values()
    lines = [line.split() for line in code.splitlines() if line.startswith("\t")]
    return found, [words for words in lines if not any("largest_row" in word for word in words)]


def test_kernels_of_inlined_helpers_have_the_same_machine_code(monkeypatch):
    ours, code = compiled()
    monkeypatch.delattr(ir.Scope, "__deepcopy__")
    theirs, expected = compiled()
    assert ours == theirs == 1
    assert len(code) > 50
    assert code == expected


def test_variables_added_to_a_copied_scope_are_not_in_the_original():
    place = ir.Loc("file", 1)
    scope = ir.Scope(None, place)
    first = scope.define("x", place)
    scope.redefine("x", place)
    new = copy.deepcopy(scope)
    assert new == scope
    assert new.get_exact("x").name == first.name
    new.redefine("x", place)
    new.define("y", place)
    assert scope.get_versions_of("x") == {"x.1"}
    assert new.get_versions_of("x") == {"x.1", "x.2"}
    assert "y" not in scope.localvars


class Collecting(event.Listener):
    """Listener that records whether garbage is collected when a kernel starts to be compiled."""

    def __init__(self):
        self.seen = []

    def on_start(self, _):
        self.seen.append(gc.isenabled())

    def on_end(self, _):
        pass


@pytest.mark.parametrize("collects", [True, False])
def test_garbage_is_not_collected_while_a_kernel_is_compiled(collects):
    inner = njit(lambda x: x + 1)
    outer = njit(lambda x: inner(inner(x)))
    bad = njit(lambda x: inner(x) + "one")
    (gc.enable if collects else gc.disable)()
    try:
        with event.install_listener("numba:compile", Collecting()) as listener:
            assert outer(1) == 3
            assert gc.isenabled() == collects
            with pytest.raises(errors.TypingError):
                bad(1)
            assert gc.isenabled() == collects
    finally:
        gc.enable()
    assert len(listener.seen) >= 3
    assert not any(listener.seen)

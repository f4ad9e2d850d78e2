"""Lets Numba compile kernels in about two thirds of the time; the machine code stays the same.

Before Numba inlines a helper it copies it, block by block, and `copy.deepcopy` takes with each
block its scope, in which are all variables of the helper and of what was inlined there before. The
leaves of a board have a hundred blocks and two thousand variables: copying them took longer than
all other steps of compiling them. Right after, variables are replaced by those of the caller, so
it is enough that each copy has maps of its own.

And compiling makes so many objects that Python spent a quarter of it looking for garbage.
"""

from __future__ import annotations

import gc
from typing import Any

from numba.core import event, ir

_PARTS = {"parent", "localvars", "loc", "redefined", "var_redefinitions"}  # of a scope


def compile_faster() -> None:
    """Copy scopes without their variables, and let the garbage wait until a kernel is compiled.

    A Numba whose scopes are made of other things is left alone.
    """
    if set(vars(ir.Scope(None, ir.unknown_loc))) == _PARTS:
        ir.Scope.__deepcopy__ = _copied
    event.register("numba:compile", _NoCollection())


def _copied(scope: ir.Scope, memo: dict[int, Any]) -> ir.Scope:
    """The protocol of `copy.deepcopy`: a scope with the same variables, to which more can come."""
    copy = ir.Scope(scope.parent, scope.loc)
    memo[id(scope)] = copy
    copy.localvars._con.update(scope.localvars._con)
    copy.redefined.update(scope.redefined)
    for name, versions in scope.var_redefinitions.items():
        copy.var_redefinitions[name] = set(versions)
    return copy


class _NoCollection(event.Listener):
    """Stops the garbage collector while a kernel is compiled, with those that it calls.

    Numba compiles in one thread at a time.
    """

    def __init__(self) -> None:
        self._depth, self._collects = 0, False

    def on_start(self, _: event.Event) -> None:
        if self._depth == 0:
            self._collects = gc.isenabled()
            gc.disable()
        self._depth += 1

    def on_end(self, _: event.Event) -> None:
        self._depth -= 1
        if self._depth == 0 and self._collects:
            gc.enable()

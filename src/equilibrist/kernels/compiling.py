"""Make Numba compile kernels in about two thirds of the time; the machine code stays the same.

Before Numba inlines a helper it copies it, block by block, and `copy.deepcopy` copies with each
block its scope, which contains all variables of the helper and of what was inlined there before.
The leaves of a board have a hundred blocks and two thousand variables: copying them took longer
than all other steps of compiling them. Right afterwards, variables are replaced by those of the
caller, so it is enough that each copy has maps of its own.

Compiling also creates many objects: Python spent a quarter of the time on garbage collection.
"""

from __future__ import annotations

import gc
from typing import Any

from numba.core import event, ir

_PARTS = {"parent", "localvars", "loc", "redefined", "var_redefinitions"}  # attributes of a scope


def compile_faster() -> None:
    """Copy scopes without their variables, and collect no garbage while a kernel is compiled.

    A version of Numba whose scopes have other attributes is left unchanged.
    """
    if set(vars(ir.Scope(None, ir.unknown_loc))) == _PARTS:
        ir.Scope.__deepcopy__ = _copied
    event.register("numba:compile", _NoCollection())


def _copied(scope: ir.Scope, memo: dict[int, Any]) -> ir.Scope:
    """Copy a scope for `copy.deepcopy`: the same variables, in maps of its own."""
    copy = ir.Scope(scope.parent, scope.loc)
    memo[id(scope)] = copy
    copy.localvars._con.update(scope.localvars._con)
    copy.redefined.update(scope.redefined)
    for name, versions in scope.var_redefinitions.items():
        copy.var_redefinitions[name] = set(versions)
    return copy


class _NoCollection(event.Listener):
    """Listener that stops the garbage collector while a kernel is compiled, with those it calls.

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

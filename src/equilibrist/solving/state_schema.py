"""Schema of the stored state of a run: the arrays of its solver's first state, or grown lists.

Kernels do not check the arrays of a state, so code that resumes a stored state checks it first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equilibrist.errors import InvalidValueError, StorageError
from equilibrist.kernels.gpu.memory import download
from equilibrist.solving.solver import State
from equilibrist.storage.array_file import damaged
from equilibrist.storage.artefact import Identity
from equilibrist.storage.manifest import MANIFEST
from equilibrist.storage.schema import ArrayRule, check_arrays, check_form
from equilibrist.strategies.solution import MAY_BE_INFINITE, STATE

_MOST_ITERATIONS = 10**15
# Methods that store lists of plans: names of the axes that grow, None for those that do not.
_GROWING: dict[str, dict[str, tuple[str | None, ...]]] = {
    "double-oracle": {
        "plans0": ("list 0", None),
        "plans1": ("list 1", None),
        "payoffs": ("list 0", "list 1"),
        "weights0": ("list 0",),
        "weights1": ("list 1",),
        "basis0": ("basis 0",),
        "basis1": ("basis 1",),
    },
    "range-of-skill": {
        "strategies": ("list", None),
        "utilities": ("list", None),
        "gains": ("list",),
        "weights": ("list",),
    },
}
# What Range of Skill stores of its last answer: of the responder, and of the list.
_ANSWER = {
    f"response.{part}{player}": ArrayRule(
        ("float32", "float64"), (f"answer {player}",), is_optional=True
    )
    for part in ("regret", "behaviour")
    for player in (0, 1)
}


def check_state(artefact: Identity, method: str, first: State) -> None:
    """Raise `StorageError` unless a stored state fits a method whose state begins as `first`."""
    rules = _rules(method, first)
    check_arrays(artefact, {STATE + name: rule for name, rule in rules.items()}, only=STATE)
    shapes = {
        name.removeprefix(STATE): entry.shape
        for name, entry in artefact.files.items()
        if name.startswith(STATE)
    }
    if not _fits(method, first, shapes):
        raise damaged(artefact.folder / MANIFEST, f"has a state that does not fit {method}")


def check_given_state(state: State, method: str, first: State) -> None:
    """Raise `InvalidValueError` unless a state in memory fits a method, as `check_state` does.

    Arrays besides those of the method, such as behaviour for locked decisions, may be there.
    """
    lengths: dict[str, int] = {}
    fault = f"its arrays are not those of {method}"
    try:
        for name, rule in _rules(method, first).items():
            if name in state:
                array = download(state[name])
                check_form(Path(STATE + name), array.dtype.str, array.shape, rule, lengths)
                rule.check_values(Path(STATE + name), array)
            elif not rule.is_optional:
                raise damaged(Path(STATE + name), "is missing")
        fits = _fits(method, first, {name: np.shape(array) for name, array in state.items()})
    except StorageError as error:
        fits, fault = False, str(error)
    if not fits:
        raise InvalidValueError(f"{method} cannot go on from this run: {fault}", value=method)


def _rules(method: str, first: State) -> dict[str, ArrayRule]:
    growing = _GROWING.get(method, {})
    rules = {name: _rule(name, array, growing.get(name)) for name, array in first.items()}
    return rules | (_ANSWER if method == "range-of-skill" else {})


def _fits(method: str, first: State, shapes: Mapping[str, tuple[int, ...]]) -> bool:
    """Whether the lengths of lists that grow belong together."""
    growing = _GROWING.get(method, {})
    lengths = {name: shape[0] for name, shape in shapes.items() if shape}
    fits = not growing or 0 not in lengths.values()
    if method == "double-oracle":  # a basis has one more entry than there are plans
        fits &= all(lengths[f"basis{p}"] == lengths[f"plans{p}"] + 1 for p in (0, 1))
    elif method == "range-of-skill" and any(name in lengths for name in _ANSWER):
        most = first["strategies"].shape[1], lengths["strategies"] + 1
        fits &= all(name in lengths and lengths[name] <= most[int(name[-1])] for name in _ANSWER)
    return fits


def _rule(name: str, array: NDArray[Any], axes: tuple[str | None, ...] | None) -> ArrayRule:
    """Return the rule for an array of a state, given the first one and the axes that grow."""
    shape: tuple[int | str, ...] = array.shape
    if axes is not None:
        shape = tuple(
            own if axis is None else axis for own, axis in zip(array.shape, axes, strict=True)
        )
    rule = ArrayRule(array.dtype.name, shape, may_be_infinite=STATE + name in MAY_BE_INFINITE)
    if name == "iteration":
        return replace(rule, low=0, high=_MOST_ITERATIONS)
    return replace(rule, low=0, high=4) if name.startswith("basis") else rule

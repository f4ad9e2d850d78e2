"""Groups of options that several commands share: one class declares them, each command takes one.

    class Limits(NamedTuple):
        iterations: Iterations = None
        seconds: Seconds = None

    @with_groups
    def solve(game: GameName, limits: Limits, json: Json = False) -> None: ...

The command then has the flags `--iterations` and `--seconds`, and receives them as one `Limits`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from inspect import Parameter
from typing import Any, get_type_hints


def with_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command with a flag for each field of its parameters that are NamedTuples."""
    signature, types = inspect.signature(command), get_type_hints(command, include_extras=True)
    groups = {name: kind for name, kind in types.items() if hasattr(kind, "_fields")}
    flags: list[Parameter] = []
    for name, parameter in signature.parameters.items():
        if name in groups:
            flags += _flags(groups[name])
        else:
            flags.append(parameter.replace(annotation=types[name], kind=Parameter.KEYWORD_ONLY))

    @functools.wraps(command)
    def run(**given: Any) -> None:
        for name, kind in groups.items():
            given[name] = kind(**{field: given.pop(field) for field in kind._fields})
        command(**given)

    # Typer reads both, and would follow `__wrapped__` to the groups.
    run.__signature__ = signature.replace(parameters=flags)  # type: ignore[attr-defined]
    run.__annotations__ = {flag.name: flag.annotation for flag in flags}
    return run


def _flags(kind: Any) -> list[Parameter]:
    """Return the fields of a group as parameters of a command."""
    types = get_type_hints(kind, include_extras=True)
    return [
        Parameter(
            name,
            Parameter.KEYWORD_ONLY,
            default=kind._field_defaults.get(name, Parameter.empty),
            annotation=types[name],
        )
        for name in kind._fields
    ]

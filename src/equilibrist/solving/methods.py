"""The solvers by the names of the command line."""

from __future__ import annotations

import difflib
from dataclasses import replace

from equilibrist.errors import UnknownNameError
from equilibrist.solving.cfr import CFR_VARIANTS
from equilibrist.solving.double_oracle import DoubleOracle
from equilibrist.solving.excessive_gap import ExcessiveGap
from equilibrist.solving.linear_program import LinearProgram
from equilibrist.solving.range_of_skill import RangeOfSkill
from equilibrist.solving.sampling import ExternalSampling, PublicChanceSampling
from equilibrist.solving.solver import Solver

_METHODS: dict[str, Solver] = {
    **CFR_VARIANTS,
    "egt": ExcessiveGap(),
    "lp": LinearProgram(),
    "double-oracle": DoubleOracle(),
    "range-of-skill": RangeOfSkill(),
    "mccfr": ExternalSampling(),
    "pcs": PublicChanceSampling(),
}


def method_names() -> tuple[str, ...]:
    """All methods, by the names that `get_method` takes."""
    return tuple(_METHODS)


def get_method(name: str, dtype: str = "float64") -> Solver:
    """A solver by name; `UnknownNameError` offers the nearest one.

    Example:
        >>> get_method("cfr+").name
        'cfr+'
    """
    if name not in _METHODS:
        nearest = difflib.get_close_matches(name, _METHODS, n=1, cutoff=0.3)
        hint = f"did you mean {nearest[0]}" if nearest else f"methods: {', '.join(_METHODS)}"
        raise UnknownNameError(f"no method is called {name[:40]!r}; {hint}", value=name)
    if dtype not in ("float32", "float64"):
        raise UnknownNameError(f"numbers are float32 or float64, not {dtype!r}", value=dtype)
    solver = _METHODS[name]
    # Methods without a choice of numbers compute in float64.
    return replace(solver, dtype=dtype) if hasattr(solver, "dtype") else solver  # type: ignore

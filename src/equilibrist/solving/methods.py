"""Catalogue of solving methods."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from equilibrist.catalogue import Catalogue, load_object
from equilibrist.errors import UnknownNameError
from equilibrist.solving.solver import Solver


@dataclass(frozen=True)
class Method:
    """Solving method of the catalogue."""

    name: str
    summary: str
    solver: str  # import path of a solver, or of its class
    evaluate_every: int | None = None  # iterations between evaluations; None: default of `solve`

    def load(self) -> Solver:
        """Import the solver, with the method's own settings."""
        found = load_object(self.solver)
        return found() if isinstance(found, type) else found


METHODS: Final = Catalogue(
    "method",
    (
        Method("cfr", "counterfactual regret minimization", "equilibrist.solving.cfr:VANILLA_CFR"),
        Method("cfr+", "CFR+: regrets clipped at zero", "equilibrist.solving.cfr:CFR_PLUS"),
        Method("linear-cfr", "CFR weighted by iteration", "equilibrist.solving.cfr:LINEAR_CFR"),
        Method("dcfr", "discounted CFR", "equilibrist.solving.cfr:DISCOUNTED_CFR"),
        Method(
            "dcfr+",
            "discounted CFR+: regrets clipped at zero",
            "equilibrist.solving.cfr:DISCOUNTED_CFR_PLUS",
        ),
        Method(
            "log-dcfr+",
            "discounted CFR+ that forgets less and less",
            "equilibrist.solving.cfr:RISING_CFR_PLUS",
        ),
        Method("pcfr+", "predictive CFR+", "equilibrist.solving.cfr:PREDICTIVE_CFR_PLUS"),
        Method(
            "cfr-br",
            "CFR+ against best responses instead of a learning opponent",
            "equilibrist.solving.cfr_br:CFRBR",
        ),
        Method("egt", "excessive gap technique", "equilibrist.solving.excessive_gap:ExcessiveGap"),
        Method(
            "lp", "sequence-form linear program", "equilibrist.solving.linear_program:LinearProgram"
        ),
        Method(
            "double-oracle",
            "best responses added to a matrix game",
            "equilibrist.solving.double_oracle:DoubleOracle",
            evaluate_every=1,  # an iteration costs more than best responses, here and below
        ),
        Method(
            "range-of-skill",
            "generalized best responses to a growing list",
            "equilibrist.papers.range_of_skill.solver:RangeOfSkill",
            evaluate_every=1,
        ),
        Method(
            "mccfr", "CFR with external sampling", "equilibrist.solving.sampling:ExternalSampling"
        ),
        Method(
            "pcs",
            "CFR with public-chance sampling",
            "equilibrist.solving.sampling:PublicChanceSampling",
        ),
    ),
)


def method_names() -> tuple[str, ...]:
    """Return the names of all methods."""
    return tuple(METHODS)


def get_method(name: str, dtype: str = "float64") -> Solver:
    """Return a solver by name, with arrays of a dtype; `UnknownNameError` suggests similar names.

    Example:
        >>> get_method("cfr+").name
        'cfr+'
    """
    method = METHODS[name]
    if dtype not in ("float32", "float64"):
        raise UnknownNameError(f"the dtype must be float32 or float64, not {dtype!r}", value=dtype)
    solver = method.load()
    # Methods without a choice of dtype compute in float64.
    return replace(solver, dtype=dtype) if hasattr(solver, "dtype") else solver  # type: ignore

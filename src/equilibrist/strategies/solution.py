"""Solutions: a pair of plans, the game they are for, how they were found, and their certificate.

A solution is stored as an artefact (`storage.artefact`). It describes its game (`description`), so
the game can be built again, and the certificate can be computed again from the arrays.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equilibrist.errors import InvalidValueError
from equilibrist.models.game import Floats, SequenceGame
from equilibrist.storage.artefact import (
    Artefact,
    Header,
    Identity,
    open_artefact,
    read_identity,
    write_artefact,
)
from equilibrist.storage.schema import ArrayRule, Fields, check_arrays, damaged_by
from equilibrist.strategies.description import (
    BucketDescription,
    Description,
    GameDescription,
    read_description,
    write_description,
)
from equilibrist.strategies.evaluation import Evaluation

KIND = "solution"
STATE = "state."  # prefix of the arrays of the method's own state
# Columns of a trace; the first three are always present.
TRACE_COLUMNS = (
    "iteration",
    "seconds",
    "exploitability",
    "best_response_0",
    "best_response_1",
    "value",
)
RAKED_COLUMNS = (*TRACE_COLUMNS, "rake")  # of spots with a rake
# Keys of the state; values that are unknown before the first iteration are infinite.
MAY_BE_INFINITE = tuple(STATE + name for name in ("gains", "exploitability", "nash_conv"))
_PLAN = ArrayRule(("float64", "float32"), (None,))
_PROBABILITIES = replace(_PLAN, low=-1e-6, high=1 + 1e-6)  # a linear program rounds by less
_ARRAYS = {"plan0": _PLAN, "plan1": _PLAN, "trace": ArrayRule("float64", (None, None))}


@dataclass(frozen=True, eq=False)
class Summary:
    """Contents of a solution's manifest, without its plans."""

    game: Description
    method: str
    iterations: int
    seconds: float  # time spent solving
    certificate: Evaluation
    seed: int
    settings: Mapping[str, Any]


def read_summary(folder: str | Path) -> Summary:
    """Read the summary of a stored solution; cheap, since no array is opened."""
    return _summary(read_identity(folder, KIND))


def _summary(artefact: Identity) -> Summary:
    fields, info = Fields.configuration(artefact), Fields.info(artefact)
    proof = info.part("certificate")
    best = proof.numbers("best_response")
    if len(best) != 2:
        raise proof.error("best_response", "two numbers")
    fields.part("settings")
    seed = 0 if artefact.seed is None else artefact.seed
    return Summary(
        game=read_description(fields.part("game"), Path(artefact.folder)),
        method=fields.text("method"),
        iterations=info.whole("iterations", 0),
        seconds=Fields.timings(artefact).number("seconds", 0),
        certificate=Evaluation(proof.number("value"), (best[0], best[1]), proof.text("unit")),
        seed=seed,
        settings=artefact.configuration["settings"],
    )


@dataclass(frozen=True, eq=False)
class Solution:
    """Pair of realization plans with the certificate of its quality."""

    game: Description
    plans: tuple[Floats, Floats]  # [L of each player], layout of the game's treeplexes
    method: str
    iterations: int
    seconds: float  # time spent solving
    certificate: Evaluation
    trace: NDArray[np.float64]  # [evaluations, columns], see TRACE_COLUMNS
    seed: int = 0
    settings: Mapping[str, Any] = field(default_factory=dict)  # of the method; whatever JSON holds
    state: Mapping[str, NDArray[Any]] = field(default_factory=dict)  # to resume from; may be empty

    def __post_init__(self) -> None:
        for player, plan in enumerate(self.plans):
            if plan.ndim != 1 or plan.dtype.kind != "f":
                raise InvalidValueError(
                    f"player {player}'s plan is {plan.dtype} {list(plan.shape)}; "
                    "a plan must be one row of floats",
                    value=plan.shape,
                )
        if self.trace.ndim != 2 or self.trace.shape[1] not in (3, len(TRACE_COLUMNS)):
            raise InvalidValueError(
                f"the trace has shape {list(self.trace.shape)}; its columns must be "
                f"{', '.join(TRACE_COLUMNS)}",
                value=self.trace.shape,
            )

    def save(self, folder: str | Path) -> str:
        """Write the solution, replacing an existing one; return the artefact's hash."""
        arrays = {"plan0": self.plans[0], "plan1": self.plans[1], "trace": self.trace}
        certificate = dataclasses.asdict(self.certificate)
        del certificate["rake"]  # only spots have one
        header = Header(
            KIND,
            configuration={
                "game": write_description(self.game, Path(folder)),
                "method": self.method,
                "settings": self.settings,
            },
            info={
                "iterations": self.iterations,
                "certificate": certificate | {"exploitability": self.certificate.exploitability},
            },
            parents=self._parents,
            seed=self.seed,
            timings={"seconds": self.seconds},
        )
        arrays |= {STATE + name: array for name, array in self.state.items()}
        return write_artefact(folder, header, arrays, may_be_infinite=MAY_BE_INFINITE)

    @property
    def _parents(self) -> dict[str, str]:
        if not isinstance(self.game, BucketDescription):
            return {}
        return dict(zip(("abstraction", "joint", "ends"), self.game.hashes, strict=False))

    @classmethod
    def load(cls, folder: str | Path, *, in_memory: bool = False) -> Solution:
        """Open a stored solution and compare its checksums.

        Its `state` is checked against game and method when `solve` continues a run from it.
        Its arrays are read-only maps unless copied to memory: a solver that continues from `state`
        needs copies, and compiled kernels start sooner on them.
        """
        artefact = open_artefact(folder, KIND, in_memory=in_memory)
        found = cls.of(artefact)
        check_arrays(artefact, {"plan0": _PROBABILITIES, "plan1": _PROBABILITIES}, only="plan")
        return found

    @classmethod
    def of(cls, artefact: Artefact) -> Solution:
        """Return the solution in an opened artefact; raise `StorageError` if it is something else.

        Its plans may hold any finite numbers: `solving.certificate` reports those that are wrong.
        """
        summary, arrays = _summary(artefact), artefact.arrays
        check_arrays(artefact, _ARRAYS, but=STATE)
        try:
            return cls(
                **vars(summary),
                plans=(arrays["plan0"], arrays["plan1"]),
                trace=arrays["trace"],
                state={
                    name.removeprefix(STATE): array
                    for name, array in arrays.items()
                    if name.startswith(STATE)
                },
            )
        except InvalidValueError as error:
            raise damaged_by(artefact, "a solution", error) from None


def game_of(solution: Solution) -> SequenceGame:
    """Build the game of a solution again from its description.

    Raises `InvalidValueError` if a plan does not fit the game.
    """
    if isinstance(solution.game, GameDescription):
        solution.game.check_length(sum(map(len, solution.plans)))
    game = solution.game.build()
    for player, (plan, length) in enumerate(zip(solution.plans, game.lengths, strict=True)):
        if len(plan) != length:
            raise InvalidValueError(
                f"player {player}'s plan has {len(plan):,} numbers, but plans of {game.name} have "
                f"{length:,}: it was made for another game",
                value=len(plan),
            )
    return game


def plan_error(game: SequenceGame, player: int, plan: Floats) -> float:
    """Return how far an array [L] is from the realization plan of the behaviour it describes.

    For a plan, this is about the rounding error of its type; it is infinite if the array holds NaN.
    A certificate proves nothing about an array that no player can follow.
    """
    exact = np.asarray(plan, np.float64)
    if not np.isfinite(exact).all():
        return float("inf")
    return float(np.abs(game.realize(player, game.behaviour(player, exact)) - exact).max())

"""A solution: a pair of plans, the game they are for, how they were found, and their proof.

A solution is stored as an artefact (`storage.artefact`). It describes its game (`description`), so
the game can be built again, and the certificate can be computed again from the arrays.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equilibrist.errors import InvalidValueError
from equilibrist.models.game import Floats, SequenceGame
from equilibrist.storage.array_file import damaged
from equilibrist.storage.artefact import Artefact, open_artefact, write_artefact
from equilibrist.storage.manifest import MANIFEST
from equilibrist.strategies.description import (
    BucketDescription,
    Description,
    read_description,
    write_description,
)
from equilibrist.strategies.evaluation import Evaluation

KIND = "solution"
# Columns of a trace; the first three are always there.
TRACE_COLUMNS = (
    "iteration",
    "seconds",
    "exploitability",
    "best_response_0",
    "best_response_1",
    "value",
)
_STATE = "state."  # arrays of the method's own state begin so


@dataclass(frozen=True, eq=False)
class Solution:
    """A pair of realization plans with the proof of its quality."""

    game: Description
    plans: tuple[Floats, Floats]  # [L of each player], layout of the game's treeplexes
    method: str
    iterations: int
    seconds: float  # spent solving
    certificate: Evaluation
    trace: NDArray[np.float64]  # [evaluations, columns], see TRACE_COLUMNS
    seed: int = 0
    settings: Mapping[str, Any] = field(default_factory=dict)  # of the method; whatever JSON holds
    state: Mapping[str, NDArray[Any]] = field(default_factory=dict)  # to go on from; may be empty

    def __post_init__(self) -> None:
        for player, plan in enumerate(self.plans):
            if plan.ndim != 1 or plan.dtype.kind != "f":
                raise InvalidValueError(
                    f"player {player}'s plan is {plan.dtype} {list(plan.shape)}; "
                    "a plan is one row of floats",
                    value=plan.shape,
                )
        if self.trace.ndim != 2 or self.trace.shape[1] not in (3, len(TRACE_COLUMNS)):
            raise InvalidValueError(
                f"a trace of shape {list(self.trace.shape)}; its columns are "
                f"{', '.join(TRACE_COLUMNS)}",
                value=self.trace.shape,
            )

    def save(self, folder: str | Path) -> str:
        """Write the solution, replacing one that is there; returns the artefact's hash."""
        arrays = {"plan0": self.plans[0], "plan1": self.plans[1], "trace": self.trace}
        certificate = dataclasses.asdict(self.certificate)
        return write_artefact(
            folder,
            KIND,
            arrays | {_STATE + name: array for name, array in self.state.items()},
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

    @property
    def _parents(self) -> dict[str, str]:
        if not isinstance(self.game, BucketDescription):
            return {}
        return dict(zip(("abstraction", "joint", "ends"), self.game.hashes, strict=False))

    @classmethod
    def load(cls, folder: str | Path, *, in_memory: bool = False, verify: bool = False) -> Solution:
        """Open a stored solution; its arrays are read-only maps unless copied to memory.

        `verify` reads every array and compares checksums. A solver that goes on from `state` needs
        copies, and compiled kernels start sooner on them.
        """
        artefact = open_artefact(folder, KIND, in_memory=in_memory)
        if verify:
            artefact.verify()
        try:
            return cls._from_artefact(artefact)
        except (KeyError, TypeError, ValueError) as error:
            raise damaged(
                artefact.folder / MANIFEST, f"does not describe a solution: {error}"
            ) from None

    @classmethod
    def _from_artefact(cls, artefact: Artefact) -> Solution:
        arrays, configuration = artefact.arrays, artefact.configuration
        certificate = artefact.info["certificate"]
        first, second = certificate["best_response"]
        return cls(
            game=read_description(configuration["game"], Path(artefact.folder)),
            plans=(arrays["plan0"], arrays["plan1"]),
            method=configuration["method"],
            iterations=artefact.info["iterations"],
            seconds=artefact.timings["seconds"],
            certificate=Evaluation(certificate["value"], (first, second), certificate["unit"]),
            trace=arrays["trace"],
            seed=artefact.seed or 0,
            settings=configuration["settings"],
            state={
                name.removeprefix(_STATE): array
                for name, array in arrays.items()
                if name.startswith(_STATE)
            },
        )


def game_of(solution: Solution, backend: str = "cpu") -> SequenceGame:
    """The game of a solution, built again from its description.

    Raises `InvalidValueError` where a plan does not fit the game.
    """
    game = solution.game.build(backend)
    for player, (plan, length) in enumerate(zip(solution.plans, game.lengths, strict=True)):
        if len(plan) != length:
            raise InvalidValueError(
                f"player {player}'s plan has {len(plan):,} numbers, but plans of {game.name} have "
                f"{length:,}: it was made for another game",
                value=len(plan),
            )
    return game


def plan_error(game: SequenceGame, player: int, plan: Floats) -> float:
    """How far an array [L] is from the realization plan of the behaviour it describes.

    About the rounding error of its type for a plan, infinite where it holds NaN: a certificate
    proves nothing of an array that no player can follow.
    """
    exact = np.asarray(plan, np.float64)
    if not np.isfinite(exact).all():
        return float("inf")
    return float(np.abs(game.realize(player, game.behaviour(player, exact)) - exact).max())

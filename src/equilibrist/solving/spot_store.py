"""Solved spots on disk: the spot as text, the tables of its solver, and the proof.

To answer, only the averages are read; to go on, everything is, and the run goes on to the same
numbers.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path

from equilibrist.errors import InvalidValueError
from equilibrist.models.spot import Spot
from equilibrist.models.subgame import Subgame
from equilibrist.solving.solve import Row, Run
from equilibrist.solving.table_boards import TableBoards
from equilibrist.solving.table_cfr import TABLE_METHODS, TableCFR
from equilibrist.storage.array_file import damaged
from equilibrist.storage.artefact import Artefact, open_artefact, write_artefact
from equilibrist.storage.manifest import MANIFEST
from equilibrist.strategies.evaluation import Evaluation
from equilibrist.strategies.spot_report import Answers

KIND = "spot"
_STATE = "state."  # arrays of the solver's state begin so


@dataclass(frozen=True, eq=False)
class SolvedSpot:
    """A spot, how it is solved, and how far."""

    spot: Spot
    solver: TableCFR
    run: Run

    def save(self, folder: str | Path) -> str:
        """Write it, replacing one that is there at once and whole; returns its hash."""
        self.run.check_whole()
        found = self.run.evaluation
        return write_artefact(
            folder,
            KIND,
            {"trace": self.run.trace_array()}
            | {_STATE + name: array for name, array in self.run.state.items()},
            configuration={
                "spot": dataclasses.asdict(self.spot),
                "method": self.solver.name,
                "bits": self.solver.bits,
            },
            info={
                "iterations": int(self.run.state["iteration"]),
                "exploitability": found.exploitability,
                "unit": found.unit,
            },
            timings={"seconds": self.run.seconds},
        )

    @classmethod
    def open(cls, folder: str | Path, *, to_go_on: bool = False) -> SolvedSpot:
        """The spot in a folder; to go on, its arrays are checked and copied to memory."""
        artefact = open_artefact(folder, KIND, in_memory=to_go_on)
        if to_go_on:
            artefact.verify()
        try:
            return cls._from_artefact(artefact)
        except (KeyError, TypeError, ValueError) as error:
            raise damaged(
                artefact.folder / MANIFEST, f"does not describe a spot: {error}"
            ) from None

    @classmethod
    def _from_artefact(cls, artefact: Artefact) -> SolvedSpot:
        configuration, unit = artefact.configuration, artefact.info["unit"]
        texts = configuration["spot"]
        rows = [
            Row(int(t), seconds, Evaluation(value, (one, two), unit))
            for t, seconds, _, one, two, value in artefact.arrays["trace"].tolist()
        ]
        state = {
            name.removeprefix(_STATE): array
            for name, array in artefact.arrays.items()
            if name.startswith(_STATE)
        }
        return cls(
            Spot(**texts | {"locks": tuple(texts["locks"])}),
            solver(configuration["method"], configuration["bits"]),
            Run(state, rows, artefact.timings["seconds"]),
        )

    def check_same(self, spot: Spot, solver: TableCFR, folder: Path) -> None:
        """Raise `InvalidValueError` unless the run is of this spot by this solver."""
        for what, is_same in (("spot", spot == self.spot), ("method", solver == self.solver)):
            if not is_same:
                raise InvalidValueError(
                    f"{folder} was begun with another {what}; resume with the same, or choose "
                    "another folder",
                    value=what,
                )

    def answers(self, found: Subgame | None = None) -> Answers:
        """What it says at nodes."""
        found = self.spot.build() if found is None else found
        return Answers(self.spot, found, TableBoards(found.game, self.solver, self.run.state))


def solver(method: str, bits: int) -> TableCFR:
    """A solver of spots by its name and the bits of a number."""
    if method not in TABLE_METHODS:
        names = ", ".join(TABLE_METHODS)
        raise InvalidValueError(f"spots are solved by {names}, not by {method!r}", value=method)
    if bits not in (16, 32):
        raise InvalidValueError(f"numbers have 16 or 32 bits, not {bits}", value=bits)
    return dataclasses.replace(TABLE_METHODS[method], bits=bits)

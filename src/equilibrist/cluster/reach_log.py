"""Log of the reaches of a run on a split game, from which lost tables are computed again.

The tables of a subgame after n half iterations follow from the reaches of these half iterations
alone. They are written before a half is swept, so whatever a node loses at any moment can be
computed again, to the same bits (docs/decisions/0016).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equilibrist.errors import StorageError
from equilibrist.models.game import REGRET, Floats
from equilibrist.solving.subgame_engine import REGRETS, Order
from equilibrist.storage.table_file import read_tables, write_tables

_CUTS = "cuts.tables"


@dataclass(frozen=True, eq=False)
class ReachLog:
    """Files of a folder: one per half iteration, and where the subgames are divided."""

    folder: Path
    run: str

    def write(self, order: Order, reaches: Floats) -> None:
        """Write the reaches of half an iteration, before it is swept."""
        tables = {"reaches": reaches, "row": np.array(order.row)}
        write_tables(self._path(order.epoch), self.run, order.epoch, tables)

    def read(self, epoch: int) -> tuple[Order, Floats]:
        """Return half an iteration as it was written; raise `StorageError` if it was not."""
        tables = self._read(self._path(epoch))
        if tables is None:
            raise StorageError(
                f"tables of the run are lost, and {self._path(epoch)}, from which they could be "
                "computed again, is missing; restore either, or solve in another folder",
                value=str(self.folder),
            )
        first, second, third, weight = tables["row"].tolist()
        row, half = (first, second, third, weight), (epoch - 1) % 2
        return Order(epoch - 1, ((half, REGRET),), row, REGRETS), tables["reaches"]

    def write_cuts(self, cuts: NDArray[np.int64]) -> None:
        """Write how the subgames are divided among workers, which a resumed run keeps."""
        write_tables(self.folder / _CUTS, self.run, 0, {"cuts": cuts})

    def read_cuts(self) -> NDArray[np.int64] | None:
        """Return how the subgames are divided; None at the start of a run."""
        tables = self._read(self.folder / _CUTS)
        return None if tables is None else tables["cuts"]

    def _path(self, epoch: int) -> Path:
        return self.folder / f"{epoch:08d}.tables"

    def _read(self, path: Path) -> dict[str, NDArray[Any]] | None:
        found = read_tables(path)
        if found is not None and found.run != self.run:
            raise StorageError(f"{path} is of another run; restore the file", value=str(path))
        return None if found is None else found.tables

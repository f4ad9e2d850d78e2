"""Tables of subgames on a disk: read ahead, compressed, and written behind by an engine's threads.

Half an iteration of player p changes the regrets of p and the averages of the opponent. They are in
one file with the values that the subgame returned, named by the subgame and p, with the number of
half iterations as its epoch. So a half that was interrupted is idempotent: a subgame whose file has
the epoch after it is finished, and its values are read; all others have the epoch before it and are
swept again. A resumed run has the same bits.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equilibrist import stopping
from equilibrist.errors import StorageError
from equilibrist.models.game import EXPECTATION, Floats
from equilibrist.models.split import Split
from equilibrist.phases import phase
from equilibrist.solving.subgame_engine import (
    STILL,
    Key,
    Order,
    Table,
    bytes_in_memory,
    half_of,
    keys_of_half,
    latest,
    lengths,
    zeros,
)
from equilibrist.storage.array_file import damaged
from equilibrist.storage.artefact import sync_folder
from equilibrist.storage.table_file import RAW, read_tables, write_tables

_VALUES = "values"
_COPIES = 2  # of the tables in memory: as they are, and compressed


@dataclass(eq=False)
class DiskTables:
    """Tables in the files of a folder, which belong to one run."""

    split: Split
    bits: int
    folder: Path
    run: str  # name of the run, in every file
    codec: str = RAW
    bytes_read: int = field(default=0, init=False)
    bytes_written: int = field(default=0, init=False)
    _guard: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def done(self, subgame: int) -> int:
        """Return the number of half iterations of a subgame's tables; 0 if some are missing.

        Raises `StorageError` for tables of another run.
        """
        epochs = []
        for half in (0, 1):
            found = read_tables(self._path(subgame, half), ())
            if found is not None and found.run != self.run:
                raise self._foreign(subgame, half)
            epochs.append(0 if found is None else found.epoch)
        return latest(epochs)

    def finished(self, subgame: int, order: Order) -> Floats | None:
        """Return the values in the file that an interrupted half wrote before."""
        if not order.epoch:
            return None
        found = read_tables(self._path(subgame, order.player), ())
        if found is None or found.epoch != order.epoch:
            return None
        values = self._read(subgame, order.player, order.epoch, [_VALUES])[_VALUES]
        start, end = self.split.start[subgame : subgame + 2].tolist()
        if values.shape != (1, end - start) or values.dtype != _dtypes(self.bits)[0]:
            path = self._path(subgame, order.player)
            raise damaged(path, f"holds values of another size than {self.split.name(subgame)}")
        return values

    def read(self, subgame: int, order: Order) -> dict[Key, Table]:
        """Read the tables that an order needs; zeros before the first half of their player."""
        found: dict[Key, Table] = {}
        for half in (0, 1):
            keys, epoch = keys_of_half(order, half), order.before(half)
            if epoch < 1:
                found |= {key: zeros(self.split, subgame, key, self.bits) for key in keys}
            elif keys:
                names = [name for key in keys for name in _names(key)]
                arrays = self._read(subgame, half, epoch, names)
                found |= {key: Table(*(arrays[name] for name in _names(key))) for key in keys}
        self._check(subgame, found)
        return {key: found[key] for key in order.reads}

    def verify(self, done: int, parts: Sequence[str]) -> None:
        """Read all tables after a number of half iterations.

        Raises `StorageError` for the first that is missing, damaged, of another size or not finite.
        """
        number = self.split.num_subgames
        with phase("reading the tables of subgames", total=number, unit="subgames") as work:
            for subgame in range(number):
                stopping.check()
                for part in parts:
                    order = Order(done, ((0, EXPECTATION),), STILL, part)
                    for key, table in self.read(subgame, order).items():
                        if not all(np.isfinite(array).all() for array in table):
                            path = self._path(subgame, half_of(key))
                            raise damaged(path, "holds a number that is not finite")
                work.advance()

    def write(self, subgame: int, order: Order, tables: dict[Key, Table], values: Floats) -> None:
        """Write the tables that an order changed, and its values."""
        arrays: dict[str, NDArray[Any]] = {_VALUES: values}
        for key in order.writes:
            arrays |= dict(zip(_names(key), tables[key], strict=True))
        path = self._path(subgame, order.player)
        size = write_tables(path, self.run, order.epoch, arrays, self.codec)
        with self._guard:
            self.bytes_written += size

    def bytes_of(self, subgame: int) -> int:
        """Return the memory of a subgame's tables and of their compressed copies."""
        return _COPIES * bytes_in_memory(self.split, subgame, self.bits)

    def settle(self) -> None:
        """Make the names of the files that were written outlive a power failure."""
        sync_folder(self.folder)

    def _foreign(self, subgame: int, half: int) -> StorageError:
        path = self._path(subgame, half)
        return StorageError(
            f"{path} is of another run; restore the file, or solve in another folder",
            value=str(path),
        )

    def _path(self, subgame: int, half: int) -> Path:
        return self.folder / f"{subgame:06d}-{half}.tables"

    def _read(
        self, subgame: int, half: int, epoch: int, names: list[str]
    ) -> dict[str, NDArray[Any]]:
        """Read tables from a file; raise `StorageError` unless it has this run and this epoch."""
        path = self._path(subgame, half)
        found = read_tables(path, names)
        if found is None:
            raise damaged(path, f"is missing; the run has done {epoch} half iterations with it")
        if found.run != self.run:
            raise self._foreign(subgame, half)
        if found.epoch != epoch:
            raise damaged(
                path, f"is of half iteration {found.epoch}, but that of {epoch} is needed"
            )
        with self._guard:
            self.bytes_read += sum(array.nbytes for array in found.tables.values())
        return found.tables

    def _check(self, subgame: int, found: dict[Key, Table]) -> None:
        """Raise `StorageError` unless tables have the types and lengths that kernels expect."""
        trees = self.split.deal(self.split.place(subgame)[0]).trees
        for key, table in found.items():
            trunk, last, rows = lengths(trees[key.player])
            float_, number = _dtypes(self.bits)
            expected = [(float_, trunk), (number, last), (float_, rows if self.bits == 16 else 0)]
            if [(array.dtype, len(array)) for array in table] != expected:
                path = self._path(subgame, half_of(key))
                raise damaged(path, f"holds tables of another size than {self.split.name(subgame)}")


def _names(key: Key) -> list[str]:
    return [f"{key.part}{key.player}.{name}" for name in Table._fields]


def _dtypes(bits: int) -> tuple[np.dtype[Any], np.dtype[Any]]:
    """Return the types of the numbers before the last round, and in it."""
    float_ = np.dtype(np.float64 if bits == 64 else np.float32)
    return float_, np.dtype(np.int16) if bits == 16 else float_

"""What runs on a node of a cluster: the owner of some subgames of a split game."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from equilibrist.games.bet_menu import BetMenu
from equilibrist.games.rules import GameRules
from equilibrist.models.card_states import Symmetry
from equilibrist.models.game import Floats
from equilibrist.models.split import SPLITS, Split
from equilibrist.solving.disk_tables import DiskTables
from equilibrist.solving.subgame_engine import MemoryTables, Order, Tables, Threads
from equilibrist.storage.memory import available_bytes
from equilibrist.storage.table_file import RAW, check_codec

_MEMORY_SHARE = 4  # part of the free memory for tables on their way, if nobody says how much


@dataclass(frozen=True)
class Job:
    """All that a node has to know of a run; it is sent to it."""

    rules: GameRules
    after: str
    menu: BetMenu
    symmetry: Symmetry
    bits: int
    folder: Path | None = None  # of the tables on the disk of each node; None: in memory
    run: str = ""
    codec: str = RAW
    memory: int | None = None  # bytes of tables in memory at a time, if they are on a disk

    @classmethod
    def of(cls, split: Split, bits: int) -> Job:
        """Return a job with tables in memory."""
        after = next(name for name, rounds in SPLITS.items() if rounds == split.rounds)
        return cls(split.rules, after, split.menu, split.symmetry, bits)

    def tables(self, split: Split) -> Tables:
        """Return the tables of a node."""
        if self.folder is None:
            return MemoryTables(split, self.bits)
        check_codec(self.codec)
        return DiskTables(split, self.bits, self.folder, self.run, self.codec)


class Worker:
    """Owner of a range of subgames: it keeps their tables, and sweeps them with its threads.

    It is an actor of Ray, and ordinary Python.
    """

    def __init__(self, job: Job, subgames: range, threads: int) -> None:
        # Nothing here raises: Ray takes an actor whose `__init__` fails for one that was killed.
        self._job, self._subgames, self._threads = job, subgames, threads
        self._done: dict[int, int] = {}

    @cached_property
    def _engine(self) -> Threads:
        job = self._job
        split = Split.of(job.rules, job.after, job.menu, job.symmetry)
        memory = job.memory or available_bytes() // _MEMORY_SHARE
        return Threads(job.tables(split), split, self._threads, memory, self._subgames)

    def done(self) -> tuple[int, int]:
        """Look at its tables; return the least and the largest number of half iterations of them.

        Raises `StorageError` for tables of another run.
        """
        tables = self._engine.tables
        self._done = {subgame: tables.done(subgame) for subgame in self._subgames}
        return min(self._done.values()), max(self._done.values())

    def sweep(self, order: Order, reaches: Floats) -> Floats:
        """Run an order on all of its subgames; a half that is run again changes nothing."""
        return self._engine.sweep(order, reaches)

    def replay(self, order: Order, reaches: Floats) -> None:
        """Run half an iteration on the subgames that `done` found behind it."""
        behind = [subgame for subgame, done in self._done.items() if done < order.epoch]
        self._engine.sweep(order, reaches, behind)
        self._done.update(dict.fromkeys(behind, order.epoch))


def free_bytes(folder: Path | None) -> int:
    """Return the bytes that this machine has for tables: in memory, or on the disk of a folder.

    Tables that are in the folder already count as free, because they are replaced.
    """
    if folder is None:
        return available_bytes()
    there = next(path for path in (folder, *folder.parents) if path.exists())
    stored = sum(file.stat().st_size for file in folder.glob("*.tables"))
    return shutil.disk_usage(there).free + stored

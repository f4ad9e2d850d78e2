"""The engine of a split game whose subgames are swept by the GPU of this machine.

It is `Threads` with another unit of work: the kernels by which a spot is solved on a GPU. Tables in
memory are the GPU's, and stay there from the first half iteration on. Tables on a disk are uploaded
for each half, and what has changed is downloaded, so a run on a disk can change its engine.
"""

from __future__ import annotations

import dataclasses
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from equilibrist.errors import DeviceError
from equilibrist.kernels.array_structs import HandPairs
from equilibrist.kernels.gpu import device
from equilibrist.models.game import Floats
from equilibrist.models.split import Split
from equilibrist.solving.devices import gpu_room
from equilibrist.solving.split_run import SplitRun
from equilibrist.solving.subgame_engine import (
    Key,
    MemoryTables,
    Order,
    Table,
    Threads,
    bytes_in_memory,
)
from equilibrist.storage.memory import available_bytes, check_fits

_MOST_BOARDS = 64  # whose cards are on the GPU at a time
_MEMORY_SHARE = 4  # part of the free memory for tables on their way to the GPU


@dataclass(frozen=True, eq=False)
class GpuTables(MemoryTables):
    """Tables in the memory of the GPU; those of zeros are in that of the CPU."""

    def bytes_of(self, subgame: int) -> int:
        """Return the memory of the CPU that a subgame takes before its first half iteration."""
        return bytes_in_memory(self.split, subgame, self.bits)


@dataclass(eq=False)
class GpuPlayer:
    """Unit of work of an engine: one subgame, by the kernels of the GPU.

    With `stays`, changed tables stay on the GPU in place of those that were given.
    """

    split: Split
    bits: int
    stays: bool
    _boards: OrderedDict[int, Any] = field(default_factory=OrderedDict, repr=False)
    _shared: Any = field(default=None, repr=False)

    def __call__(
        self, split: Split, subgame: int, tables: dict[Key, Table], order: Order, reaches: Floats
    ) -> Floats:
        """Run an order on one subgame: see `subgame_engine.play`."""
        from equilibrist.kernels.gpu.subgame_sweeps import Half, OnGpu

        board, way = split.place(subgame)
        game, own = split.game(subgame), self._board(board)
        there: tuple[dict[str, OnGpu], dict[str, OnGpu]] = ({}, {})
        for key, table in tables.items():
            held = table if isinstance(table, OnGpu) else own.upload(key.player, table)
            there[key.player][key.part] = held
        values = np.empty_like(reaches)
        for number, (player, rule) in enumerate(order.halves):
            half = Half(player, rule, order.part, order.row)
            values[number] = own.run(game, way.pot, half, reaches[number], there)
        for key in order.writes:
            if self.stays:
                held_now: Any = there[key.player][key.part]
                tables[key] = held_now
            else:
                tables[key] = Table(*own.download(key.player, key.part))
        return values

    def _board(self, board: int) -> Any:
        """Return a board on the GPU; those used latest are kept."""
        from equilibrist.kernels.gpu.subgame_sweeps import Shared, Subgames

        if self._shared is None:
            self._shared = Shared()
        if board not in self._boards:
            while len(self._boards) >= _MOST_BOARDS:
                self._boards.popitem(last=False)
            first = board * len(self.split.ways)
            with device.errors_of_memory("a board of this game"):
                self._boards[board] = Subgames(
                    self.split.game(first),
                    self.split.ways[0].pot,
                    np.float64 if self.bits == 64 else np.float32,
                    is_packed=self.bits == 16,
                    shared=self._shared,
                )
        self._boards.move_to_end(board)
        return self._boards[board]


class GpuEngines(NamedTuple):
    """What makes engines of the GPU, after a check that there is one."""

    table_bytes: int = 0  # forecast of all tables, which must fit if they stay on the GPU

    @classmethod
    def checked(cls, table_bytes: int = 0) -> GpuEngines:
        """Return it; raise `DeviceError` if this machine has no GPU that can be used."""
        try:
            device.cuda()
        except DeviceError as error:
            raise DeviceError(f"{error}; or use the engine threads", value=error.value) from None
        return cls(table_bytes)

    def in_memory(self, split: Split, bits: int) -> Threads:
        """Return an engine whose tables are in the memory of the GPU."""
        _check_hands(split)
        check_fits(
            f"{split.rules.name} needs on the GPU",
            self.table_bytes,
            gpu_room(),
            "give --store, fewer raises, --bits 16 or --current",
        )
        return self._engine(GpuTables(split, bits), split, GpuPlayer(split, bits, stays=True))

    def on_disks(self, run: SplitRun) -> Threads:
        """Return the engine of a run with its tables in a folder."""
        split = run.split
        _check_hands(split)
        player = GpuPlayer(split, run.settings.bits, stays=False)
        engine = self._engine(run.tables, split, player)
        memory = run.memory or engine.memory
        return dataclasses.replace(engine, memory=memory, committed=run.commit)

    @staticmethod
    def _engine(tables: Any, split: Split, player: GpuPlayer) -> Threads:
        memory = available_bytes() // _MEMORY_SHARE
        return Threads(tables, split, threads=1, memory=memory, player=player)


def _check_hands(split: Split) -> None:
    """Raise `DeviceError` unless the kernels can play the game."""
    if not isinstance(split.deal(0).pairs, HandPairs):
        raise DeviceError(
            f"the engine gpu plays games of two-card hands only, not {split.rules.name}; use the "
            "engine threads",
            value=split.rules.name,
        )

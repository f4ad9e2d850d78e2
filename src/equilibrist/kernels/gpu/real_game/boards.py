"""Boards of some flops on the GPU, the columns of hands on them, and work space that is reused."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equilibrist.kernels.array_structs import RankTables
from equilibrist.kernels.gpu import device
from equilibrist.kernels.gpu.real_game.hands import label, look_up, wrap
from equilibrist.kernels.real_game_structs import (
    BoardBatch,
    Cards,
    ColumnTables,
    FlopBatch,
    Places,
)


def hand_of(hand_cards: NDArray[Any]) -> NDArray[np.int16]:
    """Return the hand of each two cards: [52, 52], −1 if there is none."""
    found = np.full((52, 52), -1, np.int16)
    for h, (one, two) in enumerate(hand_cards.tolist()):
        found[one, two] = found[two, one] = h
    return found


class Uploaded(NamedTuple):
    """Boards of a batch on the GPU."""

    rounds: list[BoardBatch]  # their columns are places, or [N, H]
    rivers: Any  # [N, 5] cards
    parent: Any  # [N] turn of each river


class BoardTables:
    """Cards and tables of buckets on the GPU."""

    def __init__(self, cards: Cards, tables: RankTables, columns: ColumnTables | None) -> None:
        self.cuda = device.cuda()
        self.cards, self.num_hands = cards, len(cards.hand_cards)
        self.width = 256 if not device.is_simulated() else 4
        self._rooms: dict[str, Any] = {}
        with device.errors_of_memory("the tables of this strategy; use the device cpu"):
            self.hand_cards = self.put(cards.hand_cards, np.uint8)
            self.hand_of = self.put(hand_of(cards.hand_cards))
            self.renamed = self.put(cards.renamed, np.int16)
            put: list[Any] = [self.put(x) if isinstance(x, np.ndarray) else x for x in tables]
            self.ranking = RankTables(*put)
            self._columns = None if columns is None else self._put_columns(columns)

    def upload(self, batch: FlopBatch, *, is_kept: bool = False) -> Uploaded:
        """Copy the boards of a batch: into work space, or into arrays that are kept."""
        store = self._keep if is_kept else self.fill
        rounds = []
        for r, own in enumerate(batch.rounds):
            columns: Any = own.columns
            if isinstance(columns, Places):
                number = store(f"number{r}", columns.number, np.int32)
                columns = Places(number, store(f"renaming{r}", columns.renaming, np.uint8))
            else:
                columns = store(f"columns{r}", columns, np.int32)
            rounds.append(
                BoardBatch(
                    store(f"dead{r}", own.dead, np.int64),
                    columns,
                    store(f"start{r}", own.start, np.int64),
                    store(f"weight{r}", own.weight, np.float64),
                    store(f"keeping_start{r}", own.keeping_start, np.int64),
                    store(f"keeping{r}", own.keeping, np.int64),
                )
            )
        start = batch.rounds[2].start
        parent = np.repeat(np.arange(len(start) - 1), np.diff(start))
        rivers = store("rivers", batch.rivers, np.uint8)
        return Uploaded(rounds, rivers, store("parent", parent, np.int32))

    def columns(self, boards: Uploaded) -> list[Any]:
        """Return the columns of the hands on the boards of each round: [N, H] int32."""
        found: list[Any] = []
        for r, own in enumerate(boards.rounds):
            if not isinstance(own.columns, Places):
                found.append(own.columns)
                continue
            assert self._columns is not None
            number, renaming = own.columns
            out = self.room(f"columns{r}", (len(own.dead), self.num_hands), np.int32)
            grid, renamed = (len(own.dead), self.width), self._columns.renamed
            if r < 2:
                look_up[grid](self._columns.tables[r], number, renaming, renamed, out)
            else:
                label[grid](
                    self._columns.values, (self._columns.first, self._columns.lower),
                    number, renaming, renamed, found[1], boards.parent, out,
                )  # fmt: skip
            found.append(out)
        if self._columns is not None:
            for period, out in zip(self._columns.periods, found, strict=True):
                if period:
                    wrap[out.shape[0], self.width](period, out)
        return found

    def _put_columns(self, columns: ColumnTables) -> ColumnTables:
        first, second = (self.put(table) for table in columns.tables)
        return ColumnTables(
            (first, second),
            self.put(columns.values),
            self.put(columns.first),
            self.put(columns.lower),
            self.put(columns.renamed),
            columns.periods,
        )

    # --- arrays on the GPU ------------------------------------------------------------------------

    def put(self, array: NDArray[Any], dtype: Any = None) -> Any:
        """Copy an array to the GPU."""
        return self.cuda.to_device(np.ascontiguousarray(array, dtype or array.dtype))

    def _keep(self, _: str, array: NDArray[Any], dtype: Any) -> Any:
        return self.put(array if array.size else np.zeros(1), dtype)

    def fill(self, name: str, array: NDArray[Any], dtype: Any) -> Any:
        """Copy an array into work space."""
        out = self.room(name, array.shape, dtype)
        if array.size:
            out.copy_to_device(np.ascontiguousarray(array, dtype))
        return out

    def room(self, name: str, shape: tuple[int, ...], dtype: Any) -> Any:
        """Return work space of a shape, larger than before if need be."""
        size = max(1, math.prod(shape))
        if name not in self._rooms or self._rooms[name].shape[0] < size:
            self._rooms.pop(name, None)
            self._rooms[name] = self.cuda.device_array(size, dtype)
        return self._rooms[name][: math.prod(shape)].reshape(shape)

    def threads(self, count: int, most: int = 256) -> int:
        """Return the number of threads of a block for a number of elements."""
        return min(count, 4 if device.is_simulated() else most)

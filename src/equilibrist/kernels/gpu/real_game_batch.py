"""Flops of best responses in the real game on the GPU, many at a time.

A `Responder` holds what does not change between batches: tables of buckets, the positions of both
seats, and the opponent's probabilities, which `set_rows` replaces, also by arrays that are on the
GPU already. `start` launches the kernels of a batch and returns at once; `Started.values` waits.
Work space is allocated once and used again.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equilibrist.kernels.array_structs import RankTables
from equilibrist.kernels.decision_rules import SMALLEST
from equilibrist.kernels.gpu import device
from equilibrist.kernels.gpu import real_game as kernels
from equilibrist.kernels.gpu.real_game import Lanes, Rounds
from equilibrist.kernels.real_game_structs import (
    BoardBatch,
    Cards,
    ColumnTables,
    FlopBatch,
    Places,
    SeatStructure,
)

_THREADS = (
    112 if not device.is_simulated() else 8
)  # of a block, at most: two share a multiprocessor
_CHUNK = 7  # hands whose ends are kept in shared memory, at least


def num_lanes(num_ends: int, num_positions: int) -> int:
    """Return the number of lanes of a block for a number of different ends: an even number."""
    return min(2 * max(1, _THREADS // num_ends), num_positions + num_positions % 2)


def hand_of(hand_cards: NDArray[Any]) -> NDArray[np.int16]:
    """Return the hand of each two cards: [52, 52], −1 if there is none."""
    found = np.full((52, 52), -1, np.int16)
    for h, (one, two) in enumerate(hand_cards.tolist()):
        found[one, two] = found[two, one] = h
    return found


class _Seat(NamedTuple):
    """A responder on the GPU."""

    structure: SeatStructure
    rounds: list[Rounds]
    met_rows: list[tuple[Any, Any]]
    lanes: Lanes
    first_column: Any
    place: Any  # [P] where the positions of the last round are among cases and lanes
    row: Any
    first_row: Any
    scale: Any
    rows: list[Any]  # probabilities of each round


class Responder:
    """Best responses in one or both seats, on the GPU."""

    def __init__(
        self,
        cards: Cards,
        tables: RankTables,
        columns: ColumnTables | None,
        seats: Sequence[SeatStructure],
        rows: Sequence[Sequence[Any]],
    ) -> None:
        self._cuda = device.cuda()
        self._rooms: dict[str, Any] = {}
        self._cards = cards
        self._width = 256 if not device.is_simulated() else 4
        with device.errors_of_memory("the tables of this strategy; use the device cpu"):
            self._num_hands = len(cards.hand_cards)
            self._hand_cards = self._put(cards.hand_cards, np.uint8)
            self._hand_of = self._put(hand_of(cards.hand_cards))
            self._renamed = self._put(cards.renamed, np.int16)
            put: list[Any] = [self._put(x) if isinstance(x, np.ndarray) else x for x in tables]
            self._ranking = RankTables(*put)
            self._columns = self._column_tables(columns)
            self._seats = [self._seat(seat, own) for seat, own in zip(seats, rows, strict=True)]
        for number, own in enumerate(rows):
            self.set_rows(number, own)

    def set_rows(self, seat: int, rows: Sequence[Any]) -> None:
        """Replace the opponent's probabilities that a seat responds to: [Q, K] of each round.

        Rounds have the rows and columns of the first time; arrays may be on the GPU.
        """
        own = self._seats[seat]
        for r, array in enumerate(rows):
            own.rows[r] = self._put(array) if isinstance(array, np.ndarray) else array
        last = own.rows[-1]
        units = self._room("units", (last.shape[0] + 1,), np.float64)
        most = tuple(float(number) for number in own.structure.last.units)
        kernels.find_units[-(-units.shape[0] // 64), 64](last, most, SMALLEST, units)
        num_blocks, num_ends, lanes = own.row.shape
        is_whole = not own.structure.has_first
        kernels.fill_lanes[(num_blocks, num_ends, lanes // 2), self._threads(last.shape[1])](
            last, units, own.row, is_whole, own.lanes
        )
        kernels.fill_units[num_blocks, lanes](
            own.rows[0], units, (own.row, own.first_row), own.scale, own.lanes
        )

    def start(self, batch: FlopBatch) -> Started:
        """Launch the kernels of a batch."""
        with device.errors_of_memory("this number of flops at once"):
            boards = [self._boards(r, batch.rounds[r]) for r in range(3)]
            columns = self._all_columns(batch, boards)
            hands = self._sorted(batch, boards[2], columns[2])
            return Started(
                [self._respond(n, boards, columns, hands) for n in range(len(self._seats))]
            )

    # --- one seat ---------------------------------------------------------------------------------

    def _respond(
        self, number: int, boards: list[BoardBatch], columns: list[Any], hands: Any
    ) -> Any:
        """Return what hands win from the positions of the flop round: [F, P, H], on the GPU."""
        own = self._seats[number]
        num_turns, num_flops = len(boards[1].dead), len(boards[0].dead)
        num_cases, lanes = own.structure.last.chips.shape
        dealt = self._room("dealt", (num_turns, num_cases, self._num_hands * lanes), np.float64)
        self._launch_last(own, hands, boards[2], dealt)
        flat = dealt.reshape(num_turns, num_cases * self._num_hands * lanes)
        turns = self._round(own, 1, boards[1], columns[1], flat, (own.place, lanes))
        num_positions = turns.shape[1]
        size, width = num_positions * self._num_hands, self._width
        total = self._room("total", (num_flops, size), np.float64)
        kernels.add_boards[(-(-size // width), num_flops), width](
            turns.reshape(num_turns, size), boards[1].start, boards[1].weight, total
        )
        place = self._put(np.arange(num_positions) * self._num_hands)
        return self._round(own, 0, boards[0], columns[0], total, (place, 1), f"flops{number}")

    def _launch_last(self, own: _Seat, hands: Any, rivers: BoardBatch, out: Any) -> None:
        last = own.structure.last
        num_blocks, num_ends, lanes = own.row.shape
        kernel = kernels.respond_last(
            last.betting.raises, last.betting.is_first, own.structure.has_first
        )
        width = num_ends * lanes // 2
        chunk = num_ends * max(1, _CHUNK // num_ends)
        size = 2 * self._cards.num_left * width + 2 * chunk * width + hands.shape[1]
        device.launch(
            kernel, (out.shape[0], num_blocks), width, 8 * size,
            hands, rivers.weight, rivers.start, own.lanes, own.first_column,
            (self._cards.num_left, chunk), np.float32(last.betting.bet), out,
        )  # fmt: skip

    def _round(
        self,
        own: _Seat,
        r: int,
        boards: BoardBatch,
        columns: Any,
        dealt: Any,
        places: tuple[Any, int],
        name: str = "turns",
    ) -> Any:
        """Return what hands win from the positions of a round on N boards: [N, P, H]."""
        seat, number = own.structure.rounds[r], len(boards.dead)
        place, stride = places
        threads = self._threads(self._num_hands, 128)
        values = self._room("values", (number, len(place), self._num_hands), np.float64)
        if len(place):
            kernels.average[(len(place), number), threads](
                dealt, place, stride, self._cards.divisors[r],
                (boards.keeping_start, boards.keeping), self._renamed, values,
            )  # fmt: skip
        met = self._room("met", (number, len(seat.met_row), self._num_hands), np.float64)
        met_row, met_first = own.met_rows[r]
        kernels.meet[(len(seat.met_row), number), threads](
            (met_row, own.rows[r + 1]), (met_first, own.rows[0]),
            columns, own.first_column, boards.dead, (self._hand_cards, self._hand_of), met,
        )  # fmt: skip
        out = self._room(name, (number, len(seat.spent), self._num_hands), np.float64)
        betting = seat.betting
        kernel = kernels.respond_round(betting.raises, betting.is_first)
        kernel[(len(seat.spent), number), threads](
            values, met, own.rounds[r], betting.bet, boards.dead, self._hand_cards, out
        )
        return out

    # --- cards ------------------------------------------------------------------------------------

    def _boards(self, r: int, boards: BoardBatch) -> BoardBatch:
        """Return the boards of a round on the GPU; their columns stay where they are."""
        return BoardBatch(
            self._fill(f"dead{r}", boards.dead, np.int64),
            boards.columns,
            self._fill(f"start{r}", boards.start, np.int64),
            self._fill(f"weight{r}", boards.weight, np.float64),
            self._fill(f"keeping_start{r}", boards.keeping_start, np.int64),
            self._fill(f"keeping{r}", boards.keeping, np.int64),
        )

    def _all_columns(self, batch: FlopBatch, boards: list[BoardBatch]) -> list[Any]:
        """Return the columns of the hands on the boards of each round: [N, H] int32."""
        found: list[Any] = []
        for r, own in enumerate(batch.rounds):
            if isinstance(own.columns, Places):
                assert self._columns is not None
                number = self._fill(f"number{r}", own.columns.number, np.int32)
                renaming = self._fill(f"renaming{r}", own.columns.renaming, np.uint8)
                out = self._room(f"columns{r}", (len(own.dead), self._num_hands), np.int32)
                grid, renamed = (len(own.dead), self._width), self._columns.renamed
                if r < 2:
                    kernels.look_up[grid](self._columns.tables[r], number, renaming, renamed, out)
                else:
                    parent = np.repeat(np.arange(len(own.start) - 1), np.diff(own.start))
                    kernels.label[grid](
                        self._columns.values, (self._columns.first, self._columns.lower),
                        number, renaming, renamed,
                        found[1], self._fill("parent", parent, np.int32), out,
                    )  # fmt: skip
                found.append(out)
            else:
                found.append(self._fill(f"columns{r}", own.columns, np.int32))
        if self._columns is not None:
            for period, out in zip(self._columns.periods, found, strict=True):
                if period:
                    kernels.wrap[out.shape[0], self._width](period, out)
        return found

    def _sorted(self, batch: FlopBatch, rivers: BoardBatch, columns: Any) -> Any:
        """Return the hands of the rivers in order: [N, n]."""
        number = math.comb(self._cards.num_left, 2)
        out = self._room("hands", (len(batch.rivers), number), np.int64)
        boards = self._fill("rivers", batch.rivers, np.uint8)
        kernels.sort_hands[len(batch.rivers), self._width](
            self._ranking, boards, rivers.dead, self._hand_cards, columns, out
        )
        return out

    # --- arrays on the GPU ------------------------------------------------------------------------

    def _column_tables(self, columns: ColumnTables | None) -> ColumnTables | None:
        if columns is None:
            return None
        first, second = (self._put(table) for table in columns.tables)
        return ColumnTables(
            (first, second),
            self._put(columns.values),
            self._put(columns.first),
            self._put(columns.lower),
            self._put(columns.renamed),
            columns.periods,
        )

    def _seat(self, seat: SeatStructure, rows: Sequence[Any]) -> _Seat:
        last, (num_blocks, _, lanes) = seat.last, seat.last.row.shape
        empty, size = self._cuda.device_array, last.row.size * rows[-1].shape[1]
        table, share = (1, size) if seat.has_first else (size // 2, 1)
        return _Seat(
            seat,
            [
                Rounds(*(self._put(x) for x in (r.following, r.row, r.scale, r.spent)))
                for r in seat.rounds
            ],
            [(self._put(r.met_row), self._put(r.met_first)) for r in seat.rounds],
            Lanes(
                empty(table, np.int64),
                empty(share, np.float32),
                empty((num_blocks, rows[0].shape[1], lanes), np.float32),
                empty((num_blocks, last.scale.shape[1], lanes), np.float32),
                self._put(last.end, np.uint32),
                self._put(last.chips),
                self._put(last.case_start),
            ),
            self._put(seat.first_column, np.int32),
            self._put(last.case * (self._num_hands * lanes) + last.lane),
            self._put(last.row),
            self._put(last.first_row),
            self._put(last.scale),
            [None] * len(rows),
        )

    def _put(self, array: NDArray[Any], dtype: Any = None) -> Any:
        """Copy an array to the GPU."""
        return self._cuda.to_device(np.ascontiguousarray(array, dtype or array.dtype))

    def _fill(self, name: str, array: NDArray[Any], dtype: Any) -> Any:
        """Copy an array into work space."""
        out = self._room(name, array.shape, dtype)
        if array.size:
            out.copy_to_device(np.ascontiguousarray(array, dtype))
        return out

    def _room(self, name: str, shape: tuple[int, ...], dtype: Any) -> Any:
        """Return work space of a shape, larger than before if need be."""
        size = max(1, math.prod(shape))
        if name not in self._rooms or self._rooms[name].shape[0] < size:
            self._rooms.pop(name, None)
            self._rooms[name] = self._cuda.device_array(size, dtype)
        return self._rooms[name][: math.prod(shape)].reshape(shape)

    def _threads(self, count: int, most: int = 256) -> int:
        return min(count, 4 if device.is_simulated() else most)


class Started(NamedTuple):
    """Batch under way."""

    arrays: list[Any]  # by seat: [F, P, H]

    def values(self) -> list[NDArray[np.float64]]:
        """Wait for the batch; return what hands win from positions of the flop: [F, P, H]."""
        return [array.copy_to_host() for array in self.arrays]

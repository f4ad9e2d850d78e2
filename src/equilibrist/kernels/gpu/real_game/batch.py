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
from equilibrist.kernels.gpu.real_game.boards import BoardTables, Uploaded
from equilibrist.kernels.gpu.real_game.earlier_rounds import (
    Rounds,
    add_boards,
    average,
    meet,
    respond_round,
)
from equilibrist.kernels.gpu.real_game.hands import sort_hands
from equilibrist.kernels.gpu.real_game.lanes import Lanes, fill_lanes, fill_units, find_units
from equilibrist.kernels.gpu.real_game.last_round import respond_last
from equilibrist.kernels.real_game_structs import (
    BoardBatch,
    Cards,
    ColumnTables,
    FlopBatch,
    SeatStructure,
)

_THREADS = (
    112 if not device.is_simulated() else 8
)  # of a block, at most: two share a multiprocessor
_CHUNK = 7  # hands whose ends are kept in shared memory, at least


def num_lanes(num_ends: int, num_positions: int) -> int:
    """Return the number of lanes of a block for a number of different ends: an even number."""
    return min(2 * max(1, _THREADS // num_ends), num_positions + num_positions % 2)


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


class Responder(BoardTables):
    """Best responses in one or both seats, on the GPU."""

    def __init__(
        self,
        cards: Cards,
        tables: RankTables,
        columns: ColumnTables | None,
        seats: Sequence[SeatStructure],
        rows: Sequence[Sequence[Any]],
    ) -> None:
        super().__init__(cards, tables, columns)
        with device.errors_of_memory("the tables of this strategy; use the device cpu"):
            self._seats = [self._seat(seat, own) for seat, own in zip(seats, rows, strict=True)]
        for number, own in enumerate(rows):
            self.set_rows(number, own)

    def set_rows(self, seat: int, rows: Sequence[Any]) -> None:
        """Replace the opponent's probabilities that a seat responds to: [Q, K] of each round.

        Rounds have the rows and columns of the first time; arrays may be on the GPU.
        """
        own = self._seats[seat]
        for r, array in enumerate(rows):
            own.rows[r] = self.put(array) if isinstance(array, np.ndarray) else array
        last = own.rows[-1]
        units = self.room("units", (last.shape[0] + 1,), np.float64)
        most = tuple(float(number) for number in own.structure.last.units)
        find_units[-(-units.shape[0] // 64), 64](last, most, SMALLEST, units)
        num_blocks, num_ends, lanes = own.row.shape
        is_whole = not own.structure.has_first
        fill_lanes[(num_blocks, num_ends, lanes // 2), self.threads(last.shape[1])](
            last, units, own.row, is_whole, own.lanes
        )
        fill_units[num_blocks, lanes](
            own.rows[0], units, (own.row, own.first_row), own.scale, own.lanes
        )

    def start(self, batch: FlopBatch) -> Started:
        """Launch the kernels of a batch."""
        with device.errors_of_memory("more flops; continue on the device cpu"):
            uploaded = self.upload(batch)
            boards, columns = uploaded.rounds, self.columns(uploaded)
            hands = self._sorted(uploaded, columns[2])
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
        dealt = self.room("dealt", (num_turns, num_cases, self.num_hands * lanes), np.float64)
        self._launch_last(own, hands, boards[2], dealt)
        flat = dealt.reshape(num_turns, num_cases * self.num_hands * lanes)
        turns = self._round(own, 1, boards[1], columns[1], flat, (own.place, lanes))
        num_positions = turns.shape[1]
        size, width = num_positions * self.num_hands, self.width
        total = self.room("total", (num_flops, size), np.float64)
        add_boards[(-(-size // width), num_flops), width](
            turns.reshape(num_turns, size), boards[1].start, boards[1].weight, total
        )
        place = self.put(np.arange(num_positions) * self.num_hands)
        return self._round(own, 0, boards[0], columns[0], total, (place, 1), f"flops{number}")

    def _launch_last(self, own: _Seat, hands: Any, rivers: BoardBatch, out: Any) -> None:
        last = own.structure.last
        num_blocks, num_ends, lanes = own.row.shape
        kernel = respond_last(last.betting.raises, last.betting.is_first, own.structure.has_first)
        width = num_ends * lanes // 2
        chunk = num_ends * max(1, _CHUNK // num_ends)
        size = 2 * self.cards.num_left * width + 2 * chunk * width + hands.shape[1]
        device.launch(
            kernel, (out.shape[0], num_blocks), width, 8 * size,
            hands, rivers.weight, rivers.start, own.lanes, own.first_column,
            (self.cards.num_left, chunk), np.float32(last.betting.bet), out,
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
        threads = self.threads(self.num_hands, 128)
        values = self.room("values", (number, len(place), self.num_hands), np.float64)
        if len(place):
            average[(len(place), number), threads](
                dealt, place, stride, self.cards.divisors[r],
                (boards.keeping_start, boards.keeping), self.renamed, values,
            )  # fmt: skip
        met = self.room("met", (number, len(seat.met_row), self.num_hands), np.float64)
        met_row, met_first = own.met_rows[r]
        meet[(len(seat.met_row), number), threads](
            (met_row, own.rows[r + 1]), (met_first, own.rows[0]),
            columns, own.first_column, boards.dead, (self.hand_cards, self.hand_of), met,
        )  # fmt: skip
        out = self.room(name, (number, len(seat.spent), self.num_hands), np.float64)
        betting = seat.betting
        kernel = respond_round(betting.raises, betting.is_first)
        kernel[(len(seat.spent), number), threads](
            values, met, own.rounds[r], betting.bet, boards.dead, self.hand_cards, out
        )
        return out

    def _sorted(self, boards: Uploaded, columns: Any) -> Any:
        """Return the hands of the rivers in order: [N, n]."""
        number = math.comb(self.cards.num_left, 2)
        out = self.room("hands", (len(boards.rivers), number), np.int64)
        sort_hands[len(boards.rivers), self.width](
            self.ranking, boards.rivers, boards.rounds[2].dead, self.hand_cards, columns, out
        )
        return out

    def _seat(self, seat: SeatStructure, rows: Sequence[Any]) -> _Seat:
        last, (num_blocks, _, lanes) = seat.last, seat.last.row.shape
        empty, size = self.cuda.device_array, last.row.size * rows[-1].shape[1]
        table, share = (1, size) if seat.has_first else (size // 2, 1)
        return _Seat(
            seat,
            [
                Rounds(*(self.put(x) for x in (r.following, r.row, r.scale, r.spent)))
                for r in seat.rounds
            ],
            [(self.put(r.met_row), self.put(r.met_first)) for r in seat.rounds],
            Lanes(
                empty(table, np.int64),
                empty(share, np.float32),
                empty((num_blocks, rows[0].shape[1], lanes), np.float32),
                empty((num_blocks, last.scale.shape[1], lanes), np.float32),
                self.put(last.end, np.uint32),
                self.put(last.chips),
                self.put(last.case_start),
            ),
            self.put(seat.first_column, np.int32),
            self.put(last.case * (self.num_hands * lanes) + last.lane),
            self.put(last.row),
            self.put(last.first_row),
            self.put(last.scale),
            [None] * len(rows),
        )


class Started(NamedTuple):
    """Batch under way."""

    arrays: list[Any]  # by seat: [F, P, H]

    def values(self) -> list[NDArray[np.float64]]:
        """Wait for the batch; return what hands win from positions of the flop: [F, P, H]."""
        return [array.copy_to_host() for array in self.arrays]

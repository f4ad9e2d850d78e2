"""Gradients of one seat's plan against best responses below some flops, on the GPU.

`FlopGradients.respond` takes a plan and the responder's reach of the flop's openings. Flops are
computed one after the other: lists and matrices of their rivers, choices from the rivers to the
flop, and the responder's reach and the plan's gradient from the flop to the rivers. Everything
stays on the GPU until all flops are added up.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equilibrist.kernels.decision_rules import SMALLEST
from equilibrist.kernels.gpu import device
from equilibrist.kernels.gpu.cfr_br import earlier, lists, river
from equilibrist.kernels.gpu.cfr_br.lists import CARDS, Lists
from equilibrist.kernels.gpu.cfr_br.products import multiply
from equilibrist.kernels.gpu.memory import download, empty, is_array_on_gpu, views
from equilibrist.kernels.gpu.real_game.boards import BoardTables, Uploaded
from equilibrist.kernels.gpu.real_game.earlier_rounds import add_boards, average, meet
from equilibrist.kernels.real_game_structs import FlopBatch
from equilibrist.kernels.response_structs import GradientStructure, Openings, responder_end

_BYTES = 3 << 30 if not device.is_simulated() else 1 << 20  # of the products of a chunk of rivers
_LARGEST = 0.25  # of the responder's reach: sums of products with it must fit into float16
Floats = NDArray[np.float64]


class _Rows(NamedTuple):
    """Rows of a round: those at ends, then folds; or those that are folded to, then folds."""

    row: Any  # [S] in the plan's block
    number: int  # how many are at ends
    stake: NDArray[np.float64]  # [S] chips that decide what a leaf's number is worth
    following: Any
    spent: Any
    place: Any  # [O] where the hands of each opening start
    raises: int
    is_first: bool
    bet: float


class _Flop(NamedTuple):
    """A flop on the GPU, with the numbers of its boards."""

    boards: Uploaded
    weights: tuple[Any, Any, Any]  # by round: number of boards that each one represents, float32
    above: Any  # [T] zeros: the flop is the board before all turns
    start: NDArray[np.int64]  # [T + 1] rivers of each turn


class FlopGradients:
    """Best responses to one seat's plan and its gradients.

    `dtype` is that of the rivers' products: float16 rounds them by 0.05 %, the choices and the
    gradient are those of a plan and a reach that are rounded so.
    """

    def __init__(
        self, tables: BoardTables, structure: GradientStructure, dtype: str = "float16"
    ) -> None:
        self._at, self._dtype = tables, np.dtype(dtype)
        self.structure = structure
        self._arrays: dict[str, Any] = {}
        self._flops: dict[tuple[int, ...], _Flop] = {}
        with device.errors_of_memory("gradients of this strategy"):
            self._rounds = [self._rows(r, own) for r, own in enumerate(structure.openings)]
            self._no_columns = tables.put(np.zeros(tables.num_hands, np.int32))
            self._nothing = tables.put(np.zeros(1, np.int32))
            self._counts: dict[tuple[int, ...], NDArray[np.int32]] = {}

    def knows(self, flop: tuple[int, ...]) -> bool:
        """Return whether a flop's boards are on the GPU."""
        return flop in self._flops

    def add(self, flop: tuple[int, ...], batch: FlopBatch) -> None:
        """Copy the boards of a flop to the GPU, where they stay."""
        boards = self._at.upload(batch, is_kept=True)
        rivers, turns = batch.rounds[2], batch.rounds[1]
        parent = np.repeat(np.arange(len(turns.weight)), np.diff(rivers.start))
        many = batch.rounds[0].weight, turns.weight, rivers.weight * turns.weight[parent]
        first, second, third = (self._at.put(own, np.float32) for own in many)
        above = self._at.put(np.zeros(len(turns.weight), np.int32))
        self._flops[flop] = _Flop(boards, (first, second, third), above, rivers.start)

    def respond(
        self,
        flops: Sequence[tuple[int, ...]],
        weights: Sequence[float] | Floats,
        rows: Sequence[Any],
        reach: Floats | None,
    ) -> tuple[Floats, list[Any]]:
        """Return what the responder's hands win [O, H], and the gradients [Q, K] on the GPU.

        Both are sums over flops, multiplied by `weights`; `rows` [Q, K] are the plan's blocks of
        the rounds after the first, `reach` [O, H] the responder's; without it, no gradients.
        """
        at = self._at
        with device.errors_of_memory("gradients of this strategy"):
            plan = [
                own if is_array_on_gpu(own) else at.fill(f"plan{r}", own, np.float32)
                for r, own in enumerate(rows)
            ]
            gradients = [] if reach is None else [self._zeros(s) for s in self.structure.shapes]
            self._take_plan(plan[2])
            if reach is not None:
                self._take_reach(reach)
            total = self._zeros((len(self._rounds[0].place), at.num_hands), np.float64)
            for flop, weight in zip(flops, weights, strict=True):
                terms = (float(weight), plan, list(views(*gradients)), *views(total))
                self._add_flop(flop, *terms)
            return download(total), gradients

    # --- one flop ---------------------------------------------------------------------------------

    def _add_flop(
        self,
        cards: tuple[int, ...],
        weight: float,
        plan: list[Any],
        gradients: list[Any],
        total: Any,
    ) -> None:
        at, flop = self._at, self._flops[cards]
        rounds = flop.boards.rounds
        columns = at.columns(flop.boards)
        own = [self._lists(r, flop.boards, columns[r]) for r in range(3)]
        if cards not in self._counts:
            self._counts[cards] = own[2].count.copy_to_host()
        counts = self._counts[cards]
        size = _padded(int(counts.max()))
        width = _padded(own[2].hand.shape[1]) + CARDS
        matrices = self._products("matrices", len(counts), size, width)
        lists.build_matrix[len(counts), at.width](
            own[2], at.hand_cards, width - CARDS, *views(matrices)
        )
        chunks = self._chunks(flop.start, counts, width)
        dealt = self._rivers_up(flop, chunks, own[2], matrices)
        turns = self._up(1, flop, columns[1], dealt, plan[1])
        num_turns, size = len(rounds[1].dead), math.prod(turns.shape[1:])
        summed = at.room("summed", (1, size), np.float64)
        add_boards[(-(-size // at.width), 1), at.width](
            turns.reshape(num_turns, size), rounds[1].start, rounds[1].weight, summed
        )
        found = self._up(0, flop, columns[0], summed.reshape(1, *turns.shape[1:]), plan[0])
        size = math.prod(total.shape)
        earlier.add_values[-(-size // at.width), at.width](
            found.reshape(1, size), weight, total.reshape(size)
        )
        if not gradients:
            return
        reach = self._down(0, flop, own[0], (self._reach, self._nothing), weight, gradients[0])
        reach = self._down(1, flop, own[1], (reach, flop.above), weight, gradients[1])
        self._rivers_down(flop, chunks, own[2], matrices, (reach, weight, gradients[2]))

    def _chunks(
        self, start: NDArray[np.int64], counts: NDArray[np.int32], width: int
    ) -> list[tuple[int, int, int]]:
        """Divide turns into chunks: first turn, end, and the number of buckets of their rivers."""
        most = max(1, _BYTES // (self._rounds[2].number * width * self._dtype.itemsize))
        found, first = [], 0
        for t in range(1, len(start)):
            if t == len(start) - 1 or start[t + 1] - start[first] > most:
                found.append((first, t, _padded(int(counts[start[first] : start[t]].max()))))
                first = t
        return found

    def _lists(self, r: int, boards: Uploaded, columns: Any) -> Lists:
        """List the hands of a round's boards by bucket."""
        at, own = self._at, boards.rounds[r]
        number, buckets = len(own.dead), self.structure.shapes[r][1]
        hands = math.comb(at.cards.num_left + 2 - r, 2)
        most = _padded(min(hands, buckets))
        shapes = (hands, hands, hands if r == 2 else 1, 0, most, most + 1, buckets)
        types = (np.int16, np.int16, np.int32, np.int32, np.int32, np.int32, np.int16)
        found = Lists(
            *(
                at.room(f"{name}{r}", (number, size) if size else (number,), dtype)
                for name, size, dtype in zip(Lists._fields, shapes, types, strict=True)
            )
        )
        lists.list_hands[number, at.width](
            at.ranking, boards.rivers, own.dead, at.hand_cards, columns, found
        )
        return found

    # --- rivers -----------------------------------------------------------------------------------

    def _rivers_up(
        self, flop: _Flop, chunks: list[tuple[int, int, int]], own: Lists, matrices: Any
    ) -> Any:
        """Return what hands win on turns, summed over rivers: [T, O, H]; keep the choices."""
        at, rows, rounds = self._at, self._rounds[2], flop.boards.rounds
        openings, width = len(rows.place), matrices.shape[2]
        out = at.room("dealt", (len(rounds[1].dead), openings, at.num_hands), np.float32)
        choice = at.room("choice2", (len(rounds[2].dead), openings, own.hand.shape[1]), np.uint16)
        kernel = river.respond_river(rows.raises, rows.is_first)
        for first, end, size in chunks:
            start, number = int(flop.start[first]), int(flop.start[end] - flop.start[first])
            shares = self._products("shares", number, len(rows.row), size)
            some = 1 if device.is_simulated() else 16
            lists.gather_rows[(-(-len(rows.row) // some), number), at.threads(size, 128)](
                self._scaled, own, start, some, *views(shares)
            )
            right = matrices[start : start + number, :size]
            won = self._products("won", number, rows.number, width)
            folded = self._products("folded", number, len(rows.row) - rows.number, CARDS)
            multiply(shares[:, : rows.number], right, won)
            multiply(shares[:, rows.number :], right[:, :, width - CARDS :], folded)
            kernel[(end - first, openings), self._wide()](
                views(won, folded, shares), self._unit, own, (rounds[2].start, rounds[2].weight),
                (first, start), (rows.spent, np.float32(rows.bet)), at.hand_cards, (choice, out),
            )  # fmt: skip
        return out

    def _rivers_down(
        self,
        flop: _Flop,
        chunks: list[tuple[int, int, int]],
        own: Lists,
        matrices: Any,
        target: tuple[Any, float, Any],
    ) -> None:
        """Add the gradient of the last round's rows; `target` is (reach, weight, gradient)."""
        at, rows, (reach, weight, gradient) = self._at, self._rounds[2], target
        openings, width = len(rows.place), matrices.shape[2]
        shape = (len(flop.boards.rounds[2].dead), openings, own.hand.shape[1])
        choice = at.room("choice2", shape, np.uint16)
        kernel = river.spread_river(rows.raises, rows.is_first)
        for first, end, size in chunks:
            start, number = int(flop.start[first]), int(flop.start[end] - flop.start[first])
            shown = self._products("won", number, rows.number, width)
            folded = self._products("folded", number, len(rows.row) - rows.number, CARDS)
            found = self._products("shares", number, len(rows.row), size)
            kernel[(number, openings), self._wide()](
                choice, (reach, self._factors), own, (start, flop.boards.parent),
                (rows.spent, np.float32(rows.bet)), at.hand_of, views(shown, folded, found),
            )  # fmt: skip
            right = matrices[start : start + number, :size]
            multiply(shown, right, found[:, : rows.number], is_transposed=True, is_added=True)
            multiply(
                folded, right[:, :, width - CARDS :], found[:, rows.number :],
                is_transposed=True, is_added=True,
            )  # fmt: skip
            self._add(2, views(found)[0], own, (start, number), (flop.weights[2], weight), gradient)

    # --- turn and flop ----------------------------------------------------------------------------

    def _up(self, r: int, flop: _Flop, columns: Any, dealt: Any, rows: Any) -> Any:
        """Return what hands win from the openings of round `r` + 1: [N, O, H]; keep the choices."""
        at, own, boards = self._at, self._rounds[r], flop.boards.rounds[r]
        number, openings, below = len(boards.dead), len(own.place), dealt.shape[1]
        threads = at.threads(at.num_hands, 128)
        values = at.room(f"values{r}", (number, below, at.num_hands), np.float64)
        average[(below, number), threads](
            dealt.reshape(number, below * at.num_hands), self._rounds[r + 1].place, 1,
            at.cards.divisors[r], (boards.keeping_start, boards.keeping), at.renamed, values,
        )  # fmt: skip
        met = at.room("met", (number, len(own.row), at.num_hands), np.float64)
        meet[(len(own.row), number), threads](
            (own.row, rows), (self._no_first[r], rows), columns, self._no_columns, boards.dead,
            (at.hand_cards, at.hand_of), met,
        )  # fmt: skip
        shape = (number, openings, at.num_hands)
        choice = at.room(f"choice{r}", shape, np.uint16)
        out = at.room(f"won{r}", shape, np.float64)
        earlier.respond_earlier(own.raises, own.is_first)[(openings, number), threads](
            values, met, own.following, (own.spent, own.bet), boards.dead, at.hand_cards,
            choice, out,
        )  # fmt: skip
        return out

    def _down(
        self, r: int, flop: _Flop, own: Lists, above: Any, weight: float, gradient: Any
    ) -> Any:
        """Return the responder's reach of the next round's openings; add the gradient of folds."""
        at, rows, boards = self._at, self._rounds[r], flop.boards.rounds[r]
        number, openings = len(boards.dead), len(rows.place)
        choice = at.room(f"choice{r}", (number, openings, at.num_hands), np.uint16)
        below = len(self._rounds[r + 1].place)
        reach = at.room(f"reach{r}", (number, below, at.num_hands), np.float32)
        found = at.room("leaves", (number, len(rows.row), own.bucket.shape[1]), np.float32)
        earlier.spread_earlier(rows.raises, rows.is_first)[(openings, number), self._wide()](
            choice, above, rows.following, boards.dead, (at.hand_cards, at.hand_of), own,
            reach, found,
        )  # fmt: skip
        self._add(r, found, own, (0, number), (flop.weights[r], weight), gradient)
        return reach

    def _add(
        self,
        r: int,
        found: Any,
        own: Lists,
        places: tuple[int, int],
        weights: tuple[Any, float],
        out: Any,
    ) -> None:
        """Add to the gradient what the leaves of rows [C, S, G] have for the buckets of boards."""
        width = self._at.threads(out.shape[1], 128)
        grid = (found.shape[1], -(-out.shape[1] // width))
        rows = self._coefficients[r], self._rounds[r].row
        lists.add_buckets[grid, width](found, own, places, weights, rows, out)

    # --- plan and reach ---------------------------------------------------------------------------

    def _take_plan(self, last: Any) -> None:
        """Scale the rows of the last round."""
        at, rows = self._at, self._rounds[2]
        self._scaled = at.room(f"scaled {self._dtype}", (len(rows.row), last.shape[1]), self._dtype)
        self._unit = at.room("unit", (len(rows.row),), np.float32)
        lists.scale_rows[len(rows.row), at.threads(last.shape[1], 128)](
            last, rows.row, np.float32(SMALLEST), self._scaled, self._unit
        )

    def _take_reach(self, reach: Floats) -> None:
        """Copy the responder's reach and find the factor of each of the last round's openings."""
        largest = reach.max(axis=1)
        first = np.where(largest > 0, _LARGEST / np.where(largest > 0, largest, 1), 1.0)
        factor = first
        for own in self.structure.openings[:2]:
            below = np.empty(own.following.size)
            below[own.following.ravel()] = np.repeat(factor, own.following.shape[1])
            factor = below
        self._reach = self._at.fill("reach", reach[None], np.float32)
        self._factors = self._at.fill("factors", factor, np.float32)
        raises = self._rounds[2].raises
        counts = [np.repeat(1 / factor, many) for many in (2 * raises + 1, raises)]
        scales: list[Any] = [1.0, 1.0, np.concatenate(counts)]
        self._coefficients = [
            self._at.fill(
                f"coefficient{r}",
                own.stake * scale / math.prod(self._at.cards.divisors[:r]),
                np.float32,
            )
            for r, (own, scale) in enumerate(zip(self._rounds, scales, strict=True))
        ]

    def _rows(self, r: int, own: Openings) -> _Rows:
        """Prepare the rows of a round."""
        put, (bet, raises, is_first) = self._at.put, own.betting
        ends = [responder_end(k, raises, is_first) for k in range(1, raises + 1)]
        lost = own.spent[:, None] + bet * np.arange(raises)
        if r == 2:
            beyond = np.arange(raises) + 1
            shown = own.spent[:, None] + bet * np.concatenate([[0], beyond, beyond])
            row = np.concatenate([own.end_row.ravel(), own.fold_row.ravel()])
            stake, number = np.concatenate([-shown.ravel(), -lost.ravel()]), own.end_row.size
        else:
            row = np.concatenate([own.end_row[:, ends], own.fold_row], axis=1).ravel()
            stake, number = np.concatenate([lost, -lost], axis=1).ravel(), 0
        if r == 0:
            self._no_first: list[Any] = []
        self._no_first.append(put(np.full(len(row), -1)))
        hands = self._at.num_hands
        return _Rows(
            put(row), number, stake, put(own.following), put(own.spent, np.float32),
            put(np.arange(len(own.spent)) * hands), raises, is_first, float(bet),
        )  # fmt: skip

    # --- arrays -----------------------------------------------------------------------------------

    def _products(self, name: str, number: int, rows: int, columns: int) -> Any:
        """Return work space whose slices cost nothing: an array of CuPy."""
        size = number * rows * columns
        if name not in self._arrays or len(self._arrays[name]) < size:
            self._arrays.pop(name, None)
            self._arrays[name] = empty(size, self._dtype)
        return self._arrays[name][:size].reshape(number, rows, columns)

    def _zeros(self, shape: tuple[int, ...], dtype: Any = np.float32) -> Any:
        out = empty(shape, dtype)
        out[:] = 0
        return out

    def _wide(self) -> int:
        return 4 if device.is_simulated() else 384


def _padded(number: int) -> int:
    """Return the next multiple of 8, which cuBLAS multiplies faster."""
    return -(-number // 8) * 8

"""CFR by tables on the GPU: the iterations of `cpu/table_sweeps.py`, with every round as the last.

All tables stay on the GPU, [states of a round, rows of actions], and no round stores plans: half an
iteration realizes the opponent's plan from its regrets, round by round, adds it to the average,
computes the leaves, and folds the values up while regrets are updated. The boards of the last round
are played in batches, so that the work space is small beside the tables. A half has some ten
launches; CuPy records those of an iteration in a graph, which is then launched as a whole.

The tables come from, and go back to, the arrays of the CPU's state, so a run may begin on one
device and end on the other.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equilibrist.kernels.array_structs import LeafTables, Treeplex
from equilibrist.kernels.cpu.table_sweeps import Game, matched_trunk
from equilibrist.kernels.decision_rules import REGRET
from equilibrist.kernels.gpu import device, tables
from equilibrist.kernels.gpu.resident import Resident
from equilibrist.kernels.gpu.table_layout import (
    batches,
    block_of_round,
    cards_of,
    check_game,
    columns_of,
    leaf_rows_of,
    leaves_of,
    num_blocks,
    places_of,
    rows_of,
    state_start,
)
from equilibrist.kernels.gpu.tables import MANY, THREADS, Leaves, Rows, Step

PARTS = ("regret", "average")
_WORK_SHARE = 0.25  # of the free memory, at most this for a batch's work space
_WORK_BYTES = 6 << 30  # and at most this
_TURNED_BYTES = 1 << 28  # of a piece of a table that is uploaded or downloaded
_ENOUGH_THREADS = 100_000  # with more leaves on all boards, a thread sums up a whole board
_PROBES = 1 << 14  # threads that look for the least and largest number of a table


def open_tables(game: Game, state: dict[str, Any], threads: int = 1) -> Tables:
    """Return the tables of a state on the GPU, which its arrays then stand for.

    If they are there already nothing is copied. `threads` is for the CPU.
    """
    found = state[f"last_{PARTS[0]}0"]
    if isinstance(found, Resident):
        owner = found.owner
        if all(getattr(state[name], "owner", None) is owner for name in owner.arrays):
            return owner
    with device.errors_of_memory("the tables of this game; store 16 bits, or use the device cpu"):
        held = Tables(game, state)
    state.update(held.arrays)
    return held


class _Player(NamedTuple):
    """A player's side on the GPU, by round."""

    rows: list[Rows]
    place: list[NDArray[np.uint32]]  # where each row of the CPU stands, by round: [Q]
    num_rows: list[int]  # Q of each round
    num_entries: list[int]
    leaves: list[Leaves]
    table: dict[str, list[Any]]  # regret and average: [states, rows of actions] of each round
    packed: dict[str, tuple[Any, Any]]  # of the last round, if its numbers have 16 bits


class Tables:
    """Regrets and averages of a game of two-card hands, on the GPU."""

    def __init__(self, game: Game, state: dict[str, Any]) -> None:
        self._prepare(game, state["regret0"].dtype, state["last_regret0"].dtype.kind == "i")
        self._players = [self._player(p, game.leaves, state) for p in (0, 1)]
        self._make_work_space()
        self._graph: Any = None

    def _prepare(self, game: Game, dtype: Any, is_packed: bool) -> None:
        """Put the boards and hands of a game on the GPU; `dtype` is that of sums."""
        trees, leaves, pairs = game.trees, game.leaves, game.pairs[0]
        check_game(trees, pairs)
        self.trees = trees
        self.num_rounds = len(trees[0].num_sequences)
        self.dtype = np.dtype(dtype)
        self.is_packed = is_packed
        self._cuda = device.cuda()
        self._cards = [cards_of(trees[0], pairs, r) for r in range(self.num_rounds)]
        self._num_folds = np.diff(leaves.fold_start)
        self._num_leaves = self._num_folds + np.diff(leaves.showdown_start)
        self._boards = np.diff(trees[0].board_start)
        self._state_start = state_start(trees[0], self.num_rounds - 1)
        self._states = [int(state_start(trees[0], r)[-1]) for r in range(self.num_rounds)]
        self._places = [places_of(tree) for tree in trees]
        self._step: Step | None = None
        self._reach: Any = None  # [states of the first round, 1] the opponent's; None: all 1
        self._adds = True  # whether plans are added to averages

    # --- what the solver calls --------------------------------------------------------------------

    def sweeps(self, schedule: NDArray[Any]) -> None:
        """Run CFR iterations, one per row of `schedule` [steps, 4]: see `cpu.table_sweeps`."""
        if not len(schedule):
            return
        rows = np.repeat(schedule, 2, axis=0).astype(self.dtype)
        self._begin(rows)
        if len(schedule) > 2 and not device.is_simulated():
            self._launch_recorded(len(schedule))
        else:
            for _ in range(len(schedule)):
                self._iterate()
        self._cuda.synchronize()

    def worth(self, halves: list[tuple[int, int]]) -> tuple[NDArray[np.float64], NDArray[Any]]:
        """Return what players win by rules against the averages, (player, rule) in `halves`.

        Also the values of the trunk's rows for the last of them.
        """
        roots = np.zeros(len(halves))
        self._begin(np.tile(np.array([0, 0, 0, -1], self.dtype), (len(halves), 1)))
        for number, (player, rule) in enumerate(halves):
            self._half(player, rule, "average")
            roots[number] = self._ends[0].copy_to_host()[:, 0].sum(dtype=np.float64)
        player = halves[-1][0]
        place = self._players[player].place
        trunk = [self._values[r].copy_to_host()[:, place[r]] for r in range(self.num_rounds - 1)]
        return roots, self._on_cpu(trunk, self.trees[player])

    @cached_property
    def arrays(self) -> dict[str, Resident]:
        """The arrays of the state, by name, that these tables stand for."""
        found: dict[str, Resident] = {}
        for p in (0, 1):
            for part in PARTS:
                found[f"{part}{p}"] = self._trunk_array(p, part)
                found |= self._last_arrays(p, part)
            for number, name in enumerate(("trunk_plan", "trunk_behaviour")):
                found[f"{name}{p}"] = self._derived_array(p, number)
        return found

    # --- iterations -------------------------------------------------------------------------------

    def _begin(self, rows: NDArray[Any]) -> None:
        """Put a schedule on the GPU, and its clock to zero."""
        if self._step is None or len(self._step.schedule) < len(rows):
            room = max(len(rows), 256)
            self._graph = None
            self._step = Step(
                self._cuda.device_array((room, 4), self.dtype),
                self._cuda.device_array(1, np.int64),
            )
        self._step.schedule[: len(rows)].copy_to_device(np.ascontiguousarray(rows))
        self._step.clock.copy_to_device(np.zeros(1, np.int64))

    def _iterate(self, stream: Any = 0) -> None:
        """Launch an iteration: both players in turn."""
        for player in (0, 1):
            self._half(player, REGRET, "regret", stream)

    def _launch_recorded(self, iterations: int) -> None:
        """Run iterations as launches of a recorded graph; the first one compiles the kernels."""
        cupy = device.cupy()
        self._iterate()
        self._cuda.synchronize()
        if self._graph is None:
            self._stream = cupy.cuda.Stream(non_blocking=True)
            own = self._cuda.external_stream(self._stream.ptr)
            with self._stream:
                self._stream.begin_capture()
                self._iterate(own)
                self._graph = self._stream.end_capture()
        for _ in range(iterations - 1):
            self._graph.launch(self._stream)
        self._stream.synchronize()

    def _half(self, player: int, rule: int, part: str, stream: Any = 0) -> None:
        """Launch half an iteration: the values of a player, given the opponent's plan.

        Strategies are matched from `part` of the tables. The opponent's plan is added to its
        average unless the weight in the schedule is negative.
        """
        own, other, last = self._players[player], self._players[1 - player], self.num_rounds - 1
        for r in range(last):
            whole = (0, self._states[r], 0)
            plan = self._plan(r, self._states[r], other)
            self._realize(other, r, (other.table[part][r], other.table["average"][r]), whole, plan,
                          stream)  # fmt: skip
        for boards in self._batches:
            self._play_last(player, rule, part, boards, stream)
        for r in range(last - 1, -1, -1):
            whole, values = (0, self._states[r], 0), self._leaf_values[r]
            plan = self._plan(r, self._states[r], other)
            self._leaves(own, r, plan, (0, int(self._boards[r])), values, stream)
            below = self._ends[r + 1]
            blocks = num_blocks(self._states[r] * below.shape[1])
            tables.gather[blocks, THREADS, stream](self._cards[r], below, self._gathered[r])
            self._fold(
                own, r, rule, own.table[part][r], values, self._gathered[r], whole,
                self._values[r], stream,
            )  # fmt: skip
        tables.advance[1, 1, stream](self._step)

    def _play_last(
        self, player: int, rule: int, part: str, boards: tuple[int, int], stream: Any
    ) -> None:
        """Launch the last round's share of half an iteration, on a batch of boards."""
        own, other, r = self._players[player], self._players[1 - player], self.num_rounds - 1
        start = self._state_start
        first, end = int(start[boards[0]]), int(start[boards[1]])
        count = end - first
        plan = self._plan(r, count, other)
        if self.is_packed:
            origin = first
            matched = self._unpacked(other, part, self._blocks[0], first, count, stream)
            average = self._unpacked(other, "average", self._blocks[1], first, count, stream)
            table = self._unpacked(own, part, self._blocks[2], first, count, stream)
        else:
            origin = 0
            matched, average = other.table[part][r], other.table["average"][r]
            table = own.table[part][r]
        batch = (first, count, origin)
        self._realize(other, r, (matched, average), batch, plan, stream)
        values = self._leaf_values[r]
        self._leaves(own, r, plan, boards, values, stream)
        self._fold(own, r, rule, table, values, self._no_entries, batch, self._values[r], stream)
        if self.is_packed and rule == REGRET:
            if self._adds:
                self._pack(other, "average", average, boards, stream)
            self._pack(own, part, table, boards, stream)

    def _plan(self, r: int, count: int, player: _Player) -> Any:
        """Return the room for a player's plan of a round: [states, Q], contiguous."""
        rows = player.num_rows[r]
        return self._plans[r][: count * rows].reshape(count, rows)

    def _realize(
        self, other: _Player, r: int, both: Any, part: Any, plan: Any, stream: Any
    ) -> None:
        above = self._plan(r - 1, self._states[r - 1], other) if r else self._reach
        is_first = above is None
        blocks = num_blocks(part[1] * other.num_entries[r])
        tables.realize[blocks, THREADS, stream](
            other.rows[r], self._cards[r], self._step, is_first, both,
            plan if is_first else above, part, plan,
        )  # fmt: skip

    def _leaves(
        self, own: _Player, r: int, plan: Any, boards: tuple[int, int], out: Any, stream: Any
    ) -> None:
        folds, every = int(self._num_folds[r]), int(self._num_leaves[r])
        if every == 0:
            return
        num_boards = boards[1] - boards[0]
        segments = 1 if every * num_boards >= _ENOUGH_THREADS else MANY
        blocks = num_blocks(folds * segments) + num_blocks((every - folds) * segments)
        first = int(self._state_start[boards[0]]) if r == self.num_rounds - 1 else 0
        kernel = tables.LEAF_VALUES[self.dtype.name, segments]
        kernel[(blocks, num_boards), THREADS, stream](
            self._cards[r], own.leaves[r], folds, plan, (boards[0], first), out
        )

    def _fold(
        self, own: _Player, r: int, rule: int, table: Any, values: Any, gathered: Any, part: Any,
        work: Any, stream: Any,
    ) -> None:  # fmt: skip
        blocks = num_blocks(part[1] * own.num_entries[r])
        tables.fold[blocks, THREADS, stream](
            own.rows[r], self._step, rule, table, values, gathered, part, work, self._ends[r]
        )

    def _unpacked(
        self, player: _Player, part: str, block: Any, first: int, count: int, stream: Any
    ) -> Any:
        """Launch the unpacking of a batch of states, and return its numbers as floats."""
        numbers, scales = player.packed[part]
        out = block[: count * numbers.shape[1]].reshape(count, numbers.shape[1])
        blocks = num_blocks(count * numbers.shape[1])
        tables.unpack[blocks, THREADS, stream](numbers, scales, self._board_of, first, out)
        return out

    def _pack(
        self, player: _Player, part: str, block: Any, boards: tuple[int, int], stream: Any
    ) -> None:
        """Launch the packing of a batch of boards."""
        numbers, scales = player.packed[part]
        first = int(self._state_start[boards[0]])
        grid = (num_blocks(block.shape[1] * MANY), boards[1] - boards[0])
        start = self._cards[-1].state_start
        tables.find_scales[grid, THREADS, stream](block, start, boards[0], first, scales)
        blocks = num_blocks(block.shape[0] * block.shape[1])
        tables.pack[blocks, THREADS, stream](block, scales, self._board_of, first, numbers)

    # --- what is on the GPU -----------------------------------------------------------------------

    def _player(self, player: int, leaves: LeafTables, state: dict[str, Any]) -> _Player:
        """Build a player's side, and upload its tables."""
        own = self._side(player, leaves)
        for part in PARTS:
            names = (f"{part}{player}", f"last_{part}{player}", f"last_{part}_scale{player}")
            own.table[part], packed = self._held(own, player, [state.get(name) for name in names])
            if packed is not None:
                own.packed[part] = packed
        return own

    def _side(self, player: int, leaves: LeafTables) -> _Player:
        """Build a player's side without tables."""
        tree = self.trees[player]
        rows, own_leaves, place = [], [], self._places[player]
        for r in range(self.num_rounds):
            here, order = leaves_of(leaves, r, player, self._places[1 - player][r])
            own_leaves.append(here)
            rows.append(rows_of(tree, leaf_rows_of(leaves, r, player)[order], r, place))
        num_rows = [int(number) for number in tree.num_sequences]
        num_entries = [int(number) for number in np.diff(tree.entry_start)]
        return _Player(rows, place, num_rows, num_entries, own_leaves, {}, {})

    def _held(
        self, own: _Player, player: int, arrays: Sequence[Any]
    ) -> tuple[list[Any], tuple[Any, Any] | None]:
        """Upload a table (trunk, last round, its scales); return its rounds, or its packed last."""
        tree, (trunk, last, scales) = self.trees[player], arrays
        trunk, rounds = np.asarray(trunk), []
        for r in range(self.num_rounds - 1):
            block = block_of_round(tree, r, trunk, own.place[r])
            rounds.append(self._cuda.to_device(block))
        numbers = self._upload(tree, last, own.place[-1])
        if not self.is_packed:
            return [*rounds, numbers], None
        there = np.empty((int(self._boards[-1]), numbers.shape[1]), self.dtype)
        columns = columns_of(own.place[-1], own.num_entries[-1])
        there[:, columns] = np.asarray(scales).reshape(there.shape)
        return rounds, (numbers, self._cuda.to_device(there))

    def _upload(self, tree: Treeplex, array: Any, place: NDArray[np.uint32]) -> Any:
        """Return a table of the last round on the GPU: [states, rows of actions]."""
        columns = columns_of(place, int(tree.entry_start[-1] - tree.entry_start[-2]))
        actions, column = len(columns), self._cuda.to_device(columns)
        out = self._cuda.device_array((self._states[-1], actions), array.dtype)
        for first, end, start in self._pieces(actions, array.dtype.itemsize):
            flat = np.ascontiguousarray(array[actions * first : actions * end])
            there = self._cuda.to_device(flat)
            for begin, count in start:
                own = there[actions * (begin - first) : actions * (begin - first + count)]
                tables.turn_back[num_blocks(len(own)), THREADS](own, begin, count, column, out)
        return out

    def _download(self, player: int, part: str, begin: int, end: int) -> NDArray[Any]:
        """Return numbers `begin` … `end` of a table of the last round in the layout of the CPU."""
        own = self._players[player]
        table = own.packed[part][0] if self.is_packed else own.table[part][-1]
        actions = table.shape[1]
        column = self._cuda.to_device(columns_of(own.place[-1], own.num_entries[-1]))
        out = np.empty(max(0, end - begin), table.dtype)
        for first, last, boards in self._pieces(actions, table.dtype.itemsize, begin, end):
            there = self._cuda.device_array(actions * (last - first), table.dtype)
            for start, count in boards:
                flat = there[actions * (start - first) : actions * (start - first + count)]
                tables.turn[num_blocks(len(flat)), THREADS](table, start, count, column, flat)
            place = actions * first - begin
            found = there.copy_to_host()[max(0, -place) : end - actions * first]
            out[max(0, place) : max(0, place) + len(found)] = found
        return out

    def _pieces(
        self, actions: int, itemsize: int, begin: int = 0, end: int | None = None
    ) -> list[tuple[int, int, list[tuple[int, int]]]]:
        """Divide the last round's boards into pieces to be copied: (first state, end, boards).

        A board is (first state, states). With `begin` and `end`, only boards are copied whose
        numbers in a table are among these.
        """
        most, found = max(1, _TURNED_BYTES // (actions * itemsize)), []
        start = self._state_start.tolist()
        end = actions * start[-1] if end is None else end
        boards = [
            (first, last - first)
            for first, last in itertools.pairwise(start)
            if actions * last > begin and actions * first < end
        ]
        while boards:
            count, first = 1, boards[0][0]
            while count < len(boards) and sum(boards[count]) - first <= most:
                count += 1
            found.append((first, sum(boards[count - 1]), boards[:count]))
            boards = boards[count:]
        return found

    def _make_work_space(self) -> None:
        """Allocate plans, values and leaves: of the trunk, and of a batch of the last boards."""
        rows = [max(own.num_rows[r] for own in self._players) for r in range(self.num_rounds)]
        leaves = [max(1, int(number)) for number in self._num_leaves]
        entries = [own.num_entries for own in self._players]
        most = [max(both) for both in zip(*entries, strict=True)]
        last = self.num_rounds - 1
        blocks = 3 if self.is_packed else 0
        per_state = (2 * rows[last] + leaves[last] + blocks * rows[last]) * self.dtype.itemsize
        room = max(1, self._work_bytes() // per_state)
        self._batches = batches(self._state_start, room)
        longest = max(
            int(self._state_start[end] - self._state_start[begin]) for begin, end in self._batches
        )
        lengths = [*self._states[:last], longest]
        make = self._room
        plans = [(n * q,) for n, q in zip(lengths, rows, strict=True)]
        both = [(n, q) for n, q in zip(lengths, rows, strict=True)]
        at_leaves = [(n, m) for n, m in zip(lengths, leaves, strict=True)]
        ends = [(n, e) for n, e in zip(self._states, most, strict=True)]
        self._plans = [make(f"plan {r}", shape) for r, shape in enumerate(plans)]
        self._values = [make(f"values {r}", shape) for r, shape in enumerate(both)]
        self._leaf_values = [make(f"leaves {r}", shape) for r, shape in enumerate(at_leaves)]
        self._ends = [make(f"ends {r}", shape) for r, shape in enumerate(ends)]
        self._gathered = [
            make(f"gathered {r}", (self._states[r], most[r + 1])) for r in range(last)
        ]
        self._no_entries = make("no entries", (1, 1))
        self._blocks = [make(f"block {i}", (longest * rows[last],)) for i in range(blocks)]
        boards = np.repeat(np.arange(int(self._boards[-1])), np.diff(self._state_start))
        self._board_of = self._cuda.to_device(boards.astype(np.uint32))

    def _work_bytes(self) -> int:
        """Return the bytes that a batch of the last boards may take."""
        return min(_WORK_BYTES, int(device.free_bytes() * _WORK_SHARE))

    def _room(self, name: str, shape: tuple[int, ...]) -> Any:
        """Allocate work space, by a name."""
        return self._cuda.device_array(shape, self.dtype)

    # --- arrays of the CPU ------------------------------------------------------------------------

    def _trunk_array(self, player: int, part: str) -> Resident:
        tree, own = self.trees[player], self._players[player]
        length = int(tree.block_start[tree.board_start[-2]])

        last = self.num_rounds - 1

        def fetch() -> NDArray[Any]:
            blocks = []
            for r in range(last):
                actions = own.table[part][r].copy_to_host()
                entries = np.zeros((len(actions), own.num_entries[r]), self.dtype)
                blocks.append(np.hstack([entries, actions])[:, own.place[r]])
            return self._on_cpu(blocks, tree)

        return Resident(
            self, (length,), self.dtype, fetch, lambda: self._extremes(own.table[part][:last])
        )

    def _derived_array(self, player: int, number: int) -> Resident:
        """Plan (0) or behaviour (1) of the trunk, which follow from its regrets."""
        tree = self.trees[player]
        length = int(tree.block_start[tree.board_start[-2]])

        def fetch() -> NDArray[Any]:
            table = self.arrays[f"regret{player}"].fetch()
            return matched_trunk(tree, table)[number]

        def probabilities() -> tuple[float, float]:
            least, _ = self.arrays[f"regret{player}"].extremes()
            return (0.0, 1.0) if least == least else (least, least)

        return Resident(self, (length,), self.dtype, fetch, probabilities)

    def _last_arrays(self, player: int, part: str) -> dict[str, Resident]:
        own = self._players[player]
        table = own.packed[part][0] if self.is_packed else own.table[part][-1]
        found = {
            f"last_{part}{player}": Resident(
                self,
                (table.shape[0] * table.shape[1],),
                np.dtype(table.dtype),
                lambda: self._download(player, part, 0, table.shape[0] * table.shape[1]),
                lambda: self._extremes([table]),
                lambda begin, end: self._download(player, part, begin, end),
            )
        }
        if self.is_packed:
            scales = own.packed[part][1]
            columns = columns_of(own.place[-1], own.num_entries[-1])
            found[f"last_{part}_scale{player}"] = Resident(
                self,
                (scales.shape[0] * scales.shape[1],),
                np.dtype(scales.dtype),
                lambda: scales.copy_to_host()[:, columns].ravel(),
                lambda: self._extremes([scales]),
            )
        return found

    def _extremes(self, blocks: list[Any]) -> tuple[float, float]:
        """Return the least and largest number of tables, NaN if any is."""
        threads = 2 * THREADS if device.is_simulated() else _PROBES
        least, largest = [0.0], [0.0]
        for table in blocks:
            found = self._cuda.device_array((2, threads), table.dtype)
            tables.extremes[threads // THREADS, THREADS](table, found)
            both = found.copy_to_host().astype(np.float64)
            least.append(both[0].min())
            largest.append(both[1].max())
        return float(np.min(least)), float(np.max(largest))

    def _on_cpu(self, blocks: list[NDArray[Any]], tree: Treeplex) -> NDArray[Any]:
        """Return blocks [states, Q] of the trunk's rounds in the layout of the CPU: [trunk]."""
        flat = []
        for r, block in enumerate(blocks):
            start = state_start(tree, r)
            flat += [block[a:b].T.ravel() for a, b in itertools.pairwise(start)]
        return np.concatenate(flat) if flat else np.zeros(0, self.dtype)

"""Engines that sweep the subgames of a split game, and the unit of work that all engines share.

An engine takes an `Order`, the same for all subgames, and the reaches of the trunk's states; it
returns their counterfactual values. Only these numbers pass between a trunk and its engine. Tables
of regrets and averages stay where the engine has them (`Tables`).

`play` is the unit of work: one half of an iteration, or an evaluation, of one subgame by the kernel
of `lean_cfr`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
from numba import get_num_threads
from numpy.typing import NDArray

from equilibrist.errors import SolverError
from equilibrist.kernels.array_structs import Treeplex
from equilibrist.kernels.cpu import table_sweeps as kernels
from equilibrist.models.game import REGRET, Floats
from equilibrist.models.split import Split, reach_places

REGRETS, AVERAGES = "regret", "average"
STILL = (0.0, 0.0, 0.0, -1.0)  # row of an order that changes no table
_TRANSFERS = 2  # threads that read tables, and as many that write them


class Key(NamedTuple):
    """A table of a subgame: `regret` or `average` of a player."""

    part: str
    player: int


class Table(NamedTuple):
    """Numbers of a subgame's rounds before the last, and of its last round."""

    trunk: NDArray[Any]
    last: NDArray[Any]
    scales: NDArray[Any]  # of the rows of the last round, if its numbers are packed


class Order(NamedTuple):
    """What an engine does on each subgame: half an iteration of CFR, or best responses."""

    done: int  # number of half iterations before
    halves: tuple[tuple[int, int], ...]  # (player, rule)
    row: tuple[float, float, float, float]  # of `run_halves`: factors of regrets, and the weight
    part: str  # the tables that are matched to strategies

    @property
    def epoch(self) -> int:
        """Number of half iterations after it, if it is one; 0 if it changes no table."""
        return self.done + 1 if self.halves[0][1] == REGRET else 0

    @property
    def player(self) -> int:
        """Player whose regrets an iteration changes."""
        return self.halves[0][0]

    def before(self, player: int) -> int:
        """Return the epoch of the latest half of a player before it; below 1 if there is none."""
        return self.done - (self.done - player - 1) % 2

    @property
    def writes(self) -> tuple[Key, ...]:
        """Tables that change: a player's regrets, and the averages of the opponent."""
        if not self.epoch:
            return ()
        regrets = (Key(REGRETS, self.player),)
        return regrets if self.row[3] < 0 else (*regrets, Key(AVERAGES, 1 - self.player))

    @property
    def reads(self) -> tuple[Key, ...]:
        """Tables that are needed."""
        return tuple(dict.fromkeys((Key(self.part, 0), Key(self.part, 1), *self.writes)))


class Tables(Protocol):
    """Where the tables of subgames are; all methods are called by several threads."""

    def finished(self, subgame: int, order: Order) -> Floats | None:
        """Return the values of a subgame [halves, S] if its tables are already those after it."""

    def read(self, subgame: int, order: Order) -> dict[Key, Table]:
        """Return the tables that an order needs, ready to be changed; zeros before the first."""

    def write(self, subgame: int, order: Order, tables: dict[Key, Table], values: Floats) -> None:
        """Keep the tables that an order changed, and its values."""

    def bytes_of(self, subgame: int) -> int:
        """Return the memory that a subgame takes between `read` and the end of `write`."""

    def settle(self) -> None:
        """Make what was written outlive a power failure; called when a sweep has ended."""

    def done(self, subgame: int) -> int:
        """Return the number of half iterations of a subgame's tables; 0 if some are missing."""


class Engine(Protocol):
    """Where and by whom subgames are swept."""

    def sweep(self, order: Order, reaches: Floats) -> Floats:
        """Run an order on all subgames, given the opponent's reaches; return values: [halves, M].

        Row h of `reaches` are those of the opponent of half h, in the order of `Split.start`.
        """

    def commit(self, state: dict[str, NDArray[Any]]) -> None:
        """Note that an iteration has ended with this state of the trunk."""

    def is_ahead(self, done: int) -> bool:
        """Return whether some tables are of a later half iteration than the number done."""

    def close(self) -> None:
        """End what it has started elsewhere; its stored tables stay."""


class Player(Protocol):
    """A unit of work: runs an order on one subgame, as `play` does."""

    def __call__(
        self, split: Split, subgame: int, tables: dict[Key, Table], order: Order, reaches: Floats
    ) -> Floats:
        """Change the tables, or put others in their place; return the values: [halves, S]."""


class Kept(NamedTuple):
    """What half an iteration leaves of a subgame in memory."""

    epoch: int
    tables: dict[Key, Table]
    values: Floats


@dataclass(frozen=True, eq=False)
class MemoryTables:
    """Tables in the memory of this process, by the half iterations that wrote them.

    As on a disk, a half that is run twice changes nothing the second time, and tables of another
    time than an order needs are refused.
    """

    split: Split
    bits: int
    kept: dict[tuple[int, int], Kept] = field(default_factory=dict, repr=False)

    def finished(self, subgame: int, order: Order) -> Floats | None:
        """Return the values of a half that has been run already."""
        found = self.kept.get((subgame, order.player))
        return found.values if found and order.epoch and found.epoch == order.epoch else None

    def read(self, subgame: int, order: Order) -> dict[Key, Table]:
        """Return the tables themselves; those that the order changes are lost until `write`."""
        found: dict[Key, Table] = {}
        for half in (0, 1):
            keys, epoch = keys_of_half(order, half), order.before(half)
            if epoch < 1:
                found |= {key: zeros(self.split, subgame, key, self.bits) for key in keys}
                continue
            own = self.kept.get((subgame, half))
            if own is None or own.epoch != epoch:
                raise SolverError(
                    f"the tables of {self.split.name(subgame)} in memory are not those after half "
                    f"iteration {epoch}; begin again with a new solver",
                    value=subgame,
                )
            found |= {key: own.tables[key] for key in keys}
        if order.epoch:
            self.kept.pop((subgame, order.player), None)
        return found

    def write(self, subgame: int, order: Order, tables: dict[Key, Table], values: Floats) -> None:
        """Keep the tables that an order changed in place, and its values."""
        changed = {key: tables[key] for key in order.writes}
        self.kept[subgame, order.player] = Kept(order.epoch, changed, values)

    def bytes_of(self, subgame: int) -> int:
        """Return 0: a sweep allocates nothing beside the tables."""
        return 0

    def settle(self) -> None:
        """Do nothing: memory does not outlive a power failure."""

    def done(self, subgame: int) -> int:
        """Return the number of half iterations of a subgame's tables; 0 if some are missing."""
        found = (self.kept.get((subgame, half)) for half in (0, 1))
        return latest([own.epoch if own else 0 for own in found])


def latest(epochs: list[int]) -> int:
    """Return the later epoch of both players' tables of a subgame; 0 if they do not fit together.

    Example:
        >>> latest([5, 4]), latest([5, 6]), latest([5, 2]), latest([1, 0]), latest([0, 6])
        (5, 6, 0, 1, 0)
    """
    first, second = sorted(epochs)
    return second if first == second - 1 else 0


def half_of(key: Key) -> int:
    """Return the player whose half of an iteration writes a table."""
    return key.player if key.part == REGRETS else 1 - key.player


def keys_of_half(order: Order, half: int) -> list[Key]:
    """Return the tables that an order needs of those that a player's half writes."""
    return [key for key in order.reads if half_of(key) == half]


@dataclass(frozen=True, eq=False)
class Threads:
    """Engine of one process: its threads sweep subgames, others read and write tables meanwhile.

    Tables are read ahead as long as those in memory have at most `memory` bytes. Reaches and values
    are those of its own subgames.
    """

    tables: Tables
    split: Split
    threads: int | None = None  # default: the number of threads of the kernels
    memory: int | None = None
    subgames: range | None = None  # default: all
    committed: Callable[[dict[str, NDArray[Any]]], None] | None = None
    player: Player | None = None  # the unit of work; default: `play`, by the CPU

    def sweep(self, order: Order, reaches: Floats, only: Iterable[int] | None = None) -> Floats:
        """Run an order on the engine's subgames, or some `only`; values of others are zero."""
        values = np.zeros_like(reaches)
        workers = self.threads or get_num_threads()
        pipeline = _Pipeline(self, order, reaches, values, workers, self.own.start)
        pipeline.run(self.own if only is None else only)
        if order.epoch:
            self.tables.settle()
        return values

    def commit(self, state: dict[str, NDArray[Any]]) -> None:
        """Pass the state of the trunk to those who store it."""
        if self.committed is not None:
            self.committed(state)

    def is_ahead(self, done: int) -> bool:
        """Return whether some tables are of a later half iteration than the number done."""
        return any(self.tables.done(subgame) > done for subgame in self.own)

    def close(self) -> None:
        """Do nothing: nothing outlives a sweep."""

    @property
    def own(self) -> range:
        """The subgames that the engine sweeps."""
        return range(self.split.num_subgames) if self.subgames is None else self.subgames


class _Pipeline:
    """One sweep: subgames are read, played and written by three groups of threads."""

    def __init__(
        self,
        engine: Threads,
        order: Order,
        reaches: Floats,
        values: Floats,
        workers: int,
        first: int,
    ) -> None:
        self.engine, self.order = engine, order
        self.reaches, self.values = reaches, values
        self.start = engine.split.start - engine.split.start[first]
        self.budget = _Budget(engine.memory)
        self.readers = ThreadPoolExecutor(_TRANSFERS, "read")
        self.players = ThreadPoolExecutor(workers, "play")
        self.writers = ThreadPoolExecutor(_TRANSFERS, "write")

    def run(self, subgames: Iterable[int]) -> None:
        """Sweep subgames; the first error ends the sweep and is raised."""
        played: list[Future[Future[None] | None]] = []
        try:
            for subgame in subgames:
                size = self.engine.tables.bytes_of(subgame)
                self.budget.take(size)
                if self.budget.is_closed:
                    break
                read = self.readers.submit(self._read, subgame)
                played.append(self.players.submit(self._play, subgame, size, read))
            for future in played:
                written = future.result()
                if written is not None:
                    written.result()
        finally:
            self.budget.close()
            for pool in (self.readers, self.players, self.writers):
                pool.shutdown(cancel_futures=True)

    def _read(self, subgame: int) -> Floats | dict[Key, Table]:
        tables = self.engine.tables
        found = tables.finished(subgame, self.order)
        return tables.read(subgame, self.order) if found is None else found

    def _play(
        self, subgame: int, size: int, read: Future[Floats | dict[Key, Table]]
    ) -> Future[None] | None:
        own = slice(*self.start[subgame : subgame + 2].tolist())
        try:
            found = read.result()
            if not isinstance(found, dict):
                self.values[:, own] = found
                self.budget.give(size)
                return None
            player = self.engine.player or play
            values = player(self.engine.split, subgame, found, self.order, self.reaches[:, own])
            self.values[:, own] = values
            if self.order.epoch:
                return self.writers.submit(self._write, subgame, size, found, values)
        except BaseException:
            self.budget.close()
            raise
        self.budget.give(size)
        return None

    def _write(self, subgame: int, size: int, tables: dict[Key, Table], values: Floats) -> None:
        try:
            self.engine.tables.write(subgame, self.order, tables, values)
            self.budget.give(size)
        except BaseException:
            self.budget.close()
            raise


class _Budget:
    """Bytes that may be in memory at a time; one subgame always may."""

    def __init__(self, most: int | None) -> None:
        self._most, self._taken = most, 0
        self._changed = threading.Condition()
        self.is_closed = False

    def take(self, size: int) -> None:
        """Wait until there is room; after an error there always is."""
        with self._changed:
            self._changed.wait_for(lambda: self.is_closed or self._has_room(size))
            self._taken += size

    def give(self, size: int) -> None:
        """Return what was taken."""
        with self._changed:
            self._taken -= size
            self._changed.notify_all()

    def close(self) -> None:
        """Let nobody wait any more."""
        with self._changed:
            self.is_closed = True
            self._changed.notify_all()

    def _has_room(self, size: int) -> bool:
        return self._most is None or not self._taken or self._taken + size <= self._most


# --- the unit of work -----------------------------------------------------------------------------


def play(
    split: Split, subgame: int, tables: dict[Key, Table], order: Order, reaches: Floats
) -> Floats:
    """Run an order on one subgame: change its tables in place, and return its values [halves, S].

    The reaches [halves, S] are those of each half's opponent.
    """
    game, values = split.game(subgame), np.empty_like(reaches)
    for half, (player, rule) in enumerate(order.halves):
        sides = [
            _side(game.trees[p], p, tables, order, None if p == player else reaches[half])
            for p in (0, 1)
        ]
        halves = np.array([(player, rule)], np.int64)
        rows = np.array([order.row])
        work = kernels.run_halves(game, (sides[0], sides[1]), halves, rows)
        values[half] = work.values[reach_places(game.trees[player])]
    return values


def _side(
    tree: Treeplex, player: int, tables: dict[Key, Table], order: Order, reach: Floats | None
) -> tuple[Any, ...]:
    """Return a player as `run_halves` takes it; `reach` is that of the opponent of the half."""
    own = tables[Key(order.part, player)]
    average = tables[Key(AVERAGES, player)] if Key(AVERAGES, player) in order.writes else own
    behaviour, plan = np.empty_like(own.trunk), np.empty_like(own.trunk)
    kernels.match_trunk(tree, own.trunk, behaviour)
    if reach is not None:
        behaviour[reach_places(tree)] = reach
        kernels.realize_trunk(tree, behaviour, plan)
    last = (own.last, own.scales)
    return plan, behaviour, own.trunk, average.trunk, last, (average.last, average.scales)


def zeros(split: Split, subgame: int, key: Key, bits: int) -> Table:
    """Return the table of a subgame before the first iteration."""
    trunk, last, rows = lengths(split.deal(split.place(subgame)[0]).trees[key.player])
    dtype = np.float64 if bits == 64 else np.float32
    if bits == 16:
        return Table(np.zeros(trunk, dtype), np.zeros(last, np.int16), np.zeros(rows, dtype))
    return Table(np.zeros(trunk, dtype), np.zeros(last, dtype), np.zeros(0, dtype))


def bytes_in_memory(split: Split, subgame: int, bits: int) -> int:
    """Return the bytes of a subgame's tables: regrets and averages of both players."""
    deal = split.deal(split.place(subgame)[0])
    return 2 * sum(sum(lengths(tree)[:2]) for tree in deal.trees) * bits // 8


def lengths(tree: Treeplex) -> tuple[int, int, int]:
    """Return the numbers of a table before the last round and in it, and the rows there."""
    first = int(tree.board_start[-2])
    actions = int(tree.num_sequences[-1] - (tree.entry_start[-1] - tree.entry_start[-2]))
    states, boards = int(tree.num_states[first:].sum()), int(tree.board_start[-1]) - first
    return int(tree.block_start[first]), actions * states, actions * boards

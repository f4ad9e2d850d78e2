"""The engine of a split game on a Ray cluster: actors own its subgames.

The subgames are divided among the nodes once. On each node an actor (`Worker`) owns some of them
for ever and keeps their tables, on the node's disk or in its memory; only reaches and values cross
the network. An order has an epoch, and a worker that is given the same order again returns the same
values and changes nothing.

A worker that dies, alone or with its node, is replaced: by one on the node that has its files, else
on the node with the fewest workers. Tables that nobody has any more are computed again from the
logged reaches, which gives the same bits (docs/decisions/0016).
"""

from __future__ import annotations

import itertools
import os
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equilibrist.cluster.connection import Node, ask, load_ray, nodes, on_node
from equilibrist.cluster.reach_log import ReachLog
from equilibrist.cluster.worker import Job, Worker, free_bytes
from equilibrist.errors import NetworkError, StorageError
from equilibrist.models.game import Floats
from equilibrist.models.split import Split
from equilibrist.phases import phase
from equilibrist.solving.split_run import SplitRun
from equilibrist.solving.subgame_engine import Order
from equilibrist.storage.memory import check_fits

_REACHES = "reaches"  # folder of the log
_MOST_LOSSES = 5  # of a worker, one after another, within one order


@dataclass(eq=False)
class RayEngine:
    """Engine whose subgames are swept by the nodes of the Ray cluster that is connected.

    `connection.connected` connects to one. Actors start with the first order.
    """

    split: Split
    job: Job
    log: ReachLog
    threads: int | None = None  # of a worker; default: the cores of its node
    committed: Callable[[dict[str, NDArray[Any]]], None] | None = None
    scratch: tempfile.TemporaryDirectory[str] | None = None  # removed by `close`
    bytes_sent: int = field(default=0, init=False)  # reaches
    bytes_received: int = field(default=0, init=False)  # values
    losses: int = field(default=0, init=False)  # workers that were replaced
    _actors: dict[int, Any] = field(default_factory=dict, init=False, repr=False)
    _places: dict[int, str] = field(default_factory=dict, init=False, repr=False)
    _guard: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def sweep(self, order: Order, reaches: Floats) -> Floats:
        """Run an order on all subgames, each on the node that owns it."""
        if order.epoch:
            self.log.write(order, reaches)
        values = np.empty_like(reaches)
        for own, found in zip(self._slices, self._each(self._swept, order, reaches), strict=True):
            values[:, own] = found
        return values

    def commit(self, state: dict[str, NDArray[Any]]) -> None:
        """Pass the state of the trunk to those who store it."""
        if self.committed is not None:
            self.committed(state)

    def is_ahead(self, done: int) -> bool:
        """Return whether some tables are of a later half iteration than the number done."""
        with phase("opening the tables on the nodes"):
            return any(most > done for _, most in self._each(self._opened, done))

    def close(self) -> None:
        """End the workers; tables on disks stay."""
        for worker in list(self._actors):
            self._forget(worker)
        if self.scratch is not None:
            self.scratch.cleanup()

    @cached_property
    def ranges(self) -> list[range]:
        """The subgames of each worker."""
        cuts = self.log.read_cuts()
        if cuts is None:
            cuts = divided(self.split, len(nodes()))
            self.log.write_cuts(cuts)
        return [range(first, end) for first, end in itertools.pairwise(cuts.tolist())]

    @property
    def _slices(self) -> list[slice]:
        start = self.split.start
        return [slice(int(start[own.start]), int(start[own.stop])) for own in self.ranges]

    def _each(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Call a function for all workers at once."""
        with ThreadPoolExecutor(len(self.ranges)) as pool:
            return list(pool.map(partial(self._patient, function, arguments), self._numbers))

    @property
    def _numbers(self) -> range:
        return range(len(self.ranges))

    def _patient(
        self, function: Callable[..., Any], arguments: tuple[Any, ...], worker: int
    ) -> Any:
        """Call a function for a worker, and again with another one as often as it is lost.

        A worker that misses tables is replaced once, so that they are computed again.
        """
        errors, may_miss = load_ray().exceptions, True
        for _ in range(_MOST_LOSSES):
            try:
                return function(worker, *arguments)
            except errors.RayError as error:
                cause = getattr(error, "cause", None) or error
                if isinstance(error, errors.RayTaskError):
                    if not (may_miss and isinstance(cause, StorageError)):
                        raise cause from None
                    may_miss = False
                last = error
                with self._guard:
                    self.losses += 1
                self._forget(worker)
        own = self.ranges[worker]
        reason = " ".join(str(last).split())[:300]
        raise NetworkError(
            f"subgames {own.start} to {own.stop - 1} were lost {_MOST_LOSSES} times one after "
            f"another: {reason}",
            value=worker,
        )

    def _swept(self, worker: int, order: Order, reaches: Floats) -> Floats:
        own = np.ascontiguousarray(reaches[:, self._slices[worker]])
        actor = self._actor(worker, order.done)
        found: Floats = load_ray().get(actor.sweep.remote(order, own))
        with self._guard:
            self.bytes_sent += own.nbytes
            self.bytes_received += found.nbytes
        return found

    def _opened(self, worker: int, done: int) -> tuple[int, int]:
        found: tuple[int, int] = load_ray().get(self._actor(worker, done).done.remote())
        return found

    def _actor(self, worker: int, done: int) -> Any:
        """Return the actor of a worker, with the tables after a number of half iterations."""
        if worker not in self._actors:
            ray, node = load_ray(), self._place(worker)
            actor = ray.remote(Worker).options(**on_node(node), max_restarts=0)
            threads = self.threads or node.cores
            actor = actor.remote(self.job, self.ranges[worker], threads)
            self._restore(actor, worker, done)
            self._actors[worker] = actor
        return self._actors[worker]

    def _restore(self, actor: Any, worker: int, done: int) -> None:
        """Compute lost tables again, from the log."""
        ray = load_ray()
        least, _ = ray.get(actor.done.remote())
        if least >= done:
            return
        with phase("computing lost tables again", total=done - least, unit="halves") as work:
            for epoch in range(least + 1, done + 1):
                order, reaches = self.log.read(epoch)
                ray.get(actor.replay.remote(order, reaches[:, self._slices[worker]]))
                work.advance()

    def _place(self, worker: int) -> Node:
        """Return the node for a worker: one that has its files, with few other workers."""
        there = nodes()
        found = dict.fromkeys(there, 0)
        if len(there) > 1:
            found = ask(there, _number_of_files, self.job.folder, self.ranges[worker])
        if not found:
            raise NetworkError("no node of the Ray cluster answers; start one with `ray start`")
        with self._guard:
            load = [place for other, place in self._places.items() if other != worker]
            best = max(found, key=lambda node: (found[node], -load.count(node.id)))
            self._places[worker] = best.id
        return best

    def _forget(self, worker: int) -> None:
        """End the actor of a worker, if it still lives."""
        actor = self._actors.pop(worker, None)
        if actor is not None:
            load_ray().kill(actor)


class RayEngines(NamedTuple):
    """What makes engines on the cluster that is connected."""

    threads: int | None = None  # of a worker; default: the cores of its node
    table_bytes: int = 0  # forecast of all tables, which nodes compare with what they have

    def in_memory(self, split: Split, bits: int) -> RayEngine:
        """Return an engine with tables in the memory of the nodes; close it after use."""
        check_room(self.table_bytes, None)
        scratch = tempfile.TemporaryDirectory(prefix="equilibrist-reaches-")
        log = ReachLog(Path(scratch.name), "")
        return RayEngine(split, Job.of(split, bits), log, self.threads, scratch=scratch)

    def on_disks(self, run: SplitRun) -> RayEngine:
        """Return the engine of a run; each node keeps tables in a folder of the same name."""
        job = replace(
            Job.of(run.split, run.settings.bits),
            folder=run.tables.folder.absolute(),
            run=run.name,
            codec=run.settings.codec,
            memory=run.memory,
        )
        check_room(self.table_bytes, job.folder)
        log = ReachLog(run.folder / _REACHES, run.name)
        return RayEngine(run.split, job, log, self.threads, run.commit)


def check_room(table_bytes: int, folder: Path | None) -> None:
    """Raise `InvalidValueError` if a node has less free than its share of a forecast."""
    if not table_bytes:
        return
    there, where = nodes(), "in memory" if folder is None else "on the disk"
    for node, free in ask(there, free_bytes, folder).items():
        check_fits(
            f"node {node.name} needs {where}",
            table_bytes // len(there),
            free,
            "add nodes, or take fewer raises, fewer bits or --current; --force tries it anyway",
        )


def divided(split: Split, workers: int) -> NDArray[np.int64]:
    """Return where the subgames of each worker begin: whole boards, about as many states each.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> divided(Split.of(get_game("leduc"), "preflop"), 2).tolist()
        [0, 10, 15]
    """
    ways = len(split.ways)
    boards = split.start[::ways]  # where the states of each board begin
    cuts = np.searchsorted(boards, np.linspace(0, boards[-1], workers + 1).round())
    return np.unique(cuts) * ways


def _number_of_files(folder: Path | None, subgames: range) -> int:
    """Return how many files of these subgames are in a folder of this machine."""
    if folder is None or not folder.is_dir():
        return 0
    names = (name.partition("-")[0] for name in os.listdir(folder) if name.endswith(".tables"))
    return sum(name.isdigit() and int(name) in subgames for name in names)

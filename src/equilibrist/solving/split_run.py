"""Runs on split games in a folder: the trunk as an artefact, the tables of subgames beside it.

The artefact is written after every iteration, so the files of the subgames are at most one
iteration ahead of it, and a killed run continues to the same bits (`disk_tables.py`).
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from equilibrist.errors import EquilibristError, StorageError
from equilibrist.games.rules import parse_rules
from equilibrist.models.split import SPLITS, Split
from equilibrist.phases import phase
from equilibrist.solving.cfr import CFR_VARIANTS
from equilibrist.solving.decomposed import SPLIT_METHODS, DecomposedCFR
from equilibrist.solving.disk_tables import DiskTables
from equilibrist.solving.solve import Row, Run
from equilibrist.solving.solver import State
from equilibrist.solving.split_strategy import SplitStrategy
from equilibrist.solving.state_schema import check_state
from equilibrist.solving.subgame_engine import AVERAGES, REGRETS, Engine, Threads
from equilibrist.storage.artefact import Header, Identity, open_artefact, write_artefact
from equilibrist.storage.checkpoint import another_run, check_same_run
from equilibrist.storage.manifest import MANIFEST
from equilibrist.storage.memory import available_bytes
from equilibrist.storage.schema import ArrayRule, Fields, check_arrays, damaged_by
from equilibrist.storage.table_file import CODECS, RAW
from equilibrist.strategies.description import (
    GameDescription,
    read_description,
    write_description,
)
from equilibrist.strategies.evaluation import Evaluation
from equilibrist.strategies.solution import STATE, TRACE_COLUMNS

KIND = "split run"
_SUBGAMES = "subgames"  # folder of their tables
_TRACE = ArrayRule("float64", (None, len(TRACE_COLUMNS)))
_BITS = (16, 32, 64)


@dataclass(frozen=True)
class SplitSettings:
    """How a split game is solved; a stored run continues only with the same."""

    after: str  # preflop or flop
    method: str = "cfr+"
    bits: int = 64
    current: bool = False
    codec: str = RAW


@dataclass(eq=False)
class SplitRun:
    """Run on a split game in a folder."""

    folder: Path
    split: Split
    settings: SplitSettings
    name: str  # of the run, in all its files
    memory: int | None = None  # bytes of tables in memory at a time; default: half of what is free
    make_engine: Callable[[SplitRun], Engine] | None = None  # default: the threads of this process
    _trace: list[Row] = field(default_factory=list, init=False)
    _seconds: float = field(default=0.0, init=False)
    _since: float = field(default_factory=time.perf_counter, init=False)
    _state: State | None = field(default=None, init=False)

    @classmethod
    def begin(
        cls,
        folder: Path,
        split: Split,
        settings: SplitSettings,
        memory: int | None = None,
        make_engine: Callable[[SplitRun], Engine] | None = None,
    ) -> SplitRun:
        """Write a new run before its first iteration; the folder must hold no other."""
        if (folder / MANIFEST).exists():
            raise StorageError(
                f"{folder} holds a run already; resume it, or choose another folder",
                value=str(folder),
            )
        found = cls(folder, split, settings, secrets.token_hex(8), memory, make_engine)
        found.commit(found.solver.init(split.trunk))
        return found

    @classmethod
    def open(
        cls,
        folder: Path,
        memory: int | None = None,
        *,
        for_resume: bool = False,
        same: tuple[Split, SplitSettings] | None = None,
        make_engine: Callable[[SplitRun], Engine] | None = None,
    ) -> SplitRun:
        """Open the run in a folder, build its trunk and check the arrays of its state.

        A run that was stopped within an iteration has no strategy: with `for_resume`, the iteration
        is finished first, otherwise `StorageError` is raised. It is also raised if the run is not
        of the `same` game with the same settings.
        """
        artefact = open_artefact(folder, KIND, in_memory=True)
        fields = Fields.configuration(artefact)
        settings = _read_settings(fields)
        description = read_description(fields.part("game"), Path(folder))
        assert isinstance(description, GameDescription)
        found = cls(
            Path(folder), _build(artefact, description, settings), settings, fields.text("run")
        )
        found.memory, found.make_engine = memory, make_engine
        check_arrays(artefact, {"trace": _TRACE}, but=STATE)
        check_state(artefact, settings.method, found.solver.init(found.split.trunk))
        found._state = {
            name.removeprefix(STATE): np.array(array)
            for name, array in artefact.arrays.items()
            if name.startswith(STATE)
        }
        found._trace = list(_rows(artefact.arrays["trace"].tolist(), found.split.trunk.unit))
        found._seconds = Fields.timings(artefact).number("seconds", 0)
        found._since = time.perf_counter()
        if same is not None:
            found.check_same(*same)
        found._finish_iteration(for_resume)
        return found

    @classmethod
    def verified(cls, folder: Path) -> SplitRun:
        """Open the run in a folder and read the tables of all its subgames."""
        found = cls.open(folder)
        parts = (REGRETS,) if found.settings.current else (REGRETS, AVERAGES)
        found.tables.verify(2 * int(found.run().state["iteration"]), parts)
        return found

    @property
    def solver(self) -> DecomposedCFR:
        """Solver whose tables are in the folder, or where the engine has them."""
        settings = self.settings
        method = CFR_VARIANTS[settings.method]
        return DecomposedCFR(self.split, self.engine, method, settings.bits, settings.current)

    @cached_property
    def engine(self) -> Engine:
        """Engine that sweeps the subgames."""
        if self.make_engine is not None:
            return self.make_engine(self)
        memory = self.memory or available_bytes() // 2
        return Threads(self.tables, self.split, memory=memory, committed=self.commit)

    @property
    def tables(self) -> DiskTables:
        """The tables of the subgames."""
        settings = self.settings
        folder = self.folder / _SUBGAMES
        return DiskTables(self.split, settings.bits, folder, self.name, settings.codec)

    @property
    def description(self) -> GameDescription:
        """Description of the whole game."""
        return GameDescription.of(self.split.trunk)

    def run(self) -> Run:
        """Return the run as it is stored, to be continued."""
        assert self._state is not None
        return Run(self._state, list(self._trace), self._seconds, is_checked=True)

    def _finish_iteration(self, for_resume: bool) -> None:
        """Finish the iteration within which the run was stopped, if there is one."""
        state = self.run().state
        with phase("looking for an unfinished iteration"):
            is_ahead = self.engine.is_ahead(2 * int(state["iteration"]))
        if not is_ahead:
            return
        if not for_resume:
            raise StorageError(
                f"{self.folder} was stopped within iteration {int(state['iteration']) + 1}; "
                "resume it first",
                value=str(self.folder),
            )
        with phase("finishing the iteration that was interrupted"):
            self.solver.step(self.split.trunk, state, 1)

    def strategy(self) -> SplitStrategy:
        """Return the strategy so far; tables are read when they are needed."""
        return SplitStrategy(self.solver, self.run().state, self.tables)

    def check_same(self, split: Split, settings: SplitSettings) -> None:
        """Raise `StorageError` unless the run is of this game with these settings."""
        ours, theirs = self.description, GameDescription.of(split.trunk)
        if ours != theirs:
            raise another_run(self.folder, "game", ours.name, theirs.name)
        check_same_run(self.folder, vars(self.settings), vars(settings))

    def commit(self, state: State) -> None:
        """Write the trunk after an iteration; the tables of the subgames are written already."""
        now = time.perf_counter()
        self._seconds, self._since = self._seconds + now - self._since, now
        self._state = state
        self._write()

    def save(self, run: Run) -> None:
        """Write the trunk, the trace and the time of a run."""
        run.check_whole()
        self._trace, self._seconds, self._since = list(run.trace), run.seconds, time.perf_counter()
        self._state = run.state
        self._write()

    def _write(self) -> None:
        assert self._state is not None
        state, settings = self._state, self.settings
        trace = Run(state, self._trace).trace_array()
        iterations = int(state["iteration"])
        rows = [row for row in self._trace[-1:] if row.iteration == iterations]
        header = Header(
            KIND,
            configuration={
                "game": write_description(self.description, self.folder),
                "run": self.name,
                **vars(settings),
            },
            info={
                "iterations": iterations,
                "unit": self.split.trunk.unit,
                **({"certificate": _certificate(rows[0].evaluation)} if rows else {}),
            },
            timings={"seconds": self._seconds},
        )
        arrays = {STATE + name: array for name, array in state.items()}
        write_artefact(self.folder, header, {"trace": trace} | arrays)


def _certificate(found: Evaluation) -> dict[str, Any]:
    return {
        "value": found.value,
        "exploitability": found.exploitability,
        "best_response": list(found.best_response),
    }


def _rows(trace: list[list[float]], unit: str) -> Iterator[Row]:
    for iteration, seconds, _, first, second, value in trace:
        yield Row(int(iteration), seconds, Evaluation(value, (first, second), unit))


def _read_settings(fields: Fields) -> SplitSettings:
    return SplitSettings(
        after=fields.choice("after", tuple(SPLITS)),
        method=fields.choice("method", SPLIT_METHODS),
        bits=fields.choice("bits", _BITS),
        current=fields.choice("current", (False, True)),
        codec=fields.choice("codec", CODECS),
    )


def _build(artefact: Identity, description: GameDescription, settings: SplitSettings) -> Split:
    """Build the split of a stored run."""
    try:
        rules = parse_rules(description.rules, description.name)
        menu = description.menu.clipped(rules)
        return Split.of(rules, settings.after, menu, description.symmetry)
    except EquilibristError as error:
        if isinstance(error, StorageError):
            raise
        raise damaged_by(artefact, "a split game", error) from None

"""Solved spots on disk: the spot as text, the tables of its solver, and the certificate.

Answers read only the averages; resuming reads everything, and the run continues with the same
numbers.

The tables depend on the renamings of suits by which boards and hands are merged. If ranges and
locks leave some of those alone that keep the board, but not all, the manifest has their list;
folders of earlier versions have none and keep all suits apart. They also have one list of hands for
both seats, as those of the GPU; otherwise the manifest says that each seat's tables have its own.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from equilibrist.cards.suits import renaming_name
from equilibrist.errors import EquilibristError, InvalidValueError, StorageError
from equilibrist.games.bet_menu import MENU_FIELDS
from equilibrist.games.rules import UNLIMITED_STACK
from equilibrist.kernels.gpu.memory import download
from equilibrist.models.card_states import CardStates
from equilibrist.models.money import CHIPS, MOST_CHIPS_PER_UNIT
from equilibrist.models.spot import Spot
from equilibrist.models.subgame import Subgame
from equilibrist.solving.lean_cfr import (
    TABLE_METHODS,
    TableCFR,
    table_lengths,
    with_all_states,
)
from equilibrist.solving.lean_plans import TableBoards
from equilibrist.solving.solution_run import read_trace
from equilibrist.solving.solve import Budget, Run, solve
from equilibrist.solving.solver import State
from equilibrist.solving.state_schema import check_state
from equilibrist.solving.target import Goal, Target
from equilibrist.storage.array_file import BlockwiseArray, damaged
from equilibrist.storage.artefact import (
    Header,
    Identity,
    open_artefact,
    read_identity,
    write_artefact,
)
from equilibrist.storage.checkpoint import check_same_run
from equilibrist.storage.manifest import MANIFEST
from equilibrist.storage.schema import ArrayRule, Fields, check_arrays, damaged_by
from equilibrist.strategies.evaluation import PotShares
from equilibrist.strategies.solution import RAKED_COLUMNS, STATE, TRACE_COLUMNS
from equilibrist.strategies.spot_report import Answers

KIND = "spot"
USUAL_TARGET = "0.3%"  # of the pot; what solvers of spots usually stop at
EVALUATE_EVERY = 20  # iterations, without a target
_COST, _FIXED_COST = 2.0, 1e5  # of an evaluation, in iterations, and in actions that one sweeps
_TRACE, _RAKED_TRACE = (
    ArrayRule("float64", (None, len(columns))) for columns in (TRACE_COLUMNS, RAKED_COLUMNS)
)
_GROUP = "renamings"  # key of the renamings of suits in the manifest
_LISTS, _OF_SEAT = "hands", "of each seat"  # key and value if each seat has a list of its hands


@dataclass(frozen=True, eq=False)
class SolvedSpot:
    """Spot with its solver and the state of its solution."""

    spot: Spot
    solver: TableCFR
    run: Run
    subgame: Subgame | None = None  # if it has been built

    def save(self, folder: str | Path) -> str:
        """Write the spot, replacing an existing one atomically; return its hash."""
        self.run.check_whole()
        found = self.run.evaluation
        built = self.spot.build() if self.subgame is None else self.subgame
        states, game = built.states, built.game
        header = Header(
            KIND,
            configuration={
                "spot": self.spot.as_data(),
                "method": self.solver.name,
                "bits": self.solver.bits,
                **({} if states.group is None else {_GROUP: _group_names(states)}),
                **({} if game.lists is None else {_LISTS: _OF_SEAT}),
            },
            info={
                "iterations": int(self.run.state["iteration"]),
                "exploitability": found.exploitability,
                "unit": found.unit,
            },
            timings={"seconds": self.run.seconds},
        )
        arrays = {STATE + name: download(array) for name, array in self.run.state.items()}
        return write_artefact(folder, header, {"trace": self.run.trace_array()} | arrays)

    @classmethod
    def open(cls, folder: str | Path, *, for_resume: bool = False) -> SolvedSpot:
        """Open the spot in a folder, build its game and check its tables.

        With `for_resume`, its arrays are copied to memory so that the run can be resumed; otherwise
        large ones are checked as they are read.
        """
        stored = read_identity(folder, KIND)
        spot, by = read_spot(stored), read_solver(stored)
        _check_actions(stored, spot)  # before a large game is built
        built = _build(stored, spot)
        first = by.init(built.game)
        check_state(stored, by.name, first)  # before gigabytes are read
        artefact = open_artefact(folder, KIND, in_memory=for_resume, blockwise=not for_resume)
        if (read_spot(artefact), read_solver(artefact)) != (spot, by):
            raise damaged(artefact.folder / MANIFEST, "was replaced while it was opened")
        trace = _TRACE if spot.house is None else _RAKED_TRACE
        check_arrays(artefact, {"trace": trace}, but=STATE)
        check_state(artefact, by.name, first)
        arrays: dict[str, Any] = {**artefact.arrays, **artefact.large}
        state: State = {
            name.removeprefix(STATE): array
            for name, array in arrays.items()
            if name.startswith(STATE)
        }
        rows = read_trace(artefact, Fields.info(artefact).text("unit"))
        seconds = Fields.timings(artefact).number("seconds", 0)
        run = Run(state, rows, seconds, is_checked=True)
        return cls(spot, by, run, built)

    def check_same(self, spot: Spot, solver: TableCFR, folder: Path) -> None:
        """Raise `StorageError` unless the run is of this spot by this solver."""
        stored = {"spot": self.spot, "method": self.solver.name, "bits": self.solver.bits}
        check_same_run(folder, stored, {"spot": spot, "method": solver.name, "bits": solver.bits})

    @property
    def shares(self) -> PotShares:
        """What each seat expects of the pot, by the latest evaluation."""
        return PotShares(self.run.evaluation, self.spot.money.amount(self.spot.pot))

    @property
    def is_checked_whole(self) -> bool:
        """Whether all checksums were compared, not only those of blocks that were read so far."""
        return not any(isinstance(array, BlockwiseArray) for array in self.run.state.values())

    def answers(self, found: Subgame | None = None) -> Answers:
        """Return the answers of the spot at its nodes."""
        found = found or self.subgame or self.spot.build()
        return Answers(self.spot, found, TableBoards(found.game, self.solver, self.run.state))


def solve_spot(
    spot: Spot,
    by: TableCFR,
    built: Subgame,
    budget: Budget,
    *,
    run: Run | None = None,
    out: Path | None = None,
    watch: Callable[[Run], None] | None = None,
) -> SolvedSpot:
    """Solve a spot that was built, or continue its run, and save it in `out`.

    Unless the budget says otherwise, it is evaluated where it is expected to meet its target, or
    after every `EVALUATE_EVERY` iterations if it has none.
    """

    def save(so_far: Run) -> None:
        if out is not None:
            SolvedSpot(spot, by, so_far, built).save(out)

    if run is not None and built.game.backend == "gpu":
        _give_all_states(run, built)
    found = solve(built.game, by, spot_budget(budget, built), run=run, watch=watch, save=save)
    return SolvedSpot(spot, by, found, built)


def _give_all_states(run: Run, built: Subgame) -> None:
    """Change the tables of a run that began on the CPU to those that the GPU takes."""
    on_cpu = built.on("cpu").game
    lengths = [len(run.state[f"last_regret{player}"]) for player in (0, 1)]
    if on_cpu.lists is not None and lengths == table_lengths(on_cpu):
        run.state = with_all_states(on_cpu, run.state)


def spot_budget(budget: Budget, built: Subgame) -> Budget:
    """Return a budget with times of evaluation that suit a spot, unless it has its own."""
    if budget.every is not None or budget.cost is not None:
        return budget
    if budget.target is None:
        return dataclasses.replace(budget, every=EVALUATE_EVERY)
    cost = _COST + _FIXED_COST / built.game.num_infoset_actions
    return dataclasses.replace(budget, cost=cost)


def read_spot(stored: Identity) -> Spot:
    """Read the spot that a manifest describes."""
    fields = Fields.configuration(stored).part("spot")
    known = {field.name for field in dataclasses.fields(Spot)}
    for name in fields.names():
        if name not in known:
            raise fields.error(name, "a field of a spot")
    try:
        return Spot(
            rules=fields.lines("rules"),
            board=fields.text("board"),
            oop=fields.lines("oop"),
            ip=fields.lines("ip"),
            pot=fields.whole("pot", 2, 2 * UNLIMITED_STACK),
            locks=fields.list_of_lines("locks"),
            unit=fields.optional("unit", fields.text) or CHIPS,
            chips_per_unit=fields.optional("chips_per_unit", _chips_per_unit(fields)) or 1,
            behind=fields.optional("behind", _stacks(fields)),
            rake=fields.optional("rake", fields.text),
            rake_cap=fields.optional("rake_cap", fields.text),
            **{name: fields.optional(name, fields.lines) for name in MENU_FIELDS},
        ).checked()
    except EquilibristError as error:
        if isinstance(error, StorageError):
            raise
        raise damaged_by(stored, "a spot", error) from None


def _chips_per_unit(fields: Fields) -> Callable[[str], int]:
    return lambda name: fields.whole(name, 1, MOST_CHIPS_PER_UNIT)


def _stacks(fields: Fields) -> Callable[[str], tuple[int, ...]]:
    return lambda name: fields.wholes(name, 0, UNLIMITED_STACK)


def _build(stored: Identity, spot: Spot) -> Subgame:
    """Build the game of a stored spot, with suits merged as its manifest says."""
    fields, built = Fields.configuration(stored), spot.build()
    group, names = built.states.group, fields.optional(_GROUP, fields.texts)
    if names is None:
        built = built if group is None else spot.build("cards")
    elif group is None or list(names) != _group_names(built.states):
        raise fields.error(_GROUP, "the renamings of suits that leave the spot alone")
    lists = fields.optional(_LISTS, lambda name: fields.choice(name, (_OF_SEAT,)))
    return _with_one_list(built) if lists is None else built


def _with_one_list(built: Subgame) -> Subgame:
    """Return a game whose tables have the same hands for both seats."""
    return dataclasses.replace(built, game=dataclasses.replace(built.game, held=None))


def _group_names(states: CardStates) -> list[str]:
    """Return the names of the renamings of suits by which states are merged."""
    return [renaming_name(renaming) for renaming in states.group or ()]


def _check_actions(stored: Identity, spot: Spot) -> None:
    """Raise `StorageError` if the spot has more actions than its tables have numbers.

    Every action has a number for each hand that may take it; locked actions may have none.
    """
    actions = np.count_nonzero(spot.betting.action_kind)
    numbers = sum(
        math.prod(entry.shape) for name, entry in stored.files.items() if name.startswith(STATE)
    )
    if not spot.locks and actions > numbers:
        raise damaged(
            stored.folder / MANIFEST,
            f"describes a spot of {actions:,} actions, but its tables have {numbers:,} numbers",
        )


def read_solver(stored: Identity) -> TableCFR:
    """Read the solver that a manifest names."""
    fields = Fields.configuration(stored)
    return solver(fields.choice("method", tuple(TABLE_METHODS)), fields.choice("bits", (16, 32)))


def spot_goal(spot: Spot, to: str | float | None) -> Goal | None:
    """Return a target such as `0.3%` in the unit of a spot, which is that of a bare number."""
    if to is None:
        return None
    unit = spot.money
    target = Target.parse(to, bare=unit.name)
    return target.of_game(f"the spot on {spot.board}", spot.game, unit.amount(spot.pot), unit)


def solver(method: str, bits: int) -> TableCFR:
    """Return a solver of spots by its name and the bits per number."""
    if method not in TABLE_METHODS:
        names = ", ".join(TABLE_METHODS)
        raise InvalidValueError(
            f"the method of a spot must be {names}, not {method!r}", value=method
        )
    if bits not in (16, 32):
        raise InvalidValueError(f"bits must be 16 or 32, not {bits}", value=bits)
    return dataclasses.replace(TABLE_METHODS[method], bits=bits)

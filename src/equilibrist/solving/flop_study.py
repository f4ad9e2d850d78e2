"""One situation on many flops: the same ranges, chips and menu, solved flop by flop.

Every flop is a spot of its own, solved and stored as any other (`spot_run.py`), in a folder of its
name within the folder of the study, which has the flops and their weights. A study that was
stopped continues where it was.
"""

from __future__ import annotations

import dataclasses
import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equilibrist import stopping
from equilibrist.cards.card import FULL_DECK, Deck, cards_name
from equilibrist.cards.flops import (
    FlopSubset,
    flop_kinds,
    flop_table,
    listed_flops,
    parse_flops,
    representative_flops,
)
from equilibrist.cards.hand import hand_table
from equilibrist.cards.range import parse_range
from equilibrist.errors import InvalidValueError, StorageError
from equilibrist.games.betting_tree import NodeKind
from equilibrist.models.spot import Spot
from equilibrist.phases import phase
from equilibrist.solving.forecast import spot_forecast
from equilibrist.solving.lean_cfr import TableCFR
from equilibrist.solving.solve import Budget, Outcome, is_done
from equilibrist.solving.spot_data import spot_data
from equilibrist.solving.spot_run import (
    SolvedSpot,
    read_solver,
    read_spot,
    solve_spot,
    spot_budget,
)
from equilibrist.solving.suggestions import check_fits
from equilibrist.stopping import Stopped
from equilibrist.storage.artefact import Header, open_artefact, write_artefact
from equilibrist.storage.checkpoint import check_same_run
from equilibrist.storage.manifest import MANIFEST
from equilibrist.storage.regular_file import read_regular
from equilibrist.storage.schema import ArrayRule, Fields, check_arrays, damaged_by
from equilibrist.strategies.flop_report import FlopReport, FlopResult, NodeFrequencies

KIND = "flops"
_MOST_LIST_BYTES = 1 << 20
_ARRAYS = {
    "boards": ArrayRule("uint8", ("flops", 3), low=0, high=51),
    "weights": ArrayRule("float64", ("flops",), low=0, high=1),
    "equity": ArrayRule("float64", ("flops",), low=0, high=1),
}


def flop_list(flops: int | str | Path) -> int | str:
    """Return a number of flops, or the text of a list; a name of a file stands for its text.

    Example:
        >>> flop_list("10"), flop_list("AsKd2c:12")
        (10, 'AsKd2c:12')
    """
    if isinstance(flops, int):
        return flops
    if isinstance(flops, Path) or flops.lower().endswith((".txt", ".csv")):
        return _read_list(Path(flops))
    text = flops.strip()
    return int(text) if text.isdecimal() and len(text) < 10 else text


def _read_list(path: Path) -> str:
    try:
        return read_regular(path, _MOST_LIST_BYTES).decode()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise StorageError(f"cannot read the flops of {path}: {reason}", value=str(path)) from None


def sample_flop(flops: int | str, ranges: tuple[str, str], deck: Deck = FULL_DECK) -> str:
    """Return a flop on which a situation can be described before its flops are chosen.

    It is the first of a list, or one on which both ranges have hands.
    """
    listed = "" if isinstance(flops, int) else flops.partition(",")[0].partition(":")[0].strip()
    if len(listed) == 6 and "#" not in listed:
        return listed
    held = [hand_table()[parse_range(text).weights > 0] for text in ranges]
    first = deck.cards[-1:-12:-5]
    for cards in (first, *itertools.combinations(reversed(deck.cards), 3)):
        if not any(np.isin(hands, cards).any(axis=1).all() for hands in held):
            return cards_name(cards)
    return cards_name(first)


def check_nodes(spot: Spot, nodes: Sequence[str]) -> None:
    """Raise an error unless somebody acts at each node on every flop, before a card is dealt.

    The betting is the same on every flop, so that a node exists on all of them or on none.
    """
    for node in nodes:
        v = spot.find(node)
        if spot.betting.kind[v] != NodeKind.DECISION or "/" in node:
            raise InvalidValueError(
                f"{node!r} is not a decision on the flop: give betting before the turn is dealt",
                value=node,
            )


class FlopProgress(NamedTuple):
    """A flop that is finished, and the time that the others will take."""

    number: int  # finished flops, this one included
    total: int
    solved: SolvedSpot
    seconds_left: float | None  # None: not known yet

    def data(self) -> dict[str, Any]:
        """Return the flop and how far the study is, as JSON."""
        run = self.solved.run
        return {
            "number": self.number,
            "total": self.total,
            "flop": self.solved.spot.board,
            "percent_of_pot": self.solved.shares.percent_of_pot,
            "iterations": int(run.state["iteration"]),
            "seconds_left": self.seconds_left,
        }


@dataclass(frozen=True, eq=False)
class FlopStudy:
    """A situation, its solver, and the flops on which it is solved."""

    spot: Spot  # on any flop; the others differ by the board only
    solver: TableCFR
    subset: FlopSubset

    @classmethod
    def of(
        cls,
        spot: Spot,
        solver: TableCFR,
        flops: int | str,
    ) -> FlopStudy:
        """Choose the flops: a number of representative ones, or a list such as `AsKd2c:12,Td9d6h`.

        `spot` is the situation on some flop. The equities of all flops are computed first.
        """
        rules = spot.game
        if len(spot.cards) != 3 or rules.total_board_cards != 5:
            raise InvalidValueError(
                f"flops of hold'em have three of five board cards, not {spot.board}",
                value=spot.board,
            )
        listed = None if isinstance(flops, int) else parse_flops(flops)  # before the long work
        ranges = parse_range(spot.oop), parse_range(spot.ip)
        with phase("equities on all flops", total=1) as now:
            table = flop_table(*ranges, rules.deck, rules.ranking, now.update)
        if isinstance(flops, int):
            return cls(spot, solver, representative_flops(table, flops))
        assert listed is not None
        return cls(spot, solver, listed_flops(table, *listed))

    def spots(self) -> Iterator[Spot]:
        """Yield the spot of each flop, one at a time: each builds a betting tree of its own."""
        for name in self.subset.names:
            yield dataclasses.replace(self.spot, board=name)

    def check_memory(self) -> None:
        """Raise `InvalidValueError` if a flop does not fit into memory; one of each kind counts."""
        boards = np.array(self.subset.boards, np.uint8)
        for place in np.unique(flop_kinds(boards), return_index=True)[1]:
            spot = dataclasses.replace(self.spot, board=self.subset.names[place])
            check_fits(spot, spot_forecast(spot, self.solver.bits))

    # --- the folder -------------------------------------------------------------------------------

    def save(self, folder: Path) -> None:
        """Write the flops and their weights; the spots are written as they are solved."""
        header = Header(
            KIND,
            configuration={
                "spot": self.spot.as_data(),
                "method": self.solver.name,
                "bits": self.solver.bits,
            },
            info={
                "all_equity": self.subset.all_equity,
                "all_spread": self.subset.all_spread,
                "num_flops": self.subset.num_flops,
            },
        )
        arrays: dict[str, NDArray[Any]] = {
            "boards": np.array(self.subset.boards, np.uint8),
            "weights": self.subset.weights,
            "equity": self.subset.equity,
        }
        write_artefact(folder, header, arrays)

    @classmethod
    def load(cls, folder: str | Path) -> FlopStudy:
        """Open the flops of a folder; raise `StorageError` if they are damaged."""
        artefact = open_artefact(folder, KIND)
        check_arrays(artefact, _ARRAYS)
        arrays, info = artefact.arrays, Fields.info(artefact)
        subset = FlopSubset(
            boards=tuple(tuple(board) for board in arrays["boards"].tolist()),
            weights=arrays["weights"],
            equity=arrays["equity"],
            all_equity=info.number("all_equity", 0, 1),
            all_spread=info.number("all_spread", 0, 1),
            num_flops=info.whole("num_flops", 1),
        )
        if not subset.boards or any(len(set(board)) < 3 for board in subset.boards):
            raise damaged_by(artefact, "flops", InvalidValueError("a flop has three cards"))
        return cls(read_spot(artefact), read_solver(artefact), subset)

    def check_same(self, other: FlopStudy, folder: Path) -> None:
        """Raise `StorageError` unless another study, to be continued here, is the same."""
        check_same_run(folder, self._settings, other._settings)

    @property
    def _settings(self) -> dict[str, object]:
        weights = tuple(np.round(self.subset.weights, 9).tolist())
        situation = dataclasses.replace(self.spot, board="")
        return {
            "spot": situation,
            "method": self.solver.name,
            "bits": self.solver.bits,
            "flops": self.subset.names,
            "weights": weights,
        }

    # --- solving ----------------------------------------------------------------------------------

    def open_or_start(self, folder: Path) -> None:
        """Write the flops to a folder, or check that those of a study to be continued are these."""
        if (folder / MANIFEST).exists():
            FlopStudy.load(folder).check_same(self, folder)
        else:
            self.save(folder)

    def run(
        self,
        budget: Budget,
        *,
        nodes: Sequence[str] = (),
        out: Path | None = None,
        report: Callable[[FlopProgress], None] = lambda progress: None,
    ) -> FlopReport:
        """Solve every flop, each within the budget, and return the report.

        With `out`, flops are stored there, and those that are stored already are continued if they
        need it. If a stop is requested, it saves the current flop and raises `Stopped`.
        """
        budget.check()
        check_nodes(self.spot, nodes)
        results, begin, worked, total = [], time.perf_counter(), 0, len(self.subset.boards)
        for place, spot in enumerate(self.spots()):
            stopping.check()
            folder = None if out is None else out / spot.board
            solved, is_new = _solved(spot, self.solver, budget, folder)
            if solved.run.outcome is Outcome.INTERRUPTED:
                raise Stopped(f"stopped on flop {place + 1} of {total}, {spot.board}")
            results.append(self._result(place, solved, nodes))
            worked += is_new
            pace = (time.perf_counter() - begin) / worked if worked else None
            left = None if pace is None else pace * (total - place - 1)
            report(FlopProgress(place + 1, total, solved, left))
        return FlopReport(self.subset, tuple(results), self.spot.money.name)

    def read(self, folder: Path, nodes: Sequence[str] = ()) -> FlopReport:
        """Return the report of flops that are solved, without solving more."""
        check_nodes(self.spot, nodes)
        names = self.subset.names
        missing = [name for name in names if not (folder / name / MANIFEST).exists()]
        if missing:
            raise StorageError(
                f"{len(missing)} of the {len(names)} flops in {folder} are not solved yet; give a "
                "target to continue",
                value=missing[0],
            )
        results = []
        for place, spot in enumerate(self.spots()):
            solved = _opened(spot, self.solver, folder / spot.board)
            results.append(self._result(place, solved, nodes))
        return FlopReport(self.subset, tuple(results), self.spot.money.name)

    def data(self, report: FlopReport, by: str | None, folder: Path | None) -> dict[str, Any]:
        """Return a report as JSON, also of groups of flops: by suits, pairs or high (card)."""
        spot, subset = self.spot, report.subset
        data: dict[str, Any] = {
            **{name: part for name, part in spot_data(spot).items() if name != "board"},
            "unit": spot.money.name,
            "method": self.solver.name,
            "bits": self.solver.bits,
            "flops": report.rows(),
            "mean": report.mean.row(),
            "num_flops": subset.num_flops,
            "subset_equity": subset.mean_equity,
            "all_equity": subset.all_equity,
            "subset_spread": subset.spread,
            "all_spread": subset.all_spread,
            "out": None if folder is None else str(folder),
        }
        if by is not None:
            data["groups"] = [{by: own.name, **own.row()} for own in report.groups(by)]
        return data

    def _result(self, place: int, solved: SolvedSpot, nodes: Sequence[str]) -> FlopResult:
        """Return the numbers of a solved flop: at the first decision and at more nodes."""
        answers, found = solved.answers(), []
        for node in dict.fromkeys(("", *nodes)):
            at = answers.at(node)
            often = tuple(at.frequencies.tolist())
            found.append(NodeFrequencies(node, at.player, at.actions, often, at.reach))
        return FlopResult(
            name=solved.spot.board,
            weight=float(self.subset.weights[place]),
            equity=float(self.subset.equity[place]),
            values=solved.shares.values,
            exploitability=solved.run.evaluation.exploitability,
            iterations=int(solved.run.state["iteration"]),
            nodes=tuple(found),
            rake=solved.run.evaluation.rake,
        )


def _opened(spot: Spot, by: TableCFR, folder: Path, *, for_resume: bool = False) -> SolvedSpot:
    """Open a stored flop; raise `StorageError` unless it is this spot by this solver."""
    done = SolvedSpot.open(folder, for_resume=for_resume)
    done.check_same(spot, by, folder)
    return done


def _solved(
    spot: Spot, by: TableCFR, budget: Budget, folder: Path | None
) -> tuple[SolvedSpot, bool]:
    """Return a solved flop, stored or solved now, and whether any iterations were needed."""
    if folder is None or not (folder / MANIFEST).exists():
        return solve_spot(spot, by, spot.build(), budget, out=folder), True
    done = _opened(spot, by, folder)
    assert done.subgame is not None
    if is_done(done.run, spot_budget(budget, done.subgame)):
        return done, False
    done = _opened(spot, by, folder, for_resume=True)
    assert done.subgame is not None
    return solve_spot(spot, by, done.subgame, budget, run=done.run, out=folder), True

"""One situation that is solved on many flops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Unpack

from equilibrist.display.notebook import data_frame, table_html
from equilibrist.games.bet_menu import MenuTexts
from equilibrist.models.money import Given
from equilibrist.models.spot import Chips, Spot
from equilibrist.solving.flop_study import FlopStudy, flop_list, sample_flop
from equilibrist.solving.lean_cfr import DEFAULT_METHOD
from equilibrist.solving.solve import Budget
from equilibrist.solving.spot_run import USUAL_TARGET, spot_goal
from equilibrist.solving.spot_run import solver as spot_solver
from equilibrist.storage.ownership import owned
from equilibrist.strategies.flop_report import FlopReport


@dataclass(frozen=True, eq=False, repr=False)
class FlopsSolution:
    """One situation solved on many flops: a row per flop, weighted means and groups."""

    report: FlopReport

    @property
    def mean(self) -> dict[str, Any]:
        """Return the weighted mean over all flops, with the columns of `rows`."""
        return self.report.mean.row()

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per flop: its texture, weight, equities, EVs and action frequencies."""
        return self.report.rows()

    def groups(self, by: str) -> list[dict[str, Any]]:
        """Return the weighted mean of each group of flops: by suits, pairs or high (card)."""
        return [{by: found.name, **found.row()} for found in self.report.groups(by)]

    def to_pandas(self) -> Any:
        """Return the rows as a pandas data frame; needs pandas."""
        return data_frame(self.rows())

    def plot(self, path: str | Path, node: str = "") -> Path:
        """Draw the action frequencies at a node, one bar per flop; needs the extra `plot`."""
        from equilibrist.display.flops import draw_flops
        from equilibrist.display.picture import check_plot

        check_plot(Path(path))
        draw_flops(self.report, Path(path), node)
        return Path(path)

    def __repr__(self) -> str:
        found, subset = self.report.mean, self.report.subset
        return (
            f"<{len(subset.boards):,} of {subset.num_flops:,} flops: out of position expects "
            f"{found.values[0]:.4g} of {found.pot:.4g} {self.report.unit}, equity "
            f"{100 * found.equity:.2f} %>"
        )

    def _repr_html_(self) -> str:
        rows = [*self.rows(), {"flop": "mean", **self.mean}]
        names = list(rows[0])
        cells = [[_cell(row.get(name, "")) for name in names] for row in rows]
        return table_html(names, cells, str(self.report.subset))


def _cell(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


@dataclass(frozen=True, eq=False, repr=False)
class FlopsProblem:
    """One situation to be solved on many flops."""

    study: FlopStudy

    def solve(
        self,
        to: str | float | None = None,
        *,
        iterations: int | None = None,
        seconds: float | None = None,
        nodes: Sequence[str] = (),
        out: str | Path | None = None,
        method: str = DEFAULT_METHOD,
        bits: int = 32,
    ) -> FlopsSolution:
        """Solve each flop to an exploitability: "0.3%" of the pot (default), "0.5chips", "5mbb".

        `nodes` are more decisions of the report, as betting on the flop. With `out`, every flop is
        stored in a folder there, and a study that was stopped continues.
        """
        if to is None and iterations is None and seconds is None:
            to = USUAL_TARGET
        study = replace(self.study, solver=spot_solver(method, bits))
        goal = spot_goal(study.spot, to)
        budget = Budget(iterations, None if goal is None else goal.chips, seconds)
        study.check_memory()
        place = None if out is None else Path(out)
        with owned(place):
            if place is not None:
                study.open_or_start(place)
            return FlopsSolution(study.run(budget, nodes=nodes, out=place))

    def __repr__(self) -> str:
        return f"<{self.study.subset}; not solved yet>"


def flops(
    oop: str,
    ip: str,
    *,
    pot: Given,
    stack: Given | Sequence[Given] | None = None,
    flops: int | str | Path = 10,
    min_bet: Given | None = None,
    locks: Sequence[str] = (),
    rake: str | None = None,
    rake_cap: Given | None = None,
    **menu: Unpack[MenuTexts],
) -> FlopsProblem:
    """Describe a no-limit situation on many flops, as `spot` does on one.

    `flops` is a number of flops that represent all, a list such as "AsKd2c:12,Td9d6h:24" with the
    number of flops that each stands for, or a .txt or .csv file with such a list. The equities of
    all flops are computed at once, which takes seconds.
    """
    text = flop_list(flops)
    board = sample_flop(text, (oop, ip))
    found = Spot.of(board, oop, ip, Chips(pot, stack, min_bet, rake, rake_cap), **menu)
    solver = spot_solver(DEFAULT_METHOD, 32)
    return FlopsProblem(FlopStudy.of(found.with_locks(locks), solver, text))

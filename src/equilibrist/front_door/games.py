"""Games that are solved exactly."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from equilibrist.display.notebook import data_frame
from equilibrist.front_door.displays import curve_rows, run_html
from equilibrist.games.bet_menu import BetMenu
from equilibrist.games.catalog import load_game
from equilibrist.games.rules import GameRules
from equilibrist.models.game import Floats, SequenceGame
from equilibrist.solving.methods import get_method
from equilibrist.solving.problem import Problem
from equilibrist.solving.solution_run import Store
from equilibrist.solving.solve import Budget, Run
from equilibrist.solving.solve import solve as run_solver
from equilibrist.solving.solver import Solver
from equilibrist.strategies.behaviour_table import BehaviourTable, behaviour_table
from equilibrist.strategies.description import GameDescription

_GAME_MENU = BetMenu()  # all actions of the rules
_USUAL_CHIPS = 1e-3  # target exploitability of games in chips


@dataclass(frozen=True, eq=False, repr=False)
class SolvedGame:
    """A game that was solved: its value, exploitability, curve and strategies."""

    game: SequenceGame
    solver: Solver
    run: Run
    seed: int = 0

    @property
    def value(self) -> float:
        """Return what the player who acts first wins per hand, in `unit`."""
        return self.run.evaluation.value

    @property
    def exploitability(self) -> float:
        """Return the mean of what both best responses gain, in `unit` per hand."""
        return self.run.evaluation.exploitability

    @property
    def unit(self) -> str:
        """Return the unit of value and exploitability."""
        return self.run.evaluation.unit

    @property
    def iterations(self) -> int:
        """Return the number of iterations."""
        return int(self.run.state["iteration"])

    @property
    def curve(self) -> list[tuple[int, float, float]]:
        """Return (iteration, seconds, exploitability) of each evaluation."""
        return [
            (row.iteration, row.seconds, row.evaluation.exploitability) for row in self.run.trace
        ]

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per evaluation: its iteration, seconds, exploitability and value."""
        return curve_rows(self.run)

    def to_pandas(self) -> Any:
        """Return the rows as a pandas data frame; needs pandas."""
        return data_frame(self.rows())

    @functools.cached_property
    def plans(self) -> tuple[Floats, Floats]:
        """Return the realization plans of both players."""
        return self.solver.plans(self.game, self.run.state)

    def strategy(self, node: str = "", board: str = "") -> BehaviourTable:
        """Return the probability of each action with each hand, at a node and on a board."""
        return behaviour_table(self.game, self.plans, node, board)

    def save(self, folder: str | Path) -> Path:
        """Store the solution with its proof, as `equilibrist solve --out` does."""
        dtype = getattr(self.solver, "dtype", "float64")
        description = GameDescription.of(self.game)
        Store(Path(folder), self.game, description, self.solver, self.seed, dtype).save(self.run)
        return Path(folder)

    def plot(self, path: str | Path) -> Path:
        """Draw exploitability against seconds into a picture; needs the extra `plot`."""
        from equilibrist.display.curves import draw_traces
        from equilibrist.display.picture import check_plot

        check_plot(Path(path))
        draw_traces({self.solver.name: self.run.trace_array()}, self.game, Path(path))
        return Path(path)

    def __repr__(self) -> str:
        return (
            f"<{self.game.name} by {self.solver.name}: value {self.value:.6g} {self.unit}, "
            f"exploitability {self.exploitability:.3g} after {self.iterations:,} iterations>"
        )

    def _repr_html_(self) -> str:
        rows = [
            ("value", f"{self.value:.6g} {self.unit}"),
            ("exploitability", f"{self.exploitability:.6g} {self.unit}"),
            ("iterations", f"{self.iterations:,}"),
            ("outcome", self.run.outcome.value),
        ]
        return run_html(f"{self.game.name} by {self.solver.name}", self.run, rows)


def solve(
    game: str | Path | GameRules,
    *,
    method: str = "cfr+",
    to: str | float | None = None,
    iterations: int | None = None,
    seconds: float | None = None,
    menu: BetMenu = _GAME_MENU,
    seed: int = 0,
    force: bool = False,
) -> SolvedGame:
    """Solve a game exactly: to an exploitability `to`, or for iterations or seconds.

    `game` is a name of the catalogue, a file with a game definition, or rules. `to` is text such as
    "5mbb" or "0.01chips", or a number of chips; without any limit it is a thousandth of a chip.
    A game that does not fit into memory is refused, except with `force`.

    Example:
        >>> kuhn = solve("kuhn", to=1e-4)
        >>> round(kuhn.value, 3), kuhn.exploitability <= 1e-4
        (-0.056, True)
        >>> kuhn.strategy("cr").actions
        ('f', 'c')
    """
    rules = game if isinstance(game, GameRules) else load_game(game)
    problem, solver = Problem.exact(rules, menu), get_method(method)
    if to is None and iterations is None and seconds is None:
        to = _USUAL_CHIPS
    goal = problem.goal(to)
    budget = Budget(iterations, None if goal is None else goal.chips, seconds)
    budget.check()
    if not force:
        problem.forecast(methods=[method]).check(problem.name)
    model, _ = problem.build()
    run = run_solver(model, solver, budget, seed=seed)
    return SolvedGame(model, solver, run, seed)

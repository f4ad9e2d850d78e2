"""CFR+ and Cepheus (Bowling, Burch, Johanson and Tammelin 2015, and the paper's supplement).

The claims of the supplement about the algorithms are measured on games small enough to solve
exactly: CFR+ needs far fewer iterations than CFR; its current strategy was observed to approach
equilibrium too, while that of CFR typically does not; the sum of regrets stays below the bound of
equation 7, which is checked after every iteration. Results that need the full game (0.986 mbb/g,
1,579 iterations on 4,800 cores) are printed as not yet reached. The published exploitabilities of
programs in limit hold'em itself are listed beside ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equilibrist import stopping
from equilibrist.errors import SolverError
from equilibrist.games.catalog import get_game
from equilibrist.kernels.treeplex import block, boards, num_rounds
from equilibrist.models.exact import exact_game
from equilibrist.models.game import SequenceGame
from equilibrist.solving.best_response import evaluate
from equilibrist.solving.cfr import CFR, CFR_VARIANTS
from equilibrist.solving.solver import State

# Number of iterations of each method, by game.
GAMES = {"kuhn": 10_000, "leduc": 10_000, "rhode-island": 200}


# Exploitability in mbb/g of the programs of Figure S1 and of the text around it. Always folding and
# always calling are those of Johanson et al. 2011, which `exploit --real-game` computes too.
MEASURED = {
    "always-call": 1163.4757,
    "always-fold": 750.0,
    "Polaris 2007": 275.9,
    "Polaris 2008": 235.3,
    "Rockhopper 2010": 300.0,
    "GGValuta 2010": 237.3,
    "Hyperborean 2010": 135.4,
    "Cepheus 2015": 0.986,
}


@dataclass(frozen=True)
class ClaimRow:
    """One row of the table: a published number, None if there is none, and ours."""

    name: str
    paper: float | None
    ours: float | None  # None if not yet reached
    unit: str
    iterations: int | None = None
    regret: float | None = None  # sum over information sets of the largest positive regret
    bound: float | None = None  # equation 7: |I| Δ √(|A| T), summed over players


@dataclass(frozen=True)
class Curve:
    """Exploitability of one method on one game by iteration."""

    game: str
    method: str
    iterations: NDArray[np.int64]
    exploitability: NDArray[np.float64]
    unit: str


def reproduce(
    iterations: dict[str, int] | None = None, watch: Callable[[str], None] | None = None
) -> tuple[list[ClaimRow], list[Curve]]:
    """Run CFR and CFR+ on each game and return rows for the table and curves for the plot."""
    rows: list[ClaimRow] = []
    curves: list[Curve] = []
    for name, most in (iterations or GAMES).items():
        game = exact_game(get_game(name))
        for method in ("cfr", "cfr+"):
            if watch is not None:
                watch(f"{name} by {method}, {most:,} iterations")
            for row, curve in _run(game, CFR_VARIANTS[method], most):
                rows.append(row)
                curves.append(curve)
    rows += [
        ClaimRow("limit hold'em: Cepheus' exploitability", 0.986, None, "mbb/g"),
        ClaimRow("limit hold'em: iterations to it", 1_579, None, "iterations"),
    ]
    return rows, curves


def figure_s1(known: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the published programs and our bots (`known`), the most exploitable first.

    Example:
        >>> ours = {"name": "smallbot", "real_game": 360.9}
        >>> [row["name"] for row in figure_s1([ours])][2:4]
        ['smallbot', 'Rockhopper 2010']
    """
    rows = [{"name": name, "real_game": won, "ours": False} for name, won in MEASURED.items()]
    rows += [{**row, "ours": True} for row in known]
    return sorted(rows, key=lambda row: -row["real_game"])


def _run(game: SequenceGame, solver: CFR, most: int) -> Iterator[tuple[ClaimRow, Curve]]:
    """Run one method on one game and yield the results of its average and current strategy."""
    state = solver.init(game)
    points = list(_evaluation_points(most))
    found: dict[str, list[float]] = {"average": [], "current": []}
    regret = bound = 0.0
    for t in range(1, most + 1):
        stopping.check()
        solver.step(game, state, 1)
        regret, bound = regret_sum(game, state), regret_bound(game, t)
        if not regret <= bound:
            raise SolverError(
                f"{solver.name} on {game.name} has a sum of regrets of {regret:g} after {t} "
                f"iterations, where equation 7 allows {bound:g}",
                value=regret,
            )
        if t in points:
            for kind, values in found.items():
                plans = replace(solver, current=kind == "current").plans(game, state)
                values.append(evaluate(game, plans).exploitability)
    for kind, values in found.items():
        name = f"{game.name}: {solver.name}, {kind} strategy"
        yield (
            ClaimRow(name, None, values[-1], game.unit, most, regret, bound),
            Curve(
                game.name, f"{solver.name} {kind}", np.array(points), np.array(values), game.unit
            ),
        )


def _evaluation_points(most: int) -> Iterator[int]:
    """Yield the iterations at which to evaluate: 1, 2, 5, 10, 20, 50, … and `most`."""
    scale = 1
    while True:
        for step in (1, 2, 5):
            if scale * step >= most:
                yield most
                return
            yield scale * step
        scale *= 10


def regret_sum(game: SequenceGame, state: State) -> float:
    """Return the sum over all information sets of the largest positive regret (equation 7, left).

    CFR+ stores Q of equation 9 instead, which is at least the regret; the bound holds for it too.
    """
    total = 0.0
    for player in (0, 1):
        tree, regret = game.trees[player], state[f"regret{player}"]
        for r in range(num_rounds(tree)):
            # The rows of a block are the actions of one decision after the other.
            first_rows = tree.decision_first[tree.decision_start[r] : tree.decision_start[r + 1]]
            for board in boards(tree, r):
                largest = np.maximum.reduceat(block(tree, r, board, regret), first_rows, axis=0)
                total += float(np.maximum(largest, 0).sum())
    return total


def regret_bound(game: SequenceGame, iterations: int) -> float:
    """Return the sum over players of |I_i| Δ √(|A| T), Δ the payoff range (equation 7, right)."""
    stakes = [*np.abs(game.leaves.fold_payoff.ravel()), *np.abs(game.leaves.showdown_stake)]
    spread = 2 * max(stakes)
    most_actions = max(int(tree.decision_size.max()) for tree in game.trees)
    return float(game.num_infosets * spread * np.sqrt(most_actions * iterations))

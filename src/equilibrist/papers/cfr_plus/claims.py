"""CFR+ and Cepheus (Bowling, Burch, Johanson and Tammelin 2015, and the paper's supplement).

What the supplement says of the algorithms, measured on games small enough to solve exactly: CFR+
needs far fewer iterations than CFR; its current strategy was seen to approach equilibrium too, that
of CFR typically does not; the sum of regrets stays below the bound of equation 7, which is checked
after every iteration. What needs the full game (0.986 mbb/g, 1,579 iterations on 4,800 cores) is
printed as not yet reached. Programs that were measured in limit hold'em itself stand beside ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equilibrist.errors import SolverError
from equilibrist.games.catalog import get_game
from equilibrist.kernels.reference.sequence_form import block, boards, num_rounds
from equilibrist.models.exact import exact_game
from equilibrist.models.game import SequenceGame
from equilibrist.solving.best_response import evaluate
from equilibrist.solving.cfr import CFR, CFR_VARIANTS
from equilibrist.solving.solver import State
from equilibrist.storage import stopping

# Game and iterations to which each method runs.
GAMES = {"kuhn": 10_000, "leduc": 10_000, "rhode-island": 200}


# Programs of Figure S1 and of the text around it, and what best responses win from them, in mbb/g.
MEASURED = {
    "Polaris 2007": 275.9,
    "Polaris 2008": 235.3,
    "Rockhopper 2010": 300.0,
    "GGValuta 2010": 237.3,
    "Hyperborean 2010": 135.4,
    "Cepheus 2015": 0.986,
}


@dataclass(frozen=True)
class PaperRow:
    """A line of the table: `paper` is the published number, None where there is none to compare."""

    name: str
    paper: float | None
    ours: float | None  # None: not yet
    unit: str
    iterations: int | None = None
    regret: float | None = None  # Σ over information sets of the largest positive regret
    bound: float | None = None  # equation 7: |I| Δ √(|A| T), summed over players


@dataclass(frozen=True)
class Curve:
    """Exploitability of one method on one game as iterations go by."""

    game: str
    method: str
    iterations: NDArray[np.int64]
    exploitability: NDArray[np.float64]
    unit: str


def reproduce(
    iterations: dict[str, int] | None = None, watch: Callable[[str], None] | None = None
) -> tuple[list[PaperRow], list[Curve]]:
    """Run CFR and CFR+ on each game; rows for the table and curves for the plot."""
    rows: list[PaperRow] = []
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
        PaperRow("limit hold'em: Cepheus' exploitability", 0.986, None, "mbb/g"),
        PaperRow("limit hold'em: iterations to it", 1_579, None, "iterations"),
    ]
    return rows, curves


def figure_s1(known: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The measured programs and our bots as `known` in the real game, the most exploitable first.

    Example:
        >>> ours = {"name": "smallbot", "real_game": 360.9}
        >>> [row["name"] for row in figure_s1([ours])][:2]
        ['smallbot', 'Rockhopper 2010']
    """
    rows = [{"name": name, "real_game": won, "ours": False} for name, won in MEASURED.items()]
    rows += [{**row, "ours": True} for row in known]
    return sorted(rows, key=lambda row: -row["real_game"])


def _run(game: SequenceGame, solver: CFR, most: int) -> Iterator[tuple[PaperRow, Curve]]:
    """One method on one game, its average and its current strategy."""
    state = solver.init(game)
    looks = list(_looks(most))
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
        if t in looks:
            for kind, values in found.items():
                plans = replace(solver, current=kind == "current").plans(game, state)
                values.append(evaluate(game, plans).exploitability)
    for kind, values in found.items():
        name = f"{game.name}: {solver.name}, {kind} strategy"
        yield (
            PaperRow(name, None, values[-1], game.unit, most, regret, bound),
            Curve(game.name, f"{solver.name} {kind}", np.array(looks), np.array(values), game.unit),
        )


def _looks(most: int) -> Iterator[int]:
    """1, 2, 5, 10, 20, 50, … up to and including `most`."""
    scale = 1
    while True:
        for step in (1, 2, 5):
            if scale * step >= most:
                yield most
                return
            yield scale * step
        scale *= 10


def regret_sum(game: SequenceGame, state: State) -> float:
    """Σ over both players' information sets of the largest positive regret (left of equation 7).

    CFR+ keeps Q of equation 9 instead, which is never less than the regret; the bound holds for it.
    """
    total = 0.0
    for player in (0, 1):
        tree, regret = game.trees[player], state[f"regret{player}"]
        for r in range(num_rounds(tree)):
            # Actions stand decision by decision, to the last row of a block.
            first_rows = tree.decision_first[tree.decision_start[r] : tree.decision_start[r + 1]]
            for board in boards(tree, r):
                largest = np.maximum.reduceat(block(tree, r, board, regret), first_rows, axis=0)
                total += float(np.maximum(largest, 0).sum())
    return total


def regret_bound(game: SequenceGame, iterations: int) -> float:
    """Σ over players of |I_i| Δ √(|A| T): right of equation 7, Δ the spread of payoffs."""
    stakes = [*np.abs(game.leaves.fold_payoff), *np.abs(game.leaves.showdown_stake)]
    spread = 2 * max(stakes)
    most_actions = max(int(tree.decision_size.max()) for tree in game.trees)
    return float(game.num_infosets * spread * np.sqrt(most_actions * iterations))

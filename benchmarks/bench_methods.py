"""Which method reaches an exploitability first?

Correctness first: every method's value must be the linear program's, as far as its own best
responses allow. Seconds are those of iterations alone, without the best responses that measure
them; these are computed whenever the iterations have grown by a tenth. The linear program is exact
at once. A dash: not within the seconds given to each method.

Run: python benchmarks/bench_methods.py [--seconds 20]
"""

from __future__ import annotations

import argparse
from dataclasses import replace

from harness import Report

from equilibrist.games.catalog import get_game
from equilibrist.models.exact import exact_game
from equilibrist.models.game import SequenceGame
from equilibrist.solving.cfr import CFR_VARIANTS
from equilibrist.solving.excessive_gap import ExcessiveGap
from equilibrist.solving.linear_program import LinearProgram
from equilibrist.solving.solve import Budget, Outcome, Run, solve
from equilibrist.solving.solver import Solver

TARGETS = (1e-2, 1e-3, 1e-4, 1e-5)  # chips
SOLVERS: dict[str, Solver] = {
    "cfr+": CFR_VARIANTS["cfr+"],
    "dcfr": CFR_VARIANTS["dcfr"],
    "pcfr+": CFR_VARIANTS["pcfr+"],
    "egt": ExcessiveGap(),
    "egt, centring": ExcessiveGap(centring=True),
    "lp": LinearProgram("clarabel"),
}
# Two rounds, 24 cards, one of them on the board: 3,600 information sets.
HOLDEM = replace(
    get_game("holdem-limit"), name="holdem 3×8", num_suits=3, num_ranks=8, blinds=(2, 1),
    raise_sizes=(2, 4), max_raises=(1, 1), first_players=(1, 0), num_board_cards=(0, 1),
    discards=(),
)  # fmt: skip


def traced(game: SequenceGame, solver: Solver, seconds: float) -> Run:
    """Run to the smallest target or for some seconds, with frequent evaluations."""
    iterations = 1
    run = solve(game, solver, Budget(iterations=iterations))
    while run.outcome is Outcome.BUDGET_SPENT and run.seconds < seconds:
        iterations += max(1, iterations // 10)
        budget = Budget(iterations, TARGETS[-1], seconds)
        run = solve(game, solver, budget, run=run)
    return run


def seconds_to(run: Run, target: float) -> float | None:
    reached = (row.seconds for row in run.trace if row.evaluation.exploitability <= target)
    return next(reached, None)


def main() -> None:
    parser = argparse.ArgumentParser(description="Time to an exploitability, method by method.")
    parser.add_argument("--seconds", type=float, default=20.0, help="seconds per method and game")
    seconds = parser.parse_args().seconds
    header = "".join(f"{f'to {target:g}':>12}" for target in TARGETS)
    report = Report("methods, seconds to an exploitability in chips", header)
    for game in (exact_game(get_game("leduc")), exact_game(HOLDEM)):
        runs = {name: traced(game, solver, seconds) for name, solver in SOLVERS.items()}
        exact = runs["lp"].evaluation
        assert exact.exploitability <= TARGETS[-1]
        for run in runs.values():
            found = run.evaluation
            assert abs(found.value - exact.value) <= found.nash_conv + exact.nash_conv
        for name, run in runs.items():
            times = {f"to {target:g}": seconds_to(run, target) for target in TARGETS}
            report.line(f"{game.name}, {game.num_infosets:,} infosets, {name}", times, "s")


if __name__ == "__main__":
    main()

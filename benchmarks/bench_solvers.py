"""How fast are the solvers, beside OpenSpiel's C++ CFR+?

Correctness first: Leduc's value, and CFR+ must be as close to equilibrium as OpenSpiel's after the
same number of iterations (both alternate and average linearly). Then microseconds an iteration.

Run: python benchmarks/bench_solvers.py
"""

from __future__ import annotations

import time

import pyspiel
from harness import Report, best_seconds

from equilibrist.games.catalog import get_game
from equilibrist.games.rules import GameRules
from equilibrist.models.build import exact_game
from equilibrist.models.game import SequenceGame
from equilibrist.solving.cfr import CFR
from equilibrist.solving.solve import solve
from equilibrist.strategies.openspiel import openspiel_game

LEDUC_VALUE = -0.085606424078


def seconds_per_iteration(game: SequenceGame, iterations: int) -> float:
    state = CFR().init(game)
    return best_seconds(lambda: CFR().step(game, state, iterations), repeats=5) / iterations


def openspiel_seconds(rules: GameRules, iterations: int) -> float:
    solver = pyspiel.CFRPlusSolver(openspiel_game(rules))
    solver.evaluate_and_update_policy()
    start = time.perf_counter()
    for _ in range(iterations):
        solver.evaluate_and_update_policy()
    return (time.perf_counter() - start) / iterations


def check_leduc() -> None:
    game = exact_game(get_game("leduc"))
    ours = solve(game, CFR(), iterations=200).evaluation.nash_conv
    theirs_game = pyspiel.load_game("leduc_poker")
    solver = pyspiel.CFRPlusSolver(theirs_game)
    for _ in range(200):
        solver.evaluate_and_update_policy()
    theirs = pyspiel.nash_conv(theirs_game, solver.average_policy())
    assert 0.5 < ours / theirs < 2, (ours, theirs)
    run = solve(game, CFR(), target=1e-6, iterations=1_000_000)
    assert abs(run.evaluation.value - LEDUC_VALUE) < 2e-6


def main() -> None:
    check_leduc()
    report = Report("solvers")
    leduc = exact_game(get_game("leduc"))
    ours = seconds_per_iteration(leduc, 10_000)
    theirs = openspiel_seconds(get_game("leduc"), 20)
    report.row("CFR+ on Leduc, an iteration", ours * 1e6, "OpenSpiel C++ CFR+", theirs * 1e6, "µs")


if __name__ == "__main__":
    main()

"""How fast are the solvers, beside OpenSpiel's C++ CFR+?

Correctness first: Leduc's value, and CFR+ must be as close to equilibrium as OpenSpiel's after the
same number of iterations (both alternate and average linearly). Then microseconds an iteration, and
the time of each method to the same exploitability.

Run: python benchmarks/bench_solvers.py
"""

from __future__ import annotations

import time

import pyspiel
from harness import Report, best_seconds

from equilibrist.games.catalog import get_game
from equilibrist.games.rules import GameRules, rules_text
from equilibrist.models.build import exact_game
from equilibrist.models.game import SequenceGame
from equilibrist.solving.cfr import CFR
from equilibrist.solving.solve import solve

LEDUC_VALUE = -0.085606424078
# Two rounds of limit hold'em with twelve cards: about 10⁵ information sets.
MEDIUM = GameRules(
    name="holdem-3x4", betting="limit", blinds=(2, 1), raise_sizes=(2, 4), max_raises=(2, 2),
    first_players=(1, 0), num_suits=3, num_ranks=4, num_hole_cards=2, num_board_cards=(0, 3),
)  # fmt: skip


def seconds_per_iteration(game: SequenceGame, iterations: int) -> float:
    state = CFR().init(game)
    return best_seconds(lambda: CFR().step(game, state, iterations), repeats=5) / iterations


def openspiel_seconds(text: str, iterations: int) -> float:
    solver = pyspiel.CFRPlusSolver(pyspiel.load_game("universal_poker", {"gamedef": text}))
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
    theirs = openspiel_seconds(rules_text(get_game("leduc")), 20)
    report.row("CFR+ on Leduc, an iteration", ours * 1e6, "OpenSpiel C++ CFR+", theirs * 1e6, "µs")
    medium = exact_game(MEDIUM)
    print(f"  {MEDIUM.name}: {medium.num_infosets:,} information sets up to suits")
    ours = seconds_per_iteration(medium, 20)
    theirs = openspiel_seconds(rules_text(MEDIUM), 1)
    report.row(f"CFR+ on {MEDIUM.name}", ours * 1e3, "OpenSpiel C++ CFR+", theirs * 1e3, "ms")


if __name__ == "__main__":
    main()

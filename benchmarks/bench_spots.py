"""How fast are spots solved, how long to 0.3 % of the pot, and in how much memory?

Correctness first: CFR by tables must prove what the best responses in float64 of its plans prove,
and come to the value of CFR that keeps plans. Then nanoseconds per action of an information set and
iteration and core, with full ranges on a turn and a flop, beside CFR that keeps plans; and the time
to 0.3 % of the pot and the peak of memory of a process that solves a spot. The rival's figure, 6.7
ns, is that of the fastest open solver, in Rust, on a machine of this class.

Run: python benchmarks/bench_spots.py [--quick] [--bits 32]
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time

import numba
from harness import Report, best_seconds

from equilibrist.games.catalog import get_game
from equilibrist.models.game import SequenceGame
from equilibrist.models.spot import Chips, Spot
from equilibrist.solving.best_response import evaluate
from equilibrist.solving.cfr import CFR
from equilibrist.solving.lean_cfr import TableCFR
from equilibrist.solving.solve import Budget, solve

RIVAL_NS = 6.7
WORK = 3e8  # actions of information sets that a timed run sweeps, at least one iteration
SPOTS = {
    "turn": lambda: Spot.of(
        "Td9d6hQc", "random", "random", Chips(pot=200, stack=900), bets="60%,a", raises="2.5x"
    ),
    "flop": lambda: Spot.of(
        "Td9d6h", "random", "random", Chips(pot=40), game=get_game("holdem-limit"), max_raises="1"
    ),
}


def check() -> None:
    """Check tables against plans on a turn of few hands."""
    spot = Spot.of(
        "Td9d6hQc", "QQ+,AK,T9s", "88-22,AQ,JTs", Chips(pot=200, stack=900), bets="60%,a"
    )
    game, solver = spot.build().game, TableCFR()
    state = solver.init(game)
    solver.step(game, state, 300)
    ours, exact = solver.evaluate(game, state), evaluate(game, solver.plans(game, state))
    assert abs(ours.exploitability - exact.exploitability) < 1e-3
    plans = solve(game, CFR(), Budget(iterations=300)).evaluation
    assert abs(ours.value - plans.value) < ours.exploitability + plans.exploitability


def nanoseconds(game: SequenceGame, solver: TableCFR | CFR, threads: int) -> float:
    """Return nanoseconds of one core per action of an information set and iteration."""
    numba.set_num_threads(threads)
    state = solver.init(game)
    steps = max(1, round(WORK / game.num_infoset_actions))
    seconds = best_seconds(lambda: solver.step(game, state, steps))
    return 1e9 * seconds * threads / steps / game.num_infoset_actions


def solved(name: str, bits: int) -> None:
    """Solve a spot to 0.3 % of the pot, and print seconds, iterations and megabytes."""
    spot = SPOTS[name]()
    game, solver = spot.build().game, TableCFR(bits=bits)
    solver.step(game, solver.init(game), 1)
    start = time.perf_counter()
    run = solve(game, solver, Budget(target=0.003 * spot.pot, every=20))
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    print(seconds, int(run.state["iteration"]), peak)


def main() -> None:
    parser = argparse.ArgumentParser(description="Spots.")
    parser.add_argument("--quick", action="store_true", help="the turn only")
    parser.add_argument("--bits", type=int, default=32)
    parser.add_argument("--solve", choices=SPOTS, help="solve only this spot, in this process")
    options = parser.parse_args()
    if options.solve:
        solved(options.solve, options.bits)
        return
    check()
    report = Report("spots with full ranges")
    names = ("turn",) if options.quick else tuple(SPOTS)
    for name in names:  # first, because a child's peak of memory starts at its parent's
        command = [sys.executable, __file__, "--solve", name, "--bits", str(options.bits)]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        seconds, iterations, peak = map(float, text.split())
        report.figure(f"{name}, to 0.3 % of the pot", seconds, "s")
        report.figure(f"{name}, iterations to 0.3 %", iterations, "")
        report.figure(f"{name}, peak memory, {options.bits} bits", peak, "MB")
    for name in names:
        game = SPOTS[name]().build().game
        plans = nanoseconds(game, CFR(dtype="float32"), 1)
        for bits in (32, 16):
            ours = nanoseconds(game, TableCFR(bits=bits), 1)
            report.row(f"{name}, {bits} bits, 1 thread", ours, "CFR that keeps plans", plans, "ns")
            report.row(f"{name}, {bits} bits, 1 thread", ours, "an open solver", RIVAL_NS, "ns")
        for threads in range(2, numba.config.NUMBA_NUM_THREADS + 1):
            ours = nanoseconds(game, TableCFR(), threads)
            report.figure(f"{name}, {threads} threads, per core", ours, "ns")


if __name__ == "__main__":
    main()

"""How fast are spots on a GPU, beside all cores of the same machine?

Correctness first: from the same state, an iteration on the GPU and one on the CPU must lead to the
same value and best responses. Then milliseconds per iteration, beside the CPU on a few iterations;
two threads of the CPU for the turn; and the whole way of a limit flop with all hands to 0.1 % of
the pot.

Run, on a machine with a GPU: python benchmarks/bench_gpu_spots.py [--quick] [--bits 32]
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace

import numba
import numpy as np
from harness import Report

from equilibrist.games.catalog import get_game
from equilibrist.kernels.gpu.device import has_gpu
from equilibrist.models.game import SequenceGame
from equilibrist.models.spot import Chips, Spot
from equilibrist.solving.lean_cfr import TableCFR
from equilibrist.solving.solve import Budget, solve

LIMIT = get_game("holdem-limit")
SPOTS = {
    "turn Td9d6hQc, one size": lambda: Spot.of(
        "Td9d6hQc", "random", "random", Chips(200, 900), bets="60%,a"
    ),
    "turn Td9d6hQc, raises": lambda: Spot.of(
        "Td9d6hQc", "random", "random", Chips(200, 900), bets="60%,a", raises="2.5x"
    ),
    "limit flop Ts9s6s": lambda: Spot.of("Ts9s6s", "random", "random", Chips(60), game=LIMIT),
}
CPU_STEPS = 3


def milliseconds(game: SequenceGame, solver: TableCFR, state: dict, steps: int) -> float:
    """Return the time of an iteration, after one that compiles."""
    solver.step(game, state, CPU_STEPS)
    start = time.perf_counter()
    solver.step(game, state, steps)
    return 1e3 * (time.perf_counter() - start) / steps


def check(game: SequenceGame, solver: TableCFR) -> None:
    """Check an iteration on both devices from the same state."""
    on_cpu = solver.init(game)
    solver.step(game, on_cpu, 1)
    on_gpu = {name: np.array(array) for name, array in on_cpu.items()}
    far = replace(game, backend="gpu")
    found = []
    for played, state in ((game, on_cpu), (far, on_gpu)):
        solver.step(played, state, 1)
        found.append(solver.evaluate(played, state))
    close = {"rtol": 2e-5, "atol": 1e-4} if solver.bits == 32 else {"rtol": 1e-3, "atol": 1e-2}
    np.testing.assert_allclose(found[0].value, found[1].value, **close)
    np.testing.assert_allclose(found[0].best_response, found[1].best_response, **close)


def main() -> None:
    parser = argparse.ArgumentParser(description="Spots on a GPU.")
    parser.add_argument("--quick", action="store_true", help="the turns only")
    parser.add_argument("--bits", type=int, default=32)
    options = parser.parse_args()
    if not has_gpu():
        print("spots on a GPU: there is none here")
        return
    solver, cores = TableCFR(bits=options.bits), numba.config.NUMBA_NUM_THREADS
    report = Report(f"spots on a GPU, {options.bits} bits")
    for name in list(SPOTS)[: 2 if options.quick else 3]:
        spot = SPOTS[name]()
        game = spot.build().game
        check(game, solver)
        actions, far = game.num_infoset_actions, replace(game, backend="gpu")
        ours = milliseconds(far, solver, solver.init(game), 50)
        for threads in sorted({2, cores}) if name.startswith("turn") else (cores,):
            numba.set_num_threads(threads)
            theirs = milliseconds(game, solver, solver.init(game), CPU_STEPS)
            report.row(name, ours, f"{threads} cores, {CPU_STEPS} iterations", theirs, "ms")
        report.figure(f"{name}: {actions:,} actions", 1e6 * ours / actions, "ns per action")
        if name.startswith("limit"):
            start = time.perf_counter()
            run = solve(far, solver, Budget(target=0.001 * spot.pot, every=20))
            seconds = time.perf_counter() - start
            print(f"  {int(run.state['iteration'])} iterations in {run.seconds:.1f} s")
            report.figure(f"{name}, to 0.1 % of the pot", seconds, "s")
            share = run.evaluation.exploitability / spot.pot
            report.figure(f"{name}, exploitability", 100 * share, "% of the pot")


if __name__ == "__main__":
    main()

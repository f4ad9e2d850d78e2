"""How far apart are curves of exploitability: of a GPU and the CPU, and of the CPU and itself?

A GPU adds in another order, so regrets differ by roundings of float32, and where two regrets are
close another action is played. How much of that is due to the GPU? The CPU's own curve is computed
again with each regret changed by at most one rounding after the first iteration. Differences are in
per cent of the CPU's exploitability.

Run: python benchmarks/bench_gpu_curves.py [--flops] [--seeds 4]
"""

from __future__ import annotations

import argparse
from dataclasses import replace

import numpy as np
from harness import Report
from numpy.typing import NDArray

from equilibrist.games.catalog import get_game
from equilibrist.kernels.gpu.device import has_gpu
from equilibrist.models.game import SequenceGame
from equilibrist.models.spot import Chips, Spot
from equilibrist.solving.lean_cfr import TableCFR
from equilibrist.solving.solver import State

LIMIT = get_game("holdem-limit")
RANGE = "22+,A2s+,K8s+,Q9s+,J9s+,T8s+,98s,87s,76s,65s,ATo+,KTo+,QTo+,JTo"
TURN = Spot.of("Td9d6hQc", "random", "random", Chips(200, 900), bets="60%,a")
FLOPS = {
    "rainbow limit flop Ts9d6c": Spot.of("Ts9d6c", RANGE, RANGE, Chips(60), game=LIMIT),
    "two-tone limit flop Ts9s6d": Spot.of("Ts9s6d", RANGE, RANGE, Chips(60), game=LIMIT),
}
ITERATIONS, FEW = (1, 2, 5, 10, 20, 26, 50, 100), (1, 2, 5, 10, 20)
ROUNDING = np.float32(6e-8)


def curve(
    game: SequenceGame, iterations: tuple[int, ...], seed: int | None = None
) -> NDArray[np.float64]:
    """Return the exploitability after some iterations; with a seed, regrets are changed once."""
    solver, found = TableCFR(), []
    state = solver.init(game)
    for goal in iterations:
        solver.step(game, state, goal - int(state["iteration"]))
        found.append(solver.evaluate(game, state).exploitability)
        if seed is not None and goal == 1:
            change_regrets(state, np.random.default_rng(seed))
    return np.array(found)


def change_regrets(state: State, rng: np.random.Generator) -> None:
    """Multiply each regret by one, or by one more or less a rounding."""
    for player in (0, 1):
        for name in (f"regret{player}", f"last_regret{player}"):
            state[name] *= 1 + ROUNDING * rng.integers(-1, 2, state[name].shape).astype(np.float32)


def main() -> None:
    parser = argparse.ArgumentParser(description="Curves of exploitability by device.")
    parser.add_argument("--flops", action="store_true", help="two limit flops too: 5 GB each")
    parser.add_argument("--seeds", type=int, default=4, help="of changed regrets, on the turn")
    given = parser.parse_args()
    report = Report("curves of spots by device", header="")
    for name, spot in {"turn Td9d6hQc": TURN, **(FLOPS if given.flops else {})}.items():
        game, goals = spot.build().game, ITERATIONS if spot is TURN else FEW
        whole = curve(game, goals)
        columns = [f"after {goal}" for goal in goals]
        print(f"{'':<42}" + "".join(f"{column:>12}" for column in columns))
        line = f"{name}: CPU, exploitability"
        report.line(line, dict(zip(columns, whole.tolist(), strict=True)), "chips")
        others = {}
        if has_gpu():
            others["GPU"] = curve(replace(game, backend="gpu"), goals)
        for seed in range(given.seeds if spot is TURN else 0):
            others[f"CPU, regrets changed {seed}"] = curve(game, goals, seed)
        for other, found in others.items():
            apart = 100 * (found / whole - 1)
            report.line(f"  {other}", dict(zip(columns, apart.tolist(), strict=True)), "%")


if __name__ == "__main__":
    main()

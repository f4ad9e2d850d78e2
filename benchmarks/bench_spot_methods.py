"""How many iterations do the methods need for a spot, to 0.3 % and to 0.05 % of the pot?

Correctness first: on every spot the values that two methods find differ by no more than their
exploitabilities allow. Then the first multiple of 5 iterations (of 10 from 100 on, of 20 from 400
on) after which the average strategy meets the target; and by method the geometric mean over all
spots of its iterations in units of those of CFR+. Iterations are counted, so other work on the
machine does not change the figures. The schedule of log-dcfr+ was chosen on ten other spots.

Run: python benchmarks/bench_spot_methods.py [--quick] [--spots river,turn] [--methods "dcfr|dcfr+"]
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from harness import Report
from numpy.typing import NDArray

from equilibrist.games.catalog import get_game
from equilibrist.models.game import SequenceGame
from equilibrist.models.spot import Chips, Spot
from equilibrist.solving.cfr import CFR
from equilibrist.solving.discounting import Discounting
from equilibrist.solving.lean_cfr import TABLE_METHODS, TableCFR
from equilibrist.strategies.evaluation import Evaluation

TARGETS = (0.3, 0.05)  # per cent of the pot
MOST = 1500  # iterations; a target that is not met by then counts as met there
LIMIT = get_game("holdem-limit")
FEW = ("QQ+,AK,T9s", "88-22,AQ,JTs")
WIDE = (
    "22-TT,A2s-AJs,K8s-KQs,Q9s-QJs,J8s+,T8s+,97s+,86s+,75s+,64s+,53s+,ATo-AJo,KTo-KQo,QTo+,JTo",
    "22+,A2s+,K7s+,Q8s+,J8s+,T8s+,97s+,86s+,75s+,65s,54s,A8o+,KTo+,QTo+,JTo",
)
USUAL = (
    "66+,A8s+,A5s-A4s,AJo+,K9s+,KQo,QTs+,JTs,96s+,85s+,75s+,65s,54s",
    "QQ-22,AQs-A2s,ATo+,K5s+,KJo+,Q8s+,J8s+,T7s+,96s+,86s+,75s+,64s+,53s+",
)
SETS = ("TT-22,AQs-ATs,KQs,87s,76s", "QQ-88,AK,AQs,A7s,77")
ALL = ("random", "random")


def _no_limit(
    board: str, ranges: tuple[str, str], pot: int, stack: int, bets: str, raises: str
) -> Callable[[], Spot]:
    return lambda: Spot.of(board, *ranges, Chips(pot, stack), bets=bets, raises=raises)


def _limit(
    board: str, ranges: tuple[str, str], pot: int, caps: str | None = None
) -> Callable[[], Spot]:
    return lambda: Spot.of(board, *ranges, Chips(pot), game=LIMIT, max_raises=caps)


SPOTS = {
    "river, few hands": _no_limit("Td9d6hQc2s", FEW, 200, 900, "60%,a", "2.5x"),
    "river, all hands": _no_limit("Td9d6hQc2s", ALL, 200, 900, "60%,a", "2.5x"),
    "river, four bet sizes": _no_limit("Kh8d3c5sAc", WIDE, 60, 300, "33%,75%,150%,a", "50%,a"),
    "river, limit, all hands": _limit("7s7h2d9cJh", ALL, 60),
    "turn, few hands": _no_limit("Td9d6hQc", FEW, 200, 900, "60%,a", "2.5x"),
    "turn, deep stacks": _no_limit("As7s4s2c", USUAL, 20, 600, "75%", "3x"),
    "turn, wide ranges": _no_limit("Kh8d3c5s", WIDE, 60, 470, "50%,100%", "3x"),
    "turn, limit, all hands": _limit("5c5d9hKs", ALL, 40),
    "turn, all hands": _no_limit("Td9d6hQc", ALL, 200, 900, "60%,a", "2.5x"),
    "flop, few hands": _no_limit("Td9d6h", FEW, 200, 900, "60%", "a"),
    "flop, paired": _no_limit("7s7h2h", SETS, 60, 400, "75%", "a"),
    "flop, shallow stacks": _no_limit("Kh8d3c", (SETS[1], FEW[1]), 100, 200, "50%", "a"),
    "flop, limit": _limit("Ts9s6s", USUAL, 40, "2 1 1"),
}
QUICK = 5  # spots


@dataclass(frozen=True)
class Hyperparameters(Discounting):
    """HS-DCFR (Zhang, McAleer, Sandholm 2024): exponents that change linearly up to `horizon`.

    α from 1 to 4, β from −1 to −3, and γ from 15 to 10, which discounts the old average by
    (1 − 1/t)^γ.
    """

    horizon: float = 1000.0

    def schedule(self, start: int, steps: int, prediction: float) -> NDArray[np.float64]:
        """Return rows (positive, negative, prediction, weight) of the next `steps` iterations."""
        t = np.arange(1, start + steps + 1, dtype=np.float64)
        part = np.minimum(t / self.horizon, 1)
        grown = np.zeros(len(t))
        grown[1:] = ((15 - 5 * part) * np.log(t / np.maximum(t - 1, 1)))[1:]
        weight = np.exp(np.cumsum(grown) - 15 * math.log(self.unit))
        alpha, beta = t ** (1 + 3 * part), t ** (-1 - 2 * part)
        rows = (alpha / (alpha + 1), beta / (beta + 1), np.full(len(t), prediction), weight)
        return np.stack(rows, axis=1)[start:]


METHODS = TABLE_METHODS | {
    # What the fastest open solver uses, but for restarts of the average at powers of four.
    "dcfr, γ = 3": TableCFR(CFR(Discounting(1.5, 0, 3), name="dcfr, γ = 3")),
    "hs-dcfr(15)": TableCFR(CFR(Hyperparameters(1, -1, 15, unit=64), name="hs-dcfr(15)")),
}
UNUSUAL = ("cfr", "linear-cfr")  # many iterations: only if asked for


def iterations(game: SequenceGame, solver: TableCFR, pot: int) -> tuple[list[int], Evaluation]:
    """Return the iterations to each target, and the last evaluation."""
    state, t, found = solver.init(game), 0, [MOST] * len(TARGETS)
    while t < MOST and found[-1] == MOST:
        steps = 5 if t < 100 else 10 if t < 400 else 20
        solver.step(game, state, steps)
        t += steps
        evaluation = solver.evaluate(game, state)
        percent = 100 * evaluation.exploitability / pot
        found = [
            t if percent <= target and before == MOST else before
            for target, before in zip(TARGETS, found, strict=True)
        ]
    return found, evaluation


def check(name: str, evaluations: Sequence[Evaluation]) -> None:
    """Check that values differ by no more than exploitabilities allow: each is within 2x."""
    for one in evaluations:
        for two in evaluations:
            most = 2 * (one.exploitability + two.exploitability)
            assert abs(one.value - two.value) <= most, name


def main() -> None:
    parser = argparse.ArgumentParser(description="Methods of spots.")
    parser.add_argument("--quick", action="store_true", help=f"the first {QUICK} spots only")
    parser.add_argument("--spots", default="", help="spots whose names start with one of these")
    parser.add_argument("--methods", default="", help="default: all but cfr and linear-cfr")
    options = parser.parse_args()
    methods = [part.strip() for part in options.methods.split("|") if part]
    methods = methods or [name for name in METHODS if name not in UNUSUAL]
    methods = ["cfr+", *(name for name in methods if name != "cfr+")]
    starts = tuple(options.spots.split(","))
    names = [name for name in SPOTS if name.startswith(starts)][: QUICK if options.quick else None]
    header = "".join(f"{name:>12}" for name in methods)
    report = Report("iterations of spots by method", header)
    logs: dict[str, list[list[float]]] = {name: [] for name in methods}
    for name in names:
        spot = SPOTS[name]()
        game = spot.build().game
        found = {method: iterations(game, METHODS[method], spot.pot) for method in methods}
        check(name, [evaluation for _, evaluation in found.values()])
        for i, target in enumerate(TARGETS):
            line = {method: float(counts[i]) for method, (counts, _) in found.items()}
            report.line(f"{name}, to {target} %", line, "iterations")
        for method in methods:
            ratio = np.divide(found[method][0], found["cfr+"][0])
            logs[method].append(np.log(ratio).tolist())
    for i, target in enumerate(TARGETS):
        means = {name: float(np.exp(np.mean([row[i] for row in logs[name]]))) for name in methods}
        report.line(f"of CFR+, geometric mean, to {target} %", means, "")


if __name__ == "__main__":
    main()

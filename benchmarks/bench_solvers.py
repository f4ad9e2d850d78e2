"""How fast is an iteration of CFR+, by itself and beside OpenSpiel's in C++?

Correctness first. OpenSpiel's solver and ours do the same arithmetic (alternating updates, averages
weighted by t), so after the same iterations the best responses to both averages must be equal; they
are, to 12 digits. OpenSpiel uses one thread and distinguishes all cards, as we do in the first row
of a game; in the second row equivalent cards are merged. In hold'em iterations cannot be compared
like this: where two actions are worth the same, rounding decides which one regret matching takes.
There games of few cards must have the linear program's value, and Rhode Island one between proven
bounds.

The second game beside OpenSpiel is Leduc with 24 cards and six raises per round: 100,800
information sets, as both programs count. (OpenSpiel walks histories: twelve cards with two in each
hand and three on the board do not finish an iteration in four minutes.)

Run: python benchmarks/bench_solvers.py [--quick]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import numba
import numpy as np
import pyspiel
from harness import Report, best_seconds

from equilibrist.games.catalog import get_game
from equilibrist.games.rules import GameRules
from equilibrist.models.exact import exact_game
from equilibrist.models.game import SequenceGame
from equilibrist.solving.best_response import evaluate
from equilibrist.solving.cfr import CFR
from equilibrist.solving.linear_program import LinearProgram
from equilibrist.solving.solve import Budget, solve
from equilibrist.strategies.evaluation import Evaluation
from equilibrist.strategies.openspiel import from_openspiel, openspiel_game

LEDUC_VALUE = -0.085606424078
RHODE_ISLAND_VALUE = (-0.657666, -0.655497)  # proven by best responses of another solution
RHODE_ISLAND_TARGET = 0.01  # chips
DTYPES = ("float32", "float64")


def leduc(suits: int, ranks: int, raises: int) -> GameRules:
    """Return Leduc with another deck and other raise caps."""
    name = f"Leduc {suits}×{ranks}, {raises} raises"
    rules = get_game("leduc")
    return replace(rules, name=name, num_suits=suits, num_ranks=ranks, max_raises=(raises, raises))


def holdem(suits: int, ranks: int, raises: int = 1) -> GameRules:
    """Return a game with two hole cards, a round, a flop and another round."""
    name = f"holdem {suits}×{ranks}, {raises} raises"
    return replace(
        get_game("holdem-limit"), name=name, num_suits=suits, num_ranks=ranks,
        raise_sizes=(10, 20), max_raises=(raises, raises), first_players=(1, 0),
        num_board_cards=(0, 3), discards=(),
    )  # fmt: skip


@contextmanager
def one_thread() -> Iterator[None]:
    threads = numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        yield
    finally:
        numba.set_num_threads(threads)


def after(game: SequenceGame, solver: CFR, iterations: int) -> Evaluation:
    """Return the best responses to the average after some iterations."""
    state = solver.init(game)
    solver.step(game, state, iterations)
    return evaluate(game, solver.plans(game, state))


def seconds_per_iteration(game: SequenceGame, solver: CFR, iterations: int) -> float:
    state = solver.init(game)
    return best_seconds(lambda: solver.step(game, state, iterations), repeats=5) / iterations


def assert_equal(found: Evaluation, expected: Evaluation, tolerance: float) -> None:
    ours = (found.value, *found.best_response)
    theirs = (expected.value, *expected.best_response)
    np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)


# --- beside OpenSpiel -----------------------------------------------------------------------------


def check_leduc() -> None:
    game = exact_game(get_game("leduc"))
    run = solve(game, CFR(), Budget(target=1e-6, iterations=1_000_000))
    assert abs(run.evaluation.value - LEDUC_VALUE) < 2e-6


def beside_openspiel(report: Report, rules: GameRules, theirs: int, ours: int) -> None:
    """Time iterations of both solvers, after a check that their strategies are the same."""
    solver = pyspiel.CFRPlusSolver(openspiel_game(rules))
    solver.evaluate_and_update_policy()
    start = time.perf_counter()
    for _ in range(theirs):
        solver.evaluate_and_update_policy()
    seconds = (time.perf_counter() - start) / theirs
    apart, merged = exact_game(rules, symmetry="cards"), exact_game(rules)
    assert len(solver.tabular_average_policy().policy_table()) == apart.num_infosets
    expected = evaluate(apart, from_openspiel(apart, solver.average_policy()))
    assert_equal(after(apart, CFR(), theirs + 1), expected, 1e-9)
    assert_equal(after(merged, CFR(), theirs + 1), expected, 1e-9)
    for game, what in ((apart, ""), (merged, " merged")):
        name = f"{rules.name}, {game.num_infosets:,}{what} infosets"
        with one_thread():
            taken = seconds_per_iteration(game, CFR(), ours)
        report.row(name, taken * 1e6, "OpenSpiel C++ CFR+", seconds * 1e6, "µs")


# --- throughput -----------------------------------------------------------------------------------


def check_holdem() -> None:
    """Check on few cards that the value agrees with the linear program's."""
    game = exact_game(holdem(2, 4))
    exact = LinearProgram("clarabel").solve(game)
    for dtype in DTYPES:
        found = after(game, CFR(dtype=dtype), 1_000)
        assert abs(found.value - exact.value) <= found.nash_conv + exact.certificate.nash_conv
        assert found.nash_conv < 0.01


def check_rounding(game: SequenceGame, bounds: tuple[float, float]) -> None:
    """Check that the proven bounds of player 0's value agree in both precisions."""
    found = [after(game, CFR(dtype=dtype), 10).best_response for dtype in DTYPES]
    most = min(bounds[1], *(first for first, _ in found))
    least = max(bounds[0], *(-second for _, second in found))
    assert least <= most, (found, bounds)


def throughput(report: Report, game: SequenceGame, iterations: int) -> None:
    """Return nanoseconds of one core per action of an information set and iteration."""
    for dtype in DTYPES:
        seconds = seconds_per_iteration(game, CFR(dtype=dtype), iterations)
        name = f"{game.name}, {dtype}"
        report.figure(f"{name}: an iteration", seconds * 1e3, "ms")
        nanoseconds = seconds * 1e9 * numba.get_num_threads() / game.num_infoset_actions
        report.figure(f"{name}: an infoset-action", nanoseconds, "ns a core")


def solve_rhode_island(report: Report, game: SequenceGame) -> None:
    """Return seconds of iterations until best responses, in float64, win at most the target."""
    run = solve(
        game, CFR(dtype="float32"), Budget(target=RHODE_ISLAND_TARGET, iterations=10_000, every=100)
    )
    assert run.evaluation.exploitability <= RHODE_ISLAND_TARGET
    low, high = RHODE_ISLAND_VALUE
    assert low - 2 * RHODE_ISLAND_TARGET < run.evaluation.value < high + 2 * RHODE_ISLAND_TARGET
    name = f"{game.name}, float32: to {RHODE_ISLAND_TARGET} chips"
    report.figure(name, run.seconds, "s")


def main() -> None:
    parser = argparse.ArgumentParser(description="CFR+ by itself and beside OpenSpiel's.")
    parser.add_argument("--quick", action="store_true", help="small games only")
    quick = parser.parse_args().quick
    check_leduc()
    check_holdem()
    report = Report("solvers")
    beside_openspiel(report, replace(get_game("leduc"), name="Leduc"), theirs=20, ours=10_000)
    large = leduc(2, 6, raises=2) if quick else leduc(4, 6, raises=6)
    beside_openspiel(report, large, theirs=2, ours=20)
    report = Report("sweeps, all cores", header="")
    game = exact_game(holdem(2, 6, raises=3) if quick else holdem(4, 6, raises=3))
    check_rounding(game, (-np.inf, np.inf))
    throughput(report, game, 10)
    if quick:
        return
    game = exact_game(get_game("rhode-island"))
    check_rounding(game, RHODE_ISLAND_VALUE)
    throughput(report, game, 10)
    solve_rhode_island(report, game)


if __name__ == "__main__":
    main()

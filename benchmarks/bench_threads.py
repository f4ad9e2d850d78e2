"""How much faster do several threads make the work that takes users minutes?

Correctness first: every number of threads must return the numbers of one thread. Then, for each
kind of work, seconds, the speed-up over one thread, the efficiency (speed-up by number of threads),
the share of the ceiling, and how many cores were busy (seconds of processor by seconds): a flop
spot, a turn spot, a game of buckets, joint counts, and best responses in the real game to a
strategy of buckets and to one that sees no cards. Ceilings are the speed-ups of work that shares
nothing: additions in registers; small river spots that threads solve apart, each in the cache of
its core; and a pass through arrays that are larger than the caches. They say what the machine
lacks, for instance if two processors are one core, or if its memory is busy. Cards
of the bot of buckets are those of a smaller deck, so that abstraction takes seconds. Rows are
appended to `results.jsonl` like those of other benchmarks, and with --lines printed as JSON.

Run: python benchmarks/bench_threads.py [--threads 1,2,4,8,16] [--only turn,joint] [--lines]
"""

from __future__ import annotations

import argparse
import functools
import itertools
import json
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, NamedTuple

import numba
import numpy as np
from harness import Report

from equilibrist.abstraction.buckets import Abstraction
from equilibrist.abstraction.features import Strengths
from equilibrist.abstraction.joint_counts import Joint, joint
from equilibrist.abstraction.recipes.percentile import percentile
from equilibrist.abstraction.streets import Streets
from equilibrist.bots.open import open_strategy
from equilibrist.evaluation.real_game.run import open_or_start, responses_to, run_flops, stratified
from equilibrist.games.bet_menu import BetMenu
from equilibrist.games.betting_tree import BettingTree
from equilibrist.games.catalog import get_game
from equilibrist.kernels.cpu.sequence_form import normalize
from equilibrist.kernels.parts import kernel
from equilibrist.kernels.threads import product_threads, use_threads
from equilibrist.models.bucketed import bucket_game, bucket_tree
from equilibrist.models.spot import Chips, Spot
from equilibrist.solving.best_response import evaluate
from equilibrist.solving.cfr import CFR
from equilibrist.solving.lean_cfr import TableCFR
from equilibrist.strategies.played import (
    BucketColumns,
    IdentifiedStrategy,
    TableStrategy,
)

USUAL = (
    "66+,A8s+,A5s-A4s,AJo+,K9s+,KQo,QTs+,JTs,96s+,85s+,75s+,65s,54s",
    "QQ-22,AQs-A2s,ATo+,K5s+,KJo+,Q8s+,J8s+,T7s+,96s+,86s+,75s+,64s+,53s+",
)
LIMIT = get_game("holdem-limit")
SMALL = replace(LIMIT, name="hold'em with 28 cards", num_ranks=7)
BUCKETS = (5, 25, 125, 625)
WIDE = (20, 200, 1200, 3600)  # buckets of the game that is solved; its counts are random
CAPS, FEW_CAPS = "2 2 2 2", "1 1 1 1"  # raises, and those that the random bot knows
HEADER = "".join(
    f"{name:>12}"
    for name in ("threads", "seconds", "speed-up", "efficiency", "of ceiling", "cores busy")
)
CEILING = "ceiling: river spots apart"
PIECES = 64  # of work that threads do apart


class Work(NamedTuple):
    """One kind of work: `run` takes what `prepare` returns and a number of threads."""

    prepare: Callable[[], Any]
    run: Callable[[Any, int], Any]
    numbers: Callable[[Any, Any], list[np.ndarray]]  # of a result, to compare


@kernel
def add_up(first: int, times: int) -> float:
    """Add and multiply in registers."""
    a, b, c, d = first + 0.1, first + 0.2, first + 0.3, first + 0.4
    for _ in range(times):
        a, b, c, d = a * 0.9 + 0.1, b * 0.9 + 0.1, c * 0.9 + 0.1, d * 0.9 + 0.1
    return a + b + c + d


@kernel
def pass_through(numbers: np.ndarray) -> None:
    """Read and write every number of an array once."""
    for i in range(len(numbers)):
        numbers[i] += np.float32(1)


def large_arrays() -> list[np.ndarray]:
    """Allocate arrays that together are larger than all caches: 2 GiB."""
    arrays = [np.zeros(1 << 23, np.float32) for _ in range(PIECES)]
    for array in arrays:
        pass_through(array)
    return arrays


def apart(run: Callable[[int], Any], threads: int) -> list[Any]:
    """Run pieces of work by threads that share nothing."""
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(run, range(PIECES)))


def river() -> Any:
    """Build a river spot of all hands, which fits into the cache of a core."""
    return spot("Td9d6hQc2s", ("random", "random"), "60%,a")


def spot(board: str, ranges: tuple[str, str], bets: str) -> Any:
    """Build a spot and compile its kernels."""
    chips = Chips(pot=200, stack=900)
    game, solver = Spot.of(board, *ranges, chips, bets=bets, raises="2.5x").build().game, TableCFR()
    solver.step(game, solver.init(game), 1)
    return game, solver


def iterate(prepared: Any, steps: int) -> Any:
    """Run iterations from the start."""
    game, solver = prepared
    state = solver.init(game, 0)
    solver.step(game, state, steps)
    return state


def tables(prepared: Any, state: Any) -> list[np.ndarray]:
    """Return the arrays of a state: the number of threads does not change them."""
    return list(state.values())


def best_responses(prepared: Any, state: Any) -> list[np.ndarray]:
    """Return the winnings of best responses: sums in another order change single near ties."""
    game, solver = prepared
    return [np.array(evaluate(game, solver.plans(game, state)).best_response)]


class RandomBuckets(NamedTuple):
    """Nested buckets of equal sizes."""

    rules: Any
    num_buckets: tuple[int, ...]
    parents: tuple[np.ndarray, ...]


def wide_game() -> Any:
    """Build a game of many buckets with random counts, in which products of matrices take long."""
    parents = [np.zeros(WIDE[0], np.int32)]
    for before, now in itertools.pairwise(WIDE):
        parents.append((np.arange(now) * before // now).astype(np.int32))
    rng, last = np.random.default_rng(0), WIDE[-1]
    wins = rng.random((last, last))
    counts = Joint(wins, np.ones((last, last)), np.ascontiguousarray(wins.T))
    buckets = RandomBuckets(LIMIT, WIDE, tuple(parents))
    game = bucket_game(buckets, counts, BetMenu.parse(None, None, CAPS))
    solver = CFR(dtype="float32")
    solver.step(game, solver.init(game, 0), 1)
    return game, solver


@functools.cache
def small_buckets() -> Abstraction:
    """Cut the hands of the smaller deck into buckets."""
    return percentile(Strengths.of(Streets.of(SMALL)), BUCKETS)


def counts(buckets: Abstraction) -> list[np.ndarray]:
    """Return exact joint counts."""
    found = joint(buckets)
    return [found.wins, found.ties]


def random_bot() -> tuple[Any, ...]:
    """Return responses to a random strategy of buckets, and flops."""
    buckets, real = small_buckets(), BettingTree.build(SMALL)
    betting = BettingTree.build(SMALL, BetMenu.parse(None, None, FEW_CAPS))
    trees = bucket_tree(betting, 0, buckets), bucket_tree(betting, 1, buckets)
    rng, behaviour = np.random.default_rng(0), []
    for tree in trees:
        numbers = rng.random(int(tree.block_start[-1]))
        behaviour.append(np.empty_like(numbers))
        normalize(tree, numbers, behaviour[-1])
    strategy = TableStrategy(real, betting, trees, tuple(behaviour), BucketColumns(buckets))
    return responses(IdentifiedStrategy("random", strategy, "random"), 64)


def responses(named: IdentifiedStrategy, flops: int) -> tuple[Any, ...]:
    """Return responses to a strategy, and a sample of flops, with kernels compiled."""
    found = responses_to(named)
    run = open_or_start(named, found, None)
    for response in found:
        response.turn_values((*run.flops.boards[0].tolist(), 51))
    return named, found, stratified(run.flops, flops)


def respond(prepared: tuple[Any, ...], threads: int) -> list[np.ndarray]:
    """Compute both best responses on the flops."""
    named, found, chosen = prepared
    run = open_or_start(named, found, None)
    run_flops(run, found, chosen, threads=threads)
    return [values[chosen] for values in run.values]


WORKS = {
    "ceiling: registers": Work(
        lambda: add_up(0, 10),
        lambda _, threads: apart(lambda piece: add_up(piece, 5_000_000), threads),
        lambda _, found: [np.array(found)],
    ),
    CEILING: Work(
        river,
        lambda it, threads: apart(lambda _: iterate(it, 250)["last_regret0"][:99], threads),
        lambda _, found: found,
    ),
    "ceiling: memory": Work(
        large_arrays,
        lambda it, threads: apart(lambda piece: pass_through(it[piece]), threads),
        lambda it, _: [np.array([array[-1] == array[0] for array in it])],
    ),
    "flop spot": Work(lambda: spot("Td9d6h", USUAL, "60%"), lambda it, _: iterate(it, 5), tables),
    "turn spot": Work(
        lambda: spot("Td9d6hQc", ("random", "random"), "60%,a"),
        lambda it, _: iterate(it, 150),
        tables,
    ),
    "bucket game": Work(wide_game, lambda it, _: iterate(it, 8), best_responses),
    "joint counts": Work(small_buckets, lambda it, _: counts(it), lambda _, found: found),
    "best response to buckets": Work(random_bot, respond, lambda _, found: found),
    "card-blind best response": Work(
        lambda: responses(open_strategy("mix:0.1,0.6,0.3"), 32), respond, lambda _, found: found
    ),
}


def check(truth: list[np.ndarray], found: list[np.ndarray]) -> None:
    """Check that results agree."""
    for one, other in zip(truth, found, strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-3, atol=1e-6)


def measured(work: Work, prepared: Any, threads: int) -> tuple[float, float, Any]:
    """Return the seconds of a run, the cores that were busy, and its result."""
    use_threads(threads)
    start, used = time.perf_counter(), time.process_time()
    found = work.run(prepared, threads)
    seconds = time.perf_counter() - start
    return seconds, (time.process_time() - used) / seconds, found


def main() -> None:
    parser = argparse.ArgumentParser(description="Threads.")
    parser.add_argument("--threads", default="1,2", help="numbers of threads, from 1 on")
    parser.add_argument("--only", default="", help="works whose names contain one of these")
    parser.add_argument("--lines", action="store_true", help="also print rows as JSON lines")
    options = parser.parse_args()
    numbers = [int(text) for text in options.threads.split(",")]
    available = len(os.sched_getaffinity(0))
    if numbers[0] != 1 or max(numbers) > numba.config.NUMBA_NUM_THREADS:
        parser.error(f"--threads starts with 1 and ends at {numba.config.NUMBA_NUM_THREADS} here")
    if product_threads() is None:
        print("the number of threads of NumPy's products is not known here: they use their own")
    report = Report(f"threads, {available} cores available", HEADER)
    ceiling: dict[int, float] = {}  # speed-up of work apart, by number of threads
    for name, work in WORKS.items():
        if not any(part in name for part in options.only.split(",")):
            continue
        start = time.perf_counter()
        prepared = work.prepare()
        print(f"{name}: prepared in {time.perf_counter() - start:.1f} s", flush=True)
        single, truth = 0.0, None
        work.run(prepared, max(numbers))  # compiles the rest
        for threads in numbers:
            seconds, busy, found = measured(work, prepared, threads)
            own = work.numbers(prepared, found)
            truth = own if truth is None else truth
            check(truth, own)
            single = single or seconds
            if name == CEILING:
                ceiling[threads] = single / seconds
            line = {
                "threads": float(threads),
                "seconds": seconds,
                "speed-up": single / seconds,
                "efficiency": single / seconds / threads,
                "of ceiling": single / seconds / ceiling[threads] if ceiling else None,
                "cores busy": busy,
            }
            report.line(f"{name}, {threads} threads", line, "")
            if options.lines:
                print(json.dumps({"work": name, **line, **report.stamp}), flush=True)


if __name__ == "__main__":
    main()

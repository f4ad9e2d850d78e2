"""How long does an iteration on a game of many buckets take, by CFR+ and by the excessive gap?

The game is that of a bot whose buckets and counts are there (`equilibrist train` makes them and can
be stopped then). Correctness first: on a few rows of a plan, the product that skips zeros is
the dense one. The rival of skipping zeros is the same machine's BLAS, on the plan that CFR+ has
after its iterations.

Run: python benchmarks/bench_gs3.py [--bot gs3-small] [--iterations 10] [--egt 1]
"""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np
from harness import Report

from equilibrist.bots.bot import BUCKETS, COUNTS
from equilibrist.bots.registry import get_bucket_bot
from equilibrist.games.bet_menu import BetMenu
from equilibrist.kernels.treeplex import block
from equilibrist.models.game import SequenceGame
from equilibrist.models.products import product
from equilibrist.solving.methods import get_method
from equilibrist.strategies.description import BucketDescription


def last_product(game: SequenceGame, plan: np.ndarray) -> tuple[float, float]:
    """Return seconds of the last round's showdown product, with zeros skipped and dense."""
    last = len(game.trees[1].num_sequences) - 1
    chips, matrix = game.stakes[last][1].astype(plan.dtype), game.matrices(last)[1]
    matrix = matrix.astype(plan.dtype, copy=False)
    left = chips[np.diff(chips.indptr) > 0] @ block(game.trees[1], last, last, plan)
    some, exact = product(left[:64], matrix, is_transposed=True), left[:64] @ matrix.T
    assert np.abs(some - exact).max() <= 1e-4 * np.abs(exact).max()
    times = []
    for multiply in (lambda: product(left, matrix, is_transposed=True), lambda: left @ matrix.T):
        start = time.perf_counter()
        multiply()
        times.append(time.perf_counter() - start)
    return times[0], times[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bot", default="gs3-small")
    parser.add_argument("--iterations", type=int, default=10)
    parser.add_argument("--egt", type=int, default=1)
    given = parser.parse_args()
    bot = get_bucket_bot(given.bot)
    menu = BetMenu.parse(None, None, bot.max_raises)
    game = BucketDescription.of(bot.folder / BUCKETS, bot.folder / COUNTS, menu).build()
    report = Report(f"{given.bot}: {game.name}", header="")
    for name, steps in (("cfr+", given.iterations), ("egt", given.egt)):
        if not steps:
            continue
        solver = get_method(name, bot.dtype)
        start = time.perf_counter()
        state = solver.init(game)
        solver.step(game, state, 1)
        report.figure(f"{name}: set up and run one iteration", time.perf_counter() - start, "s")
        start = time.perf_counter()
        solver.step(game, state, steps)
        report.figure(f"{name}: an iteration", (time.perf_counter() - start) / steps, "s")
        if name == "cfr+":
            skipping, dense = last_product(game, state["plan1"])
            report.row("a product, skipping zeros", skipping, "dense, by BLAS", dense, "s")
        del state
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    report.figure("memory at the peak", peak, "GiB")


if __name__ == "__main__":
    main()

"""How soon does a GPU solve a game of buckets to its bot's target, by CFR+ and by excessive gaps?

Buckets and joint counts are computed first, on the CPU, which takes minutes for `gs3`; with
`--stride N` only every Nth board of the turn is counted. Correctness next: a gradient on the GPU is
that of the CPU. The rival is the same machine's cores, on a few iterations of CFR+. `CUPY_TF32=1`
multiplies in tf32 instead of float32; evaluations are in float64 in any case.

Run: python benchmarks/bench_gpu_buckets.py [--bot gs3] [--stride 8] [--seconds 300]
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace

import numpy as np
from harness import Report

from equilibrist.abstraction.joint_counts import joint, sampled_joint
from equilibrist.abstraction.recipes import build
from equilibrist.bots.bot import BucketBot
from equilibrist.bots.registry import get_bucket_bot
from equilibrist.games.bet_menu import BetMenu
from equilibrist.games.catalog import load_game
from equilibrist.kernels.gpu.memory import download
from equilibrist.models.bucketed import bucket_game
from equilibrist.models.game import SequenceGame
from equilibrist.solving.methods import get_method
from equilibrist.solving.solve import Budget, Run, solve


def make_game(bot: BucketBot, stride: int, report: Report) -> SequenceGame:
    """Compute a bot's buckets and joint counts, on every `stride`th board, and build its game."""
    start = time.perf_counter()
    buckets = build(bot.recipe, load_game(bot.game), list(bot.buckets))
    report.figure("buckets", time.perf_counter() - start, "s")
    start = time.perf_counter()
    if bot.boards is None:
        counts = joint(buckets, boards=np.arange(0, len(buckets.streets[-2].boards), stride))
    else:
        counts = sampled_joint(buckets, num_boards=bot.boards)
    report.figure(f"counts, one of {stride} boards", time.perf_counter() - start, "s")
    start = time.perf_counter()
    game = bucket_game(buckets, counts, BetMenu.parse(None, None, bot.max_raises))
    report.figure("game", time.perf_counter() - start, "s")
    return game


def check_gradient(game: SequenceGame, gpu: SequenceGame) -> None:
    """Compare a gradient in float32 on the GPU with that of the CPU; also copies the matrices."""
    plan = game.realize(1, game.uniform(1, np.float32))
    truth = game.gradient(0, plan)
    found = download(gpu.gradient(0, np.asarray(plan, like=gpu.prototype)))
    assert np.abs(found - truth).max() <= 1e-6 * np.abs(truth).max()


def race(game: SequenceGame, method: str, dtype: str, budget: Budget) -> Run:
    """Solve a game and print the curve of its NashConv."""
    start = time.perf_counter()

    def watch(run: Run) -> None:
        if run.trace and run.trace[-1].iteration == int(run.state["iteration"]):
            row = run.trace[-1]
            print(
                f"  {method} {row.iteration:>5}  {row.seconds:8.2f} s  with evaluations "
                f"{time.perf_counter() - start:8.2f} s  NashConv {row.evaluation.nash_conv:.5g}",
                flush=True,
            )

    return solve(game, replace(get_method(method), dtype=dtype), budget, watch=watch)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bot", default="gs3")
    parser.add_argument("--stride", type=int, default=1, help="count every Nth board of the turn")
    parser.add_argument("--seconds", type=float, default=300, help="of each method")
    parser.add_argument("--iterations", type=int, default=3, help="of the rival")
    given = parser.parse_args()
    bot = get_bucket_bot(given.bot)
    report = Report(f"{given.bot} on a GPU", header="")
    game = make_game(bot, given.stride, report)
    gpu = game.on("gpu")
    check_gradient(game, gpu)
    target = bot.target * load_game(bot.game).big_blind / 1000
    found = {}
    for method, dtype, every in (("cfr+", "float32", 25), ("egt", "float64", 20)):
        budget = Budget(target=target, seconds=given.seconds, every=every)
        run = race(gpu, method, dtype, budget)
        iterations = int(run.state["iteration"])
        words = f"{method} {dtype}: {run.outcome.name.lower()}"
        report.figure(f"{words}, {iterations} iterations", run.seconds, "s")
        found[method] = run.seconds / iterations
        run.state.clear()
    run = race(game, "cfr+", "float32", Budget(iterations=given.iterations))
    theirs = run.seconds / given.iterations
    report.row("an iteration of CFR+", found["cfr+"], "the cores, first iterations", theirs, "s")


if __name__ == "__main__":
    main()

"""How soon does a GPU solve a game of buckets to its bot's target, by CFR+ and by excessive gaps?

Buckets and joint counts are made first, on the CPU, as `equilibrist train` makes them, and kept in
`--folder`: minutes for `gs3`. Correctness next: a gradient on the GPU is that of the CPU. The rival
is the same machine's cores, on a few iterations of CFR+ (`--iterations 0` leaves it out).
`CUPY_TF32=1` multiplies in tf32 instead of float32; evaluations are in float64 in any case.

Run: python benchmarks/bench_gpu_buckets.py [--bot gs3] [--folder bots/gs3] [--curve curve.csv]
"""

from __future__ import annotations

import argparse
import contextlib
import time
from dataclasses import replace
from pathlib import Path
from typing import TextIO

import numpy as np
from harness import Report

from equilibrist.bots.bot import BUCKETS, COUNTS, BucketBot
from equilibrist.bots.registry import get_bucket_bot
from equilibrist.bots.training import count_deals, make_buckets
from equilibrist.games.bet_menu import BetMenu
from equilibrist.games.catalog import load_game
from equilibrist.kernels.gpu.memory import download
from equilibrist.models.game import SequenceGame
from equilibrist.solving.methods import get_method
from equilibrist.solving.solve import Budget, Run, solve
from equilibrist.strategies.description import BucketDescription

TYPES = {"cfr+": ("float32", 25), "egt": ("float64", 20)}  # and iterations between evaluations


def make_parts(bot: BucketBot, folder: Path, report: Report) -> None:
    """Make a bot's buckets and joint counts in a folder, unless they are there."""
    start = time.perf_counter()
    buckets = make_buckets(load_game(bot.game), bot.recipe, bot.buckets, folder)
    report.figure("buckets, made and written", time.perf_counter() - start, "s")
    start, shown = time.perf_counter(), [0.0]

    def progress(share: float) -> None:
        if share >= shown[0] + 0.1:
            shown[0] = share
            seconds = time.perf_counter() - start
            print(f"  counting {share:.0%} after {seconds:.0f} s", flush=True)

    count_deals(bot, folder, buckets, progress=progress)
    report.figure("joint counts, made and written", time.perf_counter() - start, "s")


def open_game(bot: BucketBot, folder: Path, report: Report) -> SequenceGame:
    """Open a bot's parts and build its game."""
    start = time.perf_counter()
    menu = BetMenu.parse(None, None, bot.max_raises)
    game = BucketDescription.of(folder / BUCKETS, folder / COUNTS, menu).build()
    report.figure("game, opened and summed", time.perf_counter() - start, "s")
    return game


def check_gradient(game: SequenceGame, gpu: SequenceGame, report: Report) -> None:
    """Compare a gradient in float32 on the GPU with that of the CPU; also copies the matrices."""
    plan = game.realize(1, game.uniform(1, np.float32))
    truth = game.gradient(0, plan)
    found = download(gpu.gradient(0, np.asarray(plan, like=gpu.prototype)))
    error = float(np.abs(found - truth).max() / np.abs(truth).max())
    report.figure("a gradient on both: largest difference", error, "of its largest number")
    assert error <= 1e-6


def race(
    game: SequenceGame, method: str, dtype: str, budget: Budget, curve: TextIO | None, unit: float
) -> Run:
    """Solve a game and print the curve of its NashConv, in small bets; `unit` is one in chips."""
    start = time.perf_counter()

    def watch(run: Run) -> None:
        if run.trace and run.trace[-1].iteration == int(run.state["iteration"]):
            row, total = run.trace[-1], time.perf_counter() - start
            gap = row.evaluation.nash_conv / unit
            print(
                f"  {method} {row.iteration:>5}  {row.seconds:8.2f} s  with evaluations "
                f"{total:8.2f} s  NashConv {gap:.5g} sb/h",
                flush=True,
            )
            if curve is not None:
                curve.write(f"{method},{row.iteration},{row.seconds:.3f},{total:.3f},{gap:.6g}\n")
                curve.flush()

    return solve(game, replace(get_method(method), dtype=dtype), budget, watch=watch)


def seconds_on_cpu(game: SequenceGame, method: str, dtype: str, steps: int) -> float:
    """Return the time of an iteration on the CPU, after the first."""
    solver = replace(get_method(method), dtype=dtype)
    state = solver.init(game)
    solver.step(game, state, 1)
    start = time.perf_counter()
    solver.step(game, state, steps)
    return (time.perf_counter() - start) / steps


def main() -> None:
    parser = argparse.ArgumentParser(description="Games of buckets on a GPU.")
    parser.add_argument("--bot", default="gs3")
    parser.add_argument("--folder", type=Path, help="of the parts; default: the bot's")
    parser.add_argument("--parts-only", action="store_true", help="no solving")
    parser.add_argument("--seconds", type=float, default=300, help="of each method")
    parser.add_argument("--iterations", type=int, default=2, help="of the rival; 0: none")
    parser.add_argument("--methods", default="cfr+,egt")
    parser.add_argument("--curve", type=Path, help="file for the points of both curves")
    given = parser.parse_args()
    bot = get_bucket_bot(given.bot)
    folder = given.folder or bot.folder
    report = Report(f"{given.bot} on a GPU", header="")
    make_parts(bot, folder, report)
    if given.parts_only:
        return
    game = open_game(bot, folder, report)
    start = time.perf_counter()
    gpu = game.on("gpu")
    check_gradient(game, gpu, report)
    report.figure("matrices to the GPU, a gradient on both", time.perf_counter() - start, "s")
    rules = load_game(bot.game)
    target, unit = bot.target * rules.big_blind / 1000, float(rules.big_blind)
    found: dict[str, float] = {}
    with contextlib.ExitStack() as files:
        curve = files.enter_context(given.curve.open("w")) if given.curve else None
        if curve is not None:
            curve.write("method,iteration,seconds,seconds_with_evaluations,nash_conv\n")
        for method in given.methods.split(","):
            dtype, every = TYPES[method]
            budget = Budget(target=target, seconds=given.seconds, every=every)
            begin = time.perf_counter()
            run = race(gpu, method, dtype, budget, curve, unit)
            words = f"{method} {dtype}: {run.outcome.name.lower()}"
            iterations = int(run.state["iteration"])
            report.figure(f"{words}, {iterations} iterations", run.seconds, "s")
            total = time.perf_counter() - begin
            report.figure(f"{method}: with start and evaluations", total, "s")
            found[method] = run.seconds / iterations
            run.state.clear()
    if given.iterations and "cfr+" in found:
        theirs = seconds_on_cpu(game, "cfr+", TYPES["cfr+"][0], given.iterations)
        report.row("cfr+: an iteration", found["cfr+"], "all cores, first ones", theirs, "s")


if __name__ == "__main__":
    main()

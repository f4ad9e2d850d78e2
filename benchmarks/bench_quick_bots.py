"""Which buckets, raises and iterations of CFR+ give the least exploitable bot in ten minutes?

Trains one bot and measures its average plans in hold'em itself after some iterations, always on the
same flops, with the seconds of every step. Correctness first: on twenty cards the measurement of a
plan must be that of the opponent of CFR-BR, which is another program.

Run: python benchmarks/bench_quick_bots.py --recipe percentile --buckets 8,64,512,4096
     --max-raises "3 4 4 4" --boards 40000 --iterations 20,50,100,200 --flops 40 --folder DIR
"""

from __future__ import annotations

import argparse
import os
import time
from dataclasses import replace
from pathlib import Path

import numba
from harness import Report

from equilibrist.abstraction.joint_counts import joint
from equilibrist.abstraction.recipes import build
from equilibrist.bots import training
from equilibrist.bots.bot import BUCKETS, COUNTS, BucketBot
from equilibrist.evaluation.real_game.measure import RealGameMeasure
from equilibrist.evaluation.real_game.opponent import FlopOpponent
from equilibrist.games.bet_menu import BetMenu
from equilibrist.games.catalog import get_game
from equilibrist.models.bucketed import bucket_game
from equilibrist.solving.best_response import evaluate
from equilibrist.solving.cfr import CFR
from equilibrist.solving.methods import get_method
from equilibrist.strategies.description import BucketDescription

_COLUMNS = ("seconds of CFR+", "seconds of measuring", "within its buckets", "real")


def check() -> None:
    """Check the measurement of both programs with nine cards, on all flops."""
    deck = replace(
        get_game("holdem-limit"), name="nine", num_ranks=3, num_suits=3, max_raises=(1, 1, 1, 1)
    )
    buckets = build("percentile", deck, [2, 2, 4, 4])
    game = bucket_game(buckets, joint(buckets))
    assert game.betting is not None
    solver = CFR()
    state = solver.init(game)
    solver.step(game, state, 20)
    plans = solver.plans(game, state)
    found = RealGameMeasure(game.betting, buckets).evaluate(plans).exploitability
    expected = FlopOpponent(game.betting, buckets, None).evaluate(plans).exploitability
    assert abs(found - expected) < 1e-4 * expected, (found, expected)


def main() -> None:
    parser = argparse.ArgumentParser(description="Bots that are trained in minutes.")
    parser.add_argument("--recipe", default="percentile")
    parser.add_argument("--buckets", default="8,64,512,4096")
    parser.add_argument("--max-raises", default="3 4 4 4")
    parser.add_argument("--boards", type=int, default=40_000)
    parser.add_argument("--iterations", default="20,50,100,200")
    parser.add_argument("--flops", type=int, default=40)
    parser.add_argument("--folder", type=Path, required=True)
    options = parser.parse_args()
    check()
    numbers = tuple(map(int, options.buckets.split(",")))
    bot = BucketBot(
        "quick", "", recipe=options.recipe, buckets=numbers, max_raises=options.max_raises,
        target=1.0, boards=options.boards,
    )  # fmt: skip
    title = f"{bot.recipe} {options.buckets}, raises {bot.max_raises}, {bot.boards:,} boards"
    report = Report(title, "".join(f"{name:>22}" for name in _COLUMNS))
    rules, unit = get_game(bot.game), 1000 / get_game(bot.game).big_blind  # mbb per chip
    start = time.perf_counter()
    buckets = training.make_buckets(rules, bot.recipe, numbers, options.folder)
    report.figure("buckets", time.perf_counter() - start, "s")
    start = time.perf_counter()
    training.count_deals(bot, options.folder, buckets)
    report.figure("counts", time.perf_counter() - start, "s")
    menu = BetMenu.parse(None, None, bot.max_raises)
    game = BucketDescription.of(options.folder / BUCKETS, options.folder / COUNTS, menu).build()
    assert game.betting is not None
    solver = get_method("cfr+", "float32")
    state, done = solver.init(game), 0
    threads = numba.get_num_threads()
    measure = RealGameMeasure(game.betting, buckets, options.flops, threads)
    solver.step(game, state, 0)
    for goal in map(int, options.iterations.split(",")):
        start = time.perf_counter()
        solver.step(game, state, goal - done)
        solved = time.perf_counter()
        plans, done = solver.plans(game, state), goal
        within = evaluate(game, plans).exploitability * unit
        begin = time.perf_counter()
        real = measure.evaluate(plans).exploitability * unit
        taken = solved - start, time.perf_counter() - begin
        figures = dict(zip(_COLUMNS, (*taken, within, real), strict=True))
        report.line(f"{goal} iterations, {options.flops} flops", figures, "s or mbb/g")
    report.figure("load of the machine at the end", os.getloadavg()[0], "")


if __name__ == "__main__":
    main()

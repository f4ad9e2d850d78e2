"""How many hands with discards per second are dealt for equities and for both trainings?

Correctness first: pairs never swap, so aces against kings must win what they win without discards;
and sums of training must not depend on the number of lanes.

Run: python benchmarks/bench_discards.py [--hands 4000000]
"""

from __future__ import annotations

import argparse

import numpy as np
from harness import Report, best_seconds

from equilibrist.cards.equity import equity
from equilibrist.papers.ectomynx.betting_lines import BB, BU
from equilibrist.papers.ectomynx.decision_training import (
    Decisions,
    DecisionTraining,
    Sums,
    walk_block,
)
from equilibrist.papers.ectomynx.discard_equity import discard_equity
from equilibrist.papers.ectomynx.kernels.fixed_strategy import play_cycle
from equilibrist.papers.ectomynx.level_game import level_game
from equilibrist.papers.ectomynx.level_training import FixedStrategy, Training, play_block
from equilibrist.papers.ectomynx.level_weights import num_weights, report_start

KEY = np.uint64(7)


def check() -> None:
    found = discard_equity("AA", "KK", samples=200_000)
    assert abs(found.equity - equity("AA", "KK").equity) < 4 * found.standard_error
    weights = report_start(BB), report_start(BU)
    sums = [np.zeros((lanes, 2, num_weights(), 2), np.int64) for lanes in (1, 4)]
    for lanes in sums:
        play_cycle(*level_game(), *weights, (KEY, 0, 20_000), lanes)
    assert (sums[0].sum(axis=0) == sums[1].sum(axis=0)).all()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--hands", type=int, default=4_000_000)
    hands = parser.parse_args().hands
    check()
    report = Report("Hands with discards", header="")
    seconds = best_seconds(lambda: discard_equity("random", samples=hands))
    report.figure("equity, random against random", hands / seconds / 1e6, "M/s")
    settings = FixedStrategy()
    run = Training.begin(settings)
    seconds = best_seconds(lambda: play_block(settings, run), repeats=2)
    report.figure("training, a block of 2^22 hands", (1 << 22) / seconds / 1e6, "M/s")
    decisions = Decisions()
    walked, sums = DecisionTraining.begin(decisions), Sums.empty()
    seconds = best_seconds(lambda: walk_block(decisions, walked, sums), repeats=2)
    report.figure("walks for both seats, a block of 2^15", decisions.block / seconds / 1e6, "M/s")


if __name__ == "__main__":
    main()

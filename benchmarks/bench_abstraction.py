"""How long do strengths, recipes, joint counts and look-ups of full hold'em take?

Correctness first: strengths of random rivers must be eval7's, the mean equity of every street one
half, joint counts of a sample symmetric, and exact ones those of all 55,627,620,048,000 deals.

With --exact the joint counts of 625 buckets too (four minutes on two cores), with --gs3 GS3's
20-800-4800-28800 and its joint counts (half an hour, 8 GB).

Run: python benchmarks/bench_abstraction.py [--exact] [--gs3]
"""

from __future__ import annotations

import argparse
import resource
import time
import warnings

import numpy as np
from harness import Report, best_seconds

from equilibrist.abstraction.features import Strengths, last_strengths, roll_sums
from equilibrist.abstraction.joint_counts import joint, sampled_joint
from equilibrist.abstraction.opponents import OpponentStrengths, strength_clusters
from equilibrist.abstraction.recipes.percentile import percentile
from equilibrist.abstraction.recipes.potential_aware import potential_aware
from equilibrist.abstraction.streets import Streets
from equilibrist.cards.card import card_name
from equilibrist.games.catalog import get_game

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # eval7 uses deprecated names of pyparsing
    import eval7

CARDS = [eval7.Card(card_name(card)) for card in range(52)]
ALL_DEALS = 55_627_620_048_000
GS3_BUCKETS = (20, 800, 4_800, 28_800)
GS3_PARTS = ((18, 51), (1, 10), (1, 14))  # fewest and most parts of a bucket, rounds 2 to 4


def eval7_strength(hand: np.ndarray, board: np.ndarray) -> int:
    """Return 2 · wins + ties over the 990 hands that are left."""
    free = [card for card in range(52) if card not in {*hand.tolist(), *board.tolist()}]
    shown = [CARDS[card] for card in board]
    own = eval7.evaluate([CARDS[card] for card in hand] + shown)
    total = 0
    for i, high in enumerate(free):
        for low in free[:i]:
            other = eval7.evaluate([CARDS[high], CARDS[low], *shown])
            total += 2 * (own > other) + (own == other)
    return total


def check(strengths: Strengths) -> None:
    """Check that strengths equal eval7's on rivers and that half of all hands win."""
    random = np.random.default_rng(0)
    for _ in range(100):
        cards = random.choice(52, 7, replace=False)
        _, number, columns = strengths.streets.locate(tuple(int(card) for card in cards[2:]))
        low, high = sorted(cards[:2].tolist())
        found = strengths.tables[3][number][columns[high * (high - 1) // 2 + low]]
        assert found == eval7_strength(cards[:2], cards[2:])
    for r in range(4):
        held = strengths.tables[r] >= 0
        weights = np.broadcast_to(strengths.streets[r].multiplicity[:, None], held.shape)[held]
        mean = np.average(strengths.tables[r][held] / strengths.scales[r], weights=weights)
        assert abs(mean - 0.5) < 1e-9


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--exact", action="store_true", help="also exact joint counts: minutes")
    parser.add_argument("--gs3", action="store_true", help="also GS3's abstraction: half an hour")
    wanted = parser.parse_args()
    streets = Streets.of(get_game("holdem-limit"))
    strengths = Strengths.of(streets)
    check(strengths)
    report = Report("abstraction")
    random = np.random.default_rng(1)
    deal = random.choice(52, 7, replace=False)
    theirs = best_seconds(lambda: eval7_strength(deal[:2], deal[2:])) * 123_156_254
    ours = best_seconds(lambda: last_strengths(streets), 3)
    report.row("all river strengths", ours, "eval7, one hand, scaled", theirs, "s")
    turns = strengths.tables[2]
    seconds = best_seconds(lambda: roll_sums(streets, 2, strengths.tables[3], np.int32), 2)
    seconds += best_seconds(lambda: roll_sums(streets, 1, turns, np.int32), 2)
    report.figure("flop and turn strengths", seconds, "s")
    start = time.perf_counter()
    quintiles = percentile(strengths, [5, 25, 125, 625])
    report.figure("percentile 5-25-125-625, strengths known", time.perf_counter() - start, "s")
    board = tuple(int(card) for card in deal[2:])
    report.figure("buckets of all hands of a river", best_seconds(
        lambda: [quintiles.buckets(board) for _ in range(100)]) * 1e4, "µs")  # fmt: skip
    deals = np.argsort(random.random((100_000, 52)), axis=1)[:, :7]
    low, high = np.sort(deals[:, :2], axis=1).T
    hands, boards = high * (high - 1) // 2 + low, deals[:, 2:]
    some = quintiles.buckets_of(hands[:200], boards[:200])
    for n, bucket in enumerate(some):
        assert bucket == quintiles.bucket(int(hands[n]), boards[n].tolist())
    one = best_seconds(lambda: quintiles.bucket(int(hands[0]), boards[0].tolist())) * 1e6
    many = best_seconds(lambda: quintiles.buckets_of(hands, boards)) * 10
    report.row("bucket of a hand on a river, many at once", many, "one at a time", one, "µs")
    clusters, rivers = strength_clusters(strengths, 8), np.arange(0, 134_459, 100)
    against = OpponentStrengths.of(streets, clusters, rivers)
    held = against.wins[:, :, 0] >= 0
    assert np.array_equal(against.wins.sum(axis=2)[held], strengths.tables[3][rivers][held])
    seconds = best_seconds(lambda: OpponentStrengths.of(streets, clusters, rivers), 3)
    report.figure("strength against 8 clusters, all rivers, scaled", 100 * seconds, "s")
    start = time.perf_counter()
    sample = sampled_joint(quintiles, num_boards=200_000)
    report.figure("joint counts of 200,000 boards", time.perf_counter() - start, "s")
    assert np.array_equal(sample.met, sample.met.T)
    report.figure("their distance from all, estimated", 100 * (sample.distance or 0), "%")
    if wanted.exact:
        start = time.perf_counter()
        exact = joint(quintiles)
        report.figure("exact joint counts, 625 × 625", time.perf_counter() - start, "s")
        assert exact.total == ALL_DEALS
        true = np.abs(sample.met / sample.total - exact.met / exact.total).sum() / 2
        report.figure("the sample's true distance", 100 * true, "%")
    if wanted.gs3:
        bench_gs3(report, strengths)


def bench_gs3(report: Report, strengths: Strengths) -> None:
    """Time the abstraction of the GS3 paper and its joint counts, with their peak memory."""
    name = "-".join(map(str, GS3_BUCKETS))
    start = time.perf_counter()
    found = potential_aware(strengths, GS3_BUCKETS)
    report.figure(f"potential-aware {name}, strengths known", time.perf_counter() - start, "s")
    for r, (least, most) in enumerate(GS3_PARTS, 1):
        parts = np.bincount(found.parents[r])
        what = f"parts of a bucket in round {r + 1} (GS3: {least} to {most})"
        report.figure(f"least {what}", int(parts.min()), "")
        report.figure(f"most {what}", int(parts.max()), "")
    start = time.perf_counter()
    counts = joint(found)
    report.figure("exact joint counts, 28,800 × 28,800", time.perf_counter() - start, "s")
    assert counts.total == ALL_DEALS
    assert all(np.array_equal(counts.ties[i], counts.ties[:, i]) for i in range(0, 28_800, 999))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    report.figure("peak memory", peak / 2**20, "GiB")


if __name__ == "__main__":
    main()

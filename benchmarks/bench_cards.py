"""How fast are ranking and indexing, beside eval7 and phevaluator?

Rows that say "kernel" time the bare kernel on arrays that are known to be good; the others time the
public function, which checks its input.

Correctness first: order and ties of random 7-card hands must agree with both rivals, all
133,784,560 hands must have the known category counts, and random river deals must survive the
round trip and agree with brute force over all suit permutations.

Run: python benchmarks/bench_cards.py
"""

from __future__ import annotations

import argparse
import warnings

import numba
import numpy as np
import phevaluator
from harness import Report, best_seconds

from equilibrist.cards.card import card_name
from equilibrist.cards.isomorphism import DealIndexer
from equilibrist.cards.ranking import category_bounds, rank_hands, rank_tables
from equilibrist.kernels.cpu import isomorphism, ranking
from equilibrist.kernels.reference.isomorphism import canonical_deals

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # eval7 uses deprecated names of pyparsing
    import eval7

# Nanoseconds per river hand of the best C library for the index on this class of machine.
BEST_C_INDEX_NS = 134.0
SEVEN_CARD_COUNTS = (
    23_294_460, 58_627_800, 31_433_400, 6_461_620, 6_180_020, 4_047_644, 3_473_184, 224_848, 41_584,
)  # fmt: skip


def random_deals(number: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    return rng.random((number, 52)).argsort(axis=1)[:, :7].astype(np.uint8)


def same_order(ours: np.ndarray, theirs: np.ndarray) -> bool:
    return bool(
        (np.unique(ours, return_inverse=True)[1] == np.unique(theirs, return_inverse=True)[1]).all()
    )


def bench_ranking(report: Report, num_cards: int) -> None:
    hands = np.ascontiguousarray(random_deals(2_000_000)[:, :num_cards])
    tables, values = rank_tables(num_cards), np.empty(len(hands), np.uint16)
    few = 20_000
    eval7_hands = [[eval7.Card(card_name(card)) for card in hand] for hand in hands[:few].tolist()]
    ints = hands[:few].tolist()

    ranking.rank_hands(tables, hands, values)
    theirs = np.array([eval7.evaluate(hand) for hand in eval7_hands])
    assert same_order(values[:few], theirs)
    theirs = -np.array(
        [phevaluator.evaluate_cards(*hand) for hand in ints]
    )  # theirs: less is better
    assert same_order(values[:few], theirs)

    assert (rank_hands(hands) == values).all()

    # The kernel takes checked arrays; the public function checks every hand first.
    numba.set_num_threads(1)
    kernel = best_seconds(lambda: ranking.rank_hands(tables, hands, values), repeats=5)
    public = best_seconds(lambda: rank_hands(hands), repeats=5)
    numba.set_num_threads(numba.config.NUMBA_NUM_THREADS)
    rivals = {
        "eval7": best_seconds(lambda: [eval7.evaluate(hand) for hand in eval7_hands]),
        "phevaluator": best_seconds(lambda: [phevaluator.evaluate_cards(*hand) for hand in ints]),
    }
    for what, seconds in (("kernel", kernel), ("rank_hands", public)):
        for rival, theirs in rivals.items():
            name = f"{num_cards}-card hands, {what}, one core"
            report.row(name, len(hands) / seconds / 1e6, rival, few / theirs / 1e6, "M/s")


def bench_enumeration(report: Report) -> None:
    tables = rank_tables(7)

    def count() -> np.ndarray:
        out = np.zeros((64, 7462), np.int64)
        ranking.count_seven_card_values(tables, out)
        return out.sum(axis=0)

    counts = count()
    assert [int(counts[a:b].sum()) for a, b in category_bounds(7).values()] == [*SEVEN_CARD_COUNTS]
    assert np.count_nonzero(counts) == 4_824
    eval7_hands = [
        [eval7.Card(card_name(card)) for card in hand] for hand in random_deals(20_000).tolist()
    ]
    each = best_seconds(lambda: [eval7.evaluate(hand) for hand in eval7_hands]) / len(eval7_hands)
    report.row("all 133,784,560 hands, kernel, all cores", best_seconds(count), "eval7, scaled",
               each * 133_784_560, "s")  # fmt: skip


def bench_index(report: Report) -> None:
    indexer = DealIndexer((2, 3, 1, 1))
    deals = random_deals(1_000_000)
    indices = indexer.index_array(deals)
    assert (indexer.index_array(indexer.unindex_array(indices)) == indices).all()
    few = deals[:20_000].astype(np.int64)
    canonical = canonical_deals(few, indexer.rounds)
    assert (indexer.index_array(canonical) == indices[: len(few)]).all()
    assert len(np.unique(canonical, axis=0)) == len(np.unique(indices[: len(few)]))

    tables, out = indexer.tables, np.empty(len(deals), np.int64)
    cards = np.empty_like(deals)
    numba.set_num_threads(1)
    ours = best_seconds(lambda: isomorphism.index_deals(tables, deals, 3, out), repeats=20)
    public = best_seconds(lambda: indexer.index_array(deals), repeats=5)
    back = best_seconds(lambda: isomorphism.unindex_deals(tables, out, 3, cards), repeats=3)
    numba.set_num_threads(numba.config.NUMBA_NUM_THREADS)
    brute = best_seconds(lambda: canonical_deals(few, indexer.rounds), repeats=2) / len(few)
    each = 1e9 / len(deals)
    for what, rival, seconds, theirs in (
        ("river index, kernel", "best C library, quoted", ours, BEST_C_INDEX_NS),
        ("river index, index_array", "best C library, quoted", public, BEST_C_INDEX_NS),
        ("river index, kernel", "24 renamings in NumPy", ours, brute * 1e9),
        ("river un-index, kernel", "24 renamings in NumPy", back, brute * 1e9),
    ):
        report.row(f"{what}, one core", seconds * each, rival, theirs, "ns")


def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    report = Report("ranking and indexing")
    for num_cards in (7, 5):
        bench_ranking(report, num_cards)
    bench_enumeration(report)
    bench_index(report)


if __name__ == "__main__":
    main()

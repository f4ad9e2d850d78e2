"""Recompute known counts of poker and solve Leduc by four methods, in a minute.

Run: make numbers, or python examples/known_numbers.py
"""

from __future__ import annotations

import sys
import time

import numpy as np

from equilibrist.cards.equity import preflop_equities
from equilibrist.cards.hand import class_table
from equilibrist.cards.isomorphism import DealIndexer
from equilibrist.cards.ranking import category_bounds, rank_tables
from equilibrist.games.bet_menu import BetMenu
from equilibrist.games.betting_tree import BettingTree, NodeKind
from equilibrist.games.catalog import get_game
from equilibrist.games.sizes import game_sizes
from equilibrist.kernels import cache

RANKS = "AKQJT98765432"


def compare(rows: list[tuple[str, int, int]]) -> bool:
    """Print published numbers beside ours; return whether all agree."""
    for name, published, ours in rows:
        verdict = "agrees" if ours == published else "DIFFERS"
        print(f"  {name:<46}{published:>26,}{ours:>26,}  {verdict}", flush=True)
    return all(published == ours for _, published, ours in rows)


def count_hands() -> bool:
    """Rank every 7-card hand; return whether the counts of categories agree."""
    from equilibrist.kernels.cpu.ranking import count_seven_card_values

    by_value = np.zeros((64, 7462), np.int64)
    count_seven_card_values(rank_tables(7), by_value)
    counts = by_value.sum(axis=0)
    published = {
        "straight flush": 41_584,
        "four of a kind": 224_848,
        "full house": 3_473_184,
        "flush": 4_047_644,
        "straight": 6_180_020,
        "three of a kind": 6_461_620,
        "two pair": 31_433_400,
        "pair": 58_627_800,
        "high card": 23_294_460,
    }
    bounds = category_bounds(7)
    return compare(
        [
            (f"7-card hands: {name}", number, int(counts[slice(*bounds[name])].sum()))
            for name, number in published.items()
        ]
    )


def count_deals() -> bool:
    """Count deals up to suits and the size of limit hold'em; return whether all agree."""
    limit = get_game("holdem-limit")
    sizes = game_sizes(BettingTree.build(limit))
    small = BettingTree.build(limit, BetMenu.parse(max_raises="2 3 3 3"))
    leaves = sum(small.counts(NodeKind.FOLD)[1:]) + sum(small.counts(NodeKind.SHOWDOWN))
    hole, flop, turn, river = DealIndexer((2, 3, 1, 1)).sizes
    roll_out = DealIndexer((2, 2, 3, 1, 1)).size
    return compare(
        [
            ("hole cards up to suits", 169, hole),
            ("hole, flop (GS3)", 1_286_792, flop),
            ("hole, flop, turn", 55_190_538, turn),
            ("hole, flop, turn, river", 2_428_287_420, river),
            ("9-card roll-out (GS3)", 2_334_488_579_280, roll_out),
            ("limit hold'em: decision states", 316_207_058_696_146_800, sizes.decision_states),
            ("limit hold'em: information sets", 319_365_922_522_608, sizes.infosets),
            ("up to suits (CFR+)", 13_803_249_787_132, sizes.canonical_infosets),
            ("betting leaves (Range of Skill)", 3_425, leaves),
        ]
    )


def grid_of_equities() -> bool:
    """Print the exact equity of all 169 classes against a random hand as a grid."""
    wins, ties, total = preflop_equities()
    percent = 100 * (wins + ties / 2) / total
    print("     " + "".join(f"{rank:>5}" for rank in RANKS))
    for i, row in enumerate(RANKS):
        cells = []
        for j in range(13):
            high, low = 12 - min(i, j), 12 - max(i, j)
            suited = i <= j  # suited above the diagonal, pairs on it
            cells.append(percent[13 * high + low if suited else 13 * low + high])
        print(f"{row:>5}" + "".join(f"{cell:5.1f}" for cell in cells))
    aces = 168
    weights = np.bincount(class_table())
    print(f"  mean over all hands {np.average(percent, weights=weights):.6f} % (50 by symmetry)")
    return compare(
        [
            ("AA: wins of 2,097,572,400 deals", 1_781_508_418, int(wins[aces])),
            ("AA: ties", 11_402_312, int(ties[aces])),
        ]
    )


def solve_leduc() -> bool:
    """Solve Leduc hold'em by four methods, with proofs; draw a plot in out/leduc.png."""
    import pathlib

    from equilibrist.display.curves import draw_traces
    from equilibrist.models.exact import exact_game
    from equilibrist.solving.methods import get_method
    from equilibrist.solving.solve import Budget, solve

    known = -0.085606424078  # chips, first player
    game = exact_game(get_game("leduc"))
    traces = {}
    agrees = True
    print(f"  {'method':<8}{'iterations':>11}{'seconds':>9}{'value':>15}{'exploitability':>16}")
    for name in ("cfr+", "dcfr", "egt", "lp"):
        run = solve(game, get_method(name), Budget(seconds=2.0, target=1e-5))
        found = run.evaluation
        agrees &= abs(found.value - known) <= found.nash_conv + 1e-9
        traces[name] = run.trace_array()
        count = int(run.state["iteration"])
        print(
            f"  {name:<8}{count:>11,}{run.seconds:>9.2f}{found.value:>15.9f}"
            f"{found.exploitability:>16.2e}",
            flush=True,
        )
    print(f"  {'known':<28}{known:>15.9f}  chips; each value is within its own gap of it")
    path = pathlib.Path("out/leduc.png")
    path.parent.mkdir(exist_ok=True)
    draw_traces(traces, game, path)
    print(f"  exploitability against seconds: {path}")
    return agrees


def main() -> int:
    """Run and time every part; return exit code 1 if a number differs."""
    kernels = ("ranking.count_seven_card_values", "equity.showdown_boards")
    if cache.is_cold(*kernels, "sequence_form.sweeps"):
        print("compiling kernels, first run only …", flush=True)
    parts = {
        "Every 7-card poker hand, ranked": count_hands,
        "Deals up to a renaming of suits, and the size of limit hold'em": count_deals,
        "Exact equity against a random hand, per cent": grid_of_equities,
        "Leduc hold'em solved": solve_leduc,
    }
    agrees = True
    for title, part in parts.items():
        print(f"\n{title}", flush=True)
        start = time.perf_counter()
        agrees &= part()
        print(f"  ({time.perf_counter() - start:.1f} s)")
    print("\nevery number agrees" if agrees else "\nsome numbers DIFFER")
    return 0 if agrees else 1


if __name__ == "__main__":
    sys.exit(main())

"""`equilibrist equity --discards` and `equilibrist reproduce ectomynx`."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

from equilibrist.cli.options import Remaining, emit, prepare_kernels, table
from equilibrist.errors import InvalidValueError

if TYPE_CHECKING:
    from equilibrist.cards.range import Range
    from equilibrist.papers.ectomynx.equity_table import EquityRow

_KERNELS = ("discards.play_swaps",)
_ROW = 13  # hand classes per row of the table
_FAR = 0.01  # larger differences of equity are listed


def check_before_flop(board: str, dead: str) -> None:
    """Raise `InvalidValueError` for board or dead cards: discard equities are preflop only."""
    if board or dead:
        raise InvalidValueError(
            "equities with discards are computed before the flop: leave out --board and --dead",
            value=board or dead,
        )


def print_discard_equity(
    first: Range, second: Range, samples: int, threads: int | None, *, seed: int, as_json: bool
) -> None:
    """Print the equity of a range against another if both sides swap by EctomynX's rule."""
    from equilibrist.papers.ectomynx.discard_equity import discard_equity

    prepare_kernels(threads, *_KERNELS)
    start = time.perf_counter()
    found = discard_equity(first, second, samples=samples, seed=seed, progress=Remaining("equity"))
    data = {
        "first": str(first),
        "second": str(second),
        "discards": True,
        "equity": found.equity,
        "wins": found.wins,
        "ties": found.ties,
        "losses": found.total - found.wins - found.ties,
        "total": found.total,
        "exact": False,
        "standard_error": found.standard_error,
        "seed": seed,
        "seconds": round(time.perf_counter() - start, 3),
    }
    rows = [
        ("first", first.describe(), f"{found.equity:.3%}"),
        ("second", second.describe(), f"{1 - found.equity:.3%}"),
    ]
    error = f"Monte Carlo, standard error {found.standard_error:.3%}: {found.total:,} hands"
    emit(data, f"{table(rows)}\n{error}, swaps by the rule", as_json=as_json)


def reproduce_ectomynx(threads: int | None, *, quick: bool, seed: int, as_json: bool) -> None:
    """Print equities with discards and outcomes of swaps: the report's figures beside ours."""
    from equilibrist.papers.ectomynx import equity_table

    prepare_kernels(threads, *_KERNELS)
    samples = equity_table.QUICK_SAMPLES if quick else equity_table.SAMPLES
    equities = equity_table.equity_rows(samples, seed, Remaining("equities"))
    situations = equity_table.situation_rows(samples, seed)
    outcomes = [
        (example.name, swaps, paper, equity_table.outcomes(example, swaps=swaps))
        for example in equity_table.EXAMPLES
        for swaps, paper in ((True, example.swap), (False, example.no_swap))
    ]
    data = {
        "rows": [_row(row) for row in (*equities, *situations)],
        "outcomes": [
            {"name": name, "swap": swaps, "paper": paper, "ours": ours, "unit": "%"}
            for name, swaps, paper, ours in (
                (name, swaps, paper, [100 * probability for probability in ours])
                for name, swaps, paper, ours in outcomes
            )
        ],
    }
    header = ("by the turn, %", "", *equity_table.OUTCOMES)
    lines = [
        (name, "swap" if swaps else "no swap", *map(_beside, paper, ours))
        for name, swaps, paper, ours in outcomes
    ]
    text = [
        "Equity against a random hand, both sides swap by the rule; the report's below ours:",
        _grid(equities),
        _difference(equities),
        "",
        table(list(map(_cells, situations)), header=("equity of the first", "report", "ours", "±")),
        "",
        table(lines, header=header),
    ]
    emit(data, "\n".join(text), as_json=as_json)


def _row(row: EquityRow) -> dict[str, object]:
    reach = 1.96 * row.ours.standard_error
    return {
        "name": row.name,
        "paper": None if math.isnan(row.paper) else row.paper,
        "ours": row.ours.equity,
        "unit": "equity",
        "standard_error": row.ours.standard_error,
        "ci95": [row.ours.equity - reach, row.ours.equity + reach],
        "hands": row.ours.total,
    }


def _cells(row: EquityRow) -> tuple[str, str, str, str]:
    error = f"{row.ours.standard_error:.4f}"
    return row.name, f"{row.paper:.2f}", f"{row.ours.equity:.4f}", error


def _grid(rows: list[EquityRow]) -> str:
    """Return a 13 × 13 grid from aces down, suited hands above the diagonal."""
    lines = []
    for start in range(0, len(rows), _ROW):
        part = rows[start : start + _ROW]
        lines.append("  ".join(f"{row.name:<3} {row.ours.equity:.4f}" for row in part))
        lines.append("  ".join(f"    {_printed(row.paper)}" for row in part))
    return "\n".join(lines)


def _printed(number: float) -> str:
    return "  –   " if math.isnan(number) else f"{number:.4f}"


def _difference(rows: list[EquityRow]) -> str:
    placed = [(row.name, row.paper - row.ours.equity) for row in rows if not math.isnan(row.paper)]
    mean = sum(gap for _, gap in placed) / len(placed)
    size = sum(abs(gap) for _, gap in placed) / len(placed)
    far = [f"{name} {gap:+.3f}" for name, gap in placed if abs(gap) > _FAR]
    return (
        f"report − ours over {len(placed)} hands: mean {mean:+.4f}, mean absolute {size:.4f}; "
        f"more than {_FAR} apart: {', '.join(far) or 'no hand'}"
    )


def _beside(paper: float | None, ours: float) -> str:
    """Return our figure, followed by the report's in brackets if there is one."""
    return f"{100 * ours:.1f}" + ("" if paper is None else f" ({paper:g})")

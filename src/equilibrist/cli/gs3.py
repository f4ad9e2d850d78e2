"""`equilibrist reproduce gs3`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from equilibrist.cli.options import emit
from equilibrist.cli.paper_rows import ProgressLines, check_hands, rows_text, untrained

if TYPE_CHECKING:
    from equilibrist.papers.rows import PaperRow

_HANDS, _QUICK_HANDS = 50_000, 2_000  # per match against static players
_VEXBOT = 20, 100_000  # matches against Vexbot, and hands per match
_QUICK_VEXBOT = 4, 500
_SECONDS, _QUICK_SECONDS = 120.0, 5.0  # solving time when finer buckets meet smaller gaps
_TITLES = {
    "1": "Table 1: win rate against static players, duplicate matches, sb/h",
    "2": "Table 2: win rate against a learner, independent matches, sb/h",
    "finer": "Finer buckets against a smaller gap, equal solving time, sb/h",
}


def reproduce_gs3(*, hands: int | None, quick: bool, seed: int, as_json: bool) -> None:
    """Print both tables of the paper for the trained bot, and the experiment of its conclusion."""
    from equilibrist.bots.bot import HOME
    from equilibrist.bots.registry import BOTS, strategy_of
    from equilibrist.games.catalog import load_game
    from equilibrist.papers.gs3 import tables

    hands = check_hands(hands, _QUICK_HANDS if quick else _HANDS)
    name = "gs3-small" if quick else "gs3"
    strategy_of(name)
    without = untrained("gs2", "psopti2")
    rules, progress = load_game(BOTS[name].game), ProgressLines()
    matches, length = _QUICK_VEXBOT if quick else _VEXBOT
    seconds, sizes = (_QUICK_SECONDS, tables.SIZES[:2]) if quick else (_SECONDS, tables.SIZES)
    rows: list[PaperRow] = [
        *tables.static_rows(rules, name, hands, seed, progress, without),
        *tables.vexbot_rows(rules, name, matches, length, seed, progress),
        *tables.finer_rows(sizes, HOME / "finer", seconds, hands, seed, progress),
    ]
    notes = [f"run `equilibrist train {other}` to fill its row" for other in without]
    text = "\n".join([rows_text(rows, _TITLES), *notes])
    emit({"bot": name, "rows": [vars(row) for row in rows], "notes": notes}, text, as_json=as_json)

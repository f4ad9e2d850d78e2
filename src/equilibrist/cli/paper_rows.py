"""How a paper's numbers and ours are printed: a table below its title."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from equilibrist.cli.options import table
from equilibrist.errors import InvalidValueError

if TYPE_CHECKING:
    from equilibrist.papers.rows import PaperRow


def rows_text(rows: list[PaperRow], titles: dict[str, str]) -> str:
    """The rows of each table below its title."""
    header = ("", "paper", "ours", "95 % interval")
    parts = []
    for kind, title in titles.items():
        lines = [_line(row) for row in rows if row.table == kind]
        if lines:
            parts.append(f"{title}\n{table(lines, header=header)}")
    return "\n\n".join(parts)


def _line(row: PaperRow) -> tuple[str, ...]:
    paper = "" if row.paper is None else _amount(row.paper, row.unit)
    ours = row.missing if row.ours is None else _amount(row.ours, row.unit)
    interval = "" if row.ci95 is None else f"{row.ci95[0]:+.4f} … {row.ci95[1]:+.4f}"
    return row.name, paper, ours, interval


def _amount(number: float, unit: str) -> str:
    """A number of a row; small bets a hand are what the tables' titles speak of.

    Example:
        >>> _amount(0.0808, "sb/h"), _amount(10.4, "%"), _amount(298, "rounds")
        ('+0.0808', '10.4 %', '298 rounds')
    """
    if unit == "sb/h":
        return f"{number:+.4f}"
    return f"{number:.1f} %" if unit == "%" else f"{number:.0f} {unit}"


def check_hands(wish: int | None, usual: int) -> int:
    """The hands of a duplicate match: the usual number, or the one wished for if it can be."""
    hands = usual if wish is None else wish
    if hands < 4 or hands % 2:
        raise InvalidValueError(
            f"matches are of an even number of hands, every deal twice, not {hands}", value=hands
        )
    return hands


def untrained(*names: str) -> tuple[str, ...]:
    """Those bots of some that nobody has trained here."""
    from equilibrist.bots.registry import strategy_of
    from equilibrist.errors import StorageError

    missing = []
    for name in names:
        try:
            strategy_of(name)
        except StorageError:
            missing.append(name)
    return tuple(missing)


def say(text: str) -> None:
    """A line of progress."""
    print(f"{text} …", file=sys.stderr, flush=True)


class Told:
    """Progress of several pieces of work, one line when one begins and one each tenth of it."""

    def __init__(self) -> None:
        self._last = ("", -1)

    def __call__(self, what: str, share: float) -> None:
        """`share` of `what` is done."""
        now = (what, int(10 * share))
        if now != self._last:
            say(what if share == 0 else f"{what}: {share:.0%}")
            self._last = now

"""Prints a paper's numbers beside ours, one table per title."""

from __future__ import annotations

from typing import TYPE_CHECKING

from equilibrist.cli.heartbeat import announced
from equilibrist.cli.options import table
from equilibrist.errors import InvalidValueError
from equilibrist.phases import Phase

if TYPE_CHECKING:
    from equilibrist.papers.rows import PaperRow


def rows_text(rows: list[PaperRow], titles: dict[str, str]) -> str:
    """Return all tables as text, each below its title."""
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
    """Return a number with its unit; sb/h, which the titles name, is left out.

    Example:
        >>> _amount(0.0808, "sb/h"), _amount(10.4, "%"), _amount(298, "rounds")
        ('+0.0808', '10.4 %', '298 rounds')
    """
    if unit == "sb/h":
        return f"{number:+.4f}"
    return f"{number:.1f} %" if unit == "%" else f"{number:.0f} {unit}"


def check_hands(given: int | None, default: int) -> int:
    """Return the number of hands of a duplicate match; raise `InvalidValueError` if it is odd."""
    hands = default if given is None else given
    if hands < 4 or hands % 2:
        raise InvalidValueError(
            f"a duplicate match needs an even number of at least 4 hands, not {hands}", value=hands
        )
    return hands


def untrained(*names: str) -> tuple[str, ...]:
    """Return the names of those bots that are not trained here."""
    from equilibrist.bots.registry import strategy_of
    from equilibrist.errors import StorageError

    missing = []
    for name in names:
        try:
            strategy_of(name)
        except StorageError:
            missing.append(name)
    return tuple(missing)


class ProgressLines:
    """Prints the name of each task, and makes it the current phase with its share done."""

    def __init__(self) -> None:
        self._phase: Phase | None = None

    def __call__(self, what: str, share: float) -> None:
        """Receive the share of the task `what` that is done, from 0 to 1."""
        if self._phase is None or self._phase.text != what:
            self._phase = announced(what, total=1.0)
        self._phase.update(share)

"""Equities of hands and ranges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from equilibrist.cards.card import parse_cards
from equilibrist.cards.equity import Equity
from equilibrist.cards.equity import equity as card_equity
from equilibrist.display.notebook import data_frame, table_html
from equilibrist.front_door.displays import converted


@dataclass(frozen=True, repr=False)
class EquityResult(Equity):
    """The equity of one side against another, with a table for notebooks."""

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per result: win, tie and loss, with its count and its share of all."""
        counts = {"win": self.wins, "tie": self.ties, "loss": self.losses}
        return [
            {"result": name, "count": count, "share": count / self.total}
            for name, count in counts.items()
        ]

    def to_pandas(self) -> Any:
        """Return the rows as a pandas data frame; needs pandas."""
        return data_frame(self.rows())

    def __repr__(self) -> str:
        error = "" if self.standard_error is None else f" ± {100 * self.standard_error:.2g}"
        return (
            f"<equity {100 * self.equity:.4g}{error} %: {self.wins:,.15g} wins, "
            f"{self.ties:,.15g} ties, {self.losses:,.15g} losses, "
            f"{'exact' if self.exact else 'sampled'}>"
        )

    def _repr_html_(self) -> str:
        rows = [
            (row["result"], f"{row['count']:,.15g}", f"{100 * row['share']:.2f} %")
            for row in self.rows()
        ]
        kind = "exact" if self.exact else "sampled"
        caption = f"equity {100 * self.equity:.2f} %, {kind}"
        return table_html(("result", "count", "share"), rows, caption)


def equity(
    first: str, second: str = "random", board: str = "", dead: str = "", **options: Any
) -> EquityResult:
    """Return the equity of a hand or range against another one, exact by default.

    Example:
        >>> equity("AhKh", "QsQd", board="2h7h9c")
        <equity 54.14 %: 536 wins, 0 ties, 454 losses, exact>
    """
    found = card_equity(first, second, parse_cards(board), parse_cards(dead), **options)
    return converted(EquityResult, found)

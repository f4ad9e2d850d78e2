"""Hand strength on every street, as exact whole numbers.

On the last street, the strength of a hand is 2 · wins + ties against all possible hands of the
opponent, 0 … 1,980 in hold'em. On earlier streets, it is the sum over all future cards:
strength / scale is the hand's equity against a random hand. Only the table of the last street is
large (356 MB in hold'em); it is computed in seconds, so it is stored only in memory or in an
abstraction's folder.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equilibrist import stopping
from equilibrist.abstraction.streets import Streets
from equilibrist.cards.ranking import rank_tables
from equilibrist.games.rules import GameRules

Ints = NDArray[np.integer]
Progress = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class Strengths:
    """Strength of every hand on every board; −1 if the board blocks the hand.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> strengths = Strengths.of(Streets.of(get_game("rhode-island")))
        >>> round(float(strengths.equity(0)[0, 51]), 3)  # an ace
        0.808
    """

    streets: Streets
    tables: tuple[Ints, ...]  # [B, H] per street: int16 on the last, int32 or int64 on the others
    scales: tuple[int, ...]  # per street: strength of a hand that always wins

    @staticmethod
    def of(streets: Streets, progress: Progress | None = None) -> Strengths:
        """Compute all strengths of a game: the last street by sorting hands, the others by sums."""
        say = progress or (lambda text: None)
        say("strength of every hand on every last board")
        tables: list[Ints] = [last_strengths(streets)]
        scales = strength_scales(streets.rules)
        for r in reversed(range(len(streets) - 1)):
            stopping.check()
            say(f"strength of every hand in round {r + 1}")
            dtype = np.int32 if scales[r] < 2**31 else np.int64
            tables.insert(0, roll_sums(streets, r, tables[0], dtype))
        return Strengths(streets, tuple(tables), scales)

    def equity(self, r: int) -> NDArray[np.float64]:
        """Return the equity against a random hand: [B, H], NaN if the board blocks the hand."""
        table = self.tables[r]
        return np.where(table >= 0, table / self.scales[r], np.nan)


def strength_scales(rules: GameRules) -> tuple[int, ...]:
    """Return the strength of a hand that always wins, for every round."""
    hole, total = rules.num_hole_cards, len(rules.deck)
    left = total - hole - rules.total_board_cards
    scales = [2 * math.comb(left, hole)]
    for num_new in reversed(rules.num_board_cards[1:]):
        left += num_new
        scales.insert(0, scales[0] * math.comb(left, num_new))
    return tuple(scales)


def last_strengths(streets: Streets) -> NDArray[np.int16]:
    """Compute 2 · wins + ties of every hand on every board of the last street: [B, H]."""
    from equilibrist.kernels.cpu import rollout

    rules, boards = streets.rules, streets[-1].boards
    tables = rank_tables(rules.num_hole_cards + rules.total_board_cards, rules.ranking)
    out = np.empty((len(boards), streets.num_hands), np.int16)
    rollout.strengths(tables, boards, streets.hands[streets.in_deck], streets.in_deck, out)
    return out


def roll_sums(streets: Streets, r: int, values: NDArray[Any], dtype: type[np.number]) -> Any:
    """Sum the next street's `values` over all deals onto each board of round `r`: [B, H]."""
    from equilibrist.kernels.cpu import rollout

    street = streets[r]
    out = np.empty((len(street.boards), streets.num_hands), dtype)
    rollout.roll_sums(values, street.child, street.renaming, streets.renamed, out)
    return out

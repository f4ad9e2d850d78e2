"""What a solve will cost, before anything is allocated."""

from __future__ import annotations

from dataclasses import dataclass

from equilibrist.errors import InvalidValueError
from equilibrist.games.betting_tree import BettingTree
from equilibrist.games.rules import GameRules
from equilibrist.games.sizes import deals_seen
from equilibrist.models.card_states import Symmetry, default_symmetry
from equilibrist.models.treeplex import player_rows
from equilibrist.storage.memory import available_bytes, gigabytes

_VECTORS = 10  # numbers kept per row and state by CFR: four vectors a player, and the values
_NANOSECONDS = 7.0  # per number of a plan and iteration, one core: Rhode Island by CFR+


@dataclass(frozen=True)
class Forecast:
    """Size of an exact model, and what CFR on it needs."""

    sequences: int  # numbers of both players' plans
    bytes: int
    seconds_per_iteration: float

    def check(self, name: str) -> None:
        """Raise `InvalidValueError` if this machine's memory cannot hold it."""
        available = available_bytes()
        if self.bytes > available:
            raise InvalidValueError(
                f"{name} needs {gigabytes(self.bytes)} and {gigabytes(available)} are free; take "
                "fewer raises (--max-raises), float32, or a game with fewer cards; --force tries",
                value=self.bytes,
            )


def forecast(
    rules: GameRules, betting: BettingTree, symmetry: Symmetry | None = None, itemsize: int = 8
) -> Forecast:
    """Plan lengths times vectors, from counts alone.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> rules = get_game("leduc")
        >>> forecast(rules, BettingTree.build(rules)).sequences  # up to suits; 768 by rank
        1248
    """
    raw, canonical = deals_seen(rules)
    states = raw if (symmetry or default_symmetry(rules)) == "cards" else canonical
    sequences = sum(
        int(rows) * states[betting.first_round + r]
        for player in (0, 1)
        for r, rows in enumerate(player_rows(betting, player).num_sequences)
    )
    return Forecast(
        sequences=sequences,
        bytes=sequences * itemsize * _VECTORS // 2,
        seconds_per_iteration=sequences * _NANOSECONDS * 1e-9,
    )

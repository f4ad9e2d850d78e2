"""What was seen of one player of a game: how often it took each action.

`evaluation.observation` counts the actions of recorded hands, `play.self_play` those of a player
that plays for this purpose; responses to a player that is known only by its hands use the counts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from equilibrist.errors import InvalidValueError
from equilibrist.kernels.array_structs import Treeplex
from equilibrist.kernels.treeplex import block, boards, decisions, num_rounds
from equilibrist.models.game import Floats, Game


@dataclass(frozen=True, eq=False)
class Observed:
    """Number of times a player took each of its actions, in the layout of its plan.

    Counts may be fractions, because the actions of a hidden hand are distributed over all hands
    that the player may hold. Rows that are not actions (the entries of a round) hold 0. The counts
    of a decision with a private state sum to the number of times it was met.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> from equilibrist.models.exact import exact_game
        >>> game = exact_game(get_game("kuhn"))
        >>> seen = Observed(0, np.array([0, 0, 0, 3, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0.0]), 4)
        >>> seen.behaviour(game)[3:9].tolist()  # check and bet with each of three cards
        [0.75, 0.5, 0.5, 0.25, 0.5, 0.5]
    """

    player: int  # of the game: 0 or 1
    counts: NDArray[np.float64]  # [L]
    hands: int  # number of hands that were observed, with any number of actions

    def __post_init__(self) -> None:
        if self.player not in (0, 1):
            raise InvalidValueError(
                f"an observed player is number 0 or 1, not {self.player}", value=self.player
            )
        if not (np.isfinite(self.counts).all() and (self.counts >= 0).all() and self.hands >= 0):
            raise InvalidValueError("counts of actions must be finite and at least 0")

    def check(self, game: Game) -> None:
        """Raise `InvalidValueError` unless the counts have the length of a plan of a game."""
        length = game.lengths[self.player]
        if self.counts.shape != (length,):
            raise InvalidValueError(
                f"the observed counts have shape {list(self.counts.shape)}, but plans of player "
                f"{self.player} in {game.name} have {length:,} numbers",
                value=self.counts.shape,
            )

    def behaviour(
        self, game: Game, default: NDArray[np.float64] | None = None, patience: float = 0.0
    ) -> NDArray[np.float64]:
        """Return the observed frequencies [L]; the default where nothing was seen (or uniform).

        With a `patience` the default counts as this number of times that a decision was met.
        """
        self.check(game)
        policy = game.uniform(self.player) if default is None else default
        total = self.visits(game)
        weight = np.where(total > 0, patience, 1.0)
        found: NDArray[np.float64] = (self.counts + weight * policy) / (total + weight)
        return np.where(self._is_action(game), found, policy)

    def visits(self, game: Game) -> NDArray[np.float64]:
        """Return at each action the number of times that its decision was met: [L]."""
        self.check(game)
        return decision_sums(game.trees[self.player], self.counts)

    def _is_action(self, game: Game) -> NDArray[np.bool_]:
        return decision_sums(game.trees[self.player], np.ones(len(self.counts))) > 0

    def __add__(self, other: Observed) -> Observed:
        """Return the counts of both."""
        if other.player != self.player or other.counts.shape != self.counts.shape:
            raise InvalidValueError("only counts of the same player of the same game can be added")
        return Observed(self.player, self.counts + other.counts, self.hands + other.hands)


def decision_sums(tree: Treeplex, numbers: Floats) -> Floats:
    """Return at each action the sum of numbers [L] over the actions of its decision; else 0."""
    sums = np.zeros_like(numbers)
    for r in range(num_rounds(tree)):
        for board in boards(tree, r):
            own, out = (block(tree, r, board, vector) for vector in (numbers, sums))
            for _, _, rows in decisions(tree, r):
                out[rows] = own[rows].sum(axis=0)
    return sums

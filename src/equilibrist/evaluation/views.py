"""Views: what AIVAT asks of the cards of a game (`evaluation.aivat` has the method).

A view is what is known about the cards when a hand is seen from one side: the board, and the cards
of the player that are taken as seen, if any. The weights w of the histories that fit a view are the
probabilities of chance and of the known strategies, up to one factor that is the same in all sums
of a hand; v are the values of these histories and u their results, in chips of player 0.

`pair_views` has matrices over all pairs of private states, `hand_views` vectors over the hands of
one player.
"""

from __future__ import annotations

from typing import Protocol, TypeVar

from equilibrist.games.betting_tree import BettingTree
from equilibrist.games.state import HandState

View = TypeVar("View")


class Views(Protocol[View]):
    """Sums over the histories that fit a view; views are hashable."""

    @property
    def betting(self) -> BettingTree:
        """Betting tree of the hands."""

    @property
    def expected(self) -> float:
        """Mean of v over all deals before any card is dealt."""

    def is_known(self, player: int) -> bool:
        """Return whether the strategy of a player is known."""

    def node(self, hand: HandState) -> int:
        """Return the node of a hand's betting; raise `RecordError` if the tree does not have it."""

    def of_hand(self, leaf: int, hand: HandState) -> tuple[View, ...]:
        """Return the views of a hand in every round up to that of its leaf."""

    def mass(self, node: int, view: View) -> float:
        """Return Σ w."""

    def weighed(self, node: int, view: View) -> float:
        """Return Σ w v."""

    def dealt(self, opening: int, view: View) -> float:
        """Return Σ w v over the cards dealt next, at the opening of the next round."""

    def observed(self, leaf: int, view: View) -> float:
        """Return Σ w u at the end of a hand."""

"""Players that report their probabilities for any hand: the opponents of local best responses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from equilibrist.cards.card import Cards
from equilibrist.games.action import SWAP, Action
from equilibrist.games.betting import Betting

Hands: TypeAlias = NDArray[np.uint8]  # [N, 2] hole cards
# Actions with their probabilities, [N] each; they sum to 1 for every hand.
BetProbabilities: TypeAlias = tuple[tuple[Action, NDArray[np.float64]], ...]


@runtime_checkable
class QueryablePlayer(Protocol):
    """A player of discard hold'em that reports its action probabilities for any hand."""

    def bet_probabilities(self, betting: Betting, board: Cards, holes: Hands) -> BetProbabilities:
        """Return the actor's actions with their probabilities, given its actions so far."""
        ...

    def swap_probabilities(
        self, betting: Betting, board: Cards, holes: Hands
    ) -> NDArray[np.float64]:
        """Return the probabilities [N, 3] of keeping both cards, swapping the first or second."""
        ...


def before_each(betting: Betting) -> Iterator[Betting]:
    """Yield the state before each action of a hand, in order.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> from equilibrist.games.notation import parse_betting
        >>> betting = parse_betting(get_game("discard-holdem"), "cc/kdr4")
        >>> [state.text for state in before_each(betting)]
        ['', 'c', 'cc/', 'cc/k', 'cc/kd']
    """
    state = Betting.start(betting.rules)
    for action in (action for street in betting.history for action in street):
        yield state
        state = state.apply(SWAP if action.kind == "d" else action)


def taken_at(betting: Betting, before: Betting) -> Action:
    """Return the action that was taken in an earlier state of a hand."""
    return betting.history[before.round][len(before.history[-1])]


def is_bet_of(before: Betting, player: int, now: Betting) -> bool:
    """Return whether `before` was a betting decision of `player` on the street of `now`."""
    return before.round == now.round and before.actor == player and not before.is_discarding

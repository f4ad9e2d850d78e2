"""Players whose chances can be asked for any hand: what a local best response plays against."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from equilibrist.cards.card import Cards
from equilibrist.games.action import SWAP, Action
from equilibrist.games.betting import Betting

Hands: TypeAlias = NDArray[np.uint8]  # [N, 2] hole cards
BetChances: TypeAlias = tuple[tuple[Action, NDArray[np.float64]], ...]  # [N] each, summing to 1


@runtime_checkable
class Readable(Protocol):
    """A player of the game with discards that tells what it would do with any hand."""

    def bet_chances(self, betting: Betting, board: Cards, holes: Hands) -> BetChances:
        """Actions of the actor with their chances, given what it has done so far."""
        ...

    def swap_chances(self, betting: Betting, board: Cards, holes: Hands) -> NDArray[np.float64]:
        """Chances [N, 3] to keep both cards, swap the first and swap the second."""
        ...


def before_each(betting: Betting) -> Iterator[Betting]:
    """The states before each action of a hand, in order.

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
    """The action of a hand that followed an earlier state of it."""
    return betting.history[before.round][len(before.history[-1])]


def is_bet_of(before: Betting, player: int, now: Betting) -> bool:
    """Whether an earlier state was a player's to bet in, on the street of now."""
    return before.round == now.round and before.actor == player and not before.is_discarding

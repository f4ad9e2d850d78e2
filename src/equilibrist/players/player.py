"""What a player sees, is told and does: one protocol for all of them.

A player never meets a `HandState` of the table, only a `View` of it, from which everything that its
seat may not know has been taken out: the other hands, the cards to come, the replacements set
aside. The same view can be made from the line that the ACPC protocol would send.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeAlias, runtime_checkable

from equilibrist.cards.card import Cards
from equilibrist.games.action import Action, LegalActions
from equilibrist.games.betting import Betting
from equilibrist.games.notation import state_line
from equilibrist.games.rules import GameRules
from equilibrist.games.state import Deal, HandState

MOST_SEED = 2**32 - 1

Mixture: TypeAlias = tuple[tuple[Action, float], ...]  # actions with their chances, which sum to 1


@dataclass(frozen=True, slots=True)
class View:
    """What one player of a hand may see; `player` is its number in the hand, as in `Betting`.

    Example:
        >>> from equilibrist.cards.card import parse_cards
        >>> from equilibrist.games.catalog import get_game
        >>> deal = Deal((parse_cards("As"), parse_cards("Qs")))
        >>> view = View.of(HandState.start(get_game("kuhn"), deal), player=0)
        >>> view.state.holes, str(view), str(view.legal_actions())
        (((51,), ()), 'MATCHSTATE:0:0::As|', 'c, r')
    """

    state: HandState  # hidden cards left out
    player: int

    @classmethod
    def of(cls, state: HandState, player: int) -> View:
        """The part of a state that a player sees; a showdown shows the hands that did not fold."""
        betting, holes, swaps = state.betting, state.deal.holes, state.swaps
        players = range(len(holes))
        if betting.is_showdown:
            shown = [p == player or not betting.folded[p] for p in players]
        else:
            shown = [p == player for p in players]
        seen = HandState(
            betting,
            Deal(tuple([holes[p] if shown[p] else () for p in players]), state.board),
            tuple([swaps[p] if shown[p] else () for p in players]),
            state.hand_number,
        )
        return cls(seen, player)

    @property
    def rules(self) -> GameRules:
        """The rules of the game."""
        return self.state.betting.rules

    @property
    def betting(self) -> Betting:
        """The public betting."""
        return self.state.betting

    @property
    def hole(self) -> Cards:
        """The player's own cards, swaps done."""
        return self.state.holes[self.player]

    @property
    def board(self) -> Cards:
        """The board cards on the table."""
        return self.state.deal.board

    def legal_actions(self) -> LegalActions:
        """What the actor may do; a swap names its card."""
        return self.state.legal_actions()

    def __str__(self) -> str:
        """The line that the ACPC protocol sends."""
        return state_line(self.state, self.player)


@dataclass(frozen=True, slots=True)
class Result:
    """How a hand ended, as one player sees it."""

    view: View  # of the end: the other hands are there if they were shown
    chips: int  # won by the player, negative if lost


class Player(Protocol):
    """Whoever can sit at a table. Memory lasts from one `reset` to the next.

    After `reset` with the same seed a player does the same in the same situations.
    """

    name: str  # for logs: printable, without : and |

    def act(self, view: View) -> Action:
        """A legal action; only asked when it is this player's turn."""
        ...

    def told(self, result: Result) -> None:
        """Take note of the end of a hand; by default nothing is learnt."""
        return

    def reset(self, seed: int) -> None:
        """Forget everything and draw random numbers from a seed, 0 to 2¹²⁸ − 1."""
        ...


@runtime_checkable
class Mixing(Protocol):
    """A player that can say with which chances it takes each action; not all can."""

    def mixture(self, view: View) -> Mixture:
        """The actions it may take, with chances above zero."""
        ...

"""The protocol of all players: the view they receive, the action they return, and the result.

A player never receives the `HandState` of the table, only a `View` of it, without everything that
its seat may not know: the other hands, the cards to come, the replacement cards set aside. The same
view can be built from the line that the ACPC protocol would send.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol, TypeAlias, runtime_checkable

from equilibrist.cards.card import Cards
from equilibrist.games.action import Action, LegalActions
from equilibrist.games.betting import Betting
from equilibrist.games.notation import state_line
from equilibrist.games.rules import GameRules
from equilibrist.games.state import Deal, HandState

MOST_SEED = 2**32 - 1

Mixture: TypeAlias = tuple[tuple[Action, float], ...]  # actions and probabilities, which sum to 1


@dataclass(frozen=True, slots=True)
class View:
    """Part of a hand that one player may see; `player` is its number, as in `Betting`.

    Example:
        >>> from equilibrist.cards.card import parse_cards
        >>> from equilibrist.games.catalog import get_game
        >>> deal = Deal((parse_cards("As"), parse_cards("Qs")))
        >>> view = View.of(HandState.start(get_game("kuhn"), deal), player=0)
        >>> view.state.holes, str(view), str(view.legal_actions())
        (((51,), ()), 'MATCHSTATE:0:0::As|', 'c, r')
    """

    state: HandState  # without the hidden cards
    player: int

    @classmethod
    def of(cls, state: HandState, player: int) -> View:
        """Return what a player sees of a state; a showdown shows the hands that did not fold."""
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
        """The player's own cards, after its swaps."""
        return self.state.holes[self.player]

    @property
    def board(self) -> Cards:
        """The board cards on the table."""
        return self.state.deal.board

    def legal_actions(self) -> LegalActions:
        """Return the legal actions of the actor; a swap names its card."""
        return self.state.legal_actions()

    def holding(self, hole: Cards) -> View:
        """Return the view that the player would have with another hand.

        Example:
            >>> from equilibrist.cards.card import parse_cards
            >>> from equilibrist.games.catalog import get_game
            >>> deal = Deal((parse_cards("As"), parse_cards("Qs")))
            >>> view = View.of(HandState.start(get_game("kuhn"), deal), player=0)
            >>> str(view.holding(parse_cards("Ks")))
            'MATCHSTATE:0:0::Ks|'
        """
        holes = list(self.state.deal.holes)
        holes[self.player] = hole
        return View(
            replace(self.state, deal=replace(self.state.deal, holes=tuple(holes))), self.player
        )

    def __str__(self) -> str:
        """Return the line that the ACPC protocol sends."""
        return state_line(self.state, self.player)


@dataclass(frozen=True, slots=True)
class Result:
    """The end of a hand as one player sees it."""

    view: View  # of the final state: includes the other hands if they were shown
    chips: int  # won by the player, negative if lost


class Player(Protocol):
    """A participant of a match; it remembers hands from one `reset` to the next.

    After `reset` with the same seed a player acts identically in identical situations.
    """

    name: str  # for logs: printable, without : and |

    def act(self, view: View) -> Action:
        """Return a legal action; called only when it is this player's turn."""
        ...

    def observe(self, result: Result) -> None:
        """Receive the result of a hand; the default implementation learns nothing."""
        return

    def reset(self, seed: int) -> None:
        """Forget everything and restart the random generator with a seed from 0 to 2¹²⁸ − 1."""
        ...


@runtime_checkable
class Mixing(Protocol):
    """A player that can report the probability of each of its actions; not all players can."""

    def mixture(self, view: View) -> Mixture:
        """Return the actions that have a positive probability, with their probabilities."""
        ...

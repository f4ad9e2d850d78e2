"""The state of one hand of poker: its betting and its cards.

`HandState` is immutable; `verify` raises an error for an illegal action, `can` returns whether an
action is legal, `apply` returns the next state. Unknown cards (an opponent's hand, future board
cards) are left out: a hidden hand is `()`, the board contains the known cards only, and an unknown
replacement card is None.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

from equilibrist.cards.card import Card, Cards, card_name, cards_name, check_distinct
from equilibrist.cards.numbers import whole_number
from equilibrist.cards.ranking import rank_cards
from equilibrist.errors import CardError, InvalidValueError
from equilibrist.games.action import SWAP, Action, LegalActions, action_name, illegal_action
from equilibrist.games.betting import Betting
from equilibrist.games.rules import GameRules

MAX_HAND_NUMBER = 2**32 - 1

Swap: TypeAlias = tuple[Card, Card]  # the card given away and its replacement


@dataclass(frozen=True, slots=True)
class Deal:
    """The cards of one hand, as dealt before the first action.

    `board` is in dealing order and includes the cards rolled out after the last round. `draws` are
    the replacements for the discard turns, one per turn and player, turn by turn, player 0 first; a
    player that keeps its cards leaves its draw unused, so draws do not depend on other players.

    Example:
        >>> from equilibrist.cards.card import parse_cards
        >>> Deal((parse_cards("AhKh"), parse_cards("QsQd")), board=parse_cards("2c7d9hJsTc"))
        Deal(holes=((50, 46), (43, 41)), board=(0, 21, 30, 39, 32), draws=())
    """

    holes: tuple[Cards, ...]  # per player; () if unknown
    board: Cards = ()
    draws: tuple[Card | None, ...] = ()

    def check(self, rules: GameRules) -> None:
        """Raise `CardError` if these cards cannot be dealt in this game."""
        if len(self.holes) != rules.num_players:
            raise CardError(
                f"{len(self.holes)} hands dealt to {rules.num_players} players", value=self.holes
            )
        for hole in self.holes:
            if len(hole) not in (0, rules.num_hole_cards):
                raise CardError(
                    f"{cards_name(hole)} is not a hand of {rules.name}: "
                    f"it has {len(hole)} cards, not {rules.num_hole_cards}",
                    value=cards_name(hole),
                )
        for what, cards, most in (
            ("board", self.board, rules.total_board_cards),
            ("replacement", self.draws, rules.num_draws),
        ):
            if len(cards) > most:
                raise CardError(
                    f"{len(cards)} {what} cards are too many: {rules.name} has {most}", value=cards
                )
        known_draws = [card for card in self.draws if card is not None]
        check_distinct(*self.holes, self.board, known_draws)
        for card in (*(card for hole in self.holes for card in hole), *self.board, *known_draws):
            if card not in rules.deck:
                name = card_name(card)
                raise CardError(f"{name} is not in the deck of {rules.name}", value=name)


@dataclass(frozen=True, slots=True)
class HandState:
    """A hand of poker at one point of its play.

    Example:
        >>> from equilibrist.cards.card import parse_cards
        >>> from equilibrist.games.action import CALL, RAISE
        >>> from equilibrist.games.catalog import get_game
        >>> deal = Deal((parse_cards("As"), parse_cards("Qs")))
        >>> state = HandState.start(get_game("kuhn"), deal)
        >>> state.apply(RAISE).apply(CALL).payoffs()
        (2, -2)
    """

    betting: Betting
    deal: Deal
    swaps: tuple[tuple[Swap, ...], ...]  # per player, in order; () if hidden
    hand_number: int = 0

    def __post_init__(self) -> None:
        whole_number(self.hand_number, "a hand number", 0, MAX_HAND_NUMBER)

    @classmethod
    def start(cls, rules: GameRules, deal: Deal, hand_number: int = 0) -> HandState:
        """Return the state before the first action; `CardError` if the deal is invalid."""
        deal.check(rules)
        return cls(Betting.start(rules), deal, ((),) * rules.num_players, hand_number)

    # --- the current state ------------------------------------------------------------------------

    @property
    def rules(self) -> GameRules:
        """The rules of the game."""
        return self.betting.rules

    @property
    def actor(self) -> int | None:
        """The player whose turn it is, None when the hand is over."""
        return self.betting.actor

    @property
    def is_over(self) -> bool:
        """Return whether the hand has no decisions left."""
        return self.betting.is_over

    @property
    def holes(self) -> tuple[Cards, ...]:
        """Cards that each player holds now, after swaps; () if unknown."""
        return tuple(map(_swapped, self.deal.holes, self.swaps))

    @property
    def board(self) -> Cards:
        """The known board cards that are on the table now."""
        return self.deal.board[: sum(board_sizes(self.betting))]

    def payoffs(self) -> tuple[int, ...]:
        """Return the chips that each player wins; raise `InvalidValueError` before the end.

        Payoffs sum to zero. Ties split the pot; unmatched chips are returned.
        """
        if not self.betting.is_showdown:
            return self.betting.payoffs()
        if len(self.board) < self.rules.total_board_cards:
            raise InvalidValueError("payoffs need the complete board, which is not known")
        strengths = [0] * self.rules.num_players
        for player, hole in enumerate(self.holes):
            if self.betting.folded[player]:
                continue
            if not hole:
                raise InvalidValueError(
                    f"player {player}'s cards are not known, so the payoffs are undefined"
                )
            strengths[player] = rank_cards(hole + self.board, self.rules.ranking)
        return self.betting.payoffs(strengths)

    def __str__(self) -> str:
        """Return all known cards and actions as an ACPC line: `STATE:30:cc/:9s8h|9c6h/8c8d5c`."""
        return f"STATE:{self.hand_number}:{self.betting.text}:{self.cards_text()}"

    def cards_text(self, viewer: int | None = None) -> str:
        """Return the cards of a state line, all or those `viewer` sees (see `games.notation`)."""
        if viewer is not None:
            viewer = whole_number(viewer, "the viewer", 0, self.rules.num_players - 1)
        players = range(self.rules.num_players)
        holes = "|".join(self._hole_text(p) if self._sees(viewer, p) else "" for p in players)
        groups, start = [], 0
        for size in board_sizes(self.betting):
            groups.append(cards_name(self.deal.board[start : start + size]))
            start += size
        return holes + "/".join(groups)

    def _hole_text(self, player: int) -> str:
        swaps = "".join(f"~{cards_name(swap)}" for swap in self.swaps[player])
        return cards_name(self.deal.holes[player]) + swaps

    def _sees(self, viewer: int | None, player: int) -> bool:
        """Return whether `viewer` sees a player's cards; without a viewer all are visible."""
        shows = self.betting.is_showdown and not self.betting.folded[player]
        return viewer is None or viewer == player or shows

    # --- actions ----------------------------------------------------------------------------------

    def legal_actions(self) -> LegalActions:
        """Return the legal actions of the actor; a swap names its card if the hand is known.

        Example:
            >>> from equilibrist.games.catalog import get_game
            >>> from equilibrist.games.notation import parse_state
            >>> state = parse_state(get_game("discard-holdem"), "MATCHSTATE:0:0:cc/:2cKh|/4s5s6s")
            >>> str(state.state.legal_actions())
            'k, d2c, dKh'
        """
        legal = self.betting.legal_actions()
        if SWAP not in legal:
            return legal
        swaps = [Action("d", card=card) for card in self._actor_hole()] or [SWAP]
        return LegalActions((*(action for action in legal.actions if action != SWAP), *swaps))

    def can(self, action: Action) -> bool:
        """Return whether `action` is legal now."""
        return action in self.legal_actions()

    def verify(self, action: Action) -> None:
        """Raise `IllegalActionError` if `action` is not legal now."""
        if not self.can(action):
            objection = self.betting.objection(action)
            if action.kind == "d" and self.betting.is_discarding:
                objection = f"does not name a card of player {self.actor}"
            legal, position = self.legal_actions(), self.betting.num_actions
            raise illegal_action(action, objection, str(self), legal, position)

    def apply(self, action: Action) -> HandState:
        """Return the state after `action`; raise `IllegalActionError` if it is not legal."""
        self.verify(action)
        if action.card is None:
            return replace(self, betting=self.betting.apply(action))
        actor, slot = self.betting.to_act[0], self._draw_slot()
        draw = self.deal.draws[slot] if slot < len(self.deal.draws) else None
        if draw is None:
            raise InvalidValueError(
                f"the replacement for {card_name(action.card)} is not known; the dealer deals it",
                value=action_name(action),
            )
        swaps = list(self.swaps)
        swaps[actor] = (*swaps[actor], (action.card, draw))
        return replace(self, betting=self.betting.apply(SWAP), swaps=tuple(swaps))

    def _actor_hole(self) -> Cards:
        return self.holes[self.betting.to_act[0]]

    def _draw_slot(self) -> int:
        return draw_slot(self.rules, self.betting.round, self.betting.to_act[0])


def board_sizes(betting: Betting) -> tuple[int, ...]:
    """Return the number of board cards dealt in each round so far, the roll-out last.

    Example:
        >>> from equilibrist.games.action import CALL
        >>> from equilibrist.games.catalog import get_game
        >>> board_sizes(Betting.start(get_game("preflop-holdem")).apply(CALL).apply(CALL))
        (0, 5)
    """
    sizes = betting.rules.num_board_cards[: betting.round + 1]
    rollout = betting.rules.rollout_cards if betting.is_showdown else 0
    return (*sizes, rollout) if rollout else sizes


def draw_slot(rules: GameRules, round: int, player: int) -> int:
    """Return the index in `Deal.draws` of a player's replacement card in a round."""
    return rules.num_players * sum(rules.discards[:round]) + player


def _swapped(hole: Cards, swaps: tuple[Swap, ...]) -> Cards:
    for old, new in swaps:
        hole = tuple(new if card == old else card for card in hole)
    return hole

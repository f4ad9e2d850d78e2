"""The betting of a hand without its cards: turns, legal actions, pot and payoffs.

`Betting` is immutable; `apply` returns the next one. The rules are the ACPC dealer's:

- A fold is legal only when facing a bet. A call never costs more than the stack.
- `max_raises` caps the raises of a round; blinds are not raises.
- A limit raise adds the round's size, or the rest of the stack if that is less.
- A no-limit raise goes to at least the big blind, and at least the last raise, above the current
  bet, or all-in if the stack is shorter. An all-in below a full raise may be raised again.
- Nobody may raise when every opponent is all-in. When at most one player has chips behind and
  every bet is matched, the remaining rounds have no betting.
- A round with discards opens with a discard turn for each player who has not folded (including
  all-in players: swapping costs nothing), starting with the round's first player.

The text form is ACPC's: the actions without spaces, and a `/` at the end of each round: `r300c/kk`.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from equilibrist.cards.numbers import shown
from equilibrist.errors import InvalidValueError
from equilibrist.games.action import (
    CALL,
    FOLD,
    KEEP,
    RAISE,
    SWAP,
    Action,
    LegalActions,
    action_name,
    illegal_action,
)
from equilibrist.games.rules import GameRules

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Betting:
    """The public betting state of one hand. Amounts are chips, tuples are per player.

    Example:
        >>> from equilibrist.games.action import raise_to
        >>> from equilibrist.games.catalog import get_game
        >>> betting = Betting.start(get_game("holdem-nolimit"))
        >>> betting.actor, betting.to_call, str(betting.legal_actions())
        (1, 50, 'f, c, r200–r20000')
        >>> betting = betting.apply(raise_to(20000)).apply(CALL)
        >>> betting.text, betting.is_showdown, betting.pot
        ('r20000c///', True, 40000)
    """

    rules: GameRules
    spent: tuple[int, ...]  # chips each player has put in
    folded: tuple[bool, ...]
    round: int
    is_discarding: bool  # in the discard turns that open the round
    to_act: tuple[int, ...]  # players still to act, in order; empty when the hand is over
    num_raises: int  # in this round
    full_raise_to: int  # no-limit: total of the smallest full raise, regardless of the stacks
    opening: int  # chips of each remaining player before this round's bets; blinds are bets
    history: tuple[tuple[Action, ...], ...]  # actions of each round so far
    raiser: int | None = None  # last player to raise in this round; before that, see `aggressor`

    @classmethod
    def start(cls, rules: GameRules, round: int = 0, pot: int | None = None) -> Betting:
        """Return the state at the first decision of a hand, or of a later round.

        With a `pot`, every player has put in an equal share of it. Without one, the players have
        put in their blinds or, in a later round, one big blind each.

        Example:
            >>> from equilibrist.games.catalog import get_game
            >>> river = Betting.start(get_game("holdem-limit"), round=3, pot=80)
            >>> river.spent, river.actor, river.text
            ((40, 40), 0, '///')
        """
        players = rules.num_players
        if not 0 <= round < rules.num_rounds:
            raise InvalidValueError(
                f"{rules.name} has rounds 0 to {rules.num_rounds - 1}, not {round}", value=round
            )
        if pot is not None and (pot < 0 or pot % players):
            raise InvalidValueError(
                f"{players} players cannot share a pot of {shown(pot)}", value=pot
            )
        spent = rules.blinds if round == 0 else (rules.big_blind,) * players
        if pot is not None:
            spent = (pot // players,) * players
        if any(chips > stack for chips, stack in zip(spent, rules.stack_chips, strict=True)):
            raise InvalidValueError(
                f"a pot of {shown(pot)} is above the players' stacks", value=pot
            )
        return _Pause(rules, spent, (False,) * players, round, ((),) * (round + 1)).open_round()

    # --- the current state ------------------------------------------------------------------------

    def opened(self, r: int) -> Betting:
        """Return the state of this hand when round `r` opened; the hand must start in round 0.

        Example:
            >>> from equilibrist.games.action import RAISE
            >>> from equilibrist.games.catalog import get_game
            >>> betting = Betting.start(get_game("leduc")).apply(CALL).apply(CALL).apply(RAISE)
            >>> betting.opened(1).pot, betting.opened(0).pot
            (2, 2)
        """
        now = Betting.start(self.rules)
        for action in [action for actions in self.history[:r] for action in actions]:
            now = now.apply(action)
        return now

    @property
    def actor(self) -> int | None:
        """The player whose turn it is, None when the hand is over."""
        return self.to_act[0] if self.to_act else None

    @property
    def is_over(self) -> bool:
        """Return whether the hand has no decisions left."""
        return not self.to_act

    @property
    def is_showdown(self) -> bool:
        """Return whether the hand is over and is decided by the cards."""
        return not self.to_act and sum(self.folded) + 1 < len(self.folded)

    @property
    def pot(self) -> int:
        """Chips that all players have put in."""
        return sum(self.spent)

    @property
    def stacks_left(self) -> tuple[int, ...]:
        """Chips that each player has left; very large if the rules have no stacks."""
        stacks = self.rules.stack_chips
        return tuple(stack - chips for stack, chips in zip(stacks, self.spent, strict=True))

    @property
    def to_call(self) -> int:
        """Chips that the actor must add to call: the bet faced, or the rest of a shorter stack."""
        if not self.to_act or self.is_discarding:
            return 0
        actor = self.to_act[0]
        return min(max(self.spent), self.rules.stack_chips[actor]) - self.spent[actor]

    @property
    def aggressor(self) -> int | None:
        """The player that raised last in the round before; None after the round's first raise.

        It is also None if nobody raised in that round, or if the hand starts in this one.
        """
        return None if self.num_raises else self.raiser

    @property
    def is_donk(self) -> bool:
        """Return whether a bet would be a donk bet: the aggressor acts later in this round.

        So the actor has called the last raise of the round before, acts first of those two, and
        nobody has bet in this round.
        """
        return not self.is_discarding and self.aggressor in self.to_act[1:]

    @property
    def can_fold(self) -> bool:
        """Return whether the actor faces a bet and may fold."""
        return self.to_call > 0

    @property
    def can_raise(self) -> bool:
        """Return whether the actor may raise to some amount."""
        if not self.to_act or self.is_discarding:
            return False
        if self.num_raises >= self.rules.max_raises[self.round]:
            return False
        actor, stacks, spent = self.to_act[0], self.rules.stack_chips, self.spent
        if stacks[actor] <= max(spent):
            return False
        for player, chips in enumerate(spent):
            if player != actor and chips < stacks[player] and not self.folded[player]:
                return True
        return False

    @property
    def min_raise_to(self) -> int:
        """Smallest total of a raise by the actor; valid if `can_raise`; 0 when the hand is over."""
        if not self.to_act:
            return 0
        stack = self.rules.stack_chips[self.to_act[0]]
        if self.rules.is_limit:
            return min(max(self.spent) + self.rules.raise_sizes[self.round], stack)
        return min(self.full_raise_to, stack)

    @property
    def max_raise_to(self) -> int:
        """Largest total of a raise by the actor; valid if `can_raise`; 0 when the hand is over."""
        if self.rules.is_limit or not self.to_act:
            return self.min_raise_to
        return self.rules.stack_chips[self.to_act[0]]

    @property
    def max_matched_to(self) -> int:
        """Largest total of the actor that a remaining opponent can match; 0 if the hand is over."""
        if not self.to_act:
            return 0
        actor, stacks = self.to_act[0], self.rules.stack_chips
        others = (p for p in range(len(stacks)) if p != actor and not self.folded[p])
        return min(stacks[actor], max(stacks[p] for p in others))

    @property
    def num_actions(self) -> int:
        """Number of actions so far."""
        return sum(map(len, self.history))

    @property
    def text(self) -> str:
        """ACPC betting string: actions without spaces, `/` at the end of each round."""
        return "/".join("".join(map(action_name, actions)) for actions in self.history)

    def payoffs(self, strengths: Sequence[int] | None = None) -> tuple[int, ...]:
        """Return the chips that each player wins at the end of the hand; they sum to zero.

        `strengths` (higher wins) decide a showdown. Unmatched chips are returned. A pot is
        contested by the players that paid their share of it. Odd chips of a split go to the lowest
        player numbers.

        Example:
            >>> from equilibrist.games.catalog import get_game
            >>> Betting.start(get_game("kuhn")).apply(RAISE).apply(CALL).payoffs([3, 1])
            (2, -2)
        """
        if not self.is_over:
            raise InvalidValueError(f"the hand {self.text!r} is not over; it has no payoffs yet")
        if strengths is None:
            if self.is_showdown:
                raise InvalidValueError("a showdown needs the strengths of the hands")
            strengths = (0,) * len(self.spent)
        won = [-chips for chips in self.spent]
        paid = 0
        for level in sorted(set(self.spent)):
            layer = sum(min(chips, level) - min(chips, paid) for chips in self.spent)
            in_layer = [
                player
                for player, chips in enumerate(self.spent)
                if chips >= level and not self.folded[player]
            ]
            best = max(strengths[player] for player in in_layer)
            winners = [player for player in in_layer if strengths[player] == best]
            share, odd = divmod(layer, len(winners))
            for place, player in enumerate(winners):
                won[player] += share + (place < odd)
            paid = level
        return tuple(won)

    # --- actions ----------------------------------------------------------------------------------

    def legal_actions(self) -> LegalActions:
        """Return the legal actions of the actor."""
        if not self.to_act:
            return LegalActions(())
        if self.is_discarding:
            return LegalActions((KEEP, SWAP))
        actions = (FOLD, CALL) if self.can_fold else (CALL,)
        if not self.can_raise:
            return LegalActions(actions)
        if self.rules.is_limit:
            return LegalActions((*actions, RAISE))
        return LegalActions(actions, (self.min_raise_to, self.max_raise_to))

    def can(self, action: Action) -> bool:
        """Return whether `action` is legal now."""
        kind, amount, card = action
        if kind == "r":
            if card is not None or not self.can_raise:
                return False
            if self.rules.is_limit:
                return amount == 0
            return self.min_raise_to <= amount <= self.rules.stack_chips[self.to_act[0]]
        if amount or card is not None or not self.to_act:
            return False
        if self.is_discarding:
            return kind in ("d", "k")
        return kind == "c" or (kind == "f" and self.can_fold)

    def verify(self, action: Action) -> None:
        """Raise `IllegalActionError` if `action` is not legal now.

        Example:
            >>> from equilibrist.games.action import raise_to
            >>> from equilibrist.games.catalog import get_game
            >>> Betting.start(get_game("discard-holdem")).verify(raise_to(3))
            Traceback (most recent call last):
              ...
            equilibrist.errors.IllegalActionError: r3 is below the smallest raise r4 in
            discard-holdem '', player 1 to act; legal are f, c, r4–r200
        """
        if not self.can(action):
            turn = "the hand is over" if self.is_over else f"player {self.actor} to act"
            state = f"{self.rules.name} {self.text!r}, {turn}"
            legal = self.legal_actions()
            raise illegal_action(action, self.objection(action), state, legal, self.num_actions)

    def objection(self, action: Action) -> str:
        """Return why an action is illegal, as the predicate of a sentence."""
        if not self.to_act:
            return "comes after the end of the hand"
        if action.kind == "r" and self.can_raise:
            if self.rules.is_limit:
                return "has an amount, but limit raises have no amount,"
            if action.amount < self.min_raise_to:
                return f"is below the smallest raise r{self.min_raise_to}"
            return f"is above the largest raise r{self.max_raise_to}"
        if action.kind in ("d", "k") and not self.is_discarding:
            return "comes where no card may be swapped"
        if self.is_discarding or action.kind not in ("f", "r"):
            return "is not legal"
        if action.kind == "f":
            return "folds without facing a bet"
        if self.num_raises >= self.rules.max_raises[self.round]:
            return f"exceeds the {self.num_raises} raises allowed"
        if self.rules.stack_chips[self.to_act[0]] <= max(self.spent):
            return "is more than the stack"
        return "raises although no opponent has chips left"

    def apply(self, action: Action) -> Betting:
        """Return the state after `action`; raise `IllegalActionError` if it is not legal."""
        if not self.can(action):
            self.verify(action)
        spent, folded, to_act = self.spent, self.folded, self.to_act[1:]
        num_raises, full_raise_to = self.num_raises, self.full_raise_to
        actor, is_won, raiser = self.to_act[0], False, self.raiser
        if action.kind == "c":
            spent = _put(spent, actor, spent[actor] + self.to_call)
        elif action.kind == "f":
            folded = _put(folded, actor, True)
            is_won = sum(folded) + 1 == len(folded)
            to_act = () if is_won else to_act
        elif action.kind == "r":
            amount = action.amount or self.min_raise_to
            num_raises, raiser = num_raises + 1, actor
            full_raise_to = max(full_raise_to, 2 * amount - max(spent))
            spent = _put(spent, actor, amount)
            to_act = _with_chips(self.rules, spent, folded, (actor + 1) % len(spent))
            to_act = tuple(player for player in to_act if player != actor)
        history = (*self.history[:-1], (*self.history[-1], action))
        if to_act or is_won:
            return Betting(
                self.rules, spent, folded, self.round, self.is_discarding,
                to_act, num_raises, full_raise_to, self.opening, history, raiser,
            )  # fmt: skip
        if not (num_raises or self.is_discarding):
            raiser = None
        pause = _Pause(self.rules, spent, folded, self.round, history, raiser)
        return pause.open_betting() if self.is_discarding else pause.close_round()


# --- transitions between rounds -------------------------------------------------------------------


class _Pause(NamedTuple):
    """A hand between two decisions; each method returns the next state with a decision."""

    rules: GameRules
    spent: tuple[int, ...]
    folded: tuple[bool, ...]
    round: int
    history: tuple[tuple[Action, ...], ...]
    raiser: int | None = None  # last player to raise in the round that was closed

    def open_round(self) -> Betting:
        if not self.rules.discards[self.round]:
            return self.open_betting()
        order = _seats_from(self.rules.first_players[self.round], len(self.spent))
        to_act = tuple(player for player in order if not self.folded[player])
        return self._wait(to_act, is_discarding=True)

    def open_betting(self) -> Betting:
        rules, spent, round = self.rules, self.spent, self.round
        to_act = _with_chips(rules, spent, self.folded, rules.first_players[round])
        # A lone player with chips has nobody to bet against, but in the first round may face a
        # blind.
        if len(to_act) > 1 or (to_act and round == 0):
            opening = 0 if round == 0 and len(set(spent)) > 1 else max(spent)
            return self._wait(to_act, max(spent) + max(1, rules.big_blind), opening)
        return self.close_round()

    def close_round(self) -> Betting:
        if self.round + 1 < self.rules.num_rounds:
            return self._replace(round=self.round + 1, history=(*self.history, ())).open_round()
        return self._wait(())

    def _wait(
        self,
        to_act: tuple[int, ...],
        full_raise_to: int = 0,
        opening: int | None = None,
        is_discarding: bool = False,
    ) -> Betting:
        return Betting(
            self.rules,
            self.spent,
            self.folded,
            self.round,
            is_discarding,
            to_act,
            num_raises=0,
            full_raise_to=full_raise_to,
            opening=max(self.spent) if opening is None else opening,
            history=self.history,
            raiser=self.raiser,
        )


def _with_chips(
    rules: GameRules, spent: tuple[int, ...], folded: tuple[bool, ...], first: int
) -> tuple[int, ...]:
    """Return the players that are neither folded nor all-in, in turn order from `first`."""
    stacks = rules.stack_chips
    order = _seats_from(first, len(spent))
    return tuple(p for p in order if not folded[p] and spent[p] < stacks[p])


@functools.cache
def _seats_from(first: int, num_players: int) -> tuple[int, ...]:
    return (*range(first, num_players), *range(first))


def _put(values: tuple[_T, ...], index: int, value: _T) -> tuple[_T, ...]:
    return (*values[:index], value, *values[index + 1 :])

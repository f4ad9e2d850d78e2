"""Actions of players and their text form.

`f` fold, `c` call or check, `r` limit raise, `r600` no-limit raise to 600 chips in the whole hand
(ACPC), `d` swap a card, `d2c` swap the 2c, `k` keep the cards.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias, cast

from equilibrist.cards.card import Card, card_name, parse_card
from equilibrist.cards.numbers import whole_number
from equilibrist.errors import IllegalActionError, RecordError

Kind: TypeAlias = Literal["f", "c", "r", "d", "k"]


class Action(NamedTuple):
    """One action of a player; see `parse_action` for the text form."""

    kind: Kind
    amount: int = 0  # total of a no-limit raise: the player's chips in the whole hand
    card: Card | None = None  # the card given away by a swap, None if unknown


FOLD = Action("f")
CALL = Action("c")  # or check
RAISE = Action("r")  # limit
SWAP = Action("d")  # some card; which one is known to its owner
KEEP = Action("k")

_MOST_CHIPS = 2**63 - 1  # the rules have a lower limit and check it
_ACTION = re.compile(r"([fck])|r([0-9]{1,10})?|d([2-9TJQKA][cdhs])?")


def raise_to(amount: int) -> Action:
    """Return a no-limit raise to `amount` chips in the whole hand."""
    return Action("r", whole_number(amount, "the total of a raise", 0, _MOST_CHIPS))


def action_name(action: Action) -> str:
    """Return the text of an action; the inverse of `parse_action`.

    Example:
        >>> action_name(CALL), action_name(raise_to(600)), action_name(Action("d", card=0))
        ('c', 'r600', 'd2c')
    """
    kind, amount, card = action
    return kind + (str(amount) if amount else "") + ("" if card is None else card_name(card))


def parse_action(text: str) -> Action:
    """Parse the text of an action.

    Example:
        >>> parse_action("r600")
        Action(kind='r', amount=600, card=None)
    """
    match = _ACTION.fullmatch(text)
    if match is None:
        raise RecordError(
            f"{text[:40]!r} is not an action; actions are f, c, r, r<chips>, d, d<card> and k",
            value=text,
            position=0,
        )
    plain, amount, card = match.groups()
    if plain:
        return Action(cast(Kind, plain))
    if text[0] == "r":
        return Action("r", int(amount or 0))
    return Action("d", card=parse_card(card) if card else None)


@dataclass(frozen=True, slots=True)
class LegalActions:
    """The legal actions of the actor: single `actions` and, in no-limit, a span of raises.

    Example:
        >>> legal = LegalActions((FOLD, CALL), raise_to=(8, 200))
        >>> str(legal), raise_to(9) in legal, raise_to(7) in legal
        ('f, c, r8–r200', True, False)
    """

    actions: tuple[Action, ...]
    raise_to: tuple[int, int] | None = None  # smallest and largest, chips in the whole hand

    def __contains__(self, action: Action) -> bool:
        if self.raise_to is not None and action.kind == "r":
            low, high = self.raise_to
            return low <= action.amount <= high and action.card is None
        return action in self.actions

    def __str__(self) -> str:
        names = [action_name(action) for action in self.actions]
        if self.raise_to is not None:
            low, high = self.raise_to
            names.append(f"r{low}" if low == high else f"r{low}–r{high}")
        return ", ".join(names) or "no actions"


def illegal_action(
    action: Action, objection: str, state: str, legal: LegalActions, position: int
) -> IllegalActionError:
    """Build the error for an illegal action; `position` is its number in the hand."""
    name = action_name(action)
    message = f"{name} {objection} in {state}; legal are {legal}"
    return IllegalActionError(message, value=name, position=position)

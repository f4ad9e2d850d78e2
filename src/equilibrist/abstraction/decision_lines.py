"""The betting of a player that decides action by action: positions in a street, lines of streets.

EctomynX's report wishes that it had given fold, call and raise a probability each instead of
choosing a level of play, with bets by texture, raises by the pot, and rare lines put together.
A *position* is what has happened on a street:

    0        nobody has acted                     2 … 5    BB bet first: 1, 2, 3, 4 bets so far
    1        the first player has checked         6 … 9    BU bet first: 1, 2, 3, 4 bets so far

Before the flop the big blind is a bet already, and "checked" means that BU has limped. A fourth bet
is all chips, so that nothing comes after it: "3-bet and higher ranges are so narrow that they can
mostly be binned together". A *line* is a street with how the streets before ended: 0 with no bet, 1
… 3 with so many bets, BB's first, 4 … 6 with BU's first; before the flop it is not told whose was
first.

Bets and raises are tenths of the pot, 5 to 10, more on wetter and more volatile boards (V: "bet 0.5
* pot" to "1.0 * pot"); a raise adds that share of the pot as it is after a call. Before the flop
sizes are those of `abstraction.bet_levels`, and as there what would be over 60 % of the chips
behind is all of them. A bet of at most a fifth of the pot is never folded to.

Source: EctomynX, "Pokerbots Strategy Report", V. Decided here: sizes on turn and river, which it
gives for the flop only; swaps are decisions too.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

from equilibrist.abstraction.bet_levels import IDEAL_SIZES
from equilibrist.abstraction.betting_lines import BB, BU, NUM_STREETS, STACK

NUM_POSITIONS = 10
NUM_MARKS = 7
MOST_BETS = 4  # on a street, the last all-in
FEWEST_TENTHS, MOST_TENTHS = 5, 10
TURN_TENTHS = (5, 7, 8, 10)  # by wetness
RIVER_TENTHS = (5, 6, 8, 9, 10)


def actor_of(street: int, position: int) -> int:
    """Who decides at a position.

    Example:
        >>> [actor_of(1, position) == BU for position in (0, 1, 2, 3, 6, 7)]
        [False, True, True, False, False, True]
    """
    if position < 2:
        return (BU, BB)[position] if street == 0 else (BB, BU)[position]
    return (BU, BB)[position % 2] if position < 6 else (BB, BU)[position % 2]


def num_bets(position: int) -> int:
    """Bets and raises of the street so far, the big blind not among them."""
    return 0 if position < 2 else (position - 2) % MOST_BETS + 1


def after_raise(street: int, position: int) -> int:
    """The position after a bet or raise; −1 after four."""
    if position < 2:
        return 2 if actor_of(street, position) == BB else 6
    return -1 if num_bets(position) == MOST_BETS else position + 1


def mark_of(street: int, position: int) -> int:
    """How a street has ended that ends by a call or check at a position."""
    bets = min(num_bets(position), MOST_BETS - 1)
    return bets if street == 0 or position < 6 else bets + MOST_BETS - 1


def raise_to(
    street: int, position: int, pot: int, bet: int, own: int, behind: int, tenths: int
) -> int:
    """What a bet or raise at a position goes to, in chips of the street.

    `pot` is that when the street began, `bet` the highest amount put in on it, `own` that of the
    player, `behind` what it has left.

    Example:
        >>> raise_to(1, 0, pot=12, bet=0, own=0, behind=194, tenths=7)
        8
        >>> raise_to(1, 2, pot=12, bet=8, own=0, behind=194, tenths=7)  # 8 + 0.7 · 28
        28
    """
    bets = num_bets(position)
    by_pot = bet + (tenths * (pot + 2 * bet) + 5) // 10
    size = IDEAL_SIZES[bets + 2] if street == 0 else by_pot
    is_commitment = 10 * (size - own) > 6 * behind or bets + 1 == MOST_BETS
    return own + behind if is_commitment else size


@dataclass(frozen=True)
class DecisionLine:
    """A street with how those before have ended."""

    marks: tuple[int, ...]  # of the streets before
    fewest: int  # chips that each has put in before, with the smallest bets

    @property
    def street(self) -> int:
        """0 before the flop … 3 on the river."""
        return len(self.marks)


@functools.cache
def decision_lines() -> tuple[DecisionLine, ...]:
    """Every line that betting can come to, earlier streets first.

    Larger bets come to fewer lines, so those of the smallest are all.

    Example:
        >>> lines = decision_lines()
        >>> [sum(line.street == street for line in lines) for street in range(4)]
        [1, 4, 22, 108]
    """
    lines = [DecisionLine((), 0)]
    for line in lines:
        if line.street + 1 < NUM_STREETS:
            for mark, amount in sorted(_ends(line).items()):
                if line.fewest + amount < STACK:
                    lines.append(DecisionLine((*line.marks, mark), line.fewest + amount))
    return tuple(lines)


def _ends(line: DecisionLine) -> dict[int, int]:
    """Chips that each puts in on a street by its mark, with the smallest bets."""
    found: dict[int, int] = {}
    for first in (0, 1):
        position, bet = first, 2 if line.street == 0 else 0
        own = [2, 1] if line.street == 0 else [0, 0]
        while position >= 0:
            if position != 0:
                found.setdefault(mark_of(line.street, position), bet)
            actor, behind = actor_of(line.street, position), STACK - line.fewest
            if bet == behind:
                break
            own[actor] = bet = raise_to(
                line.street, position, 2 * line.fewest, bet, own[actor], behind - own[actor],
                FEWEST_TENTHS,
            )  # fmt: skip
            position = after_raise(line.street, position)
    return found


@functools.cache
def decision_numbers() -> dict[tuple[int, ...], int]:
    """The number of a line by its marks."""
    return {line.marks: number for number, line in enumerate(decision_lines())}

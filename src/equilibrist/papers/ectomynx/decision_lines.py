"""The betting of a player that decides action by action: positions in a street, lines of streets.

EctomynX's report wishes that it had given fold, call and raise a probability each instead of
choosing a level of play, with bets by texture, raises by the pot, and rare lines put together.
A *position* is what has happened on a street:

    0        nobody has acted                     2 … 4    BB bet first: 1, 2, 3 bets so far
    1        the first player has checked         5 … 7    BU bet first: 1, 2, 3 bets so far
    8 + p    all chips were bet at position p

Before the flop the big blind is a bet already, and "checked" means that BU has limped. Whoever may
bet or raise may also bet all chips; a fourth bet is nothing else: "3-bet and higher ranges are so
narrow that they can mostly be binned together". A *line* is a street with how the streets before
ended: 0 with no bet, 1 … 3 with so many bets, BB's first, 4 … 6 with BU's first; before the flop it
is not told whose was first. The larger the pot, the fewer positions a line has.

Bets and raises are tenths of the pot, 5 to 10, more on wetter and more volatile boards (V: "bet 0.5
* pot" to "1.0 * pot"); a raise adds that share of the pot as it is after a call. Before the flop
sizes are those of `abstraction.bet_levels`, and as there what would be over 60 % of the chips
behind is all of them. A bet of at most a fifth of the pot is never folded to.

Source: EctomynX, "Pokerbots Strategy Report", V. Decided here: sizes on turn and river, which it
gives for the flop only; all chips at any time; swaps are decisions too.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

from equilibrist.papers.ectomynx.bet_levels import IDEAL_SIZES
from equilibrist.papers.ectomynx.betting_lines import BB, BU, NUM_STREETS, STACK
from equilibrist.papers.ectomynx.textures import NUM_FLOP_TEXTURES, NUM_VOLATILITY_BINS

NUM_POSITIONS = 16
NUM_MARKS = 7
MOST_BETS = 3  # on a street, besides all chips
SHOVES = 8  # positions from here on face all chips
FEWEST_TENTHS = 5
TENTHS = (  # of the pot that is bet, by street and the texture that it adds
    (FEWEST_TENTHS,),  # sizes before the flop do not depend on the pot
    tuple(
        FEWEST_TENTHS + sum(divmod(texture, NUM_VOLATILITY_BINS))
        for texture in range(NUM_FLOP_TEXTURES)
    ),
    (5, 7, 8, 10),  # by wetness
    (5, 6, 8, 9, 10),
)


def actor_of(street: int, position: int) -> int:
    """Who decides at a position.

    Example:
        >>> [actor_of(1, position) == BU for position in (0, 1, 2, 3, 5, 6, SHOVES)]
        [False, True, True, False, False, True, True]
    """
    if position >= SHOVES:
        return 1 - actor_of(street, position - SHOVES)
    if position < 2:
        return (BU, BB)[position] if street == 0 else (BB, BU)[position]
    return (BU, BB)[position % 2]


def num_bets(position: int) -> int:
    """Bets and raises of the street so far, the big blind not among them."""
    if position >= SHOVES:
        return num_bets(position - SHOVES) + 1
    return 0 if position < 2 else (position - 2) % MOST_BETS + 1


def after_raise(street: int, position: int) -> int:
    """The position after a bet or raise that is not all chips; −1 where there is none."""
    if position < 2:
        return 2 if actor_of(street, position) == BB else 2 + MOST_BETS
    return -1 if num_bets(position) >= MOST_BETS or position >= SHOVES else position + 1


def after_shove(position: int) -> int:
    """The position after all chips were bet; −1 where they are already."""
    return -1 if position >= SHOVES else position + SHOVES


def mark_of(street: int, position: int) -> int:
    """How a street has ended that ends by a call or check at a position.

    After all chips only who has read too large a bet as them goes on.
    """
    if 0 <= position - SHOVES < 2:  # the first bet
        position = after_raise(street, position - SHOVES)
    bets = min(num_bets(position), MOST_BETS)
    return bets if street == 0 or position % SHOVES < 2 + MOST_BETS else bets + MOST_BETS


def raise_to(
    street: int, position: int, pot: int, bet: int, own: int, behind: int, tenths: int
) -> int:
    """What a bet or raise at a position goes to, in chips of the street; all where none is less.

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
    if after_raise(street, position) < 0:
        return own + behind
    size = IDEAL_SIZES[bets + 2] if street == 0 else by_pot
    return own + behind if 10 * (size - own) > 6 * behind else size


@dataclass(frozen=True)
class DecisionLine:
    """A street with how those before have ended."""

    marks: tuple[int, ...]  # of the streets before
    fewest: int  # chips that each has put in before, with the smallest bets
    positions: tuple[int, ...]  # that betting can come to

    @property
    def street(self) -> int:
        """0 before the flop … 3 on the river."""
        return len(self.marks)


@functools.cache
def decision_lines() -> tuple[DecisionLine, ...]:
    """Every line that betting can come to, earlier streets first.

    Larger bets come to fewer lines and positions, so those of the smallest are all.

    Example:
        >>> lines = decision_lines()
        >>> [sum(line.street == street for line in lines) for street in range(4)]
        [1, 4, 22, 108]
        >>> lines[-1].positions  # a bet would be over 60 % of the chips behind: all or nothing
        (0, 1, 8, 9)
    """
    lines = [_line((), 0)]
    for line in lines:
        if line.street + 1 < NUM_STREETS:
            bets = bets_of(line.street, line.fewest, FEWEST_TENTHS)
            ends = {mark_of(line.street, position): bet for position, bet in bets.items()}
            for mark, amount in sorted(ends.items()):
                lines.append(_line((*line.marks, mark), line.fewest + amount))
    return tuple(lines)


def _line(marks: tuple[int, ...], fewest: int) -> DecisionLine:
    before = sorted(bets_of(len(marks), fewest, FEWEST_TENTHS))
    return DecisionLine(marks, fewest, (*before, *(after_shove(position) for position in before)))


def bets_of(street: int, before: int, tenths: int) -> dict[int, int]:
    """The bet that is faced at every position but those after all chips, in chips of the street.

    `before` is what each has put in before, `tenths` the part of the pot that is bet.

    Example:
        >>> bets_of(1, 6, tenths=7)
        {0: 0, 2: 8, 3: 28, 4: 76, 1: 0, 5: 8, 6: 28, 7: 76}
    """
    found, stack = {}, STACK - before
    for first in (0, 1):
        position, own = first, [2, 1 + first] if street == 0 else [0, 0]
        while max(own) < stack:
            found[position] = max(own)
            actor = actor_of(street, position)
            own[actor] = raise_to(
                street, position, 2 * before, max(own), own[actor], stack - own[actor], tenths
            )
            position = after_raise(street, position)
    return found


@functools.cache
def decision_numbers() -> dict[tuple[int, ...], int]:
    """The number of a line by its marks."""
    return {line.marks: number for number, line in enumerate(decision_lines())}

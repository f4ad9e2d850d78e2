"""The betting of a player that decides action by action: positions on a street, lines of streets.

EctomynX's report suggests, as an improvement, to give fold, call and raise a probability each
instead of choosing a level of play, with bets by texture, raises by the pot, and rare lines merged.
A *position* summarises the betting on a street so far:

    0        no player has acted                  2 … 4    BB bet first: 1, 2, 3 bets so far
    1        the first player has checked         5 … 7    BU bet first: 1, 2, 3 bets so far
    8 + p    all chips were bet at position p

Before the flop the big blind counts as a bet already, and "checked" means that BU has limped. A
player that may bet or raise may also go all-in; a fourth bet is always all-in: "3-bet and higher
ranges are so narrow that they can mostly be binned together". A *line* is a street with the ends of
the earlier streets: 0 without a bet, 1 … 3 with 1 … 3 bets, the first by BB, 4 … 6 with 1 … 3 bets,
the first by BU; before the flop the first bettor is not stored. The larger the pot, the fewer
positions a line has.

Bets and raises are tenths of the pot, 5 to 10, more on wetter and more volatile boards (V: "bet 0.5
* pot" to "1.0 * pot"); a raise adds that share of the pot after a call. Before the flop the sizes
are those of `bet_levels`, and as there a bet of over 60 % of the chips behind becomes all-in. A bet
of at most a fifth of the pot is never folded to.

Source: EctomynX, "Pokerbots Strategy Report", V. Decided here: sizes on turn and river, as it gives
them for the flop only; all-in at any time; swaps are decisions too.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

from equilibrist.papers.ectomynx.bet_levels import IDEAL_SIZES
from equilibrist.papers.ectomynx.betting_lines import BB, BU, NUM_STREETS, STACK
from equilibrist.papers.ectomynx.textures import NUM_FLOP_TEXTURES, NUM_VOLATILITY_BINS

NUM_POSITIONS = 16
NUM_MARKS = 7
MOST_BETS = 3  # per street, besides an all-in
SHOVES = 8  # positions from here on face an all-in
FEWEST_TENTHS = 5
TENTHS = (  # bet sizes in tenths of the pot, by street and by the texture of its new cards
    (FEWEST_TENTHS,),  # sizes before the flop do not depend on the pot
    tuple(
        FEWEST_TENTHS + sum(divmod(texture, NUM_VOLATILITY_BINS))
        for texture in range(NUM_FLOP_TEXTURES)
    ),
    (5, 7, 8, 10),  # by wetness
    (5, 6, 8, 9, 10),
)


def actor_of(street: int, position: int) -> int:
    """Return the player that acts at a position.

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
    """Return the number of bets and raises on the street so far, without the big blind."""
    if position >= SHOVES:
        return num_bets(position - SHOVES) + 1
    return 0 if position < 2 else (position - 2) % MOST_BETS + 1


def after_raise(street: int, position: int) -> int:
    """Return the position after a bet or raise that is not all-in; −1 if there is none."""
    if position < 2:
        return 2 if actor_of(street, position) == BB else 2 + MOST_BETS
    return -1 if num_bets(position) >= MOST_BETS or position >= SHOVES else position + 1


def after_shove(position: int) -> int:
    """Return the position after an all-in; −1 if the position faces one already."""
    return -1 if position >= SHOVES else position + SHOVES


def mark_of(street: int, position: int) -> int:
    """Return the mark of a street that ends with a call or check at a position.

    After an all-in the hand continues only if a large bet was read as an all-in.
    """
    if 0 <= position - SHOVES < 2:  # the first bet
        position = after_raise(street, position - SHOVES)
    bets = min(num_bets(position), MOST_BETS)
    return bets if street == 0 or position % SHOVES < 2 + MOST_BETS else bets + MOST_BETS


def raise_to(
    street: int, position: int, pot: int, bet: int, own: int, behind: int, tenths: int
) -> int:
    """Return the amount of a bet or raise at a position, in chips put in on the street.

    It is all-in if no smaller raise exists. `pot` is the pot at the start of the street, `bet` the
    highest amount put in on it, `own` the player's amount, `behind` the chips that it has left.

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
    """A street with the marks of the earlier streets."""

    marks: tuple[int, ...]  # of the earlier streets
    fewest: int  # chips that each player has put in before, with the smallest bets
    positions: tuple[int, ...]  # that the betting can reach

    @property
    def street(self) -> int:
        """Number of the street: 0 before the flop … 3 on the river."""
        return len(self.marks)


@functools.cache
def decision_lines() -> tuple[DecisionLine, ...]:
    """Return every line that the betting can reach, earlier streets first.

    Larger bets reach fewer lines and positions, so the smallest bets reach all of them.

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
    """Return the bet faced at every position except those after an all-in, by position.

    Bets are chips put in on the street; `before` is the amount that each player has put in on
    earlier streets, `tenths` the bet size in tenths of the pot.

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
    """Return the number of each line by its marks."""
    return {line.marks: number for number, line in enumerate(decision_lines())}

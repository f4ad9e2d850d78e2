"""The betting of two players of levels: every street they can come to, and how each ends.

Both players choose a level when a street begins, the big blind (BB) also whether it leads or
checks. What follows is fixed by `abstraction.bet_levels`, so a street is a table: from the two
choices to its end and the levels that were *played*, which are what history remembers. A choice
after the flop is a *slot*: levels 0 … n of one kind, then of the other; n is the highest level
that the chips behind allow. For BB the kinds are leading and checking, for the button (BU) facing a
check and facing a bet. A bet that is read as level 0 is a check.

A *line* is a street with its history: the level of each street so far, and whether BB led. Streets
that no pair of choices leads to do not exist, which leaves 113.

Source: EctomynX, "Pokerbots Strategy Report", I.c and III. Its "approximately 400 betting
histories" are the 400 ways to come to a showdown on the river.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from equilibrist.papers.ectomynx.bet_levels import (
    CALL,
    FOLD,
    MOST_LEVEL,
    NUM_LEVELS,
    RAISE,
    Spot,
    bet_level,
    decide,
)

STACK = 200
SMALL_BLIND, BIG_BLIND = 1, 2
BB, BU = 0, 1  # players, as in `games`: the button is the dealer
NUM_STREETS = 4


class StreetEnd(NamedTuple):
    """How a street ended, amounts in chips of the street."""

    folder: int | None  # who folded, None if nobody
    amounts: tuple[int, int]  # put in by BB and BU
    played: tuple[int, int]  # levels played to by BB and BU, −1 for who has not acted
    is_led: bool  # after the flop: whether BB bet first, above level 0

    @property
    def level(self) -> int:
        """The level of a street that nobody folded: both players' alike."""
        return self.played[BB]


class Mark(NamedTuple):
    """What history remembers of a street; before the flop `is_led` is False."""

    is_led: bool
    level: int


def play_street(pot: int, behind: int, bb_slot: int, bu_levels: tuple[int, int]) -> StreetEnd:
    """Betting on a street by the levels of both, `pot` 0 before the flop.

    BB's slot is a level before the flop. BU's levels are those against a check and against a bet;
    before the flop the first counts. `behind` is what each has when the street begins.

    Example:
        >>> play_street(12, 194, bb_slot=2, bu_levels=(0, 3))  # BB leads, BU raises, BB calls
        StreetEnd(folder=None, amounts=(24, 24), played=(2, 2), is_led=True)
    """
    own = [BIG_BLIND, SMALL_BLIND] if pot == 0 else [0, 0]
    # The last amount that each chose to put in: blinds are not chosen, and a fold chooses nothing.
    agreed: list[int | None] = [None, None]
    top = highest_level(pot, behind)
    leads = pot > 0 and bb_slot <= top
    levels = [bb_slot if pot == 0 or leads else bb_slot - top - 1, bu_levels[0]]
    actor, is_led, has_acted, num_bets = (BU if pot == 0 else BB), False, 0, int(pot == 0)
    while True:
        other = 1 - actor
        spot = Spot(
            pot, max(own), own[actor], behind - own[actor], num_bets, can_raise=own[other] < behind
        )
        action = decide(levels[actor], spot)
        if pot > 0 and actor == BB and has_acted == 0 and not leads:
            action = CALL  # the slots of checking
        if action == RAISE:
            own[actor], num_bets = spot.raise_to, num_bets + 1
        elif action == CALL:
            own[actor] = spot.bet
        has_acted += 1
        agreed[actor] = (agreed[actor] or 0) if action == FOLD else own[actor]
        if has_acted == 1 and actor == BB:
            is_led = bet_level(own[BB], pot) > 0
            levels[BU] = bu_levels[is_led]
        if action == FOLD or (action == CALL and has_acted > 1):
            played = (_played(agreed[BB], pot), _played(agreed[BU], pot))
            folder = actor if action == FOLD else None
            return StreetEnd(folder, (own[BB], own[BU]), played, is_led)
        actor = other


def _played(agreed: int | None, pot: int) -> int:
    """The level of an amount, −1 where there is none."""
    return -1 if agreed is None else bet_level(agreed, pot)


def highest_level(pot: int, behind: int) -> int:
    """The highest level that chips behind allow on a street; before the flop (`pot` 0) all do.

    Example:
        >>> [highest_level(12, behind) for behind in (12, 13, 194)]
        [1, 2, 4]
    """
    return MOST_LEVEL if pot == 0 else bet_level(behind, pot)


@dataclass(frozen=True)
class Line:
    """A street with its history, and every way on."""

    history: tuple[Mark, ...]  # of the streets before
    pot: int  # 0 before the flop
    behind: int
    ends: dict[tuple[int, int], StreetEnd]  # by BB's slot and the level of BU that counts
    leads: tuple[bool, ...]  # by BB's slot: whether it bets

    @property
    def street(self) -> int:
        """0 before the flop … 3 on the river."""
        return len(self.history)

    @property
    def num_levels(self) -> int:
        """Levels of a kind: n + 1."""
        return highest_level(self.pot, self.behind) + 1

    @property
    def num_slots(self) -> int:
        """Choices of a player: a level before the flop, after it one of two kinds of levels."""
        return NUM_LEVELS if self.street == 0 else 2 * self.num_levels


def _line(history: tuple[Mark, ...], pot: int, behind: int) -> Line:
    num_levels = highest_level(pot, behind) + 1
    num_slots = num_levels if pot == 0 else 2 * num_levels
    ends = {
        (slot, level): play_street(pot, behind, slot, (level, level))
        for slot in range(num_slots)
        for level in range(num_levels)
    }
    leads = tuple(ends[slot, 0].is_led for slot in range(num_slots))
    return Line(history, pot, behind, ends, leads)


@functools.cache
def all_lines() -> tuple[Line, ...]:
    """Every street that players of levels can come to, earlier streets first.

    Example:
        >>> lines = all_lines()
        >>> len(lines), [(line.pot, line.behind) for line in lines[1:5]]
        (113, [(4, 198), (12, 194), (36, 182), (92, 154)])
    """
    lines = [_line((), 0, STACK)]
    for line in lines:
        for end in line.ends.values():
            if end.folder is not None or line.street == NUM_STREETS - 1:
                continue
            amount = end.amounts[BB]
            history = (*line.history, Mark(end.is_led, end.level))
            if amount < line.behind and all(history != other.history for other in lines):
                lines.append(_line(history, line.pot + 2 * amount, line.behind - amount))
    return tuple(lines)


def nearest_line(history: Sequence[Mark]) -> int:
    """The number of the line with this history, or with the nearest one that exists.

    Opponents with other bet sizes come to streets that players of levels do not.

    Example:
        >>> line = all_lines()[nearest_line((Mark(False, 4), Mark(True, 4)))]
        >>> line.history  # a raise after four bets before the flop would have been all-in
        (Mark(is_led=False, level=4), Mark(is_led=True, level=1))
    """
    found: tuple[Mark, ...] = ()
    for mark in history:
        nexts = [line.history[-1] for line in all_lines()[1:] if line.history[:-1] == found]
        found = (*found, min(nexts, key=lambda other: _distance(mark, other)))
    return line_numbers()[found]


def _distance(mark: Mark, other: Mark) -> tuple[int, bool]:
    return abs(mark.level - other.level), mark.is_led != other.is_led


@functools.cache
def line_numbers() -> dict[tuple[Mark, ...], int]:
    """The number of a line by its history."""
    return {line.history: number for number, line in enumerate(all_lines())}

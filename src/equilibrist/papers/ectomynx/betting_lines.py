"""The betting of two players that choose levels: every reachable street and its possible ends.

Both players choose a level at the start of a street, the big blind (BB) also whether it leads or
checks. The rest of the betting is fixed by `bet_levels`, so a street is a table: from the two
choices to its end and the levels that were *played*, which are stored in the history. A choice
after the flop is a *slot*: levels 0 … n of one kind, then of the other; n is the highest level
that the chips behind allow. For BB the kinds are leading and checking, for the button (BU) facing a
check and facing a bet. A bet of level 0 counts as a check.

A *line* is a street with its history: the level of each street so far, and whether BB led. Streets
that no pair of choices leads to are left out, which leaves 113 lines.

Source: EctomynX, "Pokerbots Strategy Report", I.c and III. Its "approximately 400 betting
histories" are the 400 ways to reach a showdown on the river.
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
    BettingView,
    bet_level,
    decide,
)

STACK = 200
SMALL_BLIND, BIG_BLIND = 1, 2
BB, BU = 0, 1  # players, as in `games`: the button is the dealer
NUM_STREETS = 4


class StreetEnd(NamedTuple):
    """The end of a street; amounts are chips put in on the street."""

    folder: int | None  # the player that folded, None if neither did
    amounts: tuple[int, int]  # put in by BB and BU
    played: tuple[int, int]  # levels played by BB and BU, −1 for a player that has not acted
    is_led: bool  # after the flop: whether BB bet first, above level 0

    @property
    def level(self) -> int:
        """Level of a street without a fold, which is the same for both players."""
        return self.played[BB]


class Mark(NamedTuple):
    """Summary of a finished street in the history; before the flop `is_led` is False."""

    is_led: bool
    level: int


def play_street(pot: int, behind: int, bb_slot: int, bu_levels: tuple[int, int]) -> StreetEnd:
    """Play the betting of a street by both players' choices; `pot` is 0 before the flop.

    Before the flop BB's slot is a level. BU's levels are those against a check and against a bet;
    before the flop the first counts. `behind` is each player's stack at the start of the street.

    Example:
        >>> play_street(12, 194, bb_slot=2, bu_levels=(0, 3))  # BB leads, BU raises, BB calls
        StreetEnd(folder=None, amounts=(24, 24), played=(2, 2), is_led=True)
    """
    own = [BIG_BLIND, SMALL_BLIND] if pot == 0 else [0, 0]
    # The last amount that each player chose to put in: blinds are forced, and a fold chooses 0.
    agreed: list[int | None] = [None, None]
    top = highest_level(pot, behind)
    leads = pot > 0 and bb_slot <= top
    levels = [bb_slot if pot == 0 or leads else bb_slot - top - 1, bu_levels[0]]
    actor, is_led, has_acted, num_bets = (BU if pot == 0 else BB), False, 0, int(pot == 0)
    while True:
        other = 1 - actor
        spot = BettingView(
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
    """Return the level of an amount, or −1 if there is no amount."""
    return -1 if agreed is None else bet_level(agreed, pot)


def highest_level(pot: int, behind: int) -> int:
    """Return the highest level that the chips behind allow; before the flop (`pot` 0) all do.

    Example:
        >>> [highest_level(12, behind) for behind in (12, 13, 194)]
        [1, 2, 4]
    """
    return MOST_LEVEL if pot == 0 else bet_level(behind, pot)


@dataclass(frozen=True)
class Line:
    """A street with its history and all its possible ends."""

    history: tuple[Mark, ...]  # of the earlier streets
    pot: int  # 0 before the flop
    behind: int
    ends: dict[tuple[int, int], StreetEnd]  # by BB's slot and the level of BU that counts
    leads: tuple[bool, ...]  # by BB's slot: whether it bets

    @property
    def street(self) -> int:
        """Number of the street: 0 before the flop … 3 on the river."""
        return len(self.history)

    @property
    def num_levels(self) -> int:
        """Number of levels of each kind: n + 1."""
        return highest_level(self.pot, self.behind) + 1

    @property
    def num_slots(self) -> int:
        """Number of choices of a player: levels before the flop, later levels of two kinds."""
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
    """Return every line that players with levels can reach, earlier streets first.

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
    """Return the number of the line with this history, or with the nearest existing one.

    Opponents with other bet sizes reach streets that players with levels do not.

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
    """Return the number of each line by its history."""
    return {line.history: number for number, line in enumerate(all_lines())}

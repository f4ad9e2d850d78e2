"""The money of a spot: amounts with their unit, the chips at its start, and the rake.

    45, 45chips, 22.5     chips
    5.5bb                 big blinds

Games count whole chips. Where a user gives fractions, odd pots or big blinds, the game has smaller
chips, and `Unit` alone knows how many of them are one chip or big blind of the user: it turns
amounts into chips of the game, and chips of the game into amounts and text. All amounts of a spot
have the same unit; a number without a unit is in chips.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from equilibrist.cards.numbers import shown
from equilibrist.errors import BetMenuError, InvalidValueError
from equilibrist.games.bet_menu import BetMenu, BetSize, SizesOfRounds
from equilibrist.games.rules import UNLIMITED_STACK, GameRules

CHIPS, BIG_BLINDS = "chips", "bb"
UNITS: Final = (CHIPS, BIG_BLINDS)
MOST_CHIPS_PER_UNIT: Final = 10_000
Given: TypeAlias = str | float  # an amount as users give it; int too

_WORDS: Final = {CHIPS: "chips", BIG_BLINDS: "big blinds"}
_SIZE_UNITS: Final = {"chips": CHIPS, "blinds": BIG_BLINDS}  # units by the kind of a bet size
_CAP: Final = "the cap of the rake"
_FINEST: Final = 100  # fractions and big blinds are counted in hundredths, or in smaller parts
_AMOUNT: Final = re.compile(r"(?P<number>\d{1,12}(?:\.\d{1,3})?) *(?P<unit>chips|bb)?", re.ASCII)
_PERCENT: Final = re.compile(r"(?P<number>\d{1,3}(?:\.\d{1,6})?) *%", re.ASCII)


@dataclass(frozen=True)
class Unit:
    """Unit in which the amounts of a spot are given and shown.

    Example:
        >>> blind = Unit("bb", 100)
        >>> blind.amount(550), blind.text(9725), Unit().amount(120)
        (5.5, '97.25', 120)
    """

    name: str = CHIPS  # chips or bb
    size: int = 1  # chips of the game per unit

    def amount(self, chips: int) -> float:
        """Return chips of the game in this unit; an integer if it is whole."""
        whole, rest = divmod(chips, self.size)
        return chips / self.size if rest else whole

    def text(self, chips: int) -> str:
        """Return chips of the game in this unit as text, with all digits and no unit."""
        return f"{Decimal(chips) / self.size:f}"

    def words(self, chips: int) -> str:
        """Return chips of the game in this unit as players read them, with commas."""
        return f"{Decimal(chips) / self.size:,f}"


class Amount(NamedTuple):
    """An amount as it was given: a number of at most three decimals, and its unit."""

    number: Fraction
    unit: str

    @classmethod
    def parse(cls, given: object, what: str) -> Amount:
        """Parse text such as `5.5bb`, or a number; `what` names the amount in errors.

        Example:
            >>> Amount.parse("5.5bb", "the pot")
            Amount(number=Fraction(11, 2), unit='bb')
            >>> str(Amount.parse(22.5, "the pot"))
            '22.5'
        """
        found = _AMOUNT.fullmatch(_as_text(given))
        if found is None:
            raise InvalidValueError(
                f"{what} must be an amount of at most three decimals, such as 45, 22.5 or 5.5bb, "
                f"not {shown(given)}",
                value=given,
            )
        return cls(Fraction(found["number"]), found["unit"] or CHIPS)

    def __str__(self) -> str:
        number = Decimal(self.number.numerator) / self.number.denominator
        return f"{number:f}{'' if self.unit == CHIPS else self.unit}"


def _as_text(given: object) -> str:
    """Return text that is short enough to parse; "" for values that are no amounts."""
    if isinstance(given, str):
        return given.strip() if len(given) <= 60 else ""
    if isinstance(given, bool) or (isinstance(given, int) and given.bit_length() > 256):
        return ""
    try:
        return str(given).removesuffix(".0") if given == given else ""
    except (ValueError, RecursionError):
        return ""


@dataclass(frozen=True)
class Rake:
    """What the house takes of the matched chips when a hand ends, in chips of the game.

    Example:
        >>> Rake(0.05, 30.0).taken(np.array([200.0, 1000.0])).tolist()
        [10.0, 30.0]
    """

    rate: float
    cap: float = math.inf

    def taken(self, pots: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what the house takes of pots without uncalled bets."""
        return np.minimum(self.rate * pots, self.cap)


def parse_rake(rate: str | None, cap: str | None, unit: Unit) -> Rake | None:
    """Return the rake of its texts, such as `5%` and `3bb`; None if nothing is taken.

    Example:
        >>> parse_rake("5%", "3bb", Unit("bb", 100))
        Rake(rate=0.05, cap=300.0)
    """
    if rate is None:
        if cap is not None:
            raise InvalidValueError(
                f"the cap of the rake, {cap}, needs a rake such as 5%", value=cap
            )
        return None
    found = _PERCENT.fullmatch(_as_text(rate))
    share = Fraction(100) if found is None else Fraction(found["number"])
    if share >= 100:
        raise InvalidValueError(
            "the rake must be a share of the pot from 0% to below 100%, such as 5%, not "
            f"{shown(rate)}",
            value=rate,
        )
    most = math.inf
    if cap is not None:
        amount = Amount.parse(cap, _CAP)
        _check_unit(_CAP, amount, unit.name)
        most = float(amount.number * unit.size)
    return Rake(float(share / 100), most) if share and most else None


def _check_unit(what: str, amount: Amount, unit: str) -> None:
    if amount.unit != unit:
        raise InvalidValueError(
            f"{what}, {amount}, is in {_WORDS[amount.unit]}, but other amounts are in "
            f"{_WORDS[unit]}; give all amounts in the same unit, such as 40bb or 400",
            value=str(amount),
        )


@dataclass(frozen=True)
class Chips:
    """The money at the start of a spot, as users give it: numbers of chips, or text with a unit.

    Example:
        >>> Chips("5.5bb", "97.25bb,120bb").unit().size
        100
    """

    pot: Given  # half from each player
    stack: Given | Sequence[Given] | None = None  # behind: of each player, or of both in turn
    blind: Given | None = None  # the smallest bet of no-limit games; default: one chip or big blind
    rake: str | None = None  # share of the matched chips that the house takes, such as 5%
    rake_cap: Given | None = None  # most that the house takes of a hand

    @property
    def cap(self) -> str | None:
        """The cap of the rake as text; None without one."""
        return None if self.rake_cap is None else str(Amount.parse(self.rake_cap, _CAP))

    @property
    def stacks(self) -> tuple[Amount, ...] | None:
        """Chips behind of both players; None in games without stacks."""
        if self.stack is None:
            return None
        given = self.stack.split(",") if isinstance(self.stack, str) else self.stack
        parts = given if isinstance(given, Sequence) else (given,)
        if len(parts) not in (1, 2):
            raise InvalidValueError(
                "the stack must be one amount, or two for out of position and in position, "
                f"not {shown(self.stack)}",
                value=self.stack,
            )
        found = tuple(Amount.parse(part, "the stack") for part in parts)
        return found * 2 if len(found) == 1 else found

    def unit(self, *menus: SizesOfRounds | None) -> Unit:
        """Return the unit of these amounts and of the bet sizes of menus, with the chips in it.

        Whole chips are the chips of the game, or halves of them if the pot is odd. Other amounts
        are counted in hundredths, or in smaller parts if they need them.
        """
        pot = Amount.parse(self.pot, "the pot")
        named = [("the pot", pot), *(("the stack", amount) for amount in self.stacks or ())]
        if self.blind is not None:
            named.append(("the smallest bet", Amount.parse(self.blind, "the smallest bet")))
        for what, amount in named:
            _check_unit(what, amount, pot.unit)
        numbers = [amount.number for _, amount in named]
        numbers += [_amount_of(size).number for size in _fixed_sizes(menus)]
        is_whole = pot.unit == CHIPS and all(number.denominator == 1 for number in numbers)
        parts = (number.denominator for number in (pot.number / 2, *numbers))
        return Unit(pot.unit, math.lcm(1 if is_whole else _FINEST, *parts))

    def pot_chips(self, unit: Unit) -> int:
        """Return the pot in chips of the game."""
        pot = _in_chips(Amount.parse(self.pot, "the pot"), unit, "the pot")
        if pot < 2:
            raise InvalidValueError("the pot must be above 0", value=self.pot)
        return pot

    def behind(self, unit: Unit) -> tuple[int, ...] | None:
        """Return the stacks of both players in chips of the game; None without stacks."""
        if self.stacks is None:
            return None
        return tuple(_in_chips(amount, unit, "the stack") for amount in self.stacks)

    def in_rules(self, rules: GameRules, unit: Unit) -> GameRules:
        """Return rules with these stacks and blinds, in chips of the game.

        Both players have the smaller of two stacks: the rest of the larger one cannot be won. In
        limit games all chips of the rules become smaller, if the unit says so. Raises an error if
        the rules cannot have these amounts.
        """
        if self.stack is None and not rules.is_limit:
            raise InvalidValueError("a no-limit spot needs a stack: the chips behind")
        half, behind = self.pot_chips(unit) // 2, self.behind(unit)
        stacks = None if behind is None else (half + min(behind),) * 2
        if rules.is_limit:
            return replace(_smaller_chips(rules, unit), stacks=stacks)
        blind = self._blind(unit, half)
        return replace(rules, stacks=stacks, blinds=(blind, blind))

    def _blind(self, unit: Unit, half: int) -> int:
        """Return the smallest bet in chips of the game."""
        what = "the smallest bet"
        given = Amount(Fraction(1), unit.name) if self.blind is None else None
        amount = given or Amount.parse(self.blind, what)
        blind = _in_chips(amount, unit, what)
        if not 1 <= blind <= half:
            raise InvalidValueError(
                f"{what} must be above 0 and at most half the pot, {unit.text(half)} {unit.name}, "
                f"not {amount}",
                value=self.blind,
            )
        return blind


def _in_chips(amount: Amount, unit: Unit, what: str) -> int:
    chips = amount.number * unit.size
    if chips > UNLIMITED_STACK:
        raise InvalidValueError(
            f"{what} is at most {unit.text(UNLIMITED_STACK)} {unit.name}, not {amount}",
            value=str(amount),
        )
    assert chips.denominator == 1
    return int(chips)


def _smaller_chips(rules: GameRules, unit: Unit) -> GameRules:
    """Return limit rules in the chips of a spot."""
    if unit.name == BIG_BLINDS and not rules.has_big_blind:
        raise InvalidValueError(f"{rules.name} has no big blind: give amounts in chips")
    times = Fraction(unit.size, rules.big_blind if unit.name == BIG_BLINDS else 1)
    chips = [times * own for own in (*rules.blinds, *rules.raise_sizes)]
    if any(own.denominator > 1 for own in chips):
        raise InvalidValueError(
            f"the bets of {rules.name} are no whole parts of a big blind: give amounts in chips"
        )
    whole, players = tuple(map(int, chips)), len(rules.blinds)
    return replace(rules, blinds=whole[:players], raise_sizes=whole[players:])


def _fixed_sizes(menus: Iterable[SizesOfRounds | None]) -> list[BetSize]:
    """Return the bet sizes of menus that are amounts."""
    return [
        size
        for menu in menus
        for seats in menu or ()
        for sizes in seats
        for size in sizes
        if size.kind in _SIZE_UNITS
    ]


def _amount_of(size: BetSize) -> Amount:
    return Amount(Fraction(repr(size.amount)), _SIZE_UNITS[size.kind])


def menu_in_chips(menu: BetMenu, unit: Unit) -> BetMenu:
    """Return a menu whose sizes are in chips of the game, from one in a unit.

    Example:
        >>> str(menu_in_chips(BetMenu.parse(bets="2.5bb,60%"), Unit("bb", 100)))
        'bets 250c,60%'
    """
    if unit == Unit():
        return menu

    def in_chips(size: BetSize) -> BetSize:
        if size.kind not in _SIZE_UNITS:
            return size
        return BetSize("chips", float(_amount_of(size).number * unit.size))

    def all_in_chips(sizes: SizesOfRounds | None) -> SizesOfRounds | None:
        if sizes is None:
            return None
        return tuple(tuple(tuple(map(in_chips, own)) for own in seats) for seats in sizes)

    bets, raises, donks = map(all_in_chips, menu.sizes())
    return replace(menu, bets=bets, raises=raises, donks=donks)


def check_menu_units(menu: BetMenu, unit: Unit) -> None:
    """Raise `BetMenuError` if a bet size of a menu is in another unit than the pot."""
    for size in _fixed_sizes(menu.sizes()):
        if _SIZE_UNITS[size.kind] != unit.name:
            raise BetMenuError(
                f"the bet size {size} must be in {_WORDS[unit.name]}, as the pot is, such as "
                f"{'2.5bb' if unit.name == BIG_BLINDS else '100c'}",
                value=str(size),
            )

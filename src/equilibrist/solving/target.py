"""Target exploitabilities as users give them: a number with its unit.

    5mbb        milli big blinds per game (5mbb/g is the same)
    0.01bb      big blinds per game
    0.3%        of the pot at the start of a spot or of a model of later rounds
    0.01chips   chips per hand

A number without a unit is in the unit that the caller names: chips for games, the unit of a spot,
mbb for bots. `Target` is the number and its unit; `Goal` is the target of one game, in its unit:
chips, or big blinds in a spot whose amounts are in big blinds.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any, Final

from equilibrist.cards.numbers import shown
from equilibrist.errors import InvalidValueError
from equilibrist.games.rules import GameRules
from equilibrist.models.money import BIG_BLINDS, CHIPS, Unit

MBB, PERCENT = "mbb", "%"
_WORDS: Final = {CHIPS: "chips", BIG_BLINDS: "bb/g", MBB: "mbb/g", PERCENT: "% of the pot"}
_GAME_CHIPS: Final = Unit()
_MOST_CHARACTERS: Final = 60
_TEXT: Final = re.compile(
    r"([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?inf|nan) *(chips|m?bb(?:/g)?|%)?"
)


@dataclass(frozen=True)
class Target:
    """A target exploitability: a number above zero, and its unit.

    Example:
        >>> Target.parse("0.3%"), str(Target(0.3, "%"))
        (Target(number=0.3, unit='%'), '0.3%')
    """

    number: float
    unit: str  # chips, bb, mbb or %

    @classmethod
    def parse(cls, given: str | float, bare: str = CHIPS) -> Target:
        """Return the target of a text such as `5mbb`, or of a number in the unit `bare`.

        Raises `InvalidValueError` for anything else, and for numbers that are not above zero and
        finite.
        """
        text = given if isinstance(given, str) else _text(given)
        found = _TEXT.fullmatch(text.strip()) if len(text) <= _MOST_CHARACTERS else None
        if found is None:
            raise InvalidValueError(
                "a target must be a number with a unit, such as 5mbb, 0.3% of the pot or "
                f"0.01chips, not {shown(given)}",
                value=given,
            )
        number, unit = float(found[1]), (found[2] or bare).removesuffix("/g")
        if not 0 < number < math.inf:
            raise InvalidValueError(
                f"a target must be above zero and finite, not {shown(given)}", value=given
            )
        return cls(number, unit)

    def __str__(self) -> str:
        return f"{_digits(self.number)}{self.unit}"

    def of_game(
        self,
        name: str,
        rules: GameRules | None,
        pot: float | None = None,
        unit: Unit = _GAME_CHIPS,
    ) -> Goal:
        """Return the target of a game in `unit`; `pot` is that at its start, None: it has none.

        Raises `InvalidValueError` if the unit has no meaning in the game.

        Example:
            >>> from equilibrist.games.catalog import get_game
            >>> str(Target.parse("5mbb").of_game("limit", get_game("holdem-limit")))
            '0.05 chips (5 mbb/g)'
        """
        number = self.number * self._factor(name, rules, pot, unit)
        number /= {PERCENT: 100, MBB: 1000}.get(self.unit, 1)
        if not 0 < number < math.inf:
            raise InvalidValueError(
                f"the target {self} is {number:g} {unit.name} of {name}", value=str(self)
            )
        return Goal(self, number, unit.name)

    def _factor(self, name: str, rules: GameRules | None, pot: float | None, unit: Unit) -> float:
        """Return the amount of which the number is a share: the pot, the big blind, or 1."""
        if self.unit == CHIPS:
            if unit.name != CHIPS:
                raise InvalidValueError(
                    f"the amounts of {name} are in big blinds: give the target {self} in bb, in "
                    "mbb or in % of the pot",
                    value=str(self),
                )
            return 1
        if self.unit == PERCENT:
            if pot is None:
                raise InvalidValueError(
                    f"{name} starts without a pot of which {self} could be a share: give the "
                    "target in chips, or in mbb if it has a big blind",
                    value=str(self),
                )
            return pot
        if unit.name == BIG_BLINDS:
            return 1
        if rules is None or not rules.has_big_blind:
            instead = "in chips" if pot is None else "in chips or in % of the pot"
            raise InvalidValueError(
                f"{name} has no big blind in which {self} could be counted: give the target "
                f"{instead}",
                value=str(self),
            )
        return rules.big_blind / unit.size


@dataclass(frozen=True)
class Goal:
    """The target exploitability of one game: as it was given, and in the unit of the game."""

    given: Target
    chips: float  # or big blinds: `unit`
    unit: str = CHIPS

    def __str__(self) -> str:
        text = f"{self.chips:g} {self.unit}"
        if self.given.unit == self.unit:
            return text
        return f"{text} ({self.given.number:g} {_WORDS[self.given.unit]})"

    def data(self) -> dict[str, Any]:
        """Return the fields of the JSON of a run: `target` in `unit`, and `to` as it was given."""
        return {"target": self.chips, "to": str(self.given)}


NO_GOAL: Final[dict[str, Any]] = {"target": None, "to": None}  # fields of a run without a target


def _text(number: float) -> str:
    """Return a number of any kind as text that `Target.parse` reads; "" if there is none."""
    try:
        return repr(float(number))
    except (TypeError, ValueError, OverflowError):
        return ""


def _digits(number: float) -> str:
    """Return the shortest text that is read as the same number."""
    return repr(number).removesuffix(".0")

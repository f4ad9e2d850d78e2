"""Records of finished hands, and reading and writing of the lines of ACPC logs.

    STATE:<hand>:<betting>:<cards>:<values>:<names>

    STATE:4:rrf:6s9d|4dQd:20|-20:Alice|Bob

A line is the state as in `games.notation`, then the chips that each player won and the players'
names, in player order (hold'em: the big blind first). `games.match_log` reads complete logs.

Values have the dealer's format: at most six decimals, no trailing zeros. The dealer splits a pot
exactly, even if three players tie for an odd number of chips; this package gives odd chips to the
lowest players. Reading accepts both and stores the values of the line.

Source: the ACPC dealer, protocol 2.0.0.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

from equilibrist.errors import InvalidValueError, RecordError
from equilibrist.games.notation import line_error, parse_state
from equilibrist.games.rules import GameRules
from equilibrist.games.state import HandState

Chips: TypeAlias = int | Fraction  # a fraction only if an odd pot was split exactly

ROUNDING = Fraction(1, 10**6)  # values are printed with six decimals

_VALUE = re.compile(r"0|-?([1-9][0-9]{0,14}(\.[0-9]{1,6})?|0\.[0-9]{1,6})")  # canonical form only


@dataclass(frozen=True, slots=True)
class HandRecord:
    """A finished hand: last state, names and payoffs; tuples are in player order.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> record = parse_log_line(get_game("kuhn"), "STATE:3:rc:As|Qs:2|-2:Alice|Bob")
        >>> record.hand_number, record.names, record.payoffs
        (3, ('Alice', 'Bob'), (2, -2))
    """

    state: HandState
    names: tuple[str, ...]
    payoffs: tuple[Chips, ...]

    def __post_init__(self) -> None:
        players = self.state.rules.num_players
        if not self.state.is_over:
            raise InvalidValueError(
                f"{self.state} is not over; only finished hands have a record",
                value=str(self.state),
            )
        for what, values in (("names", self.names), ("payoffs", self.payoffs)):
            if len(values) != players:
                raise InvalidValueError(f"{len(values)} {what} for {players} players", value=values)

    @classmethod
    def of(cls, state: HandState, names: Iterable[str]) -> HandRecord:
        """Build the record of a finished hand with the payoffs of its rules."""
        return cls(state, tuple(names), state.payoffs())

    @property
    def rules(self) -> GameRules:
        """The rules of the game."""
        return self.state.rules

    @property
    def hand_number(self) -> int:
        """Number of the hand in its match, from 0."""
        return self.state.hand_number


def log_line(record: HandRecord) -> str:
    """Return the log line of a hand, without line end; the inverse of `parse_log_line`."""
    check_names(record.names)
    values = "|".join(map(chips_text, record.payoffs))
    return f"{record.state}:{values}:{'|'.join(record.names)}"


def parse_log_line(rules: GameRules, line: str) -> HandRecord:
    """Parse the log line of a hand; a `RecordError` describes what is wrong and where.

    The values must be the payoffs of the cards and the betting.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> parse_log_line(get_game("kuhn"), "STATE:3:rc:As|Qs:1|-1:Alice|Bob")
        Traceback (most recent call last):
          ...
        equilibrist.errors.RecordError: player 0 wins 1 in the line, but by the rules 2
        (character 18 of 'STATE:3:rc:As|Qs:1|-1:Alice|Bob')
    """
    line = line.rstrip("\r\n")
    fields = line.split(":")
    if fields[0] != "STATE" or len(fields) != 6:
        form = "STATE:<hand>:<betting>:<cards>:<values>:<names>"
        raise line_error(line, 0, f"a hand must be {form}, not {len(fields)} fields", line)
    state = parse_state(rules, ":".join(fields[:4])).state
    if not state.is_over:
        at = len(":".join(fields[:2])) + 1
        raise line_error(line, at, f"the hand {fields[2]!r} is not over", fields[2])
    at = len(":".join(fields[:4])) + 1
    payoffs = _check_payoffs(state, parse_values(line, at, fields[4], rules.num_players), line, at)
    names = parse_names(line, at + len(fields[4]) + 1, fields[5], rules.num_players)
    return HandRecord(state, names, payoffs)


def chips_text(chips: Chips) -> str:
    """Return chips as the dealer prints them: at most six decimals, no trailing zeros.

    Example:
        >>> chips_text(-20), chips_text(Fraction(15, 2)), chips_text(Fraction(-1, 3))
        ('-20', '7.5', '-0.333333')
    """
    if isinstance(chips, int):
        return str(chips)
    return f"{float(chips):.6f}".rstrip("0").rstrip(".")


def parse_values(line: str, start: int, field: str, players: int) -> list[Fraction]:
    """Parse the chips of a field that starts at `start`, one value per player."""
    values, words = [], field.split("|")
    if len(words) != players:
        raise line_error(line, start, f"{len(words)} values for {players} players", field)
    for word in words:
        if not _VALUE.fullmatch(word):
            message = f"{word[:40]!r} is not a number of chips, such as -7.5"
            raise line_error(line, start, message, word)
        values.append(Fraction(word))
        start += len(word) + 1
    return values


def parse_names(line: str, start: int, field: str, players: int) -> tuple[str, ...]:
    """Parse the names of a field that starts at `start`, one name per player."""
    names = tuple(field.split("|"))
    if len(names) != players:
        raise line_error(line, start, f"{len(names)} names for {players} players", field)
    try:
        check_names(names)
    except RecordError as error:
        raise line_error(line, start, str(error), error.value) from None
    return names


def check_names(names: Iterable[str]) -> None:
    """Raise `RecordError` for a name that cannot be stored in a log."""
    for name in names:
        if not name or not name.isprintable() or ":" in name or "|" in name:
            raise RecordError(
                f"a player's name must be printable, without : and |, not {name[:40]!r}", value=name
            )


def _check_payoffs(
    state: HandState, written: list[Fraction], line: str, start: int
) -> tuple[Chips, ...]:
    """Return the payoffs of a state, with odd chips split as in the values `written`."""
    try:
        whole = state.payoffs()
    except InvalidValueError as error:
        raise line_error(line, start, str(error), None) from None
    if tuple(written) == whole:
        return whole
    exact = _split_payoffs(state)
    for player, (value, right) in enumerate(zip(written, exact, strict=True)):
        text = chips_text(simplest(value))
        if abs(value - right) > ROUNDING:
            message = f"player {player} wins {text} in the line, but by the rules "
            raise line_error(line, start, message + chips_text(right), text)
        start = line.index("|", start) + 1 if player + 1 < len(written) else start
    return exact


def _split_payoffs(state: HandState) -> tuple[Chips, ...]:
    """Return the payoffs with every pot split exactly, computed with scaled-up chips."""
    times = math.lcm(*range(1, state.rules.num_players + 1))
    betting = replace(state.betting, spent=tuple(times * chips for chips in state.betting.spent))
    payoffs = replace(state, betting=betting).payoffs()
    return tuple(simplest(Fraction(chips, times)) for chips in payoffs)


def simplest(chips: Chips) -> Chips:
    """Return whole chips as an integer and other chips unchanged."""
    return chips if isinstance(chips, int) or chips.denominator > 1 else int(chips)

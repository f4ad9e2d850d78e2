"""The exceptions that Equilibrist raises on purpose.

    EquilibristError            anything a caller may want to catch
     ├── ParseError             text that does not follow its grammar  (also a ValueError)
     │    ├── CardError         a card, hand or board
     │    ├── RangeError        a range of hands
     │    ├── GameFileError     an ACPC game definition
     │    ├── BetMenuError      bet sizes and raise caps
     │    └── RecordError       a state line, log line, hand history or node name
     ├── InvalidValueError      a number or array outside its valid range (also a ValueError)
     ├── UnknownNameError       no game, pattern or node of that name (also a ValueError)
     ├── StorageError           a folder or file that cannot be read, trusted or written
     ├── NetworkError           a connection that failed or was lost
     ├── DeviceError            a GPU that is missing, too small or without its libraries
     ├── IllegalActionError     an action that the rules forbid in this state
     └── SolverError            a method that ended without a solution that passes its check

Each message is one sentence that says what is wrong and what would be right. `value` is the
offending value and `position` its place (a character offset, a line number, an index), or None if
there is no such place.
"""

from __future__ import annotations


class EquilibristError(Exception):
    """Base class of every error that Equilibrist raises on purpose.

    Example:
        >>> error = EquilibristError("cannot do that", value="x", position=3)
        >>> str(error), error.value, error.position
        ('cannot do that', 'x', 3)
    """

    def __init__(self, message: str, *, value: object = None, position: int | None = None) -> None:
        super().__init__(message)
        self.value = value
        self.position = position


class ParseError(EquilibristError, ValueError):
    """Text that does not follow its grammar; `position` is an offset or a line number."""


class CardError(ParseError):
    """An unknown, repeated or missing card."""


class RangeError(ParseError):
    """A range of hands that cannot be read or is empty."""


class GameFileError(ParseError):
    """A malformed ACPC game definition; `position` is the line number, counted from 1."""


class BetMenuError(ParseError):
    """A bet size or raise cap that cannot be read."""


class RecordError(ParseError):
    """A state line, log line, hand history or node name that cannot be read."""


class InvalidValueError(EquilibristError, ValueError):
    """A number or array outside its valid range."""


class UnknownNameError(EquilibristError, ValueError):
    """A name that is not in a catalogue; the message suggests the nearest one."""


class StorageError(EquilibristError):
    """A folder or file that cannot be read, trusted or written; `value` is its path."""


class NetworkError(EquilibristError):
    """A connection that failed or was lost."""


class DeviceError(EquilibristError):
    """A GPU that is missing, too small or without its libraries; says what to install or choose."""


class IllegalActionError(EquilibristError):
    """An action that the rules forbid in this state; the message says what is legal."""


class SolverError(EquilibristError):
    """A method without a solution that passes its check; the message says what to try."""

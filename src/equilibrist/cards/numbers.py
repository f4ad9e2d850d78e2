"""Validation of whole numbers given by a caller, as Python objects or as text."""

from __future__ import annotations

import operator

from equilibrist.errors import EquilibristError, InvalidValueError


def whole_number(
    value: object,
    what: str,
    least: int,
    most: int,
    error: type[EquilibristError] = InvalidValueError,
) -> int:
    """Return any kind of integer (NumPy's too) as an `int`; raise if outside `least` … `most`.

    Example:
        >>> whole_number(7, "a suit", 0, 3)
        Traceback (most recent call last):
          ...
        equilibrist.errors.InvalidValueError: a suit is a whole number from 0 to 3, not 7
    """
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        number = least - 1
    if least <= number <= most:
        return number
    raise error(f"{what} is a whole number from {least} to {most}, not {shown(value)}", value=value)


def shown(value: object) -> str:
    """Return the text of any value for an error message, at most 60 characters long.

    Python refuses to print integers of more than 4,300 digits and lists nested too deeply.

    Example:
        >>> shown("x" * 100), shown(10**5000), shown([10**5000])
        ("'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", 'a huge number',
         'a huge value')
    """
    if isinstance(value, int) and value.bit_length() > 256:
        return "a huge number"
    try:
        return repr(value)[:60]
    except (ValueError, RecursionError):
        return "a huge value"


def parse_whole(text: str, most: int) -> int | None:
    """Return the number written in digits 0 … 9, or None if the text is invalid or above `most`.

    Example:
        >>> parse_whole("255", 255), parse_whole("256", 255), parse_whole("٥", 255)
        (255, None, None)
    """
    if not (text.isascii() and text.isdigit()):
        return None
    digits = text.lstrip("0") or "0"  # Python reads at most 4,300 digits, zeros included
    if len(digits) > len(str(most)):
        return None
    return int(digits) if int(digits) <= most else None

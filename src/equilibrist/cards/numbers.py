"""Whole numbers from outside: checked as Python objects or text, before anything converts them."""

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
    """An integer of any kind (NumPy's too) as Python's own, if it is from `least` to `most`.

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
    # Python refuses to print some integers, and nobody wants to read them.
    is_huge = isinstance(value, int) and value.bit_length() > 256
    shown = "a huge number" if is_huge else repr(value)[:60]
    raise error(f"{what} is a whole number from {least} to {most}, not {shown}", value=value)


def parse_whole(text: str, most: int) -> int | None:
    """The number that a text of digits 0 … 9 stands for, None if it is something else or above.

    Example:
        >>> parse_whole("255", 255), parse_whole("256", 255), parse_whole("٥", 255)
        (255, None, None)
    """
    if not (text.isascii() and text.isdigit()) or len(text.lstrip("0")) > len(str(most)):
        return None
    return int(text) if int(text) <= most else None

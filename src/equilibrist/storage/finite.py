"""Checks for NaN and infinity, which are neither saved nor printed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import numpy as np

from equilibrist.errors import SolverError


def check_finite_data(data: object, consequence: str, what: str = "") -> None:
    """Raise `SolverError`, naming its place, if a number in nested data is not finite.

    Example:
        >>> check_finite_data({"rows": [{"value": float("nan")}]}, "nothing is printed")
        Traceback (most recent call last):
        equilibrist.errors.SolverError: rows[0].value came out as nan; nothing is printed
    """
    place = not_finite(data)
    if place is not None:
        name = f"{place[0]} of {what}" if what else place[0]
        raise SolverError(f"{name} came out as {place[1]}; {consequence}", value=place[0])


def not_finite(data: object, place: str = "") -> tuple[str, float] | None:
    """Return the place and value of the first NaN or infinite number; None if there is none.

    Example:
        >>> not_finite({"rows": [{"value": 1.0}, {"value": float("nan")}]})
        ('rows[1].value', nan)
    """
    if isinstance(data, float | np.floating):
        return None if math.isfinite(data) else (place, float(data))
    items: Iterable[tuple[str, object]] = ()
    if isinstance(data, Mapping):
        items = ((f"{place}.{key}" if place else str(key), part) for key, part in data.items())
    elif isinstance(data, list | tuple):
        items = ((f"{place}[{number}]", part) for number, part in enumerate(data))
    found = (not_finite(part, name) for name, part in items)
    return next((each for each in found if each is not None), None)

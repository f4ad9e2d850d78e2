"""Certificates of solutions: the value and exact best responses of a pair of plans."""

from __future__ import annotations

import math
from dataclasses import dataclass

from equilibrist.errors import InvalidValueError


@dataclass(frozen=True)
class Evaluation:
    """Value and best responses of a pair of plans, in `unit`s; `InvalidValueError` unless finite.

    Example:
        >>> Evaluation(-0.1, (0.3, 0.5), "chips").exploitability
        0.4
    """

    value: float  # value of the pair to the first player to act in round one
    best_response: tuple[float, float]  # what player 0 and player 1 win against the other's plan
    unit: str

    def __post_init__(self) -> None:
        names = ("the value", "player 0's best response", "player 1's best response")
        for name, number in zip(names, (self.value, *self.best_response), strict=True):
            if not math.isfinite(number):
                raise InvalidValueError(f"{name} is {_words(number)}", value=number)

    @property
    def nash_conv(self) -> float:
        """Sum of what both players gain by deviating: the gap of the pair."""
        return self.best_response[0] + self.best_response[1]

    @property
    def exploitability(self) -> float:
        """Mean of both best responses: NashConv / 2."""
        return self.nash_conv / 2


def _words(number: float) -> str:
    return "not a number (NaN)" if math.isnan(number) else "infinite"

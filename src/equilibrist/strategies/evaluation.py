"""Certificates of solutions: the value and exact best responses of a pair of plans.

An `Evaluation` counts what a player wins or loses in the whole hand. In a spot, players count what
they expect of the pot, of which each has paid half: these are the `PotShares` of an evaluation, in
which `spot`, and `exploit` on a spot, account.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

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


@dataclass(frozen=True)
class PotShares:
    """Expected chips of the pot of a spot for each seat, net of its later bets.

    The values of both seats sum to the pot.

    Example:
        >>> PotShares(Evaluation(-5.0, (-4.0, 7.0), "chips"), pot=40).values
        (15.0, 25.0)
    """

    evaluation: Evaluation  # net of both halves of the pot; its value is that of seat 0
    pot: int

    ACCOUNTING: ClassVar = (
        "each seat's share of the pot at the start, net of its later bets, in chips"
    )

    @property
    def values(self) -> tuple[float, float]:
        """Value of seat 0 and of seat 1."""
        return self.pot / 2 + self.evaluation.value, self.pot / 2 - self.evaluation.value

    @property
    def best_response(self) -> tuple[float, float]:
        """Chips of the pot that each seat expects with a best response."""
        first, second = self.evaluation.best_response
        return self.pot / 2 + first, self.pot / 2 + second

    @property
    def percent_of_pot(self) -> float:
        """Exploitability in per cent of the pot."""
        return 100 * self.evaluation.exploitability / self.pot

    def data(self) -> dict[str, Any]:
        """Return the fields that the JSON of every command on a spot shares."""
        return {
            "value": self.values[0],
            "values": list(self.values),
            "best_response": list(self.best_response),
            "net_value": self.evaluation.value,
            "net_best_response": list(self.evaluation.best_response),
            "exploitability": self.evaluation.exploitability,
            "percent_of_pot": self.percent_of_pot,
            "accounting": self.ACCOUNTING,
        }

    def __str__(self) -> str:
        first, second = self.values
        return (
            f"out of position expects {first:.4g}, in position {second:.4g} of {self.pot} chips "
            "(each seat's share of the pot, net of its later bets)"
        )


def _words(number: float) -> str:
    return "not a number (NaN)" if math.isnan(number) else "infinite"

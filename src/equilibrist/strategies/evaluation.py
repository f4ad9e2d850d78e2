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
    rake: float | None = None  # what the house takes of a hand; None: the game is zero-sum

    def __post_init__(self) -> None:
        names = ("the value", "player 0's best response", "player 1's best response", "the rake")
        numbers = (self.value, *self.best_response, self.rake or 0.0)
        for name, number in zip(names, numbers, strict=True):
            if not math.isfinite(number):
                raise InvalidValueError(f"{name} is {_words(number)}", value=number)

    @property
    def nash_conv(self) -> float:
        """Sum of what both players gain by deviating: the gap of the pair.

        The values of both players sum to minus the rake.
        """
        return self.best_response[0] + self.best_response[1] + (self.rake or 0.0)

    @property
    def exploitability(self) -> float:
        """Mean of what both players gain by deviating: NashConv / 2.

        Without a rake it is the mean of both best responses, and bounds how far the value is from
        that of the game. A game with a rake need not have one value.
        """
        return self.nash_conv / 2

    @property
    def measure(self) -> str:
        """Name of what `exploitability` measures: with a rake, no distance from a value."""
        return "exploitability" if self.rake is None else "mean gain by deviating"


@dataclass(frozen=True)
class PotShares:
    """Expected share of the pot of a spot for each seat, net of its later bets and of the rake.

    The values of both seats and the rake sum to the pot.

    Example:
        >>> shares = PotShares(Evaluation(-5.0, (-4.0, 7.0), "chips"), pot=40)
        >>> shares.values, shares.gains
        ((15.0, 25.0), (1.0, 2.0))
        >>> PotShares(Evaluation(-5.0, (-4.0, 4.0), "chips", rake=2.0), pot=40).gains
        (1.0, 1.0)
    """

    evaluation: Evaluation  # net of both halves of the pot; its value is that of seat 0
    pot: float  # in the unit of the evaluation

    ACCOUNTING: ClassVar = "each seat's share of the pot at the start, net of its later bets"

    @property
    def values(self) -> tuple[float, float]:
        """Value of seat 0 and of seat 1."""
        found = self.evaluation
        return self.pot / 2 + found.value, self.pot / 2 - found.value - (found.rake or 0.0)

    @property
    def gains(self) -> tuple[float, float]:
        """What each seat gains by deviating from its strategy to a best response."""
        (first, second), best = self.values, self.best_response
        return best[0] - first, best[1] - second

    @property
    def accounting(self) -> str:
        """How values and best responses are counted, in words."""
        rake = "" if self.evaluation.rake is None else " and of the rake"
        return f"{self.ACCOUNTING}{rake}, in {self.evaluation.unit}"

    @property
    def best_response(self) -> tuple[float, float]:
        """Share of the pot that each seat expects with a best response."""
        first, second = self.evaluation.best_response
        return self.pot / 2 + first, self.pot / 2 + second

    @property
    def percent_of_pot(self) -> float:
        """Exploitability in per cent of the pot."""
        return 100 * self.evaluation.exploitability / self.pot

    def data(self) -> dict[str, Any]:
        """Return the fields that the JSON of every command on a spot shares.

        With a rake there is no value of the game, so `value` and `net_value` are None.
        """
        rake = self.evaluation.rake
        return {
            "value": self.values[0] if rake is None else None,
            "values": list(self.values),
            "best_response": list(self.best_response),
            "gains": list(self.gains),
            "net_value": self.evaluation.value if rake is None else None,
            "net_best_response": list(self.evaluation.best_response),
            "expected_rake": rake,
            "exploitability": self.evaluation.exploitability,
            "percent_of_pot": self.percent_of_pot,
            "accounting": self.accounting,
        }

    def proof(self) -> str:
        """Return in words what best responses gain: the exploitability or, with a rake, by seat."""
        found, share = self.evaluation, f"{self.percent_of_pot:.3g} % of the pot"
        if found.rake is None:
            return f"exploitability {found.exploitability:.4g} {found.unit} ({share})"
        first, second = self.gains
        return (
            f"deviating gains out of position {first:.4g}, in position {second:.4g} {found.unit}, "
            f"mean {found.exploitability:.4g} ({share})"
        )

    def __str__(self) -> str:
        (first, second), found = self.values, self.evaluation
        text = f"out of position expects {first:.4g}, in position {second:.4g}"
        if found.rake is None:
            ending = "(each seat's share of the pot, net of its later bets)"
            return f"{text} of {self.pot} {found.unit} {ending}"
        return (
            f"{text}, the house {found.rake:.4g} of {self.pot} {found.unit} (each seat's share "
            "of the pot, net of its later bets and of the rake)"
        )


def _words(number: float) -> str:
    return "not a number (NaN)" if math.isnan(number) else "infinite"

"""What exact best responses say of a pair of plans: the certificate that a solution carries."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Evaluation:
    """Value and best responses of a pair of plans, in `unit`s.

    Example:
        >>> Evaluation(-0.1, (0.3, 0.5), "chips").exploitability
        0.4
    """

    value: float  # of the pair, for whoever acts first in round one
    best_response: tuple[float, float]  # what player 0 and player 1 win against the other's plan
    unit: str

    @property
    def nash_conv(self) -> float:
        """Sum of what both players gain by deviating: the gap of the pair."""
        return self.best_response[0] + self.best_response[1]

    @property
    def exploitability(self) -> float:
        """Mean of both best responses: NashConv / 2."""
        return self.nash_conv / 2

"""Discounting of past iterations: the family of CFR variants in three numbers.

After iteration t positive regrets are multiplied by t^α / (t^α + 1), negative ones by t^β / (t^β +
1), and the strategy of iteration t has weight t^γ in the average (Brown, Sandholm 2019). An
exponent of inf means a factor of exactly 1, −inf exactly 0, also at t = 1 where the formula would
give ½. Then CFR is (inf, inf, 0) and CFR+ is (inf, −inf, 1): negative regrets are set to zero,
which is equation 9 of the CFR+ supplement.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Discounting:
    """Exponents of positive regret, negative regret and the average.

    Example:
        >>> PLUS.factors(1), LINEAR.factors(1), DISCOUNTED.weight(3)
        ((1.0, 0.0), (0.5, 0.5), 9.0)
    """

    alpha: float
    beta: float
    gamma: float

    def factors(self, t: int) -> tuple[float, float]:
        """Return the factors of positive and negative regrets after iteration t = 1, 2, …."""
        return _factor(t, self.alpha), _factor(t, self.beta)

    def weight(self, t: int) -> float:
        """Return the weight in the average of the strategy of iteration t."""
        return float(t) ** self.gamma

    def schedule(self, start: int, steps: int, prediction: float) -> NDArray[np.float64]:
        """Return rows (positive, negative, prediction, weight) of the next `steps` iterations."""
        t = np.arange(start + 1, start + steps + 1, dtype=np.float64)
        rows = (_factor(t, self.alpha), _factor(t, self.beta), prediction, t**self.gamma)
        return np.stack(np.broadcast_arrays(*rows), axis=1)


def _factor(t: Any, exponent: float) -> Any:
    if math.isinf(exponent):
        return 1.0 if exponent > 0 else 0.0
    return t**exponent / (t**exponent + 1)


VANILLA = Discounting(math.inf, math.inf, 0)
PLUS = Discounting(math.inf, -math.inf, 1)
LINEAR = Discounting(1, 1, 1)
DISCOUNTED = Discounting(1.5, 0, 2)

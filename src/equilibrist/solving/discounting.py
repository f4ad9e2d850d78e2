"""Discounting of past iterations: the family of CFR variants in a few numbers.

After iteration t positive regrets are multiplied by t^α / (t^α + 1), negative ones by t^β / (t^β +
1), and the strategy of iteration t has weight t^γ in the average (Brown, Sandholm 2019). An
exponent of inf means a factor of exactly 1, −inf exactly 0, also at t = 1 where the formula would
give ½. Then CFR is (inf, inf, 0) and CFR+ is (inf, −inf, 1): negative regrets are set to zero,
which is equation 9 of the CFR+ supplement. DCFR+ is (1.5, −inf, 4) (Xu et al. 2024, "Minimizing
Weighted Counterfactual Regret with Optimistic Online Mirror Descent", equation 6).

The exponent α may change with time, as in "Faster Game Solving via Hyperparameter Schedules"
(Zhang, McAleer, Sandholm 2024), where it rises linearly up to a number of iterations that must be
known before. Here it rises with the logarithm, α_t = α + ρ log₂ t, and no such number is needed:
early regrets are forgotten as fast as in linear CFR, late ones hardly, as in CFR+.
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
        >>> RISING.factors(32) == (32**1.5 / (32**1.5 + 1), 0)  # α = 0.75 + 0.15 · 5
        True
    """

    alpha: float
    beta: float
    gamma: float
    rise: float = 0.0  # ρ: what α gains when t doubles
    unit: float = 1.0  # iteration of weight 1; only ratios matter, but float32 ends at 2^128

    def factors(self, t: int) -> tuple[float, float]:
        """Return the factors of positive and negative regrets after iteration t = 1, 2, …."""
        positive, negative, _, _ = self.schedule(t - 1, 1, 0.0)[0].tolist()
        return positive, negative

    def weight(self, t: int) -> float:
        """Return the weight in the average of the strategy of iteration t."""
        return float((t / self.unit) ** self.gamma)

    def schedule(self, start: int, steps: int, prediction: float) -> NDArray[np.float64]:
        """Return rows (positive, negative, prediction, weight) of the next `steps` iterations."""
        t = np.arange(start + 1, start + steps + 1, dtype=np.float64)
        alpha = self.alpha if self.rise == 0 else self.alpha + self.rise * np.log2(t)
        weight = (t / self.unit) ** self.gamma
        rows = (_factor(t, alpha), _factor(t, self.beta), prediction, weight)
        return np.stack(np.broadcast_arrays(*rows), axis=1)


def _factor(t: Any, exponent: Any) -> Any:
    """Return t^x / (t^x + 1) with an exponent x, or one for each t; ±inf gives exactly 1 or 0."""
    if np.ndim(exponent) == 0 and math.isinf(exponent):
        return 1.0 if exponent > 0 else 0.0
    return t**exponent / (t**exponent + 1)


VANILLA = Discounting(math.inf, math.inf, 0)
PLUS = Discounting(math.inf, -math.inf, 1)
LINEAR = Discounting(1, 1, 1)
DISCOUNTED = Discounting(1.5, 0, 2)
DISCOUNTED_PLUS = Discounting(1.5, -math.inf, 4, unit=64)
RISING = Discounting(0.75, -math.inf, 4, rise=0.15, unit=64)  # docs/decisions/0007

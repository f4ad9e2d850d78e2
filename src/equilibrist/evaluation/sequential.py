"""Sequential test of a match: stop as soon as it is decided, by a mixture SPRT.

The sequential probability ratio of a win rate θ against 0, mixed over θ ~ normal(0, ρσ²), is

    Λ(n) = (1 + nρ)^(-1/2) · exp(n²ρ x̄² / (2σ²(1 + nρ)))

after n results of mean x̄ and variance σ² (Robbins 1970). If the truth is 0 it exceeds 1/α at some
n with probability at most α (Ville's inequality), so a match may be watched all the time and
stopped when it does. Inverting this gives the always-valid interval of any win rate,

    x̄ ± σ · sqrt((1 + nρ) / (n²ρ) · log((1 + nρ) / α²)).

Exact and approximate parts: with normal results of known σ both statements hold for every n. Here
σ² is the empirical variance and results are skewed, so they hold asymptotically, as the first
evaluation is later (Waudby-Smith, Arbour, Sinha, Kennedy, Ramdas, *Time-uniform central limit
theory and asymptotic confidence sequences*). So nothing is decided before `first_look`, nor while
the mean is skewed (`most_skew`), which can only make false alarms rarer; the tests measure how rare
they are with results like poker's. A win rate that drifts, as a learner's does, is not one number:
intervals then contradict each other, and their intersection may be empty.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equilibrist.cards.numbers import whole_number
from equilibrist.errors import InvalidValueError

_MOST_RESULTS = 10**12


@dataclass(frozen=True)
class MixtureSPRT:
    """Rule of the test: level, the match length for which it is tightest, and when it starts.

    Example:
        >>> rule = MixtureSPRT()
        >>> [round(float(rule.half_width(n) * n**0.5), 2) for n in (100, 1_000, 10_000, 100_000)]
        [8.94, 3.82, 3.04, 3.25]
    """

    alpha: float = 0.05  # maximum probability of a false alarm
    horizon: int = 10_000  # number of results after which the interval is tightest
    first_look: int = 100  # number of results before which nothing is decided
    most_skew: float = 0.07  # skewness of results / √n above which nothing is decided

    def __post_init__(self) -> None:
        if not 0 < self.alpha < 1:
            raise InvalidValueError(
                f"the level must be between 0 and 1, such as 0.05, not {self.alpha}",
                value=self.alpha,
            )
        whole_number(self.horizon, "the horizon", 1, _MOST_RESULTS)
        whole_number(self.first_look, "the first look", 2, _MOST_RESULTS)
        if not self.most_skew > 0:
            raise InvalidValueError(
                f"the largest skewness must be above zero, not {self.most_skew}",
                value=self.most_skew,
            )

    @cached_property
    def rho(self) -> float:
        """Variance of the mixture, in variances of a result, that is best for the horizon n.

        The half width is least where u = nρ solves u = log(1 + u) − 2 log α.
        """
        scaled = 1.0
        for _ in range(100):
            scaled = math.log1p(scaled) - 2 * math.log(self.alpha)
        return scaled / self.horizon

    def half_width(self, n: ArrayLike) -> NDArray[np.float64]:
        """Return half the always-valid interval after n results, in a result's deviations."""
        count = np.asarray(n, np.float64)
        mixed = 1 + count * self.rho
        return np.sqrt(mixed / (count**2 * self.rho) * np.log(mixed / self.alpha**2))

    def p_value(self, n: ArrayLike, z: ArrayLike) -> NDArray[np.float64]:
        """Return 1/Λ, at most 1, of means `z` standard errors from zero after n results."""
        count, sigmas = np.asarray(n, np.float64), np.asarray(z, np.float64)
        mixed = 1 + count * self.rho
        exponent = sigmas**2 * (count * self.rho) / (2 * mixed)
        return np.minimum(1.0, np.sqrt(mixed) * np.exp(-exponent))


@dataclass
class SequentialTest:
    """State of a match during play; `add` results as they come, stop when `is_decided`.

    Results are numbers of any unit, independent of each other: hands, or pairs of hands. The test
    is valid for an evaluation after every result, whatever the sizes of the parts that are added.

    Example:
        >>> test = SequentialTest()
        >>> rng = np.random.default_rng(1)
        >>> while not test.is_decided:
        ...     test.add(rng.normal(0.2, 1.0, size=10))
        >>> test.decided_at, test.interval[0] > 0, test.num_results
        (568, True, 570)
    """

    rule: MixtureSPRT = field(default_factory=MixtureSPRT)
    num_results: int = 0
    p_value: float = 1.0  # always valid: the smallest so far
    decided_at: int | None = None  # number of results after which the p-value fell below the level
    interval: tuple[float, float] = (-math.inf, math.inf)  # intersection of all so far
    _shift: float = 0.0  # the first result; sums are of differences from it, to lose no digits
    _sums: NDArray[np.float64] = field(default_factory=lambda: np.zeros(3))  # of powers 1, 2, 3

    @property
    def is_decided(self) -> bool:
        """Return whether a player wins, at the rule's level."""
        return self.decided_at is not None

    @property
    def mean(self) -> float:
        """Mean of all results."""
        return self._shift + float(self._sums[0]) / self.num_results if self.num_results else 0.0

    def add(self, results: ArrayLike) -> None:
        """Add results [N], as if one by one."""
        new = np.atleast_1d(np.asarray(results, np.float64))
        if new.ndim != 1 or not np.isfinite(new).all():
            raise InvalidValueError("results must be a row of finite numbers", value=new.shape)
        if not len(new):
            return
        if not self.num_results:
            self._shift = float(new[0])
        count, mean, deviation, skew = self._running(new)
        self.num_results = int(count[-1])
        # A deviation of zero means that the spread is not known yet: nothing is decided.
        may_decide = (count >= self.rule.first_look) & (deviation > 0)
        may_decide &= np.abs(skew) <= self.rule.most_skew * np.sqrt(count)
        count, mean, deviation = count[may_decide], mean[may_decide], deviation[may_decide]
        if not len(count):
            return
        half = deviation * self.rule.half_width(count)
        self.interval = (
            max(self.interval[0], float((mean - half).max())),
            min(self.interval[1], float((mean + half).min())),
        )
        p_values = self.rule.p_value(count, mean / deviation * np.sqrt(count))
        self.p_value = min(self.p_value, float(p_values.min()))
        if self.decided_at is None and self.p_value < self.rule.alpha:
            self.decided_at = int(count[np.argmax(p_values < self.rule.alpha)])

    def _running(self, new: NDArray[np.float64]) -> tuple[NDArray[np.float64], ...]:
        """Return number, mean, deviation and skewness of all results, after each new one."""
        apart = new - self._shift
        powers = np.stack([apart, apart * apart, apart * apart * apart])
        sums = self._sums[:, None] + np.cumsum(powers, axis=1)
        self._sums = sums[:, -1].copy()
        count = self.num_results + np.arange(1.0, len(new) + 1)
        first, second, third = sums / count
        variance = np.maximum(second - first**2, 0)
        spread = np.where(variance > 0, variance, 1)
        cube = third - 3 * first * second + 2 * first**3
        skew = cube / (spread * np.sqrt(spread))
        deviation = np.sqrt(variance * count / np.maximum(count - 1, 1))
        return count, self._shift + first, deviation, skew

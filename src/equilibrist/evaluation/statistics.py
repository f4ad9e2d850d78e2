"""Statistics of a match: the win rate, its error, and the winner, if that is decided.

A match is N independent *results*, each the chips that player A won over `hands_each` hands: 1
where hands are dealt alone, 2 where every deal is played twice with seats swapped (the two hands
of a pair depend on each other, pairs do not), more for series or matches of learners; `Results`
holds both. Intervals and p-values are Student's with N − 1 degrees of freedom. They are exact for
normal results and, by the central limit theorem, nearly so for the skewed results of poker;
`tests/evaluation` measures it.

Intervals of a fixed number of hands are valid for one evaluation: to evaluate while hands are
played, use `evaluation.sequential`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equilibrist.cards.numbers import whole_number
from equilibrist.errors import InvalidValueError, UnknownNameError
from equilibrist.games.rules import GameRules
from equilibrist.strategies.evaluation import Evaluation

CONFIDENCE = 0.95
POWER = 0.8  # probability that the number of hands in a verdict would decide
_FEWEST = 6  # minimum number of results for a decision if all are equal
_MOST_HANDS = 10**12


def unit_chips(rules: GameRules) -> dict[str, float]:
    """Return the chips per hand that one of each unit represents, the unit to report first.

    Games without a big blind (everybody antes the same) report chips alone; sb/h, small bets per
    hand, needs fixed raises.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> unit_chips(get_game("holdem-limit"))
        {'mbb/g': 0.01, 'bb/100': 0.1, 'sb/h': 10, 'chips': 1}
        >>> unit_chips(get_game("leduc"))
        {'chips': 1}
    """
    if not rules.has_big_blind:
        return {"chips": 1}
    units = {"mbb/g": rules.big_blind / 1000, "bb/100": rules.big_blind / 100}
    if rules.is_limit:
        units["sb/h"] = rules.raise_sizes[0]
    return units | {"chips": 1}


def mbb_per_game(rules: GameRules | None, found: Evaluation) -> dict[str, float]:
    """Return exploitability in mbb/g by that name; {} if the game has no big blind."""
    units = {} if rules is None else unit_chips(rules)
    return {"mbb/g": found.exploitability / units["mbb/g"]} if "mbb/g" in units else {}


def chips_of_unit(rules: GameRules | None, unit: str | None) -> tuple[str, float]:
    """Return a unit of a game and its chips; default: the first unit, or chips without rules."""
    known = {"chips": 1.0} if rules is None else unit_chips(rules)
    unit = unit or next(iter(known))
    if unit not in known:
        what = "results without rules" if rules is None else rules.name
        raise UnknownNameError(
            f"{what} have no unit {unit!r}; units: {', '.join(known)}", value=unit
        )
    return unit, known[unit]


@dataclass(frozen=True)
class Estimate:
    """Mean with Student's interval, and the p-value of the hypothesis that it is zero."""

    mean: float
    standard_error: float
    ci95: tuple[float, float]
    p_value: float  # two-sided

    @classmethod
    def of(cls, mean: float, standard_error: float, freedom: float) -> Estimate:
        """Build an estimate from a mean, its standard error and the latter's degrees of freedom.

        If the error is zero, Student's test is undefined, and the p-value is that of the sign test.

        Example:
            >>> estimate = Estimate.of(1.0, 0.5, freedom=100)
            >>> [round(end, 3) for end in estimate.ci95], round(estimate.p_value, 4)
            ([0.008, 1.992], 0.0482)
        """
        from scipy.special import stdtr, stdtrit

        if standard_error == 0:  # all numbers are equal: use the probability that all have one sign
            return cls(mean, 0.0, (mean, mean), 1.0 if mean == 0 else 0.5**freedom)
        half = float(stdtrit(freedom, 0.5 + CONFIDENCE / 2)) * standard_error
        p_value = 2 * float(stdtr(freedom, -abs(mean) / standard_error))
        return cls(mean, standard_error, (mean - half, mean + half), p_value)

    @classmethod
    def of_sample(cls, sample: NDArray[np.float64]) -> Estimate:
        """Estimate the mean of independent numbers [N ≥ 2]."""
        is_constant = bool((sample == sample[0]).all())  # the formula would leave rounding errors
        error = 0.0 if is_constant else float(sample.std(ddof=1)) / math.sqrt(len(sample))
        return cls.of(float(sample[0] if is_constant else sample.mean()), error, len(sample) - 1)

    @property
    def is_clear(self) -> bool:
        """Return whether the mean is significant: zero is outside the interval."""
        return self.p_value < 1 - CONFIDENCE

    def text(self, unit: str, sign: int = 1) -> str:
        """Return text such as `12.0 ± 3.1 mbb/g, p = 0.02`, with decimals to match the error."""
        half = (self.ci95[1] - self.ci95[0]) / 2
        decimals = min(6, max(0, 1 - math.floor(math.log10(half)))) if half > 0 else 3
        shown = f"p = {self.p_value:.2g}" if self.p_value >= 1e-4 else "p < 0.0001"
        mean = round(sign * self.mean, decimals) + 0.0  # no minus sign before a zero
        return f"{mean:,.{decimals}f} ± {half:,.{decimals}f} {unit}, {shown}"


@dataclass(frozen=True)
class MatchStatistics:
    """Win rate of player A in `unit`s per hand, and what follows from it."""

    names: tuple[str, str]  # A and B
    unit: str
    hands: int
    hands_each: int  # number of hands of one result
    estimate: Estimate  # of the win rate

    @property
    def win_rate(self) -> float:
        """Units that A wins per hand."""
        return self.estimate.mean

    @property
    def standard_deviation(self) -> float:
        """Standard deviation of single hands that would have the same error."""
        return self.estimate.standard_error * math.sqrt(self.hands)

    def hands_needed(self, half_width: float) -> int:
        """Return the number of hands after which the 95 % interval is the win rate ± `half_width`.

        Example:
            >>> match_statistics([30.0, -10.0, 10.0, -30.0] * 25).hands_needed(1.0)
            1941
        """
        if not half_width > 0:
            raise InvalidValueError(
                f"the half width must be a number above zero, not {half_width}", value=half_width
            )
        return self._hands(_quantile(0.5 + CONFIDENCE / 2) / half_width)

    def hands_to_decide(self) -> int | None:
        """Return the hands that would decide with probability 0.8 at the measured win rate.

        None if it is zero: no number of hands would.
        """
        if self.win_rate == 0:
            return None
        return self._hands((_quantile(0.5 + CONFIDENCE / 2) + _quantile(POWER)) / self.win_rate)

    def _hands(self, sigmas_per_unit: float) -> int:
        """Return the hands whose standard error is 1 / `sigmas_per_unit`, as whole results."""
        results = (sigmas_per_unit * self.standard_deviation) ** 2 / self.hands_each
        return max(_FEWEST, math.ceil(results)) * self.hands_each

    @property
    def verdict(self) -> str:
        """One sentence: the winner, or how many more hands would decide.

        Example:
            >>> print(match_statistics([1.0, 3.0] * 50, names=("Ann", "Bob")).verdict)
            Ann wins: 2.00 ± 0.20 chips, p < 0.0001, 100 hands
            >>> print(match_statistics([0.8, -1.0] * 50).verdict)
            cannot tell: about 543 more hands would (B by 0.10 ± 0.18 chips, p = 0.27, 100 hands)
        """
        sign = 1 if self.win_rate > 0 else -1
        rate = self.estimate.text(self.unit, sign)
        name = self.names[0 if sign == 1 else 1]
        if self.estimate.is_clear:
            return f"{name} wins: {rate}, {self.hands:,} hands"
        needed = self.hands_to_decide()
        if needed is None:
            return f"cannot tell: {self.names[0]} and {self.names[1]} are level, {rate}"
        more = max(self.hands_each, needed - self.hands)
        return (
            f"cannot tell: about {more:,} more hands would ({name} by {rate}, {self.hands:,} hands)"
        )

    def to_json(self) -> dict[str, Any]:
        """Return the fields of a match report, as the command line prints them."""
        return {
            "win_rate": self.win_rate,
            "unit": self.unit,
            "standard_deviation": self.standard_deviation,
            "standard_error": self.estimate.standard_error,
            "ci95": list(self.estimate.ci95),
            "p_value": self.estimate.p_value,
            "hands": self.hands,
            "hands_each": self.hands_each,
            "verdict": self.verdict,
        }


@dataclass(frozen=True, eq=False)
class Results:
    """Independent results of a match: the chips that A won, and the number of hands of each.

    `Match.results` returns them, so that callers need not know whether a number of a duplicate
    match is of a hand or of a pair of hands.

    Example:
        >>> Results([-15.0, -15.0], hands_each=2).rates.tolist()
        [-7.5, -7.5]
    """

    chips: ArrayLike  # [N], or [matches, N] for `learning`; each over `hands_each` hands
    hands_each: int = 1

    def __post_init__(self) -> None:
        whole_number(self.hands_each, "the number of hands of a result", 1, _MOST_HANDS)

    @property
    def rates(self) -> NDArray[np.float64]:
        """Chips per hand of each result, in the shape of `chips`."""
        return np.asarray(self.chips, np.float64) / self.hands_each


def match_statistics(
    results: Results | ArrayLike,
    *,
    rules: GameRules | None = None,
    unit: str | None = None,
    hands_each: int | None = None,
    names: tuple[str, str] = ("A", "B"),
) -> MatchStatistics:
    """Return the statistics of the results [N] of a match, in a unit of the game (`unit_chips`).

    A result is the chips that A won over `hands_each` hands (default: 1), all independent of each
    other; `Results` include their number of hands, and it cannot be given a second time.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> pairs = [-15.0] * 10  # always-fold loses 10 chips as big blind and 5 as dealer
        >>> statistics = match_statistics(pairs, rules=get_game("holdem-limit"), hands_each=2)
        >>> statistics.win_rate, statistics.unit, statistics.hands
        (-750.0, 'mbb/g', 20)
    """
    chips, hands_each = _chips_of(results, hands_each, dimensions=1)
    unit, scale = chips_of_unit(rules, unit)
    estimate = Estimate.of_sample(chips / (hands_each * scale))
    return MatchStatistics(names, unit, len(chips) * hands_each, hands_each, estimate)


@dataclass(frozen=True)
class Learning:
    """Change of the win rate within a match, for a player that learns or is learnt from."""

    overall: MatchStatistics  # all hands
    first: MatchStatistics  # the first tenth of each match
    last: MatchStatistics  # the last tenth
    gain: Estimate  # last minus first, in units per hand

    @property
    def verdict(self) -> str:
        """One sentence: whether A does better at the end than at the start."""
        name, change = self.overall.names[0], self.gain.text(self.overall.unit)
        if not self.gain.is_clear:
            return f"cannot tell whether {name} improves: {change}"
        return f"{name} {'improves' if self.gain.mean > 0 else 'gets worse'}: {change}"


def learning(
    results: Results | ArrayLike,
    *,
    rules: GameRules | None = None,
    unit: str | None = None,
    hands_each: int | None = None,
    names: tuple[str, str] = ("A", "B"),
) -> Learning:
    """Return win rates over matches [M, N results], each from a fresh start (GS3's protocol).

    A learning player makes the hands of a match depend on each other, so with several matches a
    match counts as one result, and the gain is the mean of their differences. One match, [N] or
    [1, N], has only its hands: they are taken as independent, and the gain is Welch's.

    Example:
        >>> improving = np.linspace(-1, 1, 100) * np.array([[1.1], [1.0], [0.9]])
        >>> print(learning(improving, names=("Vex", "Poki")).verdict)
        Vex improves: 1.82 ± 0.45 chips, p = 0.0033
    """
    found, hands_each = _chips_of(results, hands_each, dimensions=2)
    chips = np.atleast_2d(found)
    tenth = chips.shape[1] // 10
    if tenth < 1 or (len(chips) == 1 and tenth < 2):
        raise InvalidValueError(
            f"{chips.shape[1]} results per match have no first and last tenth; play at least 20",
            value=chips.shape[1],
        )
    ends = chips[:, :tenth], chips[:, -tenth:]
    parts = [
        match_statistics(
            part.ravel() if len(part) == 1 else part.sum(axis=1),
            rules=rules,
            unit=unit,
            hands_each=hands_each * (1 if len(part) == 1 else part.shape[1]),
            names=names,
        )
        for part in (chips, *ends)
    ]
    scale = hands_each * chips_of_unit(rules, unit)[1]
    if len(chips) > 1:
        gain = Estimate.of_sample((ends[1] - ends[0]).mean(axis=1) / scale)
    else:
        gain = _welch(parts[2].estimate, parts[1].estimate, tenth)
    return Learning(parts[0], parts[1], parts[2], gain)


def _chips_of(
    results: Results | ArrayLike, hands_each: int | None, dimensions: int
) -> tuple[NDArray[np.float64], int]:
    """Return the checked chips of all results, and the number of hands of each."""
    if not isinstance(results, Results):
        results = Results(results, 1 if hands_each is None else hands_each)
    elif hands_each is not None:
        raise InvalidValueError(
            f"the results are of {results.hands_each} hands each; omit hands_each",
            value=hands_each,
        )
    return finite_results(results.chips, dimensions), results.hands_each


def finite_results(results: ArrayLike, dimensions: int) -> NDArray[np.float64]:
    """Return results as at least two finite numbers, with at most `dimensions` dimensions."""
    chips = np.asarray(results, np.float64)
    if not 1 <= chips.ndim <= dimensions or chips.size < 2:
        raise InvalidValueError(
            f"results of shape {list(chips.shape)} have no spread; give at least two, one per hand",
            value=chips.shape,
        )
    if not np.isfinite(chips).all():
        place = int(np.flatnonzero(~np.isfinite(chips))[0])
        raise InvalidValueError(
            f"result {place} is {chips.flat[place]}; results must be finite chips",
            value=float(chips.flat[place]),
            position=place,
        )
    return chips


def _welch(one: Estimate, other: Estimate, size: int) -> Estimate:
    """Return the difference of two independent means of `size` numbers with different variances."""
    variances = one.standard_error**2, other.standard_error**2
    total = sum(variances)
    squares = sum(variance**2 for variance in variances)
    freedom = (size - 1) * total**2 / squares if squares else size - 1
    return Estimate.of(one.mean - other.mean, math.sqrt(total), freedom)


def _quantile(probability: float) -> float:
    """Return a quantile of the normal distribution."""
    from scipy.special import ndtri

    return float(ndtri(probability))

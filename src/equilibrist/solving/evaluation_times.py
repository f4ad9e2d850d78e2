"""When a run is evaluated: at fixed iterations, or where it is expected to meet its target.

An evaluation of a small game takes as long as many iterations, and a run that is evaluated too
rarely iterates on after it has met its target. `Expected` evaluates early, extrapolates the fall of
exploitability by a power law, and evaluates again shortly before the curve meets the target. It is
a function of the evaluations that it placed itself, so a run that is stopped and resumed is
evaluated at the same iterations as one that is not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

FIRST = 20  # iterations before the first evaluation
_NEAR = 0.9  # share of the expected way to the target after which the next evaluation is
_FARTHEST = 2.5  # the next evaluation is at most after this multiple of the iterations so far
_USUAL_FALL, _SLOWEST_FALL, _FASTEST_FALL = 1.5, 0.7, 3.0  # exponents of the power law


class Evaluated(Protocol):
    """One evaluation of a run."""

    @property
    def iteration(self) -> int:
        """Number of iterations so far."""

    @property
    def exploitability(self) -> float:
        """Exploitability of the average plans."""


def next_evaluation(iteration: int, every: int | None = None) -> int:
    """Return the next multiple of `every`, or of 1, 2, 5, 10, 20, 50, … if it is None.

    Example:
        >>> [next_evaluation(n) for n in (0, 1, 7, 230)], next_evaluation(230, every=100)
        ([1, 2, 10, 500], 300)
    """
    if every is not None:
        return (iteration // every + 1) * every
    scale = 10 ** (len(str(max(iteration, 1))) - 1)
    return next(scale * step for step in (1, 2, 5, 10) if scale * step > iteration)


@dataclass(frozen=True)
class Expected:
    """Times of evaluation of a run with a target, from the cost of one in iterations.

    Example:
        >>> from collections import namedtuple
        >>> row = namedtuple("row", "iteration exploitability")
        >>> times, rows = Expected(0.3, cost=2), []
        >>> while not rows or rows[-1].exploitability > 0.3:
        ...     now = times.next(rows[-1].iteration if rows else 0, rows)
        ...     rows.append(row(now, 300 / now**1.5))  # 0.3 after 100 iterations
        >>> [row.iteration for row in rows]
        [20, 47, 94, 99, 104]
    """

    target: float
    cost: float  # of an evaluation, in iterations

    def next(self, iteration: int, trace: Sequence[Evaluated]) -> int:
        """Return the next iteration after which a run is evaluated, given its evaluations so far.

        Evaluations at other iterations, where the run was stopped, do not count. If some are
        missing, as in a run that had another target, all count.
        """
        times, found = self._times(iteration, trace)
        return times[-1] if times[-1] > iteration else self._after([*found.values()], iteration)

    def counts(self, iteration: int, trace: Sequence[Evaluated]) -> bool:
        """Return whether an evaluation counts: a run that meets its target there has ended."""
        times, found = self._times(iteration, trace)
        return iteration in (times if times[-1] > iteration else found)

    def _times(
        self, iteration: int, trace: Sequence[Evaluated]
    ) -> tuple[list[int], dict[int, Evaluated]]:
        """Return the times of evaluation up to the first that is missing, and what was found."""
        found = {row.iteration: row for row in trace if row.iteration <= iteration}
        times, used = [FIRST], []
        while times[-1] <= iteration and times[-1] in found:
            used.append(found[times[-1]])
            times.append(self._after(used))
        return times, found

    def _after(self, rows: Sequence[Evaluated], now: int = 0) -> int:
        """Return the time of the evaluation that follows some others, and iteration `now`."""
        now = max(now, rows[-1].iteration if rows else 0)
        least = max(1, math.ceil(math.sqrt(self.cost * max(now, 1) / 8)))
        if not rows or not rows[-1].exploitability > 0:
            return now + max(least, FIRST)
        left = math.log(max(rows[-1].exploitability / self.target, 1)) / _fall(rows)
        last = rows[-1].iteration or 1
        ahead = last * min(math.exp(min(left, 1)), _FARTHEST)
        return max(now + least, math.floor(last + _NEAR * (ahead - last)))


def _fall(rows: Sequence[Evaluated]) -> float:
    """Return the exponent p of exploitability ~ 1 / tᵖ between the last two evaluations."""
    if len(rows) < 2:
        return _USUAL_FALL
    before, last = rows[-2:]
    if not (before.exploitability > 0 and before.iteration > 0):
        return _USUAL_FALL
    fall = math.log(before.exploitability / last.exploitability)
    return min(
        max(fall / math.log(last.iteration / before.iteration), _SLOWEST_FALL), _FASTEST_FALL
    )

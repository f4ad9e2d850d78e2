"""Rules at decisions: the numbers that name them, and regret matching with its bounds."""

from __future__ import annotations

import numpy as np

from equilibrist.kernels.treeplex import Floats

# Rules of `fold_up`: the value of a decision, and how its behaviour and table change.
EXPECTATION = 0  # mean value under the behaviour; nothing changes
BEST = 1  # value of the best action, which the behaviour then takes (the first of equals)
REGRET = 2  # mean value under the behaviour; the table's regrets grow, and behaviour matches them
SOFTMAX = 3  # smoothed best: w · log Σ exp(value / w), behaviour its softmax; table holds w by row

# Bounds on sums of positive numbers that become probabilities, for every dtype: only sums from
# SMALLEST to LARGEST count (`regret_matching`). docs/findings/small-numbers.md proves it harmless.
SMALLEST, LARGEST = 2.0**-75, 2.0**90


def regret_matching(regrets: Floats) -> Floats:
    """Return probabilities [A, S] in proportion to positive regrets [A, S]; uniform without any.

    They are also uniform where the sum of the positive ones is below SMALLEST or above LARGEST.
    Averages and rows of plans become probabilities by the same rule.

    Example:
        >>> regret_matching(np.array([[3.0, -1.0, 1e-30], [1.0, 0.0, 0.0]])).tolist()
        [[0.75, 0.5, 0.5], [0.25, 0.5, 0.5]]
    """
    positive = np.maximum(regrets, 0)
    with np.errstate(over="ignore"):
        total = positive.sum(axis=0)
    is_counted = (total >= SMALLEST) & (total <= LARGEST)
    shares = np.where(is_counted, positive, 0) / np.where(is_counted, total, 1)
    return np.where(is_counted, shares, 1 / len(regrets))

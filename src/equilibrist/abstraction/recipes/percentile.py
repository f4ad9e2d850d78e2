"""Buckets of equal chance by hand strength, nested: Range of Skill's abstraction.

On each street the hands of every bucket are put in order of strength (equity against a random hand,
all cards to come rolled out) and cut into parts of equal chance: 5-25-125-625 are quintiles four
times. Source: Zinkevich, Bowling and Burch 2007, the abstraction of SmallBot2298.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from equilibrist.abstraction.buckets import Abstraction, Intervals, check_numbers
from equilibrist.abstraction.features import Ints, Progress, Strengths
from equilibrist.abstraction.splitting import label, percentiles, spread
from equilibrist.errors import InvalidValueError


def percentile(
    strengths: Strengths, numbers: Sequence[int], progress: Progress | None = None
) -> Abstraction:
    """Equal parts of every bucket; each of `numbers` is a multiple of the one before.

    Example:
        >>> from equilibrist.abstraction.streets import Streets
        >>> from equilibrist.games.catalog import get_game
        >>> leduc = Strengths.of(Streets.of(get_game("leduc")))
        >>> int(percentile(leduc, [3, 6]).buckets([]).max())
        2
    """
    streets = strengths.streets
    numbers = check_numbers(streets.rules, numbers)
    say = progress or (lambda text: None)
    labels: Ints = np.where(strengths.tables[0] >= 0, 0, -1).astype(np.int32)
    tables: list[Ints] = []
    parents: list[NDArray[np.int32]] = []
    cut = Intervals(np.array([0, 1], np.int32), np.zeros(1, np.int64))
    num_parents = 1
    for r, number in enumerate(numbers):
        if number % num_parents:
            raise InvalidValueError(
                f"{number} buckets are no multiple of {num_parents}: percentiles cut every bucket "
                "into as many parts",
                value=list(numbers),
            )
        say(f"cutting {num_parents} buckets into {number} in round {r + 1}")
        last = r == len(streets) - 1
        if r > 0 and not last:
            labels = tables[-1][streets.parents(r)]
        cut = percentiles(spread(strengths, r, labels, num_parents), number // num_parents)
        parents.append(cut.parents if r > 0 else np.full(number, -1, np.int32))
        if not last:
            labels = label(strengths, r, labels, cut)
            tables.append(labels.astype(np.int16 if number < 2**15 else np.int32))
        num_parents = number
    return Abstraction(
        streets, "percentile", tuple(parents), tuple(tables), strengths.tables[-1], cut
    )

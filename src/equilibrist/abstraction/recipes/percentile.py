"""Nested buckets of equal probability by hand strength: Range of Skill's abstraction.

On each street the hands of every bucket are sorted by strength (equity against a random hand, over
all future cards) and cut into parts of equal probability: 5-25-125-625 are quintiles on each of
four streets. Source: Zinkevich, Bowling and Burch 2007, the abstraction of SmallBot2298.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from equilibrist.abstraction.buckets import Abstraction, check_numbers
from equilibrist.abstraction.features import Progress, Strengths
from equilibrist.abstraction.recipes.request import RecipeRequest
from equilibrist.abstraction.resume import Keep
from equilibrist.abstraction.street_builder import by_strength, grow
from equilibrist.abstraction.strength_cuts import percentiles
from equilibrist.errors import InvalidValueError


def percentile(
    strengths: Strengths,
    numbers: Sequence[int],
    *,
    progress: Progress | None = None,
    keep: Keep | None = None,
) -> Abstraction:
    """Divide every bucket into equal parts; each of `numbers` is a multiple of the previous one.

    Example:
        >>> from equilibrist.abstraction.streets import Streets
        >>> from equilibrist.games.catalog import get_game
        >>> leduc = Strengths.of(Streets.of(get_game("leduc")))
        >>> int(percentile(leduc, [3, 6]).buckets([]).max())
        2
    """
    numbers = check_numbers(strengths.streets.rules, numbers)
    for before, now in itertools.pairwise(numbers):
        if now % before:
            raise InvalidValueError(
                f"{now} buckets are not a multiple of {before}: percentiles divide every bucket "
                "into the same number of parts",
                value=list(numbers),
            )
    return grow(
        strengths,
        "percentile",
        numbers,
        by_strength(strengths, percentiles),
        percentiles,
        progress=progress,
        keep=keep,
    )


def build(request: RecipeRequest) -> Abstraction:
    """Build the abstraction of a request."""
    return percentile(
        request.strengths, request.numbers, progress=request.progress, keep=request.keep
    )

"""Buckets of equal chance by hand strength, nested: Range of Skill's abstraction.

On each street the hands of every bucket are put in order of strength (equity against a random hand,
all cards to come rolled out) and cut into parts of equal chance: 5-25-125-625 are quintiles four
times. Source: Zinkevich, Bowling and Burch 2007, the abstraction of SmallBot2298.
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
    """Equal parts of every bucket; each of `numbers` is a multiple of the one before.

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
                f"{now} buckets are no multiple of {before}: percentiles cut every bucket into as "
                "many parts",
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
    """Build what the recipe is asked for."""
    return percentile(
        request.strengths, request.numbers, progress=request.progress, keep=request.keep
    )

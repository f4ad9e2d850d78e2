"""Buckets by the probability of winning, from the top down: GS2's abstraction.

The hands of every bucket are clustered optimally by their equity against a random hand (one number
per hand: dynamic programming finds the best intervals), and an integer program chooses the number
of parts of each bucket. Source: Gilpin and Sandholm 2007 (GS2), as described in the GS3 paper.
"""

from __future__ import annotations

from collections.abc import Sequence

from equilibrist.abstraction.buckets import Abstraction
from equilibrist.abstraction.features import Progress, Strengths
from equilibrist.abstraction.recipes.request import RecipeRequest
from equilibrist.abstraction.resume import Keep
from equilibrist.abstraction.street_builder import by_strength, grow
from equilibrist.abstraction.strength_cuts import expectations


def expectation(
    strengths: Strengths,
    numbers: Sequence[int],
    *,
    progress: Progress | None = None,
    keep: Keep | None = None,
) -> Abstraction:
    """Build buckets of least error in equity; `numbers` are the buckets of each round.

    Example:
        >>> from equilibrist.abstraction.streets import Streets
        >>> from equilibrist.games.catalog import get_game
        >>> leduc = Strengths.of(Streets.of(get_game("leduc")))
        >>> expectation(leduc, [2, 5]).num_buckets
        (2, 5)
    """
    divide = by_strength(strengths, expectations)
    return grow(
        strengths, "expectation", numbers, divide, expectations, progress=progress, keep=keep
    )


def build(request: RecipeRequest) -> Abstraction:
    """Build the abstraction of a request."""
    return expectation(
        request.strengths, request.numbers, progress=request.progress, keep=request.keep
    )

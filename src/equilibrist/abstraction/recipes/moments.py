"""Buckets by mean and deviation of future equity, the approach that the GS3 paper argues against.

A hand is the point (mean, standard deviation) of its equity on the last street, over all future
cards; two draws with the same moments are not distinguished, however different their futures are.
Points are rounded to 1/512 so that millions of hands share a few thousand of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equilibrist.abstraction.buckets import Abstraction
from equilibrist.abstraction.features import Ints, Progress, Strengths, roll_sums
from equilibrist.abstraction.histograms import Histograms, distinct_points
from equilibrist.abstraction.recipes.request import RecipeRequest
from equilibrist.abstraction.resume import Keep
from equilibrist.abstraction.street_builder import divide_points, grow
from equilibrist.abstraction.strength_cuts import expectations

_STEPS = 512  # steps per unit; a moment is a whole number of steps


def moments(
    strengths: Strengths,
    numbers: Sequence[int],
    *,
    restarts: int = 3,
    seed: int = 0,
    progress: Progress | None = None,
    keep: Keep | None = None,
) -> Abstraction:
    """Build buckets by two moments, `numbers` per round; the last round is divided by strength.

    Example:
        >>> from equilibrist.abstraction.streets import Streets
        >>> from equilibrist.games.catalog import get_game
        >>> rhode_island = Strengths.of(Streets.of(get_game("rhode-island")))
        >>> moments(rhode_island, [4, 12, 36]).num_buckets
        (4, 12, 36)
    """
    streets = strengths.streets
    words = moment_words(strengths)

    def divide(
        r: int, before: Ints, num_parents: int, number: int
    ) -> tuple[Ints, NDArray[np.int32]]:
        groups = distinct_points(streets, r, words[r], _decode, before, num_parents)
        return divide_points(
            before.shape, groups, number, restarts=restarts, seed=seed + r, keep=keep
        )

    return grow(
        strengths,
        "moments",
        numbers,
        divide,
        expectations,
        configuration={"restarts": restarts, "seed": seed},
        progress=progress,
        keep=keep,
    )


def moment_words(strengths: Strengths) -> list[Histograms]:
    """Return mean and deviation of equity as words [B, H], for every street but the last.

    A word is 1 + mean · 2¹⁶ + deviation, in steps; 0 if the board blocks the hand.
    """
    streets = strengths.streets
    last = len(streets) - 1
    table = strengths.tables[last].astype(np.int64)
    squares: NDArray[Any] = np.where(table >= 0, table**2, -1)
    found: list[Histograms] = []
    for r in range(last - 1, -1, -1):
        squares = roll_sums(streets, r, squares, np.float64)
        deals = strengths.scales[r] // strengths.scales[last]
        mean = strengths.tables[r] / strengths.scales[r]
        variance = squares / deals / strengths.scales[last] ** 2 - mean**2
        deviation = np.sqrt(np.maximum(variance, 0))
        steps = np.rint(mean * _STEPS).astype(np.int64) * 2**16
        steps += np.rint(deviation * _STEPS).astype(np.int64) + 1
        found.insert(0, np.where(strengths.tables[r] >= 0, steps, 0).astype(np.uint64))
    return found


def _decode(words: Histograms) -> NDArray[np.float32]:
    """Decode words [n] into points [n, 2]."""
    steps = (words - np.uint64(1)).astype(np.int64)
    return np.stack([steps >> 16, steps & 0xFFFF], axis=1).astype(np.float32) / np.float32(_STEPS)


def build(request: RecipeRequest) -> Abstraction:
    """Build the abstraction of a request."""
    return moments(
        request.strengths,
        request.numbers,
        seed=request.seed,
        progress=request.progress,
        keep=request.keep,
    )

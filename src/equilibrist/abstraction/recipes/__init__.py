"""The papers' ways to put hands into buckets, one file each, and their names."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from itertools import accumulate
from operator import mul

from equilibrist.abstraction.buckets import Abstraction, check_numbers
from equilibrist.abstraction.features import Progress, Strengths
from equilibrist.abstraction.keeping import Keep
from equilibrist.abstraction.streets import Streets
from equilibrist.cards.card import Cards
from equilibrist.errors import InvalidValueError, UnknownNameError
from equilibrist.games.rules import GameRules

RECIPES = {
    "percentile": "equal chances of every bucket, by hand strength (Range of Skill)",
    "expectation": "least error in the chance to win, by integer program (GS2)",
    "moments": "mean and deviation of the future chance to win, for comparison",
    "potential-aware": "histograms over clusters of the next street (GS3)",
    "strength-potential": "classes of strength and one of draws, in each bucket (PsOpti)",
    "texture": "fourteen classes of hands on textures of boards (EctomynX)",
    "lossless": "one bucket a class of hands up to suits; small decks only",
}

_WITHOUT_NUMBERS = ("texture", "lossless")


def build(
    recipe: str,
    rules: GameRules,
    numbers: Sequence[int] | None = None,
    *,
    seed: int = 0,
    flops: Sequence[Cards] = (),
    progress: Progress | None = None,
    keep: Keep | None = None,
) -> Abstraction:
    """An abstraction by the name of its recipe; features it needs are computed on the way.

    `numbers` are the buckets of each round; for strength-potential the parts that each bucket is
    divided into, cut over `flops` alone if some are given. Texture and lossless take no numbers.
    Rounds that `keep` has are not computed again, the others are stored there, except by texture
    and lossless, which take seconds.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> build("percentile", get_game("leduc"), [3, 6]).num_buckets
        (3, 6)
    """
    check_request(recipe, rules, numbers, chosen=bool(flops))
    if recipe == "lossless":
        from equilibrist.abstraction.recipes.lossless import lossless

        return lossless(rules)
    if recipe == "texture":
        from equilibrist.abstraction.recipes.texture import texture

        return texture(Streets.of(rules), progress=progress)
    assert numbers is not None  # or `check_request` had complained
    if recipe == "strength-potential":
        from equilibrist.abstraction.recipes.strength_potential import strength_potential

        strengths = Strengths.of(Streets.of(rules), progress)
        return strength_potential(strengths, numbers, flops=flops, progress=progress, keep=keep)
    strengths = Strengths.of(Streets.of(rules), progress)
    if recipe == "percentile":
        from equilibrist.abstraction.recipes.percentile import percentile

        return percentile(strengths, numbers, progress=progress, keep=keep)
    if recipe == "expectation":
        from equilibrist.abstraction.recipes.expectation import expectation

        return expectation(strengths, numbers, progress=progress, keep=keep)
    if recipe == "moments":
        from equilibrist.abstraction.recipes.moments import moments

        return moments(strengths, numbers, seed=seed, progress=progress, keep=keep)
    from equilibrist.abstraction.recipes.potential_aware import potential_aware

    return potential_aware(strengths, numbers, seed=seed, progress=progress, keep=keep)


def num_buckets(recipe: str, numbers: Sequence[int]) -> tuple[int, ...]:
    """Buckets of each round of an abstraction that was asked for by `numbers`.

    Example:
        >>> num_buckets("percentile", [5, 25]), num_buckets("strength-potential", [6, 7])
        ((5, 25), (6, 42))
    """
    return tuple(accumulate(numbers, mul)) if recipe == "strength-potential" else tuple(numbers)


def check_request(
    recipe: str, rules: GameRules, numbers: Sequence[int] | None, *, chosen: bool = False
) -> None:
    """Complain, before any work, about a recipe or numbers of buckets that cannot be.

    `chosen`: the buckets are to be cut over some flops.
    """
    if recipe not in RECIPES:
        nearest = difflib.get_close_matches(recipe, RECIPES, n=1, cutoff=0.3)
        hint = f"did you mean {nearest[0]}" if nearest else f"recipes: {', '.join(RECIPES)}"
        raise UnknownNameError(f"no recipe is called {recipe[:40]!r}; {hint}", value=recipe)
    if chosen and recipe != "strength-potential":
        raise InvalidValueError(
            f"strength-potential alone is cut over chosen flops, not {recipe}", value=recipe
        )
    if recipe in _WITHOUT_NUMBERS:
        if numbers is not None:
            raise InvalidValueError(f"{recipe} has as many buckets as there are: give no numbers")
    elif numbers is None:
        raise InvalidValueError(f"{recipe} needs numbers of buckets, one a round", value=recipe)
    elif recipe == "strength-potential":  # whose numbers are parts of a bucket, and may fall
        from equilibrist.abstraction.recipes.strength_potential import check_parts

        check_parts(rules, numbers)
    else:
        check_numbers(rules, numbers)

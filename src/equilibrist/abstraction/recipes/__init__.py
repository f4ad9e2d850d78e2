"""The catalogue of recipes: methods of grouping hands into buckets, one file per recipe."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import mul
from typing import Final

from equilibrist.abstraction.buckets import Abstraction, check_numbers, check_parts
from equilibrist.abstraction.features import Progress
from equilibrist.abstraction.recipes.request import RecipeRequest
from equilibrist.abstraction.resume import Keep
from equilibrist.cards.card import Cards
from equilibrist.catalogue import Catalogue, load_object
from equilibrist.errors import InvalidValueError
from equilibrist.games.rules import GameRules


@dataclass(frozen=True)
class Recipe:
    """A recipe of the catalogue, with its costs.

    Costs are per hand on a board of the second-to-last street, where recipes spend nearly all
    memory and time, as measured on two cores (`abstraction/forecast.py`).
    """

    name: str
    summary: str
    builder: str  # import path of a function from a `RecipeRequest` to an `Abstraction`
    bytes_per_hand: float = 25.0
    nanoseconds_per_hand: float = 900.0
    takes_numbers: bool = True  # whether the caller chooses the numbers of buckets
    takes_flops: bool = False  # whether buckets can be cut over chosen flops
    orders_boards: bool = False  # whether boards differ by the order of their cards
    divides: bool = False  # whether the numbers are parts per bucket of the previous round

    def num_buckets(self, numbers: Sequence[int]) -> tuple[int, ...]:
        """Return the number of buckets of each round."""
        return tuple(accumulate(numbers, mul)) if self.divides else tuple(numbers)


_HERE: Final = "equilibrist.abstraction.recipes"

RECIPES: Final = Catalogue(
    "recipe",
    (
        Recipe(
            "percentile",
            "equally likely buckets, by hand strength (Range of Skill)",
            f"{_HERE}.percentile:build",
            bytes_per_hand=14,  # hold'em 5-25-125-625: 1.6 GiB, 13 s
            nanoseconds_per_hand=160,
        ),
        Recipe(
            "expectation",
            "least error in the probability of winning, by integer program (GS2)",
            f"{_HERE}.expectation:build",
            bytes_per_hand=14,  # hold'em 5-25-125-625: 1.5 GiB
            nanoseconds_per_hand=190,
        ),
        Recipe(
            "moments",
            "mean and deviation of the future probability of winning, for comparison",
            f"{_HERE}.moments:build",
            bytes_per_hand=70,  # 32 cards 5-25-125-625; hold'em takes over two minutes
            nanoseconds_per_hand=1500,
        ),
        Recipe(
            "potential-aware",
            "histograms over clusters of the next street (GS3)",
            f"{_HERE}.potential_aware:build",
            bytes_per_hand=75,  # hold'em 20-800-4800-28800: 6.3 GiB, 135 s
            nanoseconds_per_hand=1600,
        ),
        Recipe(
            "strength-potential",
            "classes of strength and one of draws, in each bucket (PsOpti)",
            f"{_HERE}.strength_potential:build",
            bytes_per_hand=25,  # 32 cards, 5 parts each round
            nanoseconds_per_hand=900,
            takes_flops=True,
            divides=True,
        ),
        Recipe(
            "texture",
            "fourteen classes of hands on textures of boards (EctomynX)",
            "equilibrist.papers.ectomynx.texture_recipe:build",
            bytes_per_hand=25,  # 32 cards
            nanoseconds_per_hand=200,
            takes_numbers=False,
        ),
        Recipe(
            "lossless",
            "one bucket for each class of hands up to suits; small decks only",
            f"{_HERE}.lossless:build",
            bytes_per_hand=0,  # refuses all but small decks
            nanoseconds_per_hand=0,
            takes_numbers=False,
            orders_boards=True,
        ),
    ),
)


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
    """Build an abstraction by the name of its recipe.

    `numbers` are the buckets of each round; for strength-potential, the number of parts that each
    bucket is divided into, cut over `flops` only if some are given. Texture and lossless take no
    numbers. Rounds that are stored in `keep` are not computed again; the others are stored there,
    except by texture and lossless, which take seconds.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> build("percentile", get_game("leduc"), [3, 6]).num_buckets
        (3, 6)
    """
    check_request(recipe, rules, numbers, chosen=bool(flops))
    request = RecipeRequest(rules, numbers or (), seed, flops, progress, keep)
    return load_object(RECIPES[recipe].builder)(request)


def num_buckets(recipe: str, numbers: Sequence[int]) -> tuple[int, ...]:
    """Return the number of buckets of each round of an abstraction requested with `numbers`.

    Example:
        >>> num_buckets("percentile", [5, 25]), num_buckets("strength-potential", [6, 7])
        ((5, 25), (6, 42))
    """
    return RECIPES[recipe].num_buckets(numbers)


def check_request(
    recipe: str, rules: GameRules, numbers: Sequence[int] | None, *, chosen: bool = False
) -> None:
    """Raise an error for an unknown recipe or impossible numbers of buckets.

    `chosen` is whether the buckets are to be cut over some flops only.
    """
    entry = RECIPES[recipe]
    if chosen and not entry.takes_flops:
        able = " and ".join(name for name, other in RECIPES.items() if other.takes_flops)
        raise InvalidValueError(
            f"only {able} can be cut over chosen flops, not {recipe}", value=recipe
        )
    if not entry.takes_numbers:
        if numbers is not None:
            raise InvalidValueError(
                f"{recipe} determines its own numbers of buckets: give no numbers"
            )
    elif numbers is None:
        raise InvalidValueError(f"{recipe} needs numbers of buckets, one per round", value=recipe)
    elif entry.divides:
        check_parts(rules, numbers)
    else:
        check_numbers(rules, numbers)

"""The request that a recipe builds: the game and the options of the abstraction."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

from equilibrist.abstraction.features import Progress, Strengths
from equilibrist.abstraction.resume import Keep
from equilibrist.abstraction.streets import Streets
from equilibrist.cards.card import Cards
from equilibrist.games.rules import GameRules


@dataclass(frozen=True)
class RecipeRequest:
    """The arguments of a recipe; each recipe uses those that it needs."""

    rules: GameRules
    numbers: Sequence[int] = ()  # buckets of each round; empty for recipes that take no numbers
    seed: int = 0
    flops: Sequence[Cards] = ()  # flops over which buckets are cut; empty for all
    progress: Progress | None = None
    keep: Keep | None = None  # store of finished rounds

    @functools.cached_property
    def streets(self) -> Streets:
        """The boards and hands of each round of the game."""
        return Streets.of(self.rules)

    @functools.cached_property
    def strengths(self) -> Strengths:
        """The strengths of all hands, computed when first used."""
        return Strengths.of(self.streets, self.progress)

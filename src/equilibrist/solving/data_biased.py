"""Data-biased responses: trust what was observed at each decision as far as it was observed.

At every information set I the opponent is assumed to play what was observed there with probability
P(I), and anything otherwise. The mixture is one of actions, at each decision anew: the plans form
another set than p · fixed + (1 − p) · free, in which one draw decides for the whole hand. P grows
with the number of observations and is 0 where there are none, so that nothing is assumed where
nothing is known (Johanson and Bowling, "Data biased robust counter strategies", AISTATS 2009).
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equilibrist.errors import InvalidValueError, ParseError
from equilibrist.kernels.treeplex import root_value
from equilibrist.models.game import Floats, SequenceGame, check_zero_sum, sweeps_by_steps
from equilibrist.models.observed import decision_sums
from equilibrist.solving.restricted_nash import check_share


@dataclass(frozen=True, eq=False, kw_only=True)
class DataBiased(SequenceGame):
    """A game in which one player's decisions are partly given.

    Its *behaviour* is that of the free part; its *plans* are what is played, so that gradients are
    those of the whole game, and averages of plans are plans.

    Example:
        >>> from equilibrist.models.exact import matrix_game
        >>> from equilibrist.solving.cfr import CFR
        >>> game = matrix_game([[0, -1, 1], [1, 0, -1], [-1, 1, 0]])  # rock, paper, scissors
        >>> rock, half = np.array([1.0, 1, 0, 0]), np.array([0, 0.5, 0.5, 0.5])
        >>> biased = DataBiased.of(game, 1, rock, half)
        >>> biased.realize(1, biased.uniform(1)).round(3).tolist()
        [1.0, 0.667, 0.167, 0.167]
    """

    biased: int  # the player whose decisions are partly given: 0 or 1
    fixed: Floats  # [L of that player] given behaviour
    share: Floats  # [L] its probability at each decision; 0 at entries

    @classmethod
    def of(cls, game: SequenceGame, biased: int, given: Floats, share: Floats) -> DataBiased:
        """Give a player's behaviour, with a probability for each decision: both [L]."""
        check_zero_sum(game)
        length = game.lengths[biased]
        if given.shape != (length,) or share.shape != (length,):
            raise InvalidValueError(
                f"the given behaviour of player {biased} of {game.name} and its shares must have "
                f"{length:,} numbers each, not {given.size:,} and {share.size:,}",
                value=given.shape,
            )
        for p in (float(share.min()), float(share.max())):
            check_share(p)
        if game.given is not None or any(tree.locked.any() for tree in game.trees):
            raise InvalidValueError(f"{game.name} has locked decisions", value=game.name)
        own = {field.name: getattr(game, field.name) for field in fields(SequenceGame)}
        own["name"] = f"{game.name}, player {biased} biased"
        actions = decision_sums(game.trees[biased], np.ones(length)) > 0
        return cls(**own, biased=biased, fixed=given, share=np.where(actions, share, 0.0))

    def uniform(self, player: int, dtype: Any = np.float64) -> Floats:
        """Return free behaviour [L] that takes every action with the same probability."""
        return super().behaviour(player, np.zeros(self.lengths[player], dtype))

    def realize(self, player: int, behaviour: Floats, out: Floats | None = None) -> Floats:
        """Return the plan in which the given behaviour is mixed with a free one."""
        if player != self.biased:
            return super().realize(player, behaviour, out)
        mixed = self.share * self.fixed + (1 - self.share) * behaviour
        return super().realize(player, mixed.astype(behaviour.dtype, copy=False), out)

    def behaviour(self, player: int, plan: Floats) -> Floats:
        """Return the free part of the behaviour of a plan, the inverse of `realize`."""
        played = super().behaviour(player, plan)
        if player != self.biased:
            return played
        # Proportional to what is left of each action; where nothing is left, as played.
        left = np.maximum(played - self.share * self.fixed, 0)
        total = decision_sums(self.trees[player], left)
        is_free = total > 1e-12
        return np.where(is_free, left / np.where(is_free, total, 1), played).astype(plan.dtype)

    def fold_up(
        self,
        player: int,
        rule: int,
        values: Floats,
        behaviour: Floats,
        table: Floats | None = None,
        factors: Floats | None = None,
    ) -> float:
        """Fold `values` up the player's tree by a rule, in place; return the root's value."""
        if player != self.biased:
            return super().fold_up(player, rule, values, behaviour, table, factors)
        factors = np.zeros(3, values.dtype) if factors is None else factors
        arrays = values, behaviour, values if table is None else table
        self._kernels.fold_up_partly(
            self.trees[player],
            rule,
            arrays,
            factors,
            self.fixed.astype(values.dtype, copy=False),
            self.share.astype(values.dtype, copy=False),
            threads=self.num_threads,
        )
        return root_value(self.trees[player], values)

    def sweeps(
        self, first: tuple[Floats, ...], second: tuple[Floats, ...], schedule: Floats
    ) -> None:
        """Run CFR iterations, step by step; arguments as in `SequenceGame.sweeps`."""
        sweeps_by_steps(self, first, second, schedule)

    def adjusted(self, payoff: Any) -> Any:
        """Raise `InvalidValueError`: the linear program has no decisions that are partly given."""
        raise InvalidValueError(
            f"{self.name}: the linear program has no decisions that are partly given; use cfr+",
            value=self.name,
        )


_MOST_DIGITS = 12  # of N
CURVES = "1-step, 10-step, 10-linear, 1-curve or 10-curve"


@dataclass(frozen=True)
class Confidence:
    """How far n observations of a decision are trusted, from 0 to `most`; 0 for no observation.

    `N-step` trusts all decisions that were seen at least N times as far as `most`, `N-linear`
    grows in proportion until N, and `N-curve` is `most` · n / (N + n).

    Example:
        >>> Confidence.parse("10-linear", 0.8).of(np.array([0, 5, 10, 99.0])).tolist()
        [0.0, 0.4, 0.8, 0.8]
        >>> Confidence.parse("1-curve", 1.0).of(np.array([0, 1, 3.0])).tolist()
        [0.0, 0.5, 0.75]
    """

    shape: str  # step, linear or curve
    number: float  # N
    most: float

    @classmethod
    def parse(cls, text: str, most: float) -> Confidence:
        """Return the function of a text such as `10-step`."""
        check_share(most)
        number, _, shape = text.partition("-")
        known = shape in ("step", "linear", "curve")
        if not known or not number.isdecimal() or len(number) > _MOST_DIGITS or int(number) < 1:
            raise ParseError(
                f"{text[:40]!r} is not a confidence; write {CURVES}, with any number", value=text
            )
        return cls(shape, float(number), most)

    def of(self, visits: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probability for each number of observations."""
        if self.shape == "step":
            share = (visits >= self.number).astype(np.float64)
        elif self.shape == "linear":
            share = np.minimum(visits / self.number, 1)
        else:
            share = visits / (self.number + visits)
        return self.most * share

"""Joint counts conditioned on the betting of earlier rounds: PsOpti's conditional distributions.

A model that starts in a later round takes the probabilities of hands as given. Before it, player 0
held first bucket a and reached the model with probability x_a, player 1 held b and reached it with
y_b. So the later classes s and t of both players occur together with probability

    J′[s, t] ∝ Σ_ab x_a y_b J[(a, s), (b, t)],

and W′ likewise: the first buckets themselves are summed out. Priors of all ones are PsOpti's
uniform priors, which ignore the betting. Source: Billings et al. 2003, "Composition of preflop and
postflop models".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from equilibrist.abstraction.buckets import Abstraction
from equilibrist.abstraction.joint_counts import Joint
from equilibrist.errors import InvalidValueError
from equilibrist.games.rules import GameRules

Priors: TypeAlias = tuple[Sequence[float], Sequence[float]]  # x and y: [K] of the first round


@dataclass(frozen=True, eq=False)
class LaterClasses:
    """Sequences of classes from the second round on, as nested buckets with one first bucket.

    Example:
        >>> from equilibrist.abstraction.recipes import build
        >>> from equilibrist.games.catalog import get_game
        >>> buckets = build("strength-potential", get_game("rhode-island"), [3, 2, 2])
        >>> buckets.num_buckets, LaterClasses.of(buckets).num_buckets
        ((3, 6, 12), (1, 2, 4))
    """

    rules: GameRules
    parents: tuple[NDArray[np.int32], ...]  # [K] per round: bucket of the previous round, or −1

    @property
    def num_buckets(self) -> tuple[int, ...]:
        """Number of sequences of each round."""
        return tuple(len(parents) for parents in self.parents)

    @staticmethod
    def of(buckets: Abstraction) -> LaterClasses:
        """Return the later classes of buckets that are sequences of classes."""
        if buckets.recipe != "strength-potential":
            raise InvalidValueError(
                f"buckets of {buckets.recipe} cannot drop their first round: the meaning of later "
                "buckets depends on it",
                value=buckets.recipe,
            )
        first, parents = buckets.num_buckets[0], [np.full(1, -1, np.int32)]
        for number, above in zip(buckets.num_buckets[1:], buckets.parents[1:], strict=True):
            parents.append(above[: number // first])
        return LaterClasses(buckets.rules, tuple(parents))


def conditioned(buckets: Abstraction, counts: Joint, priors: Priors) -> Joint:
    """Return the joint counts of later classes, weighted by the priors of the first buckets.

    Example:
        >>> from equilibrist.abstraction.joint_counts import joint
        >>> from equilibrist.abstraction.recipes import build
        >>> from equilibrist.games.catalog import get_game
        >>> buckets = build("strength-potential", get_game("leduc"), [3, 2])
        >>> counts = joint(buckets)
        >>> conditioned(buckets, counts, ((1, 1, 1), (1, 1, 1))).total == counts.total
        True
        >>> aces_and_kings = conditioned(buckets, counts, ((0, 1, 0), (1, 0, 0)))
        >>> aces_and_kings.total, float(aces_and_kings.won.sum())  # won by the aces, less lost
        (16.0, 8.0)
    """
    first = buckets.num_buckets[0]
    x, y = (np.asarray(weights, np.float64) for weights in priors)
    for player, weights in enumerate((x, y)):
        are_weights = (np.isfinite(weights) & (weights >= 0)).all()
        if weights.shape != (first,) or not are_weights or not weights.any():
            raise InvalidValueError(
                f"player {player}'s prior must be {first} probabilities, one per bucket of the "
                "first round and not all zero",
                value=weights.tolist(),
            )

    def weighted(part: NDArray[np.float64]) -> NDArray[np.float64]:
        rows = np.tensordot(x, part.reshape(first, -1, part.shape[1]), 1)  # [S, K]
        return np.einsum("sbt,b->st", rows.reshape(len(rows), first, -1), y)

    parts = (counts.wins, counts.ties, counts.losses)
    wins, ties, losses = (weighted(np.asarray(part, np.float64)) for part in parts)
    found = Joint(wins, ties, losses, counts.distance, counts.sample)
    if not found.total:
        raise InvalidValueError("the hands of the two priors never occur together", value=priors)
    return found

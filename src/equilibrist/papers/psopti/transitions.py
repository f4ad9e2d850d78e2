"""PsOpti's transition network between pairs of buckets that forget earlier rounds.

"The effect of the turn card in the abstract game is to dictate the probability of moving from one
pair of buckets on the flop to any pair of buckets on the turn": an (n × n) to (n × n) network for
every chance node (Billings et al. 2003, figure 2). A bucket belongs to its round alone and is not
nested. The network consists of

    P [s, t]              probability of a pair of buckets in the first round
    T_r [s, t, s', t']    probability to move from a pair in round r to a pair in round r + 1
    w [s, t]              mean of win 1, tie 0, loss −1 in the last round

and the joint distribution of the players' bucket sequences is approximated by the product
P · T₁ · T₂ …: the next pair depends on the present pair, not on the pairs before it. The exact
joint distribution is that of sequences, that is of nested buckets. Both agree on any two successive
rounds, hence on every round; of all distributions that do so the product has the greatest entropy.
They differ if the past says more about the future than the present does: the relative entropy of
the exact distribution to the product is the information that each round, given the one before,
still has about the rounds before that. With nested buckets, which remember everything, or with two
rounds, product and joint distribution are equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equilibrist.abstraction.bucket_tree import sums_over_children
from equilibrist.abstraction.buckets import Abstraction
from equilibrist.abstraction.joint_counts import Joint
from equilibrist.errors import InvalidValueError
from equilibrist.phases import phase
from equilibrist.storage.artefact import Header, write_artefact

KIND = "transitions"
RECIPES = ("strength-potential", "percentile")  # the k-th child means the same in every bucket
Floats = NDArray[np.float64]
Classes = Sequence[NDArray[np.integer]]  # by round [K]: the class of each bucket in its round alone


@dataclass(frozen=True, eq=False)
class Transitions:
    """Transition probabilities between pairs of buckets that forget earlier rounds."""

    classes: tuple[Classes, Classes]  # of each player's nested buckets
    start: Floats  # [n, m] P, sum 1
    steps: tuple[Floats, ...]  # [n, m, n', m'] T of each round but the last; 0 from pairs never met
    won: Floats  # [n, m] w; 0 for pairs never met

    def save(self, folder: str | Path, parents: dict[str, str]) -> str:
        """Write the network as an artefact; `parents` are the hashes of its inputs."""
        arrays: dict[str, NDArray[Any]] = {"start": self.start, "won": self.won}
        arrays |= {f"step{r + 1}": step for r, step in enumerate(self.steps)}
        return write_artefact(folder, Header(KIND, configuration={}, parents=parents), arrays)


@dataclass(frozen=True)
class Memory:
    """Distance of the network from the exact joint distribution, as shares of all deals."""

    distances: tuple[float, ...]  # ½ ‖P·T₁·…·T_r − J‖₁ of the sequences up to each round
    showdown: float  # ½ ‖P·T₁·…·w − W‖₁ of the last round: the effect of forgetting on payoffs


def check_recipe(found: Abstraction) -> None:
    """Raise `InvalidValueError` for buckets of a recipe whose children have no common meaning."""
    if found.recipe not in RECIPES:
        raise InvalidValueError(
            f"transitions need buckets of the recipe {' or '.join(RECIPES)}, not {found.recipe}, "
            "whose buckets depend on their parents",
            value=found.recipe,
        )


def places(found: Abstraction) -> list[NDArray[np.int32]]:
    """Return the place of every bucket among its siblings, from 0, by round: [K].

    With strength-potential it is the round's own class, with percentile the part of its parent.

    Example:
        >>> from equilibrist.abstraction.recipes import build
        >>> from equilibrist.games.catalog import get_game
        >>> [place.tolist() for place in places(build("percentile", get_game("leduc"), [3, 6]))]
        [[0, 1, 2], [0, 1, 0, 1, 0, 1]]
    """
    first = [np.searchsorted(parents, parents) for parents in found.parents]
    return [(np.arange(len(begin)) - begin).astype(np.int32) for begin in first]


@phase("computing transition probabilities")
def transitions(
    first: Abstraction,
    counts: Joint,
    second: Abstraction | None = None,
    *,
    classes: tuple[Classes, Classes] | None = None,
) -> Transitions:
    """Build the network from the joint counts of nested buckets.

    The counts may be exact, sampled or over chosen boards. Buckets of a round with the same entry
    in `classes` become one bucket; siblings must differ. Default: the `places` among siblings.

    Example:
        >>> from equilibrist.abstraction.joint_counts import joint
        >>> from equilibrist.abstraction.recipes import build
        >>> from equilibrist.games.catalog import get_game
        >>> thirds = build("strength-potential", get_game("rhode-island"), [3, 3, 3])
        >>> network = transitions(thirds, joint(thirds))
        >>> [step.shape for step in network.steps]
        [(3, 3, 3, 3), (3, 3, 3, 3)]
        >>> [round(share, 3) for share in compare(network, thirds, joint(thirds)).distances]
        [0.0, 0.0, 0.161]
    """
    other = second or first
    counts.check(first, other)
    rows, columns = classes or (places(first), places(other))
    for side, labels in ((first, rows), (other, columns)):
        _check_siblings(side, labels)
    met = sums_over_children(counts.met / counts.total, first, other)
    steps = []
    for r in range(1, len(met)):
        before = rows[r - 1][first.parents[r]], columns[r - 1][other.parents[r]]
        step = _sums(met[r], (before[0], rows[r]), (before[1], columns[r]))
        step = step.transpose(0, 2, 1, 3)  # [n, n', m, m'] → [n, m, n', m']
        steps.append(_share(step, step.sum(axis=(2, 3), keepdims=True)))
    won = np.subtract(counts.wins, counts.losses, dtype=np.float64) / counts.total
    met_last = _sums(met[-1], (rows[-1],), (columns[-1],))
    return Transitions(
        classes=(rows, columns),
        start=_sums(met[0], (rows[0],), (columns[0],)),
        steps=tuple(np.ascontiguousarray(step) for step in steps),
        won=_share(_sums(won, (rows[-1],), (columns[-1],)), met_last),
    )


def product(
    network: Transitions, first: Abstraction, second: Abstraction | None = None
) -> list[Floats]:
    """Return the product P · T₁ · … of the sequences up to each round: [K, K'], nested buckets."""
    other = second or first
    rows, columns = network.classes
    found = [network.start[np.ix_(rows[0], columns[0])]]
    for r in range(1, len(first.parents)):
        above = first.parents[r], other.parents[r]
        step = network.steps[r - 1][
            rows[r - 1][above[0]][:, None], columns[r - 1][above[1]], rows[r][:, None], columns[r]
        ]
        found.append(found[-1][np.ix_(*above)] * step)
    return found


def product_counts(
    network: Transitions, first: Abstraction, second: Abstraction | None = None
) -> Joint:
    """Return the product as joint counts, which sum to 1, of a game without memory.

    Only the mean result of each pair of buckets is known, so the counts contain no ties.

    Example:
        >>> from equilibrist.abstraction.joint_counts import joint
        >>> from equilibrist.abstraction.recipes import build
        >>> from equilibrist.games.catalog import get_game
        >>> thirds = build("strength-potential", get_game("rhode-island"), [3, 3, 3])
        >>> found = product_counts(transitions(thirds, joint(thirds)), thirds)
        >>> found.wins.shape, round(found.total, 12)
        ((27, 27), 1.0)
    """
    met = product(network, first, second)[-1]
    rows, columns = network.classes
    won = met * network.won[np.ix_(rows[-1], columns[-1])]
    return Joint((met + won) / 2, np.zeros_like(met), (met - won) / 2)


@phase("comparing their products with the joint counts")
def compare(
    network: Transitions, first: Abstraction, counts: Joint, second: Abstraction | None = None
) -> Memory:
    """Return the distance of the network from the exact joint distribution of sequences."""
    other = second or first
    exact = sums_over_children(counts.met / counts.total, first, other)
    ours = product(network, first, other)
    rows, columns = network.classes
    won = ours[-1] * network.won[np.ix_(rows[-1], columns[-1])]
    return Memory(
        distances=tuple(_distance(a, b) for a, b in zip(ours, exact, strict=True)),
        showdown=_distance(
            won, np.subtract(counts.wins, counts.losses, dtype=np.float64) / counts.total
        ),
    )


def _check_siblings(found: Abstraction, classes: Classes) -> None:
    for r, (parents, labels) in enumerate(zip(found.parents, classes, strict=True)):
        if len(np.unique(np.stack([parents, labels]), axis=1).T) < len(parents):
            raise InvalidValueError(
                f"two buckets of round {r + 1} with the same parent have the same class; siblings "
                "must have different classes",
                value=r,
            )


def _sums(
    matrix: Floats, rows: tuple[NDArray[Any], ...], columns: tuple[NDArray[Any], ...]
) -> Floats:
    """Sum a matrix [K, K'] by the labels of its rows and columns: one axis per label array."""
    shape = [int(labels.max()) + 1 for labels in (*rows, *columns)]
    out = np.zeros(shape)
    places = (*(labels[:, None] for labels in rows), *(labels[None, :] for labels in columns))
    np.add.at(out, places, matrix)
    return out


def _share(part: Floats, whole: Floats) -> Floats:
    """Return part / whole, or 0 where the whole is 0."""
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)


def _distance(ours: Floats, exact: Floats) -> float:
    return float(np.abs(ours - exact).sum() / 2)

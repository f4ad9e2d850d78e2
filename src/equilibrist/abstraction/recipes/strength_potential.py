"""Classes of strength and a bucket of draws: PsOpti's abstraction.

With n buckets in a round, n − 1 are classes of roll-out hand strength, "the classes for the
strongest hands are smaller than those for mediocre and weak hands", and one is for "hands that are
low in strength but have high potential, such as good draws to a flush or straight". The paper gives
no numbers; ours, which may be changed:

- a class of strength is `taper` = 1.5 times as large as the next stronger one (six classes: 37, 24,
  16, 11, 7 and 5 % of the hands, weak to strong);
- low in strength is a hand that leads now, against a random hand, less often than `low` = ½. It is
  not roll-out strength that is low: that of a flush draw on the flop is about average;
- high potential is positive potential, one card to come, of `high` = 0.2 or more: open-ended
  straight draws (0.25) and flush draws (0.26), not inside straight draws (0.18).

Rounds that not exactly one card follows have no potential: before the flop and on the river all n
buckets are classes of strength. Classes are cut over all boards of a street, or over chosen ones,
and hold for every board. Buckets are sequences of classes, numbered `parent · n + class`, the draws
last. Source: Billings et al. 2003, "Abstraction by bucketing".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equilibrist.abstraction.bucket_tree import nest
from equilibrist.abstraction.buckets import Abstraction, check_parts
from equilibrist.abstraction.features import Ints, Progress, Strengths
from equilibrist.abstraction.flop_subsets import chosen_boards
from equilibrist.abstraction.potential import Potential, has_potential
from equilibrist.abstraction.recipes.request import RecipeRequest
from equilibrist.abstraction.resume import Keep, kept
from equilibrist.abstraction.scattergram import Cluster, cluster_hands, k_means
from equilibrist.abstraction.streets import Streets
from equilibrist.abstraction.strength_cuts import label, quantiles, spread
from equilibrist.cards.card import Card, cards_name
from equilibrist.errors import InvalidValueError

Known = Sequence[Potential | None]


def strength_potential(
    strengths: Strengths,
    numbers: Sequence[int],
    *,
    taper: float = 1.5,
    low: float = 0.5,
    high: float = 0.2,
    flops: Sequence[Sequence[Card]] = (),
    known: Known | None = None,
    progress: Progress | None = None,
    keep: Keep | None = None,
) -> Abstraction:
    """PsOpti's buckets: `numbers` are the buckets that every bucket is divided into in each round.

    So 1, 6, 7, 8 are no distinction before the flop and PsOpti's 6-7-8 after it, 336 sequences in
    all. With `flops`, classes are cut over the boards that continue these alone. `known` are
    `potentials(streets)`, computed if not given. Rounds that `keep` has are not classified again.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> leduc = Strengths.of(Streets.of(get_game("leduc")))
        >>> strength_potential(leduc, [3, 2]).num_buckets
        (3, 6)
    """
    _check(strengths.streets, numbers, taper)
    for name, share in (("low", low), ("high", high)):
        if not 0.0 <= share <= 1.0:
            raise InvalidValueError(f"{name} is a chance, 0 to 1, not {share}", value=share)
    potential_of = _potentials(strengths.streets, known, progress)

    def classify(r: int, number: int, counted: Ints) -> Ints:
        potential = potential_of(r)
        if potential is None or number == 1:
            return _strength_classes(strengths, r, counted, _shares(number, taper))
        draws = (potential.leading() < low) & (potential.positive() >= high)
        shares = _shares(number - 1, taper)
        found = _strength_classes(strengths, r, np.where(draws, -1, counted), shares)
        return np.where(draws, number - 1, found)

    configuration = {"taper": taper, "low": low, "high": high}
    return _build(strengths, numbers, taper, flops, classify, configuration, progress, keep)


def strength_potential_clusters(
    strengths: Strengths,
    numbers: Sequence[int],
    *,
    cluster: Cluster = k_means,
    taper: float = 1.5,
    flops: Sequence[Sequence[Card]] = (),
    known: Known | None = None,
    progress: Progress | None = None,
) -> Abstraction:
    """Clusters in the plane of roll-out strength and positive potential, which PsOpti considered.

    `cluster` puts points [M, 2] with weights [M] into so many clusters, labels [M]; both axes are
    in standard deviations of the street. Rounds without potential are cut by strength as in
    `strength_potential`.
    """
    _check(strengths.streets, numbers, taper)
    potential_of = _potentials(strengths.streets, known, progress)

    def classify(r: int, number: int, counted: Ints) -> Ints:
        potential = potential_of(r)
        if potential is None or number == 1:
            return _strength_classes(strengths, r, counted, _shares(number, taper))
        return cluster_hands(strengths, potential, counted, number, cluster)

    configuration = {"taper": taper, "clusters": getattr(cluster, "__name__", str(cluster))}
    return _build(strengths, numbers, taper, flops, classify, configuration, progress, None)


# --- what both share ------------------------------------------------------------------------------


def _check(streets: Streets, numbers: Sequence[int], taper: float) -> None:
    check_parts(streets.rules, numbers)
    if not taper >= 1.0:
        raise InvalidValueError(
            f"a class is taper times as large as the next stronger one: 1 or more, not {taper}",
            value=taper,
        )


def _build(
    strengths: Strengths,
    numbers: Sequence[int],
    taper: float,
    flops: Sequence[Sequence[Card]],
    classify: Callable[[int, int, Ints], Ints],
    configuration: dict[str, Any],
    progress: Progress | None,
    keep: Keep | None,
) -> Abstraction:
    streets = strengths.streets
    say = progress or (lambda text: None)
    chosen = chosen_boards(streets, flops) if flops else None

    def counted(r: int) -> Ints:
        labels = np.where(strengths.tables[r] >= 0, 0, -1).astype(np.int16)
        if chosen is not None:
            labels[np.isin(np.arange(len(labels)), chosen[r], invert=True)] = -1
        return labels

    def classified(r: int, number: int) -> tuple[Ints]:
        say(f"{number} classes in round {r + 1}")
        table = classify(r, number, counted(r))
        return (np.where(strengths.tables[r] >= 0, table, -1).astype(np.int16),)

    classes = [
        kept(keep, f"round{r + 1}", partial(classified, r, number))[0]
        for r, number in enumerate(numbers[:-1])
    ]
    say(f"{numbers[-1]} classes in round {len(numbers)}")
    last = len(streets) - 1
    found = spread(strengths, last, counted(max(last - 1, 0)), 1)
    lower = quantiles(found, _shares(numbers[-1], taper)).lower
    configuration |= {
        "classes": [int(number) for number in numbers],
        "flops": [cards_name(flop) for flop in flops],
    }
    return nest(
        streets, "strength-potential", classes, numbers[:-1], strengths.tables[-1], lower,
        configuration,
    )  # fmt: skip


def _potentials(
    streets: Streets, known: Known | None, progress: Progress | None
) -> Callable[[int], Potential | None]:
    """Potential of a round, computed when it is asked for unless it is known."""

    def potential_of(r: int) -> Potential | None:
        if known is not None or not has_potential(streets.rules, r):
            return known[r] if known is not None else None
        if progress is not None:
            progress(f"potential of every hand in round {r + 1}")
        return Potential.of(streets, r)

    return potential_of


def _shares(number: int, taper: float) -> NDArray[np.float64]:
    """Shares of classes of strength, weakest first, each `taper` times the next."""
    shares = taper ** -np.arange(number, dtype=np.float64)
    return shares / shares.sum()


def _strength_classes(
    strengths: Strengths, r: int, counted: Ints, shares: NDArray[np.float64]
) -> Ints:
    """Classes of strength of all hands on a street's boards: [B, H].

    Hands whose `counted` [B, H] is 0 have the given shares; what is −1 counts for nothing.
    """
    cut = quantiles(spread(strengths, r, counted, 1), shares)
    return label(strengths, r, np.zeros_like(counted), cut)


def build(request: RecipeRequest) -> Abstraction:
    """Build what the recipe is asked for."""
    return strength_potential(
        request.strengths,
        request.numbers,
        flops=request.flops,
        progress=request.progress,
        keep=request.keep,
    )

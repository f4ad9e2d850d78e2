"""Classes of strength and a bucket of draws: PsOpti's abstraction.

With n buckets in a round, n − 1 are classes of roll-out hand strength, "the classes for the
strongest hands are smaller than those for mediocre and weak hands", and one is for "hands that are
low in strength but have high potential, such as good draws to a flush or straight". The paper gives
no numbers; the defaults of this module, which can be changed, are:

- a class of strength is `taper` = 1.5 times as large as the next stronger one (six classes: 37, 24,
  16, 11, 7 and 5 % of the hands, weak to strong);
- a hand is low in strength if its probability of leading now, against a random hand, is below
  `low` = ½. Roll-out strength is not used here: that of a flush draw on the flop is about average;
- high potential is positive potential, with one card to come, of at least `high` = 0.2: open-ended
  straight draws (0.25) and flush draws (0.26), not inside straight draws (0.18).

Only rounds that exactly one card follows have a potential: before the flop and on the river, all n
buckets are classes of strength. Classes are cut over all boards of a street, or over chosen ones,
and apply to every board. Buckets are sequences of classes, numbered `parent · n + class`, the draws
last. Source: Billings et al. 2003, "Abstraction by bucketing".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
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
from equilibrist.abstraction.resume import Keep, load_or_compute
from equilibrist.abstraction.scattergram import Cluster, cluster_hands, k_means
from equilibrist.abstraction.streets import Streets
from equilibrist.abstraction.strength_cuts import label, quantiles, spread
from equilibrist.cards.card import Card, cards_name
from equilibrist.errors import InvalidValueError

Known = Sequence[Potential | None]


@dataclass(frozen=True)
class ClassCuts:
    """Where classes of strength and draws are cut; the module explains the numbers."""

    taper: float = 1.5  # size of a class relative to the next stronger one
    low: float = 0.5  # draws lead with a smaller probability
    high: float = 0.2  # draws have at least this positive potential

    def check(self) -> None:
        """Raise `InvalidValueError` for a cut that is not possible."""
        _check_taper(self.taper)
        for name, share in (("low", self.low), ("high", self.high)):
            if not 0.0 <= share <= 1.0:
                raise InvalidValueError(
                    f"{name} must be a probability, 0 to 1, not {share}", value=share
                )


_USUAL_CUTS = ClassCuts()


def strength_potential(
    strengths: Strengths,
    numbers: Sequence[int],
    cuts: ClassCuts = _USUAL_CUTS,
    *,
    flops: Sequence[Sequence[Card]] = (),
    known: Known | None = None,
    progress: Progress | None = None,
    keep: Keep | None = None,
) -> Abstraction:
    """Build PsOpti's buckets; `numbers` are the parts that every bucket is divided into per round.

    So 1, 6, 7, 8 are one bucket before the flop and PsOpti's 6-7-8 after it, 336 sequences in
    total. With `flops`, classes are cut only over the boards that continue these. `known` are
    `potentials(streets)`, computed if not given. Rounds stored in `keep` are not classified again.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> leduc = Strengths.of(Streets.of(get_game("leduc")))
        >>> strength_potential(leduc, [3, 2]).num_buckets
        (3, 6)
    """
    check_parts(strengths.streets.rules, numbers)
    cuts.check()
    potential_of = _potentials(strengths.streets, known, progress)

    def classify(r: int, number: int, counted: Ints) -> Ints:
        potential = potential_of(r)
        if potential is None or number == 1:
            return _strength_classes(strengths, r, counted, _shares(number, cuts.taper))
        draws = (potential.leading() < cuts.low) & (potential.positive() >= cuts.high)
        shares = _shares(number - 1, cuts.taper)
        found = _strength_classes(strengths, r, np.where(draws, -1, counted), shares)
        return np.where(draws, number - 1, found)

    configuration = asdict(cuts)
    return _build(strengths, numbers, cuts.taper, flops, classify, configuration, progress, keep)


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
    """Build buckets by clusters in the plane of roll-out strength and positive potential.

    PsOpti's authors considered this variant. `cluster` divides points [M, 2] with weights [M] into
    a number of clusters and returns labels [M]; both axes are in standard deviations of the street.
    Rounds without potential are cut by strength as in `strength_potential`.
    """
    check_parts(strengths.streets.rules, numbers)
    _check_taper(taper)
    potential_of = _potentials(strengths.streets, known, progress)

    def classify(r: int, number: int, counted: Ints) -> Ints:
        potential = potential_of(r)
        if potential is None or number == 1:
            return _strength_classes(strengths, r, counted, _shares(number, taper))
        return cluster_hands(strengths, potential, counted, number, cluster)

    configuration = {"taper": taper, "clusters": getattr(cluster, "__name__", str(cluster))}
    return _build(strengths, numbers, taper, flops, classify, configuration, progress, None)


# --- shared by both -------------------------------------------------------------------------------


def _check_taper(taper: float) -> None:
    if not taper >= 1.0:
        raise InvalidValueError(
            f"taper, the size of a class relative to the next stronger one, must be at least 1, "
            f"not {taper}",
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
        load_or_compute(keep, f"round{r + 1}", partial(classified, r, number))[0]
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
    """Return a function that gives the potential of a round, computed on demand if not known."""

    def potential_of(r: int) -> Potential | None:
        if known is not None or not has_potential(streets.rules, r):
            return known[r] if known is not None else None
        if progress is not None:
            progress(f"potential of every hand in round {r + 1}")
        return Potential.of(streets, r)

    return potential_of


def _shares(number: int, taper: float) -> NDArray[np.float64]:
    """Return the shares of the classes of strength, weakest first, each `taper` times the next."""
    shares = taper ** -np.arange(number, dtype=np.float64)
    return shares / shares.sum()


def _strength_classes(
    strengths: Strengths, r: int, counted: Ints, shares: NDArray[np.float64]
) -> Ints:
    """Return the classes of strength of all hands on a street's boards: [B, H].

    The given shares apply to the hands whose `counted` [B, H] is 0; those with −1 are ignored.
    """
    cut = quantiles(spread(strengths, r, counted, 1), shares)
    return label(strengths, r, np.zeros_like(counted), cut)


def build(request: RecipeRequest) -> Abstraction:
    """Build the abstraction of a request."""
    return strength_potential(
        request.strengths,
        request.numbers,
        flops=request.flops,
        progress=request.progress,
        keep=request.keep,
    )

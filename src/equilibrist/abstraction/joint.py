"""How often the players' last buckets meet, and who wins: J and W of a bucket game.

`wins[s, t]` counts the deals (board in its order, a hand for either player) in which player 0 is in
last bucket s, player 1 in t, and player 0 wins; `ties` and `losses` likewise. Over all boards they
sum to 55,627,620,048,000 in hold'em, GS3's nine-card roll-out. Buckets are nested, so the counts of
earlier streets are sums over children. A sample of boards of the street before the last, drawn
stratum by stratum, gives the same matrices with a standard error.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from equilibrist.abstraction.buckets import Abstraction
from equilibrist.abstraction.features import Ints
from equilibrist.abstraction.streets import Streets
from equilibrist.cards.ranking import rank_tables
from equilibrist.errors import InvalidValueError

Counts = NDArray[np.float64]  # whole numbers below 2**53


@dataclass(frozen=True, eq=False)
class Joint:
    """Counts of deals by both players' last buckets: [K0, K1] each."""

    wins: Counts
    ties: Counts
    losses: Counts
    exact: bool = True

    @property
    def met(self) -> Counts:
        """How often buckets meet."""
        return self.wins + self.ties + self.losses

    @property
    def total(self) -> float:
        """Deals counted."""
        return float(self.met.sum())


def joint(
    first: Abstraction,
    second: Abstraction | None = None,
    *,
    boards: NDArray[np.int64] | None = None,
    progress: Callable[[float], None] | None = None,
) -> Joint:
    """Counts for two players with one abstraction, or with two of the same game.

    `boards` picks boards of the street before the last (all by default): see `sample_boards`.

    Example:
        >>> from equilibrist.abstraction.features import Strengths
        >>> from equilibrist.abstraction.recipes.percentile import percentile
        >>> from equilibrist.games.catalog import get_game
        >>> buckets = percentile(Strengths.of(Streets.of(get_game("leduc"))), [3, 6])
        >>> joint(buckets).total  # 6 · 5 hands on 4 boards
        120.0
    """
    other = second or first
    if other.rules != first.rules or other.streets.ordered != first.streets.ordered:
        raise InvalidValueError(
            f"the players' buckets are of different games, {first.rules.name} and "
            f"{other.rules.name}",
            value=other.rules.name,
        )
    wins, ties = _play(first, other, boards, progress)
    losses = wins.T.copy() if other is first else _play(other, first, boards, None)[0].T.copy()
    return Joint(wins, ties, losses, exact=boards is None)


def _play(
    rows: Abstraction,
    columns: Abstraction,
    boards: NDArray[np.int64] | None,
    progress: Callable[[float], None] | None,
) -> tuple[Counts, Counts]:
    from equilibrist.kernels.cpu.joint import bucket_showdowns

    streets, rules = rows.streets, rows.rules
    tables = rank_tables(rules.num_hole_cards + rules.total_board_cards, rules.ranking)
    chunks = numba.get_num_threads()
    wins, ties = np.zeros((2, chunks, rows.num_buckets[-1], columns.num_buckets[-1]))
    hands = streets.hands[streets.in_deck]
    links, weights = _links(streets, boards)
    sides = [_side(side) for side in (rows, columns)]
    blocks = np.linspace(0, len(streets[-1].boards), 65 if progress else 2).astype(np.int64)
    for begin, end in itertools.pairwise(blocks):
        part = links[0][begin : end + 1], links[1], links[2]
        bucket_showdowns(
            tables, streets[-1].boards[begin:end], hands, streets.in_deck, part,
            (weights, streets.renamed), _inverse(streets),
            *[(labels, values[begin:end], *cut) for labels, values, cut in sides], wins, ties,
        )  # fmt: skip
        if progress:
            progress(float(end / blocks[-1]))
    return wins.sum(axis=0), ties.sum(axis=0)


def _side(side: Abstraction) -> tuple[Ints, Ints, tuple[NDArray[Any], NDArray[Any]]]:
    """Buckets of the street before the last, values of the last street, and their intervals."""
    labels = side.tables[-1] if side.tables else np.zeros((1, side.streets.num_hands), np.int16)
    return labels, side.values, (side.last.first, side.last.lower)


def _links(
    streets: Streets, boards: NDArray[np.int64] | None
) -> tuple[tuple[NDArray[Any], ...], Counts]:
    """Deals that lead to each last board: (start, from, renaming), and the weights of `from`."""
    if len(streets) == 1:
        count = len(streets[0].boards)
        nothing = np.zeros(count, np.uint8)
        origin = np.zeros(count, np.int64)
        return (np.arange(count + 1), origin, nothing), streets[0].multiplicity.astype(np.float64)
    before = streets[-2]
    chosen = np.arange(len(before.boards)) if boards is None else np.asarray(boards)
    child = before.child[chosen].ravel()
    order = np.argsort(child, kind="stable")
    start = np.searchsorted(child[order], np.arange(len(streets[-1].boards) + 1))
    origin = np.repeat(chosen, before.child.shape[1])[order]
    renaming = before.renaming[chosen].ravel()[order]
    return (start, origin, renaming), before.multiplicity.astype(np.float64)


def _inverse(streets: Streets) -> NDArray[np.int64]:
    """Number of the renaming that undoes each: [24]."""
    every, same = streets.renamed, np.arange(streets.num_hands)
    return np.array(
        [next(j for j in range(24) if np.array_equal(every[j][row], same)) for row in every]
    )

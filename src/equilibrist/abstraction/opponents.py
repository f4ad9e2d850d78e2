"""Opponent cluster hand strength: strength against each of several clusters of opponent hands.

Two hands of equal strength may win against different hands: a medium pair beats bluffs, an ace high
may draw even with it. A vector of strengths, one for each cluster of the hands that an opponent may
hold before the first board card, distinguishes them. Source: Johanson, Burch, Valenzano and Bowling
2013, "Evaluating state-space abstractions in extensive-form games" (opponent cluster hand strength,
eight clusters before the flop).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equilibrist.abstraction.features import Strengths
from equilibrist.abstraction.streets import Streets
from equilibrist.abstraction.strength_cuts import label, least_squares, spread
from equilibrist.cards.numbers import whole_number
from equilibrist.cards.ranking import rank_tables
from equilibrist.errors import InvalidValueError


@dataclass(frozen=True, eq=False)
class OpponentStrengths:
    """Results of hands on last boards against clusters of hands: N boards, H hands, C clusters."""

    wins: NDArray[np.int16]  # [N, H, C] 2 · wins + ties; −1 if the board blocks the hand
    met: NDArray[np.int16]  # [N, H, C] number of possible hands of the cluster; 0 if blocked

    @staticmethod
    def of(
        streets: Streets, clusters: ArrayLike, boards: ArrayLike | None = None
    ) -> OpponentStrengths:
        """Compute strengths against `clusters` [H] on last boards, given by index (default: all).

        Clusters are numbered from 0; the entries of hands outside the deck are ignored. All boards
        of hold'em take 8 · 178 million cells twice, 5.7 GB: request some boards at a time.

        Example:
            >>> from equilibrist.games.catalog import get_game
            >>> streets = Streets.of(get_game("leduc"))
            >>> ranks = np.arange(52) >> 2
            >>> found = OpponentStrengths.of(streets, ranks - ranks[streets.in_deck].min(), [0])
            >>> found.equity()[0, 50].round(2).tolist()  # Ah with Qh on the board: beats kings only
            [0.0, 1.0, 0.5]
        """
        from equilibrist.kernels.cpu import opponent_clusters as kernel

        labels = _checked(streets, clusters)
        chosen = streets[-1].boards
        if boards is not None:
            chosen = np.ascontiguousarray(chosen[np.asarray(boards)])
        rules, in_deck = streets.rules, streets.in_deck
        tables = rank_tables(rules.num_hole_cards + rules.total_board_cards, rules.ranking)
        wins, met = np.empty((2, len(chosen), streets.num_hands, int(labels.max()) + 1), np.int16)
        kernel.cluster_strengths(tables, chosen, streets.hands[in_deck], in_deck, labels, wins, met)
        return OpponentStrengths(wins, met)

    def equity(self) -> NDArray[np.float32]:
        """Return the equity against each cluster, ties counted half: [N, H, C].

        It is one half if no hand of the cluster is possible, and NaN if the board blocks the hand.
        """
        share = np.full(self.wins.shape, 0.5, np.float32)
        np.divide(self.wins, 2 * self.met.astype(np.float32), out=share, where=self.met > 0)
        share[(self.met == 0).all(axis=2)] = np.nan
        return share


def strength_clusters(strengths: Strengths, number: int) -> NDArray[np.int32]:
    """Cluster the hands before the first board card by least squared error in strength: [H].

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> leduc = Streets.of(get_game("leduc"))
        >>> strength_clusters(Strengths.of(leduc), 2)[leduc.in_deck].tolist()
        [0, 0, 1, 1, 1, 1]
    """
    number = whole_number(number, "the number of clusters", 1, 1326)
    zero = np.where(strengths.tables[0] >= 0, 0, -1).astype(np.int32)
    if strengths.streets[0].boards.shape[1]:
        raise InvalidValueError(
            f"{strengths.streets.rules.name} has board cards in its first round; clusters need a "
            "first round without board cards",
            value=strengths.streets.rules.name,
        )
    return label(strengths, 0, zero, least_squares(spread(strengths, 0, zero, 1), number))[0]


def _checked(streets: Streets, clusters: ArrayLike) -> NDArray[np.int64]:
    """Check the clusters and return those of the hands of the deck: [hands of the deck]."""
    given = np.asarray(clusters)
    if given.shape != (streets.num_hands,) or given.dtype.kind not in "iu":
        raise InvalidValueError(
            f"clusters must be whole numbers, one for each of {streets.num_hands} hands, not "
            f"{given.dtype} of shape {list(given.shape)}",
            value=given.shape,
        )
    labels = given[streets.in_deck].astype(np.int64)
    if labels.min() < 0 or labels.max() >= len(labels):
        raise InvalidValueError(
            "clusters of the deck's hands must be numbered from 0 and be fewer than the hands",
            value=int(labels.min()),
        )
    return labels

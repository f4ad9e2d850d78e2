"""Strengths of poker hands, as array programs over rank counts and suit masks.

A hand becomes a *strength*: the place of its category (high card 0, pair 1, …) in the highest hex
digit and the deciding ranks below it, each as rank + 1, most important first. Strengths compare
like the hands that they represent. Values are the same order made dense: 0 for the weakest hand of
that number of cards, one more for each stronger class; five or more cards have 7,462.

There are two rankings, and a third is one more value: the standard one, and the three-card one of
Rhode Island hold'em (Shi and Littman), in which straights and flushes need only three cards.
"""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class HandRanking:
    """Order of hands: the cards that a straight or a flush needs, and the order of categories."""

    name: str
    run: int  # cards in a straight, in a flush and in a whole hand
    categories: tuple[str, ...]  # weakest first


STANDARD = HandRanking(
    "standard",
    5,
    (
        "high card",
        "pair",
        "two pair",
        "three of a kind",
        "straight",
        "flush",
        "full house",
        "four of a kind",
        "straight flush",
    ),
)
THREE_CARD = HandRanking(
    "three-card",
    3,
    ("high card", "pair", "flush", "straight", "three of a kind", "straight flush"),
)
RANKINGS = {ranking.name: ranking for ranking in (STANDARD, THREE_CARD)}


def count_strengths(counts: Ints, num_cards: int, ranking: HandRanking = STANDARD) -> Ints:
    """Return the strengths [N] of rank counts [N, 13] of `num_cards` cards, ignoring suits."""
    size = min(num_cards, ranking.run)  # number of cards that decide

    quads = highest(counts == 4, 1)
    trips = highest(counts >= 3, 1)
    pairs = highest(counts >= 2, 2)
    under = highest((counts >= 2) & ~holds(trips), 1)  # the pair of a full house
    straights = highest_run(counts > 0, ranking.run) if num_cards >= ranking.run else -1 + 0 * trips

    def with_kickers(made: Ints, num_made: int) -> Ints:
        return np.hstack([made, highest((counts > 0) & ~holds(made), max(size - num_made, 0))])

    candidates = {
        "high card": (np.ones(len(counts), bool), highest(counts > 0, size)),
        "pair": (pairs[:, 0] >= 0, with_kickers(pairs[:, :1], 2)),
        "two pair": (pairs[:, 1] >= 0, with_kickers(pairs, 4)),
        "three of a kind": (trips[:, 0] >= 0, with_kickers(trips, 3)),
        "straight": (straights[:, 0] >= 0, straights),
        "full house": ((trips[:, 0] >= 0) & (under[:, 0] >= 0), np.hstack([trips, under])),
        "four of a kind": (quads[:, 0] >= 0, with_kickers(quads, 4)),
    }
    best = np.zeros(len(counts), np.int64)
    for place, category in enumerate(ranking.categories):
        if category in candidates:
            present, ranks = candidates[category]
            best = np.where(present, strength(place, ranks), best)
    return best


def flush_strengths(masks: Bools, ranking: HandRanking = STANDARD) -> Ints:
    """Return the strengths [N] of the ranks [N, 13] of a suit that holds at least a flush."""
    straights = highest_run(masks, ranking.run)
    place = ranking.categories.index
    return np.where(
        straights[:, 0] >= 0,
        strength(place("straight flush"), straights),
        strength(place("flush"), highest(masks, ranking.run)),
    )


@functools.cache
def all_strengths(num_cards: int, ranking: HandRanking = STANDARD) -> Ints:
    """Return every strength that can be the best hand among `num_cards` cards, ascending."""
    size = min(num_cards, ranking.run)
    multisets = np.array(
        [
            np.bincount(ranks, minlength=13)
            for ranks in itertools.combinations_with_replacement(range(13), size)
        ]
    )
    multisets = multisets[multisets.max(axis=1) <= 4]
    strengths = [count_strengths(multisets, size, ranking)]
    if num_cards >= ranking.run:
        strengths.append(flush_strengths(multisets[multisets.max(axis=1) == 1] > 0, ranking))
    return np.unique(np.concatenate(strengths))


def strength(place: int, ranks: Ints) -> Ints:
    """Combine a category's place and its deciding ranks [N, up to 5] (−1: none) into an int [N]."""
    digits = np.full((len(ranks), 5), -1)
    digits[:, : ranks.shape[1]] = ranks[:, :5]
    return place << 20 | (digits + 1) @ (16 ** np.arange(4, -1, -1))


def highest(masks: Bools, num: int) -> Ints:
    """Return the `num` highest ranks set in masks [N, 13], highest first, −1 if there are fewer."""
    ranks = np.where(masks, np.arange(13), -1)
    return np.sort(ranks, axis=1)[:, ::-1][:, :num]


def highest_run(masks: Bools, run: int) -> Ints:
    """Return the top rank [N, 1] of the highest run of `run` ranks (ace also low), −1 if none."""
    with_low_ace = np.hstack([masks[:, -1:], masks])  # position p holds rank p − 1
    windows = np.lib.stride_tricks.sliding_window_view(with_low_ace, run, axis=1).all(axis=2)
    ranks = np.where(windows, np.arange(windows.shape[1]) + run - 2, -1)
    return ranks.max(axis=1, keepdims=True)


def holds(ranks: Ints) -> Bools:
    """Return the masks [N, 13] of ranks [N, k]; −1 stands for no rank."""
    return (ranks[:, :, None] == np.arange(13)).any(axis=1)

"""Hands as points: histograms over the next street, with the distinct points of each parent bucket.

To cluster 84 million hands on turns, it suffices to cluster the few different histograms among
them, each with the weight of the hands that share it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from equilibrist.abstraction.buckets import Intervals
from equilibrist.abstraction.features import Ints
from equilibrist.abstraction.streets import Street, Streets
from equilibrist.errors import InvalidValueError

_WORD = 64  # bits per word
_MOST_COUNTS = 50_000_000

# Histograms of hands: words [B, H] if the counts fit into 64 bits, else counts [B, H, K].
Histograms: TypeAlias = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Points:
    """The distinct points of one parent bucket and the point of each of its hands."""

    points: NDArray[np.float32]  # [n, D] coordinates, such as shares of clusters
    weights: NDArray[np.float64]  # [n] number of raw (hand, board) deals
    places: NDArray[np.int64]  # [N] positions of the bucket's hands in the flat table [B · H]
    inverse: NDArray[np.int32]  # [N] the point of each hand


def label_histograms(streets: Streets, r: int, labels: Ints, num_labels: int) -> Histograms:
    """Return the histograms of the hands of round `r` over the next street's labels."""
    from equilibrist.kernels.cpu.histograms import pack_labels
    from equilibrist.kernels.cpu.rollout import roll_histograms

    street = streets[r]
    shape = len(street.boards), streets.num_hands
    links = street.child, street.renaming, streets.renamed
    if _bits(street) * num_labels > _WORD:
        _check_counts(streets, r, num_labels)
        counts = np.zeros((*shape, num_labels), np.uint32)
        roll_histograms(labels, *links, np.arange(shape[0]), counts)
        return counts
    words = np.empty(shape, np.uint64)
    pack_labels(labels, *links, _bits(street), words)
    return words


def interval_histograms(
    streets: Streets, r: int, values: Ints, parents: Ints, cut: Intervals
) -> Histograms:
    """Return the histograms of the second-to-last street over intervals of strength.

    `parents` [B, H] are the buckets whose intervals are used, on the boards of round `r`.
    """
    from equilibrist.kernels.cpu.histograms import pack_intervals

    street, most = streets[r], int(np.diff(cut.first).max())
    if _bits(street) * most > _WORD:
        _check_counts(streets, r, most)
        return _interval_counts(streets, r, values, parents, cut)
    words = np.empty((len(street.boards), streets.num_hands), np.uint64)
    links = street.child, street.renaming, streets.renamed
    pack_intervals(values, links, parents, (cut.first, cut.lower), _bits(street), words)
    return words


def points_of(
    streets: Streets,
    r: int,
    histograms: Histograms,
    num_labels: int,
    parents: Ints,
    num_parents: int,
) -> list[Points]:
    """Return the distinct histograms of each parent bucket, as shares of `num_labels` clusters."""
    bits = _bits(streets[r])

    def shares(words: Histograms) -> NDArray[np.float32]:
        from equilibrist.kernels.cpu.histograms import unpack

        counts = words.astype(np.float32)
        if words.ndim == 1:
            counts = np.empty((len(words), num_labels), np.float32)
            unpack(words, bits, counts)
        return np.asarray(counts / counts.sum(axis=1, keepdims=True))

    return distinct_points(streets, r, histograms, shares, parents, num_parents)


def distinct_points(
    streets: Streets,
    r: int,
    words: Histograms,
    decode: Callable[[Histograms], NDArray[np.float32]],
    parents: Ints,
    num_parents: int,
) -> list[Points]:
    """Return the distinct words of each parent bucket as points; `parents` [B, H] are of round r.

    Words are [B, H], or rows [B, H, K]; hands whose word is 0 are blocked.
    """
    multiplicity, flat = streets[r].multiplicity, parents.ravel()
    rows = words.reshape(len(flat), *words.shape[2:])
    order = np.argsort(flat, kind="stable")
    starts = np.searchsorted(flat[order], np.arange(num_parents + 1))
    found = []
    for begin, end in itertools.pairwise(starts):
        places = order[begin:end]
        held = rows[places].reshape(len(places), -1).any(axis=1)
        places = places[held]
        different, inverse = np.unique(rows[places], axis=0, return_inverse=True)
        weights = multiplicity[places // streets.num_hands].astype(np.float64)
        total = np.bincount(inverse.ravel(), weights, len(different)).astype(np.float64)
        found.append(Points(decode(different), total, places, inverse.ravel().astype(np.int32)))
    return found


def _interval_counts(
    streets: Streets, r: int, values: Ints, parents: Ints, cut: Intervals
) -> Histograms:
    """Count hands by interval, [B, H, K], if the intervals do not fit into a word (small decks)."""
    street = streets[r]
    counts = np.zeros((*parents.shape, int(np.diff(cut.first).max())), np.uint32)
    # All intervals in one ascending row: those of a parent are above those of the previous parent.
    size = int(values.max()) + 1
    lowers = cut.parents * np.int64(size) + cut.lower
    for child, renaming in zip(street.child.T, street.renaming.T, strict=True):
        found = values[child[:, None], streets.renamed[renaming]]
        board, hand = np.nonzero((found >= 0) & (parents >= 0))
        parent = parents[board, hand].astype(np.int64)
        interval = np.searchsorted(lowers, parent * size + found[board, hand], side="right") - 1
        counts[board, hand, interval - cut.first[parent]] += 1  # one interval per hand and deal
    return counts


def _check_counts(streets: Streets, r: int, num_labels: int) -> None:
    """Raise `InvalidValueError` if histograms fit neither into words nor into memory."""
    if len(streets[r].boards) * streets.num_hands * num_labels > _MOST_COUNTS:
        raise InvalidValueError(
            f"histograms over {num_labels} clusters in round {r + 1} are too large; use at "
            f"most {_WORD // _bits(streets[r])} clusters",
            value=num_labels,
        )


def _bits(street: Street) -> int:
    """Return the number of bits needed to count the deals onto a board."""
    return street.child.shape[1].bit_length()

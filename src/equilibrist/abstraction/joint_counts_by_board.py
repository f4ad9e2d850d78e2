"""Joint counts over the boards of the last street, each with the deals that lead to it.

The hands of a board are sorted once for all these deals. If both players have the same buckets, all
pairs of labels are counted (`kernels/cpu/joint.py`); if they have different buckets, groups of rows
of the player with fewer buckets are counted (`kernels/cpu/row_groups.py`).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from equilibrist.abstraction.buckets import Abstraction
from equilibrist.abstraction.features import Ints
from equilibrist.abstraction.streets import Streets
from equilibrist.cards.ranking import rank_tables

Counts = NDArray[Any]  # whole numbers: float64 below 2**53, or uint32 or uint64
Matrices = list[Counts]  # wins, ties and, for two different abstractions, losses: [K0, K1] each
Watch = Callable[[Matrices, int], None]  # the counts so far and the number of blocks done

NUM_BLOCKS: Final = 64  # blocks of boards: unit of progress, and of work lost by a killed run
_LEAST_SECONDS = 0.25  # between two calls of `watch`, about
_BATCH = 64  # boards whose walks are stored together
_NOBODYS = 52  # a card that is in no hand


class Links(NamedTuple):
    """Deals that lead to last boards; those to board b are `start[b]` … `start[b + 1]` − 1."""

    start: NDArray[np.int64]  # [last boards + 1]
    origin: NDArray[np.int64]  # [deals] board of the previous street
    renaming: NDArray[np.uint8]  # [deals]
    weights: Counts  # [boards of the previous street] weight of a deal onto the board


def all_links(streets: Streets, boards: NDArray[np.int64] | None = None) -> Links:
    """Return the links of all deals, or of all deals onto some second-to-last boards."""
    if len(streets) == 1:
        return links_of(streets, np.zeros(0, np.int64), streets[0].multiplicity.astype(np.float64))
    before = streets[-2]
    num_deals = before.child.shape[1]
    chosen = np.arange(len(before.boards)) if boards is None else np.asarray(boards)
    deals = (chosen[:, None] * num_deals + np.arange(num_deals)).ravel()
    return links_of(streets, deals, before.multiplicity.astype(np.float64))


def links_of(streets: Streets, deals: NDArray[np.int64], weights: Counts) -> Links:
    """Return the links of deals that are numbered board by board."""
    if len(streets) == 1:
        count = len(streets[0].boards)
        same = np.zeros(count, np.uint8)
        return Links(np.arange(count + 1), np.zeros(count, np.int64), same, weights)
    before = streets[-2]
    deals = deals[np.argsort(before.child.ravel()[deals], kind="stable")]
    child = before.child.ravel()[deals]
    start = np.searchsorted(child, np.arange(len(streets[-1].boards) + 1))
    renaming = before.renaming.ravel()[deals]
    return Links(start, deals // before.child.shape[1], renaming, weights)


def last_street(side: Abstraction) -> tuple[Ints, Ints, tuple[NDArray[Any], NDArray[Any]]]:
    """Return the second-to-last street's buckets, and the last street's values and intervals."""
    labels = side.tables[-1] if side.tables else np.zeros((1, side.streets.num_hands), np.int16)
    return labels, side.values, (side.last.first, side.last.lower)


def count_boards(
    first: Abstraction,
    other: Abstraction,
    links: Links,
    *,
    so_far: tuple[Matrices, int] | None = None,
    watch: Watch | None = None,
    blocks: int = NUM_BLOCKS,
) -> Matrices:
    """Count the deals of some links; `so_far` are counts that `watch` received earlier.

    Boards are counted in `blocks` if `watch` or `so_far` is given, otherwise all at once. While
    that takes little time, several blocks are counted before `watch` is called.
    """
    shape = first.num_buckets[-1], other.num_buckets[-1]
    parts = 2 if other is first else 3
    matrices, done = so_far or ([np.zeros(shape) for _ in range(parts)], 0)
    add = _pairs(first, links) if other is first else _row_groups(first, other, links)
    blocks = 1 if watch is None and so_far is None else blocks
    ends = np.linspace(0, len(first.streets[-1].boards), blocks + 1).astype(np.int64).tolist()
    together = 1
    while done < blocks:
        before, done, start = done, min(done + together, blocks), time.perf_counter()
        add(ends[before], ends[done], matrices)
        if watch is not None:
            watch(matrices, done)
        if time.perf_counter() - start < _LEAST_SECONDS:
            together *= 2
    return matrices


def _pairs(found: Abstraction, links: Links) -> Callable[[int, int, Matrices], None]:
    """Return a function that adds wins and ties on a range of boards, for equal buckets."""
    from equilibrist.kernels.cpu.joint import bucket_showdowns, move_counts

    streets = found.streets
    tables, hands = _tables(found), (streets.hands[streets.in_deck], streets.in_deck)
    renamings = streets.renamed, _inverse(streets)
    labels, values, cuts = last_street(found)
    shape = (2, numba.get_num_threads(), found.num_buckets[-1], found.num_buckets[-1])
    wins, ties = np.zeros(shape)  # of each thread

    def add(begin: int, end: int, matrices: Matrices) -> None:
        side = labels, values[begin:end], *cuts
        deals = links.start[begin : end + 1], links.origin, links.renaming, links.weights
        boards = streets[-1].boards[begin:end]
        bucket_showdowns(tables, boards, hands, deals, renamings, side, side, (wins, ties))
        move_counts(wins, matrices[0])
        move_counts(ties, matrices[1])

    return add


def _row_groups(
    first: Abstraction, other: Abstraction, links: Links
) -> Callable[[int, int, Matrices], None]:
    """Return a function that adds wins, ties and losses on a range, for different buckets."""
    is_transposed = first.num_buckets[-1] > other.num_buckets[-1]
    few, many = (other, first) if is_transposed else (first, other)
    shape, rules = (few.num_buckets[-1], many.num_buckets[-1]), few.rules
    left = len(rules.deck) - rules.total_board_cards
    pairs = math.comb(left, rules.num_hole_cards)
    pairs *= math.comb(left - rules.num_hole_cards, rules.num_hole_cards)

    def add(begin: int, end: int, matrices: Matrices) -> None:
        deals = links.origin[links.start[begin] : links.start[end]]
        for dtype in (np.uint32, np.uint64):
            lost, tied, met = _add_walks(few, many, links, begin, end, dtype)
            # If a count overflowed its cell, the sum is too small: count again with 64 bits.
            if met.sum(dtype=np.uint64) == links.weights[deals].sum() * pairs:
                break
        lost, tied, met = (_matrix(counts, shape) for counts in (lost, tied, met))
        wins = met - tied - lost
        found = [lost.T, tied.T, wins.T] if is_transposed else [wins, tied, lost]
        for matrix, more in zip(matrices, found, strict=True):
            matrix += more

    return add


def _add_walks(
    few: Abstraction, many: Abstraction, links: Links, begin: int, end: int, dtype: Any
) -> tuple[Counts, Counts, Counts]:
    """Return counts [groups, K1, width] of rows that lose, tie and occur on some boards."""
    from equilibrist.kernels.cpu.row_groups import WIDTH, add_row_groups, write_walks

    streets = few.streets
    tables, hands = _tables(few), streets.hands[streets.in_deck]
    renamings = streets.renamed, _inverse(streets)
    cards = np.full((len(hands), 2), _NOBODYS, hands.dtype)
    cards[:, : hands.shape[1]] = hands
    sides = [last_street(side) for side in (few, many)]
    shape = -(-few.num_buckets[-1] // WIDTH), many.num_buckets[-1], WIDTH
    lost, tied, met = (np.zeros(shape, dtype) for _ in range(3))
    for low in range(begin, end, _BATCH):
        high = min(low + _BATCH, end)
        start = links.start[low : high + 1]
        deals = links.origin[start[0] : start[-1]]
        walks = (
            np.zeros(high - low, np.int64),
            np.zeros((high - low, len(hands)), np.uint32),
            *np.zeros((2, len(deals), len(hands)), np.int32),
        )
        write_walks(
            tables, streets[-1].boards[low:high], (hands, streets.in_deck),
            (start, links.origin, links.renaming, links.weights), renamings,
            *[(labels, values[low:high], *cuts) for labels, values, cuts in sides], walks,
        )  # fmt: skip
        weights = links.weights[deals].astype(dtype)
        add_row_groups(cards, hands.shape[1] == 2, start, weights, walks, lost, tied, met)
    return lost, tied, met


def _matrix(counts: Counts, shape: tuple[int, int]) -> Counts:
    """Convert counts [groups, K1, width] to a matrix [K0, K1] float64."""
    rows = counts.transpose(0, 2, 1).reshape(-1, shape[1])[: shape[0]]
    return rows.astype(np.float64)


def _tables(found: Abstraction) -> Any:
    rules = found.rules
    return rank_tables(rules.num_hole_cards + rules.total_board_cards, rules.ranking)


def _inverse(streets: Streets) -> NDArray[np.int64]:
    """Return the inverse of each suit renaming: [24]."""
    every, same = streets.renamed, np.arange(streets.num_hands)
    return np.array(
        [next(j for j in range(24) if np.array_equal(every[j][row], same)) for row in every]
    )

"""Joint counts of many thousand buckets, tile by tile: GS3's 28,800 × 28,800 in ordinary memory.

See `kernels/cpu/tiles.py` for the algorithm. Counts are whole numbers of 32 bits; if one does not
fit, which the first boards predict, counting starts again with 64 bits.
"""

from __future__ import annotations

import itertools
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from equilibrist.abstraction.buckets import Abstraction
from equilibrist.abstraction.joint_counts_by_board import NUM_BLOCKS, Matrices, Watch
from equilibrist.cards.ranking import rank_tables

_ROOM = 2  # maximum growth of a count per block, relative to the first block


def can_be_tiled(*sides: Abstraction) -> bool:
    """Return whether the third-to-last street exists and its buckets have ascending children."""
    return len(sides[0].streets) > 2 and all(
        bool((np.diff(side.parents[-2]) >= 0).all()) for side in sides
    )


def count_tiles(
    first: Abstraction,
    other: Abstraction,
    *,
    boards: NDArray[np.int64] | None = None,
    so_far: tuple[Matrices, int] | None = None,
    watch: Watch | None = None,
) -> Matrices:
    """Count all deals onto some boards of the second-to-last street (default: all boards)."""
    shape = first.num_buckets[-1], other.num_buckets[-1]
    number = 2 if other is first else 3
    matrices, done = so_far or ([np.zeros(shape, np.uint32) for _ in range(number)], 0)
    if not _count(first, other, boards, matrices, done, watch):
        del matrices, so_far
        matrices = [np.zeros(shape, np.uint64) for _ in range(number)]
        _count(first, other, boards, matrices, 0, watch)
    return matrices


def _count(
    first: Abstraction,
    other: Abstraction,
    boards: NDArray[np.int64] | None,
    matrices: Matrices,
    done: int,
    watch: Watch | None,
) -> bool:
    """Add the counts of all blocks not yet done; return whether every count fits."""
    from equilibrist.kernels.cpu.tiles import add_tiles, write_runouts

    streets, rules = first.streets, first.rules
    tables = rank_tables(rules.num_hole_cards + rules.total_board_cards, rules.ranking)
    before, last = streets[-2], streets[-1]
    chosen = np.arange(len(before.boards)) if boards is None else np.asarray(boards)
    above = streets.parents(len(streets) - 2)[chosen]
    chosen = chosen[np.argsort(above, kind="stable")]
    groups = np.flatnonzero(np.diff(np.sort(above), prepend=-1, append=len(before.boards)))
    most = int(np.diff(groups).max())
    sides = [_side(side) for side in ([first] if other is first else [first, other])]
    spaces = [_space(most, streets.num_hands, before.child.shape[1], side) for side in sides]
    overflows = np.zeros(numba.get_num_threads(), np.bool_)
    ends = np.linspace(0, len(groups) - 1, NUM_BLOCKS + 1).astype(np.int64)
    for number, (begin, end) in enumerate(itertools.pairwise(ends)):
        if number < done:
            continue
        for start, stop in itertools.pairwise(groups[begin : end + 1]):
            numbers = chosen[start:stop]
            deals = numbers, before.child, before.renaming, streets.renamed
            for side, space in zip(sides, spaces, strict=True):
                write_runouts(tables, streets.hands, deals, last.boards, side, space)
            add_tiles(
                before.multiplicity[numbers], spaces[0], spaces[-1], sides[0][-1], sides[-1][-1],
                other is first, (matrices[0], matrices[1], matrices[-1]), overflows,
            )  # fmt: skip
        largest = int(max(matrix.max() for matrix in matrices)) if number == 0 else 0
        if overflows.any() or largest > np.iinfo(matrices[0].dtype).max // (_ROOM * NUM_BLOCKS):
            return False
        if watch is not None:
            watch(matrices, number + 1)
    return True


def _side(side: Abstraction) -> tuple[Any, ...]:
    """Return a player's buckets in the form of the kernel."""
    tile_of, first = side.parents[-2], side.last.first
    starts = first[np.searchsorted(tile_of, np.arange(side.num_buckets[-3] + 1))]
    return side.tables[-1], side.values, first, side.last.lower, tile_of, starts.astype(np.int64)


def _space(most: int, num_hands: int, num_deals: int, side: tuple[Any, ...]) -> tuple[Any, ...]:
    """Allocate the kernel's output for at most `most` boards: starts, masks, codes and values."""
    codes, values = np.zeros((2, most, num_hands, num_deals), np.uint16)
    starts = np.zeros((most, len(side[-1])), np.int64)
    return starts, np.zeros((most, num_hands), np.uint64), codes, values

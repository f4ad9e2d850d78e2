"""Counts of how often buckets meet when their matrix is larger than the caches.

Pairs of hands are counted one by one, but a *tile* at a time: the cells whose row is below one
bucket of the street two before the last, and whose column is below another. On one board of that
street all pairs of hands of the two buckets stay in the tile through all later deals, some ten
kilobytes, so every count is an addition in the nearest cache; then the tile is added to the matrix.
Tiles of different buckets share no cell, so they can be assigned to threads.

A hand that a deal blocks is counted in a row and column of the tile that nobody reads.
"""

from __future__ import annotations

import numpy as np

from equilibrist.kernels.cpu.equity import card_sum, hand_sums
from equilibrist.kernels.cpu.ranking import hand_value
from equilibrist.kernels.cpu.rollout import interval
from equilibrist.kernels.cpu.team import threaded
from equilibrist.kernels.parts import part

LOSS, TIE, WIN = 0, 1, 2  # places of a cell
PLACES = 4  # of a cell in a tile, one of them empty
_MOST = np.uint64(2**32 - 1)  # the largest number that a place can hold


@threaded(lambda tables, hands, deals, *_: len(deals[0]), _nrt=True)
def write_runouts(begin, end, tables, hands, deals, last, buckets, side):
    """Write the buckets and values of every hand of T boards, in D deals onto each.

    `hands` [H, 1 or 2] are all hands. `deals` = (numbers of the boards [T], child [B, D], renaming
    [B, D], renamed [24, H]); `last` are the boards of the last street. `buckets` = (labels [B, H],
    strength [last boards, H], first [P + 1], lower [K], tile of each label [P], first bucket of
    each tile [tiles + 1]).

    `side` = (start [T, tiles + 1], mask [T, H], code [T, H, D], value [T, H, D]): hands in order of
    their tiles, their cards, bucket within the tile and value at the showdown.
    """
    for t in range(begin, end):
        _write_runout(tables, hands, deals, last, buckets, side, t)


@part(forceinline=False, _nrt=True)
def _write_runout(tables, hands, deals, last, buckets, side, t):
    numbers, child, renaming, renamed = deals
    labels, strength, first, lower, tile_of, tile_start = buckets
    starts, masks, codes, values = side
    board, start = numbers[t], starts[t]
    keys, cards = hand_sums(tables, hands)
    order, num_alive = np.empty(len(hands), np.int64), 0
    start[:] = 0
    for h in range(len(hands)):
        if labels[board, h] >= 0:
            start[tile_of[labels[board, h]] + 1] += 1
    start[:] = np.cumsum(start)
    for h in range(len(hands)):  # leaves `start` one tile ahead
        if labels[board, h] >= 0:
            tile = tile_of[labels[board, h]]
            order[start[tile]], masks[t, start[tile]] = h, cards[h]
            start[tile] += 1
            num_alive += 1
    start[1:] = start[:-1].copy()
    start[0] = 0
    for d in range(child.shape[1]):
        below, image = child[board, d], renamed[renaming[board, d]]
        key, mask = card_sum(tables, last[below])
        key += tables.start
        for k in range(num_alive):
            label, column = labels[board, order[k]], image[order[k]]
            tile = tile_of[label]
            bucket, value = tile_start[tile + 1], 0
            if strength[below, column] >= 0:
                bucket = interval(first, lower, label, strength[below, column])
                value = hand_value(tables, key + keys[column], mask + cards[column])
            codes[t, k, d], values[t, k, d] = bucket - tile_start[tile], value


@threaded(lambda *arguments: len(arguments[-1]), _nrt=True)
def add_tiles(begin, end, weights, rows, cols, row_start, col_start, is_same, counts, overflows):
    """Add the counts of T boards with their `weights` [T].

    `rows` and `cols` are what `write_runouts` wrote for the players, `row_start` and `col_start`
    the first buckets of their tiles. `counts` are the matrices of wins, ties and losses. With
    `is_same` the players' buckets are the same, pairs count both ways, and the losses are not used.
    `overflows` [chunks] says where a sum was too large.
    """
    wins, ties, losses = counts
    for chunk in range(begin, end):
        overflows[chunk] |= _add_tiles(
            weights, rows, cols, row_start, col_start, is_same, wins, ties, losses, chunk,
            len(overflows),
        )  # fmt: skip


@part(forceinline=False, _nrt=True)
def _add_tiles(
    weights, rows, cols, row_start, col_start, is_same, wins, ties, losses, chunk, num_chunks
):
    """Add every `num_chunks`-th row of tiles, starting at `chunk`."""
    num_deals = rows[2].shape[2]
    height, width = np.diff(row_start).max() + 1, np.diff(col_start).max() + 1
    tile, overflow = np.zeros(PLACES * height * width, np.uint32), False
    offsets, places = np.empty(num_deals, np.uint32), np.empty(num_deals, np.uint32)
    for p in range(chunk, len(row_start) - 1, num_chunks):
        for q in range(p if is_same else 0, len(col_start) - 1):
            cells = (row_start[p], row_start[p + 1], col_start[q], col_start[q + 1])
            is_empty, pending = True, np.uint64(0)
            for t in range(len(weights)):
                ours, theirs = (
                    (rows[0][t, p], rows[0][t, p + 1]),
                    (cols[0][t, q], cols[0][t, q + 1]),
                )
                pairs = (ours[1] - ours[0]) * (theirs[1] - theirs[0])
                if pairs == 0:
                    continue
                most = np.uint64(weights[t]) * np.uint64(pairs) * np.uint64(num_deals)
                if pending + most > _MOST:
                    overflow |= _flush(tile, cells, is_same, wins, ties, losses)
                    pending = np.uint64(0)
                is_empty, pending = False, pending + most
                _add_pairs(
                    t, weights[t], rows, cols, ours, theirs, is_same and p == q,
                    cells[3] - cells[2] + 1, offsets, places, tile,
                )  # fmt: skip
            if not is_empty:
                overflow |= _flush(tile, cells, is_same, wins, ties, losses)
    return overflow


@part(forceinline=False)
def _add_pairs(t, weight, rows, cols, ours, theirs, is_square, width, offsets, places, tile):
    """Count all pairs of two buckets' hands in all deals onto a board."""
    _, row_masks, row_codes, row_values = rows
    _, col_masks, col_codes, col_values = cols
    num_deals, often = np.uint64(row_codes.shape[2]), np.uint32(weight)
    stride = np.uint32(PLACES * width)
    for i in range(ours[0], ours[1]):
        code, value = row_codes[t, i], row_values[t, i]
        for d in range(num_deals):
            offsets[d] = stride * np.uint32(code[d]) + np.uint32(TIE)
        for j in range(i + 1 if is_square else theirs[0], theirs[1]):
            if row_masks[t, i] & col_masks[t, j]:
                continue
            other_code, other = col_codes[t, j], col_values[t, j]
            for d in range(num_deals):
                places[d] = (
                    offsets[d]
                    + np.uint32(PLACES) * np.uint32(other_code[d])
                    + np.uint32(value[d] > other[d])
                    - np.uint32(value[d] < other[d])
                )
            for d in range(num_deals):
                tile[np.uint64(places[d])] += often


@part(forceinline=False)
def _flush(tile, cells, is_same, wins, ties, losses):
    """Move a tile into the matrices; return whether a sum was too large for them."""
    top, bottom, left, right = cells
    width = right - left + 1
    overflow = False
    for c in range(bottom - top):
        for e in range(right - left):
            at = PLACES * (c * width + e)
            overflow |= _add(wins, top + c, left + e, tile[at + WIN])
            overflow |= _add(ties, top + c, left + e, tile[at + TIE])
            if not is_same:
                overflow |= _add(losses, top + c, left + e, tile[at + LOSS])
    if is_same:
        for e in range(right - left):
            for c in range(bottom - top):
                at = PLACES * (c * width + e)
                overflow |= _add(wins, left + e, top + c, tile[at + LOSS])
                overflow |= _add(ties, left + e, top + c, tile[at + TIE])
    tile[: PLACES * (bottom - top + 1) * width] = 0
    return overflow


@part
def _add(matrix, row, column, count):
    """Add a count to a cell; return whether the cell's type was too small."""
    if count == 0:
        return False
    before = np.uint64(matrix[row, column])
    matrix[row, column] += matrix.dtype.type(count)
    return np.uint64(matrix[row, column]) != before + np.uint64(count)

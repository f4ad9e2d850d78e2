"""Probabilities of the opponent before the last round, as whole units in tables of lanes."""

from __future__ import annotations

from typing import Any, NamedTuple

from numba import float32, float64, int64

from equilibrist.kernels.gpu import device
from equilibrist.kernels.gpu.real_game.hands import ANY_COLUMN, COLUMN, HAND, U
from equilibrist.kernels.gpu.real_game.products import times

cuda = device.cuda()
_1, _2 = U(1), U(2)


class Lanes(NamedTuple):
    """Opponent's sequences before the last round: B blocks, D different ends, L lanes."""

    table: Any  # [B · K · D · L / 2] units by column; two lanes are one number
    share: Any  # [B · K · D · L] float32 instead, if the first round has columns of its own
    first: Any  # [B, K1, L] factors by column of the first round
    unit: Any  # [B, E, L] float32 a unit, times the factor that all hands share
    end: Any  # [E] index of each end among the different ends
    chips: Any  # [C, L] float32 chips of each player in the pot, for each case of a block
    case_start: Any  # [B + 1]


@device.jit
def find_units(rows, most, smallest, out):
    """Write the units [Q + 1] of each row's largest probability; see `evaluation.real_game`.

    `most` is (units, units if the row has no other probability). The last is of a row of zeros.
    """
    q = cuda.grid(1)
    if q > rows.shape[0]:
        return
    largest, is_sure = float64(0), True
    if q < rows.shape[0]:
        for k in range(rows.shape[1]):
            largest = max(largest, float64(rows[q, k]))
        for k in range(rows.shape[1]):
            own = float64(rows[q, k])
            is_sure = is_sure and (own == 0 or own == largest)
    out[q] = (most[1] if is_sure else most[0]) / (largest if largest >= smallest else float64(1))


@device.jit
def fill_lanes(rows, units, row, is_whole, lanes):
    """Write the units of probabilities `rows` [Q, K] into the tables of lanes.

    `row` [B, D, L] says which row each lane has; `is_whole` whether units are rounded now.
    """
    b, d, pair = cuda.blockIdx.x, cuda.blockIdx.y, cuda.blockIdx.z
    num_ends, num_lanes = row.shape[1], row.shape[2]
    num_columns = rows.shape[1]
    for k in range(cuda.threadIdx.x, num_columns, cuda.blockDim.x):
        at = ((b * num_columns + k) * num_ends + d) * num_lanes + 2 * pair
        packed = int64(0)
        for half in range(2):
            own = row[b, d, 2 * pair + half]
            share = float32(0)
            if own >= 0:
                share = float32(float64(rows[own, k]) * units[own])
            if is_whole:
                packed |= int64(share + float32(0.5)) << (32 * half)
            else:
                lanes.share[at + half] = share
        if is_whole:
            lanes.table[at // 2] = packed


@device.jit
def fill_units(rows, units, places, scale, lanes):
    """Write the units of each end and the factors of the first round, `rows` [Q1, K1].

    `places` is (row [B, D, L], first row [B, L]); `scale` [B, E, L] as in `Lanes` of the positions.
    """
    row, first_row = places
    b, lane = cuda.blockIdx.x, cuda.threadIdx.x
    for e in range(scale.shape[1]):
        own = row[b, lanes.end[e], lane]
        unit = units[own if own >= 0 else units.shape[0] - 1]
        lanes.unit[b, e, lane] = float32(scale[b, e, lane] / unit)
    above = first_row[b, lane]
    for k in range(lanes.first.shape[1]):
        lanes.first[b, k, lane] = float32(rows[above, k]) if above >= 0 else float32(1)


@device.part
def units_of(lanes, place, first_column, word, width):
    """Return how many units a hand has in both lanes: two numbers in one.

    `place` is (is product, block, pair, where the column 0 of this thread is).
    """
    is_product, b, pair, at = place
    at = U(at + (U(word >> COLUMN) & ANY_COLUMN) * width)
    if not is_product:
        return lanes.table[at]
    column = U(first_column[U(word) & HAND])
    low = times(lanes.first[b, column, U(_2 * pair)], lanes.share[U(_2 * at)])
    high = times(lanes.first[b, column, U(_2 * pair + _1)], lanes.share[U(_2 * at + _1)])
    return int64(low + float32(0.5)) | int64(high + float32(0.5)) << 32

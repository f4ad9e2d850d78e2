"""Responses to all betting of a round that is not the last, and sums over boards."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

from numba import float64, int64

from equilibrist.kernels.gpu import device
from equilibrist.kernels.gpu.real_game.folds import fold_double
from equilibrist.kernels.gpu.real_game.hands import MOST_HANDS
from equilibrist.kernels.gpu.real_game.products import times_double

cuda = device.cuda()


class Rounds(NamedTuple):
    """Positions of a round that is not the last (see `cpu.real_game.respond_round`)."""

    following: Any  # [P, E]
    row: Any  # [P, E]
    scale: Any  # [P, E]
    spent: Any  # [P]


@device.jit
def average(dealt, place, stride, divisor, keeping, renamed, out):
    """Write into `out` [N, P, H] means over the renamings that keep a board.

    `dealt` [N, …] has hand h of position p at `place[p] + stride · h`; `keeping` is (start [N + 1],
    renamings); `renamed` [G, H].
    """
    start, renaming = keeping
    p, i = cuda.blockIdx.x, cuda.blockIdx.y
    first, last = start[i], start[i + 1]
    for h in range(cuda.threadIdx.x, out.shape[2], cuda.blockDim.x):
        total = 0.0
        for g in range(first, last):
            total += dealt[i, place[p] + stride * int64(renamed[renaming[g], h])] / divisor
        if last - first > 1:
            total /= last - first
        out[i, p, h] = total


@device.jit
def meet(rows, first, columns, first_column, dead, cards, out):
    """Write into `out` [N, Q, H] how often each hand meets the opponent's.

    `rows` is (number of the row, probabilities [·, K]), `first` the same for the first round, −1 if
    it does not multiply; `columns` [N, H], `dead` [N] as in `sort_hands`. `cards` is (those of each
    hand [H, 2], hand of each two cards [52, 52]: −1 if the deck lacks it).
    """
    reach = cuda.shared.array(MOST_HANDS, float64)
    sums = cuda.shared.array(53, float64)
    q, i, t = cuda.blockIdx.x, cuda.blockIdx.y, cuda.threadIdx.x
    own, above, gone = rows[0][q], first[0][q], dead[i]
    hand_cards, hand_of = cards
    num_hands = hand_cards.shape[0]
    for h in range(t, num_hands, cuda.blockDim.x):
        number = 0.0
        if not ((gone >> int64(hand_cards[h, 0])) | (gone >> int64(hand_cards[h, 1]))) & 1:
            number = float64(rows[1][own, columns[i, h]])
            if above >= 0:
                number = times_double(number, float64(first[1][above, first_column[h]]))
        reach[h] = number
    cuda.syncthreads()
    # The sum of each card, and of all hands, in the order of the hands.
    for card in range(t, 53, cuda.blockDim.x):
        total = 0.0
        if card == 52:
            for h in range(num_hands):
                total += reach[h]
        else:
            for other in range(52):
                h = hand_of[card, other]
                if h >= 0:
                    total += reach[h]
        sums[card] = total
    cuda.syncthreads()
    for h in range(t, num_hands, cuda.blockDim.x):
        shared = sums[hand_cards[h, 0]] + sums[hand_cards[h, 1]]
        out[i, q, h] = sums[52] - shared + reach[h]


@functools.cache
def respond_round(raises: int, is_first: bool) -> Any:
    """Return the kernel for a maximum of raises and for who acts first."""
    num_ends = 2 * raises + 1
    ends_size = 2 * num_ends

    @device.jit
    def respond(values, met, positions, bet, dead, hand_cards, out):
        """Write into `out` [N, P, H] what hands win from each position of a round (see the CPU's).

        `values` [N, P', H], `met` [N, Q, H], `dead` [N].
        """
        p, i = cuda.blockIdx.x, cuda.blockIdx.y
        ends = cuda.local.array(ends_size, float64)
        gone = dead[i]
        for h in range(cuda.threadIdx.x, hand_cards.shape[0], cuda.blockDim.x):
            value = 0.0
            if not ((gone >> int64(hand_cards[h, 0])) | (gone >> int64(hand_cards[h, 1]))) & 1:
                for e in range(num_ends):
                    row, share = positions.row[p, e], positions.scale[p, e]
                    ends[2 * e], ends[2 * e + 1] = 0.0, 0.0
                    if row >= 0:
                        own = values[i, positions.following[p, e], h]
                        ends[2 * e] = times_double(share, own)
                        ends[2 * e + 1] = times_double(share, met[i, row, h])
                spent = positions.spent[p]
                value = fold_double(ends, spent, bet, False, raises, is_first, 0.0)
            out[i, p, h] = value

    return respond


@device.jit
def add_boards(values, start, weight, out):
    """Write into `out` [F, M] the weighted sums of `values` [T, M] of the boards that follow."""
    f = cuda.blockIdx.y
    m = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if m < out.shape[1]:
        total = 0.0
        for i in range(start[f], start[f + 1]):
            total += times_double(weight[i], values[i, m])
        out[f, m] = total

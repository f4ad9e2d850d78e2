"""Rounds before the last: the responder's choices, where his hands go, and leaves by bucket."""

from __future__ import annotations

import functools
from typing import Any

from numba import float32, int32, int64

from equilibrist.kernels.gpu import device
from equilibrist.kernels.gpu.cfr_br.choices import PARTS, leads_with, sum_cards_with
from equilibrist.kernels.gpu.cfr_br.lists import CARDS
from equilibrist.kernels.gpu.real_game.hands import MOST_HANDS

cuda = device.cuda()


@functools.cache
def respond_earlier(raises: int, is_first: bool) -> Any:
    """Return the kernel for a maximum of raises and for who acts first."""

    @device.jit
    def respond(values, met, following, stakes, dead, hand_cards, choice, out):
        """Write what hands win from the openings of a round on N boards, and their choices.

        `values` [N, O', H] are those of the next round's openings, `following` [O, 2 m + 1]; `met`
        [N, O · 2 m, H] how often hands meet those that raised, then those that folded; `stakes` is
        (chips spent [O], bet); `choice` and `out` [N, O, H].
        """
        o, i = cuda.blockIdx.x, cuda.blockIdx.y
        gone, spent, bet = dead[i], float(stakes[0][o]), float(stakes[1])
        for h in range(cuda.threadIdx.x, hand_cards.shape[0], cuda.blockDim.x):
            value, code = 0.0, int32(0)
            if not ((gone >> int64(hand_cards[h, 0])) | (gone >> int64(hand_cards[h, 1]))) & 1:
                first_chain, second_chain = 0.0, 0.0
                for back in range(raises):
                    k = raises - back
                    lost = spent + (k - 1) * bet
                    is_mine_first = (k % 2 == 0) == is_first
                    mine = following[o, k if is_mine_first else raises + k]
                    theirs = following[o, raises + k if is_mine_first else k]
                    raised = first_chain if is_mine_first else second_chain
                    other = second_chain if is_mine_first else first_chain
                    at = o * 2 * raises + k - 1
                    best, pick = -lost * met[i, at, h], int32(0)
                    if values[i, mine, h] > best:
                        best, pick = values[i, mine, h], int32(1)
                    if back > 0 and raised > best:
                        best, pick = raised, int32(2)
                    code |= pick << (2 * (k - 1))
                    value = other + lost * met[i, at + raises, h] + values[i, theirs, h]
                    first_chain = best if is_mine_first else value
                    second_chain = value if is_mine_first else best
                value = values[i, following[o, 0], h]
                if is_first:
                    value += second_chain
                    if first_chain > value:
                        value = first_chain
                        code |= 1 << (2 * raises)
                else:
                    if second_chain > value:
                        value = second_chain
                        code |= 1 << (2 * raises)
                    value += first_chain
            choice[i, o, h], out[i, o, h] = code, value

    return respond


@functools.cache
def spread_earlier(raises: int, is_first: bool) -> Any:
    """Return the kernel for a maximum of raises and for who acts first."""
    num_ends, num_sums = 2 * raises + 1, 2 * raises * CARDS
    leads, sum_cards = leads_with(raises, is_first), sum_cards_with(2 * raises)
    parts_size = PARTS * num_sums

    @device.jit
    def spread(choice, above, following, dead, cards, lists, reach, leaves):
        """Write the responder's reach of the next openings, and folds by bucket.

        `above` is (reach on the boards before [M, O, H], board before each board [N]); `cards` is
        (those of each hand [H, 2], hand of two cards [52, 52]); `reach` [N, O', H]; `leaves`
        [N, O · 2 m, G] are how often the hands of a bucket meet those that fold to it, then those
        that it folds to.
        """
        hands = cuda.shared.array(MOST_HANDS, float32)
        flags = cuda.shared.array(MOST_HANDS, int32)
        parts = cuda.shared.array(parts_size, float32)
        sums = cuda.shared.array(num_sums, float32)
        o, i, t, width = cuda.blockIdx.x, cuda.blockIdx.y, cuda.threadIdx.x, cuda.blockDim.x
        hand_cards, hand_of = cards
        gone, size = dead[i], leaves.shape[2]
        for h in range(t, hand_cards.shape[0], width):
            value, flag = float32(0), int32(0)
            if not ((gone >> int64(hand_cards[h, 0])) | (gone >> int64(hand_cards[h, 1]))) & 1:
                value = above[0][above[1][i], o, h]
                flag = leads(int32(choice[i, o, h]))
            hands[h], flags[h] = value, flag
            for e in range(num_ends):
                arrives = (flag >> (2 * raises + e)) & 1
                reach[i, following[o, e], h] = value if arrives else float32(0)
        cuda.syncthreads()
        sum_cards(hands, flags, hand_of, parts, sums)
        for x in range(t, 2 * raises * size, width):
            bit, group = x // size, x % size
            total = float32(0)
            if group < lists.count[i]:
                for place in range(lists.start[i, group], lists.start[i, group + 1]):
                    h = lists.hand[i, place]
                    total += sums[bit * CARDS + 52]
                    total -= sums[bit * CARDS + hand_cards[h, 0]]
                    total -= sums[bit * CARDS + hand_cards[h, 1]]
                    if (flags[h] >> bit) & 1:
                        total += hands[h]
            leaves[i, o * 2 * raises + bit, group] = total

    return spread


@device.jit
def add_values(values, factor, out):
    """Add `factor` times `values` [1, M] to `out` [M]."""
    m = cuda.grid(1)
    if m < out.shape[0]:
        out[m] += factor * values[0, m]

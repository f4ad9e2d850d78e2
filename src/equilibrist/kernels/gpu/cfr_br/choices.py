"""The responder's choices in a round, as bits, and where they lead.

A choice of 2 bits for each number of raises k says what the responder does when he faces the k-th
raise: 0 fold, 1 call, 2 raise. The bit above them says whether he bets when he may check.

`leads` turns choices into flags: bit k − 1 that he folds to the k-th raise, bit m + k − 1 that the
bucket player faces his k-th raise, and bit 2 m + e that he may arrive at end e.
"""

from __future__ import annotations

import functools
from typing import Any

from numba import float32, int32

from equilibrist.kernels.gpu import device
from equilibrist.kernels.gpu.cfr_br.lists import CARDS

cuda = device.cuda()
PARTS = 7  # threads of a card


@functools.cache
def leads_with(raises: int, is_first: bool) -> Any:
    """Return `leads` for a maximum of raises and for who acts first."""

    @device.part
    def leads(choice):
        bets = (choice >> (2 * raises)) & 1
        flags = 0
        if is_first:
            first_chain, second_chain = bets == 1, bets == 0
        else:
            first_chain, second_chain = True, bets == 1
        if is_first == second_chain:  # check, check
            flags |= 1 << (2 * raises)
        for before in range(raises):
            k = before + 1
            is_mine_first = (k % 2 == 0) == is_first
            mine = k if is_mine_first else raises + k
            theirs = raises + k if is_mine_first else k
            arrives = first_chain if is_mine_first else second_chain
            is_faced = second_chain if is_mine_first else first_chain
            pick = (choice >> (2 * before)) & 3
            if arrives and pick == 0:
                flags |= 1 << before
            if arrives and pick == 1:
                flags |= 1 << (2 * raises + mine)
            if is_faced:
                flags |= 1 << (raises + before) | 1 << (2 * raises + theirs)
            if is_mine_first:
                first_chain = first_chain and pick == 2
            else:
                second_chain = second_chain and pick == 2
        return int32(flags)

    return leads


@functools.cache
def sum_cards_with(number: int) -> Any:
    """Return `sum_cards` for a number of flags."""

    @device.part
    def sum_cards(reach, flags, hand_of, parts, sums):
        """Write sums by card [number, CARDS] of the hands whose flags have each bit.

        `reach` and `flags` [H] are in shared memory, complete, as `sums` when this returns; `parts`
        [PARTS, number, CARDS] is work space.
        """
        t, width = cuda.threadIdx.x, cuda.blockDim.x
        own = cuda.local.array(number, float32)
        for x in range(t, 52 * PARTS, width):
            card, part = x % 52, x // 52
            for bit in range(number):
                own[bit] = float32(0)
            for other in range(part, 52, PARTS):
                h = hand_of[card, other]
                if h >= 0:
                    value, flag = reach[h], flags[h]
                    for bit in range(number):
                        own[bit] += value if (flag >> bit) & 1 else float32(0)
            for bit in range(number):
                parts[(part * number + bit) * CARDS + card] = own[bit]
        cuda.syncthreads()
        for x in range(t, number * CARDS, width):
            total = float32(0)
            if x % CARDS < 52:
                for part in range(PARTS):
                    total += parts[part * number * CARDS + x]
            sums[x] = total
        cuda.syncthreads()
        for bit in range(t, number, width):
            total = float32(0)
            for card in range(52):
                total += sums[bit * CARDS + card]
            sums[bit * CARDS + 52] = total * float32(0.5)
        cuda.syncthreads()

    return sum_cards

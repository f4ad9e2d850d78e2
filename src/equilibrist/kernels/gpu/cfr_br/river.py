"""The last round: what hands win, the responder's choices, and where his hands go."""

from __future__ import annotations

import functools
from typing import Any

from numba import float32, int32

from equilibrist.kernels.gpu import device
from equilibrist.kernels.gpu.cfr_br.choices import PARTS, leads_with, sum_cards_with
from equilibrist.kernels.gpu.cfr_br.lists import CARDS
from equilibrist.kernels.gpu.real_game.hands import MOST_HANDS

cuda = device.cuda()


@functools.cache
def respond_river(raises: int, is_first: bool) -> Any:
    """Return the kernel for a maximum of raises and for who acts first."""
    num_ends, num_sums = 2 * raises + 1, 2 * raises * CARDS

    @device.jit
    def respond(products, units, lists, boards, span, stakes, hand_cards, results):
        """Write what hands win on the rivers of turns, and the choices that win it.

        `products` is (won [C, S, W], sums by card of folds [C, F, CARDS], rows [C, S + F, G]) of
        the C rivers from `span` = (first turn, first river) on; `units` [S + F]; `boards` is
        (start [T + 1], weight [N]); `stakes` is (chips spent [O], bet); `results` is (choices
        [N, O, n], sums over the rivers of each turn [T, O, H]).
        """
        won, folded, shares = products
        choice, out = results
        total = cuda.shared.array(MOST_HANDS, float32)
        sums = cuda.shared.array(num_sums, float32)
        t, width = cuda.threadIdx.x, cuda.blockDim.x
        turn, o = span[0] + cuda.blockIdx.x, cuda.blockIdx.y
        n, num_hands, at_cards = lists.hand.shape[1], out.shape[2], won.shape[2] - CARDS
        spent, bet = float32(stakes[0][o]), float32(stakes[1])
        row, fold_row = o * num_ends, o * raises
        fold_share = won.shape[1] + fold_row
        for h in range(t, num_hands, width):
            total[h] = float32(0)
        for i in range(boards[0][turn], boards[0][turn + 1]):
            c, weight = i - span[1], float32(boards[1][i])
            cuda.syncthreads()
            for x in range(t, num_sums, width):
                number, card = x // CARDS, x % CARDS
                k = number % raises + 1
                mine = k if (k % 2 == 0) == is_first else raises + k
                if number < raises:
                    sums[x] = float32(won[c, row + mine, at_cards + card])
                else:
                    sums[x] = float32(folded[c, fold_row + number - raises, card])
            cuda.syncthreads()
            for place in range(t, n, width):
                h, group = lists.hand[i, place], lists.group[i, place]
                low, high = int32(hand_cards[h, 0]), int32(hand_cards[h, 1])
                first_chain, second_chain, code = float32(0), float32(0), int32(0)
                for back in range(raises):
                    k = raises - back
                    lost = spent + float32(k - 1) * bet
                    stake = lost + bet
                    is_mine_first = (k % 2 == 0) == is_first
                    mine = row + (k if is_mine_first else raises + k)
                    theirs = row + (raises + k if is_mine_first else k)
                    raised = first_chain if is_mine_first else second_chain
                    other = second_chain if is_mine_first else first_chain
                    # The responder faces the k-th raise.
                    at = (k - 1) * CARDS
                    met = sums[at + 52] - sums[at + low] - sums[at + high]
                    met += float32(shares[c, mine, group])
                    best, pick = -lost * units[mine] * met, int32(0)
                    called = stake * units[mine] * float32(won[c, mine, place])
                    if called > best:
                        best, pick = called, int32(1)
                    if back > 0 and raised > best:
                        best, pick = raised, int32(2)
                    code |= pick << (2 * (k - 1))
                    # The bucket player faces the responder's k-th raise.
                    at = (raises + k - 1) * CARDS
                    met = sums[at + 52] - sums[at + low] - sums[at + high]
                    met += float32(shares[c, fold_share + k - 1, group])
                    value = other + lost * units[fold_share + k - 1] * met
                    value += stake * units[theirs] * float32(won[c, theirs, place])
                    first_chain = best if is_mine_first else value
                    second_chain = value if is_mine_first else best
                value = spent * units[row] * float32(won[c, row, place])
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
                choice[i, o, place] = code
                total[h] += weight * value
        cuda.syncthreads()
        for h in range(t, num_hands, width):
            out[turn, o, h] = total[h]

    return respond


@functools.cache
def spread_river(raises: int, is_first: bool) -> Any:
    """Return the kernel for a maximum of raises and for who acts first."""
    num_ends, num_sums = 2 * raises + 1, 2 * raises * CARDS
    leads, sum_cards = leads_with(raises, is_first), sum_cards_with(2 * raises)
    parts_size = PARTS * num_sums

    @device.jit
    def spread(choice, reach, lists, places, stakes, hand_of, left):
        """Write the left sides of the products whose right sides are the rivers' matrices.

        `reach` is (of the responder's hands on turns [T, O, H], factor [O]); `places` is (first
        river, turn of each river [N]); `stakes` as in `respond_river`. `left` is (hands at ends
        [C, S, W], sums by card of the bucket player's folds [C, F, CARDS], hands of the
        responder's folds by bucket [C, S + F, G]).
        """
        shown, folded, own = left
        hands = cuda.shared.array(MOST_HANDS, float32)
        flags = cuda.shared.array(MOST_HANDS, int32)
        place_hands = cuda.shared.array(MOST_HANDS, float32)
        place_flags = cuda.shared.array(MOST_HANDS, int32)
        parts = cuda.shared.array(parts_size, float32)
        sums = cuda.shared.array(num_sums, float32)
        totals = cuda.local.array(2 * raises, float32)
        t, width = cuda.threadIdx.x, cuda.blockDim.x
        c, o = cuda.blockIdx.x, cuda.blockIdx.y
        i = places[0] + c
        turn, n, at_cards = places[1][i], lists.hand.shape[1], shown.shape[2] - CARDS
        row, fold_row = o * num_ends, o * raises
        fold_share = shown.shape[1] + fold_row
        spent, bet, factor = float32(stakes[0][o]), float32(stakes[1]), float32(reach[1][o])
        for h in range(t, reach[0].shape[2], width):
            hands[h], flags[h] = float32(0), 0
        cuda.syncthreads()
        for place in range(t, at_cards, width):
            value, flag = float32(0), int32(0)
            if place < n:
                h = lists.hand[i, place]
                value, flag = factor * reach[0][turn, o, h], leads(int32(choice[i, o, place]))
                hands[h], flags[h] = value, flag
                place_hands[place], place_flags[place] = value, flag
            for e in range(num_ends):
                arrives = (flag >> (2 * raises + e)) & 1
                shown[c, row + e, place] = value if arrives else float32(0)
        cuda.syncthreads()
        sum_cards(hands, flags, hand_of, parts, sums)
        # Sums by card: of the responder's folds beside the ends that a call leads to.
        for x in range(t, num_ends * CARDS, width):
            e, card = x // CARDS, x % CARDS
            k = e if e <= raises else e - raises
            value = float32(0)
            if e > 0 and ((k % 2 == 0) == is_first) == (e <= raises):
                lost = spent + float32(k - 1) * bet
                value = sums[(k - 1) * CARDS + card] * (lost / (lost + bet))
            shown[c, row + e, at_cards + card] = -value if card == 52 else value
        for x in range(t, raises * CARDS, width):
            number, card = x // CARDS, x % CARDS
            value = sums[raises * CARDS + x]
            folded[c, fold_row + number, card] = value if card == 52 else -value
        # Hands by bucket, which sums by card have taken away twice.
        for group in range(t, own.shape[2], width):
            for bit in range(2 * raises):
                totals[bit] = float32(0)
            if group < lists.count[i]:
                for place in range(lists.start[i, group], lists.start[i, group + 1]):
                    value, flag = place_hands[place], place_flags[place]
                    for bit in range(2 * raises):
                        totals[bit] += value if (flag >> bit) & 1 else float32(0)
            own[c, row, group] = float32(0)
            for before in range(raises):
                is_mine_first = ((before + 1) % 2 == 0) == is_first
                mine = before + 1 if is_mine_first else raises + before + 1
                theirs = raises + before + 1 if is_mine_first else before + 1
                lost = spent + float32(before) * bet
                own[c, row + mine, group] = -totals[before] * (lost / (lost + bet))
                own[c, row + theirs, group] = float32(0)
                own[c, fold_share + before, group] = totals[raises + before]

    return spread

"""Complete deals of discard hold'em: every hand that swaps can lead to.

A `SwapDeal` contains nine hands per seat, their states on every street, and their values at a
showdown, so that playing it needs look-ups only and no further cards.
"""

from __future__ import annotations

import numpy as np

from equilibrist.kernels.array_structs import SwapDeal
from equilibrist.kernels.cpu.ranking import value_with
from equilibrist.kernels.cpu.splitmix import draw_card
from equilibrist.kernels.parts import part
from equilibrist.papers.ectomynx.kernels.fixed_strategy import TEXTURES, hand_class, strength_class
from equilibrist.papers.ectomynx.kernels.swapping import swap_place
from equilibrist.papers.ectomynx.kernels.texture import texture_of

KEEP_BOTH, SWAP_BY_RULE, SWAP_OTHER = 0, 1, 2
HANDS = (1, 3, 9, 9)  # number of hands per seat, by street


@part(_nrt=True)
def new_deal():
    """Return an empty deal to write into."""
    return SwapDeal(
        np.zeros((2, 4, 9), np.int64),
        np.zeros((2, 4, 3), np.int64),
        np.zeros((2, 9), np.int64),
        np.zeros(4, np.int64),
    )


@part
def _rule(swaps, one, two, board):
    """Return the card that the swap rule discards, 0 or 1, and whether it keeps both.

    If it keeps both, the returned card is the lower one.
    """
    place = swap_place(swaps, one, two, board)
    if place >= 0:
        return place, 0
    return (0 if one >> 2 <= two >> 2 else 1), 1


@part
def swapped(one, two, card, choice, place):
    """Return a hand after a choice; `place` is the card that the rule would discard."""
    if choice == KEEP_BOTH:
        return one, two
    gone = place if choice == SWAP_BY_RULE else 1 - place
    return (card, two) if gone == 0 else (one, card)


@part(forceinline=False)
def deal_hand(ranks, swaps, textures, lines, word, deal, hands, counts, suits):
    """Write the deal of a random word into `deal`.

    `hands` [2, 9, 2], `counts` [13] and `suits` [4] are scratch. Cards are drawn in this order:
    BB's two, BU's two, the flop, BB's and BU's replacements, the turn, replacements again, the
    river.
    """
    state, gone = word, np.uint64(0)
    counts[:], suits[:] = 0, 0
    for seat in range(2):
        for i in range(2):
            hands[seat, 0, i], state, gone = draw_card(state, gone)
        deal.states[seat, 0, 0] = hand_class(hands[seat, 0, 0], hands[seat, 0, 1])
    key, board, values, texture, num_textures = ranks.start, np.uint64(0), 0, 0, 1
    for street in range(1, 4):
        for _ in range(3 if street == 1 else 1):
            card, state, gone = draw_card(state, gone)
            key += ranks.card_key[card]
            board += ranks.card_mask[card]
            counts[card >> 2] += 1
            suits[card & 3] |= 1 << (card >> 2)
            values += (card >> 2) + 2
        added = texture_of(textures, swaps.size, street - 1, suits, values)
        num_textures *= TEXTURES[street]
        texture = texture * TEXTURES[street] + added
        deal.tenths[street] = lines.tenths[street, added]
        for seat in range(2):
            if street < 3:
                card, state, gone = draw_card(state, gone)
                # From the last hand to the first: hand h becomes the hands 3h, 3h + 1 and 3h + 2.
                for h in range(HANDS[street - 1] - 1, -1, -1):
                    one, two = hands[seat, h, 0], hands[seat, h, 1]
                    strength = strength_class(swaps, one, two, street, counts, suits)
                    place, keeps = _rule(swaps, one, two, board)
                    deal.swap_states[seat, street, h] = (
                        2 * (strength * num_textures + texture) + keeps
                    )
                    for choice in range(3):
                        first, second = swapped(one, two, card, choice, place)
                        hands[seat, 3 * h + choice, 0] = first
                        hands[seat, 3 * h + choice, 1] = second
            for h in range(HANDS[street]):
                one, two = hands[seat, h, 0], hands[seat, h, 1]
                strength = strength_class(swaps, one, two, street, counts, suits)
                deal.states[seat, street, h] = strength * num_textures + texture
                if street == 3:
                    deal.values[seat, h] = value_with(ranks, key, board, one, two)


@part
def last_hand(deal, seat, street, hand):
    """Return the hand at a showdown for a hand on a street if the seat then swaps by the rule."""
    for later in range(street + 1, 3):
        hand = 3 * hand + 1 - deal.swap_states[seat, later, hand] % 2
    return hand

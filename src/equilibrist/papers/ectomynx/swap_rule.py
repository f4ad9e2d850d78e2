"""EctomynX's swap rule: the hole card to swap after the flop and after the turn, if any.

The rule depends only on the player's own cards and the board; `reference/swapping.py` states it in
words. Source: EctomynX, "Pokerbots Strategy Report", I.d; reasons are given in VI.a.
"""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equilibrist.cards.card import Card, Cards, check_distinct
from equilibrist.errors import CardError
from equilibrist.games.action import KEEP, Action
from equilibrist.kernels.array_structs import SwapTables
from equilibrist.papers.ectomynx.reference import swapping as reference
from equilibrist.papers.ectomynx.textures import straight_tables

BOARD_SIZES = (3, 4, 5)


def card_to_swap(hole: Cards, board: Cards) -> Card | None:
    """Return the hole card to swap, or None to keep both.

    Example:
        >>> from equilibrist.cards.card import card_name, parse_cards
        >>> card_name(card_to_swap(parse_cards("AcQh"), parse_cards("2c3c5c")))
        'Qh'
    """
    check_distinct(hole, board)
    _check_sizes(len(hole), len(board))
    place = reference.swap_place(hole, board)
    return None if place == reference.KEEP else hole[place]


def swap_by_rule(hole: Cards, board: Cards) -> Action:
    """Return the action of the rule for hole cards.

    Example:
        >>> from equilibrist.cards.card import parse_cards
        >>> from equilibrist.games.action import action_name
        >>> action_name(swap_by_rule(parse_cards("AcAh"), parse_cards("2c3d9s")))
        'k'
    """
    card = card_to_swap(hole, board)
    return KEEP if card is None else Action("d", card=card)


def swap_places(holes: ArrayLike, boards: ArrayLike) -> NDArray[np.int8]:
    """Return the choices [N] for hole cards [N, 2] on boards [N, n]: 0, 1, or −1 to keep both.

    It runs on all threads.

    Example:
        >>> from equilibrist.cards.card import parse_cards
        >>> swap_places([parse_cards("AcQh")], [parse_cards("2c3c5c")]).tolist()
        [1]
    """
    from equilibrist.kernels.cpu import ranking
    from equilibrist.papers.ectomynx.kernels import swapping

    hands, cards = np.asarray(holes, np.uint8), np.asarray(boards, np.uint8)
    _check_sizes(hands.shape[1], cards.shape[1])
    bad = ranking.first_bad_hand(np.hstack([hands, cards]))
    if bad < len(hands):
        raise CardError(
            f"row {bad} repeats a card or holds a number outside 0 … 51: "
            f"{hands[bad].tolist()} on {cards[bad].tolist()}",
            position=bad,
        )
    out = np.empty(len(hands), np.int8)
    swapping.swap_places(swap_tables(), hands, cards, out)
    return out


@functools.cache
def swap_tables() -> SwapTables:
    """Build the tables of the compiled rule; the result is cached."""
    straight, size = straight_tables()
    ranks = np.arange(1 << 13)[:, None] >> np.arange(13) & 1
    draws, outs = np.zeros(1 << 13, np.uint16), np.zeros((1 << 13, 13), np.bool_)
    runs_with = np.zeros(13, np.uint16)
    for place, run in enumerate(reference.RUNS):
        in_run = np.array(run) % 13  # an ace below a deuce is the last rank
        is_draw = ranks[:, in_run].sum(axis=1) == 4
        draws |= (is_draw << place).astype(np.uint16)
        runs_with[in_run] |= np.uint16(1 << place)
        missing = in_run[np.argmin(ranks[:, in_run], axis=1)]
        outs[is_draw, missing[is_draw]] = True
    return SwapTables(size, straight, draws, outs.sum(axis=1).astype(np.int8), runs_with)


def _check_sizes(num_hole: int, num_board: int) -> None:
    if num_hole != 2 or num_board not in BOARD_SIZES:
        raise CardError(
            f"the swap rule needs two hole cards on a board of 3, 4 or 5, "
            f"not {num_hole} on {num_board}",
            value=(num_hole, num_board),
        )

"""Renamings of suits: which of them leave boards and weights of hands alone.

The suits of poker are interchangeable, so a renaming of suits that leaves everything alone that a
question depends on maps hands and boards to others with the same answer. All such renamings form a
group: two of them, one after the other, leave everything alone too.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from equilibrist.cards.card import SUITS, Card
from equilibrist.cards.hand import hand_table

Renaming: TypeAlias = tuple[int, ...]  # the suit that each of four suits becomes
IDENTITY: Renaming = (0, 1, 2, 3)
_SAME = 1e-9  # relative difference up to which neighbouring weights are the same


@functools.cache
def all_renamings(num_suits: int = 4) -> tuple[Renaming, ...]:
    """Return the renamings of the highest `num_suits` suits, identity first.

    Example:
        >>> all_renamings(2)
        ((0, 1, 2, 3), (0, 1, 3, 2))
    """
    unused = range(4 - num_suits)
    return tuple((*unused, *names) for names in itertools.permutations(range(4 - num_suits, 4)))


def rename(card: Card, renaming: Renaming) -> Card:
    """Return the card of the same rank in the suit that its suit becomes."""
    return card - (card & 3) + renaming[card & 3]


def renaming_name(renaming: Renaming) -> str:
    """Return what clubs, diamonds, hearts and spades become.

    Example:
        >>> renaming_name((0, 1, 3, 2))
        'cdsh'
    """
    return "".join(SUITS[suit] for suit in renaming)


def that_keep_board(
    renamings: Iterable[Renaming], deals: Sequence[Sequence[Card]]
) -> tuple[Renaming, ...]:
    """Return the renamings that map the cards of each deal of a board to the same set of cards.

    Example:
        >>> from equilibrist.cards.card import parse_cards
        >>> deals = parse_cards("Td9d6h"), parse_cards("Qh")
        >>> [renaming_name(found) for found in that_keep_board(all_renamings(), deals)]
        ['cdhs', 'sdhc']
    """
    sets = [set(deal) for deal in deals]
    return tuple(
        renaming
        for renaming in renamings
        if all({rename(card, renaming) for card in deal} == deal for deal in sets)
    )


def that_keep_weights(
    renamings: Iterable[Renaming], weights: Iterable[NDArray[np.float64]], live: NDArray[np.bool_]
) -> tuple[Renaming, ...]:
    """Return the renamings under which every hand has the weight of the hand that it becomes.

    `weights` are arrays [H] by hands of one or two cards. Only hands in `live` [H] count, which all
    renamings map to each other. Neighbours that differ by rounding errors are the same weight.
    """
    labels = [_labels(weight[live]) for weight in weights]
    of_live = np.cumsum(live) - 1  # place of a hand among the live ones
    num_cards = 2 if len(live) > 52 else 1
    found = []
    for renaming in renamings:
        image = of_live[renamed_hands(renaming, num_cards)[live]]
        if all((label[image] == label).all() for label in labels):
            found.append(renaming)
    return tuple(found)


def _labels(weights: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return a whole number for each weight, the same if weights differ by rounding errors only.

    Numbers, unlike a comparison within a tolerance, make the renamings that keep them a group.
    """
    values, place = np.unique(weights, return_inverse=True)
    with np.errstate(invalid="ignore"):  # infinite weights are refused later
        is_new = np.diff(values) > _SAME * np.abs(values[1:])
    return np.concatenate([[0], np.cumsum(is_new)])[place]


@functools.cache
def renamed_hands(renaming: Renaming, num_cards: int = 2) -> NDArray[np.int64]:
    """Return the hand of one or two cards that each hand becomes: [52 or 1326].

    Example:
        >>> from equilibrist.cards.hand import hand_index, hand_name
        >>> hand_name(int(renamed_hands((0, 1, 3, 2))[hand_index(51, 47)]))  # AsKs
        'AhKh'
    """
    cards = np.array([rename(card, renaming) for card in range(52)])
    if num_cards == 2:
        low, high = np.sort(cards[hand_table()], axis=1).T
        cards = high * (high - 1) // 2 + low
    cards.flags.writeable = False
    return cards

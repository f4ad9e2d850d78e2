"""Lossless buckets: one for every class of (hand, board) up to suit isomorphism.

Two hands share a bucket exactly if a renaming of suits maps one to the other, together with the
boards. The result is the exact game, for decks small enough to number; it shows how much other
recipes lose. Rank equivalence (hands that differ in irrelevant cards) is not used: where it is
exact, `models.card_states` finds it (`ranks`), and elsewhere it is an approximation.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from equilibrist.abstraction.buckets import Abstraction
from equilibrist.abstraction.features import Ints
from equilibrist.abstraction.recipes.request import RecipeRequest
from equilibrist.abstraction.streets import Streets
from equilibrist.abstraction.strength_cuts import intervals
from equilibrist.cards.isomorphism import BoardIndexer
from equilibrist.errors import InvalidValueError
from equilibrist.games.rules import GameRules

_MOST_CLASSES = 2_000_000


def lossless(rules: GameRules) -> Abstraction:
    """Build one bucket per class of hands on every street.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> lossless(get_game("leduc")).num_buckets
        (3, 15)
    """
    _check_size(rules)
    streets = Streets.of(rules, ordered=True)
    tables: list[Ints] = []
    parents: list[NDArray[np.int32]] = []
    for r, street in enumerate(streets.streets):
        classes = _classes(streets, r)
        above = (
            np.zeros_like(classes) if r == 0 else tables[-1][streets.parents(r)].astype(np.int64)
        )
        board = np.broadcast_to(np.arange(len(street.boards))[:, None], classes.shape)
        held = classes >= 0
        keys = np.stack([above[held], board[held], classes[held]], axis=1)
        found, inverse = np.unique(keys, axis=0, return_inverse=True)  # in the order of parents
        table = np.full(classes.shape, -1, np.int32)
        table[held] = inverse
        tables.append(table)
        parents.append((found[:, 0] if r > 0 else np.full(len(found), -1)).astype(np.int32))
    num_parents = len(parents[-2]) if len(parents) > 1 else 1
    numbers = np.arange(len(parents[-1]), dtype=np.int64)
    lowers = [numbers[np.maximum(parents[-1], 0) == p] for p in range(num_parents)]
    return Abstraction(
        streets, "lossless", tuple(parents), tuple(tables[:-1]), tables[-1], intervals(lowers)
    )


def _check_size(rules: GameRules) -> None:
    from equilibrist.games.sizes import deals_seen

    most = max(deals_seen(rules)[1])
    if most > _MOST_CLASSES:
        raise InvalidValueError(
            f"{rules.name} has {most:,} classes of hands in a round; a lossless abstraction has "
            f"at most {_MOST_CLASSES:,}: use a smaller deck or another recipe",
            value=most,
        )


def _classes(streets: Streets, r: int) -> NDArray[np.int64]:
    """Return the class of every hand on every board of a street, numbered per board: [B, H]."""
    rules, boards = streets.rules, streets[r].boards
    pattern = [number for number in rules.num_board_cards[: r + 1] if number]
    if pattern:
        indexer = BoardIndexer(pattern, rules.deck, rules.num_hole_cards)
        return np.stack([indexer.states(tuple(board.tolist()))[0] for board in boards])
    # Before the first board card: the class of a hand is the smallest of its renamings.
    classes = np.full((1, streets.num_hands), -1, np.int64)
    classes[0, streets.in_deck] = _smallest_images(streets)[streets.in_deck]
    return classes


def _smallest_images(streets: Streets) -> NDArray[np.int64]:
    """Return the smallest image of each hand under renamings of the deck's suits: [H]."""
    allowed = [
        row for row in streets.renamed if np.isin(row[streets.in_deck], streets.in_deck).all()
    ]
    return np.min(allowed, axis=0).astype(np.int64)


def build(request: RecipeRequest) -> Abstraction:
    """Build the abstraction of a request."""
    return lossless(request.rules)

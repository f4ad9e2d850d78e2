"""EctomynX's abstraction as nested buckets: strength classes of hands and textures of boards.

On each street a hand has one of 14 strength classes, and the board has one of 12 textures on the
flop (4 bins of wetness × 3 of volatility), 4 on the turn, 5 on the river. EctomynX remembers all
textures but only the present class, so its players forget; an `Abstraction` is nested, bucket =
parent × texture × class. Of 1-168-9,408-658,560 such sequences 1-138-1,856-27,586 occur in hold'em,
about the number of GS3's buckets; without textures 1-14-73-395. A bot that forgets as EctomynX does
uses the flat `street_classes` instead. Before the flop all hands are in one bucket: EctomynX
distinguishes all 169 classes there, but does not remember them on later streets.

Source: EctomynX, "Pokerbots Strategy Report", I.a, I.c and III.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from equilibrist.abstraction.bucket_tree import nest
from equilibrist.abstraction.buckets import Abstraction
from equilibrist.abstraction.features import Ints, Progress
from equilibrist.abstraction.recipes.request import RecipeRequest
from equilibrist.abstraction.streets import Streets
from equilibrist.errors import InvalidValueError
from equilibrist.papers.ectomynx.textures import (
    NUM_CLASSES,
    NUM_FLOP_TEXTURES,
    NUM_WETNESS_BINS,
    flop_textures,
    straight_tables,
    wetness_bins,
)

_BOARD_CARDS = (0, 3, 1, 1)


def texture(
    streets: Streets, *, textures: bool = True, progress: Progress | None = None
) -> Abstraction:
    """Build buckets of the occurring sequences of (texture, class), or of classes alone.

    The game must have two hole cards and hold'em's boards. Wetness and volatility are designed for
    the full deck; for a smaller deck the same formulas are used.
    """
    rules = streets.rules
    if rules.num_hole_cards != 2 or rules.num_board_cards != _BOARD_CARDS:
        raise InvalidValueError(
            f"EctomynX's classes need two hole cards and boards of 3, 4 and 5 cards, but "
            f"{rules.name} is dealt differently",
            value=rules.name,
        )
    say = progress or (lambda text: None)
    classes: list[Ints] = [np.where(_live(streets), 0, -1).astype(np.int8)]
    numbers = [1]
    for r in range(1, len(streets)):
        say(f"classes of hands in round {r + 1}")
        table, number = street_classes(streets, r), NUM_CLASSES
        if textures:
            number *= _num_textures(r)
            above = (_textures(streets, r) - 1) * NUM_CLASSES
            table = np.where(table >= 0, table + above[:, None], -1).astype(np.int16)
        classes.append(table)
        numbers.append(number)
    say("sequences of classes that occur")
    return nest(
        streets, "texture", classes[:-1], numbers[:-1], classes[-1], np.arange(numbers[-1]),
        {"textures": textures}, only_met=True,
    )  # fmt: skip


def street_classes(streets: Streets, r: int) -> NDArray[np.int8]:
    """Return the strength class of every hand on the boards of a round after the first: [B, H].

    It is −1 where the board blocks the hand.
    """
    from equilibrist.papers.ectomynx.kernels.texture import strength_classes

    street, rules = streets[r], streets.rules
    out = np.empty((len(street.boards), streets.num_hands), np.int8)
    strength_classes(
        street.boards, streets.hands[streets.in_deck], streets.in_deck, *straight_tables(),
        13 - rules.deck.num_ranks, out,
    )  # fmt: skip
    return out


def _textures(streets: Streets, r: int) -> NDArray[np.int64]:
    boards = streets[r].boards
    return flop_textures(boards) if r == 1 else wetness_bins(boards)


def _num_textures(r: int) -> int:
    return NUM_FLOP_TEXTURES if r == 1 else NUM_WETNESS_BINS[r + 2]


def _live(streets: Streets) -> NDArray[np.bool_]:
    """Return which hands are in the deck, on the one board before the flop: [1, H]."""
    live = np.zeros((1, streets.num_hands), np.bool_)
    live[0, streets.in_deck] = True
    return live


def build(request: RecipeRequest) -> Abstraction:
    """Build the abstraction that a recipe request describes."""
    return texture(request.streets, progress=request.progress)

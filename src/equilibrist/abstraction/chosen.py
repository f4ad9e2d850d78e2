"""Chosen boards: the flops that a model is built on, and all boards that continue them.

PsOpti's postflop models are built on a single flop or on "a small number of characteristic flops";
its preflop model samples flops. What is counted over the deals of a game can be counted over the
boards that continue some flops instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from equilibrist.abstraction.streets import Streets
from equilibrist.cards.card import Card
from equilibrist.errors import InvalidValueError


def chosen_boards(
    streets: Streets, starts: Iterable[Sequence[Card]]
) -> tuple[NDArray[np.int64], ...]:
    """Boards of every street but the last that continue one of `starts`, or that these continue.

    `starts` are boards of one street (flops, say), up to suits. The last of the arrays is what
    `joint(…, boards=…)` and `strength_potential` take.

    Example:
        >>> from equilibrist.cards.card import parse_cards
        >>> from equilibrist.games.catalog import get_game
        >>> holdem = Streets.of(get_game("holdem-limit"))
        >>> chosen = chosen_boards(holdem, [parse_cards("Td9d6h"), parse_cards("AsKsQs")])
        >>> [len(boards) for boards in chosen]
        [1, 2, 59]
    """
    found = [streets.locate(board) for board in starts]
    rounds = {r for r, _, _ in found}
    if len(rounds) != 1 or (start := rounds.pop()) == len(streets) - 1:
        raise InvalidValueError(
            "choose boards of one street before the last, all of as many cards",
            value=len(found),
        )
    chosen = [np.array(sorted({number for _, number, _ in found}))]
    for r in range(start, 0, -1):
        chosen.insert(0, np.unique(streets.parents(r)[chosen[0]]))
    for r in range(start + 1, len(streets) - 1):
        chosen.append(np.flatnonzero(np.isin(streets.parents(r), chosen[-1])))
    return tuple(chosen)

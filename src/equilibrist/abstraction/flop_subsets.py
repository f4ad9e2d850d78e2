"""Subsets of flops on which a model is built, and all boards that continue them.

PsOpti's postflop models are built on a single flop or on "a small number of characteristic flops";
its preflop model samples flops. Counts over all deals of a game can be restricted to the boards
that continue some flops.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from equilibrist import stopping
from equilibrist.abstraction.buckets import Abstraction
from equilibrist.abstraction.joint_counts import Joint, Progress, joint
from equilibrist.abstraction.streets import Streets
from equilibrist.cards.card import Card, Cards, cards_name, parse_cards
from equilibrist.cards.numbers import parse_whole
from equilibrist.errors import InvalidValueError
from equilibrist.phases import phase


def parse_starts(streets: Streets, text: str, seed: int = 0) -> list[Cards]:
    """Parse a list of boards such as `Td9d6h,AsKsQs`, or draw a given number of random boards.

    Random boards are of the second round. Every class of boards up to suit isomorphism is equally
    likely and drawn at most once; counts are weighted by the probability of each board.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> holdem = Streets.of(get_game("holdem-limit"))
        >>> parse_starts(holdem, "9d6hTd,AsKsQs") == [parse_cards("9d6hTd"), parse_cards("AsKsQs")]
        True
        >>> len(set(parse_starts(holdem, "20")))
        20
    """
    if not text.strip().isdecimal():
        return [parse_cards(board) for board in text.split(",")]
    boards = streets[min(1, len(streets) - 1)].boards
    number = parse_whole(text.strip(), len(boards))
    if not number:
        raise InvalidValueError(
            f"{streets.rules.name} has {len(boards):,} boards in its second round up to suit "
            f"isomorphism: draw 1 to {len(boards):,} of them, not {text.strip()[:40]}",
            value=text,
        )
    drawn = np.random.default_rng(seed).choice(len(boards), number, replace=False)
    return [tuple(board) for board in boards[np.sort(drawn)].tolist()]


def chosen_boards(
    streets: Streets, starts: Iterable[Sequence[Card]]
) -> tuple[NDArray[np.int64], ...]:
    """Return the boards of every street but the last that precede or continue one of `starts`.

    `starts` are boards of one street, such as flops, up to suit isomorphism. The last of the arrays
    is an argument of `joint(…, boards=…)` and `strength_potential`.

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
            "choose boards of one street before the last, all with the same number of cards",
            value=len(found),
        )
    chosen = [np.array(sorted({number for _, number, _ in found}))]
    for r in range(start, 0, -1):
        chosen.insert(0, np.unique(streets.parents(r)[chosen[0]]))
    for r in range(start + 1, len(streets) - 1):
        chosen.append(np.flatnonzero(np.isin(streets.parents(r), chosen[-1])))
    return tuple(chosen)


def flop_counts(
    first: Abstraction, starts: Sequence[Cards], second: Abstraction | None = None
) -> Joint:
    """Count all deals onto the boards that continue `starts`.

    Example:
        >>> from equilibrist.abstraction.recipes import build
        >>> from equilibrist.games.catalog import get_game
        >>> buckets = build("percentile", get_game("rhode-island"), [3, 9, 27])
        >>> found = flop_counts(buckets, [parse_cards("As"), parse_cards("Kd")])
        >>> found.total == 8 * 51 * 50 * 49, found.flops  # aces and kings, a turn, two hands
        (True, ('As', 'Kd'))
    """
    boards = chosen_boards(first.streets, starts)[-1]
    with phase(f"counting deals on {len(boards):,} boards", total=1.0) as work:

        def watch(progress: Progress, share: float) -> None:
            stopping.check()
            work.update(share)

        counts = joint(first, second, boards=boards, watch=watch)
    return replace(counts, flops=tuple(cards_name(board) for board in starts))

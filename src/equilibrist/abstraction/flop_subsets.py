"""Chosen boards: the flops that a model is built on, and all boards that continue them.

PsOpti's postflop models are built on a single flop or on "a small number of characteristic flops";
its preflop model samples flops. What is counted over the deals of a game can be counted over the
boards that continue some flops instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from equilibrist.abstraction.buckets import Abstraction
from equilibrist.abstraction.joint_counts import Joint, joint
from equilibrist.abstraction.streets import Streets
from equilibrist.cards.card import Card, Cards, cards_name, parse_cards
from equilibrist.cards.numbers import parse_whole
from equilibrist.errors import InvalidValueError


def parse_starts(streets: Streets, text: str, seed: int = 0) -> list[Cards]:
    """The boards of a text: `Td9d6h,AsKsQs`, or so many of the second round as it says, by lot.

    Every class of boards up to suits is as likely and comes once at most; counts go by how often
    each is dealt.

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
            f"{streets.rules.name} has {len(boards):,} boards in its second round up to suits: "
            f"draw 1 to {len(boards):,} of them, not {text.strip()[:40]}",
            value=text,
        )
    drawn = np.random.default_rng(seed).choice(len(boards), number, replace=False)
    return [tuple(board) for board in boards[np.sort(drawn)].tolist()]


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


def flop_counts(
    first: Abstraction, starts: Sequence[Cards], second: Abstraction | None = None
) -> Joint:
    """All deals onto the boards that continue `starts`, counted.

    Example:
        >>> from equilibrist.abstraction.recipes import build
        >>> from equilibrist.games.catalog import get_game
        >>> buckets = build("percentile", get_game("rhode-island"), [3, 9, 27])
        >>> found = flop_counts(buckets, [parse_cards("As"), parse_cards("Kd")])
        >>> found.total == 8 * 51 * 50 * 49, found.flops  # aces and kings, a turn, two hands
        (True, ('As', 'Kd'))
    """
    counts = joint(first, second, boards=chosen_boards(first.streets, starts)[-1])
    return replace(counts, flops=tuple(cards_name(board) for board in starts))

"""Rows of a strategy that decides action by action, and what a compiled hand looks up.

A *row* is a decision in a state: three numbers, of fold, call and raise at a position of a street,
or of keeping both cards, swapping the one that EctomynX's rule names and swapping the other. States
are those of `strategies.level_weights`; that of a swap also says whether the rule would keep both,
and then the rule's card is the lower one. A position or a swap belongs to one seat, so one array
[rows, 3] is a strategy for both.
"""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from equilibrist.abstraction.bet_levels import IDEAL_SIZES
from equilibrist.abstraction.decision_lines import (
    NUM_MARKS,
    NUM_POSITIONS,
    actor_of,
    after_raise,
    decision_lines,
    decision_numbers,
    mark_of,
    num_bets,
)
from equilibrist.abstraction.swapping import swap_tables
from equilibrist.abstraction.textures import texture_tables
from equilibrist.cards.ranking import rank_tables
from equilibrist.kernels.layout import DecisionGame, DecisionTables
from equilibrist.strategies.level_weights import num_states

SWAP_STREETS = (1, 2)
_SWAPS = 4  # rows of a state: whether the rule keeps both, and the seat

Ints = NDArray[np.int64]


@functools.cache
def decision_game() -> DecisionGame:
    """Everything that a hand looks up, built once."""
    lines, numbers = decision_lines(), decision_numbers()
    both = [(street, range(NUM_POSITIONS)) for street in (0, 1)]
    bet_start, swap_start = _starts()
    tables = DecisionTables(
        actor=np.array([[actor_of(street, p) for p in places] for street, places in both]),
        after_raise=np.array([[after_raise(street, p) for p in places] for street, places in both]),
        mark=np.array([[mark_of(street, p) for p in places] for street, places in both]),
        num_bets=np.array([num_bets(position) for position in range(NUM_POSITIONS)]),
        preflop_sizes=np.array([*IDEAL_SIZES[2:], 0]),
        next=np.array(
            [[numbers.get((*line.marks, mark), -1) for mark in range(NUM_MARKS)] for line in lines]
        ),
        bet_start=bet_start,
        swap_start=swap_start,
    )
    return DecisionGame(rank_tables(7), swap_tables(), texture_tables(), tables)


@functools.cache
def _starts() -> tuple[Ints, Ints]:
    """First rows of each line's betting and swaps, −1 where it has none."""
    bets, swaps, rows = [], [], 0
    for line in decision_lines():
        bets.append(rows)
        rows += NUM_POSITIONS * num_states(line.street)
        has_swaps = line.street in SWAP_STREETS
        swaps.append(rows if has_swaps else -1)
        rows += _SWAPS * num_states(line.street) if has_swaps else 0
    return np.array(bets), np.array(swaps)


@functools.cache
def num_rows() -> int:
    """Rows of a strategy.

    Example:
        >>> num_rows()
        3846874
    """
    last = decision_lines()[-1]
    return int(_starts()[0][-1]) + NUM_POSITIONS * num_states(last.street)


def bet_row(line: int, position: int, state: int) -> int:
    """The row of a position in a state."""
    return int(_starts()[0][line]) + state * NUM_POSITIONS + position


def swap_row(line: int, seat: int, state: int, *, keeps: bool) -> int:
    """The row of a swap in a state in which the rule keeps both cards, or does not."""
    return int(_starts()[1][line]) + (2 * state + keeps) * 2 + seat


@functools.cache
def by_rule() -> NDArray[np.float32]:
    """Chances [R, 3] of a strategy that calls everything and swaps by the rule."""
    chances = np.zeros((num_rows(), 3), np.float32)
    chances[:, 1] = 1
    for line, start in zip(decision_lines(), _starts()[1], strict=True):
        if start >= 0:
            rows = chances[start : start + _SWAPS * num_states(line.street)]
            rows.reshape(-1, 2, 2, 3)[:, 1] = (1, 0, 0)  # where the rule keeps both
    return chances

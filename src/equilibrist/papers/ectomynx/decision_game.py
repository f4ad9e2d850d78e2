"""Rows of a strategy that decides action by action, and the tables for compiled hands.

A *row* is a decision in a state: four numbers, for fold, call, all-in and raise at a position of a
street, or three, for keeping both cards, swapping the card that EctomynX's rule names and swapping
the other one. States are those of `level_weights`; the state of a swap also contains whether the
rule would keep both cards, in which case the rule's card is the lower one. A position or a swap
belongs to one seat, so one array [rows, 4] is a strategy for both seats.

Some actions of a row are not always legal: there is no raise if it would be all-in. The player uses
the probabilities of the legal actions, scaled to sum to 1, and calls if all of them are zero.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from equilibrist.cards.ranking import rank_tables
from equilibrist.kernels.array_structs import DecisionGame, DecisionTables
from equilibrist.papers.ectomynx.bet_levels import IDEAL_SIZES
from equilibrist.papers.ectomynx.betting_lines import STACK
from equilibrist.papers.ectomynx.decision_lines import (
    NUM_MARKS,
    NUM_POSITIONS,
    SHOVES,
    TENTHS,
    actor_of,
    after_raise,
    after_shove,
    decision_lines,
    decision_numbers,
    mark_of,
    num_bets,
)
from equilibrist.papers.ectomynx.level_weights import num_states
from equilibrist.papers.ectomynx.swap_rule import swap_tables
from equilibrist.papers.ectomynx.textures import texture_tables

NUM_ACTIONS = 4
FOLD, CALL, SHOVE, RAISE = range(NUM_ACTIONS)  # places in a row of a bet
SWAP_STREETS = (1, 2)
_SWAPS = 4  # rows per state: whether the rule keeps both cards, times the seat

Ints = NDArray[np.int64]


@functools.cache
def decision_game() -> DecisionGame:
    """Build all tables that a compiled hand needs; the result is cached."""
    lines, numbers = decision_lines(), decision_numbers()
    both = [(street, range(NUM_POSITIONS)) for street in (0, 1)]
    bet_start, swap_start = _starts()
    tenths = np.zeros((len(TENTHS), max(map(len, TENTHS))), np.int64)
    for street, parts in enumerate(TENTHS):
        tenths[street, : len(parts)] = parts
    tables = DecisionTables(
        stack=np.int64(STACK),
        actor=np.array([[actor_of(street, p) for p in places] for street, places in both]),
        after_raise=np.array([[after_raise(street, p) for p in places] for street, places in both]),
        after_shove=np.array([after_shove(position) for position in range(NUM_POSITIONS)]),
        mark=np.array([[mark_of(street, p) for p in places] for street, places in both]),
        preflop_sizes=np.array(
            [(*IDEAL_SIZES, 0)[num_bets(position) + 2] for position in range(NUM_POSITIONS)]
        ),
        tenths=tenths,
        num_positions=np.array([len(line.positions) for line in lines]),
        place=_places(),
        next=np.array(
            [[numbers.get((*line.marks, mark), -1) for mark in range(NUM_MARKS)] for line in lines]
        ),
        bet_start=bet_start,
        swap_start=swap_start,
    )
    return DecisionGame(rank_tables(7), swap_tables(), texture_tables(), tables)


@functools.cache
def _places() -> Ints:
    """Return the place of each position among those of its line: [Q, 16]; −1 if absent."""
    found = np.full((len(decision_lines()), NUM_POSITIONS), -1)
    for number, line in enumerate(decision_lines()):
        found[number, line.positions] = np.arange(len(line.positions))
    return found


@functools.cache
def _starts() -> tuple[Ints, Ints]:
    """Return the first rows of each line's bets and swaps; −1 if it has no swaps."""
    bets, swaps, rows = [], [], 0
    for line in decision_lines():
        bets.append(rows)
        rows += len(line.positions) * num_states(line.street)
        has_swaps = line.street in SWAP_STREETS
        swaps.append(rows if has_swaps else -1)
        rows += _SWAPS * num_states(line.street) if has_swaps else 0
    return np.array(bets), np.array(swaps)


@functools.cache
def num_rows() -> int:
    """Return the number of rows of a strategy.

    Example:
        >>> num_rows()
        3917104
    """
    last = decision_lines()[-1]
    return int(_starts()[0][-1]) + len(last.positions) * num_states(last.street)


def bet_row(line: int, position: int, state: int) -> int:
    """Return the row of a position in a state; the position must be one of the line's."""
    width = len(decision_lines()[line].positions)
    return int(_starts()[0][line] + state * width + _places()[line, position])


def swap_row(line: int, seat: int, state: int, *, keeps: bool) -> int:
    """Return the row of a swap in a state; `keeps` says whether the rule keeps both cards."""
    return int(_starts()[1][line]) + (2 * state + keeps) * 2 + seat


@functools.cache
def by_rule() -> NDArray[np.float32]:
    """Return the probabilities [R, 4] of a strategy that always calls and swaps by the rule."""
    probabilities = np.zeros((num_rows(), NUM_ACTIONS), np.float32)
    probabilities[:, CALL] = 1
    for _, swaps in _blocks(probabilities):
        swaps.reshape(-1, 2, 2, NUM_ACTIONS)[:, 1] = (1, 0, 0, 0)  # where the rule keeps both
    return probabilities


def even() -> NDArray[np.float32]:
    """Return the probabilities [R, 4] of a strategy that draws actions with equal probability."""
    probabilities = np.full((num_rows(), NUM_ACTIONS), 1 / NUM_ACTIONS, np.float32)
    for line, (bets, swaps) in zip(decision_lines(), _blocks(probabilities), strict=True):
        bets[:, [position >= SHOVES for position in line.positions]] = (0.5, 0.5, 0, 0)
        swaps[:] = (1 / 3, 1 / 3, 1 / 3, 0)
    return probabilities


def _blocks(probabilities: NDArray[np.float32]) -> Iterator[tuple[NDArray[np.float32], ...]]:
    """Yield views of each line's rows: bets [states, positions, 4] and swaps [rows, 4]."""
    for line, bets, swaps in zip(decision_lines(), *_starts(), strict=True):
        states, width = num_states(line.street), len(line.positions)
        found = probabilities[bets : bets + states * width].reshape(states, width, NUM_ACTIONS)
        yield (
            found,
            probabilities[swaps : swaps + _SWAPS * states] if swaps >= 0 else probabilities[:0],
        )

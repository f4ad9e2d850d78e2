"""Weights of EctomynX's strategy: one number for every slot of every state of every line.

The report indexes weights by strength, textures of flop, turn and river, and the betting of four
streets: eight indices, about seventy million places, nearly all of them impossible. Here only the
lines that exist have places (`betting_lines`): a line's block is [states, slots], and a state is a
class of hands before the flop, and later strength × the textures so far. Each seat has one array of
`num_weights()` float64.

Weights of a *group* sum to 1: for BB all slots of a state; for BU, after the flop, separately the
slots against a check and those against a bet.

Source: EctomynX, "Pokerbots Strategy Report", III and IV.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from equilibrist.cards.hand import NUM_CLASSES as NUM_HAND_CLASSES
from equilibrist.errors import InvalidValueError
from equilibrist.papers.ectomynx import level_start
from equilibrist.papers.ectomynx.bet_levels import NUM_LEVELS
from equilibrist.papers.ectomynx.betting_lines import BB, Line, Mark, all_lines, line_numbers
from equilibrist.papers.ectomynx.textures import (
    NUM_CLASSES,
    NUM_FLOP_TEXTURES,
    NUM_WETNESS_BINS,
)

_SIZES = (NUM_CLASSES, NUM_FLOP_TEXTURES, NUM_WETNESS_BINS[4], NUM_WETNESS_BINS[5])

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def num_states(street: int) -> int:
    """Return the number of states of a line: 169 before the flop, then strengths × textures.

    Example:
        >>> [num_states(street) for street in range(4)]
        [169, 168, 672, 3360]
    """
    return NUM_HAND_CLASSES if street == 0 else int(np.prod(_SIZES[: street + 1]))


def state_of(strength: int, *textures: int) -> int:
    """Return the state after the flop; the textures of the dealt streets count from 1."""
    state = strength
    for size, texture in zip(_SIZES[1:], textures, strict=False):
        state = state * size + texture - 1
    return state


@functools.cache
def line_starts() -> Ints:
    """Return the start of each line's block, and the end of the last: [lines + 1]."""
    sizes = [num_states(line.street) * line.num_slots for line in all_lines()]
    return np.concatenate([[0], np.cumsum(sizes)])


def num_weights() -> int:
    """Return the number of weights per seat.

    Example:
        >>> num_weights()
        1791894
    """
    return int(line_starts()[-1])


def line_block(weights: Floats, number: int) -> Floats:
    """Return the weights of a line as a view: [states, slots]."""
    line, starts = all_lines()[number], line_starts()
    return weights[starts[number] : starts[number + 1]].reshape(-1, line.num_slots)


def groups(line: Line, seat: int) -> Iterator[slice]:
    """Yield the groups of a line's slots whose weights sum to 1."""
    if seat == BB or line.street == 0:
        yield slice(0, line.num_slots)
    else:
        yield slice(0, line.num_levels)
        yield slice(line.num_levels, line.num_slots)


def normalise(weights: Floats, seat: int) -> None:
    """Scale the weights of every group to sum to 1, in place; groups of zeros become uniform."""
    for number, line in enumerate(all_lines()):
        block = line_block(weights, number)
        for group in groups(line, seat):
            part = block[:, group]
            total = part.sum(axis=1, keepdims=True)
            even = 1 / part.shape[1]
            block[:, group] = np.where(total > 0, part / np.where(total > 0, total, 1), even)


def from_largest(exponents: Floats, seat: int) -> None:
    """Subtract the largest exponent of every group from its exponents, in place.

    Afterwards no exponent is above zero, so that exponentials do not overflow; weights times their
    exponentials are the same after normalisation. The exponents of zero weights are −∞.
    """
    for number, line in enumerate(all_lines()):
        block = line_block(exponents, number)
        for group in groups(line, seat):
            largest = block[:, group].max(axis=1, keepdims=True)
            block[:, group] -= np.where(np.isfinite(largest), largest, 0)


def report_start(seat: int) -> Floats:
    """Return the weights that the report starts from: [num_weights]."""
    weights = np.empty(num_weights())
    for number, line in enumerate(all_lines()):
        if line.street == 0:
            rows = level_start.preflop_weights()
        elif seat == BB:
            rows = level_start.big_blind_weights(line.street, line.num_levels)
        else:
            rows = np.tile(level_start.postflop_weights(line.street, line.num_levels), 2)
        block = line_block(weights, number)
        block[:] = np.repeat(rows, len(block) // len(rows), axis=0)
    return weights


def random_start(seat: int, seed: int) -> Floats:
    """Return weights drawn uniformly from (0, 1] and normalised: [num_weights]."""
    weights = 1 - np.random.default_rng([seed, seat]).random(num_weights())
    normalise(weights, seat)
    return weights


def report_place(seat: int, indices: Sequence[int]) -> int:
    """Return the place of the report's eight indices after the flop (section III).

    They are strength 0 … 13; flop texture 1 … 12, turn 1 … 4 and river 1 … 5, 0 if not dealt; level
    before the flop; and the betting of flop, turn and river, 0 if there was none: 1 + level of the
    first kind, 7 + level of the second. The last betting is the choice, earlier ones are history.
    Raises `InvalidValueError` for impossible indices.

    Example:
        >>> report_place(BB, (5, 12, 0, 0, 2, 7 + 3, 0, 0)) in range(num_weights())
        True
        >>> report_place(BB, (5, 12, 0, 0, 0, 1, 1, 1))
        Traceback (most recent call last):
          ...
        equilibrist.errors.InvalidValueError: (5, 12, 0, 0, 0, 1, 1, 1) are no indices of a state
        that the betting can come to
    """
    strength, textures, preflop, betting = indices[0], indices[1:4], indices[4], indices[5:]
    street = next((s for s in (3, 2, 1) if betting[s - 1]), 0)
    dealt = (strength + 1, *textures[:street])
    is_state = street > 0 and not any(textures[street:]) and all(betting[:street])
    if is_state and all(1 <= x <= size for x, size in zip(dealt, _SIZES, strict=False)):
        history = (Mark(False, preflop), *(_mark(code, seat) for code in betting[: street - 1]))
        number = line_numbers().get(history, -1)
        kind, level = divmod(betting[street - 1] - 1, NUM_LEVELS)
        line = all_lines()[number]
        if number >= 0 and kind < 2 and level < line.num_levels:
            slot = kind * line.num_levels + level
            state = state_of(strength, *textures[:street])
            return int(line_starts()[number]) + state * line.num_slots + slot
    raise InvalidValueError(
        f"{tuple(indices)} are no indices of a state that the betting can come to", value=indices
    )


def _mark(code: int, seat: int) -> Mark:
    kind, level = divmod(code - 1, NUM_LEVELS)
    return Mark((kind == 0) == (seat == BB) and level > 0, level)

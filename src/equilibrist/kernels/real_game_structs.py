"""Arrays that describe best responses in the real game to kernels that compute many flops at once.

`evaluation.real_game.batches` fills them in; `kernels.gpu.real_game.batch` takes them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numpy.typing import NDArray

Array = NDArray[Any]


class Betting(NamedTuple):
    """Betting of a round."""

    bet: float  # in chips
    raises: int  # maximum number
    is_first: bool  # whether the responder acts first


class RoundSeat(NamedTuple):
    """Positions of a round that is not the last: P of them, E ends, P' in the next round."""

    betting: Betting
    following: Array  # [P, E] position in the next round
    row: Array  # [P, E] place in `met_row`; −1 if the opponent never arrives
    scale: Array  # [P, E]
    spent: Array  # [P] chips of each player
    met_row: Array  # [Q] row of the round's probabilities
    met_first: Array  # [Q] row of the first round that multiplies it; −1 if none


class LastSeat(NamedTuple):
    """Positions of the last round as lanes: B blocks of L lanes, D different ends."""

    betting: Betting
    row: Array  # [B, D, L] rows of the last round; −1 if none
    first_row: Array  # [B, L] rows of the first round; −1 if none
    scale: Array  # [B, E, L]
    end: Array  # [E] index of each end among the different ends
    chips: Array  # [C, L] float32
    case_start: Array  # [B + 1]
    case: Array  # [P] case in which each position is computed
    lane: Array  # [P]
    units: tuple[float, float]  # of the largest probability; if there is no other


class SeatStructure(NamedTuple):
    """A responder's positions from the second round on, without probabilities."""

    rounds: tuple[RoundSeat, ...]  # the second and the third
    last: LastSeat
    first_column: Array  # [H] column of each hand in the first round
    has_first: bool  # whether probabilities of the first round multiply later ones


class ColumnTables(NamedTuple):
    """Buckets of the rounds after the first, looked up on the GPU; see `abstraction.buckets`."""

    tables: tuple[Array, Array]  # [B, H] of the second and the third round
    values: Array  # [B, H] of the last round
    first: Array  # intervals of the last round
    lower: Array
    renamed: Array  # [24, H]
    periods: tuple[int, int, int]  # columns are buckets modulo these


class Places(NamedTuple):
    """Boards in the tables of a round: N of them."""

    number: Array  # [N]
    renaming: Array  # [N]


class Cards(NamedTuple):
    """Cards of a game; its H hands are those of its deck."""

    hand_cards: Array  # [H, 2]
    renamed: Array  # [G, H] hands that renamings of suits make
    num_left: int  # cards that can be held on boards of the last round
    divisors: tuple[int, int]  # number of cards that may come after the flop and after the turn


class BoardBatch(NamedTuple):
    """Boards of one round: N of them."""

    dead: Array  # [N] cards that nobody can hold, one bit each
    columns: Array | Places  # [N, H], or where they are in the tables
    start: Array  # [M + 1] boards that follow each of M boards of the round before
    weight: Array  # [N] number of boards that each represents there
    keeping_start: Array  # [N + 1]
    keeping: Array  # renamings that keep each board


class FlopBatch(NamedTuple):
    """Flops, their turns and their rivers."""

    rounds: tuple[BoardBatch, BoardBatch, BoardBatch]
    rivers: Array  # [N, 5] cards

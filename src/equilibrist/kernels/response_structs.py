"""Arrays that describe a responder's betting to kernels that compute gradients against it.

A round with at most m raises has two chains: the first player bets (chain 0), or checks and the
second one bets (chain 1). The *ends* of a round are numbered as in `kernels.cpu.real_game`: 0 both
check, then k = 1 … m the k-th raise of chain 0 is called, then m + k that of chain 1. After each
number of raises k, the responder decides in one chain and the bucket player in the other, so every
k has one row that the responder may fold to, and one row of folds of the bucket player.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numpy.typing import NDArray

from equilibrist.kernels.real_game_structs import Betting

Array = NDArray[Any]


class Openings(NamedTuple):
    """Openings of a round after the first: O of them, E ends each, at most m raises."""

    betting: Betting
    spent: Array  # [O] chips of each player
    end_row: Array  # [O, E] rows of the bucket player's plan at the ends
    fold_row: Array  # [O, m] rows of its folds
    following: Array  # [O, E] opening of the next round; −1 in the last


class GradientStructure(NamedTuple):
    """Openings of the rounds after the first, and the sizes of the bucket player's plan."""

    openings: tuple[Openings, Openings, Openings]
    shapes: tuple[tuple[int, int], ...]  # rows and buckets of each of these rounds


def responder_end(k: int, raises: int, is_first: bool) -> int:
    """Return the end at which the responder calls the k-th raise.

    Example:
        >>> [responder_end(k, 4, True) for k in (1, 2, 3, 4)]
        [5, 2, 7, 4]
    """
    return k if (k % 2 == 0) == is_first else raises + k

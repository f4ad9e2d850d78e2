"""States of CFR whose regrets and averages have the sixteen bits that checkpoints store.

Checkpoints that travel between machines must be small. A run that rounds its state whenever a
checkpoint may be written continues from one with the numbers that it would have had: rounding
within the run costs 8 bits of precision, and nothing is lost by storing it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from equilibrist.kernels.gpu.memory import download
from equilibrist.models.game import REGRET, SequenceGame
from equilibrist.solving.solver import State

_ROUNDED = ("regret", "average", "best")  # for both players
_HALF = 16  # bits


def is_rounded(name: str) -> bool:
    """Return whether an array of a state, such as `regret0`, is stored with sixteen bits."""
    return name[:-1] in _ROUNDED


def round_state(game: SequenceGame, state: State) -> None:
    """Round a state of CFR in place to the numbers of a checkpoint; plans follow its regrets."""
    for name, array in state.items():
        if is_rounded(name):
            set_array(array, as_stored(array))
    match_regrets(game, state)


def match_regrets(game: SequenceGame, state: State) -> None:
    """Set behaviour and plans to those that the regrets of a state give."""
    for player in (0, 1):
        behaviour, regret = state[f"behaviour{player}"], state[f"regret{player}"]
        nothing = np.zeros_like(regret)
        same = np.array([1, 1, 0], regret.dtype)
        game.fold_up(player, REGRET, nothing, behaviour, regret, same)
        game.realize(player, behaviour, state[f"plan{player}"])


def set_array(array: Any, numbers: NDArray[Any]) -> None:
    """Set an array on any device to numbers in the memory of the CPU."""
    array[:] = np.asarray(numbers, array.dtype, like=array)


def as_stored(array: Any) -> NDArray[np.float32]:
    """Return the numbers of an array as a checkpoint returns them."""
    return widened(rounded(download(array)))


def rounded(array: NDArray[Any]) -> NDArray[np.uint16]:
    """Return the upper halves of numbers in float32, to the nearest: 8 bits of precision.

    Example:
        >>> widened(rounded(np.array([1.0, -3.14159, 1e-20], np.float32))).tolist()
        [1.0, -3.140625, 1.0005576689441423e-20]
    """
    bits = array.astype(np.float32).view(np.uint32)
    return ((bits + np.uint32(1 << (_HALF - 1))) >> np.uint32(_HALF)).astype(np.uint16)


def widened(halves: NDArray[np.uint16]) -> NDArray[np.float32]:
    """Return the numbers of `rounded`."""
    return (halves.astype(np.uint32) << np.uint32(_HALF)).view(np.float32)

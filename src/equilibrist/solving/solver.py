"""What a solver is: frozen hyper-parameters, and arrays that evolve.

A solver holds no game and no arrays. Its state is a dictionary of arrays, so a checkpoint is these
arrays written down, and a resumed run goes on to the same numbers.
"""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias

from numpy.typing import NDArray

from equilibrist.models.game import Floats, SequenceGame

# By name; "iteration" is always among them, an int64 array of shape ().
State: TypeAlias = dict[str, NDArray[Any]]


class Solver(Protocol):
    """The protocol of every solver."""

    @property
    def name(self) -> str:
        """What the command line calls it."""

    def init(self, game: SequenceGame, seed: int = 0) -> State:
        """The state before the first iteration."""

    def step(self, game: SequenceGame, state: State, steps: int) -> None:
        """Run some more iterations, in place."""

    def plans(self, game: SequenceGame, state: State) -> tuple[Floats, Floats]:
        """The realization plans found so far, one a player."""

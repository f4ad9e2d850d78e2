"""What a solver is: frozen hyper-parameters, and arrays that evolve.

A solver holds no game and no arrays. Its state is a dictionary of arrays, so a checkpoint is these
arrays written down, and a resumed run goes on to the same numbers.

Names that mean the same in every state:

- `iteration`, always there: an int64 array of shape ();
- `finished`, where a method ends by itself: once it is true, further steps change nothing;
- `breakdown`, where its arithmetic may fail: likewise, and the plans are no longer improving;
- `behaviour0` and `behaviour1` [L], where a method keeps them: at locked decisions they hold the
  probabilities that are given;
- `gains`, `exploitability` and `nash_conv`, where a method knows them: infinite as long as nothing
  is known. No other number of a state is ever infinite, and none is NaN.
"""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias, runtime_checkable

from numpy.typing import NDArray

from equilibrist.models.game import Floats, SequenceGame
from equilibrist.strategies.evaluation import Evaluation

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


@runtime_checkable
class Evaluates(Protocol):
    """A solver that computes best responses itself: its plans are too long to be written out."""

    def evaluate(self, game: SequenceGame, state: State) -> Evaluation:
        """The value of the plans found so far, and both best responses."""


@runtime_checkable
class DependsOnTarget(Protocol):
    """A solver whose settings follow from the exploitability that is wanted."""

    def for_target(self, target: float, dtype: str) -> Solver:
        """Return the solver for a target in the game's unit, with arrays of a type."""

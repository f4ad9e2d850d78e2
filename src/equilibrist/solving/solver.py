"""Interface of solvers: frozen hyper-parameters, and a state of arrays that evolves.

A solver holds no game and no arrays. Its state is a dictionary of arrays, so a checkpoint stores
these arrays, and a resumed run gives the same numbers.

Names that mean the same in every state:

- `iteration`, always present: an int64 array of shape ();
- `finished`, if a method ends by itself: once it is true, further steps change nothing;
- `breakdown`, if its arithmetic may fail: likewise, and the plans no longer improve;
- `behaviour0` and `behaviour1` [L], if a method stores them: at locked decisions they hold the
  probabilities that are given;
- `gains`, `exploitability` and `nash_conv`, if a method computes them: infinite as long as they are
  unknown. No other number of a state is ever infinite, and none is NaN.
"""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias, runtime_checkable

from numpy.typing import NDArray

from equilibrist.models.game import Floats, SequenceGame
from equilibrist.strategies.evaluation import Evaluation

State: TypeAlias = dict[str, NDArray[Any]]


class Solver(Protocol):
    """Protocol of every solver."""

    @property
    def name(self) -> str:
        """Name of the method on the command line."""

    def init(self, game: SequenceGame, seed: int = 0) -> State:
        """Return the state before the first iteration."""

    def step(self, game: SequenceGame, state: State, steps: int) -> None:
        """Run some more iterations, in place."""

    def plans(self, game: SequenceGame, state: State) -> tuple[Floats, Floats]:
        """Return the realization plans found so far, one per player."""


@runtime_checkable
class Evaluates(Protocol):
    """Solver that computes best responses itself, because its plans are too long to store."""

    def evaluate(self, game: SequenceGame, state: State) -> Evaluation:
        """Return the value of the plans found so far, and both best responses."""


@runtime_checkable
class ExpectsLongEvaluations(Protocol):
    """Solver that knows how long an evaluation takes before the first, so that a pause can wait."""

    @property
    def evaluation_seconds(self) -> float:
        """Return the expected seconds of an evaluation; 0 if they are unknown."""


@runtime_checkable
class RunsOnGpu(Protocol):
    """Solver that may run on a game whose arrays are in the memory of a GPU (`SequenceGame.on`)."""

    @property
    def runs_on_gpu(self) -> bool:
        """Whether it does so with its present settings."""


@runtime_checkable
class DependsOnTarget(Protocol):
    """Solver whose settings depend on the target exploitability."""

    def for_target(self, target: float, dtype: str) -> Solver:
        """Return the solver for a target in the game's unit, with arrays of a dtype."""

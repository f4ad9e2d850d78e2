"""Games to be solved, known before they are built: their betting, pot, forecast and target.

A `Problem` is an exact game or a game of buckets. The command line and `equilibrist.solve` check
the target and the forecast of a problem, then build its game.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from equilibrist.abstraction.buckets import Abstraction
from equilibrist.errors import InvalidValueError
from equilibrist.games.bet_menu import BetMenu
from equilibrist.games.betting_tree import BettingTree
from equilibrist.games.rules import GameRules
from equilibrist.models.card_states import SYMMETRIES, Symmetry
from equilibrist.models.exact import check_exact, exact_game
from equilibrist.models.game import SequenceGame
from equilibrist.solving.devices import check_runs_on_gpu
from equilibrist.solving.forecast import SolvingForecast, bucket_forecast, forecast
from equilibrist.solving.solver import Solver
from equilibrist.solving.target import Goal, Target
from equilibrist.storage.threads import most_threads
from equilibrist.strategies.description import BucketDescription, Description, GameDescription

_ALL_ACTIONS = BetMenu()  # all actions of the rules


@dataclass(frozen=True, eq=False)
class Problem:
    """A game that is described and not built yet.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> leduc = Problem.exact(get_game("leduc"))
        >>> leduc.forecast().sequences, str(leduc.goal("0.01chips"))
        (1248, '0.01 chips')
    """

    name: str
    rules: GameRules
    betting: BettingTree
    symmetry: Symmetry | None = None  # of an exact game; None: the strongest that loses nothing
    buckets: tuple[int, ...] = ()  # number per round of the model; (): an exact game
    description: BucketDescription | None = None  # of a game of buckets

    @classmethod
    def exact(
        cls, rules: GameRules, menu: BetMenu = _ALL_ACTIONS, symmetry: Symmetry | None = None
    ) -> Problem:
        """Describe a game with all its cards."""
        if symmetry is not None and symmetry not in SYMMETRIES:
            raise InvalidValueError(
                f"the symmetry must be one of {', '.join(SYMMETRIES)}, not {symmetry!r}",
                value=symmetry,
            )
        check_exact(rules)
        return cls(rules.name, rules, BettingTree.build(rules, menu), symmetry)

    @classmethod
    def of_buckets(cls, buckets: Abstraction, description: BucketDescription) -> Problem:
        """Describe a game of buckets by its abstraction and its description."""
        betting = description.betting(buckets.rules)
        numbers = buckets.num_buckets[betting.first_round : betting.last_round + 1]
        name = description.name
        return cls(name, buckets.rules, betting, buckets=numbers, description=description)

    @property
    def pot(self) -> int | None:
        """Return the pot in chips at the start of a model of later rounds; None for whole games."""
        return int(self.betting.spent[0].sum()) if self.betting.first_round else None

    def goal(self, to: str | float | None) -> Goal | None:
        """Return a target such as `5mbb` in chips of this game; a bare number is in chips."""
        return None if to is None else Target.parse(to).of_game(self.name, self.rules, self.pot)

    def forecast(
        self, dtype: str = "float64", methods: Sequence[str] = (), device: str = "cpu"
    ) -> SolvingForecast:
        """Forecast the memory and time that these methods need, on the CPU or a GPU."""
        size = np.dtype(dtype).itemsize
        if self.buckets:
            return bucket_forecast(
                self.betting, self.buckets, size, most_threads(), methods, device
            )
        return forecast(self.rules, self.betting, self.symmetry, size, methods)

    def check_gpu(self, solver: Solver, dtype: str, *, force: bool = False) -> None:
        """Raise an error if a GPU cannot solve it by this method, or has too little memory."""
        if not self.buckets:
            raise InvalidValueError(
                f"{self.name} is solved on the CPU: a GPU solves games of buckets and spots",
                value=self.name,
            )
        check_runs_on_gpu(solver)
        if not force:
            self.forecast(dtype, [solver.name], "gpu").check(self.name)

    def build(self) -> tuple[SequenceGame, Description]:
        """Build the game; return it and the description from which it is built again."""
        if self.description is not None:
            return self.description.build(), self.description
        game = exact_game(self.rules, self.betting.menu, symmetry=self.symmetry)
        return game, GameDescription.of(game)

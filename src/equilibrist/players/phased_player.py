"""Players that follow a stored strategy in the first rounds and solve the others during play."""

from __future__ import annotations

import random
from abc import abstractmethod

from equilibrist.games.action import Action
from equilibrist.players.player import Mixture, Player, View
from equilibrist.players.strategy_player import StrategyPlayer


class PhasedPlayer(Player):
    """A player that follows a strategy before round `begin`, and decides from then on itself."""

    def __init__(self, first: StrategyPlayer, begin: int) -> None:
        self._first, self._begin = first, begin
        self.name = first.name
        self.reset(0)

    @abstractmethod
    def decide(self, view: View) -> Mixture:
        """Return the action probabilities of a decision of the second phase, solved now."""

    @abstractmethod
    def forget(self) -> None:
        """Forget all solutions."""

    def reset(self, seed: int) -> None:
        """Forget all solutions and restart the random generator with a seed."""
        self._first.reset(seed)
        self._random = random.Random(seed)
        self._answer: tuple[str, Mixture] | None = None  # the latest view and its mixture
        self.forget()

    def act(self, view: View) -> Action:
        """Draw an action of the strategy; call a raise that it does not know."""
        if view.betting.round < self._begin:
            return self._first.act(view)
        actions, probabilities = zip(*self.mixture(view), strict=True)
        return self._random.choices(actions, probabilities)[0]

    def mixture(self, view: View) -> Mixture:
        """Return the action probabilities of the first phase, or of the solved subgame.

        A repeated call for the same decision returns the same answer without solving again.
        """
        if view.betting.round < self._begin:
            return self._first.mixture(view)
        if self._answer is None or self._answer[0] != str(view):
            self._answer = str(view), self.decide(view)
        return self._answer[1]

"""Static players, which consider only the legal actions: the benchmark opponents of the papers.

| player | facing a bet | not facing a bet | at the raise cap |
|---|---|---|---|
| always fold | folds | checks, because folding is legal only when facing a bet | folds |
| always call | calls | checks | calls |
| always raise | raises | bets | calls |
| always shove | raises to all its chips | bets all its chips | calls |
| fold, call, raise mix | each with its probability | its folds are checks | its raises are calls |
| uniform | any legal action, with equal probability | the same | the same |

No-limit raises have the minimum size, except those of `Uniform`, which go to any legal total with
equal probability. In discard turns all players keep their cards, except `Uniform`, which takes any
legal action.
"""

from __future__ import annotations

import math
import random

from equilibrist.errors import InvalidValueError
from equilibrist.games.action import CALL, FOLD, KEEP, RAISE, Action, raise_to
from equilibrist.games.betting import Betting
from equilibrist.players.player import Mixture, Player, View


class Mix(Player):
    """A player that folds, calls and raises with fixed probabilities, whatever its cards.

    Example:
        >>> Mix(0.1, 0.6, 0.3).name
        'mix 0.1,0.6,0.3'
    """

    def __init__(self, fold: float, call: float, raise_: float, name: str | None = None) -> None:
        self.probabilities = (fold, call, raise_)
        is_split = all(0 <= probability <= 1 for probability in self.probabilities)
        if not is_split or not math.isclose(sum(self.probabilities), 1, abs_tol=1e-9):
            raise InvalidValueError(
                "a mix is the probabilities of fold, call and raise, three numbers from 0 to 1 "
                f"that sum to 1, not {', '.join(map(str, self.probabilities))}",
                value=self.probabilities,
            )
        self.name = name or f"mix {','.join(f'{share:g}' for share in self.probabilities)}"
        self.reset(0)

    def act(self, view: View) -> Action:
        """Draw fold, call or raise; replace an illegal draw as the module's table says."""
        fold, call, _ = self.probabilities
        drawn = self._random.random()
        kind = "f" if drawn < fold else "c" if drawn < fold + call else "r"
        return nearest_action(view.betting, kind)

    def mixture(self, view: View) -> Mixture:
        """Return the probability of each action; an illegal one counts for its replacement.

        Example:
            >>> from equilibrist.cards.card import parse_cards
            >>> from equilibrist.games.catalog import get_game
            >>> from equilibrist.games.state import Deal, HandState
            >>> deal = Deal((parse_cards("As"), parse_cards("Qs")))
            >>> view = View.of(HandState.start(get_game("kuhn"), deal), player=0)
            >>> [(action.kind, share) for action, share in Mix(0.25, 0.5, 0.25).mixture(view)]
            [('c', 0.75), ('r', 0.25)]
        """
        shares: dict[Action, float] = {}
        for kind, probability in zip("fcr", self.probabilities, strict=True):
            if probability:
                action = nearest_action(view.betting, kind)
                shares[action] = shares.get(action, 0.0) + probability
        return tuple(shares.items())

    def reset(self, seed: int) -> None:
        """Restart the random generator with a seed; the player has no memory."""
        self._random = random.Random(seed)


def nearest_action(betting: Betting, kind: str) -> Action:
    """Return fold (`f`), call (`c`) or raise (`r`) if it is legal, otherwise a call.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> opening = Betting.start(get_game("leduc"))
        >>> nearest_action(opening, "f"), nearest_action(opening, "r")
        (Action(kind='c', amount=0, card=None), Action(kind='r', amount=0, card=None))
    """
    if betting.is_discarding:
        return KEEP
    if kind == "f" and betting.can_fold:
        return FOLD
    if kind == "r" and betting.can_raise:
        return RAISE if betting.rules.is_limit else raise_to(betting.min_raise_to)
    return CALL


class Shove(Player):
    """A player that goes all-in; in limit games it makes the fixed raise."""

    name = "always-shove"

    def act(self, view: View) -> Action:
        """Return the largest legal raise, or a call if no raise is legal."""
        betting = view.betting
        if betting.can_raise and not betting.rules.is_limit:
            return raise_to(betting.max_raise_to)
        return nearest_action(betting, "r")

    def reset(self, seed: int) -> None:
        """Do nothing: the player has no memory and draws no random numbers."""


class Uniform(Player):
    """A player that takes any legal action, with equal probability for fold, call and raise."""

    name = "uniform"

    def __init__(self) -> None:
        self.reset(0)

    def act(self, view: View) -> Action:
        """Draw one of the legal actions with equal probability."""
        legal = view.legal_actions()
        place = self._random.randrange(len(legal.actions) + (legal.raise_to is not None))
        if legal.raise_to is not None and place == len(legal.actions):
            return raise_to(self._random.randint(*legal.raise_to))
        return legal.actions[place]

    def reset(self, seed: int) -> None:
        """Restart the random generator with a seed; the player has no memory."""
        self._random = random.Random(seed)

"""Players that look at nothing but what is legal: the benchmarks of the papers.

| player | facing a bet | facing none | at the cap |
|---|---|---|---|
| always fold | folds | checks, for a fold is legal only when facing a bet | folds |
| always call | calls | checks | calls |
| always raise | raises | bets | calls |
| always shove | raises to all its chips | bets all its chips | calls |
| mix of fold, call, raise | each with its chance | its folds are checks | its raises are calls |
| uniform | all that is legal, equally | the same | the same |

A no-limit raise is the smallest one; that of `Uniform` goes to any legal total, equally. In discard
turns all keep their cards, but for `Uniform`, which does anything legal.
"""

from __future__ import annotations

import math
import random

from equilibrist.errors import InvalidValueError
from equilibrist.games.action import CALL, FOLD, KEEP, RAISE, Action, raise_to
from equilibrist.games.betting import Betting
from equilibrist.players.player import Mixture, Player, View


class Mix(Player):
    """Folds, calls and raises with fixed chances, whatever it holds.

    Example:
        >>> Mix(0.1, 0.6, 0.3).name
        'mix 0.1,0.6,0.3'
    """

    def __init__(self, fold: float, call: float, raise_: float, name: str | None = None) -> None:
        self.chances = (fold, call, raise_)
        is_split = all(0 <= chance <= 1 for chance in self.chances)
        if not is_split or not math.isclose(sum(self.chances), 1, abs_tol=1e-9):
            raise InvalidValueError(
                "a mix is the chances of fold, call and raise, three numbers from 0 to 1 that sum "
                f"to 1, not {', '.join(map(str, self.chances))}",
                value=self.chances,
            )
        self.name = name or f"mix {','.join(f'{chance:g}' for chance in self.chances)}"
        self.reset(0)

    def act(self, view: View) -> Action:
        """Fold, call or raise by lot, and what the table above says where that is illegal."""
        fold, call, _ = self.chances
        drawn = self._random.random()
        kind = "f" if drawn < fold else "c" if drawn < fold + call else "r"
        return nearest_action(view.betting, kind)

    def mixture(self, view: View) -> Mixture:
        """Its chances, those of what is illegal at what it does instead.

        Example:
            >>> from equilibrist.cards.card import parse_cards
            >>> from equilibrist.games.catalog import get_game
            >>> from equilibrist.games.state import Deal, HandState
            >>> deal = Deal((parse_cards("As"), parse_cards("Qs")))
            >>> view = View.of(HandState.start(get_game("kuhn"), deal), player=0)
            >>> [(action.kind, chance) for action, chance in Mix(0.25, 0.5, 0.25).mixture(view)]
            [('c', 0.75), ('r', 0.25)]
        """
        shares: dict[Action, float] = {}
        for kind, chance in zip("fcr", self.chances, strict=True):
            if chance:
                action = nearest_action(view.betting, kind)
                shares[action] = shares.get(action, 0.0) + chance
        return tuple(shares.items())

    def reset(self, seed: int) -> None:
        """Draw from a seed; there is nothing to forget."""
        self._random = random.Random(seed)


def nearest_action(betting: Betting, kind: str) -> Action:
    """The legal action for a wish to fold (`f`), call (`c`) or raise (`r`), if need be a call.

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
    """Puts in all its chips; limit raises are as large as they are."""

    name = "always-shove"

    def act(self, view: View) -> Action:
        """The largest raise, or a call."""
        betting = view.betting
        if betting.can_raise and not betting.rules.is_limit:
            return raise_to(betting.max_raise_to)
        return nearest_action(betting, "r")

    def reset(self, seed: int) -> None:
        """There is nothing to forget, and nothing is drawn."""


class Uniform(Player):
    """Does anything legal, fold, call and raise equally often."""

    name = "uniform"

    def __init__(self) -> None:
        self.reset(0)

    def act(self, view: View) -> Action:
        """One of the legal actions by lot."""
        legal = view.legal_actions()
        place = self._random.randrange(len(legal.actions) + (legal.raise_to is not None))
        if legal.raise_to is not None and place == len(legal.actions):
            return raise_to(self._random.randint(*legal.raise_to))
        return legal.actions[place]

    def reset(self, seed: int) -> None:
        """Draw from a seed; there is nothing to forget."""
        self._random = random.Random(seed)

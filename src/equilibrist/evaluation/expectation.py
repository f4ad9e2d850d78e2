"""Exact winnings of one strategy against another: no cards are dealt, so there is no error.

A strategy is two plans, one for each seat. In a game, small or abstract, that has both as plans,
the chips of a seat are bilinear in the plans, xᵀ A y, so both seats cost two gradients. Strategies
of different abstractions meet in the real game (`models.bucketed.lift`) or in a game of both
abstractions; the latter is another game when seats are swapped.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from equilibrist.errors import InvalidValueError
from equilibrist.evaluation.statistics import chips_of_unit
from equilibrist.games.bet_menu import MENU_FIELDS
from equilibrist.games.betting_tree import BettingTree
from equilibrist.games.rules import GameRules
from equilibrist.kernels.treeplex import block, boards
from equilibrist.models.game import Floats, SequenceGame
from equilibrist.models.treeplex import player_rows
from equilibrist.strategies.played import mixed_probabilities
from equilibrist.strategies.solution import Solution, game_of, plan_error

Plans: TypeAlias = tuple[Floats, Floats]  # a strategy as player 0 and as player 1: [L] each

_ROUNDING = 1e-4  # rounding error of plans stored in float32


@dataclass(frozen=True)
class Expectation:
    """Winnings of strategy A against strategy B per hand, in chips by default."""

    seats: tuple[float, float]  # A as player 0, and as player 1
    rules: GameRules | None = None  # of games with cards: they define the big blind

    @property
    def mean(self) -> float:
        """Mean over both seats, as in a match with alternating seats."""
        return (self.seats[0] + self.seats[1]) / 2

    def win_rate(self, unit: str | None = None) -> tuple[float, str]:
        """Return the mean in a unit, and the unit; default: mbb/g with a big blind, else chips.

        Example:
            >>> from equilibrist.games.catalog import get_game
            >>> Expectation((-10.0, -5.0), get_game("holdem-limit")).win_rate()
            (-750.0, 'mbb/g')
        """
        unit, chips = chips_of_unit(self.rules, unit)
        return self.mean / chips, unit

    def to_json(self) -> dict[str, Any]:
        """Return the fields of a match report; the seats are in the same unit."""
        rate, unit = self.win_rate()
        chips = chips_of_unit(self.rules, unit)[1]
        seats = [chips_won / chips for chips_won in self.seats]
        return {"win_rate": rate, "unit": unit, "seats": seats, "exact": True}


def expectation(
    game: SequenceGame, first: Plans, second: Plans, *, swapped: SequenceGame | None = None
) -> Expectation:
    """Return what strategy `first` wins from `second` in both seats.

    `swapped` is the game in which `first` is player 1, if it is another one.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> from equilibrist.models.exact import exact_game
        >>> game = exact_game(get_game("leduc"))
        >>> raises, folds = fixed_mix(game, (0, 0, 1)), fixed_mix(game, (1, 0, 0))
        >>> [round(chips, 9) for chips in expectation(game, folds, raises).seats]
        [-1.0, -1.0]
    """
    back = swapped or game
    seats = (
        pair_value(game, (first[0], second[1])),
        -pair_value(back, (second[0], first[1])),
    )
    return Expectation(seats, game.rules)


def pair_value(game: SequenceGame, plans: Plans) -> float:
    """Return the chips per hand that player 0 wins if both follow these plans, in float64."""
    x, y = (checked_plan(game, player, plans[player]) for player in (0, 1))
    return float(x @ game.gradient(0, y))


def head_to_head(first: Solution, second: Solution) -> Expectation:
    """Return what one solution wins from another of the same game.

    Raises `InvalidValueError` if their games differ.
    """
    for name in ("rules", "hashes", *MENU_FIELDS, "symmetry"):
        ours, theirs = (getattr(side.game, name, None) for side in (first, second))
        if ours != theirs:
            raise InvalidValueError(
                f"the solutions are of different games: {first.game.name} and {second.game.name} "
                f"have different {name.replace('_', ' ')}, so they cannot meet",
                value=name,
            )
    game = game_of(first)
    game_of(dataclasses.replace(second, game=first.game))  # checks the lengths of its plans
    return expectation(game, first.plans, second.plans)


def fixed_mix(game: SequenceGame, mix: tuple[float, float, float]) -> Plans:
    """Return the strategy that folds, calls and raises with fixed probabilities, with any cards.

    The probability of an action that is not legal goes to calling (or checking); several sizes of
    raises share theirs.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> from equilibrist.models.exact import exact_game
        >>> game = exact_game(get_game("kuhn"))
        >>> fixed_mix(game, (0.2, 0.5, 0.3))[1][3:].reshape(-1, 3)[:, 0].tolist()
        [0.7, 0.3, 0.2, 0.8]
    """
    betting = game.betting
    if betting is None:
        raise InvalidValueError(
            f"{game.name} has no betting tree to mix actions in", value=game.name
        )
    if min(mix) < 0 or abs(sum(mix) - 1) > 1e-9:
        raise InvalidValueError(
            f"a mix must be three probabilities of folding, calling and raising, not {mix}",
            value=mix,
        )
    return _mixed_plan(game, betting, 0, mix), _mixed_plan(game, betting, 1, mix)


def _mixed_plan(
    game: SequenceGame, betting: BettingTree, player: int, mix: tuple[float, float, float]
) -> Floats:
    tree, rows = game.trees[player], player_rows(betting, player)
    behaviour = game.uniform(player)
    for node in np.flatnonzero(rows.decision >= 0).tolist():
        probabilities = mixed_probabilities(betting, node, mix)
        first = int(tree.decision_first[rows.decision[node]])
        r = int(betting.round[node]) - betting.first_round
        for board in boards(tree, r):
            block(tree, r, board, behaviour)[first : first + len(probabilities)] = probabilities[
                :, None
            ]
    return game.realize(player, behaviour)


def checked_plan(game: SequenceGame, player: int, plan: Floats) -> Floats:
    """Return a plan [L] in float64 without the rounding of its type.

    Raises `InvalidValueError` for an array that is not a plan of this game.
    """
    exact = np.asarray(plan, np.float64)
    if exact.shape != (game.lengths[player],):
        raise InvalidValueError(
            f"player {player}'s plan has shape {list(exact.shape)}, but plans of {game.name} have "
            f"{game.lengths[player]:,} numbers",
            value=exact.shape,
        )
    if not plan_error(game, player, exact) <= _ROUNDING:
        raise InvalidValueError(
            f"player {player}'s array is not a realization plan of {game.name}: its numbers do not "
            "split by probability at every decision",
            value=player,
        )
    return game.realize(player, game.behaviour(player, exact))

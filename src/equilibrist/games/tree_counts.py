"""The size of a betting tree, counted without building it.

What follows the opening of a round depends only on the chips that are in, on who can act and, if
the menu has donk bets, on the aggressor of the round before. So openings that agree in these are
walked once, and counted as often as they occur.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple, TypeAlias

from equilibrist.games.bet_menu import BetMenu
from equilibrist.games.betting import Betting
from equilibrist.games.betting_tree import NodeKind, next_states, node_kind
from equilibrist.games.rules import GameRules

_Opening: TypeAlias = tuple[object, ...]
_Level: TypeAlias = dict[_Opening, tuple[Betting, int]]


class RoundCount(NamedTuple):
    """The numbers of a round's openings, and of the actions at its decisions."""

    openings: int
    actions: int
    second: int  # of these actions, those of player 1


def tree_counts(
    rules: GameRules,
    menu: BetMenu,
    *,
    first_round: int = 0,
    pot: int | None = None,
    runs_out: bool = False,
) -> list[RoundCount]:
    """Count the openings and actions of each round of a tree from `first_round` to the last one.

    The arguments are those of `BettingTree.build`.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> [count._asdict() for count in tree_counts(get_game("leduc"), BetMenu())][1]
        {'openings': 5, 'actions': 70, 'second': 35}
    """
    rules = menu.limit(rules, first_round)
    start = Betting.start(rules, first_round, pot)
    level: _Level = {(): (start, 1)}
    found = []
    for r in range(first_round, rules.num_rounds):
        keeps = runs_out and r + 1 < rules.num_rounds
        following: _Level = {}
        actions = [0, 0]
        for opening, number in level.values():
            own, ends = _walk(opening, menu, r, keeps=keeps)
            actions = [before + number * more for before, more in zip(actions, own, strict=True)]
            for key, (betting, times) in ends.items():
                before = following[key][1] if key in following else 0
                following[key] = betting, before + number * times
        openings = sum(number for _, number in level.values())
        found.append(RoundCount(openings, sum(actions), actions[1]))
        level = following
    return found


def _walk(opening: Betting, menu: BetMenu, r: int, *, keeps: bool) -> tuple[list[int], _Level]:
    """Return each player's number of actions after an opening, and the openings that follow.

    With `keeps`, hands that are decided by an all-in go on to the next round too.
    """
    actions, waiting = [0, 0], [opening]
    times: Counter[_Opening] = Counter()
    states: dict[_Opening, Betting] = {}
    while waiting:
        betting = waiting.pop()
        kind = node_kind(betting, r)
        if kind is NodeKind.DECISION:
            following = [state for _, state in next_states(betting, menu)]
            actions[betting.to_act[0]] += len(following)
            waiting += following
        elif kind is NodeKind.ROUND_END or (keeps and kind is NodeKind.SHOWDOWN):
            aggressor = None if menu.donks is None else betting.aggressor
            key = (betting.round, betting.spent, betting.folded, betting.to_act, aggressor)
            times[key] += 1
            states[key] = betting
    return actions, {key: (states[key], number) for key, number in times.items()}

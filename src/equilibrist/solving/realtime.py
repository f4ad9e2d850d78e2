"""CFR+ during play: a subgame is solved until the time is over, and can be improved later.

A player at a table must act in time. Each iteration leaves an average strategy that can be played,
so the clock is read after every one. The first few iterations are always completed: the average
starts with uniform play, which would otherwise be most of it.
"""

from __future__ import annotations

import functools
import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from equilibrist.cards.card import parse_cards
from equilibrist.cards.numbers import parse_whole
from equilibrist.errors import ParseError
from equilibrist.games.catalog import get_game
from equilibrist.kernels.decision_rules import regret_matching
from equilibrist.kernels.treeplex import block
from equilibrist.models.game import Floats
from equilibrist.models.subgame import Subgame, subgame
from equilibrist.solving.best_response import evaluate
from equilibrist.solving.cfr import CFR

ENOUGH = 1_000  # iterations after which more would change little
_MOST_ITERATIONS = 10**9  # per decision
_LEAST = 3  # minimum number of iterations
_CHEAP = 200_000  # length of both plans up to which best responses take milliseconds


@dataclass(frozen=True)
class DecisionBudget:
    """Limit of a decision: seconds, or a number of iterations however long they take."""

    seconds: float | None = 1.0
    iterations: int = ENOUGH


def parse_budget(text: str, player: str) -> DecisionBudget:
    """Parse the budget of a player's decisions: seconds, such as `0.5`, or `iterations=100`.

    Example:
        >>> parse_budget("iterations=100", "gs2"), parse_budget("0.5", "gs2").seconds
        (DecisionBudget(seconds=None, iterations=100), 0.5)
    """
    key, _, number = text.partition("=")
    if key == "iterations" and (iterations := parse_whole(number, _MOST_ITERATIONS)):
        return DecisionBudget(None, iterations)
    try:
        seconds = float(number if key == "seconds" else text)
    except ValueError:
        seconds = -1.0
    if not 0 < seconds < float("inf"):
        raise ParseError(
            f"{text[:40]!r} is not a time for {player}; write seconds per decision, such as 0.5, "
            "or iterations=100",
            value=text,
        )
    return DecisionBudget(seconds)


@functools.cache
def warm_up() -> None:
    """Compile the kernels of solving before a clock runs, on a turn and a river with few cards."""
    rules, everything = get_game("royal-holdem"), np.ones(1326)
    for board in ("AsKsQhTd", "AsKsQhTdTc"):
        spot = subgame(rules, parse_cards(board), (everything, everything), pot=40)
        solution = TableSolution(spot)
        solution.improve(DecisionBudget(None, 1), 0.0)
        solution.exploitability()


class TableSolution:
    """Subgame with its solution so far."""

    def __init__(self, spot: Subgame) -> None:
        self.subgame = spot
        self._solver = CFR(dtype="float32")
        self._state = self._solver.init(spot.game)

    @property
    def iterations(self) -> int:
        """Number of iterations so far."""
        return int(self._state["iteration"])

    def improve(self, budget: DecisionBudget, start: float) -> bool:
        """Iterate until the budget is spent; return whether time ended before the iterations did.

        Seconds count from `start`, a reading of `time.perf_counter`.
        """
        while self.iterations < budget.iterations:
            late = budget.seconds is not None and time.perf_counter() - start >= budget.seconds
            if late and self.iterations >= _LEAST:
                return True
            self._solver.step(self.subgame.game, self._state, 1)
        return False

    def exploitability(self) -> float | None:
        """Return the exploitability of the average in the subgame, in chips; None if slow."""
        game = self.subgame.game
        if sum(game.lengths) > _CHEAP:
            return None
        return evaluate(game, self._solver.plans(game, self._state)).exploitability

    def plans(self) -> tuple[Floats, Floats]:
        """Return the average plans [L]."""
        return self._solver.plans(self.subgame.game, self._state)

    def average(self, player: int) -> Floats:
        """Return the sum of all plans so far [L], in proportion to the average plan."""
        return self._state[f"average{player}"]

    def probabilities(self, player: int, node: int, board: int, hand: int) -> Floats:
        """Return the probability of each child of a decision node, [A]; uniform if never played.

        `board` counts from 0 in its round, `hand` is a hand number in the usual order.
        """
        tree, states = self.subgame.game.trees[player], self.subgame.states
        betting, rows = self.subgame.betting, self.subgame.rows[player].row
        r = int(betting.round[node] - betting.first_round)
        own = block(tree, r, int(tree.board_start[r]) + board, self.average(player))
        played = own[rows[betting.children(node)], states.state_of_hand[r][board, hand]]
        return regret_matching(played.astype(np.float64))

    def reach(self, player: int, node: int) -> NDArray[np.float64]:
        """Return relative frequencies of hands at a node of the first round: [H]."""
        states = self.subgame.states.state_of_hand[0][0]
        row = int(self.subgame.rows[player].row[node])
        own = block(self.subgame.game.trees[player], 0, 0, self.average(player))[row]
        return np.where(states >= 0, own[states], 0).astype(np.float64)

"""GS2's two-phase player: a stored strategy first, then the rest of the hand solved during play.

The first phase is a solution of a truncated bucket game (`models/endings.py`); all its rounds
except the last are played from it. When the last round starts, Bayes' rule gives the probability of
each hand of both players, assuming that both played this solution, and the rest of the hand is
solved on the actual board with exact hands (`models/subgame.py`) during play. Every decision has a
time budget and continues from the iterations of earlier decisions of the round.

The river is solved once more by itself, from the beliefs that the solution of the turn leads to: a
river alone takes a hundredth of the time of a turn with all its rivers, so a decision there gets a
hundred times the iterations, whether the budget is a time or a number of iterations.

A hand with weight zero gets a small weight, so that a player that took an improbable action still
has a strategy; if a player can have no hand at all, all hands are assumed to be possible, and the
log says so. A raise beyond the caps is called and ignored, as by other strategies, but the pot of a
subgame is the actual pot.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from equilibrist.bots.bot import BucketBot
from equilibrist.cards.card import cards_name
from equilibrist.errors import InvalidValueError, StorageError
from equilibrist.games.action import CALL
from equilibrist.games.betting import Betting
from equilibrist.games.betting_tree import BettingTree
from equilibrist.games.rules import GameRules
from equilibrist.models.game import Floats
from equilibrist.models.subgame import subgame
from equilibrist.players.bucket_strategy import BucketStrategy
from equilibrist.players.phased_player import PhasedPlayer
from equilibrist.players.player import Mixture, View
from equilibrist.players.strategy_player import StrategyPlayer
from equilibrist.players.translation import find_node, real_action
from equilibrist.solving.realtime import (
    ENOUGH,
    DecisionBudget,
    TableSolution,
    parse_budget,
    warm_up,
)
from equilibrist.strategies.description import BucketDescription
from equilibrist.strategies.seat_tables import hand_numbers
from equilibrist.strategies.solution import Solution

_LEAST = 1e-4  # smallest weight of a hand, as a share of the largest
_RIVERS = 100  # iterations of a river alone in the time of one of a turn with all its rivers


@dataclass(frozen=True)
class SolvedDecision:
    """Log entry of one decision in the second phase.

    Example:
        >>> print(SolvedDecision(3, "turn AsKs7h2d", 40, 31, 1.004, True))
        hand 3, turn AsKs7h2d, pot 40: 31 iterations in 1.00 s, out of time
    """

    hand: int  # number of the hand in the match
    place: str  # round and board
    pot: int  # chips when the round started
    iterations: int  # of the subgame, over all decisions so far
    seconds: float  # time of this decision
    is_late: bool  # whether the time ran out before the iterations did
    exploitability: float | None = None  # in the subgame, chips; None if the subgame is too large
    note: str = ""

    def __str__(self) -> str:
        words = [f"{self.iterations} iterations in {self.seconds:.2f} s"]
        if self.exploitability is not None:
            words.append(f"exploitable for {self.exploitability:.3g} chips")
        words += ["out of time"] * self.is_late + [self.note] * bool(self.note)
        return f"hand {self.hand}, {self.place}, pot {self.pot}: {', '.join(words)}"


class TwoPhasePlayer(PhasedPlayer):
    """A player that follows a bucket strategy in the first rounds and solves the others in play."""

    def __init__(
        self,
        strategy: BucketStrategy,
        rules: GameRules,
        name: str,
        budget: DecisionBudget | None = None,
        report: Callable[[SolvedDecision], None] = lambda decision: None,
    ) -> None:
        """Set up the player; `report` is called with every decision of the second phase."""
        if not rules.is_limit:
            raise InvalidValueError(f"{name} plays limit games, not {rules.name}", value=rules.name)
        self.report, self._budget = report, budget or DecisionBudget()
        self._strategy = strategy
        super().__init__(StrategyPlayer(strategy, rules, name), begin=strategy.tree.last_round)

    def forget(self) -> None:
        """Forget all solutions."""
        self._solved: dict[int, tuple[object, TableSolution, str]] = {}  # by round

    def decide(self, view: View) -> Mixture:
        """Solve the subgame until the budget is spent and return its action probabilities."""
        r = view.betting.round
        warm_up()
        start = time.perf_counter()
        solved, note = self._solution(view, r, start)
        node = find_node(solved.subgame.betting, view.betting)
        if node is None:
            return ((CALL, 1.0),)
        is_late = solved.improve(self._budget_of(r), start)
        hand = int(hand_numbers(np.array([view.hole], np.uint8))[0])
        probabilities = solved.probabilities(view.player, node, 0, hand)
        tree = solved.subgame.betting
        self.report(
            SolvedDecision(
                view.state.hand_number,
                f"{_round_name(view.rules, r)} {cards_name(view.board)}",
                int(tree.spent[0].sum()),
                solved.iterations,
                time.perf_counter() - start,
                is_late,
                solved.exploitability(),
                note,
            )
        )
        return tuple(
            (real_action(tree, child, view.betting), probability)
            for child, probability in zip(tree.children(node), probabilities.tolist(), strict=True)
            if probability
        )

    def _budget_of(self, r: int) -> DecisionBudget:
        """Return the budget of round `r`; later rounds get more iterations for equal work."""
        given = self._budget.iterations
        if r > self._begin:
            given = max(given, min(ENOUGH, given * _RIVERS))
        return replace(self._budget, iterations=given)

    def _solution(self, view: View, r: int, start: float) -> tuple[TableSolution, str]:
        """Return the subgame of round `r`, new or from an earlier decision, and its log note."""
        board = view.board[: sum(view.rules.num_board_cards[: r + 1])]
        key = board, view.betting.history[:r]
        if r not in self._solved or self._solved[r][0] != key:
            ranges, note = self._ranges(view, r, start)
            self._solved.pop(r, None)  # free its memory first
            menu, pot = self._strategy.tree.menu, view.betting.opened(r).pot
            found = subgame(view.rules, board, (ranges[0], ranges[1]), menu, pot=pot)
            self._solved[r] = key, TableSolution(found), note
        _, solved, note = self._solved[r]
        return solved, note

    def _ranges(self, view: View, r: int, start: float) -> tuple[list[Floats], str]:
        """Return the weights of both players' hands [H] at the start of a round, and a log note."""
        if r == self._begin:
            node = _opening(self._strategy.tree, view.betting, r)
            found = [self._strategy.reach(node, player, view.board) for player in (0, 1)]
            notes = []
        else:
            solved, note = self._solution(view, r - 1, start)
            if not solved.iterations:  # the player had no decision in that round
                solved.improve(self._budget_of(r - 1), start)
            tree = solved.subgame.betting
            node = int(tree.parent[_opening(tree, view.betting, r)])
            found = [solved.reach(player, node) for player in (0, 1)]
            notes = [note] * bool(note)
        for player, weight in enumerate(found):
            if not weight.any():
                weight[:] = 1
                notes.append(f"player {player} can have no hand, so any hand is assumed")
            np.maximum(weight, _LEAST * weight.max(), out=weight)
        return found, ", ".join(notes)


def make_two_phase_player(bot: BucketBot, rules: GameRules, options: str) -> TwoPhasePlayer:
    """Make the player of `SECONDS`, `iterations=N`, `log=FILE`, `from=DIR`, comma-separated."""
    budget, folder, log = DecisionBudget(), "", ""
    for word in filter(None, options.split(",")):
        key, _, text = word.partition("=")
        if key == "log" and text:
            log = text
        elif key == "from" and text:
            folder = text
        else:
            budget = parse_budget(word, bot.name)
    solution = Solution.load(folder or bot.stored_solution(), in_memory=True)
    game = solution.game
    if not isinstance(game, BucketDescription) or game.last_round is None:
        raise StorageError(
            f"{folder} holds a whole strategy, not the first phase of one; play it as "
            f"solution:{folder}",
            value=folder,
        )
    report = _Log(Path(log)) if log else lambda decision: None
    return TwoPhasePlayer(BucketStrategy.of(solution), rules, bot.name, budget, report)


class _Log:
    """Writer of decisions as lines of a file."""

    def __init__(self, path: Path) -> None:
        if not path.parent.is_dir():
            raise StorageError(f"{path.parent} is no folder: cannot write {path}", value=str(path))
        self._path = path
        path.write_text("", encoding="utf-8")

    def __call__(self, decision: SolvedDecision) -> None:
        with self._path.open("a", encoding="utf-8") as file:
            print(decision, file=file)


def _round_name(rules: GameRules, r: int) -> str:
    """Return the usual name of a round."""
    dealt = sum(rules.num_board_cards[: r + 1])
    return {0: "preflop", 3: "flop", 4: "turn", 5: "river"}.get(dealt, f"round {r + 1}")


def _opening(tree: BettingTree, betting: Betting, r: int) -> int:
    """Return the node of a tree where a round starts, given the betting of earlier rounds."""
    node = find_node(tree, replace(betting, history=(*betting.history[:r], ())))
    assert node is not None
    return node

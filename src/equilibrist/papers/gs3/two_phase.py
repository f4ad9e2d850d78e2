"""GS2's way to play: a strategy from the book first, then what is left of the hand solved at once.

The first phase is a solution of a truncated game of buckets (`models/endings.py`); all but its
last round is played from it. When that round opens, Bayes' rule says from the same solution how
likely either player holds each hand, if both played it, and the rest of the hand is solved on the
board at the table with exact hands (`models/subgame.py`) while the others wait. Every decision has
its seconds, and goes on from what earlier ones of the round have found.

The river is solved once more by itself, from the beliefs that the solution of the turn leads to: a
river alone takes a hundredth of the time of a turn with all its rivers, so a decision there gets a
hundred times the iterations, by the clock or where their number is given.

A hand whose weight is zero gets a small one, so that whoever did the unlikely still knows how to go
on; where a player can have no hand at all, any is believed, and the log says so. A raise beyond the
caps is called and forgotten, as by other strategies, but the pot of a subgame is the one that is on
the table.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from equilibrist.bots.registry import solution_of
from equilibrist.cards.card import cards_name
from equilibrist.cards.numbers import parse_whole
from equilibrist.errors import InvalidValueError, ParseError, StorageError
from equilibrist.games.action import CALL, Action
from equilibrist.games.betting import Betting
from equilibrist.games.betting_tree import BettingTree
from equilibrist.games.rules import GameRules
from equilibrist.models.game import Floats
from equilibrist.models.subgame import subgame
from equilibrist.players.bucket_strategy import BucketStrategy
from equilibrist.players.player import Mixture, Player, View
from equilibrist.players.strategy_player import StrategyPlayer
from equilibrist.players.translation import find_node, real_action
from equilibrist.solving.realtime import ENOUGH, Budget, TableSolution, warm_up
from equilibrist.strategies.description import BucketDescription
from equilibrist.strategies.seat_tables import hand_numbers
from equilibrist.strategies.solution import Solution

_MOST_ITERATIONS = 10**9  # of a decision
_LEAST = 1e-4  # weight of a hand that is never held, as a share of the largest
_RIVERS = 100  # iterations of a river alone that take as long as one of a turn with all its rivers


@dataclass(frozen=True)
class Decision:
    """What the log says of a decision in the second phase.

    Example:
        >>> print(Decision(3, "turn AsKs7h2d", 40, 31, 1.004, True))
        hand 3, turn AsKs7h2d, pot 40: 31 iterations in 1.00 s, out of time
    """

    hand: int  # its number in the match
    place: str  # round and board
    pot: int  # chips when the round began
    iterations: int  # of the subgame, all decisions so far
    seconds: float  # that this decision took
    is_late: bool  # the time was over before the iterations were
    exploitability: float | None = None  # within the subgame, in chips; not known where it is large
    note: str = ""

    def __str__(self) -> str:
        words = [f"{self.iterations} iterations in {self.seconds:.2f} s"]
        if self.exploitability is not None:
            words.append(f"exploitable for {self.exploitability:.3g} chips")
        words += ["out of time"] * self.is_late + [self.note] * bool(self.note)
        return f"hand {self.hand}, {self.place}, pot {self.pot}: {', '.join(words)}"


class TwoPhasePlayer(Player):
    """Plays a bucket strategy of the first rounds, and solves the others at the table."""

    def __init__(
        self,
        strategy: BucketStrategy,
        rules: GameRules,
        name: str,
        budget: Budget | None = None,
        tell: Callable[[Decision], None] = lambda decision: None,
    ) -> None:
        """`tell` hears of every decision of the second phase."""
        if not rules.is_limit:
            raise InvalidValueError(f"{name} plays limit games, not {rules.name}", value=rules.name)
        self._first = StrategyPlayer(strategy, rules, name)
        self.name, self.tell = name, tell
        self._strategy, self._budget = strategy, budget or Budget()
        self._begin = strategy.tree.last_round  # round that opens the second phase
        self.reset(0)

    def reset(self, seed: int) -> None:
        """Draw from a seed, and forget what was solved."""
        self._first.reset(seed)
        self._random = random.Random(seed)
        self._answer: tuple[str, Mixture] | None = None  # the latest, and its view
        self._solved: dict[int, tuple[object, TableSolution, str]] = {}  # by round

    def act(self, view: View) -> Action:
        """An action of the strategy by lot; a call of a raise that it does not know."""
        if view.betting.round < self._begin:
            return self._first.act(view)
        actions, chances = zip(*self.mixture(view), strict=True)
        return self._random.choices(actions, chances)[0]

    def mixture(self, view: View) -> Mixture:
        """The chances of the first phase, or of the subgame as far as it gets solved.

        Asked for the same decision again it has the same answer, and takes no time.
        """
        if view.betting.round < self._begin:
            return self._first.mixture(view)
        if self._answer is None or self._answer[0] != str(view):
            self._answer = str(view), self._decide(view)
        return self._answer[1]

    def _decide(self, view: View) -> Mixture:
        """The chances of a subgame that is solved until the budget is spent."""
        r = view.betting.round
        warm_up()
        start = time.perf_counter()
        solved, note = self._solution(view, r, start)
        node = find_node(solved.subgame.betting, view.betting)
        if node is None:
            return ((CALL, 1.0),)
        is_late = solved.improve(self._budget_of(r), start)
        hand = int(hand_numbers(np.array([view.hole], np.uint8))[0])
        chances = solved.chances(view.player, node, 0, hand)
        tree = solved.subgame.betting
        self.tell(
            Decision(
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
            (real_action(tree, child, view.betting), chance)
            for child, chance in zip(tree.children(node), chances.tolist(), strict=True)
            if chance
        )

    def _budget_of(self, r: int) -> Budget:
        """As much work in every round: the number of iterations given is of the first."""
        given = self._budget.iterations
        if r > self._begin:
            given = max(given, min(ENOUGH, given * _RIVERS))
        return replace(self._budget, iterations=given)

    def _solution(self, view: View, r: int, start: float) -> tuple[TableSolution, str]:
        """The subgame of round `r` of a hand, begun or known, and what is to be said of it."""
        board = view.board[: sum(view.rules.num_board_cards[: r + 1])]
        key = board, view.betting.history[:r]
        if r not in self._solved or self._solved[r][0] != key:
            ranges, note = self._ranges(view, r, start)
            self._solved.pop(r, None)  # its memory is needed
            menu, pot = self._strategy.tree.menu, _pot(view.betting, r)
            found = subgame(view.rules, board, (ranges[0], ranges[1]), menu, pot=pot)
            self._solved[r] = key, TableSolution(found), note
        _, solved, note = self._solved[r]
        return solved, note

    def _ranges(self, view: View, r: int, start: float) -> tuple[list[Floats], str]:
        """Weights of both players' hands [H] when a round opens, and what is to be said of them."""
        if r == self._begin:
            node = _opening(self._strategy.tree, view.betting, r)
            found = [self._strategy.reach(node, player, view.board) for player in (0, 1)]
            notes = []
        else:
            solved, note = self._solution(view, r - 1, start)
            if not solved.iterations:  # nobody has asked in that round
                solved.improve(self._budget_of(r - 1), start)
            tree = solved.subgame.betting
            node = int(tree.parent[_opening(tree, view.betting, r)])
            found = [solved.reach(player, node) for player in (0, 1)]
            notes = [note] * bool(note)
        for player, weight in enumerate(found):
            if not weight.any():
                weight[:] = 1
                notes.append(f"player {player} can have no hand, so any is believed")
            np.maximum(weight, _LEAST * weight.max(), out=weight)
        return found, ", ".join(notes)


def make_two_phase_player(rules: GameRules, bot: str, options: str) -> TwoPhasePlayer:
    """The player of `SECONDS`, `iterations=N`, `log=FILE` and `from=DIR`, with commas."""
    budget, folder, log = Budget(), "", ""
    for word in filter(None, options.split(",")):
        key, _, text = word.partition("=")
        if key == "log" and text:
            log = text
        elif key == "from" and text:
            folder = text
        elif key == "iterations" and (number := parse_whole(text, _MOST_ITERATIONS)):
            budget = Budget(None, number)
        else:
            budget = Budget(_seconds(text if key == "seconds" else word, bot))
    solution = Solution.load(folder or solution_of(bot), in_memory=True)
    game = solution.game
    if not isinstance(game, BucketDescription) or game.last_round is None:
        raise StorageError(
            f"{folder} holds a whole strategy, not the first phase of one; play it as "
            f"solution:{folder}",
            value=folder,
        )
    tell = _Log(Path(log)) if log else lambda decision: None
    return TwoPhasePlayer(BucketStrategy.of(solution), rules, bot, budget, tell)


class _Log:
    """Decisions as lines of a file."""

    def __init__(self, path: Path) -> None:
        if not path.parent.is_dir():
            raise StorageError(f"{path.parent} is no folder: cannot write {path}", value=str(path))
        self._path = path
        path.write_text("", encoding="utf-8")

    def __call__(self, decision: Decision) -> None:
        with self._path.open("a", encoding="utf-8") as file:
            print(decision, file=file)


def _seconds(text: str, bot: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 < seconds < float("inf"):
        raise ParseError(
            f"{text[:40]!r} is no time for {bot}; write seconds a decision, such as {bot}:0.5, or "
            f"{bot}:iterations=100",
            value=text,
        )
    return seconds


def _round_name(rules: GameRules, r: int) -> str:
    """What players call a round."""
    dealt = sum(rules.num_board_cards[: r + 1])
    return {0: "preflop", 3: "flop", 4: "turn", 5: "river"}.get(dealt, f"round {r + 1}")


def _opening(tree: BettingTree, betting: Betting, r: int) -> int:
    """The node of a tree where a round opens, by the betting of the rounds before it."""
    node = find_node(tree, replace(betting, history=(*betting.history[:r], ())))
    assert node is not None
    return node


def _pot(betting: Betting, r: int) -> int:
    """Chips in the pot when a round opened."""
    now = Betting.start(betting.rules)
    for actions in betting.history[:r]:
        for action in actions:
            now = now.apply(action)
    return now.pot

"""Strategies that sit down: a solution plays its own game, or one that allows more raises.

A raise beyond the strategy's cap is called, and the hand goes on as if the raiser had called
instead (BigBot2298's rule, from "A New Algorithm for Generating Equilibria in Massive Zero-Sum
Games", Zinkevich, Bowling and Burch 2007): the strategy itself never makes such a raise. No-limit
raises of sizes that the strategy does not have are read as ones that it has (`translation`).

What plays is anything that knows the chances of the actions at a node of its betting tree,
`TreeStrategy`; exact solutions are one kind.
"""

from __future__ import annotations

import functools
import random
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from equilibrist.cards.card import Cards, cards_name
from equilibrist.cards.hand import hand_index
from equilibrist.errors import InvalidValueError, ParseError
from equilibrist.games.action import CALL, Action
from equilibrist.games.betting import Betting
from equilibrist.games.betting_tree import BettingTree
from equilibrist.games.rules import GameRules
from equilibrist.kernels.reference.sequence_form import block
from equilibrist.models.treeplex import player_rows
from equilibrist.players.player import Mixture, Player, View
from equilibrist.players.translation import (
    ReadRaise,
    find_node,
    nearest_raise,
    read_raise,
    real_action,
)
from equilibrist.storage.artefact import read_identity
from equilibrist.strategies import quantized
from equilibrist.strategies.behaviour_table import find_board
from equilibrist.strategies.description import GameDescription
from equilibrist.strategies.seat_tables import CardColumns, Seat
from equilibrist.strategies.solution import Solution, game_of

Floats = NDArray[np.float64]


class TreeStrategy(Protocol):
    """Whatever says how often to take each action at a node of a betting tree."""

    tree: BettingTree

    def chances(self, node: int, view: View) -> Floats:
        """Chance of each child of a decision node, [A], for the cards of a view."""
        ...

    def seat(self, player: int) -> Seat | None:
        """The strategy of one seat as a table, if it is one."""
        return None


class ExactStrategy(TreeStrategy):
    """A solution of an exact game; uniform where its plans never go."""

    def __init__(self, solution: Solution) -> None:
        self._game = game_of(solution)
        tree, states = self._game.betting, self._game.states
        if tree is None or states is None:
            raise InvalidValueError(
                f"{self._game.name} has no cards, so nobody can play it", value=self._game.name
            )
        self.tree, self._states = tree, states
        self._behaviour = [
            self._game.behaviour(player, np.asarray(plan, np.float64))
            for player, plan in enumerate(solution.plans)
        ]
        self._decision = [player_rows(tree, player).decision for player in (0, 1)]
        self._board = functools.lru_cache(maxsize=4096)(self._find_board)

    def chances(self, node: int, view: View) -> Floats:
        """Chance of each child of a decision node, [A]."""
        player, r = int(self.tree.player[node]), int(self.tree.round[node])
        board, original = self._board(r, view.board)
        cards = original[list(view.hole)].tolist()
        hand = hand_index(*cards) if len(cards) == 2 else cards[0]
        state = int(self._states.state_of_hand[r][board, hand])
        treeplex, decision = self._game.trees[player], int(self._decision[player][node])
        first, size = treeplex.decision_first[decision], treeplex.decision_size[decision]
        place = int(treeplex.board_start[r]) + board
        own = block(treeplex, r, place, self._behaviour[player])
        return own[first : first + size, state].astype(np.float64)

    def seat(self, player: int) -> Seat | None:
        """The strategy of one seat as a table, unless the cards of boards are too many."""
        columns = self._columns
        if columns is None:
            return None
        return Seat(self._game.trees[player], self._behaviour[player], columns)

    @functools.cached_property
    def _columns(self) -> CardColumns | None:
        return CardColumns.of(self.tree.rules, self._states)

    def _find_board(self, r: int, board: Cards) -> tuple[int, NDArray[np.int64]]:
        """Number of a board in its round, and which stored card each card stands for: [52]."""
        found, _, renaming = find_board(self.tree.rules, self._states, r, cards_name(board))
        return found, np.argsort(renaming)


class StrategyPlayer(Player):
    """Plays a strategy; `threshold` drops rare actions, 1 leaves only the most frequent.

    Thresholding and purification: Ganzfried, Sandholm and Waugh 2012.
    """

    def __init__(
        self, strategy: TreeStrategy, rules: GameRules, name: str, threshold: float = 0.0
    ) -> None:
        _check_game(strategy.tree.rules, rules, name)
        if not 0 <= threshold <= 1:
            raise InvalidValueError(
                f"a threshold is a chance from 0 to 1, not {threshold}", value=threshold
            )
        self.strategy, self.name, self.threshold = strategy, name, threshold
        self._hand: int | None = None  # that is being played
        self._chosen: dict[int, int] = {}  # node gone to, by place in the hand
        self.reset(0)

    def act(self, view: View) -> Action:
        """An action of the strategy by lot; a call of a raise that it does not know."""
        children, chances = self._choices(view)
        if not children:
            return CALL
        child = children[0] if len(children) == 1 else self._random.choices(children, chances)[0]
        self._chosen[view.betting.num_actions] = child
        return real_action(self.strategy.tree, child, view.betting)

    def mixture(self, view: View) -> Mixture:
        """The strategy's chances, rare actions dropped."""
        children, chances = self._choices(view)
        if not children:
            return ((CALL, 1.0),)
        tree = self.strategy.tree
        return tuple(
            (real_action(tree, child, view.betting), chance)
            for child, chance in zip(children, chances, strict=True)
            if chance
        )

    def _choices(self, view: View) -> tuple[range, list[float]]:
        """Nodes that the strategy may go to, and their chances; none where it can only call."""
        if view.state.hand_number != self._hand:
            self._hand = view.state.hand_number
            self._chosen.clear()
        read = None if view.rules.is_limit else self._reader(view)
        tree = self.strategy.tree
        node = find_node(tree, view.betting, read)
        if node is None:
            return range(0), []
        chances = thresholded(self.strategy.chances(node, view), self.threshold)
        return tree.children(node), chances.tolist()

    def reset(self, seed: int) -> None:
        """Draw from a seed; there is nothing to forget but the hand being played."""
        self._random, self._seed = random.Random(seed), seed
        self._hand = None
        self._chosen.clear()

    def _reader(self, view: View) -> ReadRaise:
        """How raises of this hand are read: own ones as they were meant, others by lot.

        The lot of a raise belongs to the hand and its place there, so it is the same at every look.
        """
        hand, tree = view.state.hand_number, self.strategy.tree

        def read(node: int, before: Betting, action: Action, place: int) -> int | None:
            if before.actor != view.player:
                drawn = random.Random(f"{self._seed} {hand} {place}").random()
                return read_raise(tree, node, before, action, drawn)
            chosen = self._chosen.get(place)
            known = chosen is not None and chosen in tree.children(node)
            return chosen if known else nearest_raise(tree, node, before, action)

        return read


def thresholded(chances: Floats, threshold: float) -> Floats:
    """Chances without those below a threshold, or only the largest where all are; they sum to 1.

    Example:
        >>> thresholded(np.array([0.1, 0.3, 0.6]), 0.2).round(3).tolist()
        [0.0, 0.333, 0.667]
        >>> thresholded(np.array([0.1, 0.3, 0.6]), 1).tolist()
        [0.0, 0.0, 1.0]
    """
    kept = np.where(chances >= min(threshold, chances.max()), chances, 0)
    return kept / kept.sum()


def make_solution_player(
    rules: GameRules, options: str, called: str | None = None
) -> StrategyPlayer:
    """The player of `DIR`, `DIR,purify` or `DIR,threshold=0.15`, named so unless `called`."""
    folder, threshold = options, 0.0
    head, comma, last = options.rpartition(",")
    if comma and last == "purify":
        folder, threshold = head, 1.0
    elif comma and last.startswith("threshold="):
        folder = head
        try:
            threshold = float(last.removeprefix("threshold="))
        except ValueError:
            raise ParseError(
                f"{last!r} is no threshold; write a chance, such as threshold=0.15", value=last
            ) from None
    name = called or Path(folder).name + options[len(folder) :]
    return StrategyPlayer(_open(folder), rules, "".join(_in_name(c) for c in name), threshold)


def _open(folder: str) -> TreeStrategy:
    """What is stored in a folder, a solution or a strategy."""
    from equilibrist.players.bucket_strategy import BucketStrategy

    if read_identity(folder).kind == quantized.KIND:
        return BucketStrategy.of(quantized.CompactStrategy.open(folder))
    solution = Solution.load(folder, in_memory=True)
    if isinstance(solution.game, GameDescription):
        return ExactStrategy(solution)
    game = solution.game
    if game.first_round or (game.last_round is not None and game.ends is None):
        raise InvalidValueError(
            f"{folder} is {game.name}: a model of some rounds is a part of a strategy, and plays "
            "nothing by itself",
            value=folder,
        )
    if game.last_round is not None:
        raise InvalidValueError(
            f"{folder} is the first phase of a strategy that goes on at the table: play it as "
            f"gs2:from={folder}",
            value=folder,
        )
    return BucketStrategy.of(solution)


def _in_name(character: str) -> str:
    return character if character.isprintable() and character not in ":|" else "_"


def _check_game(own: GameRules, rules: GameRules, name: str) -> None:
    """Raise unless a strategy's game is the one played, but for lower caps."""
    caps, most = own.max_raises, rules.max_raises
    if len(caps) != len(most) or replace(own, name=rules.name, max_raises=most) != rules:
        raise InvalidValueError(
            f"{name} is a strategy for {own.name}, not for {rules.name}", value=name
        )
    if any(cap > allowed for cap, allowed in zip(caps, most, strict=True)):
        raise InvalidValueError(
            f"{name} is a strategy for raise caps {' '.join(map(str, caps))}, "
            f"above the {' '.join(map(str, most))} of {rules.name}",
            value=name,
        )

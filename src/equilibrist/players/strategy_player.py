"""Players that follow a strategy, in the strategy's own game or in one that allows more raises.

A raise beyond the strategy's cap is called, and the hand continues as if the raiser had called
instead (BigBot2298's rule, from "A New Algorithm for Generating Equilibria in Massive Zero-Sum
Games", Zinkevich, Bowling and Burch 2007): the strategy itself never makes such a raise. No-limit
raises of sizes that the strategy does not have are read as sizes that it has (`translation`).

A player follows any `TreeStrategy`, which returns the probabilities of the actions at a node of its
betting tree; exact solutions are one kind.
"""

from __future__ import annotations

import functools
import random
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from equilibrist.bots.bot import Bot
from equilibrist.bots.registry import BOTS
from equilibrist.cards.card import Cards, cards_name
from equilibrist.cards.hand import hand_table
from equilibrist.errors import InvalidValueError, ParseError
from equilibrist.games.action import CALL, Action
from equilibrist.games.betting import Betting
from equilibrist.games.betting_tree import BettingTree
from equilibrist.games.catalog import load_game
from equilibrist.games.rules import GameRules
from equilibrist.kernels.treeplex import block
from equilibrist.models.treeplex import player_rows
from equilibrist.players.player import Mixture, Player, View
from equilibrist.players.translation import (
    ReadRaise,
    find_node,
    nearest_raise,
    read_raise,
    real_action,
)
from equilibrist.solving import split_run
from equilibrist.solving.split_run import SplitRun
from equilibrist.storage.artefact import read_identity
from equilibrist.strategies import quantized
from equilibrist.strategies.behaviour_table import find_board
from equilibrist.strategies.description import GameDescription
from equilibrist.strategies.played import RealStrategy
from equilibrist.strategies.seat_tables import CardColumns, StrategySeat, hand_numbers
from equilibrist.strategies.solution import Solution, game_of

Floats = NDArray[np.float64]


class TreeStrategy(Protocol):
    """A strategy that returns the probability of each action at a node of a betting tree."""

    tree: BettingTree

    def probabilities(self, node: int, view: View) -> Floats:
        """Return the probability of each child of a decision node, [A], for a view's cards."""
        ...

    def of_hands(self, node: int, view: View, hands: NDArray[np.int64]) -> Floats:
        """Return the probability of each child of a decision node with each of N hands: [A, N].

        `hands` are numbers in the usual order; they share no card with the view's board.
        """
        table = hand_table() if len(view.hole) == 2 else np.arange(52, dtype=np.uint8)[:, None]
        cards = [tuple(hole) for hole in table[hands].tolist()]
        return np.stack([self.probabilities(node, view.holding(hole)) for hole in cards], axis=1)

    def seat(self, player: int) -> StrategySeat | None:
        """Return the strategy of one seat as a table, or None if it has none."""
        return None


class ExactStrategy(TreeStrategy):
    """Strategy of a solved exact game; uniform where the plans never go."""

    def __init__(self, solution: Solution) -> None:
        self._game = game_of(solution)
        tree, states = self._game.betting, self._game.states
        if tree is None or states is None:
            raise InvalidValueError(
                f"{self._game.name} has no cards, so no player can play it", value=self._game.name
            )
        self.tree, self._states = tree, states
        self._behaviour = [
            self._game.behaviour(player, np.asarray(plan, np.float64))
            for player, plan in enumerate(solution.plans)
        ]
        self._decision = [player_rows(tree, player).decision for player in (0, 1)]
        self._board = functools.lru_cache(maxsize=4096)(self._find_board)

    def probabilities(self, node: int, view: View) -> Floats:
        """Return the probability of each child of a decision node: [A]."""
        hand = hand_numbers(np.array([view.hole], np.int64))
        return self.of_hands(node, view, hand)[:, 0]

    def of_hands(self, node: int, view: View, hands: NDArray[np.int64]) -> Floats:
        """Return the probability of each child of a decision node with each of N hands: [A, N]."""
        player, r = int(self.tree.player[node]), int(self.tree.round[node])
        number, original = self._board(r, view.board)
        same = hand_numbers(original[self._states.hands[hands].astype(np.int64)])
        state = self._states.state_of_hand[r][number, same]
        treeplex, decision = self._game.trees[player], int(self._decision[player][node])
        first, size = treeplex.decision_first[decision], treeplex.decision_size[decision]
        place = int(treeplex.board_start[r]) + number
        own = block(treeplex, r, place, self._behaviour[player])
        return own[first : first + size, state].astype(np.float64)

    def seat(self, player: int) -> StrategySeat | None:
        """Return the strategy of one seat as a table, or None if there are too many boards."""
        columns = self._columns
        if columns is None:
            return None
        return StrategySeat(self._game.trees[player], self._behaviour[player], columns)

    @functools.cached_property
    def _columns(self) -> CardColumns | None:
        return CardColumns.of(self.tree.rules, self._states)

    def _find_board(self, r: int, board: Cards) -> tuple[int, NDArray[np.int64]]:
        """Return a board's number in its round, and the stored card for each card: [52]."""
        found, _, renaming = find_board(self.tree.rules, self._states, r, cards_name(board))
        return found, np.argsort(renaming)


class RealTree(TreeStrategy):
    """Strategy that answers for all hands of a board of the real game (`strategies.played`)."""

    def __init__(self, strategy: RealStrategy) -> None:
        self.tree, self._strategy = strategy.tree, strategy

    def probabilities(self, node: int, view: View) -> Floats:
        """Return the probability of each child of a decision node: [A]."""
        hand = hand_numbers(np.array([view.hole], np.int64))
        return self.of_hands(node, view, hand)[:, 0]

    def of_hands(self, node: int, view: View, hands: NDArray[np.int64]) -> Floats:
        """Return the probability of each child of a decision node with each of N hands: [A, N]."""
        return self._strategy.probabilities(node, view.board)[:, hands]


class StrategyPlayer(Player):
    """A player that follows a strategy; `threshold` drops rare actions, 1 leaves one.

    Thresholding and purification: Ganzfried, Sandholm and Waugh 2012.
    """

    def __init__(
        self, strategy: TreeStrategy, rules: GameRules, name: str, threshold: float = 0.0
    ) -> None:
        check_game(strategy.tree.rules, rules, name)
        if not 0 <= threshold <= 1:
            raise InvalidValueError(
                f"a threshold is a probability from 0 to 1, not {threshold}", value=threshold
            )
        self.strategy, self.name, self.threshold = strategy, name, threshold
        self._rules = rules
        self._hand: int | None = None  # number of the current hand
        self._chosen: dict[int, int] = {}  # chosen node, by place in the hand
        self.reset(0)

    def twin(self) -> StrategyPlayer:
        """Return another player of the same strategy, which is loaded once for both."""
        return StrategyPlayer(self.strategy, self._rules, self.name, self.threshold)

    def act(self, view: View) -> Action:
        """Draw an action of the strategy; call a raise that it does not know."""
        children, probabilities = self._choices(view)
        if not children:
            return CALL
        child = (
            children[0] if len(children) == 1 else self._random.choices(children, probabilities)[0]
        )
        self._chosen[view.betting.num_actions] = child
        return real_action(self.strategy.tree, child, view.betting)

    def mixture(self, view: View) -> Mixture:
        """Return the strategy's action probabilities, without the dropped rare actions."""
        children, probabilities = self._choices(view)
        if not children:
            return ((CALL, 1.0),)
        tree = self.strategy.tree
        return tuple(
            (real_action(tree, child, view.betting), probability)
            for child, probability in zip(children, probabilities, strict=True)
            if probability
        )

    def shares(self, view: View, action: Action, hands: NDArray[np.int64]) -> Floats:
        """Return the probability of an action with each of N hands that a view might have: [N].

        The view is of a limit game, in which reading a hand draws no random numbers.
        """
        tree = self.strategy.tree
        node = find_node(tree, view.betting, None)
        if node is None:
            return np.full(len(hands), float(action == CALL))
        found = self.strategy.of_hands(node, view, hands)
        kept = np.where(found >= np.minimum(self.threshold, found.max(axis=0)), found, 0)
        children = tree.children(node)
        same = [real_action(tree, child, view.betting) == action for child in children]
        shares: Floats = (kept / kept.sum(axis=0))[same].sum(axis=0)
        return shares

    def _choices(self, view: View) -> tuple[range, list[float]]:
        """Return the children of the current node and their probabilities.

        Both are empty where the strategy can only call.
        """
        tree, node = self.strategy.tree, self._find(view, view.betting)
        if node is None:
            return range(0), []
        probabilities = thresholded(self.strategy.probabilities(node, view), self.threshold)
        return tree.children(node), probabilities.tolist()

    def opening(self, view: View, r: int) -> int | None:
        """Return the node of the strategy's tree where a round of a hand opened.

        None if the strategy can only call there, or if nobody acts in the round.
        """
        return self._find(view, replace(view.betting, history=(*view.betting.history[:r], ())))

    def _find(self, view: View, betting: Betting) -> int | None:
        """Return the node of the strategy's tree at some betting of a hand, as it reads it."""
        if view.state.hand_number != self._hand:
            self._hand = view.state.hand_number
            self._chosen.clear()
        read = None if view.rules.is_limit else self._reader(view)
        return find_node(self.strategy.tree, betting, read)

    def reset(self, seed: int) -> None:
        """Forget the current hand and restart the random generator with a seed."""
        self._random, self._seed = random.Random(seed), seed
        self._hand = None
        self._chosen.clear()

    def _reader(self, view: View) -> ReadRaise:
        """Return the reader of this hand's raises: own raises as chosen, others by a random draw.

        The draw depends on the seed, the hand and the raise's place in it, so that a raise is read
        the same way at every decision.
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


def thresholded(probabilities: Floats, threshold: float) -> Floats:
    """Return probabilities that sum to 1, without those below a threshold.

    If all are below the threshold, only the largest remains.

    Example:
        >>> thresholded(np.array([0.1, 0.3, 0.6]), 0.2).round(3).tolist()
        [0.0, 0.333, 0.667]
        >>> thresholded(np.array([0.1, 0.3, 0.6]), 1).tolist()
        [0.0, 0.0, 1.0]
    """
    kept = np.where(probabilities >= min(threshold, probabilities.max()), probabilities, 0)
    return kept / kept.sum()


def make_solution_player(
    rules: GameRules, options: str, called: str | None = None
) -> StrategyPlayer:
    """Make the player of `DIR`, `DIR,purify` or `DIR,threshold=0.15`; `called` is its name."""
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
                f"{last!r} is not a threshold; write a probability, such as threshold=0.15",
                value=last,
            ) from None
    name = called or Path(folder).name + options[len(folder) :]
    return StrategyPlayer(
        open_tree_strategy(folder), rules, "".join(_in_name(c) for c in name), threshold
    )


def make_bot_player(bot: Bot, rules: GameRules, options: str) -> StrategyPlayer:
    """Make the player of a trained bot's strategy; `options` is empty."""
    return make_solution_player(rules, str(bot.stored_strategy()), bot.name)


def open_tree_strategy(folder: str) -> TreeStrategy:
    """Open the solution or strategy that is stored in a folder."""
    from equilibrist.players.bucket_strategy import BucketStrategy

    kind = read_identity(folder).kind
    if kind == split_run.KIND:
        return RealTree(SplitRun.open(Path(folder)).strategy())
    if kind == quantized.KIND:
        return BucketStrategy.of(quantized.CompactStrategy.open(folder))
    solution = Solution.load(folder, in_memory=True)
    if isinstance(solution.game, GameDescription):
        return ExactStrategy(solution)
    game = solution.game
    if game.first_round or (game.last_round is not None and game.ends is None):
        raise InvalidValueError(
            f"{folder} is {game.name}: a model of some rounds is only a part of a strategy and "
            "cannot play by itself",
            value=folder,
        )
    if game.last_round is not None:
        raise InvalidValueError(
            f"{folder} is the first phase of a strategy that solves the rest during play: play it "
            f"as gs2:from={folder}",
            value=folder,
        )
    return BucketStrategy.of(solution)


def _in_name(character: str) -> str:
    return character if character.isprintable() and character not in ":|" else "_"


def check_game(own: GameRules, rules: GameRules, name: str) -> None:
    """Raise InvalidValueError unless a strategy fits a game; its raise caps may be lower."""
    caps, most = own.max_raises, rules.max_raises
    if own.stacks != rules.stacks and _differ_by_stacks(own, rules):
        raise InvalidValueError(
            f"{name} is a strategy for stacks of {_blinds(own)}, not for the {_blinds(rules)} of "
            f"{rules.name}; the bot for the nearest stacks is {_nearest_bot(rules)}",
            value=name,
        )
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


def _differ_by_stacks(own: GameRules, rules: GameRules) -> bool:
    """Return whether rules are the same apart from names, stacks and raise caps."""
    if own.is_limit or own.num_rounds != rules.num_rounds or own.num_players != rules.num_players:
        return False
    return replace(own, name=rules.name, stacks=rules.stacks, max_raises=rules.max_raises) == rules


def _blinds(rules: GameRules) -> str:
    return f"{min(rules.stack_chips) / rules.big_blind:g} big blinds"


def _nearest_bot(rules: GameRules) -> str:
    """Return the no-limit bot of these rules with the nearest stacks, and its stacks."""
    games = {bot.name: load_game(bot.game) for bot in BOTS.values() if bot.strategies}
    known = {name: own for name, own in games.items() if _differ_by_stacks(own, rules)}
    if not known:
        return "not in the catalogue"
    stack = min(rules.stack_chips)
    name = min(known, key=lambda name: abs(min(known[name].stack_chips) - stack))
    return f"{name}, {_blinds(known[name])}"

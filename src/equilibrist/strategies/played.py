"""Strategies in the real game: probabilities of every hand at every node, on every board.

The real game has all its cards and all its raises. A strategy that was computed in a smaller game
is played there by its own rules: a hand plays like its bucket, and a raise beyond its caps is
called and forgotten (`strategies.raise_cap_rule`). Whatever it was computed from, it has
`probabilities(node, board)`, and a best response needs nothing else.

Strategies that are tables also have a *bulk form* (`BulkStrategy`), for programs that need many
nodes or boards at once: `columns_of(r, board)` maps hands to columns, `table(player, r)` is the
behaviour of a round by row and column.

A best response is fast if the strategy does not distinguish much of the betting. `RealSeat`
describes this for strategies whose columns do not depend on boards: for each node, where the
strategy *believes* it is, and its probability of arriving there as a row by column, times a scale
that does not depend on the cards.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from equilibrist.cards.card import Cards, cards_name
from equilibrist.cards.hand import NUM_HANDS
from equilibrist.errors import InvalidValueError
from equilibrist.games.betting_tree import BettingTree
from equilibrist.kernels.array_structs import Treeplex
from equilibrist.kernels.cpu.sequence_form import realize
from equilibrist.kernels.treeplex import block, boards
from equilibrist.models.game import Floats, SequenceGame
from equilibrist.models.treeplex import player_rows
from equilibrist.strategies.behaviour_table import find_board
from equilibrist.strategies.composition import GluedBuckets
from equilibrist.strategies.raise_cap_rule import follow
from equilibrist.strategies.seat_tables import HandBuckets, hand_numbers

Mix = tuple[float, float, float]  # probabilities of fold, call and raise


def mixed_probabilities(betting: BettingTree, node: int, mix: Mix | None) -> Floats:
    """Return the probability of each action of a decision in a fixed mix: [A]; None: all equal."""
    children = betting.children(node)
    if mix is None:
        return np.full(len(children), 1 / max(1, len(children)))
    kinds = betting.action_kind[children.start : children.stop]
    probabilities = np.zeros(len(kinds))
    for letter, share in zip("fcr", mix, strict=True):
        same = kinds == ord(letter)
        probabilities[same if same.any() else kinds == ord("c")] += share / max(1, same.sum())
    return probabilities


class RealStrategy(Protocol):
    """Both seats of a strategy in the real game."""

    @property
    def tree(self) -> BettingTree:
        """Betting of the real game."""

    def probabilities(self, node: int, board: Cards) -> Floats:
        """Return the probability of each action of a decision, with each hand: [A, H].

        H counts all hands of 52 cards; results for hands that cannot be held are meaningless.
        """


class BulkStrategy(RealStrategy, Protocol):
    """A strategy that is a table, in its bulk form.

    With its own betting tree `known`, and `row = player_rows(known, player).row`, the probability
    that a hand takes the action to the child `v` of one of the player's decisions in round `r` is

        table(player, r)[row[v], columns_of(r, board)[hand]]

    Rounds count from 0 in the game, also if the strategy has only later ones.
    """

    @property
    def known(self) -> BettingTree:
        """Betting that the strategy distinguishes; it calls raises beyond it."""

    def columns_of(self, r: int, board: Cards) -> NDArray[np.int64]:
        """Return the column of each hand on a board of round `r`: [H], −1 if it is blocked."""

    def table(self, player: int, r: int) -> Floats:
        """Return the behaviour of a player in round `r`: [Q, K] rows of actions × columns.

        A row that opens the round is 1.
        """


class HandColumns(Protocol):
    """Places of hands in the blocks of a treeplex."""

    def locate(self, r: int, board: Cards) -> tuple[int, NDArray[np.int64]]:
        """Return the block of a board of round `r` and the columns of hands: [H], −1 if blocked."""


@dataclass(frozen=True, eq=False)
class RealSeat:
    """One seat's strategy as the responder sees it; V nodes of the real betting."""

    tree: BettingTree
    player: int
    belief: NDArray[np.int64]  # [V] betting that the strategy does not distinguish has one number
    row: NDArray[np.int64]  # [V] in `rows` of the round: probability of arriving; −1 if it is 0
    first_row: NDArray[np.int64]  # [V] row of the first round that multiplies it; −1 if none
    scale: Floats  # [V] probability since the round opened that is the same for all columns
    rows: Sequence[Floats]  # [Q, K] of each round


@dataclass(frozen=True, eq=False)
class FixedMix:
    """Strategy that folds, calls and raises with fixed probabilities, whatever it holds.

    Without a mix, all actions of a decision are equally likely.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> mix = FixedMix(BettingTree.build(get_game("holdem-limit")), (0.1, 0.6, 0.3))
        >>> mix.probabilities(0, ())[:, 0].tolist()
        [0.1, 0.6, 0.3]
    """

    tree: BettingTree
    mix: Mix | None

    def probabilities(self, node: int, board: Cards) -> Floats:
        """Return the same probabilities for every hand: [A, H]."""
        return np.repeat(
            mixed_probabilities(self.tree, node, self.mix)[:, None], self._num_hands, axis=1
        )

    def seat(self, player: int) -> RealSeat:
        """Return a seat with one column that does not distinguish betting within a round."""
        tree = self.tree
        scale = np.ones(len(tree))
        for node in range(len(tree)):
            children = tree.children(node)
            if tree.round[node] == tree.round[children.start if children else node]:
                own = tree.player[node] == player and len(children) > 0
                probabilities = mixed_probabilities(tree, node, self.mix) if own else 1.0
                scale[children.start : children.stop] = scale[node] * probabilities
        nodes = np.zeros(len(tree), np.int64)
        row = np.where(_never_alive(tree, scale), -1, 0)
        rows = [np.ones((1, 1))] * tree.rules.num_rounds
        return RealSeat(tree, player, nodes, row, nodes - 1, scale, rows)

    @property
    def known(self) -> BettingTree:
        """All betting of the game."""
        return self.tree

    def columns_of(self, r: int, board: Cards) -> NDArray[np.int64]:
        """Return column 0 for every hand: [H]."""
        return np.zeros(self._num_hands, np.int64)

    def table(self, player: int, r: int) -> Floats:
        """Return the probabilities of a round as one column: [Q, 1]."""
        rows = player_rows(self.tree, player)
        found = np.ones((int(rows.num_sequences[r]), 1))
        for node in np.flatnonzero((rows.decision >= 0) & (self.tree.round == r)).tolist():
            own = mixed_probabilities(self.tree, node, self.mix)
            found[rows.row[list(self.tree.children(node))], 0] = own
        return found

    @property
    def _num_hands(self) -> int:
        return NUM_HANDS if self.tree.rules.num_hole_cards == 2 else 52


def _never_alive(tree: BettingTree, scale: Floats) -> NDArray[np.bool_]:
    """Return whether some probability on the way to each node is zero: [V]."""
    dead = scale == 0
    for node in range(1, len(tree)):
        dead[node] |= dead[tree.parent[node]]
    return dead


@dataclass(frozen=True, eq=False)
class TableStrategy:
    """Probabilities by column, from a game of buckets or exact hands, with its own raise caps."""

    tree: BettingTree
    known: BettingTree  # the betting that the strategy was computed for
    trees: tuple[Treeplex, Treeplex]  # treeplexes of that betting
    behaviour: tuple[Floats, Floats]  # [L] each, in units of 1 / `sure`
    columns: HandColumns
    sure: float = 1.0  # the number that stands for a probability of 1

    @staticmethod
    def of_game(game: SequenceGame, plans: tuple[Floats, Floats]) -> TableStrategy:
        """Build the table of the plans of an exact game.

        Example:
            >>> from equilibrist.games.catalog import get_game
            >>> from equilibrist.models.exact import exact_game
            >>> game = exact_game(get_game("kuhn"))
            >>> plans = tuple(game.realize(player, game.uniform(player)) for player in (0, 1))
            >>> TableStrategy.of_game(game, plans).probabilities(0, ())[:, -1].tolist()
            [0.5, 0.5]
        """
        assert game.betting is not None
        behaviour = game.behaviour(0, plans[0]), game.behaviour(1, plans[1])
        return TableStrategy(game.betting, game.betting, game.trees, behaviour, StateColumns(game))

    def probabilities(self, node: int, board: Cards) -> Floats:
        """Return the strategy's behaviour at the node where it believes it is: [A, H]."""
        player, r = int(self.tree.player[node]), int(self.tree.round[node]) - self.tree.first_round
        place = self._places[player][node]
        number, column = self.columns.locate(r, board)
        own = block(self.trees[player], r, number, self.behaviour[player])
        children = self.tree.children(node)
        out = np.zeros((len(children), len(column)))
        for probabilities, child in zip(out, children, strict=True):
            kind = chr(self.tree.action_kind[child])
            if place < 0:  # a raise beyond its caps, or a node where it never arrives
                probabilities[:] = kind == "c"
            elif (same := self.known.same_child(place, self.tree, child)) is not None:
                probabilities[:] = own[self._rows[player][same]][column]
        return out / np.float64(self.sure) if place >= 0 else out

    def columns_of(self, r: int, board: Cards) -> NDArray[np.int64]:
        """Return the column of each hand on a board of round `r`: [H], −1 if it is blocked."""
        r -= self.tree.first_round
        number, column = self.columns.locate(r, board)
        tree = self.trees[0]
        before = int(tree.num_states[int(tree.board_start[r]) : number].sum())
        return np.where(column >= 0, column + before, -1)

    def table(self, player: int, r: int) -> Floats:
        """Return the behaviour of a player in round `r`: [Q, K], the boards' columns in a row."""
        own, r = self.trees[player], r - self.tree.first_round
        found = [block(own, r, board, self.behaviour[player]) for board in boards(own, r)]
        return np.hstack(found) / np.float64(self.sure)

    @property
    def is_glued(self) -> bool:
        """Whether columns of the first round are independent of later ones."""
        return isinstance(self.columns, BucketColumns) and isinstance(
            self.columns.buckets, GluedBuckets
        )

    def seat(self, player: int) -> RealSeat:
        """Return one seat of a strategy of buckets: rows are those of its plan."""
        if not isinstance(self.columns, BucketColumns):
            raise InvalidValueError(
                f"{self.tree.rules.name} has exact hands here; compute best responses in its "
                "exact model",
                value=self.tree.rules.name,
            )
        own, is_glued = self.trees[player], self.is_glued
        behaviour, num_rounds = (
            self.behaviour[player] / np.float64(self.sure),
            len(own.num_sequences),
        )
        opening = self.table(player, 0)
        if is_glued:  # the opening's probabilities are a separate factor
            block(own, 0, 0, behaviour)[:] = 1
        plan = np.empty_like(behaviour)
        realize(own, behaviour, plan)
        rows = [block(own, r, r, plan) for r in range(num_rounds)]
        if is_glued:
            first = np.concatenate([opening.ravel(), np.ones(len(plan) - opening.size)])
            realize(own, first, plan := np.empty_like(plan))
            rows[0] = block(own, 0, 0, plan)
        place = np.array(self._places[player])
        row = np.where(place >= 0, self._rows[player][place], -1).astype(np.int64)
        for node in range(len(self.tree)):
            if row[node] >= 0 and not rows[self.tree.round[node]][row[node]].any():
                row[node] = -1
        first_row = np.full(len(self.tree), -1, np.int64)
        for node in range(1, len(self.tree)) if is_glued else ():
            above = int(self.tree.parent[node])
            if self.tree.round[node] > 0:
                opens = self.tree.round[above] == 0
                first_row[node] = row[above] if opens else first_row[above]
        ones = np.ones(len(self.tree))
        return RealSeat(self.tree, player, place, row, first_row, ones, rows)

    def place(self, player: int, node: int) -> int:
        """Return the node of `known` where a player believes it is; negative if there is none."""
        return self._places[player][node]

    @functools.cached_property
    def _places(self) -> list[list[int]]:
        """Node where each player believes it is, by player and node; negative if there is none."""
        return [[place for place, _ in follow(self.known, self.tree, p)] for p in (0, 1)]

    @functools.cached_property
    def _rows(self) -> list[NDArray[np.int32]]:
        return [player_rows(self.known, player).row for player in (0, 1)]


@dataclass(frozen=True, eq=False)
class BucketColumns:
    """Columns that are buckets: one block per round."""

    buckets: HandBuckets

    def locate(self, r: int, board: Cards) -> tuple[int, NDArray[np.int64]]:
        """Return the round and the bucket of every hand."""
        return r, self.buckets.buckets(board).astype(np.int64)


@dataclass(frozen=True, eq=False)
class StateColumns:
    """Columns that are the states of an exact game: one block per board."""

    game: SequenceGame

    def locate(self, r: int, board: Cards) -> tuple[int, NDArray[np.int64]]:
        """Return the block of the board that represents this one, and the state of every hand."""
        rules, states = self.game.rules, self.game.states
        assert rules is not None
        assert states is not None
        found, _, renaming = find_board(rules, states, r, cards_name(board))
        same = hand_numbers(np.argsort(renaming)[states.hands.astype(np.int64)])
        number = int(self.game.trees[0].board_start[r]) + found
        return number, states.state_of_hand[r][found][same].astype(np.int64)


class IdentifiedStrategy(NamedTuple):
    """Strategy with its name and an identity that no other strategy has."""

    name: str
    strategy: RealStrategy
    identity: str  # a hash of what is stored, or the mix and the rules
    checked: tuple[str, ...] = ()  # checks that the stored arrays passed

"""Strategies as the real game sees them: chances of every hand at every node, on every board.

The real game has all its cards and all its raises. A strategy that was computed in a smaller game
is played there by its own rules: a hand plays as its bucket, and a raise beyond its caps is called
and forgotten (`strategies.more_raises`). Whatever it was computed from, it answers
`probabilities(node, board)`, and a best response needs nothing else.

A best response is fast where much betting looks alike to the strategy. `Seat` tells so of those
whose columns know no boards: for each node where the strategy *believes* to be, and its chance of
getting there as a row by column, times a scale that no card changes.
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
from equilibrist.kernels.reference.sequence_form import block
from equilibrist.models.game import Floats, SequenceGame
from equilibrist.models.treeplex import player_rows
from equilibrist.strategies.behaviour_table import find_board
from equilibrist.strategies.composition import GluedBuckets
from equilibrist.strategies.raise_cap_rule import follow
from equilibrist.strategies.seat_tables import HandBuckets, hand_numbers

Mix = tuple[float, float, float]  # chances of fold, call and raise


def mixed_probabilities(betting: BettingTree, node: int, mix: Mix) -> Floats:
    """Return the probability of each action of a decision in a fixed mix: [A]."""
    children = betting.children(node)
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
        """The betting of the real game."""

    def probabilities(self, node: int, board: Cards) -> Floats:
        """Chance of each action of a decision, with each hand: [A, H].

        H counts all hands of 52 cards; what is said of hands that cannot be held means nothing.
        """


class Columns(Protocol):
    """Where hands lie in the blocks of a treeplex."""

    def locate(self, r: int, board: Cards) -> tuple[int, NDArray[np.int64]]:
        """Block of a board of round `r`, and the column there of each hand: [H], −1 if blocked."""


@dataclass(frozen=True, eq=False)
class Seat:
    """What one player's strategy is to whoever responds to it; V nodes of the real betting."""

    tree: BettingTree
    player: int
    belief: NDArray[np.int64]  # [V] betting that looks alike to the strategy has one number
    row: NDArray[
        np.int64
    ]  # [V] of `rows` of the round: chance to get there; −1 where it never does
    first_row: NDArray[np.int64]  # [V] row of the first round that multiplies it; −1 for none
    scale: Floats  # [V] chance since the round opened that is the same for all columns
    rows: Sequence[Floats]  # [Q, K] of each round
    columns: Columns


@dataclass(frozen=True, eq=False)
class FixedMix:
    """Folds, calls and raises with fixed chances, whatever it holds.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> mix = FixedMix(BettingTree.build(get_game("holdem-limit")), (0.1, 0.6, 0.3))
        >>> mix.probabilities(0, ())[:, 0].tolist()
        [0.1, 0.6, 0.3]
    """

    tree: BettingTree
    mix: Mix

    def probabilities(self, node: int, board: Cards) -> Floats:
        """The same chances for every hand: [A, H]."""
        return np.repeat(
            mixed_probabilities(self.tree, node, self.mix)[:, None], self._num_hands, axis=1
        )

    def seat(self, player: int) -> Seat:
        """One column, and all betting of a round alike."""
        tree = self.tree
        scale = np.ones(len(tree))
        for node in range(len(tree)):
            children = tree.children(node)
            if tree.round[node] == tree.round[children.start if children else node]:
                own = tree.player[node] == player and len(children) > 0
                chances = mixed_probabilities(tree, node, self.mix) if own else 1.0
                scale[children.start : children.stop] = scale[node] * chances
        nodes = np.zeros(len(tree), np.int64)
        row = np.where(_never_alive(tree, scale), -1, 0)
        rows = [np.ones((1, 1))] * tree.rules.num_rounds
        return Seat(tree, player, nodes, row, nodes - 1, scale, rows, OneColumn(self._num_hands))

    @property
    def _num_hands(self) -> int:
        return NUM_HANDS if self.tree.rules.num_hole_cards == 2 else 52


def _never_alive(tree: BettingTree, scale: Floats) -> NDArray[np.bool_]:
    """Whether some chance on the way to each node is none: [V]."""
    dead = scale == 0
    for node in range(1, len(tree)):
        dead[node] |= dead[tree.parent[node]]
    return dead


@dataclass(frozen=True, eq=False)
class Table:
    """Chances by column, from a game of buckets or of exact hands, with raise caps of its own."""

    tree: BettingTree
    known: BettingTree  # what the strategy knows of it
    trees: tuple[Treeplex, Treeplex]  # of what it knows
    behaviour: tuple[Floats, Floats]  # [L] each
    columns: Columns

    @staticmethod
    def of_game(game: SequenceGame, plans: tuple[Floats, Floats]) -> Table:
        """Plans of an exact game.

        Example:
            >>> from equilibrist.games.catalog import get_game
            >>> from equilibrist.models.exact import exact_game
            >>> game = exact_game(get_game("kuhn"))
            >>> plans = tuple(game.realize(player, game.uniform(player)) for player in (0, 1))
            >>> Table.of_game(game, plans).probabilities(0, ())[:, -1].tolist()
            [0.5, 0.5]
        """
        assert game.betting is not None
        behaviour = game.behaviour(0, plans[0]), game.behaviour(1, plans[1])
        return Table(game.betting, game.betting, game.trees, behaviour, StateColumns(game))

    def probabilities(self, node: int, board: Cards) -> Floats:
        """What the strategy does where it believes to be: [A, H]."""
        player, r = int(self.tree.player[node]), int(self.tree.round[node])
        place = self._places[player][node]
        number, column = self.columns.locate(r, board)
        own = block(self.trees[player], r, number, self.behaviour[player])
        children = self.tree.children(node)
        out = np.zeros((len(children), len(column)))
        for chances, child in zip(out, children, strict=True):
            kind = chr(self.tree.action_kind[child])
            if place < 0:  # a raise beyond its caps, or a node that it never gets to
                chances[:] = kind == "c"
            elif (same := self.known.child(place, kind)) is not None:
                chances[:] = own[self._rows[player][same]][column]
        return out

    def seat(self, player: int) -> Seat:
        """One seat of a strategy of buckets: rows are those of its plan."""
        if not isinstance(self.columns, BucketColumns):
            raise InvalidValueError(
                f"{self.tree.rules.name} has exact hands here: best responses are those of its "
                "exact model",
                value=self.tree.rules.name,
            )
        own, buckets = self.trees[player], self.columns.buckets
        chances = self.behaviour[player].copy()
        is_glued, num_rounds = isinstance(buckets, GluedBuckets), len(own.num_sequences)
        opening = block(own, 0, 0, chances).copy()
        if is_glued:  # what the opening does enters by itself
            block(own, 0, 0, chances)[:] = 1
        plan = np.empty_like(chances)
        realize(own, chances, plan)
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
        return Seat(self.tree, player, place, row, first_row, ones, rows, self.columns)

    @functools.cached_property
    def _places(self) -> list[list[int]]:
        """By player, where it believes to be at each node; negative: nowhere that it knows."""
        return [[place for place, _ in follow(self.known, self.tree, p)] for p in (0, 1)]

    @functools.cached_property
    def _rows(self) -> list[NDArray[np.int32]]:
        return [player_rows(self.known, player).row for player in (0, 1)]


@dataclass(frozen=True, eq=False)
class OneColumn:
    """All hands alike."""

    num_hands: int

    def locate(self, r: int, board: Cards) -> tuple[int, NDArray[np.int64]]:
        """Round and zeros."""
        return r, np.zeros(self.num_hands, np.int64)


@dataclass(frozen=True, eq=False)
class BucketColumns:
    """Buckets: one block a round."""

    buckets: HandBuckets

    def locate(self, r: int, board: Cards) -> tuple[int, NDArray[np.int64]]:
        """Round and buckets."""
        return r, self.buckets.buckets(board).astype(np.int64)


@dataclass(frozen=True, eq=False)
class StateColumns:
    """The states of an exact game: one block a board."""

    game: SequenceGame

    def locate(self, r: int, board: Cards) -> tuple[int, NDArray[np.int64]]:
        """Block of the board that stands for this one, and states."""
        rules, states = self.game.rules, self.game.states
        assert rules is not None
        assert states is not None
        found, _, renaming = find_board(rules, states, r, cards_name(board))
        same = hand_numbers(np.argsort(renaming)[states.hands.astype(np.int64)])
        number = int(self.game.trees[0].board_start[r]) + found
        return number, states.state_of_hand[r][found][same].astype(np.int64)


class IdentifiedStrategy(NamedTuple):
    """A strategy with its name and what tells it from all others."""

    name: str
    strategy: FixedMix | Table
    identity: str  # a hash of what is stored, or the mix and the rules

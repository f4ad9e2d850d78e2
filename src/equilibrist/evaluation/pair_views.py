"""Views of a game whose exact model fits into memory: matrices over all pairs of states."""

from __future__ import annotations

import functools

import numpy as np

from equilibrist.evaluation.expectation import checked_plan
from equilibrist.evaluation.history_values import ExactCards, ValueFunction
from equilibrist.games.betting_tree import BettingTree
from equilibrist.games.state import HandState
from equilibrist.kernels.treeplex import block, boards, parents_of
from equilibrist.models.game import Floats, SequenceGame
from equilibrist.solving.sampling import walk_tables

PairView = tuple[int, int]  # a board and the unknown player's state on it, −1 if both are known


class PairViews:
    """Views of the plans of a game: the private states of known players are summed over."""

    def __init__(
        self,
        game: SequenceGame,
        plans: tuple[Floats | None, Floats | None],
        values: ValueFunction,
    ) -> None:
        self.cards = ExactCards(game)
        self.walk = walk_tables(game)
        self.values = values
        self.plans = [
            None if plan is None else checked_plan(game, player, plan)
            for player, plan in enumerate(plans)
        ]
        self.unknown = next((player for player in (0, 1) if plans[player] is None), None)

    @property
    def betting(self) -> BettingTree:
        """Betting tree of the game."""
        return self.cards.betting

    def is_known(self, player: int) -> bool:
        """Return whether the plan of a player is known."""
        return player != self.unknown

    def node(self, hand: HandState) -> int:
        """Return the node of a hand's betting."""
        return self.cards.node(hand)

    def of_hand(self, leaf: int, hand: HandState) -> tuple[PairView, ...]:
        """Return board and unknown state of every round up to that of a leaf."""
        board, state = self.cards.find(int(self.walk.round[leaf]), hand, self.unknown)
        tree = self.cards.game.trees[self.unknown or 0]
        views = [(board, state)]
        while (above := int(tree.board_parent[views[0][0]])) >= 0:
            board, state = views[0]
            views.insert(0, (above, int(parents_of(tree, board)[state]) if state >= 0 else -1))
        return tuple(views)

    def mass(self, node: int, view: PairView) -> float:
        """Return the probability of a node by chance and known plans, over what fits a view."""
        board, state = view
        return self._seen(self._weights(node, board), state)

    def weighed(self, node: int, view: PairView) -> float:
        """Return the sum of probability times value over what fits a view."""
        board, state = view
        return self._seen(self._weights(node, board) * self.values(node, board), state)

    def observed(self, leaf: int, view: PairView) -> float:
        """Return the sum of probability times result; J of the weights becomes J or W."""
        board, state = view
        result = self.cards.leaf(self.walk.fixed[leaf], self.walk.contested[leaf], board)
        joint = self.cards.joint(board)
        chips = result / np.where(joint > 0, joint, 1)
        return self._seen(self._weights(leaf, board) * chips, state)

    @functools.cached_property
    def expected(self) -> float:
        """E[V] before any card is dealt, in chips of player 0."""
        first = boards(self.cards.game.trees[0], 0)
        return sum(float((self._weights(0, b) * self.values(0, b)).sum()) for b in first)

    def dealt(self, opening: int, view: PairView) -> float:
        """Return the sum over boards that follow and the unknown player's next states."""
        total = 0.0
        board, state = view
        for child in self.cards.children(board):
            weighed = self._weights(opening, child) * self.values(opening, child)
            if self.unknown is not None:
                held = parents_of(self.cards.game.trees[self.unknown], child) == state
                weighed = weighed[held] if self.unknown == 0 else weighed[:, held]
            total += float(weighed.sum())
        return total

    def _weights(self, node: int, board: int) -> Floats:
        """Return the probability of a node by chance and known plans, by states: [S0, S1]."""
        weights = self.cards.joint(board)
        for player, plan in enumerate(self.plans):
            if plan is not None:
                r = int(self.walk.round[node])
                own = block(self.cards.game.trees[player], r, board, plan)
                reach = own[int(self.walk.row[node, player])]
                weights = weights * (reach[:, None] if player == 0 else reach)
        return weights

    def _seen(self, matrix: Floats, state: int) -> float:
        """Return the sum of a matrix [S0, S1] over the states that fit a view."""
        if self.unknown is not None:
            matrix = matrix[state] if self.unknown == 0 else matrix[:, state]
        return float(matrix.sum())

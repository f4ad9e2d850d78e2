"""What another player does after every betting history, with coarser histories to fall back on.

The contexts are the nodes of the betting tree of a limit game. At each decision of the other the
tree counts folds, calls and raises, at each showdown the strengths of the hands it showed. What has
rarely been seen is believed to be like what has the same *coarser context*, level by level:

    decisions     facing a bet, cap reached → round, raises of both in it
                  → the same and all raises before → the exact history
    showdowns     raises of the other in all → in each round, and who raised last
                  → the exact history

With counts n of a context and beliefs p of the coarser one, the belief is (n + w·p) / (Σn + w).

Source: the context tree of Vexbot (Billings et al. 2004, "Game-tree search with adaptation in
stochastic imperfect-information games"); its levels and weights are ours.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from equilibrist.games.betting_tree import BettingTree, NodeKind
from equilibrist.games.rules import GameRules

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

BINS = 20  # of strength, at showdowns
KINDS = "fcr"
_ACTION_WEIGHT, _SHOWDOWN_WEIGHT = 4.0, 3.0
_FACING, _FREE = (0.2, 0.5, 0.3), (0.0, 0.6, 0.4)  # beliefs before anything is seen


@dataclass(frozen=True, eq=False)
class Contexts:
    """The betting tree of a limit game, laid out for counting and for folding up; V nodes."""

    tree: BettingTree
    child: NDArray[np.int32]  # [V, 3] by fold, call, raise; V where there is none; call: next round
    decisions: tuple[NDArray[np.int32], ...]  # [V] context of a decision by level, coarsest first
    showdowns: tuple[tuple[NDArray[np.int32], ...], ...]  # by player, then as `decisions`

    @staticmethod
    @functools.cache
    def of(rules: GameRules) -> Contexts:
        """The contexts of a limit game, built once."""
        tree = BettingTree.build(rules)
        child = np.full((len(tree), 3), len(tree), np.int32)
        # Raises of each player in each round, on the way to each node.
        raises = np.zeros((len(tree), rules.num_rounds, 2), np.int64)
        last = np.full(len(tree), -1)  # who raised last
        for node in range(1, len(tree)):
            parent, letter = int(tree.parent[node]), chr(tree.action_kind[node])
            place = KINDS.index(letter) if letter in KINDS else 1
            child[parent, place] = node
            raises[node], last[node] = raises[parent], last[parent]
            if letter == "r":
                actor = int(tree.player[parent])
                raises[node, tree.round[node], actor] += 1
                last[node] = actor
        return Contexts(
            tree,
            child,
            _decision_levels(tree, child, raises),
            tuple(_showdown_levels(tree, raises, last, player) for player in (0, 1)),
        )


def _decision_levels(
    tree: BettingTree, child: NDArray[np.int32], raises: Ints
) -> tuple[NDArray[np.int32], ...]:
    legal = child < len(tree)
    here = raises[np.arange(len(tree)), tree.round]
    before = raises.sum(axis=1) - here
    coarse = [tree.player, legal[:, 0], legal[:, 2]]
    middle = [*coarse, tree.round, *here.T]
    exact = np.arange(len(tree), dtype=np.int32)
    return _numbered(coarse), _numbered(middle), _numbered([*middle, *before.T]), exact


def _showdown_levels(
    tree: BettingTree, raises: Ints, last: Ints, player: int
) -> tuple[NDArray[np.int32], ...]:
    own = raises[:, :, player]
    exact = np.cumsum(tree.kind == NodeKind.SHOWDOWN).astype(np.int32)
    return _numbered([own.sum(axis=1)]), _numbered([*own.T, last]), exact


def _numbered(columns: Sequence[NDArray[np.generic]]) -> NDArray[np.int32]:
    """Numbers from 0 for rows that are alike."""
    rows = np.stack([np.asarray(column, np.int64) for column in columns], axis=1)
    return np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int32)


class OpponentModel:
    """Counts of one opponent in all contexts."""

    def __init__(self, contexts: Contexts) -> None:
        self.contexts = contexts
        tree = contexts.tree
        self._actions = [np.zeros((int(ids.max()) + 1, 3)) for ids in contexts.decisions]
        self._shown = [
            [np.zeros((int(ids.max()) + 1, BINS)) for ids in levels]
            for levels in contexts.showdowns
        ]
        legal = contexts.child < len(tree)
        first = np.where(legal[:, :1], _FACING, _FREE) * legal
        self._first_actions = first / np.maximum(first.sum(axis=1, keepdims=True), 1e-12)
        self._decisions = tree.nodes(NodeKind.DECISION)
        self._leaves = tree.nodes(NodeKind.SHOWDOWN)
        self._chances: Floats | None = None  # kept until something is seen

    def see_action(self, node: int, kind: str) -> None:
        """Count an action of the opponent at a decision."""
        self._chances = None
        for counts, ids in zip(self._actions, self.contexts.decisions, strict=True):
            counts[ids[node], KINDS.index(kind)] += 1

    def see_showdown(self, node: int, player: int, strength: float) -> None:
        """Count the strength, 0 to 1, of a hand that the opponent showed as `player`."""
        place = min(int(strength * BINS), BINS - 1)
        for counts, ids in zip(self._shown[player], self.contexts.showdowns[player], strict=True):
            counts[ids[node], place] += 1

    def action_chances(self) -> Floats:
        """Believed chances of fold, call and raise at every node: [V, 3]; 0 where illegal."""
        if self._chances is None:
            belief = self._first_actions[self._decisions]
            for counts, ids in zip(self._actions, self.contexts.decisions, strict=True):
                seen = counts[ids[self._decisions]]
                total = seen @ np.ones((3, 1)) + _ACTION_WEIGHT
                belief = (seen + _ACTION_WEIGHT * belief) / total
            self._chances = np.zeros_like(self._first_actions)
            self._chances[self._decisions] = belief
        return self._chances

    def win_chances(self, player: int, against: Floats) -> tuple[Ints, Floats]:
        """Showdown nodes [N], and the believed chance to win there from the opponent: [N].

        `against` [BINS] is the chance to win from a hand of each bin of strength.
        """
        levels = self.contexts.showdowns[player]
        belief = (_first_shown(int(levels[0].max())) @ against)[levels[0][self._leaves]]
        for counts, ids in zip(self._shown[player], levels, strict=True):
            wins, total = (counts @ np.stack([against, np.ones(BINS)], axis=1))[ids[self._leaves]].T
            belief = (wins + _SHOWDOWN_WEIGHT * belief) / (total + _SHOWDOWN_WEIGHT)
        return self._leaves, belief


@functools.cache
def _first_shown(most_raises: int) -> Floats:
    """Strengths before anything is seen, by raises: better the more there were. [raises, BINS]."""
    middle = (np.arange(BINS) + 0.5) / BINS
    shape = middle ** (0.3 * np.arange(most_raises + 1)[:, None])
    return shape / shape.sum(axis=1, keepdims=True)

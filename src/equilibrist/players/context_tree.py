"""A model of an opponent's actions after every betting history, with coarser fallbacks.

The contexts are the nodes of the betting tree of a limit game. The tree counts the opponent's
folds, calls and raises at each of its decisions, and the strengths of the hands it showed at each
showdown. A rarely seen context is assumed to resemble its *coarser context*, level by level:

    decisions     facing a bet, cap reached → round, raises of both players in it
                  → the same and all earlier raises → the exact history
    showdowns     total raises of the opponent → raises in each round, and last raiser
                  → the exact history

With counts n of a context and beliefs p of the coarser one, the belief is (n + w·p) / (Σn + w).

Showdowns are rare, and a search that takes the largest of many values finds those that are too
large by luck. So the tree first learns two numbers that are common to all contexts: the frequency
of shown hands of strength x is proportional to x^(a + b·raises). For players that raise good hands
b is above 0; for those that ignore their cards a and b are 0. Each pair (a, b) of a grid is weighed
by the likelihood of the showdowns so far (Bayes' rule).

Source: the context tree of Vexbot (Billings et al. 2004, "Game-tree search with adaptation in
stochastic imperfect-information games"); its levels, weights and initial beliefs are ours.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equilibrist.games.betting_tree import BettingTree, NodeKind
from equilibrist.games.rules import GameRules

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

BINS = 20  # number of strength bins at showdowns
KINDS = "fcr"
# Weight w of the beliefs of a coarser context, in observations.
_ACTION_WEIGHT, _SHOWDOWN_WEIGHT = 8.0, 20.0
# Beliefs before any observation: about what Poki-style and Monash-style players do against each
# other. The hands that they show have a = −0.4, b = 0.75.
_FACING, _FREE = (0.3, 0.5, 0.2), (0.0, 0.5, 0.5)
_POWERS, _POWERS_PER_RAISE = (-0.5, 0.0, 0.5), (0.0, 0.25, 0.5, 0.75, 1.0)


class Levels(NamedTuple):
    """Contexts of nodes, level by level, coarsest first; a level has C contexts."""

    of_node: tuple[Ints, ...]  # [V] each
    coarser: tuple[Ints, ...]  # [C] the context in the previous level; in the first level, itself

    @staticmethod
    def of(columns: Sequence[Sequence[NDArray[np.generic]]]) -> Levels:
        """Build levels whose contexts are the nodes with equal values in all columns [V]."""
        of_node = [_numbered(column) for column in columns]
        coarser = [np.arange(of_node[0].max() + 1, dtype=np.int64)]
        for coarse, fine in itertools.pairwise(of_node):
            coarser.append(np.zeros(fine.max() + 1, np.int64))
            coarser[-1][fine] = coarse
        return Levels(tuple(of_node), tuple(coarser))

    def no_counts(self, width: int) -> list[Floats]:
        """Return zero counts for every context: [C, width] by level."""
        return [np.zeros((len(contexts), width)) for contexts in self.coarser]

    def chosen(self, counts: list[Floats], nodes: Ints) -> Iterator[tuple[Floats, Ints]]:
        """Yield the counts and coarser contexts of each level; in the last only for nodes [N]."""
        yield from zip(counts[:-1], self.coarser[:-1], strict=True)
        exact = self.of_node[-1][nodes]
        yield counts[-1][exact], self.coarser[-1][exact]


class Below(NamedTuple):
    """Nodes that may follow a node, including itself; parents come first."""

    inner: Ints  # [N] nodes that have children
    showdowns: Ints  # [L]


@dataclass(frozen=True, eq=False)
class Contexts:
    """Betting tree of a limit game with V nodes, arranged for counting and backing up values."""

    tree: BettingTree
    child: NDArray[np.int32]  # [V, 3] by fold, call, raise; V if absent; call: also next round
    decisions: Levels
    showdowns: tuple[Levels, Levels]  # by player
    first_actions: Floats  # [C, 3] beliefs in the coarsest contexts of decisions

    @staticmethod
    @functools.cache
    def of(rules: GameRules) -> Contexts:
        """Build the contexts of a limit game; the result is cached."""
        tree = BettingTree.build(rules)
        child = np.full((len(tree), 3), len(tree), np.int32)
        # Raises of each player in each round, on the path to each node.
        raises = np.zeros((len(tree), rules.num_rounds, 2), np.int64)
        last = np.full(len(tree), -1)  # the player that raised last
        for node in range(1, len(tree)):
            parent, letter = int(tree.parent[node]), chr(tree.action_kind[node])
            place = KINDS.index(letter) if letter in KINDS else 1
            child[parent, place] = node
            raises[node], last[node] = raises[parent], last[parent]
            if letter == "r":
                actor = int(tree.player[parent])
                raises[node, tree.round[node], actor] += 1
                last[node] = actor
        legal = child < len(tree)
        decisions = _decision_levels(tree, legal, raises)
        first = np.where(legal[:, :1], _FACING, _FREE) * legal
        first /= np.maximum(first.sum(axis=1, keepdims=True), 1e-12)
        first_actions = decisions.no_counts(3)[0]
        first_actions[decisions.of_node[0]] = first
        return Contexts(
            tree,
            child,
            decisions,
            (_showdown_levels(tree, raises, last, 0), _showdown_levels(tree, raises, last, 1)),
            first_actions,
        )

    @functools.cache  # noqa: B019 - there is one object for each game
    def below(self, node: int) -> Below:
        """Return the nodes that follow a node."""
        found = [np.array([node])]
        while len(found[-1]):
            after = self.child[found[-1]].ravel()
            found.append(after[after < len(self.tree)])
        nodes = np.sort(np.concatenate(found)).astype(np.int64)
        goes_on = (self.child[nodes] < len(self.tree)).any(axis=1)
        return Below(nodes[goes_on], nodes[self.tree.kind[nodes] == NodeKind.SHOWDOWN])


def _decision_levels(tree: BettingTree, legal: NDArray[np.bool_], raises: Ints) -> Levels:
    here = raises[np.arange(len(tree)), tree.round]
    before = raises.sum(axis=1) - here
    coarse = [tree.player, legal[:, 0], legal[:, 2]]
    middle = [*coarse, tree.round, *here.T]
    return Levels.of([coarse, middle, [*middle, *before.T], [np.arange(len(tree))]])


def _showdown_levels(tree: BettingTree, raises: Ints, last: Ints, player: int) -> Levels:
    own = raises[:, :, player]
    exact = np.where(tree.kind == NodeKind.SHOWDOWN, np.arange(len(tree)), -1)
    return Levels.of([[own.sum(axis=1)], [*own.T, last], [exact]])


def _numbered(columns: Sequence[NDArray[np.generic]]) -> Ints:
    """Return a number from 0 for each row; equal rows have equal numbers."""
    rows = np.stack([np.asarray(column, np.int64) for column in columns], axis=1)
    return np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1)


class OpponentModel:
    """Counts of one opponent's actions and shown hands in all contexts."""

    def __init__(self, contexts: Contexts) -> None:
        self.contexts = contexts
        self._actions = contexts.decisions.no_counts(3)
        self._shown = [levels.no_counts(BINS) for levels in contexts.showdowns]
        self._shapes = _shapes(len(self._shown[0][0]))
        self._fit = np.zeros(len(self._shapes))  # log likelihood of each shape

    def see_action(self, node: int, kind: str) -> None:
        """Count an action of the opponent at a decision."""
        for counts, context in zip(self._actions, self.contexts.decisions.of_node, strict=True):
            counts[context[node], KINDS.index(kind)] += 1

    def see_showdown(self, node: int, player: int, strength: float) -> None:
        """Count the strength, 0 to 1, of a hand that the opponent showed as `player`."""
        place = min(int(strength * BINS), BINS - 1)
        levels = self.contexts.showdowns[player]
        for counts, context in zip(self._shown[player], levels.of_node, strict=True):
            counts[context[node], place] += 1
        self._fit += np.log(self._shapes[:, levels.of_node[0][node], place])

    def action_probabilities(self, nodes: Ints) -> Floats:
        """Return the believed probabilities of fold, call, raise at nodes [N]: [N, 3]."""
        belief = self.contexts.first_actions
        for counts, coarser in self.contexts.decisions.chosen(self._actions, nodes):
            total = counts @ np.ones((3, 1)) + _ACTION_WEIGHT
            belief = (counts + _ACTION_WEIGHT * belief[coarser]) / total
        return belief

    def win_probabilities(self, player: int, nodes: Ints, against: Floats) -> Floats:
        """Return the believed probability to beat the opponent at showdowns [N]: [N].

        The opponent is `player`; `against` [BINS] is the probability to beat a hand of each
        strength bin.
        """
        belief = self.shape() @ against
        both = np.stack([against, np.ones(BINS)], axis=1)
        for counts, coarser in self.contexts.showdowns[player].chosen(self._shown[player], nodes):
            wins, total = (counts @ both).T
            belief = (wins + _SHOWDOWN_WEIGHT * belief[coarser]) / (total + _SHOWDOWN_WEIGHT)
        return belief

    def shape(self) -> Floats:
        """Return the believed distribution of shown strengths by raises: [raises, BINS]."""
        likely = np.exp(self._fit - self._fit.max())
        return np.tensordot(likely / likely.sum(), self._shapes, 1)


@functools.cache
def _shapes(num_raises: int) -> Floats:
    """Return strength distributions ∝ x^(a + b·raises) for each a, b: [shapes, raises, BINS]."""
    middle = (np.arange(BINS) + 0.5) / BINS
    a, b = np.array(list(itertools.product(_POWERS, _POWERS_PER_RAISE))).T
    powers = a[:, None] + b[:, None] * np.arange(num_raises)
    shapes = middle ** powers[:, :, None]
    return shapes / shapes.sum(axis=2, keepdims=True)

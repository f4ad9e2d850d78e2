"""What another player does after every betting history, with coarser histories to fall back on.

The contexts are the nodes of the betting tree of a limit game. At each decision of the other the
tree counts folds, calls and raises, at each showdown the strengths of the hands it showed. What has
rarely been seen is believed to be like what has the same *coarser context*, level by level:

    decisions     facing a bet, cap reached → round, raises of both in it
                  → the same and all raises before → the exact history
    showdowns     raises of the other in all → in each round, and who raised last
                  → the exact history

With counts n of a context and beliefs p of the coarser one, the belief is (n + w·p) / (Σn + w).

Showdowns are few, and a search that takes the largest of many values finds the ones that are wrong
by luck. So before any context the tree learns what is common to all of them, two numbers: hands of
strength x are shown as often as x^(a + b·raises). For players that raise good hands b is above 0,
for those that do not look at their cards a and b are 0. Each pair of a grid is as likely as it
makes the showdowns so far (Bayes' rule).

Source: the context tree of Vexbot (Billings et al. 2004, "Game-tree search with adaptation in
stochastic imperfect-information games"); its levels, weights and first beliefs are ours.
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

BINS = 20  # of strength, at showdowns
KINDS = "fcr"
# Counts that the beliefs of a coarser context are worth.
_ACTION_WEIGHT, _SHOWDOWN_WEIGHT = 8.0, 20.0
# Beliefs before anything is seen: about what Poki-style and Monash-style do against each other. The
# hands that they show have a = −0.4, b = 0.75.
_FACING, _FREE = (0.3, 0.5, 0.2), (0.0, 0.5, 0.5)
_POWERS, _POWERS_PER_RAISE = (-0.5, 0.0, 0.5), (0.0, 0.25, 0.5, 0.75, 1.0)


class Levels(NamedTuple):
    """Contexts of nodes, level by level from the coarsest on; C contexts in a level."""

    of_node: tuple[Ints, ...]  # [V] each
    coarser: tuple[Ints, ...]  # [C] the context one level before; itself in the first

    @staticmethod
    def of(columns: Sequence[Sequence[NDArray[np.generic]]]) -> Levels:
        """Levels of nodes that are alike where all columns [V] of the level are."""
        of_node = [_numbered(column) for column in columns]
        coarser = [np.arange(of_node[0].max() + 1, dtype=np.int64)]
        for coarse, fine in itertools.pairwise(of_node):
            coarser.append(np.zeros(fine.max() + 1, np.int64))
            coarser[-1][fine] = coarse
        return Levels(tuple(of_node), tuple(coarser))

    def no_counts(self, width: int) -> list[Floats]:
        """Zeros for every context: [C, width] by level."""
        return [np.zeros((len(contexts), width)) for contexts in self.coarser]

    def chosen(self, counts: list[Floats], nodes: Ints) -> Iterator[tuple[Floats, Ints]]:
        """By level, counts of contexts and their coarser ones; in the last only of nodes [N]."""
        yield from zip(counts[:-1], self.coarser[:-1], strict=True)
        exact = self.of_node[-1][nodes]
        yield counts[-1][exact], self.coarser[-1][exact]


class Below(NamedTuple):
    """What may follow a node, itself included; parents come first."""

    inner: Ints  # [N] nodes that go on
    showdowns: Ints  # [L]


@dataclass(frozen=True, eq=False)
class Contexts:
    """The betting tree of a limit game, laid out for counting and for folding up; V nodes."""

    tree: BettingTree
    child: NDArray[np.int32]  # [V, 3] by fold, call, raise; V where there is none; call: next round
    decisions: Levels
    showdowns: tuple[Levels, Levels]  # by player
    first_actions: Floats  # [C, 3] beliefs in the coarsest contexts of decisions

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
        """The nodes that follow a node."""
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
    """Numbers from 0 for rows that are alike."""
    rows = np.stack([np.asarray(column, np.int64) for column in columns], axis=1)
    return np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1)


class OpponentModel:
    """Counts of one opponent in all contexts."""

    def __init__(self, contexts: Contexts) -> None:
        self.contexts = contexts
        self._actions = contexts.decisions.no_counts(3)
        self._shown = [levels.no_counts(BINS) for levels in contexts.showdowns]
        self._shapes = _shapes(len(self._shown[0][0]))
        self._fit = np.zeros(len(self._shapes))  # log of how likely each shape is

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

    def action_chances(self, nodes: Ints) -> Floats:
        """Believed chances of fold, call and raise at nodes [N]: [N, 3]; 0 where illegal."""
        belief = self.contexts.first_actions
        for counts, coarser in self.contexts.decisions.chosen(self._actions, nodes):
            total = counts @ np.ones((3, 1)) + _ACTION_WEIGHT
            belief = (counts + _ACTION_WEIGHT * belief[coarser]) / total
        return belief

    def win_chances(self, player: int, nodes: Ints, against: Floats) -> Floats:
        """Believed chance to win from the opponent, who is `player`, at showdowns [N]: [N].

        `against` [BINS] is the chance to win from a hand of each bin of strength.
        """
        belief = self.shape() @ against
        both = np.stack([against, np.ones(BINS)], axis=1)
        for counts, coarser in self.contexts.showdowns[player].chosen(self._shown[player], nodes):
            wins, total = (counts @ both).T
            belief = (wins + _SHOWDOWN_WEIGHT * belief[coarser]) / (total + _SHOWDOWN_WEIGHT)
        return belief

    def shape(self) -> Floats:
        """Strengths that the opponent is believed to show by its raises: [raises, BINS]."""
        likely = np.exp(self._fit - self._fit.max())
        return np.tensordot(likely / likely.sum(), self._shapes, 1)


@functools.cache
def _shapes(num_raises: int) -> Floats:
    """Strengths x, shown as often as x^(a + b·raises), for each a and b: [shapes, raises, BINS]."""
    middle = (np.arange(BINS) + 0.5) / BINS
    a, b = np.array(list(itertools.product(_POWERS, _POWERS_PER_RAISE))).T
    powers = a[:, None] + b[:, None] * np.arange(num_raises)
    shapes = middle ** powers[:, :, None]
    return shapes / shapes.sum(axis=2, keepdims=True)

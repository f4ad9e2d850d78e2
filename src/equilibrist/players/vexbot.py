"""A player that searches the rest of the hand against a model of its opponent.

*Vexbot* (Billings et al. 2004) computes the value of every continuation. At the opponent's
decisions it averages the values with the action probabilities that its model has learnt there; at
showdowns it compares its own hand with the strengths that were shown there. At its own decisions
*miximax* takes the largest value; *miximix* mixes the actions, better ones more often, which
explores and reveals less.

Future cards enter through the strengths that its own hand may have on the river, one distribution
for all showdowns: boards are not searched one by one.
"""

from __future__ import annotations

import functools
import random

import numpy as np

from equilibrist.cards.hand import hand_index
from equilibrist.errors import ParseError
from equilibrist.games.action import Action, Kind
from equilibrist.games.betting_tree import BettingTree, NodeKind
from equilibrist.games.rules import GameRules
from equilibrist.players.context_tree import BINS, KINDS, Contexts, Floats, OpponentModel
from equilibrist.players.hand_strength import check_holdem, final_strengths, strengths
from equilibrist.players.player import Player, Result, View
from equilibrist.players.static import nearest_action
from equilibrist.players.translation import find_node

_WARMTH = 0.5  # small bets of difference that make one action e times as likely as another


class Vexbot(Player):
    """A player that learns a context tree of its opponent and searches it."""

    def __init__(self, rules: GameRules, rule: str = "miximax") -> None:
        if rule not in ("miximax", "miximix"):
            raise ParseError(
                f"vexbot searches by miximax or miximix, not {rule[:40]!r}", value=rule
            )
        self.name = "vexbot" if rule == "miximax" else "vexbot miximix"
        check_holdem(rules, "vexbot")
        self.warmth = 0.0 if rule == "miximax" else _WARMTH * rules.raise_sizes[0]
        self.contexts = Contexts.of(rules)
        self.reset(0)

    def reset(self, seed: int) -> None:
        """Forget the opponent and restart the random generator with a seed."""
        self.model = OpponentModel(self.contexts)
        self._random = random.Random(seed)

    def act(self, view: View) -> Action:
        """Return the best action found by search (miximax), or draw one by its value (miximix)."""
        tree = self.contexts.tree
        node = find_node(tree, view.betting)
        assert node is not None  # the tree has all raises of the game
        values = self.search(view, node)
        legal = [a for a, child in enumerate(self.contexts.child[node]) if child < len(tree)]
        found = values[self.contexts.child[node, legal]]
        (place,) = self._random.choices(legal, _shares(found, self.warmth).tolist())
        kinds: tuple[Kind, ...] = ("f", "c", "r")
        return nearest_action(view.betting, kinds[place])

    def search(self, view: View, node: int = 0) -> Floats:
        """Return the expected chips of the hand at each node, [V]; valid for nodes after `node`."""
        from equilibrist.kernels.cpu.miximax import fold_up_mixed

        contexts, tree, own = self.contexts, self.contexts.tree, view.player
        nodes, showdowns = contexts.below(node)
        against = _win_probabilities(final_strengths(view.hole, view.board))
        wins = self.model.win_probabilities(1 - own, showdowns, against)
        values = _fold_values(tree, own).copy()
        values[showdowns] = (2 * wins - 1) * tree.spent[showdowns, own]
        probabilities = self.model.action_probabilities(nodes)
        fold_up_mixed(contexts.child, tree.player, own, nodes, probabilities, self.warmth, values)
        return values

    def observe(self, result: Result) -> None:
        """Count the opponent's actions and, at a showdown, the strength of its hand."""
        tree, view = self.contexts.tree, result.view
        node, other = 0, 1 - view.player
        for r, actions in enumerate(view.betting.history):
            for action in actions:
                if tree.player[node] == other:
                    self.model.see_action(node, action.kind)
                node = int(self.contexts.child[node, KINDS.index(action.kind)])
            if r + 1 < len(view.betting.history):
                node = tree.children(node)[0]
        if tree.kind[node] == NodeKind.SHOWDOWN:
            hand = hand_index(*view.state.holes[other])
            self.model.see_showdown(node, other, float(strengths(view.board)[hand]))


@functools.lru_cache(maxsize=8)
def _fold_values(tree: BettingTree, own: int) -> Floats:
    """Return the chips that player `own` wins at each fold node: [V]; 0 elsewhere."""
    lost, won = -tree.spent[:, own], tree.spent[:, 1 - own]
    return np.where(tree.kind == NodeKind.FOLD, np.where(tree.player == own, lost, won), 0.0)


def _win_probabilities(finals: Floats) -> Floats:
    """Return the probability to beat a hand of each strength bin: [BINS].

    The own hand has one of the strengths `finals` [K] with equal probability.
    """
    return np.clip(finals[:, None] * BINS - np.arange(BINS), 0, 1).mean(axis=0)


def _shares(values: Floats, warmth: float) -> Floats:
    """Return the probability of each action: [A]; ∝ e^(value / warmth), or the best if 0."""
    lead = values - values.max()
    weights = np.exp(lead / warmth) if warmth else (lead == 0).astype(np.float64)
    return weights / weights.sum()

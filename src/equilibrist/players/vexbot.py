"""A player that searches the whole rest of the hand against a model of its opponent.

*Vexbot* (Billings et al. 2004) computes what every way to go on is worth. At the opponent's
decisions the values are mixed by the chances that its model has seen there, at showdowns the own
hand meets the strengths that were shown there. At its own decisions *miximax* takes the largest
value; *miximix* mixes them, better ones more often, which explores and gives away less.

Cards to come enter through the strengths that the own hand may have on the river, one distribution
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
    """Learns a context tree and searches it."""

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
        """Forget the opponent and draw from a seed."""
        self.model = OpponentModel(self.contexts)
        self._random = random.Random(seed)

    def act(self, view: View) -> Action:
        """The best action by search, or one by lot where values are mixed."""
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
        """Chips won in the whole hand from each node on, [V], where they come after `node`."""
        from equilibrist.kernels.cpu.miximax import fold_up_mixed

        contexts, tree, own = self.contexts, self.contexts.tree, view.player
        nodes, showdowns = contexts.below(node)
        against = _win_chances(final_strengths(view.hole, view.board))
        wins = self.model.win_chances(1 - own, showdowns, against)
        values = _fold_values(tree, own).copy()
        values[showdowns] = (2 * wins - 1) * tree.spent[showdowns, own]
        chances = self.model.action_chances(nodes)
        fold_up_mixed(contexts.child, tree.player, own, nodes, chances, self.warmth, values)
        return values

    def told(self, result: Result) -> None:
        """Count what the opponent did and, at a showdown, what it had."""
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
    """Chips that `own` wins where somebody folded, [V]; 0 elsewhere."""
    lost, won = -tree.spent[:, own], tree.spent[:, 1 - own]
    return np.where(tree.kind == NodeKind.FOLD, np.where(tree.player == own, lost, won), 0.0)


def _win_chances(finals: Floats) -> Floats:
    """Chance that strengths [K], equally likely, beat a hand of each bin of strength: [BINS]."""
    return np.clip(finals[:, None] * BINS - np.arange(BINS), 0, 1).mean(axis=0)


def _shares(values: Floats, warmth: float) -> Floats:
    """How often each action is taken: [A]; the best alone, or by e^(value / warmth)."""
    lead = values - values.max()
    weights = np.exp(lead / warmth) if warmth else (lead == 0).astype(np.float64)
    return weights / weights.sum()

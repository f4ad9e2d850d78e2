"""What the actions at a node are worth with each hand: as played, and for a best response.

Spots and solutions of exact games answer at every node. Other strategies, such as bots of limit
hold'em, answer in the last round, where the rest of the hand is enumerated: the opponent's hands
are weighted by the probability that its strategy plays them to the node.

Values count from the node on: what was put in before is gone, so a fold is worth 0.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equilibrist.cards.card import parse_cards
from equilibrist.cards.equity import hand_equities
from equilibrist.cards.range import Range
from equilibrist.errors import InvalidValueError
from equilibrist.evaluation.real_game.reference import PublicTree
from equilibrist.games.rules import GameRules
from equilibrist.games.words import round_name
from equilibrist.kernels.treeplex import block, board_matrices
from equilibrist.models.game import BEST, EXPECTATION, Floats
from equilibrist.models.treeplex import player_rows
from equilibrist.strategies.node_strategy import NodeStrategy, reach
from equilibrist.strategies.played import RealStrategy, StateColumns, TableStrategy
from equilibrist.strategies.spot_report import Answers, WholePlans

_RARE = 1e-12  # share of the opponent's hands below which a hand meets none of them


class NodeValues(NamedTuple):
    """Values of N hands × A actions at a node, those of a `NodeStrategy`."""

    played: Floats  # [N, A] if both play the strategy after the action
    best: Floats  # [N, A] if the player plays a best response after the action

    def gain(self, probabilities: Floats) -> Floats:
        """Return what a best response wins more than the strategy from the node on: [N]."""
        own: Floats = (probabilities * self.played).sum(axis=1)
        return np.maximum(self.best.max(axis=1) - own, 0.0)


def node_values(strategy: RealStrategy, report: NodeStrategy) -> NodeValues:
    """Return the values of the actions at the node of a report.

    Raises `InvalidValueError` where they are not known.

    Example:
        >>> from equilibrist.games.betting_tree import BettingTree
        >>> from equilibrist.games.catalog import get_game
        >>> from equilibrist.strategies.node_strategy import node_strategy
        >>> from equilibrist.strategies.played import FixedMix
        >>> mix = FixedMix(BettingTree.build(get_game("leduc")), (0.5, 0.5, 0.0))
        >>> report = node_strategy(mix, "cc/c", "Ks")  # the opponent checked
        >>> found, kings = node_values(mix, report), report.place_of("Kh")
        >>> found.played[kings].tolist()  # a check wins the pot of 2; half of the bets are called
        [2.0, 4.0]
    """
    if isinstance(strategy, Answers):
        runs = (strategy.on(report.node, report.board, rule=rule) for rule in (EXPECTATION, BEST))
        played, best = (run.values for run in runs)
        return NodeValues(played, best)
    if isinstance(strategy, TableStrategy) and isinstance(strategy.columns, StateColumns):
        return _exact_values(strategy, report)
    return _last_values(strategy, report)


def node_equities(strategy: RealStrategy, report: NodeStrategy) -> Floats | None:
    """Return each hand's probability of winning if nobody bets any more, ties half: [N].

    None in games that are not dealt like hold'em; NaN for hands that meet none of the opponent's.
    Before the flop it takes seconds.
    """
    rules = report.rules
    if not _is_dealt_like_holdem(rules):
        return None
    cards = parse_cards(report.board)
    other = _opponent(strategy, report)
    absent = [card for card in range(52) if card not in rules.deck]
    everything = np.zeros(len(other))
    everything[report.hands] = 1.0
    sides = Range(everything), Range(other / other.max())
    found: Floats = hand_equities(*sides, cards, absent)
    return found[report.hands]


def _is_dealt_like_holdem(rules: GameRules) -> bool:
    deal = (rules.num_hole_cards, rules.total_board_cards, rules.ranking)
    return deal == (2, 5, "standard") and rules.rollout_cards == 0


def _opponent(strategy: RealStrategy, report: NodeStrategy) -> NDArray[np.float64]:
    """Return the weights of the opponent's hands at a node: [H]; equal ones if it never arrives."""
    tree, cards = strategy.tree, parse_cards(report.board)
    v = tree.parse(report.node)
    found = reach(strategy, v, cards, 1 - report.player)
    live = np.zeros(len(found))
    live[report.hands] = 1.0  # reports of tables have all hands that the board leaves
    return found * live if (found * live).any() else live


def _exact_values(strategy: TableStrategy, report: NodeStrategy) -> NodeValues:
    """Return values from the plans of an exact game."""
    tree, player, columns = strategy.tree, report.player, strategy.columns
    assert isinstance(columns, StateColumns)
    v, game, whole = tree.parse(report.node), columns.game, _whole_plans(strategy)
    r = int(tree.round[v]) - tree.first_round
    board, states = columns.locate(r, parse_cards(report.board))
    joint = board_matrices(*game.trees, game.pairs, board)[0]
    other = block(game.trees[1 - player], r, board, whole.plans[1 - player])
    meets = joint if player == 0 else joint.T
    met = meets @ other[player_rows(tree, 1 - player).row[v]].astype(np.float64)
    met, own = met[states[report.hands]], player_rows(tree, player).row[list(tree.children(v))]
    scale = np.where(met > 0, met, np.inf)
    paid = int(tree.spent[v, player])
    played, best = (
        whole.values(player, board, rule)[own][:, states[report.hands]].T / scale[:, None] + paid
        for rule in (EXPECTATION, BEST)
    )
    return NodeValues(played, best)


@functools.lru_cache(maxsize=4)
def _whole_plans(strategy: TableStrategy) -> WholePlans:
    """Return the plans of a solution of an exact game, with the values that were asked for."""
    assert isinstance(strategy.columns, StateColumns)
    game = strategy.columns.game
    first, second = (game.realize(player, strategy.behaviour[player]) for player in (0, 1))
    return WholePlans(game, (first, second))


def _last_values(strategy: RealStrategy, report: NodeStrategy) -> NodeValues:
    """Return values in the last round, by walking to every end of the hand."""
    tree, rules, player = strategy.tree, report.rules, report.player
    v = tree.parse(report.node)
    if int(tree.round[v]) < rules.num_rounds - 1:
        raise InvalidValueError(
            f"values of this strategy are known on the {_last_name(rules)} only, where the rest of "
            "the hand can be enumerated; spots and solutions of small games have them everywhere",
            value=report.node,
        )
    cards = parse_cards(report.board)
    sides = []
    for is_best in (False, True):
        walk = PublicTree(strategy, player, is_best)
        other = _opponent(strategy, report)[walk.numbers]
        met = walk.meetings @ other
        scale = np.where(met > _RARE * other.sum(), met, np.inf)
        chips = np.stack([walk.values(child, cards, other) / scale for child in tree.children(v)])
        places = np.searchsorted(walk.numbers, report.hands)
        sides.append(chips.T[places] + int(tree.spent[v, player]))
    return NodeValues(sides[0], sides[1])


def _last_name(rules: GameRules) -> str:
    return round_name(rules, rules.num_rounds - 1)

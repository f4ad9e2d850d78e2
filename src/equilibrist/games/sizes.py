"""Sizes of a game: betting nodes and information sets, raw and up to suit isomorphism.

An information set of a player is a decision and the cards that the player sees. The cards seen in a
round are a deal in the pattern (hole, board, board, …), so `cards/isomorphism.py` gives their
number, raw and up to suit isomorphism.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from equilibrist.cards.isomorphism import DealIndexer
from equilibrist.games.betting_tree import BettingTree, NodeKind
from equilibrist.games.rules import GameRules
from equilibrist.phases import phase


@dataclass(frozen=True)
class GameSizes:
    """Sizes of the real game that a betting tree describes, without any card abstraction."""

    nodes: int
    decisions_per_round: list[int]
    folds_per_round: list[int]
    showdowns_per_round: list[int]
    continuations_per_round: list[int]
    deals_per_round: list[int]  # (hole, board) deals that one player can see
    canonical_deals_per_round: list[int]  # the same up to suit isomorphism
    decision_states: int  # decisions times all deals of both hands and the board
    infosets: int
    canonical_infosets: int
    canonical_infoset_actions: int


@phase("counting nodes and deals")
def game_sizes(tree: BettingTree) -> GameSizes:
    """Count the nodes of a betting tree and the information sets of its game.

    With discards, a player has also seen the cards given away; these are not counted.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> sizes = game_sizes(BettingTree.build(get_game("leduc")))
        >>> sizes.infosets, sizes.canonical_infosets
        (936, 468)
    """
    rules = tree.rules
    decisions = tree.counts(NodeKind.DECISION)
    rounds = range(tree.first_round, tree.last_round + 1)
    raw, canonical = deals_seen(rules)
    actions = [
        int(tree.num_children[tree.nodes(NodeKind.DECISION, round)].sum()) for round in rounds
    ]
    return GameSizes(
        nodes=len(tree),
        decisions_per_round=decisions,
        folds_per_round=tree.counts(NodeKind.FOLD),
        showdowns_per_round=tree.counts(NodeKind.SHOWDOWN),
        continuations_per_round=tree.counts(NodeKind.ROUND_END),
        deals_per_round=[raw[round] for round in rounds],
        canonical_deals_per_round=[canonical[round] for round in rounds],
        decision_states=sum(
            number * raw[round] * _opponent_hands(rules, round)
            for number, round in zip(decisions, rounds, strict=True)
        ),
        infosets=sum(n * raw[round] for n, round in zip(decisions, rounds, strict=True)),
        canonical_infosets=sum(
            n * canonical[round] for n, round in zip(decisions, rounds, strict=True)
        ),
        canonical_infoset_actions=sum(
            n * canonical[round] for n, round in zip(actions, rounds, strict=True)
        ),
    )


def deals_seen(rules: GameRules) -> tuple[list[int], list[int]]:
    """Return the number of (hole, board) deals seen in each round, raw and up to isomorphism."""
    pattern = (rules.num_hole_cards, *(num for num in rules.num_board_cards if num))
    indexer = DealIndexer(pattern, rules.deck)
    # In a round without new board cards, a player sees the deals of the previous round.
    last_deal = 0
    raw, canonical = [], []
    for num_cards in rules.num_board_cards:
        last_deal += num_cards > 0
        raw.append(indexer.raw_sizes[last_deal])
        canonical.append(indexer.sizes[last_deal])
    return raw, canonical


def _opponent_hands(rules: GameRules, round: int) -> int:
    """Return the number of ways to deal the other players' hole cards, given hand and board."""
    left = len(rules.deck) - rules.num_hole_cards - rules.board_cards_by(round)
    hands = 1
    for _ in range(rules.num_players - 1):
        hands *= math.comb(left, rules.num_hole_cards)
        left -= rules.num_hole_cards
    return hands

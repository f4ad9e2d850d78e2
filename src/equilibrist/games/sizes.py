"""How large a game is: betting nodes, information sets, and those that differ beyond suits.

An information set of a player is a decision and what the player sees of the cards. The cards seen
in a round are a deal in the pattern (hole, board, board, …), so their number, raw and up to suits,
is that of `cards/isomorphism.py`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from equilibrist.cards.isomorphism import DealIndexer
from equilibrist.games.betting_tree import BettingTree, NodeKind
from equilibrist.games.rules import GameRules


@dataclass(frozen=True)
class GameSizes:
    """Sizes of the real game that a betting tree describes, without any card abstraction."""

    nodes: int
    decisions_per_round: list[int]
    folds_per_round: list[int]
    showdowns_per_round: list[int]
    continuations_per_round: list[int]
    deals_per_round: list[int]  # (hole, board) deals one player can see
    canonical_deals_per_round: list[int]  # the same up to suits
    decision_states: int  # decisions with all dealt cards: both hands and the board
    infosets: int
    canonical_infosets: int
    canonical_infoset_actions: int


def game_sizes(tree: BettingTree) -> GameSizes:
    """Counts of a betting tree and of its game's information sets.

    With discards the cards a player has seen include those given away; they are not counted.

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
    """How many (hole, board) deals a player can see in each round, raw and up to suits."""
    pattern = (rules.num_hole_cards, *(num for num in rules.num_board_cards if num))
    indexer = DealIndexer(pattern, rules.deck)
    # A round that deals no board card sees what the round before it saw.
    last_deal = 0
    raw, canonical = [], []
    for num_cards in rules.num_board_cards:
        last_deal += num_cards > 0
        raw.append(indexer.raw_sizes[last_deal])
        canonical.append(indexer.sizes[last_deal])
    return raw, canonical


def _opponent_hands(rules: GameRules, round: int) -> int:
    """Ways to deal the other players' hole cards when one hand and the board are known."""
    left = len(rules.deck) - rules.num_hole_cards - rules.board_cards_by(round)
    hands = 1
    for _ in range(rules.num_players - 1):
        hands *= math.comb(left, rules.num_hole_cards)
        left -= rules.num_hole_cards
    return hands

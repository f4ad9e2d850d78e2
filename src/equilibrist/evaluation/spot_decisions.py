"""What a player's choices in a hand cost by a solved spot that the hand passed through.

A spot is passed through if a street of the hand began with the spot's board, pot and stacks. From
there on the hand is followed in the spot's betting. Values are those of the spot's solution: both
players hold its ranges and play it after the decision. As in `decision_values`, they count from the
decision on, so a fold is worth 0.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from equilibrist.cards.card import Cards, cards_name
from equilibrist.cards.hand import hand_index
from equilibrist.errors import InvalidValueError
from equilibrist.evaluation.decision_values import DecisionValues
from equilibrist.games.action import Action
from equilibrist.games.betting import Betting
from equilibrist.games.betting_tree import BettingTree, NodeKind
from equilibrist.games.rules import GameRules
from equilibrist.games.state import HandState
from equilibrist.games.words import action_phrase, round_name
from equilibrist.models.money import BIG_BLINDS
from equilibrist.models.spot import Spot
from equilibrist.strategies.spot_report import SEATS, Answers

_DECIMALS = 6  # of chips; tables of spots have 16 or 32 bits


@dataclass(frozen=True)
class StreetStart:
    """A street of a hand before its first action."""

    betting: Betting
    board: Cards

    @property
    def rules(self) -> GameRules:
        """The rules of the hand."""
        return self.betting.rules

    @property
    def name(self) -> str:
        """Name of the street."""
        return round_name(self.rules, self.betting.round)

    @property
    def stack(self) -> int | None:
        """Chips that both players can still bet; None in games without stacks."""
        return min(self.betting.stacks_left) if self.rules.stacks else None

    def is_start_of(self, spot: Spot) -> bool:
        """Return whether a spot has the board, pot, stacks and betting of this street."""
        rules, scale = self.rules, chip_scale(self.rules, spot)
        same_cards = {*spot.cards} == {*self.board} and rules.deck == spot.game.deck
        same_limits = rules.is_limit == spot.game.is_limit
        if rules.is_limit and same_limits:
            sizes = zip(rules.raise_sizes, spot.game.raise_sizes, strict=True)
            same_limits = rules.max_raises == spot.game.max_raises
            same_limits &= all(scale * own == other for own, other in sizes)
        stack = None if self.stack is None else scale * self.stack
        same_money = scale * self.betting.pot == spot.pot and stack == spot.stack
        return same_cards and same_limits and same_money and spot.house is None


class SpotDecisions(NamedTuple):
    """Decisions of a hand by a spot's solution, and what of the hand it does not cover."""

    decisions: list[DecisionValues]
    missing: str  # a sentence; empty if every decision from the spot on has values


def chip_scale(rules: GameRules, spot: Spot) -> Fraction:
    """Return the number of the spot's chips in a chip of a hand."""
    unit = rules.big_blind if spot.unit == BIG_BLINDS else 1
    return Fraction(spot.money.size, unit)


def street_starts(hand: HandState) -> list[StreetStart]:
    """Return the streets of a finished hand with board cards, on which somebody acted.

    Games in which cards are swapped have none: no spot has their rules.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> from equilibrist.games.notation import parse_state
        >>> text = "STATE:0:cc/r200f:AhKh|QsQd/2c7d9h"
        >>> [flop] = street_starts(parse_state(get_game("holdem-nolimit"), text).state)
        >>> flop.name, flop.betting.pot, flop.stack
        ('flop', 200, 19900)
    """
    rules, now = hand.rules, Betting.start(hand.rules)
    found: list[StreetStart] = []
    if any(rules.discards) or rules.num_hole_cards != 2 or rules.num_board_cards[0] != 0:
        return found
    sizes = list(itertools.accumulate(rules.num_board_cards))
    for r, actions in enumerate(hand.betting.history):
        if r > 0 and actions:
            found.append(StreetStart(now, hand.deal.board[: sizes[r]]))
        for action in actions:
            now = now.apply(action)
    return found


def spot_decisions(
    answers: Answers, start: StreetStart, hand: HandState, player: int
) -> SpotDecisions:
    """Return the values of a player's actions from a street on, by a spot that begins there."""
    spot, tree = answers.spot, answers.spot.betting
    if not start.is_start_of(spot):
        raise InvalidValueError(
            f"the {start.name} of this hand is not where the spot on {spot.board} begins: board, "
            "pot, stacks or limits differ",
            value=spot.board,
        )
    found: list[DecisionValues] = []
    v, now = 0, start.betting
    for action in itertools.chain(*hand.betting.history[now.round :]):
        street, child = round_name(start.rules, now.round), _child(start, spot, v, action)
        if now.actor == player:
            values = _values(answers, v, hand, now)
            if values is None:
                held = cards_name(sorted(hand.holes[player], reverse=True))
                return SpotDecisions(found, f"in it nobody {SEATS[player]} plays {held} like this")
            if child is not None:
                found.append(DecisionValues(v, child - tree.children(v).start, values))
        if child is None:
            did = action_phrase(now, action, second_person=True)
            whose = "you" if now.actor == player else "the opponent"
            return SpotDecisions(found, f"it has no size for {whose} to {did} on the {street}")
        v, now = _next_decision(tree, child), now.apply(action)
    return SpotDecisions(found, "")


def _child(start: StreetStart, spot: Spot, v: int, action: Action) -> int | None:
    """Return the node after an action of the hand; None if the spot has no such size."""
    scale, opening = chip_scale(start.rules, spot), start.betting.opening
    amount = spot.pot // 2 + scale * (action.amount - opening) if action.amount else 0
    for child in spot.betting.children(v):
        own = spot.betting.action(child)
        if own is not None and own.kind == action.kind and (not amount or own.amount == amount):
            return child
    return None


def _next_decision(tree: BettingTree, v: int) -> int:
    """Return the node where somebody acts next, or the end of the hand."""
    while tree.kind[v] == NodeKind.ROUND_END and len(tree.children(v)):
        v = tree.children(v).start
    return v


def _values(answers: Answers, v: int, hand: HandState, now: Betting) -> tuple[float, ...] | None:
    """Return what each action is worth to the player to act, in chips of the hand.

    None if the solution does not play the hand to here.
    """
    spot, player = answers.spot, now.actor
    assert player is not None
    num_cards = sum(hand.rules.num_board_cards[: now.round + 1])
    dealt = hand.deal.board[len(spot.cards) : num_cards]
    report = answers.at(spot.names[v], cards_name(dealt))
    row = np.flatnonzero(report.hands == hand_index(*hand.holes[player]))
    if not len(row):
        return None
    in_chips = float(spot.money.size / chip_scale(hand.rules, spot))
    return tuple(
        round(value * in_chips, _DECIMALS) + 0.0 for value in report.values[row[0]].tolist()
    )

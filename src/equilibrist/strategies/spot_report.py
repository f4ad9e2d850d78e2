"""Reports on a node of a solved spot: frequencies, values and equities by hand.

Values count from the node on: what was put in before is gone, so a fold is worth 0 and, at the
start, the expectations of both players add up to the pot, less the rake. All answers are in the
suits that are asked for, whichever of the boards that differ by suits was solved.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from equilibrist.cards.card import NUM_CARDS, Cards, cards_name, check_distinct, parse_cards
from equilibrist.cards.equity import BOARD_CARDS, hand_equities
from equilibrist.cards.hand import hand_table
from equilibrist.cards.range import Range
from equilibrist.errors import InvalidValueError
from equilibrist.games.bet_menu import BetMenu
from equilibrist.games.betting_tree import BettingTree, NodeKind
from equilibrist.games.rules import GameRules
from equilibrist.games.words import action_labels, node_words
from equilibrist.kernels.decision_rules import regret_matching
from equilibrist.kernels.treeplex import block
from equilibrist.models.game import EXPECTATION, Floats, SequenceGame
from equilibrist.models.money import CHIPS
from equilibrist.models.spot import Spot
from equilibrist.models.subgame import Subgame, compatible, subgame
from equilibrist.phases import phase
from equilibrist.strategies.behaviour_table import find_board
from equilibrist.strategies.node_strategy import NodeStrategy

SEATS = ("out of position", "in position")
_NO_BETS = BetMenu(max_raises=(0,))


@dataclass(frozen=True, eq=False, kw_only=True)
class NodeReport(NodeStrategy):
    """Decision of N hands × A actions in a spot, with values; player 0 is out of position."""

    values: NDArray[np.float64]  # [N, A] value of each action in `unit`s
    equity: NDArray[np.float64]  # [N] probability of winning, ties half
    reach: float  # probability that the play and the cards lead here
    unit: str = CHIPS  # of amounts and values

    @property
    def seat(self) -> str:
        """The player to act in words."""
        return SEATS[self.player]

    @property
    def value(self) -> NDArray[np.float64]:
        """Value of each hand: [N]."""
        return np.asarray((self.probabilities * self.values).sum(axis=1))

    @property
    def mean_value(self) -> float:
        """Expected value of the player, in `unit`s."""
        return float(self.share @ self.value)

    @property
    def mean_equity(self) -> float:
        """Probability that the player wins, ties half."""
        return float(self.share @ self.equity)

    def summary(self) -> dict[str, Any]:
        """Return the node as JSON, without its hands."""
        return {
            "node": self.node,
            "words": self.words,
            "board": self.board,
            "player": ("oop", "ip")[self.player],
            "pot": self.pot,
            "unit": self.unit,
            "actions": list(self.actions),
            "action_words": list(self.action_words),
            "frequencies": self.frequencies.tolist(),
            "equity": self.mean_equity,
            "value": self.mean_value,
        }

    def _numbers(self) -> Floats:
        return np.column_stack([super()._numbers(), self.values, self.equity])


class BoardStrategies(Protocol):
    """Strategies of both players, board by board of their game; Q rows × S states."""

    def plan(self, player: int, board: int) -> Floats:
        """Return the probability that each row is played: [Q, S]."""

    def values(self, player: int, board: int, rule: int = EXPECTATION) -> Floats:
        """Return the value of each row with everything below it: [Q, S].

        By the rule `BEST` the player plays a best response below; else as planned.
        """


@dataclass(frozen=True, eq=False)
class WholePlans:
    """Plans that are completely in memory."""

    game: SequenceGame
    plans: tuple[Floats, Floats]  # [L of each player]

    def plan(self, player: int, board: int) -> Floats:
        """Return the board's block of the plan."""
        return self._block(player, board, self.plans[player])

    def values(self, player: int, board: int, rule: int = EXPECTATION) -> Floats:
        """Return the board's block of the values of all rows."""
        if (player, rule) not in self._stored_values:
            game = self.game
            values = game.gradient(player, self.plans[1 - player])
            game.fold_up(player, rule, values, game.behaviour(player, self.plans[player]))
            self._stored_values[player, rule] = values
        return self._block(player, board, self._stored_values[player, rule])

    def _block(self, player: int, board: int, numbers: Floats) -> Floats:
        tree = self.game.trees[player]
        r = int(np.searchsorted(tree.board_start, board, side="right")) - 1
        return block(tree, r, board, numbers)

    @functools.cached_property
    def _stored_values(self) -> dict[tuple[int, int], Floats]:
        return {}


@dataclass(frozen=True, eq=False)
class Answers:
    """Spot with its game and strategies of both players, for questions about its nodes."""

    spot: Spot
    subgame: Subgame
    boards: BoardStrategies

    def at(self, node: str = "", runout: str = "", *, rule: int = EXPECTATION) -> NodeReport:
        """Report on the player to act at a node; `runout` are the cards dealt since the spot.

        By the rule `BEST` an action has the value that it has for a player who plays a best
        response after it; else both play the strategy.
        """
        spot, betting = self.spot, self.spot.betting
        v = spot.find(node)
        if betting.kind[v] != NodeKind.DECISION:
            raise InvalidValueError(self._no_decision(v), value=node)
        player, r = int(betting.player[v]), int(betting.round[v]) - betting.first_round
        cards, b, states = self._board(r, runout)
        place, rows = self._place(r, b), self.subgame.rows
        own, probabilities = self._played(v, place, states)
        other = _by_hand(self.boards.plan(1 - player, place)[rows[1 - player].row[v]], states)
        met = compatible(hand_table(), other)
        met = np.where(met > 1e-12 * max(other.sum(), 1e-300), met, 0)
        hands = np.flatnonzero((own > 0) & (met > 0))
        children = rows[player].row[list(betting.children(v))]
        # A state's value is the sum over its hands, times the probability of board and each pair.
        pairs, states_of = self.subgame.game.pairs, self.subgame.states
        size = pairs.state_size[int(pairs.state_start[place]) + states[hands]]
        scale = size * float(pairs.weight[place]) * met[hands]
        worth = self.boards.values(player, place, rule)
        values = [_by_hand(worth[row], states)[hands] / scale for row in children]
        weights = (own, other) if player == 0 else (other, own)
        share, unit = own[hands] * met[hands], spot.money
        paid = betting.spent[v].tolist()
        return NodeReport(
            rules=spot.game,
            node=spot.names[v],
            words=node_words(betting, v, unit.words),
            board=spot.board + cards_name(cards[len(spot.cards) :]),
            player=player,
            pot=unit.amount(sum(paid)),
            to_call=unit.amount(max(paid) - paid[player]),
            actions=spot.actions(v),
            action_words=action_labels(betting, v, unit.words),
            hands=hands,
            weight=own[hands],
            share=share / share.sum() if share.any() else share,
            probabilities=probabilities[:, hands].T,
            values=np.stack(values, axis=1) + paid[player] / unit.size,
            equity=equities(spot, cards, weights, player)[hands],
            reach=float(share.sum() * pairs.weight[place] / states_of.multiplicity[r][b]),
            unit=unit.name,
        )

    def on(self, node: str = "", board: str = "", *, rule: int = EXPECTATION) -> NodeReport:
        """Report on a node like `at`, given the whole board; default: the board of the spot."""
        cards, own = parse_cards(board), self.spot.cards
        if cards and {*cards[: len(own)]} != {*own}:
            raise InvalidValueError(
                f"the spot is on {self.spot.board}: give the whole board, those cards first, "
                f"not {board!r}",
                value=board,
            )
        return self.at(node, cards_name(cards[len(own) :]), rule=rule)

    def runouts(self, node: str = "", runout: str = "") -> list[NodeReport]:
        """Report on the first player to act after a node and each next card."""
        spot, betting = self.spot, self.spot.betting
        v = spot.find(node.removesuffix("/"))
        opening = next(iter(betting.children(v)), None)
        if betting.kind[v] != NodeKind.ROUND_END or opening is None:
            raise InvalidValueError(
                f"no card is dealt after {spot.names[v]!r}, as one is after {self._first_end()!r}",
                value=node,
            )
        cards, _, _ = self._board(int(betting.round[v]) - betting.first_round, runout)
        left = [card for card in reversed(spot.game.deck.cards) if card not in cards]
        dealt = cards[len(spot.cards) :]
        reports = []
        with phase("reporting each next card", total=len(left), unit="cards") as work:
            for card in left:
                reports.append(self.at(spot.names[opening], cards_name((*dealt, card))))
                work.advance()
        return reports

    @property
    def tree(self) -> BettingTree:
        """Betting from the spot's street on."""
        return self.spot.betting

    def probabilities(self, node: int, board: Cards) -> Floats:
        """Return the probability of each action of a decision, with each hand: [A, 1326].

        Uniform for hands that never arrive there.
        """
        r = int(self.tree.round[node]) - self.tree.first_round
        _, b, states = self._board(r, cards_name(board[len(self.spot.cards) :]))
        return self._played(node, self._place(r, b), states)[1]

    def _place(self, r: int, b: int) -> int:
        """Return the number of the b-th board of a round among all boards."""
        return int(self.subgame.game.trees[0].board_start[r]) + b

    def _played(
        self, v: int, place: int, states: NDArray[np.int32]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the weight [1326] and the probabilities [A, 1326] of the player at a decision."""
        player = int(self.tree.player[v])
        plan, row = self.boards.plan(player, place), self.subgame.rows[player].row
        own = _by_hand(plan[row[v]], states)
        taken = np.stack([_by_hand(plan[row[child]], states) for child in self.tree.children(v)])
        # Divided first: sums of rare hands are too small for `regret_matching`.
        shares = regret_matching(taken / np.where(own > 0, own, 1))
        return own, np.asarray(shares, np.float64)

    def _board(self, r: int, runout: str) -> tuple[Cards, int, NDArray[np.int32]]:
        """Return the cards on the table in round `r`, the stored board, and states of all hands."""
        spot, states = self.spot, self.subgame.states
        dealt = parse_cards(runout)
        check_distinct(spot.cards, dealt)
        wanted = states.boards[r].shape[1] - len(spot.cards)
        if len(dealt) != wanted:
            raise InvalidValueError(
                f"{wanted} cards are dealt after {spot.board} when this node is reached, not "
                f"{len(dealt)}; give them as the runout, or after the board",
                value=runout,
            )
        text = cards_name((*spot.cards, *dealt))
        b, cards, renaming = find_board(spot.game, states, r, text, spot.first_round)
        stored = np.sort(np.argsort(renaming)[hand_table()], axis=1)
        hands = stored[:, 1] * (stored[:, 1] - 1) // 2 + stored[:, 0]
        return cards, b, states.state_of_hand[r][b][hands]

    def _no_decision(self, v: int) -> str:
        name = self.spot.names[v]
        if self.spot.betting.kind[v] == NodeKind.ROUND_END:
            return f"a card is dealt after {name!r}: ask for {name + '/'!r} with its runout"
        return f"the hand is over after {name!r}, so nobody acts there"

    def _first_end(self) -> str:
        ends = self.spot.betting.nodes(NodeKind.ROUND_END)
        return self.spot.names[int(ends[0])] if len(ends) else "no node of a river"


def _by_hand(row: Floats, states: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return the numbers of a row for every hand, 0 if it cannot be held: [1326]."""
    return np.where(states >= 0, row[states], 0).astype(np.float64)


def equities(
    spot: Spot, board: Cards, weights: tuple[NDArray[np.float64], ...], player: int
) -> NDArray[np.float64]:
    """Return each hand's probability of winning on a board if nobody bets, ties half: [1326].

    `weights` [1326] are those of both players' hands; 0 for a hand that meets no other.
    """
    first, second = (own / max(own.max(), 1e-300) for own in weights)
    own, other = (first, second) if player == 0 else (second, first)
    met = compatible(hand_table(), other)
    can_meet = (own > 0) & (met > 1e-12)
    if not can_meet.any():
        return np.zeros(len(own))
    rules = spot.game
    if rules.ranking == "standard" and rules.total_board_cards == BOARD_CARDS:
        absent = [card for card in range(NUM_CARDS) if card not in rules.deck]
        found = hand_equities(Range(own), Range(other), board, absent)
    else:
        found = _checked_down(rules, board, (first, second), player, met)
    return np.where(can_meet, found, 0)


def _checked_down(
    rules: GameRules,
    board: Cards,
    weights: tuple[NDArray[np.float64], ...],
    player: int,
    met: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the equities [1326] in any game, by solving it without bets."""
    deep = replace(rules, stacks=(2**30, 2**30))
    found = subgame(deep, board, (weights[0], weights[1]), _NO_BETS, pot=2, only_held=True)
    game, states = found.game, found.states.state_of_hand[0][0]
    plan = game.realize(1 - player, game.uniform(1 - player))
    values = game.gradient(player, plan)
    game.fold_up(player, EXPECTATION, values, game.uniform(player))
    held = block(game.trees[player], 0, 0, values)[1]
    size = game.pairs.state_size[: len(held)]
    sign = np.where(states >= 0, (held / size)[states], 0) / float(game.pairs.weight[0])
    return np.asarray((sign / np.where(met > 0, met, 1) + 1) / 2)

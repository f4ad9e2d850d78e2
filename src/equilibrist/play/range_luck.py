"""Results of no-limit hands without luck: AIVAT for a player whose strategy is known.

`evaluation.aivat` describes the method and needs a model with every action, which no-limit games do
not have. Here the known player's hands are followed through the hand that was played
(`players.belief`), whatever its opponent bet. The opponent's cards are taken as seen, and its own
actions are not corrected. All terms are averages over the known player's hands, weighted by the
probability that it would have played like this:

- cards: the mean of a value over all cards that might have been dealt, the opponent's or those of a
  board, minus that of those dealt;
- actions of the known player: the mean of a value over its actions, minus that of the one taken;
- the result itself, and where no bet is left, the mean over the cards to come.

Each term has mean zero, whatever the value, so the mean of the results stays what it is. On the
last round the value is what the strategy wins against itself from there on, in the pot at the
table; before it, what each hand wins if both check and call to the end, and of folding what it
loses. Where there are too many boards to enumerate, as on the flop, a random sample stands for
them, which leaves the mean as well.
"""

from __future__ import annotations

import functools
import itertools
import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from equilibrist.cards.card import Cards
from equilibrist.cards.hand import hand_index
from equilibrist.evaluation.bucket_values import all_hands, live_hands, standings
from equilibrist.evaluation.history_values import fold_round, same_round, seen_hole
from equilibrist.games.action import Action
from equilibrist.games.betting import Betting
from equilibrist.games.betting_tree import NodeKind
from equilibrist.games.rules import GameRules
from equilibrist.games.state import Deal, HandState
from equilibrist.players.belief import Reading, TreeBelief, belief_about
from equilibrist.players.local_best_response import shares_on, shares_won
from equilibrist.players.player import View
from equilibrist.players.strategy_player import StrategyPlayer

Floats = NDArray[np.float64]
_MOST_BOARDS = 60  # boards that are enumerated; of more, a sample is drawn
_SAMPLES = 16  # boards drawn where hands must be compared on all boards that follow them
_RUNOUTS = 1_000  # boards drawn for an all-in
_DEAL_STAKE = 3.0  # big blinds: what a better hand than the opponent's is taken to be worth


class RangeLuck:
    """Corrects the results of one player, whose strategy is known, for luck."""

    def __init__(self, player: StrategyPlayer, rules: GameRules) -> None:
        self.player, self.rules = player, rules
        self._start = [belief_about(player, seat, rules) for seat in (0, 1)]
        self._last_values = functools.lru_cache(256)(self._fold_last)

    def chips(self, hand: HandState, seat: int) -> float:
        """Return the corrected chips of the known player, who sat at `seat` of a finished hand.

        Its own cards may be hidden; those of its opponent are needed.
        """
        return _Walk(self, hand, seat).corrected()

    def values(self, reading: Reading, view: View, board: Cards, seen: int) -> Floats:
        """Return what the player wins with each hand at a decision of either player: [H]."""
        betting = view.betting
        tree = self.player.strategy.tree
        if betting.round == self.rules.num_rounds - 1 and reading.node is not None:
            scale = betting.pot / int(tree.spent[reading.node].sum())
            return scale * self._last_values(reading.node, view.player, board, seen)[reading.node]
        won = 1 - shares_won(self.rules, _hole(self.rules, seen), board)
        return np.asarray(min(betting.spent) * (2 * won - 1))

    def after(self, reading: Reading, child: int | None, view: View, seen: int) -> Floats:
        """Return what the player wins with each hand after its action to a child: [H]."""
        betting, tree = view.betting, self.player.strategy.tree
        if child is not None and betting.round == self.rules.num_rounds - 1:
            assert reading.node is not None
            scale = betting.pot / int(tree.spent[reading.node].sum())
            values = self._last_values(reading.node, view.player, view.board, seen)
            return scale * values[child]
        won = 1 - shares_won(self.rules, _hole(self.rules, seen), view.board)
        if child is not None and tree.action_kind[child] == ord("f"):
            return np.full(len(won), -float(betting.spent[view.player]))
        stake = min(max(betting.spent), *self.rules.stack_chips)
        return np.asarray(stake * (2 * won - 1))

    def _fold_last(self, node: int, seat: int, board: Cards, seen: int) -> dict[int, Floats]:
        """Return what the player wins with each hand if both follow the strategy: [H] by node."""
        tree, hands = self.player.strategy.tree, np.arange(len(self._start[0].weights))
        signs = standings(self.rules, [board], seen)[0]
        state = HandState.start(self.rules, Deal(((), ())))
        view = View(replace(state, deal=Deal(((), ()), board)), seat)

        def leaf(v: int) -> Floats:
            spent = tree.spent[v].tolist()
            if tree.kind[v] == NodeKind.FOLD:
                lost = float(spent[tree.player[v]])
                return np.full(len(hands), -lost if tree.player[v] == seat else lost)
            return min(spent) * signs

        def share(child: int, actor: int) -> Floats:
            above = int(tree.parent[child])
            place = child - tree.children(above).start
            own = self.player.strategy.of_hands(above, view, hands)[place]
            return own if actor == seat else own[seen]

        nodes = same_round(tree, node)
        return fold_round(tree, nodes, leaf, lambda opening: 0.0, share)


class _Walk:
    """The terms of one hand."""

    def __init__(self, luck: RangeLuck, hand: HandState, seat: int) -> None:
        self.luck, self.rules, self.hand, self.seat = luck, luck.rules, hand, seat
        self.hole = seen_hole(hand, 1 - seat)
        self.seen = hand_index(*self.hole) if len(self.hole) == 2 else self.hole[0]
        self.random = np.random.default_rng([hand.hand_number, seat])

    def corrected(self) -> float:
        betting, belief = Betting.start(self.rules), self.luck._start[self.seat]
        assert isinstance(belief, TreeBelief)
        found, board, stop = self._deal(), self._board(0), betting
        for action in (action for actions in self.hand.betting.history for action in actions):
            dealt = self._board(betting.round)
            if dealt != board:
                found += self._cards(belief, self._view(betting, board), dealt)
                board = dealt
            view = self._view(betting, board)
            if betting.actor == self.seat:
                found += self._action(belief, view, action)
            belief, stop = belief.after(view, action), betting
            betting = betting.apply(action)
        return found + self._result(belief, stop)

    def _deal(self) -> float:
        """Return minus the value of the opponent's hand, whose mean over all hands is zero."""
        live, won = self._live([()])[0], 1 - shares_won(self.rules, self.hole, ())
        stake = min(_DEAL_STAKE * self.rules.big_blind, *self.rules.stack_chips)
        return -stake * float((2 * won[live] - 1).mean())

    def _board(self, r: int) -> Cards:
        return self.hand.deal.board[: self.rules.board_cards_by(r)]

    def _view(self, betting: Betting, board: Cards) -> View:
        return View(replace(self.hand, betting=betting, deal=Deal(((), ()), board)), self.seat)

    def _live(self, boards: list[Cards]) -> NDArray[np.bool_]:
        return live_hands(self.rules, [self.hole + board for board in boards])

    def _action(self, belief: TreeBelief, view: View, taken: Action) -> float:
        """Return the mean value over the player's actions, minus that of the one it took."""
        live = self._live([view.board])[0]
        won: dict[Action, float] = {}
        weight: dict[Action, float] = {}
        for reading, child, share in belief.choices(view):
            action = belief.action(child, view)
            weights = np.where(live, reading.weights * share, 0.0)
            values = self.luck.after(reading, child, view, self.seen)
            won[action] = won.get(action, 0.0) + float(weights @ values)
            weight[action] = weight.get(action, 0.0) + float(weights.sum())
        if not weight.get(taken, 0.0) > 0:
            return 0.0
        return sum(won.values()) / sum(weight.values()) - won[taken] / weight[taken]

    def _cards(self, belief: TreeBelief, view: View, dealt: Cards) -> float:
        """Return the mean value over the boards that might follow, minus that of the one dealt."""
        before, free = len(dealt), self._free(view.board)
        new = before - len(view.board)
        number, left = math.comb(len(free), new), len(free) - len(self.hole)
        if number <= _MOST_BOARDS:
            boards = [view.board + cards for cards in itertools.combinations(free, new)]
        else:
            boards = [view.board + cards for cards in self._drawn(free, new, _SAMPLES)]
        weights = np.where(self._live([view.board])[0], belief.weights, 0.0)
        total = float(weights.sum())
        if not total > 0:
            return 0.0
        sums = [self._worth(belief, view, board)[0] for board in boards]
        mean = sum(sums) / len(sums) * number / (math.comb(left, new) * total)
        worth, weight = self._worth(belief, view, dealt)
        return mean - worth / weight if weight > 0 else 0.0

    def _worth(self, belief: TreeBelief, view: View, board: Cards) -> tuple[float, float]:
        """Return the sum of weight times value over hands on a board, and that of weights."""
        live, won, total = self._live([board])[0], 0.0, 0.0
        for reading in belief.readings:
            weights = np.where(live, reading.weights, 0.0)
            values = self.luck.values(reading, view, board, self.seen)
            won, total = won + float(weights @ values), total + float(weights.sum())
        return won, total

    def _result(self, belief: TreeBelief, stop: Betting) -> float:
        """Return the result, averaged over hands and over cards that no bet can follow."""
        betting = self.hand.betting
        if not betting.is_showdown:
            return float(betting.payoffs()[self.seat])
        stake, last = min(betting.spent), self.rules.num_rounds - 1
        board = self._board(stop.round)
        weights = np.where(self._live([board])[0], belief.weights, 0.0)
        if stop.round == last or not weights.any():
            board = self.hand.deal.board[: self.rules.total_board_cards]
            weights = np.where(self._live([board])[0], belief.weights, 0.0)
            if not weights.any():
                return float(self.hand.payoffs()[self.seat])
            signs = standings(self.rules, [board], self.seen)[0]
            return stake * float(weights @ signs) / float(weights.sum())
        free, new = self._free(board), self.rules.total_board_cards - len(board)
        number = math.comb(len(free), new)
        if number <= _RUNOUTS * 2:
            won = 1 - shares_won(self.rules, self.hole, board)
            return stake * float(weights @ (2 * won - 1)) / float(weights.sum())
        boards = [board + cards for cards in self._drawn(free, new, _RUNOUTS)]
        twice, met = shares_on(self.rules, self.hole, np.array(boards, np.uint8))
        # Each pair of hands leaves the same share of the boards that leave one of them.
        left = math.comb(len(free) - len(self.hole), new) / number
        signs = (met - twice) / (left * len(boards))
        return stake * float(weights @ signs) / float(weights.sum())

    def _free(self, board: Cards) -> list[int]:
        taken = (*board, *self.hole)
        return [card for card in self.rules.deck.cards if card not in taken]

    def _drawn(self, free: list[int], new: int, number: int) -> list[Cards]:
        deck = np.tile(np.array(free), (number, 1))
        rows = self.random.permuted(deck, axis=1)[:, :new]
        return [tuple(row) for row in rows.tolist()]


def _hole(rules: GameRules, seen: int) -> Cards:
    return tuple(all_hands(rules)[seen].tolist())

"""A player that follows a strategy of buckets and solves turn and river again, with exact hands.

Before the turn it plays the stored strategy, and reads bets that this does not have as bets that it
has (`strategy_player`). From the turn on, a decision is solved again when the strategy at hand was
made for other cards or other bets: at the first decision of a street, and after every bet of the
opponent that the latest solution does not have. That bet itself is then in the tree, so no bet is
translated there. A solution is used until the next such decision.

Re-solving is safe (`solving/resolving.py`): what an opponent's hand may win by staying out is what
it wins by a best response to the strategy at hand. For the stored strategy that is computed on the
actual board with exact hands, for a solution in its subgame. If bets were translated before the
turn, its pot is another than the one at the table, and values are scaled by the pots.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from equilibrist.cards.card import Cards
from equilibrist.cards.hand import hand_index
from equilibrist.errors import InvalidValueError
from equilibrist.games.action import CALL, Action
from equilibrist.games.bet_menu import BetMenu
from equilibrist.games.betting import Betting
from equilibrist.games.betting_tree import BettingTree
from equilibrist.games.rules import GameRules
from equilibrist.kernels.treeplex import block, boards
from equilibrist.models.card_states import deals_of
from equilibrist.models.game import Floats
from equilibrist.models.subgame import Subgame, subgame_of
from equilibrist.players.bucket_strategy import BucketStrategy
from equilibrist.players.phased_player import PhasedPlayer
from equilibrist.players.player import Mixture, View
from equilibrist.players.strategy_player import StrategyPlayer, open_tree_strategy
from equilibrist.solving.realtime import DecisionBudget, TableSolution, parse_budget, warm_up
from equilibrist.solving.resolving import Profile, resolving_game

_LEAST = 1e-4  # smallest weight of a hand, as a share of the largest
_MORE_RAISES = 2  # maximum number of raises per street after the decision
# Bets of no-limit subgames: a turn has all its rivers, so its tree is smaller.
_ALONE = BetMenu.parse(bets="33%,67%,125%,a", raises="67%,a", force_all_in="15%")  # the last street
_WITH_NEXT = BetMenu.parse(bets="67%,a", raises="100%,a", force_all_in="15%")


class KnownPlay(NamedTuple):
    """A strategy for the rest of a hand, and where its first decision is at the table."""

    profile: Profile
    player: int  # whose strategy it is
    board: Cards
    start: Betting  # at the table
    scale: float  # chips at the table per chip of the profile
    is_solved: bool  # whether it was solved for the cards and bets at the table

    def leads_to(self, view: View) -> bool:
        """Return whether a decision at the table follows the first decision of the strategy."""
        made, begun = (
            [action for actions in betting.history for action in actions]
            for betting in (view.betting, self.start)
        )
        same_cards = view.board[: len(self.board)] == self.board
        return view.player == self.player and same_cards and made[: len(begun)] == begun


class _Row(NamedTuple):
    """An action of a player in a subgame, and the same one in the stored strategy."""

    round: int
    own: int  # row of the player's plan in the subgame
    stored: int


class Decision(NamedTuple):
    """A decision of ours in the tree of a known strategy."""

    node: int  # of the decision, or of the opponent's decision before
    is_unknown: bool  # whether the opponent's latest action there is not in the tree


@dataclass(frozen=True)
class ResolvedDecision:
    """One decision that was solved again."""

    hand: int  # number of the hand in the match
    round: int
    iterations: int
    seconds: float
    is_late: bool  # whether the time ran out before the iterations did


class ResolvingPlayer(PhasedPlayer):
    """A player that follows a bucket strategy and re-solves turn and river during play."""

    def __init__(
        self,
        strategy: BucketStrategy,
        rules: GameRules,
        name: str,
        budget: DecisionBudget | None = None,
        *,
        is_safe: bool = True,
    ) -> None:
        """Set up the player; if not `is_safe`, it solves from both players' ranges."""
        self._strategy, self._is_safe = strategy, is_safe
        self._budget = budget or DecisionBudget()
        self.decisions: list[ResolvedDecision] = []
        super().__init__(StrategyPlayer(strategy, rules, name), begin=rules.num_rounds - 2)

    def forget(self) -> None:
        """Forget all solutions."""
        self.known: KnownPlay | None = None
        self.decisions.clear()

    def decide(self, view: View) -> Mixture:
        """Return the action probabilities of the latest solution, solved again if need be."""
        warm_up()
        start = time.perf_counter()
        known = self.known
        if known is None or not known.leads_to(view):
            known = self.stored(view)
        if known is None:  # the strategy's tree is all-in, and the table is not
            return ((CALL, 1.0),)
        place = locate(known, view.betting)
        if not known.is_solved or place.is_unknown or known.start.round < view.betting.round:
            known = self._solve(view, known, place.node, start)
            place = Decision(0, False)
        self.known = known
        tree = known.profile.subgame.betting
        shares = known.profile.probabilities(place.node, view.board)[:, _hand(view)]
        actions = (tree.action(child) or CALL for child in tree.children(place.node))
        return tuple(
            (action, share)
            for action, share in zip(actions, shares.tolist(), strict=True)
            if share > 0
        )

    def _solve(self, view: View, known: KnownPlay, node: int, start: float) -> KnownPlay:
        """Solve the rest of the hand again from the decision at the table on."""
        menu = self._menu(view.betting)
        betting = BettingTree.build(view.rules, menu, start=view.betting, runs_out=True)
        found = resolving_game(
            known.profile, view.player, node, betting, view.board,
            is_safe=self._is_safe, scale=known.scale, least=_LEAST,
        )  # fmt: skip
        solution = TableSolution(found)
        is_late = solution.improve(self._budget, start)
        seconds = time.perf_counter() - start
        hand, r = view.state.hand_number, view.betting.round
        self.decisions.append(ResolvedDecision(hand, r, solution.iterations, seconds, is_late))
        profile = Profile(found, solution.plans())
        return KnownPlay(profile, view.player, view.board, view.betting, 1.0, is_solved=True)

    def _menu(self, betting: Betting) -> BetMenu:
        """Return the bets of a subgame that starts at the table."""
        rules, r = betting.rules, betting.round
        if rules.is_limit:
            return self._strategy.tree.menu
        raises = [_MORE_RAISES] * rules.num_rounds
        raises[r] += betting.num_raises
        menu = _ALONE if r == rules.num_rounds - 1 else _WITH_NEXT
        return replace(menu, max_raises=tuple(map(min, raises, rules.max_raises)))

    def stored(self, view: View) -> KnownPlay | None:
        """Return the stored strategy for the rest of the hand, with exact hands on the board."""
        r = view.betting.round
        node = self._first.opening(view, r)
        if node is None:
            return None
        board = tuple(card for deal in deals_of(view.rules, view.board) for card in sorted(deal))
        tree = self._strategy.tree
        own = BettingTree.build(tree.rules, tree.menu, start=tree.state(node), runs_out=True)
        found = subgame_of(own, board, (self._range(node, 0, board), self._range(node, 1, board)))
        plans = [
            self._plan(found, node, seat, lifts=seat == view.player or not self._is_safe)
            for seat in (0, 1)
        ]
        profile = Profile(found, (plans[0], plans[1]))
        opening = view.betting.opened(r)
        scale = opening.pot / int(tree.spent[node].sum())
        return KnownPlay(profile, view.player, view.board, opening, scale, is_solved=False)

    def _range(self, node: int, player: int, board: Cards) -> Floats:
        """Return a player's hands at a node of the stored strategy; all of them if it has none."""
        found = self._strategy.reach(node, player, board)
        return found if found.any() else np.ones_like(found)

    def _plan(self, found: Subgame, node: int, player: int, *, lifts: bool) -> Floats:
        """Return the stored strategy's plan in a subgame that follows a node: [L].

        Every hand plays like its bucket. If it is not lifted, the plan has the range only.
        """
        behaviour = found.game.uniform(player, np.float32)
        if lifts:
            self._lift(found, self._rows(found, node, player), player, behaviour)
        return found.game.realize(player, behaviour)

    def _lift(self, found: Subgame, rows: list[_Row], player: int, behaviour: Floats) -> None:
        """Write the stored strategy's behaviour into that of a subgame, board by board."""
        seat, tree = self._strategy.seat(player), found.game.trees[player]
        for s, of_round in enumerate(found.states.boards):
            r = s + found.betting.first_round
            here = [row for row in rows if row.round == r]
            mine, theirs = [row.own for row in here], [row.stored for row in here]
            table = block(seat.tree, r, r, seat.probabilities)[theirs] / np.float32(seat.sure)
            for number, board in zip(boards(tree, s), of_round.tolist(), strict=True):
                of_hand = found.states.state_of_hand[s][number - int(tree.board_start[s])]
                states, example = np.unique(of_hand, return_index=True)
                bucket = self._strategy.buckets(player, tuple(board))[example[states >= 0]]
                block(tree, s, number, behaviour)[mine] = table[:, bucket]

    def _rows(self, found: Subgame, node: int, player: int) -> list[_Row]:
        """Return a player's actions in a subgame with those in the stored strategy's tree."""
        known, own, stored = self._strategy.tree, found.betting, self._strategy.rows(player)
        rows: list[_Row] = []
        pairs = [(0, node)]
        for below, whole in pairs:  # the list grows during the iteration
            for child in own.children(below):
                same = known.same_child(whole, own, child)
                if same is None:  # cards are dealt after an all-in
                    continue
                pairs.append((child, same))
                if own.player[below] == player:
                    r = int(own.round[below])
                    rows.append(_Row(r, int(found.rows[player].row[child]), int(stored[same])))
        return rows


def locate(known: KnownPlay, betting: Betting) -> Decision:
    """Return the decision at the table in the tree of a known strategy."""
    tree, node, skipped = known.profile.subgame.betting, 0, known.start.num_actions
    for r, actions in enumerate(betting.history):
        if r > known.start.round:
            node = tree.children(node)[0]
        for action in actions:
            if skipped:
                skipped -= 1
                continue
            child = _child(known, node, action)
            if child is None:
                return Decision(node, True)
            node = child
    return Decision(node, False)


def _child(known: KnownPlay, node: int, action: Action) -> int | None:
    """Return the child of a node that an action at the table leads to, None if there is none."""
    tree = known.profile.subgame.betting
    for child in tree.children(node):
        amount = round(int(tree.action_amount[child]) * known.scale)
        if tree.action_kind[child] == ord(action.kind) and amount == action.amount:
            return child
    return None


def _hand(view: View) -> int:
    return hand_index(*view.hole) if len(view.hole) == 2 else view.hole[0]


def make_resolving_player(rules: GameRules, options: str) -> ResolvingPlayer:
    """Make the player of `BOT`, `BOT,SECONDS`, `BOT,iterations=N` and `BOT,unsafe`.

    `BOT` is a bot of buckets, or the folder of its strategy.
    """
    from equilibrist.bots.registry import BOTS

    bot, *words = options.split(",")
    budget, is_safe = DecisionBudget(), True
    for word in words:
        if word == "unsafe":
            is_safe = False
        else:
            budget = parse_budget(word, "resolve")
    folder = str(BOTS[bot].stored_strategy()) if bot in BOTS else bot
    strategy = open_tree_strategy(folder)
    if not isinstance(strategy, BucketStrategy):
        raise InvalidValueError(
            f"{bot} is no strategy of buckets; resolve needs one, such as nolimit-quick", value=bot
        )
    return ResolvingPlayer(strategy, rules, f"resolve-{bot}", budget, is_safe=is_safe)

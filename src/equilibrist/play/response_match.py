"""What a local best response wins from a strategy: matches in which only the cards are random.

Deals are those of a duplicate match: the responder holds the first hand in one seat, then the
second hand in the other. Of the opponent only the range is known, as the responder knows it, so a
hand's result is averaged over all hands that it can hold, and over whether it folds; its other
actions are drawn. That leaves the mean as it is, and much less variance.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from equilibrist import stopping
from equilibrist.cards.hand import hand_index
from equilibrist.cards.numbers import whole_number
from equilibrist.errors import InvalidValueError
from equilibrist.evaluation.bucket_values import live_hands, standings
from equilibrist.evaluation.statistics import MatchStatistics, Results, match_statistics
from equilibrist.games.action import CALL, FOLD, Action
from equilibrist.games.dealing import Dealer
from equilibrist.games.rules import GameRules
from equilibrist.games.state import MAX_HAND_NUMBER, Deal, HandState
from equilibrist.players.belief import Belief, belief_about
from equilibrist.players.local_best_response import best_action, parse_setting
from equilibrist.players.player import MOST_SEED, Player, View
from equilibrist.stopping import Stopped

Floats = NDArray[np.float64]
_LEAST = 1e-9  # probability below which the rest of a hand is not played


@dataclass(frozen=True, eq=False)
class LocalResponse:
    """What a local best response won from a player: D deals, each played in both seats."""

    rules: GameRules
    name: str  # of the player that is responded to
    setting: str
    chips: Floats  # [D] over two hands each
    is_finished: bool

    def statistics(self, unit: str | None = None) -> MatchStatistics:
        """Return win rate, interval and verdict of the responder."""
        results = Results(self.chips, hands_each=2)
        names = "local best response", self.name
        return match_statistics(results, rules=self.rules, unit=unit, names=names)


class Responder:
    """A local best response to one player, and what it wins with given cards."""

    def __init__(self, rules: GameRules, player: Player, setting: str) -> None:
        """Raise `InvalidValueError` for a game or a player that it cannot respond to."""
        if rules.num_players != 2 or any(rules.discards):
            raise InvalidValueError(
                f"{rules.name} is no game of two players without discards, so it has no local best "
                "response here",
                value=rules.name,
            )
        self.rules, self.player = rules, player
        self.words = parse_setting(setting, rules.num_rounds)
        self._start = [belief_about(player, seat, rules) for seat in (0, 1)]

    def wins(self, deal: Deal, seat: int, random: np.random.Generator | None = None) -> float:
        """Return the chips that the responder wins on average at a seat with its cards of a deal.

        The average is over the opponent's hands, and over its actions, of which all but folds are
        drawn if `random` is given.
        """
        hole = deal.holes[seat]
        hidden = Deal(tuple(hole if player == seat else () for player in (0, 1)), deal.board)
        is_live = live_hands(self.rules, [(*deal.board, *hole)])[0]
        start = HandState.start(self.rules, hidden)
        return self._wins(start, seat, self._start[1 - seat], is_live, random)

    def _wins(
        self,
        state: HandState,
        seat: int,
        belief: Belief,
        is_live: NDArray[np.bool_],
        random: np.random.Generator | None,
    ) -> float:
        if state.is_over:
            return self._end(state, seat, belief.weights * is_live)
        view = _seen(state, seat)
        if state.actor == seat:
            action = best_action(view, belief, self.words[state.betting.round])
            after = belief.after(view, action)
            return self._wins(state.apply(action), seat, after, is_live, random)
        options = belief.options(view, random or np.random.default_rng(0))
        weights = {action: float(own[is_live].sum()) for action, own in options}
        total, won = sum(weights.values()), 0.0
        if not total > 0:  # the strategy never plays like this: it calls
            weights, total = {CALL: 1.0}, 1.0
        if FOLD in weights:
            folded = state.betting.apply(FOLD).payoffs()[seat]
            won = folded * weights.pop(FOLD) / total
        left = sum(weights.values())
        if left <= _LEAST * total:
            return won
        if random is not None:
            weights = {_drawn(weights, random): left}
        for action, weight in weights.items():
            if weight > 0:
                after = belief.after(view, action)
                rest = self._wins(state.apply(action), seat, after, is_live, random)
                won += weight / total * rest
        return won

    def _end(self, state: HandState, seat: int, weights: Floats) -> float:
        """Return the chips at the end of a hand, averaged over the opponent's hands."""
        if not state.betting.is_showdown:
            return float(state.betting.payoffs()[seat])
        hole, total = state.deal.holes[seat], float(weights.sum())
        seen = hand_index(*hole) if len(hole) == 2 else hole[0]
        lost = standings(self.rules, [state.board], seen)[0]
        stake = min(state.betting.spent)
        return -stake * float(weights @ lost) / total if total > 0 else 0.0


def _seen(state: HandState, seat: int) -> View:
    """Return the view of the responder; the opponent's cards are hidden anyway."""
    return View(replace(state, deal=replace(state.deal, board=state.board)), seat)


def _drawn(weights: dict[Action, float], random: np.random.Generator) -> Action:
    numbers = np.array(list(weights.values()))
    return list(weights)[int(random.choice(len(numbers), p=numbers / numbers.sum()))]


def local_response(
    rules: GameRules,
    player: Player,
    setting: str,
    hands: int,
    *,
    seed: int = 0,
    watch: Callable[[float], None] | None = None,
) -> LocalResponse:
    """Play a local best response against a player; after a stop request, return what was played.

    Raises `Stopped` if fewer than two deals were played.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> from equilibrist.players.catalog import make_player
        >>> game = get_game("holdem-nolimit")
        >>> fold = make_player("always-fold", game)
        >>> local_response(game, fold, "c/c/fcpa/fcpa", 20).statistics().win_rate
        750.0
    """
    responder = Responder(rules, player, setting)
    whole_number(seed, "a seed", 0, MOST_SEED)
    hands = whole_number(hands, "the number of hands", 4, MAX_HAND_NUMBER)
    if hands % 2:
        raise InvalidValueError(
            f"every deal is played in both seats: give an even number of hands, not {hands}",
            value=hands,
        )
    chips = np.empty(hands // 2)
    stopping.expect("deal")
    for number, deal in zip(range(len(chips)), Dealer(rules, seed), strict=False):
        if stopping.is_requested():
            if number < 2:
                raise Stopped("stopped before the second deal")
            return LocalResponse(rules, player.name, setting, chips[:number], False)
        random = np.random.default_rng([seed, number])
        chips[number] = sum(responder.wins(deal, seat, random) for seat in (0, 1))
        if watch is not None:
            watch((number + 1) / len(chips))
    return LocalResponse(rules, player.name, setting, chips, True)

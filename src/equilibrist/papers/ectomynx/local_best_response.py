"""Local best response: a player whose winnings are a lower bound on a strategy's exploitability.

The player knows the opponent's strategy and tracks its range: the probability of each of 1326
hands, given its bets and swaps. It takes the action that is best if both check and call afterwards:

    fold      0
    call      wp · pot − (1 − wp) · asked
    raise     fp · pot + (1 − fp) · (wp' · (pot + r) − (1 − wp') · (asked + r))

wp is the probability to win against the range, wp' against the part of it that does not fold, fp
the probability that it folds, r the amount that the raise adds to the call. Raises are half a pot,
a pot and all-in. The player swaps by EctomynX's rule. Before the river, probabilities are estimated
from 2,000 boards on which both players swap by the rule. Its expected winnings are a lower bound on
those of a best response; a match estimates them, and the lower end of the confidence interval is
the bound. Such bounds do not rank strategies.

Source: Lisý and Bowling, "Equilibrium Approximation Quality of Current No-Limit Poker Bots" (2017),
Algorithm 1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from equilibrist.cards.card import Cards
from equilibrist.cards.hand import NUM_HANDS, hand_table
from equilibrist.cards.ranking import rank_hands
from equilibrist.errors import InvalidValueError
from equilibrist.games.action import CALL, FOLD, KEEP, Action, raise_to
from equilibrist.games.betting import Betting
from equilibrist.games.rules import GameRules
from equilibrist.papers.ectomynx.level_player import check_rules
from equilibrist.papers.ectomynx.swap_rule import swap_by_rule, swap_places
from equilibrist.players.catalog import make_player
from equilibrist.players.player import Player, View
from equilibrist.players.range_queries import QueryablePlayer, before_each, taken_at

# Number of sampled boards and hands per probability to win: with 2,000 its standard error is 0.011,
# or four chips of an all-in; with 200 it would be fourteen, and many all-ins would be luck.
_SAMPLES = 2_000
_BOARD_SIZES = (0, 3, 4, 5)
_POTS = (0.5, 1.0)  # raise sizes in pots, besides all-in

Floats = NDArray[np.float64]


class LocalBestResponse(Player):
    """A player that exploits one strategy, which it knows."""

    def __init__(self, rules: GameRules, other: Player) -> None:
        check_rules(rules, "lbr")
        if not isinstance(other, QueryablePlayer):
            raise InvalidValueError(
                f"lbr responds to ectomynx and ectomynx-frc, not to {other.name}", value=other.name
            )
        self.other = other
        self.name = f"lbr-{other.name}"
        self.reset(0)

    def act(self, view: View) -> Action:
        """Swap by the rule; bet so that the value is largest if no player bets afterwards."""
        if view.betting.is_discarding:
            return swap_by_rule(view.hole, view.board)
        hands, weights, won = self._meetings(view)
        return self._best(view.betting, view.board, hands, weights, won)

    def reset(self, seed: int) -> None:
        """Restart the random generator with a seed; the player has no other memory."""
        self._random = np.random.default_rng(seed)

    def _best(
        self, betting: Betting, board: Cards, hands: NDArray[np.uint8], weights: Floats, won: Floats
    ) -> Action:
        """Return the best action against hands [N, 2] from which shares [N] of the pot are won."""
        pot, asked = betting.pot, betting.to_call
        probability = float(weights @ won)
        values = {CALL: probability * pot - (1 - probability) * asked}
        if betting.can_fold:
            values[FOLD] = 0.0
        for amount in _raises(betting):
            after = betting.apply(raise_to(amount))
            folds = sum(
                (shares for action, shares in self.other.bet_probabilities(after, board, hands)
                 if action == FOLD),
                np.zeros(len(hands)),
            )  # fmt: skip
            folded, left = float(weights @ folds), weights * (1 - folds)
            probability = float(left @ won) / max(float(left.sum()), 1e-12)
            added = amount - max(betting.spent)
            stays = probability * (pot + added) - (1 - probability) * (asked + added)
            values[raise_to(amount)] = folded * pot + (1 - folded) * stays
        return max(values, key=lambda action: values[action])

    def _meetings(self, view: View) -> tuple[NDArray[np.uint8], Floats, Floats]:
        """Return the opponent's hands [N, 2], their probabilities, and our shares of the pot.

        On the river these are all hands; before it, a sample of hands with one board each.
        """
        probabilities = self.hands_of_other(view)
        table = hand_table()
        if len(view.board) == 5:
            live = np.flatnonzero(probabilities)
            ours = rank_hands([(*view.hole, *view.board)])[0].astype(np.int64)
            boards = np.tile(np.array(view.board), (len(live), 1))
            theirs = rank_hands(np.hstack([table[live], boards])).astype(np.int64)
            return table[live], probabilities[live], (np.sign(ours - theirs) + 1) / 2
        drawn = table[self._random.choice(NUM_HANDS, _SAMPLES, p=probabilities)]
        return drawn, np.full(_SAMPLES, 1 / _SAMPLES), self._play_out(view, drawn)

    def hands_of_other(self, view: View) -> Floats:
        """Return the probability of each opponent hand given its strategy and actions: [1326]."""
        table, other = hand_table(), 1 - view.player
        is_live = np.asarray(~np.isin(table, _seen(view)).any(axis=1))
        probabilities = is_live / is_live.sum()
        for before in before_each(view.betting):
            if before.actor != other:
                continue
            board = view.board[: _BOARD_SIZES[before.round]]
            taken = taken_at(view.betting, before)
            if before.is_discarding:
                swaps = self._live_swaps(before, board, is_live)
                probabilities = _after_swap(probabilities, swaps, taken == KEEP, is_live)
            else:
                found = dict(self.other.bet_probabilities(before, board, table[is_live]))
                likely = found.get(taken, np.zeros(is_live.sum()))
                probabilities = probabilities.copy()
                probabilities[is_live] *= likely
            total = probabilities.sum()
            probabilities = probabilities / total if total > 0 else is_live / is_live.sum()
        return np.asarray(probabilities)

    def _live_swaps(self, before: Betting, board: Cards, is_live: NDArray[np.bool_]) -> Floats:
        swaps = np.zeros((NUM_HANDS, 3))
        swaps[is_live] = self.other.swap_probabilities(before, board, hand_table()[is_live])
        return swaps

    def _play_out(self, view: View, theirs: NDArray[np.uint8]) -> Floats:
        """Return our shares of the pot [N] against hands [N, 2] if no player bets any more."""
        count, shown = len(theirs), len(view.board)
        # One deck per row; known cards go last.
        keys = self._random.random((count, 52))
        keys[:, _seen(view)] = 2
        np.put_along_axis(keys, theirs.astype(np.int64), 2, axis=1)
        deck = np.argsort(keys, axis=1)[:, :9].astype(np.uint8)
        boards = np.tile(np.array(view.board, np.uint8), (count, 1)).reshape(count, shown)
        boards = np.hstack([boards, deck[:, : 5 - shown]])
        replacements, ours = deck[:, 5:], np.tile(np.array(view.hole, np.uint8), (count, 1))
        hands = [ours, theirs.copy()]
        for place, size in enumerate((3, 4)):
            if size <= shown:
                continue
            for side, held in enumerate(hands):
                swap = swap_places(held, boards[:, :size])
                rows = np.flatnonzero(swap >= 0)
                held[rows, swap[rows]] = replacements[rows, 2 * place + side]
        one, two = (rank_hands(np.hstack([held, boards])).astype(np.int64) for held in hands)
        return (np.sign(one - two) + 1) / 2


def _seen(view: View) -> NDArray[np.int64]:
    """Return the cards that a player has seen: its own, its discarded ones, and the board."""
    swaps = view.state.swaps[view.player]
    cards = {*view.state.deal.holes[view.player], *view.board, *(c for swap in swaps for c in swap)}
    return np.array(sorted(cards), np.int64)


def _after_swap(
    probabilities: Floats, swaps: Floats, is_kept: bool, is_live: NDArray[np.bool_]
) -> Floats:
    """Return the range after a swap turn: unchanged hands, or hands with a new card.

    The new card is any unseen card except the discarded one, so no hand comes from itself.
    """
    if is_kept:
        return probabilities * swaps[:, 0]
    table, held = hand_table(), np.zeros(52)  # probability that each card stays
    for place in (0, 1):
        np.add.at(held, table[:, 1 - place], probabilities * swaps[:, 1 + place])
    same = probabilities * (swaps[:, 1] + swaps[:, 2])
    return np.maximum(held[table[:, 0]] + held[table[:, 1]] - same, 0) * is_live


def _raises(betting: Betting) -> list[int]:
    """Return the legal raise totals among half a pot, a pot and all-in."""
    if not betting.can_raise:
        return []
    called = max(betting.spent)
    pot = betting.pot + betting.to_call
    sizes = {called + round(part * pot) for part in _POTS} | {betting.max_raise_to}
    return sorted(size for size in sizes if betting.min_raise_to <= size <= betting.max_raise_to)


def make_local_best_response(rules: GameRules, options: str) -> LocalBestResponse:
    """Return the local best response to the player that `options` names."""
    if options.partition(":")[0] == "lbr":  # also prevents deep recursion by lbr:lbr:lbr:…
        raise InvalidValueError(
            "lbr responds to ectomynx and ectomynx-frc, not to lbr; write lbr:ectomynx",
            value=options[:60],
        )
    return LocalBestResponse(rules, make_player(options, rules))

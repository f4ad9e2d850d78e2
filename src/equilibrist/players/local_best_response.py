"""Local best response: a player whose winnings are a lower bound on a strategy's exploitability.

The player knows the opponent's strategy and tracks its range exactly (`players.belief`). It takes
the action that is best if both check and call afterwards, to the end of the hand:

    fold      0
    call      w · pot − (1 − w) · asked
    raise     f · pot + (1 − f) · (w' · (pot + r) − (1 − w') · (asked + r))

w is the probability to win against the range (half for a tie), w' against the part of it that does
not fold, f the probability that it folds, r what the raise adds to the call. All are exact on the
board that is seen; before the flop, w is that of the 169 classes of hands. What the player wins is
at most what a best response wins. It may be little, or negative, against a strategy that is very
exploitable: such bounds do not rank strategies.

Which actions are considered is a setting, one word per round: `c` checks and calls, `fc` folds or
calls, `fcpa` also bets the pot and all-in, `56bets` also bets 0.05 · 1.15^k of the pot for k = 0 to
54 and all-in. One word stands for all rounds. Bets before the turn make opponents fold before they
have put much in, so settings that wait win more.

Lisý and Bowling, "Equilibrium Approximation Quality of Current No-Limit Poker Bots" (2017),
Algorithm 1.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from equilibrist.cards.card import Cards
from equilibrist.cards.hand import NUM_HANDS, class_table, hand_index, hand_table
from equilibrist.cards.ranking import rank_tables
from equilibrist.catalogue import load_object
from equilibrist.errors import InvalidValueError, ParseError
from equilibrist.evaluation.bucket_values import live_hands, standings
from equilibrist.games.action import CALL, FOLD, Action, raise_to
from equilibrist.games.betting import Betting
from equilibrist.games.rules import GameRules
from equilibrist.players.belief import Belief, belief_about
from equilibrist.players.player import Player, View

Floats = NDArray[np.float64]

# Shares of the pot, by word; besides these, both bet all-in.
SIZES: Final = {"fcpa": (1.0,), "56bets": tuple(0.05 * 1.15**k for k in range(55))}
WORDS: Final = ("c", "fc", *SIZES)
# The settings of "DeepStack" (Moravčík et al. 2017), which gives figures for several bots.
LITERATURE: Final = ("fc", "c/c/fcpa/fcpa", "c/c/56bets/56bets", "c/56bets/fc/fc")
_MOST_BOARDS = 300_000  # boards to compare a hand on; more would take seconds per decision
_CLASSES = ((0, 3, 1, 1), 2, 52, "standard")  # board cards, hole cards, deck and ranking


def parse_setting(text: str, num_rounds: int) -> tuple[str, ...]:
    """Return the word of each round.

    Example:
        >>> parse_setting("fc", 4), parse_setting("c/c/fcpa/fcpa", 4)
        (('fc', 'fc', 'fc', 'fc'), ('c', 'c', 'fcpa', 'fcpa'))
    """
    words = text.split("/")
    if len(words) == 1:
        words *= num_rounds
    if len(words) != num_rounds or not set(words) <= set(WORDS):
        raise ParseError(
            f"{text[:40]!r} is no setting of local best response: write one of {', '.join(WORDS)} "
            f"for all rounds, or {num_rounds} with / between them, such as "
            f"{'/'.join(['c'] * (num_rounds - 1) + ['fcpa'])}",
            value=text,
        )
    return tuple(words)


def best_action(view: View, belief: Belief, word: str) -> Action:
    """Return the action of a local best response that may do what `word` says."""
    betting = view.betting
    if word == "c":
        return CALL
    own = shares_won(view.rules, view.hole, view.board)
    weights = np.where(live_hands(view.rules, [(*view.board, *view.hole)])[0], belief.weights, 0.0)
    total, won = float(weights.sum()), float(weights @ own)
    if not total > 0:
        return CALL  # the strategy never plays like this
    pot, asked = betting.pot, betting.to_call
    values = {CALL: (won * (pot + asked) / total) - asked}
    if betting.can_fold:
        values[FOLD] = 0.0
    raises = _raises(betting, SIZES.get(word))
    is_live = weights > 0
    for action, folds in zip(raises, belief.folds(view, raises) if raises else (), strict=True):
        folded = float(folds[is_live].sum())
        kept = won - float(folds[is_live] @ own[is_live])
        added = min(action.amount, betting.max_matched_to) - max(betting.spent)
        staying = kept * (pot + asked + 2 * added) - (total - folded) * (asked + added)
        values[action] = (folded * pot + staying) / total
    return max(values, key=lambda action: values[action])


def _raises(betting: Betting, sizes: Sequence[float] | None) -> list[Action]:
    """Return the legal raises of some shares of the pot, after calling, and all-in."""
    if sizes is None or not betting.can_raise:
        return []
    if betting.rules.is_limit:
        return [Action("r")]
    called, pot = max(betting.spent), betting.pot + betting.to_call
    totals = {called + round(size * pot) for size in sizes} | {betting.max_raise_to}
    low, high = betting.min_raise_to, betting.max_raise_to
    return [raise_to(total) for total in sorted(totals) if low <= total <= high]


@functools.lru_cache(maxsize=256)
def shares_won(rules: GameRules, hole: Cards, board: Cards) -> Floats:
    """Return the share of the pot that a hand wins on average against each hand: [H].

    All boards that are still possible are equally likely. Hands that share a card with the hand or
    the board have no meaning.
    """
    num_left = rules.total_board_cards - len(board)
    free = [card for card in rules.deck.cards if card not in (*board, *hole)]
    deals = rules.num_board_cards, rules.num_hole_cards, len(rules.deck), rules.ranking
    if deals == _CLASSES and not board:
        from equilibrist.cards.equity import preflop_table

        return np.asarray(preflop_table().equities[class_table()[hand_index(*hole)]][class_table()])
    number = math.comb(len(free), num_left)
    if number > _MOST_BOARDS:
        raise InvalidValueError(
            f"a local best response in {rules.name} would compare hands on {number:,} boards; "
            "check and call before the first board, with a setting such as c/fc/fc/fc",
            value=rules.name,
        )
    boards = np.array([board + cards for cards in itertools.combinations(free, num_left)], np.uint8)
    boards = boards.reshape(number, rules.total_board_cards)
    return _two_cards(rules, hole, boards) if len(hole) == 2 else _one_card(rules, hole[0], boards)


def shares_on(rules: GameRules, hole: Cards, boards: NDArray[np.uint8]) -> tuple[Floats, Floats]:
    """Return twice the pots that a hand of two cards wins from each hand on boards: [H].

    The second array [H] counts the boards on which the two hands meet. The boards leave the hand.
    """
    from equilibrist.kernels.cpu import hand_strength

    twice, met = np.zeros((2, NUM_HANDS), np.int64)
    tables = rank_tables(2 + rules.total_board_cards, rules.ranking)
    hands = hand_table().copy()
    hand_strength.add_shares(tables, hands, boards, hand_index(*hole), twice, met)
    return twice.astype(np.float64), met.astype(np.float64)


def _two_cards(rules: GameRules, hole: Cards, boards: NDArray[np.uint8]) -> Floats:
    twice, met = shares_on(rules, hole, boards)
    return twice / np.maximum(2 * met, 1)


def _one_card(rules: GameRules, card: int, boards: NDArray[np.uint8]) -> Floats:
    some = [tuple(board) for board in boards.tolist()]
    is_live = live_hands(rules, some)
    lost = np.where(is_live, standings(rules, some, card), 0.0).sum(axis=0)
    return np.asarray(0.5 - 0.5 * lost / np.maximum(is_live.sum(axis=0), 1))


class LocalBestResponse(Player):
    """A player that exploits one strategy, which it knows."""

    def __init__(self, rules: GameRules, other: Player, setting: str) -> None:
        """Set up the response to another player, with a setting of the module's words."""
        self.words = parse_setting(setting, rules.num_rounds)
        belief_about(other, 0, rules)  # refuse other players now
        self.other, self.name = other, f"lbr-{other.name}"

    def act(self, view: View) -> Action:
        """Return the best action if no player bets afterwards, against the opponent's range."""
        word = self.words[view.betting.round]
        return CALL if word == "c" else best_action(view, self.believed(view), word)

    def believed(self, view: View) -> Belief:
        """Return what the hand so far tells about the opponent's cards."""
        belief = belief_about(self.other, 1 - view.player, view.rules)
        betting, state = Betting.start(view.rules), view.state
        for action in (action for actions in view.betting.history for action in actions):
            board = view.board[: view.rules.board_cards_by(betting.round)]
            then = replace(state, betting=betting, deal=replace(state.deal, board=board))
            belief = belief.after(View(then, view.player), action)
            betting = betting.apply(action)
        return belief

    def reset(self, seed: int) -> None:
        """Do nothing: the player has no memory and draws no random numbers."""


def make_local_best_response(rules: GameRules, options: str) -> Player:
    """Make the local best response to the player of `PLAYER` or `PLAYER,SETTING`.

    In discard hold'em it responds to the players of that game, and has no setting.
    """
    from equilibrist.players.catalog import make_player

    if any(rules.discards):
        return _in_discard_game(rules, options)
    if options.partition(":")[0] == "lbr":  # also prevents deep recursion by lbr:lbr:lbr:…
        raise InvalidValueError(
            "lbr responds to a player that is known, not to lbr; write lbr:nolimit-quick",
            value=options[:60],
        )
    text, comma, setting = options.rpartition(",")
    is_setting = bool(comma) and set(setting.split("/")) <= set(WORDS)
    other = make_player(text if is_setting else options, rules)
    return LocalBestResponse(rules, other, setting if is_setting else LITERATURE[1])


def _in_discard_game(rules: GameRules, options: str) -> Player:
    """Return the local best response of discard hold'em, whose hands change."""
    make = load_object("equilibrist.papers.ectomynx.local_best_response:make_local_best_response")
    player: Player = make(rules, options)
    return player

"""Results of a match or session with the luck removed, by AIVAT (`evaluation.aivat`).

The strategies of players that are tables (`players.tables`) are known; the other player may be
anything, also a person, an external program or a learner. The luck of the cards and of the known
players' own random choices is removed; the mean stays that of the chips. If both players are known
in a game that fits into memory, nothing random is left and every hand has the exact expectation.

It works in limit games whose exact model fits into memory, such as Kuhn, Leduc, Rhode Island and
preflop hold'em, and in limit hold'em with all its rounds. There the cards of one player are taken
as seen even if both strategies are known, and values are estimates by the buckets of the other
(`evaluation.hand_views`, `evaluation.bucket_values`), so some variance is left. In no-limit games
one player must follow a stored strategy, and its range is followed (`play.range_luck`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equilibrist import stopping
from equilibrist.errors import InvalidValueError
from equilibrist.evaluation.aivat import Corrector, Seated, SeatedAivat
from equilibrist.evaluation.decision_values import DecisionValues, decision_values
from equilibrist.evaluation.hand_views import FirstDeal, HandViews
from equilibrist.evaluation.real_game.response import is_holdem
from equilibrist.evaluation.statistics import MatchStatistics, Results, match_statistics
from equilibrist.games.betting_tree import BettingTree
from equilibrist.games.records import HandRecord
from equilibrist.games.rules import GameRules
from equilibrist.games.sizes import deals_seen
from equilibrist.games.state import HandState
from equilibrist.models.exact import check_exact, exact_game
from equilibrist.phases import phase
from equilibrist.play.match import Match, Pair
from equilibrist.play.range_luck import RangeLuck
from equilibrist.players.known_plans import known_plans
from equilibrist.players.known_strategies import (
    AsPlayed,
    has_buckets,
    known_strategy,
    strategy_values,
)
from equilibrist.players.strategy_player import StrategyPlayer
from equilibrist.solving.forecast import forecast
from equilibrist.storage.memory import available_bytes, check_fits

_DECIMALS = 9  # of corrected chips; what is beyond them is rounding error
_SMALLER = "play a smaller game, such as leduc or rhode-island"


@dataclass(frozen=True, eq=False)
class LuckAdjusted:
    """The first player's results with and without luck: R runs (2 if duplicate) × D deals."""

    rules: GameRules
    names: tuple[str, str]
    plain: NDArray[np.float64]  # [R, D] chips won in each hand
    chips: NDArray[np.float64]  # [R, D] the same, corrected
    known: tuple[str, ...]  # names of the players whose strategies are known
    corrections: tuple[str, ...]  # what was corrected for: cards, actions of a player, seats

    @property
    def results(self) -> Results:
        """Corrected chips per deal [D], over one or two hands."""
        return Results(self.chips.sum(axis=0), hands_each=len(self.chips))

    def statistics(self, unit: str | None = None) -> MatchStatistics:
        """Return the corrected win rate, interval and verdict; needs at least two deals."""
        return match_statistics(self.results, rules=self.rules, unit=unit, names=self.names)

    @property
    def variance_factor(self) -> float | None:
        """How many times smaller the variance of a deal is; None if nothing varies any more."""
        return variance_factor([self])


def variance_factor(adjusted: Sequence[LuckAdjusted]) -> float | None:
    """Return the plain variance of a deal divided by the corrected one, over several matches.

    None if the corrected results of at least two deals do not vary, or there are fewer deals.
    """
    plain, corrected = (
        np.concatenate([getattr(match, name).sum(axis=0) for match in adjusted])
        for name in ("plain", "chips")
    )
    if len(plain) < 2 or (corrected == corrected[0]).all():
        return None
    return float(plain.var() / corrected.var())


class LuckAdjuster:
    """Removes the luck from hands of two players, of whom at least one is a table.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> from equilibrist.play.match import play_match
        >>> from equilibrist.players.catalog import make_player
        >>> kuhn = get_game("kuhn")
        >>> players = make_player("always-call", kuhn), make_player("mix:0.5,0,0.5", kuhn)
        >>> adjuster = LuckAdjuster(kuhn, players)
        >>> found = adjuster.match(play_match(kuhn, players, 10, keep_log=True))
        >>> found.statistics().win_rate, found.corrections  # exact, since both are known
        (0.0, ('cards', 'actions of always-call', 'actions of mix 0.5,0,0.5', 'seats'))
    """

    def __init__(self, rules: GameRules, players: Pair, agreed_rounds: int = 0) -> None:
        """Build the model; raise `InvalidValueError` if the luck of this game cannot be removed."""
        self.rules, self.names = rules, (players[0].name, players[1].name)
        check_luck_game(rules)
        strategies: list[Any]
        if not rules.is_limit:
            self._by_range(players, agreed_rounds)
            return
        by_hand = is_holdem(rules) and exact_bytes(rules) > available_bytes()
        if by_hand:
            tree = BettingTree.build(rules)
            strategies = [known_strategy(player, tree, agreed_rounds) for player in players]
        else:
            game = exact_game(rules, symmetry="suits")
            strategies = [known_plans(player, game, agreed_rounds) for player in players]
        self.known = tuple(
            name for name, own in zip(self.names, strategies, strict=True) if own is not None
        )
        if not self.known:
            raise InvalidValueError(
                f"the strategy of neither {self.names[0]} nor {self.names[1]} is known; AIVAT "
                "needs a mix, uniform or a stored strategy as at least one player",
                value=self.names,
            )
        pair = strategies[0], strategies[1]
        # Rounds from which on values are exact, and from which on they tell hands apart at all.
        self.exact_from = rules.num_rounds - 1 if by_hand else 0
        self.known_from = 0 if any(map(has_buckets, players)) else self.exact_from
        self._aivat: Seated | SeatedRange
        self._aivat = _by_hand(players, pair) if by_hand else SeatedAivat(game, pair)

    def _by_range(self, players: Pair, agreed_rounds: int) -> None:
        """Set up for a no-limit game, in which one player is followed by its range."""
        followed = [number for number in (0, 1) if type(players[number]) is StrategyPlayer]
        if not followed or agreed_rounds:
            raise InvalidValueError(
                "AIVAT in no-limit games needs a stored strategy, such as nolimit-quick, as at "
                "least one player, and no agreed rounds",
                value=self.names,
            )
        number = followed[0]
        player = players[number]
        assert isinstance(player, StrategyPlayer)
        self.known, self.exact_from = (self.names[number],), self.rules.num_rounds
        self.known_from = self.rules.num_rounds
        self._aivat = SeatedRange(RangeLuck(player, self.rules), number)

    def match(self, match: Match, watch: Callable[[float], None] | None = None) -> LuckAdjusted:
        """Correct the hands of a match that was played with `keep_log`.

        `watch` is called with the fraction that is done. Raises `Stopped` if a stop is requested
        while hands are corrected.
        """
        if len(match.logs) < len(match.chips):
            raise InvalidValueError("the hands of the match are not kept; play it with keep_log")
        runs, deals = match.chips.shape
        chips, was_stopped = np.empty((runs, deals)), stopping.is_requested()
        for run in range(runs):
            for number, record in enumerate(match.logs[run].hands[:deals]):
                if not was_stopped:
                    stopping.check()
                chips[run, number] = self._aivat.chips(record.state, (number + run) % 2)
                if watch is not None:
                    watch((run * deals + number + 1) / (runs * deals))
        seats = (np.arange(runs)[:, None] + np.arange(deals)) % 2
        return self._adjusted(match.chips.astype(np.float64), chips, seats)

    def hands(self, records: Sequence[HandRecord]) -> LuckAdjusted:
        """Correct hands that were recorded with the names of both players."""
        seats = np.array([record.names.index(self.names[0]) for record in records], np.int64)
        plain = [float(hand.payoffs[seat]) for hand, seat in zip(records, seats, strict=True)]
        chips = []
        with phase("removing the luck", total=len(records), unit="hands") as work:
            for hand, seat in zip(records, seats.tolist(), strict=True):
                chips.append(self._aivat.chips(hand.state, seat))
                work.advance()
        return self._adjusted(np.array([plain]), np.array([chips]), seats[None])

    @property
    def betting(self) -> BettingTree:
        """Betting of the hands."""
        assert isinstance(self._aivat, Seated)
        return self._aivat.views(0).betting

    def decisions(self, record: HandRecord) -> list[DecisionValues]:
        """Return what the actions of the first player were worth, whose strategy is unknown.

        Only decisions from round `known_from` on have values; from `exact_from` on they are exact.
        """
        assert isinstance(self._aivat, Seated)
        seat, tree = record.names.index(self.names[0]), self.betting
        found = decision_values(self._aivat.views(seat), record.state, seat)
        return [decision for decision in found if tree.round[decision.node] >= self.known_from]

    def _adjusted(
        self, plain: NDArray[np.float64], chips: NDArray[np.float64], seats: NDArray[np.int64]
    ) -> LuckAdjusted:
        corrections = ["cards", *(f"actions of {name}" for name in self.known)]
        if 2 * seats.sum() == seats.size and isinstance(self._aivat, Seated):
            # Both seats were played equally often, so their corrections sum to zero.
            promised = np.array([self._aivat.expected(seat) for seat in (0, 1)])
            chips = chips + promised.mean() - promised[seats]
            corrections.append("seats")
        rounded = np.round(chips, _DECIMALS) + 0.0  # no minus sign before a zero
        return LuckAdjusted(self.rules, self.names, plain, rounded, self.known, tuple(corrections))


class SeatedRange:
    """Corrects the hands of a match by the range of the first or the second player."""

    def __init__(self, luck: RangeLuck, number: int) -> None:
        self._luck, self._number = luck, number

    def chips(self, hand: HandState, seat: int) -> float:
        """Return the corrected chips of the first player, who is player `seat` of the hand."""
        own = self._luck.chips(hand, seat ^ self._number)
        return -own if self._number else own


def _by_hand(players: Pair, strategies: tuple[AsPlayed | None, AsPlayed | None]) -> Seated:
    """Return AIVAT by vectors over hands; values are those of a player with buckets, if any."""
    known = [number for number in (0, 1) if strategies[number] is not None]
    main = next((number for number in known if has_buckets(players[number])), known[0])
    own, other = strategies[main], strategies[1 - main]
    assert own is not None
    values = strategy_values(players[main], own)
    values.prepare()
    first_deal = FirstDeal.of(own, values)
    one, two = (
        Corrector(HandViews(main ^ seat, own, other, values, first_deal)) for seat in (0, 1)
    )
    seated = Seated((one, two))
    with phase("expected winnings of both seats", total=2, unit="seats") as work:
        for seat in (0, 1):
            seated.expected(seat)  # computed now, so that the time of a hand is that of any other
            work.advance()
    return seated


def luck_kernels(rules: GameRules) -> tuple[str, ...]:
    """Return the compiled functions that removing the luck needs in a game."""
    if not is_holdem(rules):
        return ("sequence_form.realize_team",)
    if not rules.is_limit:
        return "equity.sorted_hands", "equity.hand_sums", "hand_strength.add_shares"
    return "joint.add_pairs", "equity.sorted_hands", "equity.hand_sums", "rollout.label_board"


def check_luck_game(rules: GameRules) -> None:
    """Raise `InvalidValueError` for a game that is not covered, or too large for this machine."""
    if not rules.is_limit:
        if rules.num_players != 2 or any(rules.discards):
            raise InvalidValueError(
                f"{rules.name} has discards or more than two players; AIVAT does not cover it",
                value=rules.name,
            )
        return
    check_exact(rules)
    if not is_holdem(rules):  # which needs no exact model
        what = f"AIVAT's model of {rules.name} needs"
        check_fits(what, exact_bytes(rules), available_bytes(), _SMALLER)


def exact_bytes(rules: GameRules) -> int:
    """Return the memory of AIVAT with matrices over all pairs of hands."""
    betting = BettingTree.build(rules)
    deals, hands = deals_seen(rules)[1], len(rules.deck) ** rules.num_hole_cards
    nodes = [int((betting.round == r).sum()) for r in range(rules.num_rounds)]
    # Two matrices of pairs of hands on each board, and values at the nodes of all but the last.
    pairs = sum(
        number * hands * 8 * (2 + (0 if r == len(deals) - 1 else nodes[r]))
        for r, number in enumerate(deals)
    )
    return int(forecast(rules, betting, "suits").bytes + pairs)

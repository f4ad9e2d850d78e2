"""Matches of two players in this process: plain, duplicate, and many of them for learners.

Cards come from the ACPC generator and a seed. Players change seats every hand as at the ACPC: the
player at seat s of hand n is number (s − n) modulo 2 of the hand. A *duplicate* match plays the
same deals a second time with seats swapped, memories reset before, so that each deal is held by
both; its independent samples are the deals, not the hands.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from equilibrist.cards.numbers import whole_number
from equilibrist.errors import InvalidValueError
from equilibrist.games.dealing import Dealer
from equilibrist.games.match_log import MatchHeader, MatchLog
from equilibrist.games.records import HandRecord
from equilibrist.games.rules import GameRules
from equilibrist.games.state import MAX_HAND_NUMBER, HandState
from equilibrist.play.table import play_hand
from equilibrist.players.player import MOST_SEED, Player

Pair: TypeAlias = tuple[Player, Player]
Watch: TypeAlias = Callable[[float], None]  # told the share of the hands that is played, 0 to 1

SERIES = 20  # equal parts of a match whose winners were counted at the 2006 competition
_LOOKS = 200  # how often a match says how far it is


@dataclass(frozen=True, eq=False)
class Match:
    """What happened in a match, from the first player's side; R runs (2 if duplicate) × D deals."""

    rules: GameRules
    names: tuple[str, str]
    seed: int
    chips: NDArray[np.int64]  # [R, D] won by the first player in each hand
    logs: tuple[MatchLog, ...] = ()  # of each run, where they were asked for

    @property
    def num_hands(self) -> int:
        """Hands played in all."""
        return self.chips.size

    @property
    def is_duplicate(self) -> bool:
        """Whether each deal was played in both seats."""
        return len(self.chips) == 2

    @property
    def samples(self) -> NDArray[np.float64]:
        """Chips a hand won with each deal: [D]; independent where nobody learns."""
        return self.chips.mean(axis=0)

    def rate(self, share: float = 1.0) -> float:
        """Chips a hand over the last `share` of the deals, at least one."""
        return float(self.samples[-max(1, round(share * self.chips.shape[1])) :].mean())


def play_match(
    rules: GameRules,
    players: Pair,
    hands: int,
    *,
    seed: int = 0,
    duplicate: bool = False,
    agreed_rounds: int = 0,
    keep_log: bool = False,
    watch: Watch | None = None,
) -> Match:
    """Play so many hands in all, the first player at seat 0 of the first run.

    The deals are those of `seed`, and so are the seeds that the players are reset with. In the
    first `agreed_rounds` rounds all call by agreement: 1 makes postflop hold'em.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> from equilibrist.players.catalog import make_player
        >>> game = get_game("holdem-limit")
        >>> players = make_player("always-fold", game), make_player("always-raise", game)
        >>> match = play_match(game, players, 10, duplicate=True)
        >>> match.chips.shape, match.samples.tolist()  # 5 or 10 chips, for the blinds
        ((2, 5), [-7.5, -7.5, -7.5, -7.5, -7.5])
    """
    _check(rules, players, hands, seed, duplicate, agreed_rounds)
    runs = 1 + duplicate
    deals = hands // runs
    chips = np.empty((runs, deals), np.int64)
    logs = []
    for run in range(runs):
        seats = players[::-1] if run else players
        for place, player in enumerate(players):
            player.reset(_player_seed(seed, run, place))
        records = []
        dealer = Dealer(rules, seed)
        for number in range(deals):
            order = seats[::-1] if number % 2 else seats
            state = HandState.start(rules, next(dealer), number)
            record = play_hand(state, order, agreed_rounds)
            chips[run, number] = record.payoffs[(number + run) % 2]
            if keep_log:
                records.append(record)
            done = run * deals + number + 1
            if watch is not None and done * _LOOKS // hands > (done - 1) * _LOOKS // hands:
                watch(done / hands)
        if keep_log:
            logs.append(_log(rules, seats, records, seed))
    return Match(rules, (players[0].name, players[1].name), seed, chips, tuple(logs))


def play_matches(
    rules: GameRules,
    players: Pair,
    matches: int,
    hands: int,
    *,
    seed: int = 0,
    duplicate: bool = False,
    agreed_rounds: int = 0,
    keep_log: bool = False,
    watch: Watch | None = None,
) -> tuple[Match, ...]:
    """Independent matches of so many hands each, memories reset before each.

    Hands of a learner depend on each other; whole matches do not. GS3's protocol against Vexbot:
    20 matches of 100,000 hands, `rate()` of each, and `rate(0.1)`, its last tenth.
    """
    matches = whole_number(matches, "the number of matches", 1, MAX_HAND_NUMBER)
    seeds = np.random.SeedSequence(seed).generate_state(matches)
    found = []
    for number, match_seed in enumerate(seeds.tolist()):

        def look(share: float, number: int = number) -> None:
            if watch is not None:
                watch((number + share) / matches)

        found.append(
            play_match(
                rules,
                players,
                hands,
                seed=match_seed,
                duplicate=duplicate,
                agreed_rounds=agreed_rounds,
                keep_log=keep_log,
                watch=look,
            )
        )
    return tuple(found)


def series_score(match: Match, series: int = SERIES) -> tuple[int, int, int]:
    """Of so many equal series of a match: how many the first player won, lost and tied.

    Source: the 2006 AAAI Computer Poker Competition, as GS3's paper tells it; who wins more of 20
    series wins the pair.
    """
    deals = match.chips.shape[1]
    if not 1 <= series <= deals or deals % series:
        raise InvalidValueError(
            f"{deals} deals cannot be split into {series} equal series", value=series
        )
    totals = match.chips.sum(axis=0).reshape(series, -1).sum(axis=1)
    return int((totals > 0).sum()), int((totals < 0).sum()), int((totals == 0).sum())


def _check(
    rules: GameRules, players: Pair, hands: int, seed: int, duplicate: bool, agreed_rounds: int
) -> None:
    whole_number(seed, "a seed", 0, MOST_SEED)
    hands = whole_number(hands, "the number of hands", 1, MAX_HAND_NUMBER)
    if duplicate and hands % 2:
        raise InvalidValueError(
            f"a duplicate match plays every deal twice: its hands are an even number, not {hands}",
            value=hands,
        )
    if rules.num_players != 2:
        raise InvalidValueError(
            f"{rules.name} has {rules.num_players} players; matches are of two", value=rules.name
        )
    if players[0] is players[1]:
        raise InvalidValueError(
            f"{players[0].name} cannot play itself with one memory; make two players",
            value=players[0].name,
        )
    whole_number(agreed_rounds, "the number of agreed rounds", 0, rules.num_rounds - 1)
    if any(rules.discards[:agreed_rounds]):
        raise InvalidValueError(
            f"a round of {rules.name} with discards cannot be agreed on", value=agreed_rounds
        )


def _player_seed(seed: int, run: int, place: int) -> int:
    return int(np.random.SeedSequence([seed, run, place]).generate_state(1)[0])


def _log(rules: GameRules, seats: Pair, records: list[HandRecord], seed: int) -> MatchLog:
    names = (seats[0].name, seats[1].name)
    game = rules.name.replace(" ", "-") + ".game"
    header = MatchHeader(f"{names[0]}.{names[1]}", game, len(records), seed)
    return MatchLog(rules, names, tuple(records), header)

"""Matches of two players in this process: plain, duplicate, and series of matches for learners.

Cards come from the ACPC generator and a seed. Players change seats every hand as at the ACPC: the
player at seat s of hand n is number (s − n) modulo 2 of the hand. A *duplicate* match plays the
same deals a second time with seats swapped and memories reset, so that both players hold each deal;
its independent samples are the deals, not the hands.

Two *runners* play the same deals: `views` asks players hand by hand, `tables`
(`play.compiled_match`) plays the hands of two table players by compiled code. They draw random
numbers differently, so if players mix their actions the hands differ, but not their probabilities.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from equilibrist import stopping
from equilibrist.cards.numbers import whole_number
from equilibrist.errors import InvalidValueError
from equilibrist.evaluation.statistics import MatchStatistics, Results, match_statistics
from equilibrist.games.dealing import Dealer
from equilibrist.games.match_log import MatchHeader, MatchLog
from equilibrist.games.records import HandRecord
from equilibrist.games.rules import GameRules
from equilibrist.games.state import MAX_HAND_NUMBER, HandState
from equilibrist.play.table import check_two_players, play_hand
from equilibrist.players.player import MOST_SEED, Player
from equilibrist.stopping import Stopped

if TYPE_CHECKING:
    from equilibrist.play.compiled_match import TableMatch
    from equilibrist.play.luck import LuckAdjusted

Pair: TypeAlias = tuple[Player, Player]
Runner: TypeAlias = Literal["auto", "views", "tables"]
Watch: TypeAlias = Callable[[float], None]  # called with the fraction of hands played, 0 to 1

SERIES = 20  # equal parts of a match whose winners were counted at the 2006 competition
_NUM_REPORTS = 200  # number of progress reports per match


@dataclass(frozen=True, eq=False)
class Match:
    """The result of a match for the first player; R runs (2 if duplicate) × D deals."""

    rules: GameRules
    names: tuple[str, str]
    seed: int
    chips: NDArray[np.int64]  # [R, D] won by the first player in each hand
    logs: tuple[MatchLog, ...] = ()  # one per run, if requested
    runner: str = "views"  # or tables
    aivat: LuckAdjusted | None = None  # results without luck, if requested (`play.luck`)

    @property
    def num_hands(self) -> int:
        """Total number of hands played."""
        return self.chips.size

    @property
    def is_duplicate(self) -> bool:
        """Return whether each deal was played in both seats."""
        return len(self.chips) == 2

    @property
    def results(self) -> Results:
        """Chips won per deal [D], over one or two hands; independent if no player learns."""
        return Results(self.chips.sum(axis=0), hands_each=len(self.chips))

    def statistics(self, unit: str | None = None) -> MatchStatistics:
        """Return the first player's win rate, interval and verdict; needs at least two deals."""
        return match_statistics(self.results, rules=self.rules, unit=unit, names=self.names)

    def rate(self, share: float = 1.0) -> float:
        """Return the chips per hand over the last `share` of the deals, at least one deal."""
        return float(self.chips[:, -max(1, round(share * self.chips.shape[1])) :].mean())


@dataclass(frozen=True, kw_only=True)
class MatchSettings:
    """How a match is played; the module describes seats, deals and memories.

    `play_match` takes what one match needs as arguments; `play.match_run` plays all settings.
    """

    hands: int  # number of hands per match; the maximum if `until_sure`
    matches: int = 1  # independent matches; players forget everything between them
    duplicate: bool = False  # play every deal twice, with seats swapped
    agreed_rounds: int = 0  # all players call in the first rounds; 1 gives postflop hold'em
    seed: int = 0  # determines the deals and the seeds with which the players are reset
    runner: Runner = "auto"  # tables if both players are tables; `tables` refuses other players
    until_sure: bool = False  # stop when a sequential test decides
    aivat: bool = False  # correct the results for luck
    keep_log: bool = False  # keep every hand in the logs of the match

    @property
    def runs(self) -> int:
        """Number of times that every deal is played: 2 if duplicate, else 1."""
        return 1 + self.duplicate


def play_match(
    rules: GameRules,
    players: Pair,
    hands: int,
    *,
    seed: int = 0,
    duplicate: bool = False,
    agreed_rounds: int = 0,
    keep_log: bool = False,
    runner: Runner = "views",
) -> Match:
    """Play a match of `hands` hands in total, with the first player at seat 0 of the first run.

    `MatchSettings` explains the arguments. `run_match` does the same and reports its progress.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> from equilibrist.players.catalog import make_player
        >>> game = get_game("holdem-limit")
        >>> players = make_player("always-fold", game), make_player("always-raise", game)
        >>> match = play_match(game, players, 10, duplicate=True)
        >>> match.chips.shape, match.results.rates.tolist()  # 5 or 10 chips, for the blinds
        ((2, 5), [-7.5, -7.5, -7.5, -7.5, -7.5])
    """
    settings = MatchSettings(
        hands=hands,
        seed=seed,
        duplicate=duplicate,
        agreed_rounds=agreed_rounds,
        keep_log=keep_log,
        runner=runner,
    )
    return run_match(rules, players, settings)


def run_match(
    rules: GameRules, players: Pair, settings: MatchSettings, watch: Watch | None = None
) -> Match:
    """Play one match with the hands, deals, runner and log of the settings.

    On a stop request, `Stopped` is raised; its `partial` is the match so far (`_so_far`) if a hand
    was played.
    """
    check_match(rules, players, settings)
    tables = find_tables(rules, players, settings.runner)
    deals = settings.hands // settings.runs
    chips = np.empty((settings.runs, deals), np.int64)
    logs: list[MatchLog] = []
    names = (players[0].name, players[1].name)
    kind = "views" if tables is None else "tables"
    for run in range(len(chips)):

        def report(done: int, run: int = run) -> None:
            if watch is not None:
                watch((run * deals + done) / settings.hands)

        play = _Run(rules, players, settings, run, report)
        stopping.expect("hand" if tables is None else "batch of hands")
        done, records = (
            play.by_views(chips[run]) if tables is None else play.by_tables(tables, chips[run])
        )
        if settings.keep_log and records:
            logs.append(play.log(records))
        if done < deals:
            played = _so_far(chips, run, done)
            partial = Match(rules, names, settings.seed, played, tuple(logs), kind)
            raise Stopped("stopped before the first hand", partial=partial if played.size else None)
    return Match(rules, names, settings.seed, chips, tuple(logs), kind)


def _so_far(chips: NDArray[np.int64], run: int, done: int) -> NDArray[np.int64]:
    """Return the chips [R, D] of a match that was stopped after some deals of a run.

    A duplicate match keeps the deals that both players held; if there are none, it becomes a match
    of one run.
    """
    return chips[: run + 1, :done] if done else chips[:run]


def find_tables(rules: GameRules, players: Pair, runner: Runner) -> TableMatch | None:
    """Return the compiled match of two tables; None if the players or the runner need views."""
    if runner == "views":
        return None
    from equilibrist.play.compiled_match import TableMatch

    found = TableMatch.of(rules, players)
    if found is None and runner == "tables":
        raise InvalidValueError(
            f"{players[0].name} and {players[1].name} are not both tables in a limit game; "
            "use the runner auto or views",
            value=runner,
        )
    return found


class _Run(NamedTuple):
    """One run of a match, played by views or by tables.

    Both methods write the first player's chips [D]. They return the number of deals played, fewer
    on a stop request, and the records if `settings.keep_log`. `report` is called with the number of
    deals played.
    """

    rules: GameRules
    players: Pair
    settings: MatchSettings
    run: int
    report: Callable[[int], None]

    @property
    def seats(self) -> Pair:
        return self.players[::-1] if self.run else self.players

    def log(self, records: list[HandRecord]) -> MatchLog:
        names = (self.seats[0].name, self.seats[1].name)
        header = MatchHeader.of(self.rules, names, len(records), self.settings.seed)
        return MatchLog(self.rules, names, tuple(records), header)

    def by_views(self, chips: NDArray[np.int64]) -> tuple[int, list[HandRecord]]:
        for place, player in enumerate(self.players):
            player.reset(player_seed(self.settings.seed, self.run, place))
        records: list[HandRecord] = []
        dealer = Dealer(self.rules, self.settings.seed)
        for number in range(len(chips)):
            if stopping.is_requested():
                return number, records
            order = self.seats[::-1] if number % 2 else self.seats
            state = HandState.start(self.rules, next(dealer), number)
            record = play_hand(state, order, self.settings.agreed_rounds)
            chips[number] = record.payoffs[(number + self.run) % 2]
            if self.settings.keep_log:
                records.append(record)
            if (number + 1) * _NUM_REPORTS // len(chips) > number * _NUM_REPORTS // len(chips):
                self.report(number + 1)
        return len(chips), records

    def by_tables(
        self, tables: TableMatch, chips: NDArray[np.int64]
    ) -> tuple[int, list[HandRecord]]:
        won, leaves = tables.play(
            len(chips),
            seed=self.settings.seed,
            run=self.run,
            agreed_rounds=self.settings.agreed_rounds,
            watch=self.report,
        )
        chips[: len(won)] = won
        records = []
        names = (self.seats[0].name, self.seats[1].name)
        deals = zip(leaves.tolist(), Dealer(self.rules, self.settings.seed), strict=False)
        for number, (leaf, deal) in enumerate(deals if self.settings.keep_log else ()):
            state = tables.state(leaf, HandState.start(self.rules, deal, number))
            order = names[::-1] if number % 2 else names
            records.append(HandRecord(state, order, state.payoffs()))
        return len(won), records


def play_matches(
    rules: GameRules, players: Pair, settings: MatchSettings, watch: Watch | None = None
) -> tuple[Match, ...]:
    """Play `settings.matches` independent matches, with memories reset before each match.

    Hands of a learner depend on each other; whole matches do not. GS3's protocol against Vexbot is
    20 matches of 100,000 hands, `rate()` of each, and `rate(0.1)`, its last tenth. On a stop
    request, `Stopped` is raised; its `partial` are the finished matches.
    """
    matches = whole_number(settings.matches, "the number of matches", 1, MAX_HAND_NUMBER)
    seeds = np.random.SeedSequence(settings.seed).generate_state(matches)
    found: list[Match] = []
    for number, seed in enumerate(seeds.tolist()):
        report = watch_part(watch, number, matches)
        try:
            found.append(run_match(rules, players, replace(settings, seed=seed), report))
        except Stopped:
            raise Stopped(
                "stopped before the end of the first match", partial=tuple(found) or None
            ) from None
    return tuple(found)


def watch_part(watch: Watch | None, number: int, parts: int) -> Watch | None:
    """Return the function that receives the progress of one of several equal parts, from part 0 on.

    Example:
        >>> watch_part(print, 1, 4)(0.5)
        0.375
    """
    return None if watch is None else lambda share: watch((number + share) / parts)


def series_score(match: Match, series: int = SERIES) -> tuple[int, int, int]:
    """Return how many of `series` equal parts of a match the first player won, lost and tied.

    Source: the 2006 AAAI Computer Poker Competition, as described in GS3's paper; the player that
    wins more of 20 series wins the match.
    """
    deals = match.chips.shape[1]
    if not 1 <= series <= deals or deals % series:
        raise InvalidValueError(
            f"{deals} deals cannot be split into {series} equal series", value=series
        )
    totals = match.chips.sum(axis=0).reshape(series, -1).sum(axis=1)
    return int((totals > 0).sum()), int((totals < 0).sum()), int((totals == 0).sum())


def check_match(rules: GameRules, players: Pair, settings: MatchSettings) -> None:
    """Raise `InvalidValueError` if a match cannot be played with these settings."""
    whole_number(settings.seed, "a seed", 0, MOST_SEED)
    hands = whole_number(settings.hands, "the number of hands", 1, MAX_HAND_NUMBER)
    if settings.duplicate and hands % 2:
        raise InvalidValueError(
            f"a duplicate match plays every deal twice: it needs an even number, not {hands} hands",
            value=hands,
        )
    check_two_players(rules)
    if players[0] is players[1]:
        raise InvalidValueError(
            f"{players[0].name} cannot play against itself with one memory; make two players",
            value=players[0].name,
        )
    agreed = settings.agreed_rounds
    whole_number(agreed, "the number of agreed rounds", 0, rules.num_rounds - 1)
    if any(rules.discards[:agreed]):
        raise InvalidValueError(
            f"rounds of {rules.name} with discards cannot be agreed rounds", value=agreed
        )


def player_seed(seed: int, run: int, place: int) -> int:
    """Return the seed with which the first (0) or second (1) player of a match is reset."""
    return int(np.random.SeedSequence([seed, run, place]).generate_state(1)[0])

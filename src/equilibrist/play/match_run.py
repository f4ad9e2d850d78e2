"""One call for every kind of match: single, a series for learners, until decided, without luck."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from equilibrist.errors import InvalidValueError
from equilibrist.evaluation.sequential import SequentialTest
from equilibrist.games.rules import GameRules
from equilibrist.play.luck import LuckAdjuster, check_luck_game
from equilibrist.play.match import Match, Pair, Runner, Watch, check_match, play_match, play_matches
from equilibrist.play.sequential_match import play_sequential_match
from equilibrist.stopping import Stopped


@dataclass(frozen=True, kw_only=True)
class MatchSettings:
    """How a match is played; seats, deals and memories are described in `play.match`."""

    hands: int  # number of hands per match; the maximum if `until_sure`
    matches: int = 1  # independent matches; players forget everything between them
    duplicate: bool = False
    agreed_rounds: int = 0
    seed: int = 0
    runner: Runner = "auto"
    until_sure: bool = False  # stop when a sequential test decides
    aivat: bool = False  # correct the results for luck
    keep_log: bool = False


@dataclass(frozen=True, eq=False)
class PlayedMatches:
    """The matches that were played, at least one, and how the play ended."""

    matches: tuple[Match, ...]
    test: SequentialTest | None  # if the match was played until it was decided
    is_finished: bool  # false after a stop request
    seconds: float


def play_as_set(
    rules: GameRules,
    players: Pair,
    settings: MatchSettings,
    watching: Callable[[str], Watch] | None = None,
) -> PlayedMatches:
    """Play what the settings describe; after a stop request, return what was played so far.

    `watching` makes the function that receives the progress of a piece of work, from its
    description. Raises `Stopped` if nothing was played.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> from equilibrist.players.catalog import make_player
        >>> leduc = get_game("leduc")
        >>> players = make_player("uniform", leduc), make_player("always-call", leduc)
        >>> played = play_as_set(leduc, players, MatchSettings(hands=20, matches=3))
        >>> len(played.matches), played.is_finished
        (3, True)
    """
    check_settings(rules, players, settings)
    adjuster = LuckAdjuster(rules, players, settings.agreed_rounds) if settings.aivat else None
    names = f"{players[0].name} against {players[1].name}"
    start = time.perf_counter()
    found, test, is_finished = _play(rules, players, settings, watching and watching(names))
    if adjuster is not None:
        watch = watching and watching(f"luck of {names}")
        try:
            found = tuple(replace(match, aivat=adjuster.match(match, watch)) for match in found)
        except Stopped:
            is_finished = False
    return PlayedMatches(found, test, is_finished, time.perf_counter() - start)


def check_settings(rules: GameRules, players: Pair, settings: MatchSettings) -> None:
    """Raise `InvalidValueError` if a match cannot be played with these settings."""
    if settings.until_sure and (settings.matches > 1 or settings.keep_log or settings.aivat):
        raise InvalidValueError(
            "a match that is played until it is decided is one match of plain results, without a "
            "log"
        )
    check_match(
        rules,
        players,
        settings.hands,
        settings.seed,
        settings.duplicate,
        settings.agreed_rounds,
        settings.runner,
    )
    if settings.aivat:
        check_luck_game(rules)


def _play(
    rules: GameRules, players: Pair, settings: MatchSettings, watch: Watch | None
) -> tuple[tuple[Match, ...], SequentialTest | None, bool]:
    """Return the matches, the test if there is one, and whether the play was finished."""
    common: dict[str, Any] = {
        "duplicate": settings.duplicate,
        "agreed_rounds": settings.agreed_rounds,
        "seed": settings.seed,
        "runner": settings.runner,
        "watch": watch,
    }
    keep = settings.keep_log or settings.aivat
    found: Any  # a match, several, or one and its test
    is_finished = True
    try:
        if settings.until_sure:
            found = play_sequential_match(rules, players, settings.hands, **common)
        elif settings.matches > 1:
            number, hands = settings.matches, settings.hands
            found = play_matches(rules, players, number, hands, keep_log=keep, **common)
        else:
            found = play_match(rules, players, settings.hands, keep_log=keep, **common)
    except Stopped as stopped:
        if stopped.partial is None:
            raise
        found, is_finished = stopped.partial, False
    if settings.until_sure:
        return (found[0],), found[1], is_finished
    return found if settings.matches > 1 else (found,), None, is_finished

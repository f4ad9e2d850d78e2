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
from equilibrist.play.match import (
    Match,
    MatchSettings,
    Pair,
    Watch,
    check_match,
    find_tables,
    play_matches,
    run_match,
)
from equilibrist.play.sequential_match import play_sequential_match
from equilibrist.players.catalog import player_learns
from equilibrist.stopping import Stopped


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
    if settings.until_sure:
        _check_until_sure(players, settings)
    check_match(rules, players, settings)
    if settings.runner == "tables":
        find_tables(rules, players, settings.runner)
    if settings.aivat:
        check_luck_game(rules)


def _check_until_sure(players: Pair, settings: MatchSettings) -> None:
    """Raise `InvalidValueError` if a sequential test does not apply to these players or results."""
    if settings.matches > 1 or settings.keep_log or settings.aivat:
        raise InvalidValueError(
            "a match that is played until it is decided is one match of plain results, without a "
            "log"
        )
    for player in players:
        if player_learns(player.name.partition(" ")[0]):  # without its options
            raise InvalidValueError(
                f"{player.name} learns, so its hands depend on each other and a sequential test of "
                "them does not hold; play several matches instead",
                value=player.name,
            )


def _play(
    rules: GameRules, players: Pair, settings: MatchSettings, watch: Watch | None
) -> tuple[tuple[Match, ...], SequentialTest | None, bool]:
    """Return the matches, the test if there is one, and whether the play was finished."""
    settings = replace(settings, keep_log=settings.keep_log or settings.aivat)
    found: Any  # a match, several, or one and its test
    is_finished = True
    try:
        if settings.until_sure:
            found = play_sequential_match(rules, players, settings, watch=watch)
        elif settings.matches > 1:
            found = play_matches(rules, players, settings, watch)
        else:
            found = run_match(rules, players, settings, watch)
    except Stopped as stopped:
        if stopped.partial is None:
            raise
        found, is_finished = stopped.partial, False
    if settings.until_sure:
        return (found[0],), found[1], is_finished
    return found if settings.matches > 1 else (found,), None, is_finished

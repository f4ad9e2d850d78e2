"""Observations of a player that plays for this purpose: its actions against a probing player.

The probe never folds, and calls or raises with equal probability whatever it holds, so that it
comes to nearly all decisions of the other ("Computing robust counter-strategies", NIPS 2007, trains
its models on hands against such a player). Both are played by compiled code if they are tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from equilibrist.errors import InvalidValueError
from equilibrist.evaluation.observation import Observer
from equilibrist.games.records import HandRecord
from equilibrist.games.rules import GameRules
from equilibrist.play.match import MatchSettings, Watch, run_match, watch_part
from equilibrist.players.catalog import make_player
from equilibrist.players.player import Player

PROBE = "mix:0,0.5,0.5"
_AT_ONCE = 20_000  # hands kept in memory, unless the player learns: then the match is one


def observe_player(
    observer: Observer,
    player: Player,
    rules: GameRules,
    hands: int,
    *,
    learns: bool = False,
    seed: int = 0,
    watch: Watch | None = None,
) -> None:
    """Let a player play some hands against the probe, and count its actions.

    A player that learns plays one match; others play matches of at most 20,000 hands. The
    observer's name must be that of the player.
    """
    if hands < 1:
        raise InvalidValueError(f"the number of hands must be at least 1, not {hands}", value=hands)
    for record in _records(player, rules, hands, hands if learns else _AT_ONCE, seed, watch):
        for _ in observer.see([record]):
            pass


def _records(
    player: Player, rules: GameRules, hands: int, most: int, seed: int, watch: Watch | None
) -> Iterator[HandRecord]:
    parts = -(-hands // most)
    seeds: list[int] = np.random.SeedSequence(seed).generate_state(parts).tolist()
    probe = make_player(PROBE, rules)
    probe.name = "probe"  # the player may be the same mix
    for part, own_seed in enumerate(seeds):
        number = min(most, hands - part * most)
        settings = MatchSettings(hands=number, seed=own_seed, keep_log=True)
        report: Callable[[float], None] | None = watch_part(watch, part, parts)
        match = run_match(rules, (player, probe), settings, report)
        for log in match.logs:
            yield from log.hands

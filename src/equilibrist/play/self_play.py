"""Observations of a player that plays for this purpose: its actions against a probing player.

The probe never folds, and calls or raises with equal probability whatever it holds, so that it
comes to nearly all decisions of the other ("Computing robust counter-strategies", NIPS 2007, trains
its models on hands against such a player). Both are played by compiled code if they are tables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from equilibrist.errors import InvalidValueError
from equilibrist.evaluation.observation import Observer
from equilibrist.games.dealing import Dealer
from equilibrist.games.rules import GameRules
from equilibrist.games.state import HandState
from equilibrist.play.match import MatchSettings, Watch, find_tables, run_match, watch_part
from equilibrist.players.catalog import make_player
from equilibrist.players.player import Player
from equilibrist.stopping import Stopped

if TYPE_CHECKING:
    from equilibrist.play.compiled_match import TableMatch

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
    most = hands if learns else _AT_ONCE
    probe = make_player(PROBE, rules)
    probe.name = "probe"  # the player may be the same mix
    parts = -(-hands // most)
    seeds: list[int] = np.random.SeedSequence(seed).generate_state(parts).tolist()
    tables = None if learns or observer.hides else find_tables(rules, (player, probe), "auto")
    for part, own_seed in enumerate(seeds):
        number = min(most, hands - part * most)
        report = watch_part(watch, part, parts)
        if tables is not None:
            _count_tables(observer, tables, number, own_seed)
            if report is not None:
                report(1.0)
            continue
        settings = MatchSettings(hands=number, seed=own_seed, keep_log=True)
        match = run_match(rules, (player, probe), settings, report)
        for _ in observer.see(hand for log in match.logs for hand in log.hands):
            pass


def _count_tables(observer: Observer, tables: TableMatch, hands: int, seed: int) -> None:
    """Count the hands of a match of two tables by its leaves, without a record of each hand."""
    rules, hole = tables.rules, tables.rules.num_hole_cards
    _, leaves = tables.play(hands, seed=seed)
    if len(leaves) < hands:
        raise Stopped("stopped while a player was observed")
    cards, start = Dealer(rules, seed).cards(hands), HandState.start(rules, next(Dealer(rules, 0)))
    for seat in (0, 1):  # seats change every hand, and the observed player begins as player 0
        own = cards[seat::2, seat * hole : (seat + 1) * hole]
        board = cards[seat::2, rules.num_players * hole :]
        ends = leaves[seat::2]
        for leaf in np.unique(ends).tolist():
            chosen = ends == leaf
            observer.add_shown(tables.state(leaf, start).betting, seat, own[chosen], board[chosen])

"""Matches that stop when they are decided: parts are played until a sequential test decides.

Every part is a match with its own deals and memories reset. Parts grow with the number of hands
played, so that at most a fifth of all hands comes after the decision. The test is evaluated after
every deal, and it accounts for this (`evaluation.sequential`). It assumes independent deals, so it
is not valid for players that learn.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from equilibrist.evaluation.sequential import MixtureSPRT, SequentialTest
from equilibrist.games.rules import GameRules
from equilibrist.play.match import Match, MatchSettings, Pair, Watch, check_match, run_match
from equilibrist.stopping import Stopped

_GROWTH = 4  # ratio of the hands played so far to the length of the next part
_REPORTED = 20  # no progress is reported before 1 / 20 of the hands: the parts are too short
_RULE = MixtureSPRT()


def play_sequential_match(
    rules: GameRules,
    players: Pair,
    settings: MatchSettings,
    *,
    rule: MixtureSPRT = _RULE,
    watch: Watch | None = None,
) -> tuple[Match, SequentialTest]:
    """Play until a test decides; return all hands as one match, and the test, in chips per hand.

    `settings.hands` is the maximum number of hands; no log is kept. On a stop request, `Stopped` is
    raised; its `partial` is the match and the test so far.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> from equilibrist.players.catalog import make_player
        >>> leduc = get_game("leduc")
        >>> players = make_player("always-raise", leduc), make_player("always-fold", leduc)
        >>> match, test = play_sequential_match(leduc, players, MatchSettings(hands=10_000))
        >>> test.is_decided, match.num_hands  # chips never vary, so their spread is unknown
        (False, 10000)
    """
    check_match(rules, players, settings)
    test, parts = SequentialTest(rule), list[Match]()
    most = settings.hands // settings.runs
    while test.num_results < most and not test.is_decided:
        done, deals = test.num_results, _next_deals(test, most)

        def report(share: float, done: int = done, deals: int = deals) -> None:
            if watch is not None and done * _REPORTED >= most:
                watch((done + share * deals) / most)

        try:
            part = run_match(rules, players, _part(settings, deals, len(parts)), report)
        except Stopped as stopped:
            part = stopped.partial
            if part is not None and len(part.chips) == settings.runs:
                _add(part, parts, test)
            whole = (_joined(parts, settings.seed), test) if parts else None
            raise Stopped("stopped before the first hand was played twice", partial=whole) from None
        _add(part, parts, test)
    return _joined(parts, settings.seed), test


def _add(part: Match, parts: list[Match], test: SequentialTest) -> None:
    """Add a part to the parts, and its results to the test."""
    parts.append(part)
    test.add(part.results.rates)


def _next_deals(test: SequentialTest, most: int) -> int:
    """Return the number of deals of the next part, at most `most` deals in all."""
    deals = max(test.rule.first_look, test.num_results // _GROWTH)
    return min(deals + deals % 2, most - test.num_results)  # the same number in each seat


def _part(settings: MatchSettings, deals: int, number: int) -> MatchSettings:
    """Return the settings of one part, which has its own deals and keeps no log."""
    seed = int(np.random.SeedSequence([settings.seed, number, 3]).generate_state(1)[0])
    return replace(settings, hands=deals * settings.runs, seed=seed, keep_log=False)


def _joined(parts: list[Match], seed: int) -> Match:
    """Join the hands of several matches into one match."""
    chips = np.concatenate([part.chips for part in parts], axis=1)
    return Match(parts[0].rules, parts[0].names, seed, chips, runner=parts[0].runner)

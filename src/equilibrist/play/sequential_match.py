"""Matches that stop when they are decided: parts are played until a sequential test decides.

Every part is a match with its own deals and memories reset. Parts grow with the number of hands
played, so that at most a fifth of all hands comes after the decision. The test is evaluated after
every deal, and it accounts for this (`evaluation.sequential`). It assumes independent deals, so it
is not valid for players that learn.
"""

from __future__ import annotations

import numpy as np

from equilibrist.evaluation.sequential import MixtureSPRT, SequentialTest
from equilibrist.games.rules import GameRules
from equilibrist.play.match import Match, Pair, Runner, Watch, check_match, play_match
from equilibrist.stopping import Stopped

_GROWTH = 4  # ratio of the hands played so far to the length of the next part
_REPORTED = 20  # no progress is reported before 1 / 20 of the hands: the parts are too short
_RULE = MixtureSPRT()


def play_sequential_match(
    rules: GameRules,
    players: Pair,
    most_hands: int,
    *,
    rule: MixtureSPRT = _RULE,
    seed: int = 0,
    duplicate: bool = False,
    agreed_rounds: int = 0,
    runner: Runner = "views",
    watch: Watch | None = None,
) -> tuple[Match, SequentialTest]:
    """Play until a test decides; return all hands as one match, and the test, in chips per hand.

    On a stop request, `Stopped` is raised; its `partial` is the match and the test so far.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> from equilibrist.players.catalog import make_player
        >>> leduc = get_game("leduc")
        >>> players = make_player("always-raise", leduc), make_player("always-fold", leduc)
        >>> match, test = play_sequential_match(leduc, players, 10_000, runner="auto")
        >>> test.is_decided, match.num_hands  # chips never vary, so their spread is unknown
        (False, 10000)
    """
    check_match(rules, players, most_hands, seed, duplicate, agreed_rounds)
    runs = 1 + duplicate
    most = most_hands // runs
    test, parts = SequentialTest(rule), list[Match]()
    while test.num_results < most and not test.is_decided:
        done = test.num_results
        deals = max(rule.first_look, done // _GROWTH)
        deals = min(deals + deals % 2, most - done)  # the same number of hands in each seat

        def report(share: float, done: int = done, deals: int = deals) -> None:
            if watch is not None and done * _REPORTED >= most:
                watch((done + share * deals) / most)

        part_seed = int(np.random.SeedSequence([seed, len(parts), 3]).generate_state(1)[0])
        try:
            part = play_match(
                rules,
                players,
                deals * runs,
                seed=part_seed,
                duplicate=duplicate,
                agreed_rounds=agreed_rounds,
                runner=runner,
                watch=report,
            )
        except Stopped as stopped:
            part = stopped.partial
            if part is not None and len(part.chips) == runs:
                parts.append(part)
                test.add(part.results.rates)
            whole = (_joined(parts, seed), test) if parts else None
            raise Stopped("stopped before the first hand was played twice", partial=whole) from None
        parts.append(part)
        test.add(part.results.rates)
    return _joined(parts, seed), test


def _joined(parts: list[Match], seed: int) -> Match:
    """Join the hands of several matches into one match."""
    chips = np.concatenate([part.chips for part in parts], axis=1)
    return Match(parts[0].rules, parts[0].names, seed, chips, runner=parts[0].runner)

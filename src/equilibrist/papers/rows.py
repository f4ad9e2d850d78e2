"""Rows that compare published numbers with ours, printed by the command of every paper."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from equilibrist.evaluation.statistics import Estimate
from equilibrist.games.rules import GameRules
from equilibrist.play.match import MatchSettings, run_match
from equilibrist.players.catalog import make_player

ReportProgress = Callable[[str, float], None]  # receives the current task and its finished share


@dataclass(frozen=True)
class PaperRow:
    """One published number and ours."""

    table: str
    name: str
    paper: float | None = None  # None if the paper has no number
    ours: float | None = None  # None if we have no number; `missing` says why
    unit: str = "sb/h"
    ci95: tuple[float, float] | None = None  # of our number; None if exact or unknown
    hands: int | None = None
    missing: str = "no stand-in"


def match_row(
    row: PaperRow,
    rules: GameRules,
    players: tuple[str, str],
    hands: int,
    seed: int,
    report: ReportProgress,
    *,
    agreed_rounds: int = 0,
) -> PaperRow:
    """Play a duplicate match of two players of the catalogue; add the first one's result to a row.

    `hands` is the total number of hands, two per deal; in the first `agreed_rounds` both players
    call. `report` receives the names of the players and the share of the match played.
    """

    def watch(share: float) -> None:
        report(f"{players[0]} against {players[1]}", share)

    watch(0.0)
    pair = make_player(players[0], rules), make_player(players[1], rules)
    settings = MatchSettings(hands=hands, seed=seed, duplicate=True, agreed_rounds=agreed_rounds)
    match = run_match(rules, pair, settings, watch)
    found = Estimate.of_sample(match.results.rates / rules.raise_sizes[0])
    return replace(row, ours=found.mean, ci95=found.ci95, hands=match.num_hands)

"""Published numbers beside ours: the rows that every paper's command prints."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from equilibrist.evaluation.statistics import Estimate
from equilibrist.games.rules import GameRules
from equilibrist.play.match import play_match
from equilibrist.players.catalog import make_player

Tell = Callable[[str, float], None]  # what is being done, and the share of it that is


@dataclass(frozen=True)
class PaperRow:
    """A published number beside ours."""

    table: str
    name: str
    paper: float | None  # None: the paper has none
    ours: float | None  # None: `missing` says why
    unit: str = "sb/h"
    ci95: tuple[float, float] | None = None  # of ours; None: exact, or not known
    hands: int | None = None
    missing: str = "no stand-in"


def match_row(
    table: str,
    name: str,
    paper: float | None,
    rules: GameRules,
    players: tuple[str, str],
    hands: int,
    seed: int,
    tell: Tell,
    *,
    agreed_rounds: int = 0,
) -> PaperRow:
    """A duplicate match of two players of the catalogue, from the first one's side.

    `hands` are all that are played, each deal twice; in the first `agreed_rounds` both call. `tell`
    hears who plays.
    """

    def watch(share: float) -> None:
        tell(f"{players[0]} against {players[1]}", share)

    watch(0.0)
    pair = make_player(players[0], rules), make_player(players[1], rules)
    match = play_match(
        rules,
        pair,
        hands,
        seed=seed,
        duplicate=True,
        agreed_rounds=agreed_rounds,
        runner="auto",
        watch=watch,
    )
    found = Estimate.of_sample(match.results.rates / rules.raise_sizes[0])
    return PaperRow(table, name, paper, found.mean, ci95=found.ci95, hands=match.num_hands)

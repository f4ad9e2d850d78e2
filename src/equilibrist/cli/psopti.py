"""`equilibrist reproduce psopti`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from equilibrist.cli.heartbeat import announce
from equilibrist.cli.options import emit
from equilibrist.cli.paper_rows import ProgressLines, check_hands, rows_text, untrained

if TYPE_CHECKING:
    from equilibrist.abstraction.buckets import Abstraction
    from equilibrist.abstraction.joint_counts import Joint
    from equilibrist.papers.rows import PaperRow

_HANDS, _QUICK_HANDS = 200_000, 2_000  # per match, every deal played twice
_BOARDS, _QUICK_BOARDS = 40_000, 400  # in the samples of deals between different buckets
_TITLES = {
    "1": "Table 1: win rate of the first against the second, duplicate matches, sb/h (paper: lost)",
    "postflop": "Postflop hold'em, sb/h (paper: lost)",
    "bets": "Claim: three bets per round suffice, two do not",
    "buckets": "Claim: a bucket for draws beats buckets for strength only, and most bluffs use it",
    "merged": "Claim: merging turn and river changes the strategy",
    "preflop": "Models of one, two and three rounds from the preflop on",
}


def reproduce_psopti(
    plot: Path | None, hands: int | None, *, quick: bool, seed: int, as_json: bool
) -> None:
    """Print the paper's matches with the trained bots, and its claims beside our figures."""
    from equilibrist.bots.registry import BOTS
    from equilibrist.games.catalog import load_game
    from equilibrist.papers.psopti import claims
    from equilibrist.papers.psopti.composed import composed_rows

    hands = check_hands(hands, _QUICK_HANDS if quick else _HANDS)
    boards, rules = _QUICK_BOARDS if quick else _BOARDS, load_game(BOTS["psopti1"].game)
    without, progress = untrained(*claims.PLAYERS, *claims.LATER), ProgressLines()
    first, second = _counted("psopti1"), _counted("psopti2")
    rows: list[PaperRow] = [*claims.match_rows(rules, hands, seed, progress, without)]
    announce("solving models with two, three and four bets per round")
    rows += [*claims.bets_rows(*first), *claims.merged_rows(*first)]
    announce("solving models that start preflop")
    models = claims.preflop_models(*second)
    rows += claims.preflop_rows(*second, models)
    if not quick:
        rows += composed_rows(*second, models, progress)
    rows += claims.buckets_rows(rules, boards, seed, progress)
    notes = [f"kinds of buckets are compared over a sample of {boards:,} boards"]
    notes += ["--quick leaves out players composed from preflop models"] if quick else []
    notes += [f"run `equilibrist train {name}` to fill its rows" for name in without]
    text = "\n".join([rows_text(rows, _TITLES), "", *notes])
    emit({"rows": [vars(row) for row in rows], "notes": notes}, text, as_json=as_json)
    if plot is not None:
        _draw(plot, hands, seed)


def _counted(name: str) -> tuple[Abstraction, Joint]:
    """Return the buckets and joint counts of a trained bot; raise `StorageError` if untrained."""
    from equilibrist.abstraction.buckets import Abstraction
    from equilibrist.abstraction.joint_counts import Joint
    from equilibrist.bots.bot import BUCKETS, COUNTS
    from equilibrist.bots.registry import BOTS

    BOTS[name].stored_strategy()
    folder = BOTS[name].folder
    return Abstraction.open(folder / BUCKETS), Joint.open(folder / COUNTS)


def _draw(path: Path, hands: int, seed: int) -> None:
    """Draw the progress of a match, as the paper's Figure 4 against a world-class player."""
    from equilibrist.bots.registry import BOTS
    from equilibrist.display.winnings import draw_winnings
    from equilibrist.games.catalog import load_game
    from equilibrist.play.match import play_match
    from equilibrist.players.catalog import make_player

    names, rules = ("psopti1", "poki"), load_game(BOTS["psopti1"].game)
    pair = make_player(names[0], rules), make_player(names[1], rules)
    played = play_match(rules, pair, hands, seed=seed, runner="auto")
    draw_winnings([played], names, path)

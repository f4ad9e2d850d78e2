"""`equilibrist reproduce psopti`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from equilibrist.cli.options import emit
from equilibrist.cli.paper_rows import Told, check_hands, rows_text, say, untrained

if TYPE_CHECKING:
    from equilibrist.abstraction.buckets import Abstraction
    from equilibrist.abstraction.joint_counts import Joint
    from equilibrist.papers.rows import PaperRow

_HANDS, _QUICK_HANDS = 200_000, 2_000  # of each match, every deal twice
_BOARDS, _QUICK_BOARDS = 40_000, 400  # in the samples of deals between different buckets
_TITLES = {
    "1": "Table 1: what the first wins from the second, duplicate matches, sb/h (paper: lost)",
    "postflop": "Postflop hold'em, sb/h (paper: lost)",
    "bets": "Claim: three bets a round suffice, two do not",
    "buckets": "Claim: a bucket of draws is worth more than one of strength, and bluffs",
    "merged": "Claim: turn and river merged change the strategy",
    "preflop": "Models of one, two and three rounds from the deal on",
}


def reproduce_psopti(
    plot: Path | None, hands: int | None, *, quick: bool, seed: int, as_json: bool
) -> None:
    """The paper's matches with the bots that are trained, and its claims with our figures."""
    from equilibrist.bots.registry import get_bot
    from equilibrist.games.catalog import load_game
    from equilibrist.papers.psopti import claims
    from equilibrist.papers.psopti.composed import composed_rows

    hands = check_hands(hands, _QUICK_HANDS if quick else _HANDS)
    boards, rules = _QUICK_BOARDS if quick else _BOARDS, load_game(get_bot("psopti1").game)
    without, told = untrained(*claims.PLAYERS, *claims.LATER), Told()
    first, second = _counted("psopti1"), _counted("psopti2")
    rows: list[PaperRow] = [*claims.match_rows(rules, hands, seed, told, without)]
    say("solving models with two, three and four bets a round")
    rows += [*claims.bets_rows(*first), *claims.merged_rows(*first)]
    say("solving models from the deal on")
    models = claims.preflop_models(*second)
    rows += claims.preflop_rows(*second, models)
    if not quick:
        rows += composed_rows(*second, models, told)
    rows += claims.buckets_rows(rules, boards, seed, told)
    notes = [f"kinds of buckets are compared over a sample of {boards:,} boards"]
    notes += ["players composed from preflop models are left out by --quick"] if quick else []
    notes += [f"`equilibrist train {name}` fills its rows" for name in without]
    text = "\n".join([rows_text(rows, _TITLES), "", *notes])
    emit({"rows": [vars(row) for row in rows], "notes": notes}, text, as_json=as_json)
    if plot is not None:
        _draw(plot, hands, seed)


def _counted(name: str) -> tuple[Abstraction, Joint]:
    """The buckets and counts of a bot that is trained; `StorageError` says how to train it."""
    from equilibrist.abstraction.buckets import Abstraction
    from equilibrist.abstraction.joint_counts import Joint
    from equilibrist.bots.registry import BUCKETS, COUNTS, get_bot, strategy_of

    strategy_of(name)
    folder = get_bot(name).folder
    return Abstraction.open(folder / BUCKETS), Joint.open(folder / COUNTS)


def _draw(path: Path, hands: int, seed: int) -> None:
    """The progress of a match, as the paper's figure 4 of one against a world-class player."""
    from equilibrist.bots.registry import get_bot
    from equilibrist.cli.match_report import draw
    from equilibrist.games.catalog import load_game
    from equilibrist.play.match import play_match
    from equilibrist.players.catalog import make_player

    names, rules = ("psopti1", "poki"), load_game(get_bot("psopti1").game)
    pair = make_player(names[0], rules), make_player(names[1], rules)
    draw((play_match(rules, pair, hands, seed=seed, runner="auto"),), names, path)

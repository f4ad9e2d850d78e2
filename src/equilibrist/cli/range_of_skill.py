"""`equilibrist reproduce range-of-skill`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from equilibrist.cli.heartbeat import announce
from equilibrist.cli.options import Remaining, emit
from equilibrist.cli.paper_rows import ProgressLines, check_hands, rows_text
from equilibrist.errors import InvalidValueError

if TYPE_CHECKING:
    from equilibrist.abstraction.buckets import Abstraction
    from equilibrist.abstraction.joint_counts import Joint
    from equilibrist.bots.bot import BucketBot
    from equilibrist.papers.range_of_skill.tables import Column
    from equilibrist.strategies.solution import Solution

_HANDS, _QUICK_HANDS = 50_000, 2_000  # per match
_QUICK_BOARDS = 40_000  # in the sample of deals between different buckets
_TITLES = {
    "1": "Table 1: win rate of a best response against the strategies, sb/h",
    "2": "Table 2: win rate of the first against the second, duplicate matches, sb/h",
    "baselines": "Against our other players, duplicate matches, sb/h",
    "rounds": "The range of skill's own rounds",
}


def reproduce_range_of_skill(
    plot: Path | None, hands: int | None, *, quick: bool, seed: int, as_json: bool
) -> None:
    """Print both tables of the paper for the trained smallbot, and its algorithm's rounds."""
    from equilibrist.bots.registry import BOTS, get_bucket_bot, solution_of
    from equilibrist.display.curves import draw_traces
    from equilibrist.games.catalog import load_game
    from equilibrist.papers.range_of_skill import tables
    from equilibrist.strategies.solution import Solution, game_of

    hands = check_hands(hands, _QUICK_HANDS if quick else _HANDS)
    by_rounds = None if quick else _by_rounds()
    if plot is not None and by_rounds is None:
        raise InvalidValueError(
            "--plot draws the rounds of smallbot-skill: leave out --quick, and first run "
            "`equilibrist train smallbot-skill`",
            value=str(plot),
        )
    name = "smallbot-quick" if quick else "smallbot"
    found = {name: Solution.load(solution_of(name), in_memory=True)}
    if not quick:
        stopped = get_bucket_bot("smallbot-stopped")
        found[stopped.name] = _trained(stopped)
    columns, is_sample = _columns(found, quick)
    rows = [
        row
        for bot, each in columns.items()
        for column in each
        for row in tables.column_rows(bot, column, is_sample=is_sample and column.is_finer)
    ]
    rules = load_game(BOTS[name].game)
    player = name if quick else "bigbot"
    rows += tables.match_rows(rules, player, hands, seed, ProgressLines())
    if by_rounds is not None:
        rows += tables.round_rows(by_rounds.trace, rules.raise_sizes[0])
    notes = tables.differences(columns)
    if by_rounds is None and not quick:
        notes.append("run `equilibrist train smallbot-skill` to compute the rounds")
    text = "\n\n".join([rows_text(rows, _TITLES), "\n".join(notes)])
    emit({"rows": [vars(row) for row in rows], "notes": notes}, text, as_json=as_json)
    if plot is not None and by_rounds is not None:
        draw_traces({by_rounds.method: by_rounds.trace}, game_of(by_rounds), plot)


def _trained(bot: BucketBot) -> Solution:
    """Return the solution of a bot whose joint counts exist, solving it first if necessary."""
    from equilibrist import stopping
    from equilibrist.bots import training
    from equilibrist.storage.ownership import owned
    from equilibrist.strategies.solution import Solution

    with owned(bot.folder / bot.solution):
        prepared = training.prepare(bot, bot.folder)
        announce(f"solving {bot.name}")
        training.run(prepared, training.budget_of(bot, prepared[0]))
        stopping.check()
        training.save_strategy(bot, bot.folder)
    return Solution.load(bot.folder / bot.solution, in_memory=True)


def _columns(found: dict[str, Solution], quick: bool) -> tuple[dict[str, list[Column]], bool]:
    """Return Table 1 by strategy, and whether the finer buckets were counted on a sample."""
    from equilibrist.abstraction.joint_counts import Joint
    from equilibrist.bots.bot import HOME
    from equilibrist.bots.training import finer_counts
    from equilibrist.papers.range_of_skill import tables
    from equilibrist.strategies.description import BucketDescription
    from equilibrist.strategies.solution import game_of

    description = next(iter(found.values())).game
    assert isinstance(description, BucketDescription)
    buckets = description.open_abstraction()
    counts, finer = finer_counts(
        buckets, description.hashes[0], tables.FINER, HOME / "range-of-skill",
        boards=_QUICK_BOARDS if quick else None, say=announce,
        progress=Remaining("counting deals"),
    )  # fmt: skip
    cases: list[tuple[Joint, Abstraction | None]]
    cases = [(Joint.open(description.joint), None), (counts, finer)]
    columns: dict[str, list[Column]] = {}
    for name, solution in found.items():
        announce(f"best responses to {name}")
        columns[name] = [
            tables.table_column(
                game_of(solution), solution.plans, buckets, met, responder, has_all_raises=raises
            )
            for met, responder in cases
            for raises in (False, True)
        ]
    return columns, counts.distance is not None


def _by_rounds() -> Solution | None:
    """Return the run of the paper's own algorithm so far; None if it was not started."""
    from equilibrist.bots.registry import get_bucket_bot
    from equilibrist.storage.manifest import MANIFEST
    from equilibrist.strategies.solution import Solution

    bot = get_bucket_bot("smallbot-skill")
    folder = bot.folder / bot.solution
    return Solution.load(folder) if (folder / MANIFEST).exists() else None

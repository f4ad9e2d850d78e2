"""`equilibrist train` and `equilibrist bots`."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equilibrist.cli.options import (
    Json,
    Remaining,
    Seed,
    Threads,
    emit,
    most_threads,
    prepare_kernels,
    table,
)

if TYPE_CHECKING:
    from equilibrist.strategies.bots import Bot

_KERNELS = ("rollout.strengths", "joint.bucket_showdowns", "sequence_form.fold_up")


def train(
    bot: Annotated[str, typer.Argument(help="A bot of `equilibrist bots`.")],
    out: Annotated[Path | None, typer.Option(help="Its folder; bots/BOT unless told.")] = None,
    to: Annotated[float | None, typer.Option(help="Stop at this exploitability, mbb/g.")] = None,
    seconds: Annotated[float | None, typer.Option(help="Solve no longer than this.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Try what seems too large.")] = False,
    json: Json = False,
    seed: Seed = 0,
    threads: Threads = None,
) -> None:
    """Make a bot: its buckets, how they meet, its strategy. What is there already is kept.

    Example: equilibrist train smallbot
    """
    from equilibrist.abstraction import joint
    from equilibrist.abstraction.buckets import KIND
    from equilibrist.cli import runs
    from equilibrist.cli.progress import Budget, shown
    from equilibrist.evaluation.statistics import unit_chips
    from equilibrist.games.catalog import load_game
    from equilibrist.models import truncated
    from equilibrist.solving import training
    from equilibrist.solving.solve import check_budget, solve
    from equilibrist.storage.artefact import check_target
    from equilibrist.strategies import compact, strategy
    from equilibrist.strategies.bots import (
        BUCKETS,
        COUNTS,
        ENDS,
        HOME,
        SOLUTION,
        STRATEGY,
        get_bot,
    )

    plan = get_bot(bot)
    plan = replace(plan, target=plan.target if to is None else to)
    check_budget(target=plan.target, seconds=seconds)
    folder, rules = out or HOME / bot, load_game(plan.game)
    kinds = {
        BUCKETS: KIND,
        COUNTS: joint.KIND,
        ENDS: truncated.KIND,
        SOLUTION: strategy.KIND,
        STRATEGY: compact.KIND,
    }
    for part, kind in kinds.items():
        check_target(folder / part, kind)
    needs = training.needs(plan, rules, folder, threads or most_threads())
    print(f"{bot}: about {plan.minutes:g} minutes on two cores", file=sys.stderr)
    for step, needed in needs._asdict().items():
        print(f"  {step}: {'there already' if needed is None else needed}", file=sys.stderr)
    if not force:
        needs.check(bot)
    prepare_kernels(threads, *_KERNELS)
    buckets = training.make_buckets(rules, plan.recipe, plan.buckets, folder, seed=seed, say=_say)
    if needs.counts is not None:
        _say("counting deals")
    training.count_deals(plan, folder, buckets, seed=seed, tell=Remaining("counting deals"))
    tell = Remaining("playing out what the first phase leaves")
    game, solver, store, earlier = training.prepare(plan, folder, seed=seed, tell=tell)
    target = plan.target * unit_chips(rules)["mbb/g"]
    budget = Budget(None, target, seconds, None)
    with shown(game.name, "Ctrl-C stops and saves", plain=json) as view:
        view.begin(solver.name, budget)
        run = solve(
            game, solver, **budget._asdict(), seed=seed, run=earlier, watch=view, save=store.save
        )
    if plan.last_round is None:
        training.keep_strategy(folder)
    data = {"bot": bot, "boards": plan.boards} | runs.result(game, solver, run, folder / SOLUTION)
    where = (
        f"solution:{folder / STRATEGY}"
        if plan.last_round is None
        else f"gs2:from={folder / SOLUTION}"
    )
    name = bot if out is None else where
    text = (
        f"{runs.result_text(game, solver, run)}\n{_scope(plan)}\n"
        f"play against it: equilibrist play {name}"
    )
    emit(data, text, as_json=json)


def bots(
    home: Annotated[Path, typer.Option("--in", help="Folder of trained bots.")] = Path("bots"),
    json: Json = False,
    seed: Seed = 0,
    threads: Threads = None,
) -> None:
    """The bots that can be trained, and those that are.

    Example: equilibrist bots
    """
    from equilibrist.strategies.bots import BOTS

    rows = [_row(bot, home / bot.name) for bot in BOTS.values()]
    lines = [
        (
            row["name"],
            f"{row['bytes'] / 1e6:,.0f} MB" if row["trained"] else f"≈ {row['minutes']:g} min",
            f"{row['mbb/g']:.4g} mbb/g" if row["trained"] else row["state"],
            "all deals" if row["boards"] is None else f"{row['boards']:,} boards",
            row["description"],
            row["paper"],
        )
        for row in rows
    ]
    header = ("bot", "size", "exploitability", "over", "", "from")
    problems = [f"{row['name']}: {row['problem']}" for row in rows if row.get("problem")]
    emit({"bots": rows}, "\n".join([table(lines, header=header), *problems]), as_json=json)


def reproduce_range_of_skill(*, quick: bool, seed: int, as_json: bool) -> None:
    """Table 1 of the paper, for the trained smallbot: what best responses win from it."""
    from equilibrist.abstraction.buckets import Abstraction
    from equilibrist.abstraction.joint import Joint
    from equilibrist.papers import range_of_skill
    from equilibrist.solving.training import finer_counts
    from equilibrist.strategies.bots import HOME, solution_of
    from equilibrist.strategies.description import BucketDescription
    from equilibrist.strategies.strategy import Solution, game_of

    name = "smallbot-quick" if quick else "smallbot"
    solution = Solution.load(solution_of(name), in_memory=True)
    assert isinstance(solution.game, BucketDescription)
    game, buckets = game_of(solution), solution.game.open_abstraction()
    cases: list[tuple[Joint, Abstraction | None]] = [(Joint.open(solution.game.joint), None)]
    if not quick:
        told = Remaining("counting deals")
        home = HOME / "range-of-skill"
        found, finer = finer_counts(
            buckets,
            solution.game.hashes[0],
            range_of_skill.FINER,
            home,
            seed=seed,
            say=_say,
            tell=told,
        )
        cases.append((found, finer))
    columns = []
    for counts, responder in cases:
        for has_all_raises in (False, True):
            _say(f"best responses, {'all' if has_all_raises else 'the same'} raises")
            columns.append(
                range_of_skill.table_column(
                    game, solution.plans, buckets, counts, responder, has_all_raises=has_all_raises
                )
            )
    rows = [
        {
            "buckets": 10 if column.is_finer else 5,
            "all_raises": column.has_all_raises,
            "seat": seat,
            "paper": paper,
            "ours": ours,
            "unit": "sb/h",
        }
        for column in columns
        for seat, paper, ours in zip(
            ("dealer", "big blind", "average"),
            column.published,
            (column.dealer, column.big_blind, column.average),
            strict=True,
        )
    ]
    lines = [
        (
            f"{row['buckets']} buckets a round",
            "all" if row["all_raises"] else "2 3 3 3",
            row["seat"],
            f"{row['paper']:+.4f}",
            f"{row['ours']:+.4f}",
        )
        for row in rows
    ]
    header = ("responder", "raises", "seat", "paper, sb/h", "ours, sb/h")
    title = f"what a best response wins from {name}, exploitable for {columns[0].average:.4f} sb/h:"
    emit({"bot": name, "rows": rows}, f"{title}\n{table(lines, header=header)}", as_json=as_json)


def _row(bot: Bot, folder: Path) -> dict[str, Any]:
    """What is known of a bot, and of its training if there is one."""
    from equilibrist.cli import runs
    from equilibrist.errors import StorageError
    from equilibrist.games.catalog import load_game
    from equilibrist.storage.manifest import MANIFEST
    from equilibrist.strategies.bots import SOLUTION
    from equilibrist.strategies.description import BucketDescription
    from equilibrist.strategies.strategy import Solution

    trained = (folder / SOLUTION / MANIFEST).exists()
    row: dict[str, Any] = {
        "name": bot.name,
        "description": bot.description,
        "paper": bot.paper,
        "buckets": list(bot.buckets),
        "boards": bot.boards,
        "max_raises": bot.max_raises,
        "minutes": bot.minutes,
        "trained": trained,
        "state": "trained" if trained else "begun" if folder.exists() else "not trained",
    }
    if trained:
        found = Solution.load(folder / SOLUTION)
        row |= {
            "folder": str(folder),
            "bytes": sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()),
            "method": found.method,
            "iterations": found.iterations,
            "problem": None,
            **runs.thousandths(load_game(bot.game), found.certificate),
        }
        try:
            if isinstance(found.game, BucketDescription):
                found.game.check()
        except StorageError as changed:
            row["problem"] = str(changed)
    return row


def _scope(bot: Bot) -> str:
    """What the exploitability of a bot says, and what not."""
    deals = "all deals" if bot.boards is None else f"the deals of {bot.boards:,} sampled boards"
    return f"exploitability is that within its own buckets over {deals}, not that in the real game"


def _say(text: str) -> None:
    print(f"{text} …", file=sys.stderr, flush=True)

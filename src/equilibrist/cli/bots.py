"""`equilibrist train` and `equilibrist bots`."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equilibrist.cli.interrupts import leave
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
    from equilibrist.solving.training import Prepared
    from equilibrist.strategies.bots import Bot, GluedBot, SelfTaught

_KERNELS = ("rollout.strengths", "joint.bucket_showdowns", "sequence_form.fold_up")


def train(
    bot: Annotated[str, typer.Argument(help="A bot of `equilibrist bots`.")],
    out: Annotated[Path | None, typer.Option(help="Its folder; bots/BOT unless told.")] = None,
    to: Annotated[float | None, typer.Option(help="Stop at this exploitability, mbb/g.")] = None,
    seconds: Annotated[
        float | None, typer.Option(help="Solve no longer than this, each model where it has some.")
    ] = None,
    cycles: Annotated[int | None, typer.Option(help="ectomynx: cycles in all.")] = None,
    hands: Annotated[int | None, typer.Option(help="ectomynx: hands of a cycle.")] = None,
    rate: Annotated[
        float | None, typer.Option(help="ectomynx: a chip a visit is worth exp(RATE).")
    ] = None,
    cleaning: Annotated[
        float | None, typer.Option(help="ectomynx: weights below become none.")
    ] = None,
    update: Annotated[str | None, typer.Option(help="ectomynx-frc: regret or exponential.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Try what seems too large.")] = False,
    json: Json = False,
    seed: Seed = 0,
    threads: Threads = None,
) -> None:
    """Make a bot: its buckets, how they meet, its strategy. What is there already is kept.

    Bots that play against themselves, as ectomynx does, learn in cycles of hands instead.

    Example: equilibrist train smallbot
    """
    from equilibrist.cli import self_taught
    from equilibrist.storage.ownership import owned
    from equilibrist.storage.stopping import Stopped
    from equilibrist.strategies.bots import SELF_TAUGHT, get_bot

    wishes = self_taught.Wishes(cycles, hands, rate, cleaning, update)
    if bot in SELF_TAUGHT:
        options = {"--to": to, "--seconds": seconds, "--force": force or None}
        _refuse(bot, options, "learns in cycles: --cycles, --hands")
        self_taught.train(SELF_TAUGHT[bot], out, wishes, json=json, seed=seed, threads=threads)
        return
    options = {f"--{name}": wish for name, wish in wishes._asdict().items()}
    _refuse(bot, options, "is solved to a target: --to, --seconds")
    given: dict[str, Any] = {"to": to, "seconds": seconds, "seed": seed, "threads": threads}
    try:
        with owned(out or get_bot(bot).folder):  # also between its parts, which it owns one by one
            _train(bot, out, force=force, json=json, **given)
    except Stopped as stopped:
        if stopped.args != Stopped().args:  # it says already how to go on
            raise
        leave("stopped; what is finished is kept, and the same command goes on")


def _refuse(bot: str, options: dict[str, Any], instead: str) -> None:
    """Raise `InvalidValueError` for options that are given, but of other bots."""
    from equilibrist.errors import InvalidValueError

    for name, value in options.items():
        if value is not None:
            raise InvalidValueError(f"{bot} {instead}, not {name}", value=name)


def _train(
    bot: str,
    out: Path | None,
    *,
    to: float | None,
    seconds: float | None,
    force: bool,
    json: bool,
    seed: int,
    threads: int | None,
) -> None:
    """Make a bot of buckets."""
    from equilibrist.abstraction import joint
    from equilibrist.abstraction.buckets import KIND
    from equilibrist.games.catalog import load_game
    from equilibrist.models import truncated
    from equilibrist.solving import training
    from equilibrist.solving.solve import Outcome, check_budget
    from equilibrist.storage.artefact import check_target
    from equilibrist.storage.ownership import owned
    from equilibrist.strategies import compact, strategy
    from equilibrist.strategies.bots import BUCKETS, COUNTS, ENDS, GluedBot, get_bot, is_current

    plan = get_bot(bot)
    plan = replace(plan, target=plan.target if to is None else to)
    check_budget(target=plan.target, seconds=seconds)
    folder, rules = out or plan.folder, load_game(plan.game)
    kinds = {
        BUCKETS: KIND,
        COUNTS: joint.KIND,
        ENDS: truncated.KIND,
        plan.solution: strategy.KIND,
        plan.strategy: compact.KIND,
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
    where = (
        f"solution:{folder / plan.strategy}"
        if plan.last_round is None
        else f"{bot}:from={folder / plan.solution}"
    )
    name = bot if out is None else where
    data: dict[str, Any] = {"bot": bot, "boards": plan.boards}
    if isinstance(plan, GluedBot):
        solved = _train_models(plan, folder, seconds, seed, json)
        data["models"] = [found for found, _ in solved]
    else:
        tell = Remaining("playing out what the first phase leaves")
        with owned(folder / plan.solution):
            prepared = training.prepare(plan, folder, seed=seed, tell=tell)
            solved = [_train_one(plan, prepared, seconds, seed, json)]
            training.keep_strategy(plan, folder)
        data |= solved[0][0]
    words = [text for _, text in solved]
    is_glued = not isinstance(plan, GluedBot) or is_current(folder / plan.strategy)
    ending = f"play against it: equilibrist play {name}" if is_glued else "the same command goes on"
    emit(data, "\n".join([*words, _scope(plan), ending]), as_json=json)
    if solved[-1][0]["outcome"] == Outcome.INTERRUPTED.name.lower():
        leave(f"stopped, saved in {folder}; the same command goes on")


def _train_one(
    bot: Bot, prepared: Prepared, seconds: float | None, seed: int, plain: bool
) -> tuple[dict[str, Any], str]:
    """Solve one game; what came of it, as JSON and in words."""
    from equilibrist.cli import runs
    from equilibrist.cli.progress import Budget, shown
    from equilibrist.solving import training
    from equilibrist.storage import stopping

    game, solver, store, _ = prepared
    target = training.target_chips(bot, game)
    with shown(game.name, "Ctrl-C stops and saves", plain=plain) as view:
        view.begin(solver.name, Budget(None, target, seconds, bot.looks))
        run = training.run(bot, prepared, target=target, seconds=seconds, seed=seed, watch=view)
    if not run.state["iteration"]:
        stopping.check()  # nothing is solved that could be played
    return runs.result(game, solver, run, store.out), runs.result_text(game, solver, run)


def _train_models(
    bot: GluedBot, folder: Path, seconds: float | None, seed: int, plain: bool
) -> list[tuple[dict[str, Any], str]]:
    """Solve the models of a glued bot one by one, each so long, and glue them."""
    from equilibrist.solving import composing, training
    from equilibrist.solving.solve import Outcome
    from equilibrist.storage.ownership import owned

    found = []
    for model in composing.models(bot, folder, _say):
        _say(model.name)
        out = folder / model.name
        with owned(out):
            afresh = composing.has_other_beliefs(out, model.description)
            prepared = training.begun(model.bot, out, model.description, seed, afresh=afresh)
            result, text = _train_one(model.bot, prepared, seconds, seed, plain)
        found.append(({"model": model.name} | result, f"{model.name}: {text}"))
        if result["outcome"] == Outcome.INTERRUPTED.name.lower():
            return found
    composing.keep_glued(bot, folder, _say)
    return found


def bots(
    home: Annotated[Path, typer.Option("--in", help="Folder of trained bots.")] = Path("bots"),
    json: Json = False,
    seed: Seed = 0,
    threads: Threads = None,
) -> None:
    """The bots that can be trained, and those that are.

    Example: equilibrist bots
    """
    from equilibrist.strategies.bots import BOTS, SELF_TAUGHT

    rows = [_row(bot, home / bot.folder.name) for bot in BOTS.values()]
    rows += [_run_row(bot, home / bot.folder.name) for bot in SELF_TAUGHT.values()]
    lines = [
        (
            row["name"],
            f"{row['bytes'] / 1e6:,.0f} MB" if row["trained"] else f"≈ {row['minutes']:g} min",
            _proof(row) if row["trained"] else row["state"],
            _scale(row),
            row["description"],
            row["paper"],
        )
        for row in rows
    ]
    header = ("bot", "size", "exploitability", "over", "", "from")
    problems = [f"{row['name']}: {row['problem']}" for row in rows if row.get("problem")]
    emit({"bots": rows}, "\n".join([table(lines, header=header), *problems]), as_json=json)


def _row(bot: Bot, folder: Path) -> dict[str, Any]:
    """What is known of a bot, and of its training if there is one."""
    from equilibrist.cli import runs
    from equilibrist.cli.real_game import known_response
    from equilibrist.errors import StorageError
    from equilibrist.games.catalog import load_game
    from equilibrist.strategies.bots import BUCKETS, COUNTS, ENDS
    from equilibrist.strategies.description import BucketDescription
    from equilibrist.strategies.strategy import read_summary

    solutions = _solutions(bot, folder)
    trained = bool(solutions)
    parts = BUCKETS, COUNTS, ENDS, *solutions, bot.strategy
    row: dict[str, Any] = {
        "name": bot.name,
        "description": bot.description,
        "paper": bot.paper,
        "buckets": list(bot.buckets),
        "boards": bot.boards,
        "max_raises": bot.max_raises,
        "minutes": bot.minutes,
        "trained": trained,
        "state": _state(bot, folder, trained),
    }
    if trained:
        found = [read_summary(folder / name) for name in solutions]
        worst = max(found, key=lambda solution: solution.certificate.exploitability)
        row |= {
            "folder": str(folder),
            "bytes": sum(_size(folder / part) for part in parts),
            "method": worst.method,
            "iterations": worst.iterations,
            "problem": None,
            **runs.thousandths(load_game(bot.game), worst.certificate),
            **known_response(bot, folder),
        }
        try:
            for solution in found:
                if isinstance(solution.game, BucketDescription):
                    solution.game.check()
        except StorageError as changed:
            row["problem"] = str(changed)
    return row


def _solutions(bot: Bot, folder: Path) -> list[str]:
    """Folders of a bot's solutions: one, or those of its models; none before it is trained."""
    from equilibrist.storage.manifest import MANIFEST
    from equilibrist.strategies.bots import GluedBot
    from equilibrist.strategies.compact import CompactStrategy

    names = [bot.solution]
    if isinstance(bot, GluedBot) and (folder / bot.strategy / MANIFEST).exists():
        names = list(CompactStrategy.open(folder / bot.strategy).solutions)
    return names if all((folder / name / MANIFEST).exists() for name in names) else []


def _run_row(bot: SelfTaught, folder: Path) -> dict[str, Any]:
    """What is known of a bot that plays against itself, and of its run if there is one."""
    from equilibrist.cli.self_taught import method_of
    from equilibrist.errors import StorageError
    from equilibrist.storage.artefact import read_identity
    from equilibrist.storage.manifest import MANIFEST

    row: dict[str, Any] = {
        "name": bot.name,
        "description": bot.description,
        "paper": bot.paper,
        "cycles": bot.cycles,
        "hands": bot.hands,
        "minutes": bot.minutes,
        "trained": (folder / MANIFEST).exists(),
        "state": "not trained",
    }
    if row["trained"]:
        row |= {"folder": str(folder), "bytes": _size(folder), "state": "begun", "problem": None}
        try:
            method_of(bot)[0].load_training(folder)
            stored = read_identity(folder)
            cycles = stored.files["cycles"].shape[0]
            row |= {"cycles": cycles, "hands": stored.configuration["hands"]}
            row["state"] = "trained" if cycles else "begun"
        except StorageError as error:
            row["problem"] = str(error)
    return row


def _proof(row: dict[str, Any]) -> str:
    """The exploitability of a trained bot, where it is known, and that in the real game."""
    own = f"{row['mbb/g']:.4g} mbb/g" if "mbb/g" in row else "not known"
    if "real_game" not in row:
        return own
    about = "about " if row["real_game_estimate"] else ""
    return f"{own}, real game {about}{row['real_game']:.4g}"


def _scale(row: dict[str, Any]) -> str:
    """What a bot was or will be made from."""
    if "cycles" in row:
        return f"{row['cycles']} × {row['hands']:,} hands"
    return "all deals" if row["boards"] is None else f"{row['boards']:,} boards"


def _state(bot: Bot, folder: Path, trained: bool) -> str:
    """How far a bot is; of those that share a folder, one is begun by its being there."""
    from equilibrist.strategies.bots import is_current

    if trained:
        return "trained"
    if is_current(folder / bot.strategy):
        return "playable"
    return "begun" if folder.exists() and not bot.family else "not trained"


def _size(folder: Path) -> int:
    """Bytes of a folder's files."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _scope(bot: Bot) -> str:
    """What the exploitability of a bot says, and what not."""
    from equilibrist.strategies.bots import GluedBot

    deals = "all deals" if bot.boards is None else f"the deals of {bot.boards:,} sampled boards"
    where = "each model" if isinstance(bot, GluedBot) else "its own buckets"
    return f"exploitability is that within {where} over {deals}, not that in the real game"


def _say(text: str) -> None:
    print(f"{text} …", file=sys.stderr, flush=True)

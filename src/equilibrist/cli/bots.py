"""`equilibrist train` and `equilibrist bots`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equilibrist.cli.interrupts import leave
from equilibrist.cli.options import (
    Json,
    Seed,
    Threads,
    emit,
    table,
)

if TYPE_CHECKING:
    from equilibrist.bots.registry import Bot, SelfTaught
    from equilibrist.bots.train import TrainedBot
    from equilibrist.cli.training import TerminalReport
    from equilibrist.papers.ectomynx.train import TaughtBot
    from equilibrist.stopping import Stopped


def train(
    bot: Annotated[str, typer.Argument(help="Name of a bot (see `equilibrist bots`).")],
    out: Annotated[
        Path | None, typer.Option(help="Folder of the bot; default: bots/ and its name.")
    ] = None,
    to: Annotated[
        str | None,
        typer.Option(help="Target exploitability: 5mbb, 0.05chips, or mbb/g; default: the bot's."),
    ] = None,
    seconds: Annotated[
        float | None, typer.Option(help="Maximum solving time in seconds, for each model.")
    ] = None,
    cycles: Annotated[int | None, typer.Option(help="ectomynx: total number of cycles.")] = None,
    hands: Annotated[int | None, typer.Option(help="ectomynx: number of hands per cycle.")] = None,
    rate: Annotated[
        float | None,
        typer.Option(help="ectomynx: learning rate; one chip per visit multiplies by exp(RATE)."),
    ] = None,
    cleaning: Annotated[
        float | None, typer.Option(help="ectomynx: set weights below this to zero.")
    ] = None,
    update: Annotated[
        str | None, typer.Option(help="ectomynx-frc: update rule, regret or exponential.")
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Train even if the forecast exceeds memory.")
    ] = False,
    json: Json = False,
    seed: Seed = 0,
    threads: Threads = None,
) -> None:
    """Train a bot: buckets, joint counts, solution, strategy; finished steps are reused.

    Bots that learn by playing against themselves, such as ectomynx, train in cycles of hands.

    Example: equilibrist train smallbot
    """
    from equilibrist.bots.registry import SELF_TAUGHT
    from equilibrist.bots.train import TrainingOptions
    from equilibrist.bots.train import train as train_bot
    from equilibrist.cli.training import TerminalReport
    from equilibrist.stopping import Stopped

    options = TrainingOptions(
        to, seconds, seed, threads, force, cycles, hands, rate, cleaning, update
    )
    if bot in SELF_TAUGHT:
        others = {"--to": to, "--seconds": seconds, "--force": force or None}
        _refuse(bot, others, "learns in cycles: use --cycles and --hands")
    else:
        names = "cycles", "hands", "rate", "cleaning", "update"
        others = {f"--{name}": getattr(options, name) for name in names}
        _refuse(bot, others, "is solved to a target: use --to and --seconds")
    report = TerminalReport(plain=json, threads=threads)
    try:
        trained = train_bot(bot, out, options=options, report=report)
    except Stopped as stopped:
        leave(_how_to_resume(stopped, report, out or Path("bots") / bot))
    if bot in SELF_TAUGHT:
        data, text = _taught_result(trained, report)
        emit(data, text, as_json=json)
        return
    data, text = _trained_result(trained)
    emit(data, text, as_json=json)
    if trained.is_interrupted:
        leave(f"stopped, saved in {trained.folder}; run the same command to continue")


def _refuse(bot: str, options: dict[str, Any], instead: str) -> None:
    """Raise `InvalidValueError` for a given option that belongs to other bots."""
    from equilibrist.errors import InvalidValueError

    for name, value in options.items():
        if value is not None:
            raise InvalidValueError(f"{bot} {instead}, not {name}", value=name)


def _how_to_resume(stopped: Stopped, report: TerminalReport, folder: Path) -> str:
    """Return a sentence on what is saved of a stopped training, and how to continue it."""
    from equilibrist.papers.ectomynx.train import num_hands

    if stopped.partial is None or report.cycles is None:
        return "stopped; finished steps are saved, run the same command to continue"
    hands = num_hands(report.cycles.settings, stopped.partial)
    return f"stopped after {hands:,} hands, saved in {folder}; run the same command to continue"


def _trained_result(trained: TrainedBot) -> tuple[dict[str, Any], str]:
    """Return the result of a training as JSON and as text."""
    from equilibrist.bots import training
    from equilibrist.bots.registry import GluedBot
    from equilibrist.cli import runs

    bot = trained.bot
    data: dict[str, Any] = {"bot": bot.name, "boards": bot.boards}
    goals = [training.goal(bot, m.game) for m in trained.models]
    pairs = list(zip(trained.models, goals, strict=True))
    results = [runs.result(m.game, m.solver, m.run, m.folder, goal) for m, goal in pairs]
    words = [runs.result_text(m.game, m.solver, m.run, goal) for m, goal in pairs]
    if isinstance(bot, GluedBot):
        names = [model.name for model in trained.models]
        data["models"] = [{"model": n} | r for n, r in zip(names, results, strict=True)]
        words = [f"{name}: {text}" for name, text in zip(names, words, strict=True)]
    else:
        data |= results[0]
    ending = "run the same command to continue"
    if trained.is_playable:
        ending = f"play against it: equilibrist play {trained.player}"
    return data, "\n".join([*words, _scope(bot), ending])


def _taught_result(trained: TaughtBot, report: TerminalReport) -> tuple[dict[str, Any], str]:
    """Return the result of a training by cycles of hands as JSON and as text."""
    from equilibrist.cli.training import cycle_json, cycle_text
    from equilibrist.papers.ectomynx.train import num_hands

    lines, bot = report.cycles, trained.bot
    assert lines is not None
    data = {
        "bot": bot.name,
        "game": bot.game,
        "hands": num_hands(trained.settings, trained.run),
        "cycles": [cycle_json(cycle, lines.big_blind) for cycle in trained.run.cycles],
        "hands_per_second": lines.speed,
        "seconds": lines.seconds,
        "out": str(trained.folder),
    }
    words = [cycle_text(cycle, lines.big_blind) for cycle in trained.run.cycles]
    words.append(f"play against it: equilibrist play {trained.player} --game {bot.game}")
    return data, "\n".join(words)


def bots(
    home: Annotated[Path, typer.Option("--in", help="Folder of trained bots.")] = Path("bots"),
    json: Json = False,
    seed: Seed = 0,
    threads: Threads = None,
) -> None:
    """List the bots, with the size and exploitability of those that are trained.

    Example: equilibrist bots
    """
    from equilibrist.bots.registry import BOTS, SELF_TAUGHT

    rows = [_row(bot, home / bot.folder.name) for bot in BOTS.values()]
    rows += [_run_row(bot, home / bot.folder.name) for bot in SELF_TAUGHT.values()]
    lines = [
        (
            row["name"],
            f"{row['bytes'] / 1e6:,.0f} MB" if row["trained"] else f"≈ {row['minutes']:g} min",
            _proof(row) if row["trained"] else row["state"].replace("begun", "started"),
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
    """Return the JSON row of a bot: its settings, and its training if there is one.

    A folder that cannot be read is a row with its problem; it does not hide the other bots.
    """
    from equilibrist.errors import StorageError

    row: dict[str, Any] = {
        "name": bot.name,
        "description": bot.description,
        "paper": bot.paper,
        "buckets": list(bot.buckets),
        "boards": bot.boards,
        "max_raises": bot.max_raises,
        "minutes": bot.minutes,
    }
    try:
        return row | _trained_part(bot, folder)
    except StorageError as error:
        problem = {"folder": str(folder), "problem": str(error)}
        return row | {"trained": False, "state": "unreadable", **problem}


def _trained_part(bot: Bot, folder: Path) -> dict[str, Any]:
    """Return the part of a bot's row that its folder decides."""
    from equilibrist.bots.registry import BUCKETS, COUNTS, ENDS
    from equilibrist.cli import runs
    from equilibrist.cli.real_game import known_response
    from equilibrist.errors import StorageError
    from equilibrist.games.catalog import load_game
    from equilibrist.strategies.description import BucketDescription
    from equilibrist.strategies.solution import read_summary

    solutions = _solutions(bot, folder)
    trained = bool(solutions)
    row: dict[str, Any] = {"trained": trained, "state": _state(bot, folder, trained)}
    if not trained:
        return row
    found = [read_summary(folder / name) for name in solutions]
    worst = max(found, key=lambda solution: solution.certificate.exploitability)
    parts = BUCKETS, COUNTS, ENDS, *solutions, bot.strategy
    row |= {
        "folder": str(folder),
        "bytes": sum(_size(folder / part) for part in parts),
        "method": worst.method,
        "iterations": worst.iterations,
        "problem": None,
        **runs.mbb_per_game(load_game(bot.game), worst.certificate),
        **known_response(bot, folder),
    }
    try:
        for name, solution in zip(solutions, found, strict=True):
            if not isinstance(solution.game, BucketDescription):
                own = f"{folder / name} is a solution of {solution.game.name}, not of the bot's"
                raise StorageError(f"{own} buckets; train the bot again", value=name)
            solution.game.check()
    except StorageError as changed:
        row["problem"] = str(changed)
    return row


def _solutions(bot: Bot, folder: Path) -> list[str]:
    """Return the folder names of a bot's solutions, one per model; [] if it is not trained."""
    from equilibrist.bots.registry import GluedBot
    from equilibrist.storage.manifest import MANIFEST
    from equilibrist.strategies.quantized import CompactStrategy

    names = [bot.solution]
    if isinstance(bot, GluedBot) and (folder / bot.strategy / MANIFEST).exists():
        names = list(CompactStrategy.open(folder / bot.strategy).solutions)
    return names if all((folder / name / MANIFEST).exists() for name in names) else []


def _run_row(bot: SelfTaught, folder: Path) -> dict[str, Any]:
    """Return the JSON row of a self-taught bot: its settings, and its run if there is one."""
    from equilibrist.errors import StorageError
    from equilibrist.papers.ectomynx.train import load_training
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
            load_training(bot, folder)
            stored = read_identity(folder)
            cycles = stored.files["cycles"].shape[0]
            row |= {"cycles": cycles, "hands": stored.configuration["hands"]}
            row["state"] = "trained" if cycles else "begun"
        except StorageError as error:
            row["problem"] = str(error)
    return row


def _proof(row: dict[str, Any]) -> str:
    """Return a trained bot's exploitability as text, within its model and in the real game."""
    own = f"{row['mbb/g']:.4g} mbb/g" if "mbb/g" in row else "unknown"
    if "real_game" not in row:
        return own
    about = "about " if row["real_game_estimate"] else ""
    return f"{own}, real game {about}{row['real_game']:.4g}"


def _scale(row: dict[str, Any]) -> str:
    """Return as text what a bot is trained on: boards or cycles of hands."""
    if "cycles" in row:
        return f"{row['cycles']} × {row['hands']:,} hands"
    return "all deals" if row["boards"] is None else f"{row['boards']:,} boards"


def _state(bot: Bot, folder: Path, trained: bool) -> str:
    """Return the state of a bot; a shared folder counts only for the bot that it is named after."""
    from equilibrist.bots.registry import is_current

    if trained:
        return "trained"
    if is_current(folder / bot.strategy):
        return "playable"
    return "begun" if folder.exists() and not bot.family else "not trained"


def _size(folder: Path) -> int:
    """Return the total size of a folder's files in bytes."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _scope(bot: Bot) -> str:
    """Return a sentence on the scope of a bot's exploitability: its model and its deals."""
    from equilibrist.bots.registry import GluedBot

    deals = "all deals" if bot.boards is None else f"the deals of {bot.boards:,} sampled boards"
    where = "each model" if isinstance(bot, GluedBot) else "its own buckets"
    return f"exploitability is measured within {where} over {deals}, not in the real game"

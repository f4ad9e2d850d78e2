"""`equilibrist train` and `equilibrist bots`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equilibrist.cli.interrupts import leave
from equilibrist.cli.options import (
    CheckedCommand,
    Device,
    Json,
    Seed,
    Threads,
    check_no_options,
    emit,
    table,
)

if TYPE_CHECKING:
    from equilibrist.bots.train import TrainingOptions
    from equilibrist.cli.training import TerminalReport
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
    device: Device = "cpu",
    stop: Annotated[
        str | None,
        typer.Option(
            help="real-game: keep the strategy that is least exploitable in limit hold'em itself, "
            "on a fixed sample of flops, and stop when it no longer improves."
        ),
    ] = None,
    pause_after: Annotated[
        float | None,
        typer.Option(
            help="Save and end within this many seconds of this call, with exit code 0; the same "
            "command continues to the same numbers."
        ),
    ] = None,
    json: Json = False,
    seed: Seed = 0,
    threads: Threads = None,
) -> None:
    """Train a bot: buckets, joint counts, solution, strategy; finished steps are reused.

    Bots that learn by playing against themselves, such as ectomynx, train in cycles of hands.

    Example: equilibrist train smallbot
    """
    _pause_after(pause_after)
    from equilibrist.bots.train import TrainingOptions
    from equilibrist.bots.train import train as train_bot
    from equilibrist.cli.training import TerminalReport, training_result
    from equilibrist.stopping import Stopped

    options = TrainingOptions(
        to, seconds, seed, threads, force, device, stop, cycles, hands, rate, cleaning, update
    )
    _check_options(bot, options)
    report = TerminalReport(plain=json, threads=threads)
    try:
        trained = train_bot(bot, out, options=options, report=report)
    except Stopped as stopped:
        leave(_how_to_resume(stopped, report, out or Path("bots") / bot))
    data, text = training_result(trained, report)
    emit(data, text, as_json=json)
    if trained.is_interrupted:
        leave(f"{_stopped()}, saved in {trained.folder}; run the same command to continue")


def _pause_after(seconds: float | None) -> None:
    """Let the command end within some seconds; raise `InvalidValueError` if that is no time."""
    from equilibrist import stopping
    from equilibrist.errors import InvalidValueError

    if seconds is not None and not 0 < seconds < float("inf"):
        raise InvalidValueError(
            f"--pause-after must be a number of seconds above zero, not {seconds:g}", value=seconds
        )
    stopping.pause_after(seconds)


def _stopped() -> str:
    """Return how a command that stops early says so."""
    from equilibrist import stopping

    return "paused in time" if stopping.is_pause() else "stopped"


def _check_options(name: str, options: TrainingOptions) -> None:
    """Raise `InvalidValueError` for a given option that belongs to other bots."""
    from equilibrist.bots.registry import BOTS
    from equilibrist.bots.train import foreign_options
    from equilibrist.errors import InvalidValueError

    bot = BOTS[name]
    for flag in map(_flag, foreign_options(bot, options)):
        own = " and ".join(map(_flag, bot.options[:2])) or "--seed and --threads"
        raise InvalidValueError(f"{name} {bot.way}: use {own}, not {flag}", value=flag)


def _flag(field: str) -> str:
    """Return the flag of a field of `TrainingOptions`."""
    return "--to" if field == "target" else f"--{field}"


def _how_to_resume(stopped: Stopped, report: TerminalReport, folder: Path) -> str:
    """Return a sentence on what is saved of a stopped training, and how to continue it."""
    from equilibrist.papers.ectomynx.train import num_hands

    if stopped.partial is None or report.cycles is None:
        return f"{_stopped()}; finished steps are saved, run the same command to continue"
    hands = num_hands(report.cycles.settings, stopped.partial)
    return (
        f"{_stopped()} after {hands:,} hands, saved in {folder}; run the same command to continue"
    )


app = typer.Typer(help="List the bots.", invoke_without_command=True)
Home = Annotated[Path, typer.Option("--in", help="Folder of trained bots.")]


@app.callback()
def bots(
    context: typer.Context,
    home: Home = Path("bots"),
    json: Json = False,
    seed: Seed = 0,
    threads: Threads = None,
) -> None:
    """List the bots, with the size and exploitability of those that are trained.

    Those that were measured in limit hold'em itself come first, the least exploitable at the top.

    Example: equilibrist bots
    """
    from equilibrist.bots.listing import bot_row, ranked
    from equilibrist.bots.registry import BOTS

    if context.invoked_subcommand is not None:
        check_no_options(context, home == Path("bots"), not json, not seed, threads is None)
        return
    rows = ranked(bot_row(bot, home / bot.folder.name) for bot in BOTS.values())
    lines = [
        (
            row["name"],
            _size(row),
            _proof(row) if row["trained"] else row["state"].replace("begun", "started"),
            _real_game(row),
            _scale(row),
        )
        for row in rows
    ]
    header = ("bot", "size", "exploitability", "real game", "over")
    problems = [f"{row['name']}: {row['problem']}" for row in rows if row.get("problem")]
    hint = "equilibrist bots show NAME prints what a bot is, its paper and its settings"
    text = "\n".join([table(lines, header=header), hint, *problems])
    emit({"bots": rows}, text, as_json=json)


@app.command(cls=CheckedCommand)
def show(
    bot: Annotated[str, typer.Argument(help="Name of a bot (see `equilibrist bots`).")],
    home: Home = Path("bots"),
    json: Json = False,
    seed: Seed = 0,
    threads: Threads = None,
) -> None:
    """Print what a bot is: its paper, its settings, and its training if there is one.

    Example: equilibrist bots show smallbot
    """
    from equilibrist.bots.listing import bot_row
    from equilibrist.bots.registry import BOTS
    from equilibrist.cli.node_text import wrapped

    row = bot_row(BOTS[bot], home / BOTS[bot].folder.name)
    told = {"name", "description", "trained", "real_game_unit", "real_game_estimate", "bytes"}
    told |= {"minutes", "needs_gpu"}
    lines = [f"{row['name']}: {row['description']}", f"training: about {BOTS[bot].training_time}"]
    if row["trained"]:
        lines.append(f"size: {row['bytes'] / 1e6:,.0f} MB")
    lines += [
        f"{name.replace('_', ' ')}: {_value(name, value, row)}"
        for name, value in row.items()
        if name not in told and (value is not None or name == "boards")
    ]
    emit(row, "\n".join(map(wrapped, lines)), as_json=json)


def _value(name: str, value: Any, row: dict[str, Any]) -> str:
    """Return a setting or a result of a bot as text."""
    if name == "boards" and value is None:
        return "all deals"
    if name == "real_game":
        return f"{_real_game(row)} {row['real_game_unit']}"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    if isinstance(value, float):
        return f"{value:.6g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _size(row: dict[str, Any]) -> str:
    """Return a trained bot's size, or how long the training of another one takes, as text."""
    from equilibrist.bots.bot import time_text

    if row["trained"]:
        return f"{row['bytes'] / 1e6:,.0f} MB"
    return "needs a GPU" if row["needs_gpu"] else f"≈ {time_text(row['minutes'])}"


def _proof(row: dict[str, Any]) -> str:
    """Return a trained bot's exploitability within its own model as text."""
    return f"{row['mbb/g']:.4g} mbb/g" if "mbb/g" in row else "unknown"


def _real_game(row: dict[str, Any]) -> str:
    """Return a trained bot's exploitability in the real game as text; empty if unknown."""
    if "real_game" not in row:
        return ""
    about = "about " if row["real_game_estimate"] else ""
    return f"{about}{row['real_game']:.4g}"


def _scale(row: dict[str, Any]) -> str:
    """Return as text what a bot is trained on: boards or cycles of hands."""
    if "cycles" in row:
        hands = row["hands"]
        many = f"{hands / 1e6:g} M" if hands >= 1_000_000 else f"{hands:,}"
        return f"{row['cycles']} × {many} hands"
    if "boards" not in row:
        return ""
    return "all deals" if row["boards"] is None else f"{row['boards']:,} boards"

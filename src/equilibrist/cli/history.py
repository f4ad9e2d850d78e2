"""`equilibrist log`: reads and summarizes a match log."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from equilibrist.cli.options import Json, Seed, Threads, emit

# Options of `log`.
LogPath = Annotated[
    Path, typer.Argument(help="ACPC log, .phh or .phhs file, or folder of hand histories.")
]
LogGame = Annotated[
    str | None, typer.Option(help="Game name or .game file, if the log does not name it.")
]
Replay = Annotated[
    bool, typer.Option("--replay", help="Check that the log's seed gives all its deals.")
]


def log(
    file: LogPath,
    game: LogGame = None,
    replay: Replay = False,
    json: Json = False,
    seed: Seed = 0,
    threads: Threads = None,
) -> None:
    """Summarize a log: hands, players and win rate.

    A log that is cut off is read up to its last complete hand; the rest is printed.

    Example: equilibrist log match.log
    """
    from equilibrist.evaluation.winnings import winnings
    from equilibrist.games.catalog import load_game
    from equilibrist.games.log_file import LogFile, summarize

    read = LogFile(file, None if game is None else load_game(game))
    found = summarize(read, replays=replay)
    names = (found.seats[0], found.seats[1]) if found.seats else ("nobody", "nobody")
    total = sum(found.chips)
    data: dict[str, Any] = {
        "format": read.form,
        "game": read.rules.name,
        "players": list(found.seats),
        "score": [total, -total],
        "showdowns": found.num_showdowns,
        "finished": read.is_finished and not read.rest,
        "rest": read.rest,
        "seed": read.seed,
        "replayed": replay,
    } | winnings(list(found.chips), read.rules, names)
    emit(data, _text(file, data), as_json=json)


def _text(file: Path, data: dict[str, Any]) -> str:
    lines = [
        f"{file}: {data['format']}, {data['game']}, {data['hands']:,} hands, "
        f"{data['showdowns']:,} shown down"
    ]
    if data["players"]:
        pairs = zip(data["players"], data["score"], strict=True)
        lines.append(", ".join(f"{name} {chips:+,.10g}" for name, chips in pairs) + " chips")
    if data["replayed"]:
        lines.append(f"all deals match seed {data['seed']}")
    lines.append(data["verdict"])
    return "\n".join([*lines, data["rest"]] if data["rest"] else lines)

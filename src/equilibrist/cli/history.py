"""`equilibrist log`: what a log says."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from equilibrist.cli.options import Json, Seed, Threads, emit
from equilibrist.cli.winnings import winnings
from equilibrist.errors import RecordError


def log(
    file: Annotated[Path, typer.Argument(help="An ACPC log, a .phh or .phhs file, or a folder.")],
    game: Annotated[
        str | None, typer.Option(help="A game or a .game file, where the log does not say.")
    ] = None,
    json: Json = False,
    seed: Seed = 0,
    threads: Threads = None,
) -> None:
    """Say what a log holds: hands, players, who wins how much.

    A log that breaks off gives all its whole hands, and says what came after them.

    Example: equilibrist log match.log
    """
    from equilibrist.games.catalog import load_game
    from equilibrist.games.log_file import LogFile
    from equilibrist.games.match_log import seat_chips, seats_of

    read = LogFile(file, None if game is None else load_game(game))
    seats: tuple[str, ...] = ()
    chips: list[float] = []
    showdowns = 0
    for record in read:
        seats = seats or seats_of(record)
        chips.append(float(seat_chips(seats, record)[0]))
        showdowns += record.state.betting.is_showdown
    if len(seats) > 2:
        raise RecordError(
            f"{file} is of {len(seats)} players; win rates are told of two", value=str(file)
        )
    names = (seats[0], seats[1]) if seats else ("nobody", "nobody")
    data: dict[str, Any] = {
        "format": read.form,
        "game": read.rules.name,
        "players": list(seats),
        "score": [sum(chips), -sum(chips)],
        "showdowns": showdowns,
        "finished": read.is_finished and not read.rest,
        "rest": read.rest,
        "seed": None if read.header is None else read.header.seed,
    } | winnings(chips, read.rules, names)
    emit(data, _text(file, data), as_json=json)


def _text(file: Path, data: dict[str, Any]) -> str:
    lines = [
        f"{file}: {data['format']}, {data['game']}, {data['hands']:,} hands, "
        f"{data['showdowns']:,} shown down"
    ]
    if data["players"]:
        pairs = zip(data["players"], data["score"], strict=True)
        lines.append(", ".join(f"{name} {chips:+,.10g}" for name, chips in pairs) + " chips")
    lines.append(data["verdict"])
    return "\n".join([*lines, data["rest"]] if data["rest"] else lines)

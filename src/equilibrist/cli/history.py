"""`equilibrist log`: reads and summarizes a match log."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equilibrist.cli.options import Json, Seed, Threads, emit
from equilibrist.cli.winnings import winnings
from equilibrist.errors import RecordError

if TYPE_CHECKING:
    from equilibrist.games.log_file import LogFile
    from equilibrist.games.records import HandRecord


def log(
    file: Annotated[
        Path, typer.Argument(help="ACPC log, .phh or .phhs file, or folder of hand histories.")
    ],
    game: Annotated[
        str | None, typer.Option(help="Game name or .game file, if the log does not name it.")
    ] = None,
    replay: Annotated[
        bool, typer.Option("--replay", help="Check that the log's seed gives all its deals.")
    ] = False,
    json: Json = False,
    seed: Seed = 0,
    threads: Threads = None,
) -> None:
    """Summarize a log: hands, players and win rate.

    A log that is cut off is read up to its last complete hand; the rest is printed.

    Example: equilibrist log match.log
    """
    from equilibrist.games.catalog import load_game
    from equilibrist.games.log_file import LogFile
    from equilibrist.games.match_log import seat_chips, seats_of

    read = LogFile(file, None if game is None else load_game(game))
    seats: tuple[str, ...] = ()
    chips: list[float] = []
    showdowns = 0
    records = []
    for record in read:
        if replay:
            records.append(record)
        seats = seats or seats_of(record)
        chips.append(float(seat_chips(seats, record)[0]))
        showdowns += record.state.betting.is_showdown
    if len(seats) > 2:
        raise RecordError(
            f"{file} has {len(seats)} players; win rates are computed for two players only",
            value=str(file),
        )
    names = (seats[0], seats[1]) if seats else ("nobody", "nobody")
    if replay:
        _check_deals(read, records)
    data: dict[str, Any] = {
        "format": read.form,
        "game": read.rules.name,
        "players": list(seats),
        "score": [sum(chips), -sum(chips)],
        "showdowns": showdowns,
        "finished": read.is_finished and not read.rest,
        "rest": read.rest,
        "seed": read.seed,
        "replayed": replay,
    } | winnings(chips, read.rules, names)
    emit(data, _text(file, data), as_json=json)


def _check_deals(read: LogFile, records: list[HandRecord]) -> None:
    """Raise `RecordError` unless the log states its seed and the seed deals its cards."""
    from equilibrist.games.match_log import MatchLog
    from equilibrist.games.match_log import replay as replay_log

    if read.seed is None:
        raise RecordError(f"{read.path} does not state the seed of its deals", value=str(read.path))
    replay_log(MatchLog(read.rules, read.seats, tuple(records)), read.seed)


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

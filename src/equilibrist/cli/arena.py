"""`equilibrist players`, `match` and `tournament`."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from equilibrist.cli.cross_table import cross_rows, cross_text, draw_table, write_csv
from equilibrist.cli.interrupts import leave
from equilibrist.cli.match_report import (
    check_histories,
    describe,
    draw,
    log_paths,
    report_text,
    write_histories,
    write_logs,
)
from equilibrist.cli.options import (
    GivenSeed,
    Json,
    Seed,
    Threads,
    emit,
    prepare_players,
    table,
    watching,
)
from equilibrist.cli.outputs import Force, check_file
from equilibrist.display.picture import check_plot
from equilibrist.errors import InvalidValueError, StorageError

if TYPE_CHECKING:
    from equilibrist.play.match import Match

Postflop: TypeAlias = Annotated[
    bool, typer.Option("--postflop", help="Both players always call in the first round.")
]


def players(json: Json = False, seed: Seed = 0, threads: Threads = None) -> None:
    """List the built-in players and their options."""
    from equilibrist.players.catalog import player_entries

    rows = [
        {
            "name": entry.name,
            "options": entry.options,
            "description": entry.description,
            "games": entry.games,
        }
        for entry in player_entries()
    ]
    text = table(
        [
            (
                row["name"] + (f":{row['options']}" if row["options"] else ""),
                f"{row['description']} ({row['games']})",
            )
            for row in rows
        ]
    )
    emit({"players": rows}, text, as_json=json)


def match(
    first: Annotated[
        str, typer.Argument(metavar="A", help="First player, for example always-call.")
    ],
    second: Annotated[
        str, typer.Argument(metavar="B", help="Second player, for example mix:0.1,0.6,0.3.")
    ],
    game: Annotated[str, typer.Option(help="Game name, or a .game file.")] = "holdem-limit",
    hands: Annotated[
        int, typer.Option(help="Number of hands per match; the maximum with --until-sure.")
    ] = 1000,
    duplicate: Annotated[
        bool, typer.Option("--duplicate", help="Play every deal twice with the seats swapped.")
    ] = False,
    matches: Annotated[
        int, typer.Option(min=1, help="Number of matches; players forget all between matches.")
    ] = 1,
    until_sure: Annotated[
        bool, typer.Option("--until-sure", help="Stop once the winner is statistically clear.")
    ] = False,
    postflop: Postflop = False,
    log: Annotated[Path | None, typer.Option(help="Write an ACPC log to this file.")] = None,
    phh: Annotated[
        Path | None, typer.Option(help="Write one hand history per hand to this folder.")
    ] = None,
    force: Force = False,
    plot: Annotated[Path | None, typer.Option(help="Draw the winnings to this PNG file.")] = None,
    runner: Annotated[
        Literal["auto", "views", "tables"],
        typer.Option(
            help="views: ask players hand by hand; tables: compiled (table players, no log)."
        ),
    ] = "auto",
    json: Json = False,
    seed: Seed = 0,
    threads: Threads = None,
) -> None:
    """Play a match and print the win rate with its 95 % confidence interval.

    Example: equilibrist match always-call always-raise --hands 2000 --duplicate --seed 7
    """
    from equilibrist.games.catalog import load_game
    from equilibrist.play.match import check_match, play_match, play_matches
    from equilibrist.play.sequential_match import play_sequential_match
    from equilibrist.players.catalog import make_player
    from equilibrist.stopping import Stopped

    rules = load_game(game)
    pair = make_player(first, rules), make_player(second, rules)
    wants_log = log is not None or phh is not None
    _check_outputs(log, phh, plot, matches, duplicate=duplicate, force=force)
    if until_sure:
        _check_until_sure(matches, wants_log, first, second)
    if runner == "auto" and wants_log:
        runner = "views"  # so that the log equals that of the same match over a network
    check_match(rules, pair, hands, seed, duplicate, int(postflop), runner)
    prepare_players(threads, first, second, tables=rules.is_limit and runner != "views")
    settings: dict[str, Any] = {
        "duplicate": duplicate,
        "agreed_rounds": int(postflop),
        "seed": seed,
        "runner": runner,
        "watch": watching(f"{first} against {second}"),
    }
    start = time.perf_counter()
    found: Any  # a match, several, or one and its test
    outcome = "finished"
    try:
        if until_sure:
            found = play_sequential_match(rules, pair, hands, **settings)
        elif matches > 1:
            found = play_matches(rules, pair, matches, hands, **settings)
        else:
            found = play_match(rules, pair, hands, keep_log=wants_log, **settings)
    except Stopped as stopped:
        if stopped.partial is None:
            raise
        found, outcome = stopped.partial, "interrupted"
    test = found[1] if until_sure else None
    played: tuple[Match, ...] = found[:1] if until_sure else found if matches > 1 else (found,)
    seconds = time.perf_counter() - start
    data = describe(played, (first, second), test) | {"postflop": postflop, "seed": seed}
    data["outcome"] = outcome
    data |= {"runner": played[0].runner, "seconds": round(seconds, 3)}
    with reported(data, json):
        if log is not None:
            data["log"] = write_logs(played[0], log, replace=force)
        if phh is not None:
            data["phh"] = write_histories(played[0], phh)
        if plot is not None:
            draw(played, (first, second), plot)
    if outcome == "interrupted":
        leave(f"stopped after {data['hands']:,} hands; a match cannot be resumed")


def tournament(
    file: Annotated[Path, typer.Argument(help="TOML file with game, players and hands.")],
    csv: Annotated[Path | None, typer.Option(help="Write the cross table to this file.")] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the cross table to this PNG file.")
    ] = None,
    json: Json = False,
    seed: GivenSeed = None,
    threads: Threads = None,
) -> None:
    """Play a round-robin tournament: cross table, bankroll and instant-runoff rankings.

    The seed is --seed if given, else the file's, else 0.

    Example: equilibrist tournament cup.toml --csv table.csv
    """
    from dataclasses import replace

    from equilibrist.evaluation.statistics import chips_of_unit
    from equilibrist.games.catalog import load_game
    from equilibrist.play.tournament import play_tournament, read_tournament

    plan = read_tournament(file)
    if seed is not None:
        plan = replace(plan, seed=seed)
    _check_folder(csv)
    check_plot(plot)
    rules = load_game(plan.game)
    prepare_players(threads, *plan.players, tables=rules.is_limit)
    found = play_tournament(plan, watching(f"{len(plan.players)} players"))
    unit, chips = chips_of_unit(rules, None)
    rows = cross_rows(found, chips)
    names = found.names
    data = {
        "game": rules.name,
        "unit": unit,
        "hands": plan.hands,
        "duplicate": plan.duplicate,
        "seed": plan.seed,
        "players": list(names),
        "table": [[None if math.isnan(cell) else cell for cell in row] for row in rows["rates"]],
        "standard_errors": [
            [None if math.isnan(cell) else cell for cell in row] for row in rows["errors"]
        ],
        "bankrolls": rows["bankrolls"],
        "bankroll_ranking": [names[i] for i in found.bankroll_ranking()],
        "runoff_ranking": [names[i] for i in found.runoff_ranking()],
    }
    if csv is not None:
        write_csv(csv, names, rows)
    if plot is not None:
        draw_table(data, plot)
    emit(data, cross_text(data), as_json=json)


@contextlib.contextmanager
def reported(data: dict[str, Any], json: bool) -> Iterator[None]:
    """Print the report at the end, even if a file could not be written."""
    try:
        yield
    finally:
        emit(data, report_text(data), as_json=json)


def _check_outputs(
    log: Path | None,
    phh: Path | None,
    plot: Path | None,
    matches: int,
    *,
    duplicate: bool,
    force: bool,
) -> None:
    if matches > 1 and (log is not None or phh is not None):
        raise InvalidValueError("a log holds one match; leave out --matches, or --log and --phh")
    if log is not None:
        for path in log_paths(log, duplicate):
            check_file(path, force)
    _check_folder(phh)
    check_plot(plot)
    if phh is not None:
        check_histories(phh, force)


def _check_until_sure(matches: int, wants_log: bool, *names: str) -> None:
    from equilibrist.players.catalog import player_learns

    if matches > 1 or wants_log:
        raise InvalidValueError(
            "--until-sure plays one match without a log; leave out --matches, --log and --phh"
        )
    for name in names:
        if player_learns(name):
            raise InvalidValueError(
                f"{name} learns, so its hands depend on each other and the sequential test of "
                "--until-sure does not hold; leave it out, or play several --matches",
                value=name,
            )


def _check_folder(path: Path | None) -> None:
    """Raise `StorageError` before the match if its result could not be written."""
    if path is not None and not path.parent.is_dir():
        raise StorageError(f"{path.parent} is not a folder: cannot write {path}", value=str(path))

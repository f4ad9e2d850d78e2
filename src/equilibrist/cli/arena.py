"""`equilibrist players`, `match` and `tournament`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from equilibrist.cli.cross_table import cross_data, cross_text, draw_table, write_csv
from equilibrist.cli.interrupts import leave
from equilibrist.cli.match_report import MatchOutputs, check_folder, describe, report_text
from equilibrist.cli.options import (
    GameName,
    GivenSeed,
    Json,
    Remaining,
    Seed,
    Threads,
    emit,
    prepare_kernels,
    prepare_players,
    table,
)
from equilibrist.cli.outputs import Force
from equilibrist.display.picture import check_plot
from equilibrist.errors import InvalidValueError

if TYPE_CHECKING:
    from equilibrist.play.match import MatchSettings
    from equilibrist.play.match_run import PlayedMatches

Postflop = Annotated[
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


# Options of `match`.
FirstPlayer = Annotated[
    str, typer.Argument(metavar="A", help="First player, for example always-call.")
]
SecondPlayer = Annotated[
    str, typer.Argument(metavar="B", help="Second player, for example mix:0.1,0.6,0.3.")
]
Hands = Annotated[
    int, typer.Option(help="Number of hands per match; the maximum with --until-sure.")
]
Duplicate = Annotated[
    bool, typer.Option("--duplicate", help="Play every deal twice with the seats swapped.")
]
Matches = Annotated[
    int, typer.Option(min=1, help="Number of matches; players forget all between matches.")
]
UntilSure = Annotated[
    bool, typer.Option("--until-sure", help="Stop once the winner is statistically clear.")
]
Aivat = Annotated[bool, typer.Option("--aivat", help="Also print the win rate without luck.")]
LogOut = Annotated[Path | None, typer.Option(help="Write an ACPC log to this file.")]
HistoriesOut = Annotated[
    Path | None, typer.Option(help="Write one hand history per hand to this folder.")
]
WinningsPlot = Annotated[Path | None, typer.Option(help="Draw the winnings to this PNG file.")]
RunnerName = Annotated[
    Literal["auto", "views", "tables"],
    typer.Option(help="views: ask players hand by hand; tables: compiled (table players, no log)."),
]


def match(
    first: FirstPlayer,
    second: SecondPlayer,
    game: GameName = "holdem-limit",
    hands: Hands = 1000,
    duplicate: Duplicate = False,
    matches: Matches = 1,
    until_sure: UntilSure = False,
    aivat: Aivat = False,
    postflop: Postflop = False,
    log: LogOut = None,
    phh: HistoriesOut = None,
    force: Force = False,
    plot: WinningsPlot = None,
    runner: RunnerName = "auto",
    json: Json = False,
    seed: Seed = 0,
    threads: Threads = None,
) -> None:
    """Play a match and print the win rate with its 95 % confidence interval.

    --aivat corrects for the luck of the cards and of the random actions of players whose strategies
    are known (mixes, uniform, stored strategies), in limit hold'em and in limit games whose exact
    model fits into memory; in no-limit games, of a player that follows a stored strategy.

    Example: equilibrist match always-call always-raise --hands 2000 --duplicate --seed 7

    Example: equilibrist match uniform always-shove --game leduc --aivat

    Example: equilibrist match smallbot-quick poki --hands 2000 --duplicate --aivat
    """
    from equilibrist.games.catalog import load_game
    from equilibrist.play.luck import luck_kernels
    from equilibrist.play.match import MatchSettings
    from equilibrist.play.match_run import check_settings, play_as_set
    from equilibrist.players.catalog import make_player

    rules = load_game(game)
    pair, names = (make_player(first, rules), make_player(second, rules)), (first, second)
    outputs = MatchOutputs(log, phh, plot, force)
    outputs.check(matches, duplicate)
    if until_sure:
        _check_until_sure(matches, outputs, aivat)
    if runner == "auto" and outputs.needs_hands:
        runner = "views"  # so that the log equals that of the same match over a network
    settings = MatchSettings(
        hands=hands,
        matches=matches,
        duplicate=duplicate,
        agreed_rounds=int(postflop),
        seed=seed,
        runner=runner,
        until_sure=until_sure,
        aivat=aivat,
        keep_log=outputs.needs_hands,
    )
    check_settings(rules, pair, settings)
    prepare_players(threads, *names, tables=rules.is_limit and runner != "views")
    if aivat:
        prepare_kernels(threads, *luck_kernels(rules))
    _print_match(play_as_set(rules, pair, settings, Remaining), names, settings, outputs, json)


def _print_match(
    found: PlayedMatches,
    names: tuple[str, str],
    settings: MatchSettings,
    outputs: MatchOutputs,
    json: bool,
) -> None:
    """Print the result of a match and write its files; leave if it was stopped."""
    data = describe(found, names, settings)
    with reported(data, json):
        outputs.write(found.matches, names, data)
    if not found.is_finished:
        leave(f"stopped after {data['hands']:,} hands; a match cannot be resumed")


# Options of `tournament`.
TournamentFile = Annotated[Path, typer.Argument(help="TOML file with game, players and hands.")]
TableCsv = Annotated[Path | None, typer.Option(help="Write the cross table to this file.")]
TablePlot = Annotated[Path | None, typer.Option(help="Draw the cross table to this PNG file.")]


def tournament(
    file: TournamentFile,
    csv: TableCsv = None,
    plot: TablePlot = None,
    json: Json = False,
    seed: GivenSeed = None,
    threads: Threads = None,
) -> None:
    """Play a round-robin tournament: cross table, bankroll and instant-runoff rankings.

    The seed is --seed if given, else the file's, else 0.

    Example: equilibrist tournament cup.toml --csv table.csv
    """
    from dataclasses import replace

    from equilibrist.games.catalog import load_game
    from equilibrist.play.tournament import play_tournament, read_tournament

    plan = read_tournament(file)
    if seed is not None:
        plan = replace(plan, seed=seed)
    check_folder(csv)
    check_plot(plot)
    rules = load_game(plan.game)
    prepare_players(threads, *plan.players, tables=rules.is_limit)
    found = play_tournament(plan, Remaining(f"{len(plan.players)} players"))
    data = cross_data(found, plan, rules)
    if csv is not None:
        write_csv(csv, data)
    if plot is not None:
        draw_table(data, plot)
    emit(data, cross_text(data), as_json=json)


def _check_until_sure(matches: int, outputs: MatchOutputs, aivat: bool) -> None:
    """Raise `InvalidValueError` for options that --until-sure excludes."""
    if matches > 1 or outputs.needs_hands or aivat:
        raise InvalidValueError(
            "--until-sure tests the plain results of one match without a log; leave out --matches, "
            "--log, --phh and --aivat"
        )


@contextlib.contextmanager
def reported(data: dict[str, Any], json: bool) -> Iterator[None]:
    """Print the report at the end, even if a file could not be written."""
    try:
        yield
    finally:
        emit(data, report_text(data), as_json=json)

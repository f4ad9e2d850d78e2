"""`equilibrist players`, `match` and `tournament`."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from equilibrist.cli.options import Json, Remaining, Seed, Threads, emit, prepare_kernels, table
from equilibrist.errors import InvalidValueError, StorageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from equilibrist.evaluation.statistics import Estimate
    from equilibrist.games.rules import GameRules
    from equilibrist.play.match import Match, Watch
    from equilibrist.play.tournament import CrossTable

Postflop: TypeAlias = Annotated[
    bool, typer.Option("--postflop", help="Both call in the first round by agreement.")
]


def players(json: Json = False, seed: Seed = 0, threads: Threads = None) -> None:
    """The players that can sit down, and their options."""
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
    first: Annotated[str, typer.Argument(metavar="A", help="A player, such as always-call.")],
    second: Annotated[str, typer.Argument(metavar="B", help="Another, such as mix:0.1,0.6,0.3.")],
    game: Annotated[str, typer.Option(help="A game or a .game file.")] = "holdem-limit",
    hands: Annotated[int, typer.Option(help="Hands in all, of each match.")] = 1000,
    duplicate: Annotated[
        bool, typer.Option("--duplicate", help="Play every deal twice, seats swapped.")
    ] = False,
    matches: Annotated[
        int, typer.Option(min=1, help="Matches, memories reset before each: for learners.")
    ] = 1,
    postflop: Postflop = False,
    log: Annotated[Path | None, typer.Option(help="Write an ACPC log into this file.")] = None,
    phh: Annotated[Path | None, typer.Option(help="Write a history a hand, in a folder.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the winnings into this PNG file.")] = None,
    json: Json = False,
    seed: Seed = 0,
    threads: Threads = None,
) -> None:
    """Play a match and say who wins how much, with its 95 % interval.

    Example: equilibrist match always-call always-raise --hands 2000 --duplicate --seed 7
    """
    from equilibrist.games.catalog import load_game
    from equilibrist.play.match import play_match, play_matches
    from equilibrist.players.catalog import make_player

    rules = load_game(game)
    _prepare(threads, first, second)
    pair = make_player(first, rules), make_player(second, rules)
    _check_outputs(log, phh, plot, matches)
    settings: dict[str, Any] = {
        "duplicate": duplicate,
        "agreed_rounds": int(postflop),
        "keep_log": log is not None or phh is not None,
        "watch": _watch(f"{first} against {second}"),
    }
    start = time.perf_counter()
    if matches > 1:
        played = play_matches(rules, pair, matches, hands, seed=seed, **settings)
    else:
        played = (play_match(rules, pair, hands, seed=seed, **settings),)
    seconds = time.perf_counter() - start
    data = _describe(played, (first, second)) | {"postflop": postflop, "seed": seed}
    data |= {"seconds": round(seconds, 3)}
    if log is not None:
        data["log"] = _write_logs(played[0], log)
    if phh is not None:
        data["phh"] = _write_histories(played[0], phh)
    if plot is not None:
        _draw(played, (first, second), plot)
    emit(data, _text(data), as_json=json)


def tournament(
    file: Annotated[Path, typer.Argument(help="A TOML file with game, players and hands.")],
    csv: Annotated[Path | None, typer.Option(help="Write the cross table into this file.")] = None,
    json: Json = False,
    seed: Seed = 0,
    threads: Threads = None,
) -> None:
    """Let everybody play everybody: a cross table, bankrolls and an instant runoff.

    The seed is the file's, or --seed where the file gives none.

    Example: equilibrist tournament cup.toml --csv table.csv
    """
    from dataclasses import replace

    from equilibrist.evaluation.statistics import chips_of_unit
    from equilibrist.games.catalog import load_game
    from equilibrist.play.tournament import play_tournament, read_tournament

    plan = read_tournament(file)
    plan = replace(plan, seed=plan.seed or seed)
    _check_folder(csv)
    rules = load_game(plan.game)
    _prepare(threads, *plan.players)
    found = play_tournament(plan, _watch(f"{len(plan.players)} players"))
    unit, chips = chips_of_unit(rules, None)
    rows = _cross_rows(found, chips)
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
        _write_csv(csv, names, rows)
    emit(data, _tournament_text(data), as_json=json)


def _prepare(threads: int | None, *names: str) -> None:
    """Say so when kernels of some players must be compiled; most need none, and no Numba."""
    from equilibrist.players.catalog import player_kernels

    kernels = {kernel for name in names for kernel in player_kernels(name)}
    if kernels:
        prepare_kernels(threads, *kernels)


def _watch(what: str) -> Watch:
    """Says how long a match still takes by its rate since the first look: hands before warm up."""
    first: list[tuple[float, Remaining]] = []

    def look(share: float) -> None:
        if not first:
            first.append((share, Remaining(what)))
        elif share > first[0][0]:
            start, remaining = first[0]
            remaining((share - start) / (1 - start))

    return look


# --- numbers --------------------------------------------------------------------------------------


def _estimate(samples: NDArray[np.float64]) -> Estimate | None:
    """A mean with its interval; None where one sample says nothing of its error."""
    from equilibrist.evaluation.statistics import Estimate

    return Estimate.of_sample(samples) if len(samples) > 1 else None


def _error_fields(found: Estimate | None) -> dict[str, Any]:
    if found is None:
        return {"standard_error": None, "ci95": None}
    return {"standard_error": found.standard_error, "ci95": list(found.ci95)}


def _describe(played: tuple[Match, ...], names: tuple[str, str]) -> dict[str, Any]:
    """The result of one match, whose samples are deals, or of many, whose samples are matches."""
    import numpy as np

    from equilibrist.evaluation.statistics import chips_of_unit

    rules, many = played[0].rules, len(played) > 1
    unit, chips = chips_of_unit(rules, None)
    samples = np.array([match.rate() for match in played]) if many else played[0].samples
    mean, found = float(samples.mean() / chips), _estimate(samples / chips)
    data: dict[str, Any] = {
        "game": rules.name,
        "players": list(names),
        "win_rate": mean,
        "unit": unit,
        **_error_fields(found),
        "p_value": None if found is None else found.p_value,
        "standard_deviation": float(np.std([m.chips for m in played], ddof=1) / chips)
        if sum(match.num_hands for match in played) > 1
        else None,
        "hands": sum(match.num_hands for match in played),
        "samples": len(samples),
        "duplicate": played[0].is_duplicate,
        "verdict": _verdict(mean, found, unit, names),
    }
    data |= _other_units(rules, mean * chips)
    if many:
        tenths = np.array([match.rate(0.1) for match in played]) / chips
        data["matches"] = [match.rate() / chips for match in played]
        data["last_tenth"] = {"win_rate": float(tenths.mean()), **_error_fields(_estimate(tenths))}
    return data


def _other_units(rules: GameRules, rate: float) -> dict[str, float]:
    from equilibrist.evaluation.statistics import unit_chips

    known, fields = unit_chips(rules), {"bb_per_100": "bb/100", "sb_per_hand": "sb/h"}
    return {field: rate / known[unit] for field, unit in fields.items() if unit in known}


def _verdict(mean: float, found: Estimate | None, unit: str, names: tuple[str, str]) -> str:
    winner, loser = names if mean >= 0 else names[::-1]
    if found is None:
        return f"{winner} won {abs(mean):.6g} {unit} from {loser}; one sample proves nothing"
    if not found.is_clear:
        return f"no verdict: {names[0]} won {found.text(unit)} from {names[1]}"
    return f"{winner} beats {loser} by {found.text(unit, 1 if mean >= 0 else -1)}"


def _text(data: dict[str, Any]) -> str:
    how = "duplicate " if data["duplicate"] else ""
    how += "postflop " if data["postflop"] else ""
    lines = [
        data["verdict"],
        f"{data['game']}, {data['hands']:,} {how}hands, seed {data['seed']}, "
        f"{data['hands'] / max(data['seconds'], 1e-3):,.0f} hands a second",
    ]
    unit = data["unit"]
    if data["ci95"] is not None:
        low, high = data["ci95"]
        lines.append(
            f"win rate {data['win_rate']:.6g} {unit}, standard error {data['standard_error']:.4g}, "
            f"95 % interval [{low:.6g}, {high:.6g}]"
        )
    if "sb_per_hand" in data:
        lines.append(f"{data['sb_per_hand']:.4g} sb/h, {data['bb_per_100']:.4g} bb/100")
    if "last_tenth" in data:
        last = data["last_tenth"]
        lines.append(
            f"{len(data['matches'])} matches; over their last tenth {last['win_rate']:.6g} {unit}, "
            f"standard error {last['standard_error']:.4g}"
        )
    return "\n".join(lines)


# --- files ----------------------------------------------------------------------------------------


def _check_outputs(log: Path | None, phh: Path | None, plot: Path | None, matches: int) -> None:
    if matches > 1 and (log is not None or phh is not None):
        raise InvalidValueError("logs are of one match; leave --matches or --log out")
    for path in (log, phh, plot):
        _check_folder(path)
    if phh is not None and phh.exists() and not phh.is_dir():
        raise StorageError(f"{phh} is a file; --phh names a folder", value=str(phh))


def _check_folder(path: Path | None) -> None:
    """Say before the match that its result could not be written."""
    if path is not None and not path.parent.is_dir():
        raise StorageError(f"{path.parent} is no folder: cannot write {path}", value=str(path))


def _write_logs(match: Match, path: Path) -> list[str]:
    """The log of each run; that of the swapped run of a duplicate match says so in its name."""
    from equilibrist.games.match_log import write_log

    paths = [path, path.with_name(f"{path.stem}.swapped{path.suffix}")]
    for log, place in zip(match.logs, paths, strict=False):
        write_log(log, place)
    return [str(place) for place in paths[: len(match.logs)]]


def _write_histories(match: Match, folder: Path) -> str:
    from equilibrist.games.phh import write_phh

    folder.mkdir(exist_ok=True)
    for run, log in enumerate(match.logs):
        for record in log.hands:
            write_phh(record, folder / f"{run}-{record.hand_number:07}.phh")
    return str(folder)


def _draw(played: tuple[Match, ...], names: tuple[str, str], path: Path) -> None:
    """Winnings of the first player as the match went on, a line a match."""
    import numpy as np
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.subplots()
    rules = played[0].rules
    bet = rules.raise_sizes[0] if rules.is_limit else rules.big_blind
    for match in played:
        won = np.concatenate([[0], match.chips.sum(axis=0).cumsum()]) / bet
        axes.plot(np.arange(len(won)) * len(match.chips), won, linewidth=1)
    axes.axhline(0, color="grey", linewidth=0.8)
    axes.set(
        xlabel="hands",
        ylabel="small bets won" if rules.is_limit else "big blinds won",
        title=f"{names[0]} against {names[1]}, {rules.name}",
    )
    figure.savefig(path, dpi=120)


# --- tournaments ----------------------------------------------------------------------------------


def _cross_rows(found: CrossTable, chips: float) -> dict[str, Any]:
    return {
        "rates": (found.rates / chips).tolist(),
        "errors": (found.errors / chips).tolist(),
        "bankrolls": (found.bankrolls() / chips).tolist(),
    }


def _tournament_text(data: dict[str, Any]) -> str:
    names = data["players"]
    rows = []
    for i, name in enumerate(names):
        cells = [
            "" if rate is None else f"{rate:.1f}" + ("" if error is None else f" ± {error:.1f}")
            for rate, error in zip(data["table"][i], data["standard_errors"][i], strict=True)
        ]
        rows.append((name, *cells, f"{data['bankrolls'][i]:.1f}"))
    return "\n".join(
        [
            f"{data['game']}, {data['hands']:,} hands a pair; the row wins from the column, "
            f"{data['unit']} ± standard error",
            table(rows, header=("", *names, "average")),
            f"bankroll: {', '.join(data['bankroll_ranking'])}",
            f"instant runoff: {', '.join(data['runoff_ranking'])}",
        ]
    )


def _write_csv(path: Path, names: tuple[str, ...], rows: dict[str, Any]) -> None:
    import csv

    from equilibrist.errors import ParseError
    from equilibrist.games.files import file_errors

    with file_errors("write", path, ParseError), open(path, "w", encoding="utf-8", newline="") as f:
        writer = csv.writer(f)
        writer.writerow(["", *names, "average"])
        for name, rates, mean in zip(names, rows["rates"], rows["bankrolls"], strict=True):
            writer.writerow([name, *("" if math.isnan(rate) else rate for rate in rates), mean])

"""`equilibrist exploit --real-game`, and what `verify` and `bots` say of its certificates."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from equilibrist.cli.options import Remaining, emit, prepare_kernels
from equilibrist.storage.threads import most_threads

if TYPE_CHECKING:
    from equilibrist.bots.registry import Bot
    from equilibrist.evaluation.real_game.response import Response
    from equilibrist.evaluation.real_game.run import Exploited, Run
    from equilibrist.storage.artefact import Artefact
    from equilibrist.strategies.played import IdentifiedStrategy

_KERNELS = ("real_game.respond_last", "real_game.respond_round", "real_game.sort_hands")


def exploit_real(
    text: str,
    game: str | None,
    flops: int | None,
    out: Path | None,
    *,
    json: bool,
    seed: int,
    threads: int | None,
) -> None:
    """What best responses win from a strategy in limit hold'em itself, in both seats."""
    from equilibrist.bots.open import open_strategy
    from equilibrist.bots.registry import BOTS
    from equilibrist.errors import InvalidValueError
    from equilibrist.evaluation.real_game import run as runs
    from equilibrist.evaluation.real_game.response import is_holdem
    from equilibrist.games.catalog import load_game
    from equilibrist.storage.artefact import check_target
    from equilibrist.storage.ownership import owned

    named = open_strategy(text, None if game is None else load_game(game))
    many = threads or most_threads()
    rules = named.strategy.tree.rules
    if not is_holdem(rules):
        if flops is not None or out is not None:
            raise InvalidValueError(f"{rules.name} has no flops to keep: leave out --flops, --out")
        found = runs.plainly_exploited(named)
        emit(_fields(text, rules.name, found), _figures(text, rules.name, found), as_json=json)
        return
    folder = certificate_folder(BOTS[text], BOTS[text].folder) if text in BOTS else None
    folder = out or folder
    if folder is not None:
        check_target(folder, runs.KIND)
    with owned(folder):
        prepare_kernels(1, *_KERNELS)
        responses = runs.responses_to(named)
        run, found = _respond(text, named, responses, folder, flops, many, seed)
    emit(_result(run, found, folder), _words(run, found), as_json=json)


def _respond(
    text: str,
    named: IdentifiedStrategy,
    responses: tuple[Response, Response],
    folder: Path | None,
    flops: int | None,
    many: int,
    seed: int,
) -> tuple[Run, Exploited]:
    """Compute the chosen flops with `many` threads; those in the folder are kept."""
    from equilibrist.cli.interrupts import leave
    from equilibrist.evaluation.real_game import run as runs
    from equilibrist.storage import stopping
    from equilibrist.storage.stopping import Stopped

    run = runs.begun(named, responses, folder)
    chosen = runs.stratified(run.flops, flops, seed)
    left = int((~run.is_done[chosen]).sum())
    if left:
        seconds = runs.forecast(responses, run, chosen, many)
        kept = "nothing is kept without --out" if folder is None else f"kept in {folder}"
        print(
            f"{text}: {left:,} of {len(run.flops.boards):,} flops, about {_time(seconds)}; {kept}",
            file=sys.stderr,
            flush=True,
        )
        stopping.check()
        stopping.expect("flop", seconds * min(many, left) / left)
    remaining = Remaining(f"best responses to {text}")

    def tell(run: Run) -> None:
        remaining(1 - int((~run.is_done[chosen]).sum()) / left)

    try:
        runs.go_on(run, responses, chosen, threads=many, folder=folder, tell=tell)
    except Stopped:
        done = f"stopped after {int(run.is_done.sum()):,} of {len(run.flops.boards):,} flops"
        kept = f"kept in {folder}, and the same command goes on"
        leave(f"{done}; {'nothing is kept without --out' if folder is None else kept}")
    found = runs.exploited(run, responses)
    if folder is not None:
        runs.save(run, folder, found)
    return run, found


def _result(run: Run, found: Exploited, folder: Path | None) -> dict[str, Any]:
    return {
        **_fields(run.name, run.rules.name, found),
        "flops": int(run.is_done.sum()),
        "all_flops": len(run.flops.boards),
        "estimate": not run.is_whole,
        "seconds": round(run.seconds, 3),
        "folder": None if folder is None else str(folder),
    }


def _fields(strategy: str, game: str, found: Exploited) -> dict[str, Any]:
    return {
        "strategy": strategy,
        "game": game,
        "real_game": True,
        "exploitability": found.exploitability,
        "nash_conv": sum(found.best_response),
        "best_response": list(found.best_response),
        "unit": found.unit,
    }


def _figures(strategy: str, game: str, found: Exploited) -> str:
    first, second = found.best_response
    return (
        f"{strategy} in {game} itself: exploitability {found.exploitability:.4f} {found.unit} "
        f"(best responses {first:.4f} as player 0, {second:.4f} as player 1)"
    )


def _words(run: Run, found: Exploited) -> str:
    done, number = int(run.is_done.sum()), len(run.flops.boards)
    scope = (
        f"exact, all {number:,} flops"
        if run.is_whole
        else f"a local estimate from {done:,} of {number:,} flops, no bound"
    )
    figures = _figures(run.name, run.rules.name, found)
    return f"{figures}; {scope}, {_time(run.seconds)}"


def verify_real(stored: Artefact, flops: int, seed: int) -> tuple[dict[str, Any], str]:
    """Compute sampled flops of a certificate again; `StorageError` where one is not the same."""
    from equilibrist.errors import StorageError
    from equilibrist.evaluation.real_game import run as runs

    prepare_kernels(1, *_KERNELS)
    run, responses = _opened(stored)
    wrong = runs.check(run, responses, flops, seed)
    if wrong:
        raise StorageError(
            f"{stored.folder}: flop {wrong[0]} is worth something else than the certificate says; "
            "compute it again into another folder",
            value=wrong[0],
        )
    found = runs.exploited(run, responses)
    if not runs.states(stored.info, run, found):
        raise StorageError(
            f"{stored.folder} states an exploitability of {stored.info['exploitability']:.6g} "
            f"{stored.info['unit']}, but its flops give {found.exploitability:.6g} {found.unit}",
            value=str(stored.folder),
        )
    many = min(flops, int(run.is_done.sum()))
    data = {"checked_flops": many, **_result(run, found, stored.folder)}
    return data, f"{many} flops computed again, all the same; {_words(run, found)}"


def _opened(stored: Artefact) -> tuple[Run, tuple[Response, Response]]:
    from equilibrist.bots.open import open_strategy
    from equilibrist.evaluation.real_game import run as runs
    from equilibrist.games.rules import parse_rules
    from equilibrist.storage.schema import Fields

    fields = Fields.configuration(stored)
    named = open_strategy(
        fields.path("strategy"), parse_rules(fields.lines("game"), fields.text("name"))
    )
    responses = runs.responses_to(named)
    return runs.begun(named, responses, stored.folder), responses


def certificate_folder(bot: Bot, folder: Path) -> Path:
    """Where the real-game response to a bot is kept, if its own folder is `folder`."""
    return folder / bot.solution.replace("solution", "real-game")


def known_response(bot: Bot, folder: Path) -> dict[str, Any]:
    """What is known of a bot's exploitability in the real game, as fields of its row."""
    from equilibrist.storage.artefact import read_identity
    from equilibrist.storage.manifest import MANIFEST
    from equilibrist.storage.schema import Fields

    kept = certificate_folder(bot, folder)
    if not (kept / MANIFEST).exists():
        return {}
    stored = read_identity(kept)
    info, identity = Fields.info(stored), Fields.configuration(stored).lines("identity")
    plays = [folder / part for part in (bot.strategy, bot.solution)]
    hashes = [read_identity(part).hash for part in plays if (part / MANIFEST).exists()]
    if identity not in hashes or "exploitability" not in info:
        return {}
    return {
        "real_game": info.number("exploitability"),
        "real_game_unit": info.text("unit"),
        "real_game_flops": info.whole("flops"),
        "real_game_estimate": info.flag("estimate"),
    }


def known_responses() -> list[dict[str, Any]]:
    """The bots that are trained here and were met in the real game, as fields of their rows."""
    from equilibrist.bots.registry import BOTS

    found: dict[Path, dict[str, Any]] = {}
    for bot in BOTS.values():
        fields = known_response(bot, bot.folder)
        if fields:  # bots that share a solution share what is known of it
            found.setdefault(certificate_folder(bot, bot.folder), {"name": bot.name, **fields})
    return list(found.values())


def _time(seconds: float) -> str:
    """A time that people can read.

    Example:
        >>> _time(5), _time(600), _time(9000)
        ('5 s', '10 minutes', '2.5 hours')
    """
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} minutes" if seconds < 7200 else f"{seconds / 3600:.1f} hours"

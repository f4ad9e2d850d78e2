"""`equilibrist exploit --real-game`, and its certificates as `verify` and `bots` show them."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from equilibrist.cli.options import Remaining, emit, prepare_kernels
from equilibrist.storage.threads import most_threads

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from equilibrist.cli.split import EngineOptions
    from equilibrist.evaluation.real_game.response import Response
    from equilibrist.evaluation.real_game.run import Exploited, FlopEngine, RealGameRun
    from equilibrist.games.rules import GameRules
    from equilibrist.storage.artefact import Artefact

_KERNELS = ("real_game.respond_last", "real_game.respond_board", "real_game.sort_hands")
_NOT_SAVED = "nothing is saved without --out"


def exploit_real(
    text: str,
    game: str | None,
    flops: int | None,
    out: Path | None,
    *,
    json: bool,
    seed: int,
    device: str = "cpu",
    who: EngineOptions,
) -> None:
    """Print a strategy's exploitability in the full game, by best responses in both seats."""
    from equilibrist.bots.open import open_strategy
    from equilibrist.bots.registry import BOTS
    from equilibrist.errors import InvalidValueError
    from equilibrist.evaluation.real_game import run as runs
    from equilibrist.evaluation.real_game.response import is_holdem
    from equilibrist.games.catalog import load_game
    from equilibrist.storage.artefact import check_target
    from equilibrist.storage.ownership import owned

    named = open_strategy(text, None if game is None else load_game(game))
    num_threads = who.threads or most_threads()
    rules = named.strategy.tree.rules
    if not is_holdem(rules):
        given = flops, out, None if device != "gpu" else device, who.name
        if any(option is not None for option in given):
            raise InvalidValueError(
                f"{rules.name} is not hold'em and has no flops: leave out --flops, --out, "
                "--device and --engine"
            )
        found = runs.reference_exploited(named)
        emit(_fields(text, rules.name, found), _figures(text, rules.name, found), as_json=json)
        return
    folder = BOTS[text].response_folder(BOTS[text].folder) if text in BOTS else None
    folder = out or folder
    if folder is not None:
        check_target(folder, runs.KIND)
    with owned(folder):
        prepare_kernels(1, *_KERNELS)
        responses = runs.responses_to(named)
        run = runs.open_or_start(named, responses, folder)
        sample = runs.stratified(run.flops, flops, seed)
        with _engine(device, who, responses) as engine:
            found = _respond(run, responses, sample, folder, num_threads, engine)
    emit(_result(run, found, folder), _words(run, found), as_json=json)


@contextlib.contextmanager
def _engine(
    device: str, who: EngineOptions, responses: tuple[Response, Response]
) -> Iterator[FlopEngine | None]:
    """Give what computes flops in place of threads: the GPU, or the nodes of a cluster."""
    from equilibrist.evaluation.real_game import run as runs

    if who.name == "ray":
        from equilibrist.cluster.connection import connected
        from equilibrist.cluster.flops import RayFlops

        with (
            connected(who.address, who.threads),
            contextlib.closing(RayFlops(responses[0].strategy, who.threads)) as engine,
        ):
            yield engine
        return
    chosen, gpu = runs.on_device(device, responses)
    if chosen.name == "gpu" or chosen.why:
        print(chosen.text, file=sys.stderr)
    yield gpu


def check_measure(rules: GameRules, flops: int | None, *, has_buckets: bool) -> None:
    """Raise `InvalidValueError` for a solution or a number of flops that cannot be measured."""
    from equilibrist.errors import InvalidValueError
    from equilibrist.evaluation.real_game.response import Flops, is_holdem
    from equilibrist.evaluation.real_game.run import stratified

    if is_holdem(rules):
        stratified(Flops.of(rules), flops)
        if not has_buckets:
            raise InvalidValueError(
                "the response has exact hands: its exploitability is that in the game itself; "
                "leave out --real-game"
            )
    elif flops is not None:
        raise InvalidValueError(f"{rules.name} is not hold'em and has no flops: leave out --flops")


def exploited_in(
    folder: Path, flops: int | None, seed: int, threads: int | None
) -> tuple[Exploited, bool]:
    """Return the exploitability of a stored solution in the full game, and whether it is exact.

    Flops are stored in the solution's folder; those of an earlier state of it are discarded.
    """
    from equilibrist.bots.open import open_strategy
    from equilibrist.evaluation.real_game import run as runs
    from equilibrist.evaluation.real_game.response import is_holdem

    named = open_strategy(str(folder))
    if not is_holdem(named.strategy.tree.rules):
        return runs.reference_exploited(named), True
    prepare_kernels(1, *_KERNELS)
    responses, place = runs.responses_to(named), folder / "real-game"
    run = runs.open_or_start(named, responses, place, replaces=True)
    chosen = runs.stratified(run.flops, flops, seed)
    found = _respond(run, responses, chosen, place, threads or most_threads(), None)
    return found, run.is_whole


def _respond(
    run: RealGameRun,
    responses: tuple[Response, Response],
    chosen: NDArray[np.int64],
    folder: Path | None,
    num_threads: int,
    engine: FlopEngine | None,
) -> Exploited:
    """Compute the chosen flops that the folder does not hold yet; return the result."""
    from equilibrist import stopping
    from equilibrist.cli.interrupts import leave
    from equilibrist.evaluation.real_game import run as runs
    from equilibrist.stopping import Stopped

    left, number = int((~run.is_done[chosen]).sum()), len(run.flops.boards)
    if left:
        seconds = runs.forecast(responses, run, chosen, num_threads, engine)
        saved = _NOT_SAVED if folder is None else f"saved in {folder}"
        work = f"{run.name}: {left:,} of {number:,} flops, about {_time(seconds)}; {saved}"
        print(work, file=sys.stderr, flush=True)
        stopping.check()
        at_once = min(num_threads, left) if engine is None else 1
        stopping.expect("flop", seconds * at_once / left)
    remaining = Remaining(f"best responses to {run.name}")

    def update(run: RealGameRun) -> None:
        remaining(1 - int((~run.is_done[chosen]).sum()) / left)

    try:
        runs.run_flops(
            run, responses, chosen, threads=num_threads, engine=engine, folder=folder, report=update
        )
    except Stopped:
        saved = f"saved in {folder}; run the same command to continue"
        saved = _NOT_SAVED if folder is None else saved
        leave(f"stopped after {int(run.is_done.sum()):,} of {number:,} flops; {saved}")
    found = runs.exploited(run, responses)
    if folder is not None:
        runs.save(run, folder, found)
    return found


def _result(run: RealGameRun, found: Exploited, folder: Path | None) -> dict[str, Any]:
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


def _words(run: RealGameRun, found: Exploited) -> str:
    done, number = int(run.is_done.sum()), len(run.flops.boards)
    scope = (
        f"exact, all {number:,} flops"
        if run.is_whole
        else f"a local estimate from {done:,} of {number:,} flops, not a bound"
    )
    figures = _figures(run.name, run.rules.name, found)
    return f"{figures}; {scope}, {_time(run.seconds)}"


def verify_real(stored: Artefact, flops: int, seed: int) -> tuple[dict[str, Any], str]:
    """Recompute sampled flops of a certificate; raise `StorageError` if one differs."""
    from equilibrist.errors import StorageError
    from equilibrist.evaluation.real_game import run as runs

    prepare_kernels(1, *_KERNELS)
    run, responses = _opened(stored)
    wrong = runs.check(run, responses, flops, seed)
    if wrong:
        raise StorageError(
            f"{stored.folder}: flop {wrong[0]} has another value than the certificate states; "
            "compute it again in another folder",
            value=wrong[0],
        )
    found = runs.exploited(run, responses)
    if not runs.states(stored.info, run, found):
        raise StorageError(
            f"{stored.folder} states an exploitability of {stored.info['exploitability']:.6g} "
            f"{stored.info['unit']}, but its flops give {found.exploitability:.6g} {found.unit}",
            value=str(stored.folder),
        )
    checked = min(flops, int(run.is_done.sum()))
    data = {"checked_flops": checked, **_result(run, found, stored.folder)}
    return data, f"{checked} flops recomputed, all equal; {_words(run, found)}"


def _opened(stored: Artefact) -> tuple[RealGameRun, tuple[Response, Response]]:
    from equilibrist.bots.open import open_strategy
    from equilibrist.evaluation.real_game import run as runs
    from equilibrist.games.rules import parse_rules
    from equilibrist.storage.schema import Fields

    fields = Fields.configuration(stored)
    named = open_strategy(
        fields.path("strategy"), parse_rules(fields.lines("game"), fields.text("name"))
    )
    responses = runs.responses_to(named)
    return runs.open_or_start(named, responses, stored.folder), responses


def _time(seconds: float) -> str:
    """Return a time in seconds, minutes or hours as text.

    Example:
        >>> _time(5), _time(600), _time(9000)
        ('5 s', '10 minutes', '2.5 hours')
    """
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} minutes" if seconds < 7200 else f"{seconds / 3600:.1f} hours"

"""`equilibrist abstract`, `buckets` and `joint`."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equilibrist.cli.heartbeat import announce
from equilibrist.cli.options import (
    IgnoreForecast,
    Json,
    Remaining,
    Seed,
    Threads,
    emit,
    owning,
    prepare_kernels,
    table,
)
from equilibrist.display.picture import check_plot
from equilibrist.storage.threads import most_threads

if TYPE_CHECKING:
    from equilibrist.abstraction.buckets import Abstraction
    from equilibrist.abstraction.forecast import AbstractionForecast
    from equilibrist.abstraction.joint_counts import Joint
    from equilibrist.games.rules import GameRules

_MOST_BUCKETS = 10**9  # per round
_KERNELS = ("rollout.link_boards", "rollout.strengths", "rollout.roll_sums")

Folder = Annotated[Path, typer.Argument(help="An abstraction that `abstract --out` wrote.")]
Flops = Annotated[
    str | None,
    typer.Option(help="Count only these flops (Td9d6h,AsKsQs), or this number of random flops."),
]


# Options of `abstract`.
Recipe = Annotated[
    str, typer.Argument(help="Recipe: percentile, expectation, potential-aware, … (see docs).")
]
AbstractionOut = Annotated[Path, typer.Option(help="Folder for the abstraction.")]
BucketNumbers = Annotated[
    str | None, typer.Option(help="Number of buckets per round, for example 5,25,125,625.")
]
CatalogueGame = Annotated[str, typer.Option(help="Game of the catalogue, or a .game file.")]
CutFlops = Annotated[
    str | None,
    typer.Option(
        help="strength-potential: cut over these flops (Td9d6h,AsKsQs) or over this number."
    ),
]
ResumeBuild = Annotated[bool, typer.Option("--resume", help="Continue an unfinished run in --out.")]


@owning("out")
def abstract(
    recipe: Recipe,
    out: AbstractionOut,
    buckets: BucketNumbers = None,
    game: CatalogueGame = ("holdem-limit"),
    flops: CutFlops = None,
    resume: ResumeBuild = False,
    force: IgnoreForecast = False,
    json: Json = False,
    seed: Seed = 0,
    threads: Threads = None,
) -> None:
    """Build an abstraction: sort the hands of a game into buckets.

    Example: equilibrist abstract percentile --buckets 5,25,125,625 --out quintiles
    """
    from equilibrist.abstraction import resume as checkpoints
    from equilibrist.abstraction.buckets import KIND
    from equilibrist.abstraction.forecast import forecast
    from equilibrist.abstraction.recipes import build, check_request
    from equilibrist.cards.card import cards_name
    from equilibrist.games.catalog import load_game

    numbers = None if buckets is None else _numbers(buckets)
    rules = load_game(game)
    check_request(recipe, rules, numbers, chosen=flops is not None)
    starts = [] if flops is None else _starts(rules, flops, seed)
    wanted = checkpoints.request(rules, recipe, numbers, seed, list(map(cards_name, starts)))
    check_output(out, KIND, resume=resume)
    unfinished = checkpoints.UnfinishedFolder
    keep = unfinished.open(out, wanted) if resume else unfinished(out, wanted)
    needed = forecast(rules, recipe, threads or most_threads())
    if not force:
        needed.check(rules.name)
    print(f"{rules.name}: {needed}", file=sys.stderr, flush=True)
    prepare_kernels(threads, *_KERNELS)
    start = time.perf_counter()
    with _explain_stop(out):
        found = build(recipe, rules, numbers, seed=seed, flops=starts, keep=keep, progress=announce)
        seconds = time.perf_counter() - start
        identity = found.save(out, {"seconds": seconds})
    data = _built(found, needed, seconds) | {"seed": seed, "hash": identity, "out": str(out)}
    emit(data, f"{_title(found)} in {seconds:.1f} s, saved in {out}", as_json=json)


def _starts(rules: GameRules, flops: str, seed: int) -> list[tuple[int, ...]]:
    """Return the flops that a text names or draws; raise an error for cards that are no flop."""
    from equilibrist.abstraction.flop_subsets import chosen_boards, parse_starts
    from equilibrist.abstraction.streets import Streets

    starts = parse_starts(Streets.of(rules), flops, seed)
    if starts:
        chosen_boards(Streets.of(rules), starts)  # raises the error
    return starts


def _title(found: Abstraction) -> str:
    """Return game, recipe and numbers of buckets as text."""
    sizes = "-".join(f"{number:,}" for number in found.num_buckets)
    return f"{found.rules.name}: {found.recipe} {sizes}"


def _built(found: Abstraction, needed: AbstractionForecast, seconds: float) -> dict[str, Any]:
    """Return an abstraction, its forecast and the seconds that it took, as JSON."""
    return {
        "game": found.rules.name,
        "recipe": found.recipe,
        "buckets": list(found.num_buckets),
        "forecast": {
            "hands": list(needed.hands),
            "bytes": needed.bytes,
            "seconds": round(needed.seconds, 3),
        },
        "seconds": round(seconds, 3),
    }


# Options of `buckets`.
Hand = Annotated[str | None, typer.Argument(help="Hand, for example AhKd.")]
DealtBoard = Annotated[str, typer.Argument(help="Board cards in dealt order.")]
BucketPlot = Annotated[
    Path | None, typer.Option(help="Draw grid, sizes and equity spread to this PNG file.")
]


def buckets(
    folder: Folder,
    hand: Hand = None,
    board: DealtBoard = "",
    plot: BucketPlot = None,
    json: Json = False,
    seed: Seed = 0,
    threads: Threads = None,
) -> None:
    """Show the bucket of a hand in every round, or a summary of an abstraction.

    Example: equilibrist buckets quintiles AhKd 7h8h9c
    """
    from equilibrist.abstraction.buckets import Abstraction

    check_plot(plot)
    prepare_kernels(threads, "rollout.locate_board")
    found = Abstraction.open(folder)
    if plot is not None:
        from equilibrist.cli.bucket_plot import draw

        draw(found, plot)
    if hand is None:
        data: dict[str, Any] = {
            "game": found.rules.name,
            "recipe": found.recipe,
            "buckets": list(found.num_buckets),
            "parts": [list(ends) for ends in found.parts],
        }
        parts = ", ".join(f"{fewest}–{most}" for fewest, most in found.parts) or "none"
        emit(data, f"{_title(found)}; parts of a bucket: {parts}", as_json=json)
        return
    path = found.path(hand, board)
    data = {"hand": hand, "board": board, "buckets": [bucket for _, bucket in path]}
    rows = [(r + 1, cards, bucket, found.num_buckets[r]) for r, (cards, bucket) in enumerate(path)]
    emit(data, table(rows, header=("round", "board", "bucket", "of")), as_json=json)


# Options of `joint`.
CountsOut = Annotated[Path, typer.Option(help="Folder for the joint counts.")]
OtherFolder = Annotated[
    Path | None, typer.Argument(help="Abstraction of the second player; default: the same.")
]
BoardSample = Annotated[
    int | None, typer.Option(help="Size of a random sample of boards; default: all boards.")
]
ResumeCounts = Annotated[
    bool, typer.Option("--resume", help="Continue the unfinished counts in --out.")
]


@owning("out")
def joint(
    folder: Folder,
    out: CountsOut,
    other: OtherFolder = None,
    boards: BoardSample = None,
    flops: Flops = None,
    resume: ResumeCounts = False,
    json: Json = False,
    seed: Seed = 0,
    threads: Threads = None,
) -> None:
    """Compute joint counts: how often pairs of buckets meet and win (the matrices J and W).

    Example: equilibrist joint quintiles --out quintiles-joint
    """
    from equilibrist.abstraction import joint_counts as library
    from equilibrist.abstraction.buckets import Abstraction
    from equilibrist.abstraction.flop_subsets import flop_counts, parse_starts
    from equilibrist.storage.artefact import read_identity

    first = Abstraction.open(folder)
    second = None if other is None else Abstraction.open(other)
    folders = {"first": folder} | ({} if other is None else {"second": other})
    parents = {name: read_identity(path).hash for name, path in folders.items()}
    _check_sample(boards, flops, resume)
    starts = [] if flops is None else parse_starts(first.streets, flops, seed)
    check_output(out, library.KIND, resume=resume)
    kernel = "joint.bucket_showdowns" if second is None else "row_groups.add_row_groups"
    prepare_kernels(threads, kernel)
    start = time.perf_counter()
    so_far = library.Progress.open(out, parents) if resume else None
    keeper = library.Keeper(out, parents, Remaining("counting deals"))
    with _explain_stop(out):
        if boards is not None:
            found = library.sampled_joint(first, second, num_boards=boards, seed=seed)
        elif starts:
            found = flop_counts(first, starts, second)
        else:
            found = library.joint(first, second, so_far=so_far, watch=keeper)
        identity = found.save(out, parents)
    data, text = _counted(first.rules.name, found, time.perf_counter() - start)
    emit(data | {"hash": identity, "out": str(out)}, f"{text}, saved in {out}", as_json=json)


def _check_sample(boards: int | None, flops: str | None, resume: bool) -> None:
    """Raise `InvalidValueError` for options of `joint` that exclude each other."""
    from equilibrist.errors import InvalidValueError

    if resume and (boards is not None or flops is not None):
        raise InvalidValueError(
            "--resume works only when all deals are counted: leave out --boards and --flops"
        )
    if boards is not None and flops is not None:
        raise InvalidValueError("give either --boards or --flops, not both")


def _counted(game: str, found: Joint, seconds: float) -> tuple[dict[str, Any], str]:
    """Return joint counts and the seconds that they took, as JSON and as text."""
    data = {
        "game": game,
        "buckets": list(found.wins.shape),
        "total": int(found.total),
        "exact": found.distance is None and not found.flops,
        "distance": found.distance,
        "flops": list(found.flops),
        "seconds": round(seconds, 3),
    }
    how = "exact" if found.distance is None else f"a sample, ½‖ΔJ‖₁ about {found.distance:.2%}"
    if found.flops:
        how = "all on one flop" if len(found.flops) == 1 else f"all on {len(found.flops)} flops"
    return data, f"{found.total:,.0f} deals of {game} counted in {seconds:.1f} s ({how})"


def reproduce_abstractions(plot: Path | None, *, quick: bool, seed: int, as_json: bool) -> None:
    """Print the real-game exploitability of each recipe and size in Rhode Island hold'em."""
    from equilibrist.papers import abstractions

    sizes = abstractions.SIZES[:2] if quick else abstractions.SIZES
    rows = abstractions.study(
        sizes=sizes,
        lossless=not quick,
        seed=seed,
        watch=announce,
    )
    data = {"rows": [vars(row) | {"unit": "chips"} for row in rows]}
    lines = [
        (
            row.recipe,
            "-".join(map(str, row.buckets)),
            f"{row.abstract:.4f}",
            f"{row.real:.4f}",
            f"{row.value:+.4f}",
            row.iterations,
        )
        for row in rows
    ]
    header = ("recipe", "buckets", "abstract", "real game", "value", "iterations")
    title = "rhode-island, exploitability in chips:"
    emit(data, f"{title}\n{table(lines, header=header)}", as_json=as_json)
    if plot is not None:
        from equilibrist.cli.bucket_plot import draw_study

        draw_study(rows, plot)


def _numbers(text: str) -> list[int]:
    from equilibrist.cards.numbers import parse_whole
    from equilibrist.errors import InvalidValueError

    parts = [part.strip() for part in text.replace("-", ",").split(",")]
    numbers = [n for part in parts if (n := parse_whole(part, _MOST_BUCKETS)) is not None]
    if len(numbers) < len(parts):
        raise InvalidValueError(
            f"--buckets takes a whole number per round, such as 5,25,125,625, not {text[:40]!r}",
            value=text,
        )
    return numbers


def check_output(out: Path, kind: str, *, resume: bool | None) -> None:
    """Raise `StorageError` if `out` cannot be written or resumed, or would be overwritten.

    `resume` is None for commands that write only at their end and cannot be resumed.
    """
    from equilibrist.errors import StorageError
    from equilibrist.storage.artefact import check_target
    from equilibrist.storage.manifest import MANIFEST

    check_target(out, kind)
    is_there = (out / MANIFEST).exists()
    if resume and not is_there:
        raise StorageError(f"{out} holds no {kind} to resume", value=str(out))
    if is_there and not resume:
        advice = "" if resume is None else ", or --resume if it is unfinished"
        raise StorageError(
            f"{out} exists; choose another folder for the {kind}{advice}", value=str(out)
        )


@contextlib.contextmanager
def _explain_stop(out: Path) -> Iterator[None]:
    """Say what is saved, and how to resume, if the work is stopped or cannot be written."""
    from equilibrist.cli.interrupts import leave
    from equilibrist.errors import StorageError
    from equilibrist.stopping import Stopped
    from equilibrist.storage.manifest import MANIFEST

    try:
        yield
    except Stopped:
        is_started = (out / MANIFEST).exists()
        saved = f"finished parts are saved in {out}; run the same command with --resume to continue"
        leave(f"stopped; {saved if is_started else 'nothing is written yet'}")
    except StorageError as error:
        if not (out / MANIFEST).exists():
            raise
        raise StorageError(f"{error}; continue later with --resume", value=error.value) from None

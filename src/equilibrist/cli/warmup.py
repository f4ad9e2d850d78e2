"""`equilibrist warmup`: compiles kernels before they are needed."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from equilibrist.cli.options import Json, emit, table

if TYPE_CHECKING:
    from equilibrist.kernel_warmup import Warmed

WarmupTasks = Annotated[
    list[str] | None,
    typer.Argument(
        help="Tasks: spots, buckets, games, real-game, equities, spots-16; default: all."
    ),
]
Processes = Annotated[
    int | None, typer.Option(min=1, help="Number of processes; default: all cores.")
]


def warmup(tasks: WarmupTasks = None, processes: Processes = None, json: Json = False) -> None:
    """Compile kernels before they are needed, so that no later command waits for them.

    Example: equilibrist warmup · equilibrist warmup spots
    """
    import time

    from equilibrist.kernel_warmup import warmup as run
    from equilibrist.kernels import cache

    def report(done: Warmed) -> None:
        print(f"{done.task.name}: {done.seconds:.1f} s", file=sys.stderr, flush=True)

    if cache.refusal:
        print(f"compiled kernels cannot be kept: {cache.refusal}", file=sys.stderr)
    print("compiling kernels, about 40 seconds on two cores …", file=sys.stderr, flush=True)
    start = time.perf_counter()
    found = run(tuple(tasks or ()), processes, report)
    seconds = time.perf_counter() - start
    data = {
        "tasks": [{"name": done.task.name, "seconds": done.seconds} for done in found],
        "seconds": seconds,
        "folder": None if cache.folder is None else str(cache.folder),
    }
    rows = [(done.task.name, done.task.summary, f"{done.seconds:.1f} s") for done in found]
    emit(data, f"{table(rows)}\n\n{seconds:.1f} s in all", as_json=json)

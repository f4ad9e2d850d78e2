"""Compile kernels before they are needed, in several processes.

The first use of a command compiles its kernels, which takes seconds; later uses load them from the
cache (`kernels/cache.py`). `warmup` runs small tasks that use the common kernels, each in a process
of its own, so that all cores compile.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Final

from equilibrist.errors import EquilibristError, InvalidValueError, UnknownNameError
from equilibrist.storage.threads import most_threads

_SPOT: Final = (
    "spot --board Td9d6hQc --oop AA,76s --ip KK,QJs --pot 200 --stack 200 --bets a --iterations 20"
)


@dataclass(frozen=True)
class Task:
    """Commands that use the kernels of one kind of work, one after the other."""

    name: str
    summary: str
    commands: tuple[str, ...]


@dataclass(frozen=True)
class Warmed:
    """A finished task."""

    task: Task
    seconds: float  # wall time


# Long tasks first, so that no core waits for the last one.
TASKS: Final = (
    Task(
        "spots", "solve and show a spot", (f"{_SPOT} --out turn", "spot turn --node c --hands AA")
    ),
    Task(
        "buckets",
        "build buckets, joint counts and a game of them",
        (
            "abstract percentile --game royal-holdem --buckets 2,4,8,16 --out buckets",
            "joint buckets --boards 50 --out joint",
            "solve buckets --joint joint --dtype float32 --iterations 10 --out solution",
        ),
    ),
    Task(
        "games", "solve a small game", ("solve leduc --iterations 10 --out leduc", "exploit leduc")
    ),
    Task(
        "real-game",
        "best responses in limit hold'em",
        ("exploit mix:0.1,0.6,0.3 --real-game --flops 6 --out response",),
    ),
    Task("equities", "equities of hands and ranges", ("equity AhKh QQ+ --board Qh7h2c",)),
    Task("spots-16", "solve a spot with 16 bits per number", (f"{_SPOT} --bits 16 --out turn",)),
)


def warmup(
    tasks: Sequence[str] = (),
    processes: int | None = None,
    report: Callable[[Warmed], None] | None = None,
) -> list[Warmed]:
    """Compile the kernels of some tasks (default: all) in several processes (default: all cores).

    `report` is called after each task. Raises `EquilibristError` if a task fails.

    Example:
        >>> [task.name for task in TASKS]
        ['spots', 'buckets', 'games', 'real-game', 'equities', 'spots-16']
    """
    chosen = _chosen(tasks)
    number = most_threads() if processes is None else processes
    if number < 1:
        raise InvalidValueError(
            f"the number of processes must be at least 1, not {number}", value=number
        )
    done = []
    with ThreadPoolExecutor(number) as pool:
        waiting = [pool.submit(_run, task) for task in chosen]
        try:
            for future in as_completed(waiting):
                done.append(future.result())
                if report is not None:
                    report(done[-1])
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
    return done


def _chosen(names: Sequence[str]) -> list[Task]:
    known = {task.name: task for task in TASKS}
    for name in names:
        if name not in known:
            raise UnknownNameError(
                f"there is no task {name!r}; the tasks are {', '.join(known)}", value=name
            )
    return [task for task in TASKS if not names or task.name in names]


def _run(task: Task) -> Warmed:
    """Run the commands of a task in a folder of their own."""
    start = time.perf_counter()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    with tempfile.TemporaryDirectory() as folder:
        for command in task.commands:
            found = subprocess.run(
                [sys.executable, "-m", "equilibrist", *command.split(), "--threads", "1", "--json"],
                cwd=folder,
                env=environment,
                capture_output=True,
                text=True,
            )
            if found.returncode:
                lines = found.stderr.strip().splitlines() or [f"exit code {found.returncode}"]
                raise EquilibristError(f"the task {task.name} failed: {lines[-1]}")
    return Warmed(task, time.perf_counter() - start)

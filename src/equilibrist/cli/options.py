"""Options that every command takes, and how every command prints."""

from __future__ import annotations

import contextlib
import errno
import functools
import inspect
import json
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ParamSpec, TypeAlias

import typer
from typer.core import TyperCommand

from equilibrist.errors import InvalidValueError, StorageError
from equilibrist.storage.threads import most_threads

# Address space that NumPy, Numba and the compiler take: 700 MB measured on two cores.
_LEAST_MEMORY, _MEMORY_PER_CORE = 2**30, 2**26  # bytes
P = ParamSpec("P")
_PATIENCE = 2.0  # seconds that work may take before the command line says how long it will be

Json: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Print one JSON object on stdout instead of text.")
]
Seed: TypeAlias = Annotated[
    int, typer.Option(min=0, max=2**32 - 1, help="Seed of whatever is random; most is not.")
]

GivenSeed: TypeAlias = Annotated[
    int | None, typer.Option(min=0, max=2**32 - 1, help="Random seed; default: that of the file.")
]


def _check_threads(threads: int | None) -> int | None:
    most = most_threads()
    if threads is not None and not 1 <= threads <= most:
        raise InvalidValueError(
            f"--threads is 1 to the {most} cores of this machine, not {threads}", value=threads
        )
    return threads


Threads: TypeAlias = Annotated[
    int | None,
    typer.Option(callback=_check_threads, help="Threads to compute with; all cores unless told."),
]


def _check_secret_seed(seed: int | None) -> int | None:
    if seed is not None and not 0 <= seed < 2**128:
        raise InvalidValueError(f"--seed is 0 to 2**128 - 1, not {seed}", value=seed)
    return seed


# Of whoever plays against others, who must not be able to guess it.
SecretSeed: TypeAlias = Annotated[
    int | None,
    typer.Option(
        callback=_check_secret_seed,
        help="Random seed; default: a secret one, printed at the end.",
    ),
]


def owning(*names: str) -> Callable[[Callable[P, None]], Callable[P, None]]:
    """A command that owns the folders of these arguments to its end; None owns nothing."""

    def decorate(command: Callable[P, None]) -> Callable[P, None]:
        @functools.wraps(command)
        def run(*args: P.args, **kwargs: P.kwargs) -> None:
            from equilibrist.storage.ownership import owned

            given = inspect.signature(command).bind(*args, **kwargs).arguments
            with contextlib.ExitStack() as stack:
                for name in names:
                    stack.enter_context(owned(given.get(name)))
                command(*args, **kwargs)

        return run

    return decorate


def emit(data: Mapping[str, object], text: str, *, as_json: bool) -> None:
    """Print the one result of a command; `SolverError` if a number in it is not finite.

    What is not known is None in the data, null in JSON, and a dash or nothing in the text.
    """
    from equilibrist.storage.finite import check_finite_data

    check_finite_data(data, "nothing is printed")
    print(json.dumps(data, allow_nan=False) if as_json else text, flush=True)


def table(rows: Sequence[Sequence[object]], *, header: Sequence[str] = ()) -> str:
    """Columns as wide as they must be; numbers stand right, words left.

    Example:
        >>> print(table([("flop", 1755), ("river", 2554656)], header=("board", "number")))
        board     number
        flop       1,755
        river  2,554,656
    """
    cells = [[f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in row] for row in rows]
    numeric = [all(isinstance(row[i], int | float) for row in rows) for i in range(len(cells[0]))]
    lines = [list(header), *cells] if header else cells
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(line, widths, numeric, strict=True)
        ).rstrip()
        for line in lines
    )


def prepare_kernels(threads: int | None, *kernels: str) -> None:
    """Set the number of threads, and say so when some of the command's kernels must be compiled."""
    import numba

    from equilibrist.kernels import cache

    if threads is not None:
        numba.set_num_threads(threads)
    if cache.is_cold(*kernels):
        when = "" if cache.refusal else ", first run only"
        print(f"compiling kernels{when} …", file=sys.stderr, flush=True)


def prepare_players(threads: int | None, *players: str, tables: bool = False) -> None:
    """The same for the kernels of some players; most need none, and no Numba."""
    from equilibrist.players.catalog import player_kernels

    kernels = player_kernels(*players, tables=tables)
    if kernels:
        prepare_kernels(threads, *kernels)


class CheckedCommand(TyperCommand):
    """A command that has memory to load, and files and folders whose names the system can take."""

    def invoke(self, ctx: Any) -> Any:
        """Check both, then run the command."""
        check_memory_limit()
        for value in ctx.params.values():
            if isinstance(value, Path):
                check_name(value)
        return super().invoke(ctx)


def check_memory_limit() -> None:
    """Raise `MemoryError` under a limit on memory that NumPy and Numba cannot be loaded in.

    They would print lines of their own, abort, or wait for ever.
    """
    try:
        import resource
    except ImportError:  # no such limits here
        return
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    needed = _LEAST_MEMORY + _MEMORY_PER_CORE * max(0, (os.cpu_count() or 1) - 2)
    if limit != resource.RLIM_INFINITY and limit < needed:
        raise MemoryError(
            f"the limit on memory (ulimit -v) is {limit >> 20:,} MiB, and the compiled libraries "
            f"need {needed >> 20:,} MiB on this machine"
        )


def check_name(path: Path) -> None:
    """Raise `StorageError` for a path that no file or folder can have, such as one too long."""
    try:
        os.lstat(path)
    except (OSError, ValueError) as error:
        if isinstance(error, ValueError) or error.errno in (errno.ENAMETOOLONG, errno.ELOOP):
            reason = getattr(error, "strerror", None) or str(error)
            raise StorageError(
                f"no file or folder can be called {shorten(str(path))}: {reason}", value=str(path)
            ) from None


def shorten(text: str) -> str:
    """A text of at most some 60 characters, cut in its middle.

    Example:
        >>> shorten("a" * 100)
        'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa … aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'
    """
    return text if len(text) <= 63 else f"{text[:30]} … {text[-30:]}"


class Remaining:
    """Says on stderr how long a long computation still takes: once, or over and over on a terminal.

    To be called with the share that is done, from 0 to 1.
    """

    def __init__(self, what: str) -> None:
        self.what = what
        self.start = time.perf_counter()
        self.has_spoken = False

    def __call__(self, share: float) -> None:
        """Take note of the share that is done."""
        seconds = time.perf_counter() - self.start
        rest = seconds / share - seconds
        if sys.stderr.isatty():
            if self.has_spoken or rest > _PATIENCE:
                end = "\n" if share == 1 else ""
                text = f"\r{self.what}: {share:4.0%} done, about {rest:.0f} s left "
                print(text, end=end, file=sys.stderr, flush=True)
                self.has_spoken = True
        elif rest > _PATIENCE and not self.has_spoken:
            print(f"{self.what}: about {rest:.0f} s left", file=sys.stderr, flush=True)
            self.has_spoken = True


def watching(what: str) -> Callable[[float], None]:
    """Tells `Remaining` by the rate since the first look: what comes before is warming up."""
    first: list[tuple[float, Remaining]] = []

    def look(share: float) -> None:
        if not first:
            first.append((share, Remaining(what)))
        elif share > first[0][0]:
            start, remaining = first[0]
            remaining((share - start) / (1 - start))

    return look

"""Options that all commands share, and the functions that print their results."""

from __future__ import annotations

import contextlib
import errno
import functools
import inspect
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple, ParamSpec

import typer
from typer.core import TyperCommand

from equilibrist import phases
from equilibrist.cli.heartbeat import compiling_text, note_compilations
from equilibrist.errors import InvalidValueError, StorageError
from equilibrist.phases import Phase
from equilibrist.storage.devices import DEVICES
from equilibrist.storage.threads import most_threads

# Address space that NumPy, Numba and the compiler take: 700 MB measured on two cores.
_LEAST_MEMORY, _MEMORY_PER_CORE = 2**30, 2**26  # bytes
# Kernels of the commands that solve or evaluate games.
SOLVING_KERNELS = (
    "sequence_form.gradient_team",
    "sequence_form.fold_up_team",
    "sequence_form.realize_team",
)
P = ParamSpec("P")

Json = Annotated[
    bool, typer.Option("--json", help="Print one JSON object on stdout instead of text.")
]
Seed = Annotated[
    int,
    typer.Option(min=0, max=2**32 - 1, help="Random seed (used by sampling methods only)."),
]
To = Annotated[
    str | None,
    typer.Option(help="Target exploitability: 5mbb, 0.01chips, 0.3% of the pot, or chips."),
]
GameName = Annotated[str, typer.Option(help="Game name, or a .game file.")]
MaxRaises = Annotated[str | None, typer.Option(help='Raise caps per round, for example "2 3 3 3".')]
Bets = Annotated[str | None, typer.Option(help='No-limit bet sizes, for example "50%,a".')]
Raises = Annotated[str | None, typer.Option(help='No-limit raise sizes, for example "2.5x,a".')]
Donks = Annotated[
    str | None,
    typer.Option(
        help='Sizes of donk bets, into the last raiser of the street before ("33%"; - for none); '
        "default: the bet sizes."
    ),
]
AddAllIn = Annotated[
    str | None,
    typer.Option(help="Add all-in where it is at most this share of the pot, such as 150%."),
]
ForceAllIn = Annotated[
    str | None,
    typer.Option(
        help="Make a bet all-in if after a call at most this share of the pot is left, such as 20%."
    ),
]
Merge = Annotated[
    str | None,
    typer.Option(help="Drop bets this close to a larger one, such as 10% (docs/games.md)."),
]
Symmetry = Annotated[
    str | None, typer.Option(help="cards, suits or ranks; default: the strongest lossless one.")
]
Iterations = Annotated[int | None, typer.Option(help="Maximum number of iterations.")]
Seconds = Annotated[float | None, typer.Option(help="Maximum time in seconds.")]
SolutionFolder = Annotated[Path, typer.Argument(help="Folder of a solution (from `solve --out`).")]
SolutionOut = Annotated[Path | None, typer.Option(help="Folder for the solution.")]
TracePlot = Annotated[
    Path | None, typer.Option(help="Draw exploitability against time to this PNG file.")
]
ResumeRun = Annotated[bool, typer.Option("--resume", help="Continue the run in --out.")]
IgnoreForecast = Annotated[
    bool, typer.Option("--force", help="Run even if the forecast exceeds memory.")
]
Palette = Annotated[str, typer.Option(help="Colours: usual or colour-blind.")]
GivenSeed = Annotated[
    int | None, typer.Option(min=0, max=2**32 - 1, help="Random seed; default: that of the file.")
]


def _check_threads(threads: int | None) -> int | None:
    most = most_threads()
    if threads is not None and not 1 <= threads <= most:
        raise InvalidValueError(
            f"--threads must be 1 to {most}, the cores of this machine, not {threads}",
            value=threads,
        )
    return threads


Threads = Annotated[
    int | None,
    typer.Option(callback=_check_threads, help="Number of threads; default: all cores."),
]


class Common(NamedTuple):
    """Options of every command that computes."""

    json: Json = False
    seed: Seed = 0
    threads: Threads = None


def _check_device(device: str) -> str:
    if device not in DEVICES:
        raise InvalidValueError(f"--device must be auto, cpu or gpu, not {device!r}", value=device)
    return device


Device = Annotated[
    str,
    typer.Option(
        callback=_check_device,
        help="cpu, gpu, or auto: a GPU if there is one and the game fits into its memory.",
    ),
]


def _check_secret_seed(seed: int | None) -> int | None:
    if seed is not None and not 0 <= seed < 2**128:
        raise InvalidValueError(f"--seed must be 0 to 2**128 - 1, not {seed}", value=seed)
    return seed


# Seed for play against others, who must not be able to guess it.
SecretSeed = Annotated[
    int | None,
    typer.Option(
        callback=_check_secret_seed,
        help="Random seed; default: a secret one, printed at the end.",
    ),
]


def owning(*names: str) -> Callable[[Callable[P, None]], Callable[P, None]]:
    """Return a decorator: the command owns the folders in these arguments while it runs."""

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
    """Print the result of a command; raise `SolverError` if a number in it is not finite.

    An unknown value is None in the data, null in JSON, and a dash or nothing in the text.
    """
    from equilibrist.storage.finite import check_finite_data

    check_finite_data(data, "nothing is printed")
    print(json.dumps(data, allow_nan=False) if as_json else text, flush=True)


def check_no_options(context: typer.Context, *are_default: bool) -> None:
    """Raise `InvalidValueError` for options before a subcommand, which would be ignored."""
    if not all(are_default):
        command, name = context.info_name, context.invoked_subcommand
        raise InvalidValueError(
            f"write the options after {name}, for example: {command} {name} NAME --json"
        )


def check_palette(name: str) -> None:
    """Raise `InvalidValueError` if a palette has another name than those of the grids."""
    from equilibrist.display.grid import PALETTES

    if name not in PALETTES:
        raise InvalidValueError(f"--palette must be {' or '.join(PALETTES)}, not {name!r}")


def table(rows: Sequence[Sequence[object]], *, header: Sequence[str] = ()) -> str:
    """Return rows as aligned columns of text, numbers right-aligned and words left-aligned.

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
    """Set the number of threads; print a line if some of the kernels must be compiled."""
    from equilibrist.kernels import cache

    if threads is not None:
        from equilibrist.kernels.threads import use_threads

        use_threads(threads)
    note_compilations()
    if cache.is_cold(*kernels):
        print(f"{compiling_text()} …", file=sys.stderr, flush=True)


def prepare_players(threads: int | None, *players: str, tables: bool = False) -> None:
    """Prepare the kernels that these players need; most players need neither kernels nor Numba."""
    from equilibrist.players.catalog import player_kernels

    kernels = player_kernels(*players, tables=tables)
    if kernels:
        prepare_kernels(threads, *kernels)


class CheckedCommand(TyperCommand):
    """A command that checks the memory limit and the names of its files before it runs."""

    def invoke(self, ctx: Any) -> Any:
        """Check the memory limit and all paths, then run the command."""
        check_memory_limit()
        for value in ctx.params.values():
            if isinstance(value, Path):
                check_name(value)
        return super().invoke(ctx)


def check_memory_limit() -> None:
    """Raise `MemoryError` if the memory limit is too low to load NumPy and Numba.

    Below it they would print messages of their own, abort, or hang.
    """
    try:
        import resource
    except ImportError:  # this system has no such limits
        return
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    needed = _LEAST_MEMORY + _MEMORY_PER_CORE * max(0, (os.cpu_count() or 1) - 2)
    if limit != resource.RLIM_INFINITY and limit < needed:
        raise MemoryError(
            f"the memory limit (ulimit -v) is {limit >> 20:,} MiB, but the compiled libraries need "
            f"{needed >> 20:,} MiB on this machine"
        )


def check_name(path: Path) -> None:
    """Raise `StorageError` for a path that the system cannot use, such as one that is too long."""
    try:
        os.lstat(path)
    except (OSError, ValueError) as error:
        if isinstance(error, ValueError) or error.errno in (errno.ENAMETOOLONG, errno.ELOOP):
            reason = getattr(error, "strerror", None) or str(error)
            raise StorageError(
                f"{shorten(str(path))} cannot be used as a path: {reason}", value=str(path)
            ) from None


def shorten(text: str) -> str:
    """Return a text of at most 63 characters; a longer one loses its middle.

    Example:
        >>> shorten("a" * 100)
        'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa … aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'
    """
    return text if len(text) <= 63 else f"{text[:30]} … {text[-30:]}"


class Remaining:
    """Makes a computation the current phase, to be called with the share that is done, 0 to 1."""

    def __init__(self, what: str) -> None:
        self._phase = phases.begin(Phase(what, total=1.0))

    def __call__(self, share: float) -> None:
        """Receive the share that is done; the phase ends with the last one."""
        self._phase.update(share)
        if share >= 1:
            phases.end(self._phase)

    def __del__(self) -> None:
        phases.end(self._phase)  # work that ended early never has the share 1

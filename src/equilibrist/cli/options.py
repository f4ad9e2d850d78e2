"""Options that every command takes, and how every command prints."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Annotated, TypeAlias

import typer

Json: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Print one JSON object on stdout instead of text.")
]
Seed: TypeAlias = Annotated[
    int, typer.Option(min=0, max=2**32 - 1, help="Seed of whatever is random; most is not.")
]
Threads: TypeAlias = Annotated[
    int | None, typer.Option(min=1, help="Threads to compute with; all cores unless told.")
]


def emit(data: Mapping[str, object], text: str, *, as_json: bool) -> None:
    """Print the one result of a command."""
    print(json.dumps(data) if as_json else text, flush=True)


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


def prepare_kernels(threads: int | None) -> None:
    """Set the number of threads, and say so when compilation will take a moment."""
    import numba

    from equilibrist.errors import InvalidValueError
    from equilibrist.kernels import cache

    if threads is not None:
        most = numba.config.NUMBA_NUM_THREADS
        if threads > most:
            raise InvalidValueError(
                f"--threads {threads} is more than the {most} cores of this machine", value=threads
            )
        numba.set_num_threads(threads)
    if cache.is_cold():
        print("compiling kernels, first run only …", file=sys.stderr, flush=True)

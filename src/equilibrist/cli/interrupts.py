"""How long commands answer signals: they end where nothing is half done, and say how to go on."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any, NoReturn

import typer

from equilibrist.storage import stopping
from equilibrist.storage.stopping import Stopped


def stoppable(command: Callable[..., Any]) -> Callable[..., Any]:
    """A command that SIGINT, SIGTERM and SIGHUP stop where nothing is half done.

    Work that is stopped before it has a result ends with exit code 130, 143 or 129.
    """

    @functools.wraps(command)
    def run(*arguments: Any, **options: Any) -> Any:
        with stopping.on_signals() as stop:
            try:
                return command(*arguments, **options)
            except Stopped as stopped:
                _say(str(stopped))
                raise typer.Exit(stop.exit_code) from None

    return run


def leave(text: str) -> NoReturn:
    """End a command whose result so far is printed, and say how to go on."""
    raise Stopped(text)


def how_to_go_on(out: object, iteration: int, *, again: str = "--resume") -> str:
    """What a run that was stopped says: where it is kept, and what goes on with it."""
    if not iteration:
        return "stopped before the first iteration; nothing is written"
    if out is None:
        return f"stopped after iteration {iteration:,}; nothing is kept without --out"
    return (
        f"stopped after iteration {iteration:,}, saved in {out}; "
        f"the same command with {again} goes on"
    )


def _say(text: str) -> None:
    print(f"equilibrist: {text}", file=sys.stderr, flush=True)

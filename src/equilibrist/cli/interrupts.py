"""Signals in long commands: they stop at a consistent point and print how to continue."""

from __future__ import annotations

import functools
import os
import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any, NoReturn

import typer

from equilibrist import stopping
from equilibrist.stopping import Stop, Stopped

_GRACE = 0.5  # seconds that a command has to end by itself
_has_result = False  # whether the command has printed its result


def ignore_late_interrupts() -> None:
    """Let one Ctrl-C that comes after the command's result change nothing; the next one kills.

    Before the result Ctrl-C raises `KeyboardInterrupt` as usual. If it was ignored, it stays so.
    """
    global _has_result
    _has_result = False
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt)


def has_result() -> None:
    """Record that the command has printed its result, so that the process only has to end."""
    global _has_result
    _has_result = True


def _interrupt(number: int, frame: FrameType | None) -> None:
    if not _has_result:
        raise KeyboardInterrupt
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def stoppable(command: Callable[..., Any]) -> Callable[..., Any]:
    """Return the command so that SIGINT, SIGTERM and SIGHUP stop it at a consistent point.

    A stopped command ends with exit code 130, 143 or 129.
    """

    @functools.wraps(command)
    def run(*arguments: Any, **options: Any) -> Any:
        with stopping.on_signals() as stop:
            try:
                found = command(*arguments, **options)
                has_result()
                return found
            except Stopped as stopped:
                _say(str(stopped))
                raise typer.Exit(stop.exit_code) from None

    return run


def abandonable(command: Callable[..., Any]) -> Callable[..., Any]:
    """Return the command so that a signal ends it within a second, also inside compiled code.

    For commands that have nothing to save: they end at the next check, or after half a second
    wherever they are.
    """

    @functools.wraps(command)
    def run(*arguments: Any, **options: Any) -> Any:
        has_ended = threading.Event()

        def leave_soon(_: str) -> None:
            if not has_ended.wait(_GRACE):
                _say("interrupted")
                os._exit(stop.exit_code)

        with stopping.on_signals(leave_soon) as stop:
            try:
                found = command(*arguments, **options)
                has_result()
                return found
            except Stopped:
                _say("interrupted")
                raise typer.Exit(stop.exit_code) from None
            finally:
                has_ended.set()

    return run


def exit_if_requested(stop: Stop) -> None:
    """Exit the command with a signal's usual code (130, 143 or 129) if one has arrived."""
    if stop.is_requested:
        raise typer.Exit(stop.exit_code)


def leave(text: str) -> NoReturn:
    """End a command with a message that says how to continue, by raising `Stopped`."""
    raise Stopped(text)


def how_to_resume(out: object, iteration: int, *, again: str = "--resume") -> str:
    """Return a sentence on where a stopped run is saved and how to continue it."""
    if not iteration:
        return "stopped before the first iteration; nothing is written"
    if out is None:
        return f"stopped after iteration {iteration:,}; nothing is saved without --out"
    return (
        f"stopped after iteration {iteration:,}, saved in {out}; "
        f"run the same command with {again} to continue"
    )


def _say(text: str) -> None:
    print(f"equilibrist: {text}", file=sys.stderr, flush=True)

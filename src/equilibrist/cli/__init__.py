"""The command line: argument parsing and printing, nothing worth importing.

Importing this package loads neither NumPy nor Numba, so that `--help` answers at once; each command
imports what it needs.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys

import typer

import equilibrist
from equilibrist.cli import (
    abstraction,
    arena,
    bots,
    cards,
    games,
    history,
    network,
    sitting,
    solving,
    spot,
    transitions,
)
from equilibrist.cli.interrupts import stoppable
from equilibrist.errors import EquilibristError

_LONGEST_COMPLAINT = 1000  # characters

app = typer.Typer(
    name="equilibrist",
    help="An open laboratory for heads-up poker.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(games.app, name="games")
app.command()(games.tree)
app.command()(cards.equity)
app.command()(cards.rank)
app.command()(cards.index)
for long_command in (
    bots.train,
    solving.solve,
    solving.exploit,
    solving.compare,
    solving.verify,
    solving.reproduce,
    spot.spot,
    abstraction.abstract,
    abstraction.joint,
    transitions.transitions,
    arena.match,
    arena.tournament,
):
    app.command()(stoppable(long_command))
for command in (
    bots.bots,
    solving.show,
    abstraction.buckets,
    arena.players,
    network.dealer,
    network.connect,
    history.log,
    sitting.play,
):
    app.command()(command)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"equilibrist {equilibrist.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(
        False, "--version", callback=_print_version, is_eager=True, help="Print the version."
    ),
) -> None:
    """An open laboratory for heads-up poker."""


def main() -> None:
    """Run the command line; wrong input is one sentence on stderr and exit code 2."""
    _prepare_streams()
    try:
        code = app(standalone_mode=False) or 0
    except SystemExit:  # typer's, with code 1: the reader, such as `head`, has closed the pipe
        _drop_output()
        code = 0
    except (EquilibristError, typer.TyperException) as error:
        _complain(error.format_message() if hasattr(error, "format_message") else str(error))
        code = 2
    except OSError as error:
        _drop_output()
        _complain(f"cannot write the answer: {error.strerror or error}")
        code = 1
    except (KeyboardInterrupt, typer.Abort):
        _complain("interrupted")
        code = 130
    sys.exit(code)


def _prepare_streams() -> None:
    """Let nothing that stdout and stderr cannot take, or their absence, stop a command."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by the caller
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _complain(text: str) -> None:
    """One line on stderr, if there is anything to say: no control characters, no endless word."""
    text = "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
    if len(text) > _LONGEST_COMPLAINT:
        half = _LONGEST_COMPLAINT // 2
        text = f"{text[:half]} … {text[-half:]}"
    if text:
        with contextlib.suppress(OSError):
            print(f"equilibrist: {text}", file=sys.stderr)


def _drop_output() -> None:
    """Forget what is still in the buffer of stdout, so that leaving does not fail on it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

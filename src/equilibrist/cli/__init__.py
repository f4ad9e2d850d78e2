"""The command line: argument parsing and printing, nothing worth importing.

Importing this package loads neither NumPy nor Numba, so that `--help` answers at once; each command
imports what it needs.
"""

from __future__ import annotations

import os
import sys

import typer

import equilibrist
from equilibrist.cli import cards, games
from equilibrist.errors import EquilibristError

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
    try:
        sys.exit(app(standalone_mode=False) or 0)
    except (EquilibristError, typer.TyperException) as error:
        text = error.format_message() if hasattr(error, "format_message") else str(error)
        print(f"equilibrist: {text}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except (KeyboardInterrupt, typer.Abort):
        print("equilibrist: interrupted", file=sys.stderr)
        sys.exit(130)

"""The command line: parses arguments, calls the library and prints results.

Importing this package loads neither NumPy nor Numba, so that `--help` answers at once; each command
imports what it needs.
"""

from __future__ import annotations

import contextlib
import errno
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
    counter,
    exchange,
    flops,
    games,
    history,
    local_response,
    network,
    reproducing,
    serve,
    session,
    show,
    slumbot,
    solving,
    split,
    spot,
    transitions,
    warmup,
)
from equilibrist.cli.heartbeat import beating
from equilibrist.cli.interrupts import (
    abandonable,
    has_result,
    ignore_late_interrupts,
    stoppable,
)
from equilibrist.cli.options import CheckedCommand, shorten
from equilibrist.errors import EquilibristError
from equilibrist.phases import phase

_LONGEST_COMPLAINT = 1000  # characters
_LONGEST_NAME = 20  # characters of a command
# Commands that wait for people and other programs: their own silence is not work.
_WAITING = ("play", "dealer", "connect", "serve", "serve-api")
# Parts of the messages of a library that cannot be loaded for lack of memory.
_NO_MEMORY = ("failed to map segment", "annot allocate memory", "out of memory")

app = typer.Typer(
    name="equilibrist",
    help="An open laboratory for heads-up poker.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(games.app, name="games")
app.add_typer(bots.app, name="bots")
_LONG = {
    bots.train,
    solving.solve,
    solving.exploit,
    solving.compare,
    solving.verify,
    reproducing.reproduce,
    counter.counter,
    spot.spot,
    flops.flops,
    abstraction.abstract,
    abstraction.joint,
    transitions.transitions,
    arena.match,
    arena.tournament,
    local_response.lbr,
}
_READS_ONLY = {  # or writes one file, atomically, at the end
    games.tree,
    split.plan,
    cards.equity,
    show.show,
    exchange.export,
    exchange.import_,
    abstraction.buckets,
    history.log,
}
for command in (
    games.tree,
    cards.equity,
    cards.rank,
    cards.index,
    bots.train,
    solving.solve,
    solving.exploit,
    show.show,
    solving.compare,
    solving.verify,
    counter.counter,
    exchange.export,
    exchange.import_,
    reproducing.reproduce,
    split.plan,
    spot.spot,
    flops.flops,
    abstraction.abstract,
    abstraction.buckets,
    abstraction.joint,
    transitions.transitions,
    arena.players,
    arena.match,
    arena.tournament,
    local_response.lbr,
    network.dealer,
    network.connect,
    history.log,
    session.play,
    serve.serve,
    slumbot.serve_api,
    warmup.warmup,
):
    name = command.__name__.rstrip("_").replace("_", "-")  # `import` is a keyword of Python
    ends = stoppable if command in _LONG else abandonable if command in _READS_ONLY else None
    app.command(name, cls=CheckedCommand)(command if ends is None else ends(command))


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
    """Run the command line and end the process; wrong input is one sentence on stderr, code 2.

    Until the process has ended, a late Ctrl-C changes nothing. A program that goes on calls `run`.
    """
    ignore_late_interrupts()
    sys.exit(run())


def run() -> int:
    """Run the command line of `sys.argv`, and return its exit code."""
    _prepare_streams()
    with beating(), _whole_command():
        code = _run()
        has_result()
    return code


def _whole_command() -> contextlib.AbstractContextManager[object]:
    """Return the phase that contains the whole command; none if it waits for others."""
    name = "".join(sys.argv[1:2])
    is_name = name.isprintable() and not name.startswith("-") and len(name) < _LONGEST_NAME
    if name in _WAITING or not is_name:
        return contextlib.nullcontext()
    return phase(f"equilibrist {name}".rstrip())


def _run() -> int:
    """Run the command line; return its exit code."""
    code = 0
    try:
        code = app(standalone_mode=False) or 0
    except SystemExit:  # typer's, with code 1: the reader, such as `head`, has closed the pipe
        _drop_output()
        code = 0
    except (EquilibristError, typer.TyperException) as error:
        _complain(error.format_message() if hasattr(error, "format_message") else str(error))
        code = 2
    except OSError as error:
        code = _complain_of_system(error)
    except RecursionError:
        _complain("the input is nested too deeply")
        code = 2
    except (UnicodeEncodeError, UnicodeDecodeError) as error:
        _complain(f"the input holds characters that cannot be written: {error.reason}")
        code = 2
    except (MemoryError, ImportError) as error:
        code = _complain_of_memory(error)
    except (KeyboardInterrupt, typer.Abort):
        _complain("interrupted")
        code = 130
    return code


def _complain_of_system(error: OSError) -> int:
    """Print which file or output the system refuses; return the exit code."""
    reason = error.strerror or str(error)
    if error.errno == errno.ENOMEM:
        return _complain_of_memory(error)
    if error.filename is not None:
        _complain(f"cannot open {shorten(str(error.filename))}: {reason}")
        return 2
    _drop_output()
    _complain(f"cannot write the output: {reason}")
    return 1


def _complain_of_memory(error: Exception) -> int:
    """Print that memory is short and return the exit code; raise other import errors again."""
    message = str(error)
    if isinstance(error, ImportError) and not any(sign in message for sign in _NO_MEMORY):
        raise error
    why = f" ({message})" if isinstance(error, MemoryError) and message else ""
    _complain(
        f"there is not enough memory{why}; close other programs, raise the memory limit, or choose "
        "a smaller problem"
    )
    return 1


def _prepare_streams() -> None:
    """Make stdout and stderr accept every character; replace a closed stream by /dev/null."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by the caller
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _complain(text: str) -> None:
    """Print an error on stderr as one line, shortened and without control characters."""
    text = "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
    if len(text) > _LONGEST_COMPLAINT:
        half = _LONGEST_COMPLAINT // 2
        text = f"{text[:half]} … {text[-half:]}"
    if text:
        with contextlib.suppress(OSError):
            print(f"equilibrist: {text}", file=sys.stderr)


def _drop_output() -> None:
    """Discard what is still in the buffer of stdout, so that the exit does not fail on it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

"""Reading of text files given by the user, with errors that name the file."""

from __future__ import annotations

import contextlib
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from equilibrist.errors import ParseError

MOST_CHARACTERS = 10**7  # a larger file is neither a definition nor a history
MOST_TOML_CHARACTERS = 10**6
# Dotted TOML keys with too many parts: the cost of parsing them grows quadratically.
_DOTTED_KEY = re.compile(
    r"""(?<![\w-]) (?: (?: [\w-]++ | "[^"\n]*+" | '[^'\n]*+' ) [\t ]*+ \. [\t ]*+ ){32}""",
    re.VERBOSE,
)


@contextlib.contextmanager
def file_errors(verb: str, path: str | Path, error: type[ParseError]) -> Iterator[None]:
    """Turn an operating system error about a path into `error`; `verb` is "read" or "write"."""
    try:
        yield
    except UnicodeDecodeError:
        raise error(f"{path} is not a text file", value=str(path)) from None
    except (OSError, ValueError) as problem:  # ValueError: a path that no file can have
        reason = getattr(problem, "strerror", None) or str(problem)
        raise error(f"cannot {verb} {path}: {reason}", value=str(path)) from None


def read_text(path: str | Path, error: type[ParseError]) -> str:
    """Read the text of a file of at most `MOST_CHARACTERS` characters."""
    with file_errors("read", path, error), open(path, encoding="utf-8-sig") as file:
        text = file.read(MOST_CHARACTERS + 1)
    if len(text) > MOST_CHARACTERS:
        raise error(f"{path} is longer than {MOST_CHARACTERS:,} characters", value=str(path))
    return text


def parse_toml(text: str, what: str, error: type[ParseError]) -> dict[str, Any]:
    """Parse the entries of a TOML text; `what` names the text in error messages.

    Example:
        >>> parse_toml("hands = 40", "the plan", ParseError)
        {'hands': 40}
        >>> parse_toml("hands = " + "9" * 5000, "the plan", ParseError)
        Traceback (most recent call last):
          ...
        equilibrist.errors.ParseError: the plan has a number of more digits than can be read
    """
    if len(text) > MOST_TOML_CHARACTERS:
        raise error(f"{what} is longer than {MOST_TOML_CHARACTERS:,} characters", value=text[:200])
    found = _DOTTED_KEY.search(text)
    if found is not None:
        raise error(
            f"{what} has a dotted name of more than 32 parts; use plain names",
            value=text[:200],
            position=found.start(),
        )
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise error(f"{what} is nested too deeply", value=text[:200]) from None
    except tomllib.TOMLDecodeError as problem:
        raise error(f"{what} is not TOML: {problem}", value=text[:200]) from None
    except ValueError:
        raise error(
            f"{what} has a number of more digits than can be read", value=text[:200]
        ) from None

"""Text files that people name: whatever is wrong with one is an error of ours that names it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from equilibrist.errors import ParseError

MOST_CHARACTERS = 10**7  # of a definition or a history; larger ones are something else


@contextlib.contextmanager
def file_errors(verb: str, path: str | Path, error: type[ParseError]) -> Iterator[None]:
    """Turn what the system says about a path into one sentence; `verb` is read or write."""
    try:
        yield
    except UnicodeDecodeError:
        raise error(f"{path} is not a text file", value=str(path)) from None
    except (OSError, ValueError) as problem:  # ValueError: a path that no file can have
        reason = getattr(problem, "strerror", None) or str(problem)
        raise error(f"cannot {verb} {path}: {reason}", value=str(path)) from None


def read_text(path: str | Path, error: type[ParseError]) -> str:
    """The text of a small file."""
    with file_errors("read", path, error), open(path, encoding="utf-8-sig") as file:
        text = file.read(MOST_CHARACTERS + 1)
    if len(text) > MOST_CHARACTERS:
        raise error(f"{path} is longer than {MOST_CHARACTERS:,} characters", value=str(path))
    return text

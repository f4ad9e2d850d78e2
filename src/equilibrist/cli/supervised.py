"""Progress as lines of JSON on stderr, for a program that supervises a command.

With `EQUILIBRIST_PROGRESS=json` in the environment, what a command reports about its progress is
one JSON object per line, whose field `progress` is its kind: `run` (a method starts), `iterations`,
`flop` or `phase` (docs/cli.md). Lines that are not JSON are texts for people, as always.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any, TextIO

VARIABLE = "EQUILIBRIST_PROGRESS"
_MODE = "json"


def is_supervised() -> bool:
    """Return whether the environment asks for progress as JSON."""
    return os.environ.get(VARIABLE) == _MODE


def report(kind: str, data: dict[str, Any], stream: TextIO | None = None) -> None:
    """Write one line of progress, on stderr by default."""
    text = json.dumps({"progress": kind, **data}, allow_nan=False)
    print(text, file=stream or sys.stderr, flush=True)

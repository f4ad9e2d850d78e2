"""Checkpoints of long runs: when one is due, and whether a folder holds the run to continue."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Mapping

from equilibrist.errors import StorageError
from equilibrist.storage.manifest import is_text, plain_text

SHARE = 0.05  # maximum share of the running time that is spent on writing checkpoints
_MOST_SHOWN = 100  # characters of a value in a message; longer ones are left out


class CheckpointClock:
    """Decides when a checkpoint is due: when writing it takes at most 5 % of the time.

    `cost` is the number of seconds that the last checkpoint took; give an estimate for the first
    one if writing takes long. At least `pause` seconds pass between two checkpoints.

    Example:
        >>> clock = CheckpointClock()
        >>> clock.is_due()
        True
        >>> with clock.writing():
        ...     time.sleep(0.01)
        >>> clock.is_due(), clock.cost >= 0.01
        (False, True)
    """

    def __init__(self, *, cost: float = 0.0, pause: float = 0.0) -> None:
        self.cost = cost
        self._pause = pause
        self._written = time.perf_counter()

    def is_due(self) -> bool:
        """Return whether the last checkpoint is long enough ago for the next one."""
        return time.perf_counter() - self._written >= max(self._pause, self.cost / SHARE)

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Measure the writing of a checkpoint; one that fails does not count."""
        start = time.perf_counter()
        yield
        self._written = time.perf_counter()
        self.cost = self._written - start


def check_same_run(
    folder: object, stored: Mapping[str, object], wanted: Mapping[str, object]
) -> None:
    """Raise `StorageError` unless a folder's run has all `wanted` settings.

    Example:
        >>> check_same_run("kuhn", {"method": "cfr+", "seed": 0}, {"method": "cfr+", "seed": 1})
        Traceback (most recent call last):
        ...
        equilibrist.errors.StorageError: kuhn was started with seed 0, not 1; resume with the same,
        or choose another folder
    """
    for what, value in wanted.items():
        if stored.get(what) != value:
            raise another_run(folder, what, stored.get(what), value)


def another_run(
    folder: object, what: str, found: object = None, wanted: object = None
) -> StorageError:
    """Return the error that a folder's run was started with another game, seed or the like.

    The message shows both values if they are short.
    """
    texts = [_shown(value) for value in (found, wanted)]
    what = plain_text(what)
    values = f"another {what}"
    if all(texts) and texts[0] != texts[1]:
        values = f"{what} {texts[0]}, not {texts[1]}"
    return StorageError(
        f"{folder} was started with {values}; resume with the same, or choose another folder",
        value=str(folder),
    )


def _shown(value: object) -> str:
    """Return a value as text; empty if it is no short text, number or list of numbers."""
    if isinstance(value, list | tuple) and all(isinstance(each, int) for each in value):
        value = "-".join(map(str, value))
    text = str(value) if isinstance(value, str | int | float) else ""
    return text if is_text(text, _MOST_SHOWN) else ""

"""A stderr that never makes the program wait.

A pipe takes no more than some kilobytes that nobody reads, and then stops whoever writes. A dealer
must not stop: the clocks of its match run on. Its messages go through a queue to a thread, and are
dropped where they become too many.
"""

from __future__ import annotations

import contextlib
import io
import os
import queue
import sys
import threading
from collections.abc import Iterator
from typing import TextIO

_MOST_WAITING = 1000  # texts
_PATIENCE = 1.0  # seconds for the last texts at the end


@contextlib.contextmanager
def unblocked_stderr() -> Iterator[None]:
    """Let `sys.stderr` take everything at once inside; at the end wait a moment for the rest."""
    stream = _Queued(sys.stderr)
    before, sys.stderr = sys.stderr, stream
    try:
        yield
    finally:
        sys.stderr = before
        stream.finish(_PATIENCE)


class _Queued(io.TextIOBase):
    """A stream that hands texts to a thread, which writes them."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        # Unlike others, this queue may be used by a signal's handler at any time.
        self._texts: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        try:
            self._number: int | None = stream.fileno()
        except (OSError, ValueError):
            self._number = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def write(self, text: str) -> int:
        if self._texts.qsize() < _MOST_WAITING:
            self._texts.put(text)
        return len(text)

    def isatty(self) -> bool:
        return self._stream.isatty()

    def finish(self, seconds: float) -> None:
        """Wait for the last texts; what cannot be written then is lost, like all that follows."""
        self._texts.put(None)
        self._thread.join(seconds)
        if self._thread.is_alive() and self._number is not None:
            with open(os.devnull, "w", encoding="utf-8") as nothing:
                os.dup2(nothing.fileno(), self._number)

    def _run(self) -> None:
        while (text := self._texts.get()) is not None:
            with contextlib.suppress(OSError, ValueError):
                self._write(text)

    def _write(self, text: str) -> None:
        if self._number is None:
            self._stream.write(text)
            self._stream.flush()
            return
        # Not by the stream: it would be locked for as long as the system makes us wait.
        data = text.encode(self._stream.encoding or "utf-8", "backslashreplace")
        while data:
            data = data[os.write(self._number, data) :]

"""A stderr that never blocks the program.

A pipe holds only some kilobytes of unread text, then it blocks the writer. A dealer must not be
blocked, because the clocks of its match keep running. Its messages go through a queue to a thread
and are dropped if the queue is full.
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

_MOST_WAITING = 1000  # maximum number of texts in the queue
_PATIENCE = 1.0  # seconds to wait for the last texts at the end


@contextlib.contextmanager
def unblocked_stderr() -> Iterator[None]:
    """Make `sys.stderr` non-blocking inside the context; wait briefly for the rest at the end."""
    stream = _Queued(sys.stderr)
    before, sys.stderr = sys.stderr, stream
    try:
        yield
    finally:
        sys.stderr = before
        stream.finish(_PATIENCE)


class _Queued(io.TextIOBase):
    """A stream that passes texts to a thread, which writes them."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        # Unlike queue.Queue, a SimpleQueue may be used by a signal handler at any time.
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
        """Wait for the last texts; drop what is not written by then, and all later texts."""
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
        # Do not write through the stream: it would stay locked while the system blocks us.
        data = text.encode(self._stream.encoding or "utf-8", "backslashreplace")
        while data:
            data = data[os.write(self._number, data) :]

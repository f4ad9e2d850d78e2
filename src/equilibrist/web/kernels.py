"""Turns: what uses all cores is done by one thread at a time, and only a few may wait for it.

Tables take no turn, so an action is quick beside it. But a request that waits holds one of the
forty threads that answer all of them; so whoever would wait behind too many others is refused.
"""

from __future__ import annotations

import threading
from types import TracebackType

from equilibrist.kernels.threads import use_threads
from equilibrist.web.errors import BusyError

_MOST_WAITING = 8


class Cores:
    """The number of threads that kernels may use on this server; None: one per core."""

    threads: int | None = None

    def use(self) -> None:
        """Let kernels that the calling thread starts use that number."""
        if self.threads is not None:
            use_threads(self.threads)


CORES = Cores()


class Turn:
    """A lock for `with` that refuses those who would wait behind too many others.

    The thread that holds it may take it again.
    """

    def __init__(self, most_waiting: int = _MOST_WAITING) -> None:
        self._lock = threading.RLock()
        self._places = threading.Semaphore(most_waiting)

    def __enter__(self) -> None:
        """Wait for the turn; raise `BusyError` if too many wait already."""
        self._wait()
        CORES.use()

    def _wait(self) -> None:
        if self._lock.acquire(blocking=False):
            return
        if not self._places.acquire(blocking=False):
            raise BusyError("the server is busy with other questions; try again in a moment")
        try:
            self._lock.acquire()
        finally:
            self._places.release()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Let the next one take its turn."""
        self._lock.release()


KERNELS = Turn()  # opens strategies, and shows them at a node
VALUES = Turn()  # computes values and equities, which can take seconds

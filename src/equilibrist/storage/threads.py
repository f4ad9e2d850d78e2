"""The number of threads of this machine."""

from __future__ import annotations

import os


def most_threads() -> int:
    """Return the number of threads that Numba will use by default, without importing Numba."""
    try:
        return int(os.environ["NUMBA_NUM_THREADS"])
    except (KeyError, ValueError):
        affinity = getattr(os, "sched_getaffinity", None)
        return len(affinity(0)) if affinity else os.cpu_count() or 1

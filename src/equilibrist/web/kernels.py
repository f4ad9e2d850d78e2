"""One thread at a time runs compiled kernels: some of Numba's thread pools serve only one."""

from __future__ import annotations

import threading

KERNELS = threading.RLock()

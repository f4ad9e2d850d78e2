"""One thread at a time opens strategies and answers questions about them: each uses all cores.

Tables do not wait for it, so an action is quick beside them.
"""

from __future__ import annotations

import threading

KERNELS = threading.RLock()

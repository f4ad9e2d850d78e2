"""A process that runs one job: the command `equilibrist`, which ends with the server.

It is started with the folder of its job and the arguments of the command. The server holds the
other end of its stdin: when the server is gone, also if it was killed, the command receives
SIGTERM, saves at a consistent point and ends. A job that is started again waits for that. It runs
at low priority, so that the page stays quick.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import sys
import threading
from pathlib import Path

from equilibrist.catalogue import load_object

LOCK = "worker.lock"  # in the folder of the job, held while its command runs
_NICE = 10


def main() -> None:
    """Run the command whose arguments follow the folder of the job."""
    folder, sys.argv[1:] = Path(sys.argv[1]), sys.argv[2:]
    threading.Thread(target=_end_with_server, daemon=True).start()
    with contextlib.suppress(OSError):
        os.nice(_NICE)
    with open(folder / LOCK, "ab") as lock:
        with contextlib.suppress(OSError):  # a file system without locks
            fcntl.flock(lock, fcntl.LOCK_EX)
        load_object("equilibrist.cli:main")()


def _end_with_server() -> None:
    while os.read(0, 64):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    main()

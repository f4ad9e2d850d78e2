"""Opens regular files safely: links, pipes and devices in their place are refused."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from equilibrist.errors import StorageError

# Do not follow a link in the place of a file, and do not wait for the writer of a pipe.
_SAFELY = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | os.O_CLOEXEC
_OTHERS = (
    (stat.S_ISLNK, "a link"),
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
)


def open_regular(path: Path, flags: int = os.O_RDONLY, mode: int = 0o666) -> int:
    """Open a regular file and return its descriptor, which the caller closes.

    Raises `StorageError` for a link, folder, pipe, socket or device, and whatever `os.open` raises.
    """
    try:
        _check_regular(path, os.lstat(path))  # first, because merely opening can alter a device
    except FileNotFoundError:
        if not flags & os.O_CREAT:
            raise
    descriptor = os.open(path, flags | _SAFELY, mode)
    try:
        _check_regular(path, os.fstat(descriptor))
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def read_regular(path: Path, limit: int) -> bytes:
    """Return the content of a regular file; raise `StorageError` if it exceeds `limit` bytes."""
    with os.fdopen(open_regular(path), "rb") as stream:
        size = os.fstat(stream.fileno()).st_size
        content = stream.read(min(size, limit) + 1)
    if len(content) > limit:
        raise StorageError(f"{path} has more than {limit:,} bytes", value=str(path))
    return content


def _check_regular(path: Path, found: os.stat_result) -> None:
    if stat.S_ISREG(found.st_mode):
        return
    what = next((name for test, name in _OTHERS if test(found.st_mode)), "a device")
    raise StorageError(f"{path} is {what}; it must be a regular file", value=str(path))

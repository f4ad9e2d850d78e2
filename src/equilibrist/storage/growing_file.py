"""Text files that grow line by line, every line on disk before the program goes on.

A crash can leave the last line incomplete; opening the file again drops such a rest.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Self

from equilibrist.errors import StorageError
from equilibrist.storage.output_file import sync_folder, writing_errors


class GrowingFile:
    """A text file to which lines are appended; only the user may read it.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "diary")
        ...     with GrowingFile.create(path) as file:
        ...         file.append("first", "second")
        ...     _ = path.write_text(path.read_text() + "cut o")
        ...     with GrowingFile.open(path) as file:
        ...         file.append("third")
        ...     path.read_text().split()
        ['first', 'second', 'third']
    """

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._descriptor: int | None = descriptor

    @classmethod
    def create(cls, path: Path) -> GrowingFile:
        """Create a file; raise `StorageError` if it exists or cannot be written."""
        with writing_errors(path):
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND
            file = cls(path, os.open(path, flags, 0o600))
        sync_folder(path.parent)
        return file

    @classmethod
    def open(cls, path: Path) -> GrowingFile:
        """Open a file to append to it, without an incomplete last line."""
        with writing_errors(path):
            descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW)
            os.ftruncate(descriptor, path.read_bytes().rfind(b"\n") + 1)
        return cls(path, descriptor)

    def append(self, *lines: str) -> None:
        """Append lines and wait until they are on disk; raise `StorageError` if that fails."""
        if self._descriptor is None:
            raise StorageError(f"{self.path} is closed", value=str(self.path))
        data = "".join(f"{line}\n" for line in lines).encode()
        with writing_errors(self.path):
            while data:
                data = data[os.write(self._descriptor, data) :]
            os.fsync(self._descriptor)

    def close(self) -> None:
        """Close the file; closing it twice is harmless."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

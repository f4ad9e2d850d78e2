"""Text files with user-given names, written completely or not at all.

A file is written under another name in the same folder, `match.log.part` for `match.log`, synced to
disk, and renamed when it is finished. A kill or a full disk before that leaves an existing file
unchanged. An existing file is replaced only with `replace`, even if it appears while the new one is
written. A killed process leaves the part file, which is not overwritten either; a lock
distinguishes it from one that is being written.

Pipes and devices, such as `/dev/stdout`, are neither replaced nor renamed: they receive the text
directly. A link is followed: the file that it points to is written.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Self

from equilibrist.errors import StorageError

PART = ".part"  # suffix of an unfinished file

_LONGEST_NAME = 255  # bytes, the limit of almost every file system
_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
_OLD = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK


def write_output(path: str | Path, text: str, *, replace: bool = True) -> None:
    """Write a text file atomically; raise `StorageError` and keep the old file if that fails."""
    file = OutputFile(path, replace=replace, keeps_part=False)
    try:
        file.write(text)
        file.finish()
    finally:
        file.discard()


def check_output(path: str | Path, *, replace: bool = False) -> None:
    """Raise `StorageError` if a file could not be written; to be called before the work."""
    with writing_errors(path):
        place = Path(os.path.realpath(path))
        is_direct = os.path.lexists(place) and not place.is_dir() and not _is_regular(place)
    if not is_direct:  # opening and closing a pipe would end its reader
        OutputFile(path, replace=replace).discard()


def is_taken(path: str | Path) -> bool:
    """Return whether a regular file exists at this path; false for pipes and devices."""
    with writing_errors(path):
        return _is_regular(Path(os.path.realpath(path)))


class OutputFile:
    """A text file that is written piece by piece and gets its name when it is finished.

    Use it in a `with` statement. Without `finish`, the part file stays if anything was written, so
    that nothing is lost, unless `keeps_part` is false.
    """

    def __init__(self, path: str | Path, *, replace: bool = False, keeps_part: bool = True) -> None:
        self.path = Path(path)
        self.replace, self.keeps_part = replace, keeps_part
        with writing_errors(path):
            self._place = Path(os.path.realpath(path))
            self._is_direct = False
            self._check_place()
            named = self._place if self.path.is_symlink() else self.path
            self.part = named if self._is_direct else _part_of(named)
            self._file: int | None = (
                os.open(self._place, os.O_WRONLY) if self._is_direct else self._open_part()
            )
        self._first = b""  # the first text that was written
        self._size = 0  # bytes written

    def write(self, text: str) -> None:
        """Pass a text to the system; afterwards only a crash of the machine can lose it."""
        assert self._file is not None
        data = text.encode(errors="replace")
        self._first = self._first or data
        with writing_errors(self.path, self._rest):
            while data:
                written = os.write(self._file, data)
                self._size += written
                data = data[written:]

    def finish(self, first: str | None = None) -> None:
        """Sync the file to disk and give it its name.

        `first` replaces the first text that was written, which must have the same length; a pipe
        or a device receives it at the end.
        """
        assert self._file is not None
        if first is not None and self._is_direct:
            self.write(first)
        with writing_errors(self.path, self._rest):
            if first is not None and not self._is_direct:
                data = first.encode(errors="replace")
                assert len(data) == len(self._first)
                os.pwrite(self._file, data, 0)
            if not self._is_direct:
                os.fsync(self._file)
                self._rename()
                sync_folder(self._place.parent)
        self._close()

    def discard(self) -> None:
        """Remove what was written; a finished file stays."""
        if self._file is not None and not self._is_direct:
            with contextlib.suppress(OSError):
                os.unlink(self.part)
        self._close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if not self._size or not self.keeps_part:
            self.discard()
        self._close()

    def _check_place(self) -> None:
        """Raise `StorageError` for folders and existing files; recognise pipes and devices."""
        place = self._place
        if not place.parent.is_dir():
            raise StorageError(
                f"{self.path.parent} is not a folder: cannot write {self.path}",
                value=str(self.path),
            )
        if place.is_dir():
            raise StorageError(f"{self.path} is a folder, not a file", value=str(self.path))
        if _is_regular(place):
            if not self.replace:
                raise _exists(self.path)
        else:
            self._is_direct = os.path.lexists(place)

    def _open_part(self) -> int:
        """Open the part file, new or left behind, and lock it."""
        while True:
            is_new = True
            try:
                file = os.open(self.part, _NEW, 0o666)
            except FileExistsError:
                is_new = False
                try:
                    file = os.open(self.part, _OLD)
                except FileNotFoundError:  # just renamed or removed by another process
                    continue
            try:
                if self._owns(file, is_new):
                    return file
            except BaseException:
                os.close(file)
                raise
            os.close(file)

    def _owns(self, file: int, is_new: bool) -> bool:
        """Lock an open part file; return false if the path no longer refers to it."""
        try:
            _lock(file)
            if not os.path.samestat(os.fstat(file), os.stat(self.part)):
                return False
        except BlockingIOError:
            raise StorageError(
                f"another process is writing {self.path}; choose another name",
                value=str(self.path),
            ) from None
        except FileNotFoundError:
            return False
        if not is_new:
            if not self.replace or not _is_regular(self.part):
                raise StorageError(
                    f"{self.part} was left by a process that was killed; "
                    "check it, then rename or remove it",
                    value=str(self.part),
                )
            os.ftruncate(file, 0)
        with contextlib.suppress(OSError):
            os.fchmod(file, stat.S_IMODE(os.stat(self._place).st_mode))
        return True

    def _rename(self) -> None:
        if self.replace:
            os.replace(self.part, self._place)
            return
        try:
            os.link(self.part, self._place)  # unlike a rename, fails if there is a file
            os.unlink(self.part)
        except FileExistsError:
            raise StorageError(
                f"{self.path} was written by another process; this output is in {self.part}",
                value=str(self.path),
            ) from None
        except OSError as error:
            if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.ENOSYS):
                raise
            if os.path.lexists(self._place):  # the file system has no links
                raise _exists(self.path) from None
            os.rename(self.part, self._place)

    def _rest(self) -> str:
        """Return the end of an error message: where the text written so far is."""
        if not self.keeps_part:
            return "; existing files are unchanged"
        if self._is_direct or not self._size:
            return ""
        return f"; the text written so far is in {self.part}"

    def _close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None


def _part_of(place: Path) -> Path:
    name = os.fsencode(place.name)[: _LONGEST_NAME - len(PART)]
    return place.with_name(os.fsdecode(name) + PART)


def _is_regular(place: Path) -> bool:
    try:
        return stat.S_ISREG(os.stat(place).st_mode)
    except FileNotFoundError:
        return False


def _lock(file: int) -> None:
    """Lock an open file; raise `BlockingIOError` if another process holds the lock."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in (errno.ENOLCK, errno.ENOTSUP):  # the file system has no locks
            raise


def sync_folder(folder: Path) -> None:
    """Wait until the file names in a folder are on disk, if the system supports that."""
    with contextlib.suppress(OSError):
        file = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(file)
        finally:
            os.close(file)


def _exists(path: Path) -> StorageError:
    return StorageError(f"{path} exists; choose another name", value=str(path))


@contextlib.contextmanager
def writing_errors(path: str | Path, rest: Callable[[], str] = str) -> Iterator[None]:
    """Turn system errors about a path into a `StorageError` of one sentence."""
    try:
        yield
    except (OSError, ValueError) as problem:  # ValueError: an impossible path
        reason = getattr(problem, "strerror", None) or str(problem)
        raise StorageError(f"cannot write {path}: {reason}{rest()}", value=str(path)) from None

"""One owner per folder: the `lock` file of an artefact, held for a write or for a whole run.

A run takes its folder with `owned` before it reads anything and holds it until it ends. A second
run is refused at once with the process number and age of the first; for a lock held for a single
write it waits. The system releases the lock when its process ends: a stopped process (SIGSTOP)
keeps it, a killed one does not. On a file system without locks, an owner still refuses to overwrite
what another process has written in the meantime.

The lock file stays in the folder. Its text states the last writer and names the files written here.
Of these, the next write removes what a killed writer has left behind, and no other file.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import re
import threading
import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from equilibrist.errors import StorageError
from equilibrist.storage.regular_file import open_regular, read_regular

MANIFEST = "manifest.json"
LOCK = "lock"
# Earlier versions wrote this line alone.
_FIRST_LINE = "equilibrist artefact, last written by process "
_WAIT_SECONDS = 10.0  # for another process to finish a single write
_STALE_SECONDS = 1.0  # for a new holder to write its name to the lock
_POLL_SECONDS = 0.02
MOST_MANIFEST_BYTES = 1 << 24  # maximum size of a manifest, and of a lock
_NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS)


@dataclass(frozen=True)
class LockText:
    """The contents of a lock file: its last holder and the files written."""

    process: int = 0  # 0 if unknown
    since: float = 0.0  # seconds since 1970; 0 if unknown
    is_run: bool = False  # held for a whole run rather than for a single write
    names: frozenset[str] = frozenset()  # files that this program wrote or is about to write
    is_exact: bool = True  # False for the text of an earlier version, which named no files

    def encode(self) -> bytes:
        """Return the text of the lock file; its last line reveals a half-written one."""
        lines = [
            f"{_FIRST_LINE}{self.process:>10}",
            f"since {self.since:.3f} for {'a run' if self.is_run else 'one write'}",
            *(f"file {name}" for name in sorted(self.names)),
        ]
        text = "".join(line + "\n" for line in lines)
        return f"{text}end {_checksum(text)}\n".encode()

    @classmethod
    def decode(cls, content: bytes) -> LockText | None:
        """Return the contents of a text from `encode`; None for a text of other origin."""
        text = content.decode(errors="replace")
        if not text.strip("\0") or _FIRST_LINE.startswith(text):  # lost before it was on disk
            return cls()
        if not text.startswith(_FIRST_LINE):
            return None
        # A kill between write and truncate leaves the end of a longer text after ours.
        body, line_end, rest = text.partition("\nend ")
        body, end = body + line_end[:1], rest.partition("\n")[0]
        lines = body.splitlines()
        since = re.fullmatch(
            r"since ([0-9]{1,12}\.[0-9]{3}) for (a run|one write)", "".join(lines[1:2])
        )
        number = re.match(r" *([0-9]{1,10})\n", text[len(_FIRST_LINE) :])
        process = int(number[1]) if number else 0
        if end != _checksum(body) or since is None:
            return cls(process, is_exact=text.count("\n") > 1)
        names = frozenset(line.removeprefix("file ") for line in lines[2:])
        return cls(process, float(since[1]), since[2] == "a run", names)


@dataclass(eq=False)
class _Holding:
    """A lock that this process holds."""

    folder: Path
    descriptor: int
    text: LockText
    generation: str | None  # SHA-256 of the manifest file as we know it, None if absent
    created: tuple[Path, ...]  # folders that did not exist before, deepest first
    is_new_lock: bool
    process: int = field(default_factory=os.getpid)
    depth: int = 1
    writing: threading.RLock = field(default_factory=threading.RLock)

    def put(self, text: LockText) -> None:
        """Replace the text of the lock file."""
        content = text.encode()
        os.pwrite(self.descriptor, content, 0)
        os.ftruncate(self.descriptor, len(content))
        self.text = text


_held: dict[str, _Holding] = {}
_held_guard = threading.RLock()


@contextlib.contextmanager
def owned(folder: str | Path | None) -> Iterator[None]:
    """Own a folder during a run: other processes can read it, but not write to it.

    The folder is created if missing and removed again if nothing was written to it. Within a
    process the same folder can be owned again; None owns nothing. Raises `StorageError` at once if
    another process owns the folder.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as scratch, owned(Path(scratch) / "run"):
        ...     pass  # load, run and write
    """
    if folder is None:
        yield
        return
    holding = _own(Path(folder))
    try:
        yield
    finally:
        _disown(holding)


@contextlib.contextmanager
def locked_for_writing(folder: Path) -> Iterator[Writing]:
    """Lock a folder for one write, unless the current run owns it already."""
    with _held_guard:
        holding = _held_here(folder)
    if holding is not None:
        with holding.writing:
            _check_unchanged(holding)
            try:
                yield Writing(holding)
            finally:
                with contextlib.suppress(OSError):
                    holding.generation = _generation(folder)
        return
    holding = _take(folder, is_run=False)
    try:
        yield Writing(holding)
    finally:
        _release(holding)


@dataclass(frozen=True, eq=False)
class Writing:
    """One write to a folder, during which no other process writes to it."""

    _holding: _Holding

    @property
    def files(self) -> frozenset[str]:
        """Return the names of files that this program wrote: the artefact's, and leftovers."""
        return self._holding.text.names

    def announce(self, names: Collection[str]) -> None:
        """Record the names of files before they are written."""
        self._note(self.files.union(names))
        os.fsync(self._holding.descriptor)

    def conclude(self, names: Collection[str]) -> None:
        """Record that only these files remain."""
        self._note(frozenset(names))

    def _note(self, names: frozenset[str]) -> None:
        text = self._holding.text
        self._holding.put(LockText(text.process, text.since, text.is_run, names))


def read_lock(folder: Path) -> LockText | None:
    """Return the contents of a folder's lock; None if it is missing or of other origin."""
    try:
        return LockText.decode(read_regular(folder / LOCK, MOST_MANIFEST_BYTES))
    except (OSError, StorageError):
        return None


def _own(folder: Path) -> _Holding:
    with _held_guard:
        holding = _held_here(folder)
        if holding is not None:
            holding.depth += 1
            return holding
        try:
            holding = _take(folder, is_run=True)
        except OSError as error:
            raise StorageError(
                f"cannot write {error.filename or folder}: {error.strerror or error}",
                value=str(folder),
            ) from None
        _held[_key(folder)] = holding
        return holding


def _disown(holding: _Holding) -> None:
    with _held_guard:
        holding.depth -= 1
        if holding.depth == 0 and holding.process == os.getpid():
            _held.pop(_key(holding.folder), None)
            _release(holding)


def _held_here(folder: Path) -> _Holding | None:
    holding = _held.get(_key(folder))
    # A forked process has a copy of this record, but its parent owns the folder.
    return holding if holding is not None and holding.process == os.getpid() else None


def _key(folder: Path) -> str:
    return os.path.realpath(folder)


def _take(folder: Path, *, is_run: bool) -> _Holding:
    """Create the folder if missing, and lock it; wait for a single write of another process."""
    begin = time.monotonic()
    created: tuple[Path, ...] = ()
    is_new = False
    try:
        while True:
            created += _make_folders(folder)
            try:
                descriptor, is_created = _open_lock(folder)
            except FileNotFoundError:  # another process has just removed the empty folder
                _check_patience(folder, LockText(), begin)
                continue
            is_new = is_new or is_created
            try:
                if _try_lock(folder, descriptor, begin):
                    return _written_lock(folder, descriptor, created, is_new, is_run)
            except BaseException:
                os.close(descriptor)
                raise
            os.close(descriptor)
            time.sleep(_POLL_SECONDS)
    except BaseException:
        _remove_folders(created)
        raise


def _written_lock(
    folder: Path, descriptor: int, created: tuple[Path, ...], is_new: bool, is_run: bool
) -> _Holding:
    """Write our process number to a lock that we hold."""
    old = LockText.decode(_read_all(descriptor)) or LockText()
    text = LockText(os.getpid(), time.time(), is_run, old.names)
    holding = _Holding(folder, descriptor, text, None, created, is_new)
    holding.put(text)
    try:
        holding.generation = _generation(folder)
    except BaseException:
        _remove_new_lock(holding)
        raise
    return holding


def _release(holding: _Holding) -> None:
    """Release the lock; remove a new lock file and new folders if nothing was written."""
    try:
        if not _remove_new_lock(holding) and holding.text.is_run:
            text = holding.text
            holding.put(LockText(text.process, text.since, False, text.names))
    except OSError:
        pass  # the next holder of the lock writes its own text
    finally:
        os.close(holding.descriptor)
        _remove_folders(holding.created)


def _remove_new_lock(holding: _Holding) -> bool:
    """Remove a lock file that we created if we wrote no other file; return whether so."""
    ours = (MANIFEST, *holding.text.names)
    is_unused = holding.is_new_lock and not any(
        os.path.lexists(holding.folder / name) for name in ours
    )
    if is_unused:
        with contextlib.suppress(OSError):
            os.unlink(holding.folder / LOCK)
    return is_unused


def _open_lock(folder: Path) -> tuple[int, bool]:
    """Open the lock file; return it and whether it is new. Raises `StorageError` if foreign."""
    path = folder / LOCK
    with contextlib.suppress(FileExistsError):
        return open_regular(path, os.O_RDWR | os.O_CREAT | os.O_EXCL), True
    descriptor = open_regular(path, os.O_RDWR)
    try:
        if LockText.decode(_read_all(descriptor)) is None:
            raise StorageError(
                f"{path} was not written by this program; choose another folder", value=str(path)
            )
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor, False


def _try_lock(folder: Path, descriptor: int, begin: float) -> bool:
    """Return whether we now hold the lock; raise `StorageError` if waiting is pointless."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        _check_patience(folder, LockText.decode(_read_all(descriptor)) or LockText(), begin)
        return False
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
    try:  # the previous holder may have removed the file
        return os.path.samestat(os.fstat(descriptor), os.lstat(folder / LOCK))
    except FileNotFoundError:
        return False


def _check_patience(folder: Path, holder: LockText, begin: float) -> None:
    """Raise `StorageError` if a run holds the folder, or a single write takes too long."""
    if holder.is_run:
        # The text of a dead process is that of the previous holder, about to be replaced.
        patience = 0.0 if _is_alive(holder.process) else _STALE_SECONDS
    else:
        patience = _WAIT_SECONDS
    if time.monotonic() - begin < patience:
        return
    owner = f"process {holder.process or 'unknown'}"
    what = (
        f"has been working on {folder} for {_age(time.time() - holder.since)}"
        if holder.is_run
        else f"is writing {folder}"
    )
    raise StorageError(
        f"{owner} {what}; wait until it ends or choose another folder", value=str(folder / LOCK)
    )


def _check_unchanged(holding: _Holding) -> None:
    """Raise `StorageError` if another process has written: file systems may have no locks."""
    if _generation(holding.folder) != holding.generation:
        raise StorageError(
            f"another process has written to {holding.folder} during this run, and its files are "
            "not overwritten; choose another folder",
            value=str(holding.folder),
        )


def _generation(folder: Path) -> str | None:
    """Return the SHA-256 of the current manifest file; None if there is none."""
    try:
        return hashlib.sha256(read_regular(folder / MANIFEST, MOST_MANIFEST_BYTES)).hexdigest()
    except FileNotFoundError:
        return None


def _make_folders(folder: Path) -> tuple[Path, ...]:
    """Create a folder and its parents; return those that did not exist, deepest first."""
    if os.path.lexists(folder) and not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder))
    missing = []
    for path in (folder, *folder.parents):
        if path.exists():
            break
        missing.append(path)
    folder.mkdir(parents=True, exist_ok=True)
    return tuple(missing)


def _remove_folders(created: tuple[Path, ...]) -> None:
    with contextlib.suppress(OSError):  # folders that are not empty stay
        for path in created:
            path.rmdir()


def _read_all(descriptor: int) -> bytes:
    return os.pread(descriptor, min(os.fstat(descriptor).st_size, MOST_MANIFEST_BYTES), 0)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:  # a process of another user
        pass
    return process > 0


def _checksum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _age(seconds: float) -> str:
    """Return a duration as a short text.

    Example:
        >>> _age(12.3), _age(60), _age(200), _age(7300), _age(200_000)
        ('12 s', '1 min', '3 min', '2 h', '2 days')
    """
    for unit, size in (("days", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= size and (unit != "days" or seconds >= 2 * size):
            return f"{int(seconds // size)} {unit}"
    return f"{max(int(seconds), 0)} s"

"""Compiled kernels are cached in a folder named by a hash of all kernel sources.

Numba's own check looks only at the file that defines a function: when a helper in *another* file
changes, the caller's stale machine code is used again without a warning. A folder named by the hash
of every kernel file cannot go stale. Bounds checking changes the generated code but not Numba's
key, so it is part of the name too; with the JIT disabled nothing is generated and nothing kept.

The folder must belong to the user, with mode 700, and no other user may be able to replace it:
loading compiled code runs it. Without such a folder nothing is kept, and a sentence says so.

Numba has one cache folder per process, which it forgets if a program changes a `NUMBA_*` variable.
So kernels know their own folder, and Numba's setting stays as the host program left it; a folder
that the host has set (as `NUMBA_CACHE_DIR` or `numba.config.CACHE_DIR`) before the import becomes
the parent of ours.

If several processes need the same kernel, one compiles it and the others wait (`SharedCache`).
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import logging
import os
import shutil
import stat
import tempfile
import threading
import time
from pathlib import Path
from typing import IO, Any

import numba
from numba.core import event
from numba.core.caching import FunctionCache
from numba.core.dispatcher import Dispatcher

from equilibrist.phases import phase

_PAPER_SOURCES = ("kernels", "reference")  # folders of a paper's package with compiled code
_KEPT_FOLDERS = 6  # how many fingerprints stay on disk; older ones are removed
_LONGEST_WAIT = 300.0  # seconds for which a process waits until another has compiled a kernel
_WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH

folder: Path | None = None  # where compiled kernels are kept; None: nowhere
refusal = ""  # why compiled kernels are not kept; "" if they are
_setting = threading.Lock()  # held while Numba's own setting is changed for a moment


def fingerprint(root: Path) -> str:
    """Return twelve hexadecimal digits that change with any kernel source, a paper's included.

    Example:
        >>> len(fingerprint(Path(__file__).parent))
        12
    """
    digest = hashlib.sha256()
    package = root.parent
    papers = (path for part in _PAPER_SOURCES for path in package.glob(f"papers/*/{part}/*.py"))
    for path in sorted([*root.rglob("*.py"), *papers]):
        digest.update(path.relative_to(package).as_posix().encode() + b"\0")
        digest.update(path.read_bytes() + b"\0")
    digest.update(f"{numba.__version__} {numba.config.BOUNDSCHECK}".encode())
    return digest.hexdigest()[:12]


def use_fingerprinted_folder() -> Path | None:
    """Choose the folder for the present sources; None if no folder is safe to use.

    A folder that the host has set becomes the parent. Anyone who can write to a cache can run code
    as its user, so only a folder that no other user can write to is used; without one, kernels are
    compiled in every process and `refusal` says why.
    """
    global folder, refusal
    name = fingerprint(Path(__file__).parent)
    chosen = numba.config.CACHE_DIR
    faults = []
    for base in (Path(chosen) if chosen else _user_cache(), _temporary_cache()):
        if base is None:
            faults.append("there is no home directory")
            continue
        is_new = not os.path.exists(base / name)
        fault = _fault(base, name)
        if fault:
            faults.append(fault)
            continue
        if is_new:
            with contextlib.suppress(OSError):  # another process tidies up too
                _forget_old_folders(base)
        folder, refusal = (base / name).absolute(), ""
        return folder
    folder, refusal = None, " and ".join(faults)
    event.register("numba:compile", _Warning())
    return None


def keep(function: Any) -> Any:
    """Let a function that Numba compiles keep its machine code in the folder; return it."""
    if folder is not None and isinstance(function, Dispatcher):
        compiled: Any = function
        compiled._cache = SharedCache(compiled.py_func)
    return function


class SharedCache(FunctionCache):
    """Numba's cache of one function, for several processes: one compiles, the others wait.

    Numba's own would let each compile the function, and the last one would drop what the others
    have added to the function's index. The lock ends with its process.
    """

    _lock: IO[bytes] | None = None

    def __init__(self, function: Any) -> None:
        with _setting:  # Numba reads its setting once, here
            before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, str(folder)
            try:
                super().__init__(function)
            finally:
                numba.config.CACHE_DIR = before

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled function if it is stored, if need be after waiting for it."""
        found = super().load_overload(sig, target_context)
        if found is None and self._acquire():
            found = super().load_overload(sig, target_context)
        if found is not None:
            self._release()
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        """Store a compiled function and let other processes load it."""
        try:
            super().save_overload(sig, data)
        finally:
            self._release()

    def _acquire(self) -> bool:
        """Lock the function; return whether another process held the lock before."""
        self._release()  # a compilation before this one may have failed
        try:
            place = os.path.join(self.cache_path, f"{self._cache_file._index_name}.lock")
            self._lock = open(place, "ab")  # noqa: SIM115  see `_release`
            if self._is_locked(self._lock):
                return False
            with phase("waiting for kernels that another process compiles"):
                until = time.monotonic() + _LONGEST_WAIT
                while not self._is_locked(self._lock) and time.monotonic() < until:
                    time.sleep(0.02)
        except OSError:  # a file system without locks, or the folder is gone
            return False
        return True

    @staticmethod
    def _is_locked(file: IO[bytes]) -> bool:
        """Try to lock a file; return whether this process holds the lock now."""
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _release(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None


def is_cold(*kernels: str) -> bool:
    """Return whether some kernel, such as "ranking.rank_hands", has yet to be compiled.

    Without arguments, it returns whether nothing at all has been compiled for the present sources.
    """
    if numba.config.DISABLE_JIT:
        return False
    if folder is None:
        return True
    # Numba names the index of a function <file>.<function>-<line>.<python>.nbi, a folder a package.
    kept = folder
    return not all(any(kept.glob(f"*/{kernel}-*.nbi")) for kernel in kernels or ("*",))


def _user_cache() -> Path | None:
    """Return the folder below `$XDG_CACHE_HOME` or `~/.cache`; None for a user without a home."""
    try:
        folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    except RuntimeError:
        return None
    return folder / "equilibrist" / "kernels"


def _temporary_cache() -> Path:
    """Return this user's folder in the temporary directory; another user may have made it first."""
    return Path(tempfile.gettempdir()) / f"equilibrist-kernels-{os.geteuid()}"


def _fault(base: Path, name: str) -> str:
    """Create a folder for compiled code below a base; returns why it is not safe, or ""."""
    base = base.absolute()
    try:
        _make_private(base)
        real = Path(os.path.realpath(base))
        for path in dict.fromkeys((*reversed(base.parents), base, *reversed(real.parents), real)):
            fault = _fault_of_parent(path)
            if fault:
                return fault
        _make_private(base / name)
        return _fault_of_cache(base / name)
    except OSError as error:
        return f"{error.filename or base} cannot be used ({error.strerror or error})"


def _make_private(folder: Path) -> None:
    """Create a folder and its missing parents, all of them closed to other users."""
    for path in (*reversed(folder.parents), folder):
        if not os.path.exists(path):
            with contextlib.suppress(FileExistsError):
                os.mkdir(path, 0o700)


def _fault_of_parent(path: Path) -> str:
    """Return how another user could replace a folder on the way; "" if nobody could."""
    found = os.lstat(path)
    if found.st_uid not in (os.geteuid(), 0, os.stat("/").st_uid):
        return f"{path} belongs to another user"
    if stat.S_ISLNK(found.st_mode):
        return ""
    if not stat.S_ISDIR(found.st_mode):
        return f"{path} is no folder"
    # In a sticky folder, such as the temporary directory, only owners replace their files.
    if found.st_mode & _WRITABLE_BY_OTHERS and not found.st_mode & stat.S_ISVTX:
        return f"other users can write to {path}"
    return ""


def _fault_of_cache(folder: Path) -> str:
    """Return how another user could have put compiled code into a folder; "" if nobody could."""
    found = os.lstat(folder)
    if not stat.S_ISDIR(found.st_mode):
        return f"{folder} is no folder"
    if found.st_uid != os.geteuid():
        return f"{folder} belongs to another user"
    if found.st_mode & _WRITABLE_BY_OTHERS:
        return f"other users can write to {folder}"
    if stat.S_IMODE(found.st_mode) != 0o700:
        os.chmod(folder, 0o700)
    tempfile.TemporaryFile(dir=folder).close()  # Numba tries this too, and goes elsewhere if not
    return ""


class _Warning(event.Listener):
    """Warning, given once, that compiled kernels are not cached, and why."""

    def __init__(self) -> None:
        self._is_said = False

    def on_start(self, _: event.Event) -> None:
        if not self._is_said:
            self._is_said = True
            logging.getLogger("equilibrist").warning(
                "compiled kernels are not kept for the next run because %s; set NUMBA_CACHE_DIR "
                "to a folder that only you can write to",
                refusal,
            )

    def on_end(self, _: event.Event) -> None:
        pass


def _forget_old_folders(base: Path) -> None:
    """Keep the newest fingerprints; losing a folder costs another process only a compilation."""
    if not base.is_dir():
        return
    # Only folders that look like ours: the parent may be a directory the user shares.
    folders = [path for path in base.iterdir() if path.is_dir() and _is_fingerprint(path.name)]
    folders.sort(key=lambda path: path.stat().st_mtime, reverse=True)
    for path in folders[_KEPT_FOLDERS:]:
        shutil.rmtree(path, ignore_errors=True)


def _is_fingerprint(name: str) -> bool:
    return len(name) == 12 and all(digit in "0123456789abcdef" for digit in name)

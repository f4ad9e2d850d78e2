"""Compiled kernels are cached in a folder named by a hash of all kernel sources.

Numba's own check looks only at the file that defines a function: when a helper in *another* file
changes, the caller's stale machine code is used again without a word. A folder named by the hash
of every kernel file cannot go stale. Bounds checking changes the generated code but not Numba's
key, so it is part of the name too; with the JIT disabled nothing is generated and nothing kept.

Numba has one cache folder a process. Importing the kernels sets it, so cached functions of a host
program that are defined afterwards land there as well; a folder the host has set (as
`NUMBA_CACHE_DIR` or `numba.config.CACHE_DIR`) before the import becomes the parent of ours.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import tempfile
from pathlib import Path

import numba

_PAPER_SOURCES = ("kernels", "reference")  # folders of a paper's package with compiled code
_KEPT_FOLDERS = 6  # how many fingerprints stay on disk; older ones are removed


def fingerprint(root: Path) -> str:
    """Twelve hexadecimal digits that change with any source of kernels, a paper's among them.

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


def use_fingerprinted_folder() -> Path:
    """Point Numba at the folder for the present sources; a `NUMBA_CACHE_DIR` becomes its parent."""
    base = Path(numba.config.CACHE_DIR or _user_cache())
    if not _can_write(base):
        # Numba would cache beside the sources, where machine code can go stale, or give up.
        base = _temporary_cache()
    folder = base / fingerprint(Path(__file__).parent)
    if not folder.exists():
        with contextlib.suppress(OSError):  # another process tidies up too
            _forget_old_folders(base)
    numba.config.CACHE_DIR = str(folder)
    return folder


def is_cold(*kernels: str) -> bool:
    """Return whether some kernel, such as "ranking.rank_hands", has yet to be compiled.

    Asked about none, it says whether nothing at all has been compiled for the present sources.
    """
    if numba.config.DISABLE_JIT:
        return False
    folder = Path(numba.config.CACHE_DIR)
    # Numba names the index of a function <file>.<function>-<line>.<python>.nbi, a folder a package.
    return not all(any(folder.glob(f"*/{kernel}-*.nbi")) for kernel in kernels or ("*",))


def _user_cache() -> Path:
    """`$XDG_CACHE_HOME` or `~/.cache`; the temporary folder where neither can be written."""
    try:
        folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    except RuntimeError:  # a user without a home
        return _temporary_cache()
    folder = folder / "equilibrist" / "kernels"
    return folder if _can_write(folder) else _temporary_cache()


def _temporary_cache() -> Path:
    """A folder of this user's own: one of somebody else's could not be written, or trusted."""
    user = getattr(os, "getuid", int)()
    return Path(tempfile.gettempdir()) / f"equilibrist-kernels-{user}"


def _can_write(folder: Path) -> bool:
    """Whether a folder exists, if need be from now on, and takes files."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK | os.X_OK)


def _forget_old_folders(base: Path) -> None:
    """Keep the newest fingerprints; losing a folder costs another process only a compilation."""
    if not base.is_dir():
        return
    # Only folders that look like ours: the parent may be a directory the user shares.
    folders = [path for path in base.iterdir() if path.is_dir() and _is_fingerprint(path.name)]
    folders.sort(key=lambda path: path.stat().st_mtime, reverse=True)
    for path in folders[_KEPT_FOLDERS - 1 :]:
        shutil.rmtree(path, ignore_errors=True)


def _is_fingerprint(name: str) -> bool:
    return len(name) == 12 and all(digit in "0123456789abcdef" for digit in name)

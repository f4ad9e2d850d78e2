"""Compiled kernels are cached in a folder named by a hash of all kernel sources.

Numba's own check looks only at the file that defines a function: when a helper in *another* file
changes, the caller's stale machine code is used again without a word. A folder named by the hash
of every kernel file cannot go stale. Settings that change the generated code but not Numba's key
(bounds checking, disabled JIT) are part of the name too.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from pathlib import Path

import numba

_KEPT_FOLDERS = 6  # how many fingerprints stay on disk; older ones are removed


def fingerprint(root: Path) -> str:
    """Twelve hexadecimal digits that change with any kernel source below `root`.

    Example:
        >>> len(fingerprint(Path(__file__).parent))
        12
    """
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0")
        digest.update(path.read_bytes() + b"\0")
    digest.update(f"{numba.__version__} {numba.config.BOUNDSCHECK}".encode())
    return digest.hexdigest()[:12]


def use_fingerprinted_folder() -> Path:
    """Point Numba at the folder for the present sources; a `NUMBA_CACHE_DIR` becomes its parent."""
    base = Path(numba.config.CACHE_DIR or _user_cache())
    folder = base / fingerprint(Path(__file__).parent)
    if not folder.exists():
        _forget_old_folders(base)
    numba.config.CACHE_DIR = str(folder)
    return folder


def is_cold() -> bool:
    """Whether nothing has been compiled yet for the present sources."""
    return not any(Path(numba.config.CACHE_DIR).rglob("*.nbi"))


def _user_cache() -> Path:
    """`$XDG_CACHE_HOME` or `~/.cache`; the temporary folder where neither can be written."""
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = folder / "equilibrist" / "kernels"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return Path(tempfile.gettempdir()) / "equilibrist-kernels"
    return folder


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

"""Equilibrist: an open laboratory for heads-up poker."""

import os as _os

__version__ = "0.1.0.dev0"

if _os.name != "posix":
    raise ImportError(
        "Equilibrist needs the file locks of Linux, macOS or another POSIX system; on Windows use "
        "it within WSL"
    )

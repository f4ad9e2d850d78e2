"""Pictures that commands draw: checked before the work, written after it."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

from equilibrist.errors import InvalidValueError, StorageError
from equilibrist.phases import phase


def check_plot(path: Path | None) -> None:
    """Raise an error, before any work, if a picture cannot be drawn to this file."""
    if path is None:
        return
    if importlib.util.find_spec("matplotlib") is None:
        raise InvalidValueError(
            "plots need matplotlib: pip install 'equilibrist[plot]'", value=str(path)
        )
    if not path.absolute().parent.is_dir():
        raise StorageError(f"cannot draw {path}: its folder does not exist", value=str(path))
    from matplotlib.backend_bases import FigureCanvasBase

    kinds = FigureCanvasBase.get_supported_filetypes()
    if path.suffix and path.suffix[1:].lower() not in kinds:
        raise InvalidValueError(
            f"cannot draw {path}: file types are {', '.join(sorted(kinds))}", value=str(path)
        )


@phase("drawing the picture")
def save_picture(figure: Any, path: Path) -> None:
    """Write a matplotlib figure; raise `StorageError` if the file cannot be written."""
    try:
        figure.savefig(path, dpi=120)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise StorageError(f"cannot draw {path}: {reason}", value=str(path)) from None

"""Output files of commands: checked before the work, and replaced only with --force."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from equilibrist.errors import StorageError

Force = Annotated[
    bool, typer.Option("--force", help="Replace files that exist.", show_default=False)
]


def check_file(path: Path | None, force: bool) -> None:
    """Raise `StorageError` if a file cannot be written, or exists and `force` is false."""
    from equilibrist.storage.output_file import check_output, is_taken

    if path is None:
        return
    if not force and is_taken(path):
        raise StorageError(
            f"{path} exists; choose another name, or replace it with --force", value=str(path)
        )
    check_output(path, replace=force)

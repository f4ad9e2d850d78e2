"""Imports a changed source in place of a module's own, in this process and its children.

The runner puts a `sitecustomize.py` that calls `enter` on the path of every process that it starts.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import sys
from pathlib import Path
from typing import Any

JOB = "EQUILIBRIST_MUTANT"  # environment variable: the file that says what the process does


def enter() -> None:
    """Let this process import the changed source in place of the module's own."""
    job = json.loads(Path(os.environ[JOB]).read_text()) if JOB in os.environ else {}
    if job.get("module"):
        sys.meta_path.insert(0, ChangedFinder(job["module"], job["file"], Path(job["source"])))


class ChangedFinder(importlib.abc.MetaPathFinder):
    """Finds one module, with another source."""

    def __init__(self, module: str, file: str, source: Path) -> None:
        self._module, self._loader = module, _ChangedLoader(module, file, source)

    def find_spec(
        self, name: str, path: object = None, target: object = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Return where to load the module from; None for all others."""
        if name != self._module:
            return None
        file = self._loader.path
        return importlib.util.spec_from_file_location(name, file, loader=self._loader)


class _ChangedLoader(importlib.machinery.SourceFileLoader):
    """Compiles the changed source under the file name of the module; writes no bytecode."""

    def __init__(self, module: str, file: str, source: Path) -> None:
        super().__init__(module, file)
        self._source = source

    def get_code(self, fullname: str) -> Any:
        return compile(self._source.read_bytes(), self.path, "exec", dont_inherit=True)

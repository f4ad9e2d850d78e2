"""An extension of griffe, the reader of docstrings behind `make docs`."""

from __future__ import annotations

import re
from typing import Any

import griffe


class DocstringExamples(griffe.Extension):
    """Show what follows `Example:` in a docstring as a session of Python.

    The Google style of griffe knows only `Examples:`, and would read `>>>` as quotations.
    """

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rename the section in the docstring of a module, class, function or attribute."""
        if obj.docstring is not None:
            obj.docstring.value = re.sub(
                r"^( *)Example:$", r"\1Examples:", obj.docstring.value, flags=re.MULTILINE
            )

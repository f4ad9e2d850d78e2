"""Catalogues: entries that are chosen by name, built in or added by other packages.

Games, methods, recipes and players are each one catalogue. An entry has a name and a one-line
summary; its code is given by an import path as text, such as
"equilibrist.solving.excessive_gap:ExcessiveGap", and is imported when it is first used. So a layer
can list what the layers above it provide, and listing imports nothing.

Another package adds entries by Python entry points: a group is named after the catalogue, such as
`equilibrist.methods`, and each entry point refers to an entry of the catalogue's type.
"""

from __future__ import annotations

import difflib
import importlib
import warnings
from collections.abc import Iterable, Iterator, Mapping
from importlib import metadata
from typing import Any, Generic, Protocol, TypeVar

from equilibrist.errors import UnknownNameError

_PRINTED = 60  # maximum number of characters of an unknown name in a message
_SIMILAR = 0.4  # minimum similarity of a suggested name, as `difflib` measures it


class _Entry(Protocol):
    @property
    def name(self) -> str: ...


E = TypeVar("E", bound=_Entry)


def load_object(path: str) -> Any:
    """Import the object at a path of the form "package.module:name".

    Example:
        >>> load_object("equilibrist.errors:UnknownNameError").__name__
        'UnknownNameError'
    """
    module, _, name = path.partition(":")
    return getattr(importlib.import_module(module), name)


class Catalogue(Mapping[str, E], Generic[E]):
    """Mapping of names to entries: the built-in ones in their order, then those of other packages.

    Example:
        >>> from dataclasses import dataclass
        >>> @dataclass
        ... class Colour:
        ...     name: str
        >>> colours = Catalogue("colour", [Colour("red"), Colour("green")])
        >>> list(colours), colours["green"]
        (['red', 'green'], Colour(name='green'))
        >>> colours["gren"]
        Traceback (most recent call last):
          ...
        equilibrist.errors.UnknownNameError: no colour is called 'gren'; did you mean green or red
    """

    def __init__(self, noun: str, entries: Iterable[E]) -> None:
        self.noun = noun
        self._entries = {entry.name: entry for entry in entries}
        self._types = tuple({type(entry) for entry in self._entries.values()})
        self._is_complete = False  # whether the entry points of other packages have been read

    def __getitem__(self, name: str) -> E:
        if name not in self._entries:
            self._add_entry_points()
        if name not in self._entries:
            raise self.unknown(name)
        return self._entries[name]

    def __iter__(self) -> Iterator[str]:
        self._add_entry_points()
        return iter(self._entries)

    def __len__(self) -> int:
        self._add_entry_points()
        return len(self._entries)

    def __contains__(self, name: object) -> bool:
        if name not in self._entries:
            self._add_entry_points()
        return name in self._entries

    def unknown(self, name: str) -> UnknownNameError:
        """Return the error for an unknown name, with suggestions of similar names."""
        names = list(self)
        similar = difflib.get_close_matches(name.lower(), names, n=3, cutoff=_SIMILAR)
        known = ", ".join(names)
        hint = f"did you mean {' or '.join(similar)}" if similar else f"{self.noun}s: {known}"
        return UnknownNameError(f"no {self.noun} is called {name[:_PRINTED]!r}; {hint}", value=name)

    def _add_entry_points(self) -> None:
        """Add the entries of installed packages; warn about each one that fails."""
        if self._is_complete:
            return
        self._is_complete = True
        for point in metadata.entry_points(group=f"equilibrist.{self.noun}s"):
            try:
                entry = point.load()
                if not isinstance(entry, self._types):
                    wanted = " or ".join(kind.__name__ for kind in self._types)
                    raise TypeError(f"{point.value} is not a {wanted}")
            except Exception as error:
                warnings.warn(
                    f"the {self.noun} {point.name} of another package is left out: {error}",
                    RuntimeWarning,
                    stacklevel=3,
                )
                continue
            self._entries.setdefault(entry.name, entry)

"""Catalogues: entries that are chosen by name, built in or added by other packages.

Games, methods, recipes, bots and players are each one catalogue. An entry has a name and a one-line
summary; its code is given by an import path as text, such as
"equilibrist.solving.excessive_gap:ExcessiveGap", and is imported when it is first used. So a layer
can list what the layers above it provide, and listing imports nothing.

Another package adds entries by Python entry points: a group is named after the catalogue, such as
`equilibrist.methods`, and each entry point refers to an entry of the catalogue's type. A script
adds an entry by `add`, a test by `added`.
"""

from __future__ import annotations

import contextlib
import difflib
import importlib
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import metadata
from typing import Any, Generic, Protocol, TypeVar, overload

from equilibrist.errors import UnknownNameError

_PRINTED = 60  # maximum number of characters of an unknown name in a message
_SIMILAR = 0.4  # minimum similarity of a suggested name, as `difflib` measures it


class _Entry(Protocol):
    @property
    def name(self) -> str: ...


E = TypeVar("E", bound=_Entry)
T = TypeVar("T")


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

    `kind` is the type of the entries (default: the types of the built-in ones). `more` returns
    entries that follow from another catalogue; they come after the built-in ones.

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
        >>> colours.add(Colour("blue"))
        >>> list(colours)
        ['red', 'green', 'blue']
    """

    def __init__(
        self,
        noun: str,
        entries: Iterable[E],
        *,
        kind: type[E] | None = None,
        more: Callable[[], Iterable[E]] = tuple,
    ) -> None:
        self.noun = noun
        self._entries = {entry.name: entry for entry in entries}
        self._types = (kind,) if kind else tuple({type(each) for each in self._entries.values()})
        self._more = more
        self._others: list[E] | None = None  # of other packages; None: not read yet

    def __getitem__(self, name: str) -> E:
        entries = self._entries if name in self._entries else self._all()
        if name not in entries:
            raise self.unknown(name)
        return entries[name]

    @overload
    def get(self, name: str, /) -> E | None: ...
    @overload
    def get(self, name: str, /, default: E | T) -> E | T: ...

    def get(self, name: str, /, default: Any = None) -> Any:
        """Return an entry, or the default if there is none of this name."""
        if name not in self:
            return default
        return self[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def __contains__(self, name: object) -> bool:
        return name in self._entries or name in self._all()

    def add(self, entry: E) -> None:
        """Add an entry in this process; it replaces a built-in entry of the same name."""
        self._check_type(entry, entry.name)
        self._entries[entry.name] = entry

    @contextlib.contextmanager
    def added(self, *entries: E) -> Iterator[None]:
        """Return a context in which the catalogue has more entries."""
        before = dict(self._entries)
        try:
            for entry in entries:
                self.add(entry)
            yield
        finally:
            self._entries = before

    def unknown(self, name: str) -> UnknownNameError:
        """Return the error for an unknown name, with suggestions of similar names."""
        names = list(self)
        similar = difflib.get_close_matches(name.lower(), names, n=3, cutoff=_SIMILAR)
        known = ", ".join(names)
        hint = f"did you mean {' or '.join(similar)}" if similar else f"{self.noun}s: {known}"
        return UnknownNameError(f"no {self.noun} is called {name[:_PRINTED]!r}; {hint}", value=name)

    def _all(self) -> dict[str, E]:
        """Return all entries by name; of two with one name, the first counts."""
        if self._others is None:
            self._others = []
            self._others += self._read_entry_points()
        found = dict(self._entries)
        for entry in (*self._more(), *self._others):
            found.setdefault(entry.name, entry)
        return found

    def _read_entry_points(self) -> Iterator[E]:
        """Yield the entries of installed packages; warn about each one that fails."""
        for point in metadata.entry_points(group=f"equilibrist.{self.noun}s"):
            try:
                entry = point.load()
                self._check_type(entry, point.value)
            except Exception as error:
                warnings.warn(
                    f"the {self.noun} {point.name} of another package is left out: {error}",
                    RuntimeWarning,
                    stacklevel=3,
                )
                continue
            yield entry

    def _check_type(self, entry: Any, text: str) -> None:
        if not isinstance(entry, self._types):
            wanted = " or ".join(kind.__name__ for kind in self._types)
            raise TypeError(f"{text} is not a {wanted}")

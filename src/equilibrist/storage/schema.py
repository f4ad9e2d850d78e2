"""Schemas of artefacts: declared once per kind and checked when an artefact is opened.

Compiled kernels trust their arrays: an index out of range would crash the process. So every opener
declares the arrays of its kind (`ArrayRule`) and reads the configuration through `Fields`; anything
that does not fit raises a `StorageError` that names the file, before any kernel reads it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from equilibrist.errors import EquilibristError, StorageError
from equilibrist.phases import phase
from equilibrist.storage.array_file import AnyArray, BlockwiseArray, blocks_of, damaged
from equilibrist.storage.artefact import Artefact, Identity
from equilibrist.storage.manifest import MANIFEST, MOST_TEXT, is_text, plain_text

_MOST_WHOLE = 2**62
_MOST_PATH = 4096
T = TypeVar("T")


@dataclass(frozen=True)
class ArrayRule:
    """The required type, shape and values of an array of an artefact.

    A length is a number, None for any, or a name that stands for the same number in all rules.
    """

    dtype: str | tuple[str, ...]  # NumPy's names, such as float64
    shape: tuple[int | str | None, ...]
    low: float | None = None  # least value
    high: float | None = None  # greatest value
    may_be_infinite: bool = False  # NaN is always refused
    is_ascending: bool = False  # no number is less than the previous one
    is_optional: bool = False

    def check_values(self, path: Path, array: AnyArray) -> None:
        """Raise `StorageError` if the array holds invalid values; reads it once."""
        last = None
        for block in blocks_of(array):
            low, high = block.min(), block.max()
            if block.dtype.kind == "f":
                fine = ~np.isnan(low) if self.may_be_infinite else np.isfinite([low, high]).all()
                if not fine:
                    raise damaged(path, "holds a number that is not finite")
            for number, is_wrong in (
                (low, self.low is not None and low < self.low),
                (high, self.high is not None and high > self.high),
            ):
                if is_wrong:
                    raise damaged(path, f"holds {number}, which is not {self._range()}")
            if self.is_ascending:
                if (last is not None and block[0] < last) or (block[1:] < block[:-1]).any():
                    raise damaged(path, "holds a number that is less than the previous one")
                last = block[-1]

    def _range(self) -> str:
        limits = ("at least", self.low), ("at most", self.high)
        return " and ".join(f"{word} {limit}" for word, limit in limits if limit is not None)


@phase("checking the range of every number")
def check_arrays(
    artefact: Identity, rules: Mapping[str, ArrayRule], *, only: str = "", but: str | None = None
) -> None:
    """Raise `StorageError` unless an artefact has exactly the arrays of these rules.

    Only arrays whose names start with `only` are checked; unknown names that start with `but` are
    allowed. The values of an `Artefact` are checked too; those of large arrays when they are read.
    """
    path = artefact.folder / MANIFEST
    names = [name for name in artefact.files if name.startswith(only)]
    for name in names:
        if name not in rules and (but is None or not name.startswith(but)):
            raise damaged(path, f"has an unknown array {name} for a {artefact.kind} of its game")
    lengths: dict[str, int] = {}
    for name, rule in rules.items():
        entry = artefact.files.get(name)
        if entry is None:
            if rule.is_optional:
                continue
            raise damaged(path, f"lacks the array {name}")
        file = artefact.folder / entry.file
        check_form(file, entry.dtype, entry.shape, rule, lengths)
        if not isinstance(artefact, Artefact):
            continue
        if name in artefact.large:
            _check_later(file, artefact.large[name], rule)
        else:
            rule.check_values(file, artefact.arrays[name])


class Fields:
    """Reads typed values from a JSON object of a manifest.

    Each method returns one field and raises `StorageError`, naming the field, if it is invalid;
    `optional` reads a field that may be missing.

    Example:
        >>> fields = Fields(Path("manifest.json"), "info", {"hands": 7})
        >>> fields.whole("hands"), fields.optional("seed", fields.whole)
        (7, None)
    """

    def __init__(self, path: Path, name: str, values: object) -> None:
        self._path, self._name = path, name
        if not isinstance(values, Mapping):
            raise damaged(path, f"has {name} that is not a JSON object")
        self._values = values

    @classmethod
    def configuration(cls, artefact: Identity) -> Fields:
        """Return the configuration of an `Artefact` or `Identity`."""
        return cls(artefact.folder / MANIFEST, "configuration", artefact.configuration)

    @classmethod
    def info(cls, artefact: Identity) -> Fields:
        """Return the further data that the writer of an `Artefact` or `Identity` added."""
        return cls(artefact.folder / MANIFEST, "info", artefact.info)

    @classmethod
    def timings(cls, artefact: Identity) -> Fields:
        """Return the timings of an `Artefact` or `Identity`."""
        return cls(artefact.folder / MANIFEST, "timings", artefact.timings)

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def whole(self, name: str, low: int = 0, high: int = _MOST_WHOLE) -> int:
        """Return a whole number from `low` to `high`."""
        value = self._values.get(name)
        if type(value) is not int or not low <= value <= high:
            raise self.error(name, f"a whole number from {low} to {high}")
        return value

    def number(self, name: str, low: float = -math.inf, high: float = math.inf) -> float:
        """Return a finite number from `low` to `high`."""
        value = self._values.get(name)
        if not _is_number(value, low, high):
            raise self.error(name, f"a number from {low} to {high}")
        return float(value)  # type: ignore[arg-type]

    def flag(self, name: str) -> bool:
        """Return true or false."""
        value = self._values.get(name)
        if type(value) is not bool:
            raise self.error(name, "true or false")
        return value

    def text(self, name: str, most: int = MOST_TEXT) -> str:
        """Return a text of at most `most` characters without control characters."""
        value = self._values.get(name)
        if not is_text(value, most):
            raise self.error(name, f"a text of at most {most:,} characters")
        assert isinstance(value, str)
        return value

    def lines(self, name: str, most: int = 100_000) -> str:
        """Return a text of several lines, such as the rules of a game."""
        value = self._values.get(name)
        if not isinstance(value, str) or len(value) > most:
            raise self.error(name, "a text")
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a list of short texts."""
        return tuple(value for value in self._list(name, is_text, "short texts"))

    def list_of_lines(self, name: str, most: int = 100_000) -> tuple[str, ...]:
        """Return a list of texts of several lines."""

        def is_right(value: object) -> bool:
            return isinstance(value, str) and len(value) <= most

        return tuple(self._list(name, is_right, "texts"))

    def wholes(self, name: str, low: int = 0, high: int = _MOST_WHOLE) -> tuple[int, ...]:
        """Return a list of whole numbers from `low` to `high`."""

        def is_whole(value: object) -> bool:
            return type(value) is int and low <= value <= high

        return tuple(self._list(name, is_whole, f"whole numbers from {low} to {high}"))

    def numbers(
        self, name: str, low: float = -math.inf, high: float = math.inf
    ) -> tuple[float, ...]:
        """Return a list of finite numbers from `low` to `high`."""
        wanted = f"numbers from {low} to {high}"
        found = self._list(name, lambda value: _is_number(value, low, high), wanted)
        return tuple(map(float, found))

    def rows(self, name: str, low: float, high: float) -> tuple[tuple[float, ...], ...]:
        """Return a list of lists of finite numbers from `low` to `high`."""

        def is_row(value: object) -> bool:
            return isinstance(value, list) and all(_is_number(n, low, high) for n in value)

        found = self._list(name, is_row, f"lists of numbers from {low} to {high}")
        return tuple(tuple(map(float, row)) for row in found)

    def choice(self, name: str, choices: tuple[T, ...]) -> T:
        """Return a text that is one of `choices`."""
        found = next((choice for choice in choices if choice == self._values.get(name)), None)
        if found is None:
            raise self.error(name, f"one of {', '.join(map(str, choices))}")
        return found

    def path(self, name: str) -> str:
        """Return the path of a file or folder."""
        return self.text(name, _MOST_PATH)

    def part(self, name: str) -> Fields:
        """Return the fields of a JSON object within this one."""
        return Fields(self._path, f"{self._name}.{name}", self._values.get(name))

    def optional(self, name: str, read: Callable[[str], T]) -> T | None:
        """Return a field as `read` returns it; None if the field is missing or null."""
        return None if self._values.get(name) is None else read(name)

    def names(self) -> tuple[str, ...]:
        """Return the names of all fields."""
        return tuple(self._values)

    def error(self, name: str, wanted: str) -> StorageError:
        """Return the error for a field that is not `wanted`."""
        where = plain_text(f"{self._name}.{name}")
        return damaged(self._path, f"has {where} that is not {wanted}")

    def _list(self, name: str, is_right: Callable[[Any], bool], wanted: str) -> list[Any]:
        value = self._values.get(name)
        if not isinstance(value, list) or not all(map(is_right, value)):
            raise self.error(name, f"a list of {wanted}")
        return value


def damaged_by(artefact: Identity, what: str, error: Exception) -> StorageError:
    """Return the error for an artefact that does not describe a valid `what`."""
    reason = str(error) if isinstance(error, EquilibristError) else type(error).__name__
    return damaged(
        artefact.folder / MANIFEST, f"does not describe {what}: {plain_text(reason, 300)}"
    )


def check_form(
    file: Path,
    dtype: str,
    shape: tuple[int, ...],
    rule: ArrayRule,
    lengths: dict[str, int],
) -> None:
    """Raise `StorageError`, naming the file, unless an array has the type and shape of its rule.

    `lengths` maps names of lengths to numbers; new names are added with the length found.
    """
    names = (rule.dtype,) if isinstance(rule.dtype, str) else rule.dtype
    if dtype not in [np.dtype(name).str for name in names]:
        raise damaged(file, f"holds {np.dtype(dtype)}, but {' or '.join(names)} is wanted")
    wanted = tuple(
        lengths.setdefault(length, own) if isinstance(length, str) else length
        for length, own in zip(rule.shape, shape, strict=False)
    )
    is_right = len(shape) == len(rule.shape) and all(
        length in (None, own) for length, own in zip(wanted, shape, strict=True)
    )
    if not is_right:
        right = [
            "any" if n is None else lengths.get(n, n) if isinstance(n, str) else n
            for n in rule.shape
        ]
        raise damaged(
            file, f"has shape {list(shape)}, but [{', '.join(map(str, right))}] is wanted"
        )


def _check_later(file: Path, array: BlockwiseArray, rule: ArrayRule) -> None:
    array.check = lambda part: rule.check_values(file, part)


def _is_number(value: Any, low: float, high: float) -> bool:
    return type(value) in (int, float) and abs(value) < 1e300 and low <= value <= high

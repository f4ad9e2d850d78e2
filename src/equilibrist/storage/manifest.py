"""The manifest of an artefact: its fields, its checksum, and the artefact's hash."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from equilibrist.errors import InvalidValueError, StorageError
from equilibrist.storage.array_file import ARRAY_NAME, ArrayFile, damaged
from equilibrist.storage.finite import check_finite_data
from equilibrist.storage.ownership import MANIFEST as MANIFEST
from equilibrist.storage.ownership import MOST_MANIFEST_BYTES, read_lock
from equilibrist.storage.regular_file import read_regular

FORMAT = "equilibrist-artefact"
VERSION = 1
_MOST_ARRAYS = 80_000  # per artefact; their entries take 16 MB
_MOST_LEVELS = 40  # of nested lists and objects; our manifests have fewer than ten
MOST_TEXT = 200  # maximum characters of a printable text in a manifest
# The fields that define an artefact; the others record how it was made.
_IDENTITY = ("kind", "version", "configuration", "seed", "parents")
FIELDS: dict[str, Callable[[Any], bool]] = {
    "kind": lambda value: is_text(value) and value != "",
    "generation": lambda value: type(value) is int and 0 < value < 10**11,
    "configuration": lambda value: isinstance(value, dict),
    "parents": lambda value: isinstance(value, dict) and all(map(is_text, _items(value))),
    "seed": lambda value: value is None or (type(value) is int and abs(value) < 2**128),
    "package_version": lambda value: is_text(value),
    "written": lambda value: is_text(value),
    "timings": lambda value: (
        isinstance(value, dict)
        and all(map(is_text, value))
        and all(type(number) in (int, float) and abs(number) < 1e18 for number in value.values())
    ),
    "info": lambda value: isinstance(value, dict),
    "arrays": lambda value: isinstance(value, dict) and len(value) <= _MOST_ARRAYS,
}


def read_manifest(folder: Path) -> dict[str, Any]:
    """Return the manifest of an artefact; raise `StorageError` if it is missing or damaged."""
    path = folder / MANIFEST
    try:
        content = read_regular(path, MOST_MANIFEST_BYTES)
        manifest = json.loads(content, parse_constant=_no_constant, parse_float=_finite)
    except (FileNotFoundError, NotADirectoryError):
        if read_lock(folder) is not None:
            raise damaged(folder, "is half-written: it has no manifest.json yet") from None
        raise damaged(folder, "is not an artefact: it has no manifest.json") from None
    except OSError as error:
        raise damaged(path, f"cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError):
        raise damaged(path, "is not JSON: it is altered or cut off") from None
    if not _is_shallow(manifest):
        raise damaged(path, f"is nested more than {_MOST_LEVELS} levels deep")
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise damaged(path, f"is not the manifest of an artefact: its format is not {FORMAT}")
    if type(manifest.get("version")) is not int or manifest["version"] != VERSION:
        found = plain_text(repr(manifest.get("version")), 20)
        raise damaged(path, f"has version {found}; this program reads version {VERSION}")
    if manifest.get("sha256") != digest(manifest):
        raise damaged(path, "was edited or damaged: its checksum does not match its contents")
    for field, is_right in FIELDS.items():
        if field not in manifest or not is_right(manifest[field]):
            raise damaged(path, f"has no {field}, or one of the wrong type")
    files_of(folder, manifest)
    return manifest


def manifest_text(folder: Path, manifest: dict[str, Any]) -> str:
    """Return the text of a manifest; raise `StorageError` if it could not be read back."""
    text = json.dumps(manifest, indent=1) + "\n"
    wrong = [field for field, is_right in FIELDS.items() if not is_right(manifest[field])]
    if wrong or len(text) > MOST_MANIFEST_BYTES:
        what = f"its {wrong[0]}" if wrong else f"a manifest of {len(text):,} bytes"
        raise StorageError(
            f"{folder} cannot hold {what}: the manifest could not be read back",
            value=str(folder),
        )
    return text


def files_of(folder: Path, manifest: dict[str, Any]) -> dict[str, ArrayFile]:
    """Return the array entries of a manifest by name."""
    try:
        for name in manifest["arrays"]:
            if not ARRAY_NAME.fullmatch(name):
                raise ValueError(f"{plain_text(name, 60)!r} is not an array name")
        return {name: ArrayFile.from_json(entry) for name, entry in manifest["arrays"].items()}
    except ValueError as error:
        raise damaged(folder / MANIFEST, f"does not describe its arrays: {error}") from None


def stored_files(folder: Path) -> dict[str, ArrayFile]:
    """Return the array entries of the artefact in a folder; {} if there is no manifest."""
    if not os.path.lexists(folder / MANIFEST):
        return {}
    return files_of(folder, read_manifest(folder))


def plain_json(content: dict[str, Any]) -> dict[str, Any]:
    """Return the content as JSON reads it back; raise `InvalidValueError` if JSON cannot hold it.

    Raises `SolverError`, naming its place, for a number that is not finite.
    """
    try:
        check_finite_data(content, "nothing was written", f"the {content.get('kind', 'manifest')}")
        return json.loads(json.dumps(content, allow_nan=False, default=_plain_value))
    except (ValueError, TypeError, RecursionError) as error:
        raise InvalidValueError(f"a manifest cannot hold this: {error}") from None


def _plain_value(value: object) -> object:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")


def plain_text(text: str, most: int = 80) -> str:
    r"""Return an untrusted text shortened and without characters that could harm a terminal.

    Example:
        >>> plain_text("a\x1b[2Jb", 10), plain_text("abcdefgh", 5)
        ('a?[2Jb', 'ab...')
    """
    shown = "".join(character if character.isprintable() else "?" for character in text[: most + 1])
    return shown if len(shown) <= most else f"{shown[: most - 3]}..."


def is_text(value: object, most: int = MOST_TEXT) -> bool:
    """Return whether a value is a printable text of at most `most` characters."""
    return isinstance(value, str) and len(value) <= most and value.isprintable()


def _items(values: dict[str, Any]) -> list[Any]:
    return [*values, *values.values()]


def _is_shallow(value: object) -> bool:
    """Return whether a value has few nested levels, so that no later step overflows the stack."""
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(_MOST_LEVELS):
        parts = (each.values() if isinstance(each, dict) else each for each in level)
        level = [each for many in parts for each in many if isinstance(each, dict | list)]
        if not level:
            return True
    return False


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)


def digest(manifest: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a manifest without its own checksum."""
    rest = {field: value for field, value in manifest.items() if field != "sha256"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def identity(manifest: Mapping[str, Any]) -> str:
    """Return the SHA-256 that identifies an artefact: its configuration, origin and arrays."""
    arrays = {
        name: [entry["dtype"], entry["shape"], entry["sha256"]]
        for name, entry in manifest["arrays"].items()
    }
    return digest({field: manifest[field] for field in _IDENTITY} | {"arrays": arrays})

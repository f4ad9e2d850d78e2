"""The manifest of an artefact: what it must hold, its checksum, and the artefact's hash."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from equilibrist.errors import InvalidValueError
from equilibrist.storage.array_file import ArrayFile, damaged
from equilibrist.storage.ownership import MANIFEST as MANIFEST
from equilibrist.storage.ownership import MOST_MANIFEST_BYTES, read_lock
from equilibrist.storage.regular_file import read_regular

FORMAT = "equilibrist-artefact"
VERSION = 1
# What makes an artefact what it is; the rest says how it came to be.
_IDENTITY = ("kind", "version", "configuration", "seed", "parents")
FIELDS: dict[str, type | tuple[type, ...]] = {
    "kind": str,
    "generation": int,
    "configuration": dict,
    "parents": dict,
    "seed": (int, type(None)),
    "package_version": str,
    "written": str,
    "timings": dict,
    "info": dict,
    "arrays": dict,
}


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of an artefact, whole and unaltered."""
    path = folder / MANIFEST
    try:
        manifest = json.loads(read_regular(path, MOST_MANIFEST_BYTES), parse_constant=_no_constant)
    except (FileNotFoundError, NotADirectoryError):
        if read_lock(folder) is not None:
            raise damaged(folder, "is half-written: it has no manifest.json yet") from None
        raise damaged(folder, "is no artefact: it has no manifest.json") from None
    except OSError as error:
        raise damaged(path, f"cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError):
        raise damaged(path, "is not JSON: it is altered or cut") from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise damaged(path, f"is not the manifest of an artefact: its format is not {FORMAT}")
    if manifest.get("version") != VERSION:
        raise damaged(
            path, f"has version {manifest.get('version')!r}; this program reads version {VERSION}"
        )
    if manifest.get("sha256") != digest(manifest):
        raise damaged(path, "was edited or damaged: its checksum is not the one it states")
    for field, wanted in FIELDS.items():
        if not isinstance(manifest.get(field), wanted):
            raise damaged(path, f"has no {field}, or not one of the right type")
    files_of(folder, manifest)
    return manifest


def files_of(folder: Path, manifest: dict[str, Any]) -> dict[str, ArrayFile]:
    """What a manifest says of its arrays, by name."""
    try:
        return {name: ArrayFile.from_json(entry) for name, entry in manifest["arrays"].items()}
    except ValueError as error:
        raise damaged(folder / MANIFEST, f"does not describe its arrays: {error}") from None


def stored_files(folder: Path) -> dict[str, ArrayFile]:
    """The arrays of the artefact that is in the folder now, none where there is no manifest."""
    if not (folder / MANIFEST).exists():
        return {}
    return files_of(folder, read_manifest(folder))


def plain_json(content: dict[str, Any]) -> dict[str, Any]:
    """The content as JSON reads it back; `InvalidValueError` where JSON cannot hold it."""
    try:
        return json.loads(json.dumps(content, allow_nan=False, default=_plain_value))
    except (ValueError, TypeError, RecursionError) as error:
        raise InvalidValueError(f"a manifest cannot hold this: {error}") from None


def _plain_value(value: object) -> object:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)


def digest(manifest: Mapping[str, Any]) -> str:
    """SHA-256 of a manifest without its own checksum."""
    rest = {field: value for field, value in manifest.items() if field != "sha256"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def identity(manifest: Mapping[str, Any]) -> str:
    """SHA-256 of what an artefact is: its configuration, origin and arrays."""
    arrays = {
        name: [entry["dtype"], entry["shape"], entry["sha256"]]
        for name, entry in manifest["arrays"].items()
    }
    return digest({field: manifest[field] for field in _IDENTITY} | {"arrays": arrays})

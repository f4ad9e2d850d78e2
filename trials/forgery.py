"""Forge and damage folders, as a stranger or a bad disk could.

A forgery has matching checksums: those of array files and manifest are recomputed and, half of the
time, the hashes by which other folders refer to it. Damage leaves all checksums unchanged.

The format is implemented here a second time on purpose: a stranger does not use our writer.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import pickle
import random
import re
import stat
import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy

MANIFEST, LOCK = "manifest.json", "lock"
# What a reader may do with a forgery.
ANY = "any"  # it may be another valid artefact, which has other results
IMPOSSIBLE = "impossible"  # no writer writes this: refuse it, or do not be affected
FORBIDDEN = "forbidden"  # refuse it
_INDEX = ("first", "parents", "buckets")  # arrays of an abstraction that point into others
_FREE_ROWS = ("trace", "cycles")  # arrays with one row per evaluation
_NEVER_NEGATIVE = ("plan", "behaviour", "average", "wins", "ties", "losses", "start", "step")
_MOST = 2**26  # bytes of a manifest
block_bytes = 0  # of a block that has a checksum of its own; 0: arrays have no blocks
_ESCAPES = "\x1b[31m\x1b]0;owned\x07\r\n\x00\x9b2J"


@dataclass
class Forged:
    """The alteration of a folder."""

    recipe: str
    words: str
    allowed: str = ANY
    as_text: bool = False  # commands print text instead of JSON
    needs_writer: bool = False  # a command that writes into the folder must be among the readers


@dataclass
class Draft:
    """A copy of a genuine folder that is being altered."""

    folder: Path
    outside: Path  # folder that must not change
    others: list[Path]  # other genuine folders, of the same kind if there are some
    rng: random.Random
    manifest: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.manifest = json.loads((self.folder / MANIFEST).read_bytes())

    @property
    def names(self) -> list[str]:
        """Return the names of the arrays."""
        return sorted(self.manifest["arrays"])

    def path(self, name: str) -> Path:
        """Return the file of an array."""
        return self.folder / self.manifest["arrays"][name]["file"]

    def array(self, name: str) -> np.ndarray:
        """Return a copy of an array."""
        return np.load(self.path(name), allow_pickle=False)

    def pick(self, *parts: str) -> str | None:
        """Return the name of a random array that contains one of `parts`; None if there is none."""
        names = [name for name in self.names if not parts or any(part in name for part in parts)]
        return self.rng.choice(names) if names else None

    def put(self, name: str, array: np.ndarray) -> None:
        """Replace or add an array, with NumPy's header and matching checksums."""
        stream = io.BytesIO()
        npy.write_array(stream, np.asarray(array), version=(1, 0), allow_pickle=False)
        self.put_bytes(name, stream.getvalue(), array.dtype.str, list(array.shape))

    def put_bytes(
        self, name: str, content: bytes, dtype: str | None = None, shape: list[int] | None = None
    ) -> None:
        """Replace the file of an array, and its entry in the manifest."""
        arrays = self.manifest["arrays"]
        file = f"{name}-{self.manifest['generation']:06d}.npy"
        entry = dict(arrays.get(name) or {"file": file, "dtype": dtype, "shape": shape})
        path = self.folder / entry["file"]
        with contextlib.suppress(OSError):
            path.unlink()
        path.write_bytes(content)
        entry["dtype"] = entry["dtype"] if dtype is None else dtype
        entry["shape"] = entry["shape"] if shape is None else shape
        arrays[name] = _signed(entry, content)

    def sign(self) -> None:
        """Write the manifest with its right checksum."""
        sign(self.folder, self.manifest)


def digest(manifest: dict[str, Any]) -> str:
    """Return the checksum of a manifest."""
    rest = {name: value for name, value in manifest.items() if name != "sha256"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def identity(manifest: dict[str, Any]) -> str:
    """Return the hash by which other artefacts refer to this one."""
    arrays = {
        name: [entry["dtype"], entry["shape"], entry["sha256"]]
        for name, entry in manifest["arrays"].items()
    }
    names = ("kind", "version", "configuration", "seed", "parents")
    return digest({name: manifest[name] for name in names} | {"arrays": arrays})


def sign(folder: Path, manifest: dict[str, Any]) -> None:
    """Write a manifest with its right checksum."""
    manifest["sha256"] = digest(manifest)
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n")


def _signed(entry: dict[str, Any], content: bytes) -> dict[str, Any]:
    """Return the entry of an array with matching checksums, including those of its blocks."""
    known = {name: entry[name] for name in ("file", "dtype", "shape")}
    known["sha256"] = hashlib.sha256(content).hexdigest()
    if "blocks" in entry and block_bytes:
        parts = range(0, len(content), block_bytes)
        blocks = [hashlib.sha256(content[i : i + block_bytes]).hexdigest() for i in parts]
        known["blocks"] = blocks
    return known


def update_references(home: Path, folder: Path, old: str) -> None:
    """Update every artefact that refers to `old` to the new hash of the folder."""
    changed = [(old, _identity_of(folder))]
    for before, after in changed:
        for path in sorted(home.rglob(MANIFEST)):
            manifest = read_plain(path.parent)
            if manifest is None or after is None or before == after or path.parent == folder:
                continue
            text = json.dumps(manifest)
            if before in text:
                was = identity(manifest)
                new = json.loads(text.replace(before, after))
                sign(path.parent, new)
                changed.append((was, identity(new)))


def read_plain(folder: Path) -> dict[str, Any] | None:
    """Return the manifest of a folder; None unless it is a plain file with a JSON object."""
    path = folder / MANIFEST
    try:
        size = path.lstat().st_size if path.is_file() and not path.is_symlink() else _MOST
        manifest = json.loads(path.read_bytes()) if size < _MOST else None
    except (OSError, ValueError, RecursionError):
        return None
    return manifest if isinstance(manifest, dict) else None


def _identity_of(folder: Path) -> str | None:
    try:
        return identity(read_plain(folder) or {})
    except (KeyError, TypeError, AttributeError, RecursionError):
        return None


# --- arrays ---------------------------------------------------------------------------------------

Recipe = Callable[[Draft], Forged | None]
FORGERIES: dict[str, Recipe] = {}


def _recipe(function: Recipe) -> Recipe:
    FORGERIES[function.__name__.removeprefix("_").replace("_", " ")] = function
    return function


@_recipe
def _wrong_length(draft: Draft) -> Forged | None:
    name = draft.pick()
    if name is None:
        return None
    array = np.atleast_1d(draft.array(name))
    size = len(array)
    much = draft.rng.choice([0, 1, size - 1, size + 1, 2 * size, size + 1000, size // 2])
    much = max(much, 0)
    if much == size:
        much += 1
    rows = np.arange(much) % max(size, 1)
    new = array[rows] if size else np.zeros((much, *array.shape[1:]), array.dtype)
    draft.put(name, new)
    allowed = ANY if name in _FREE_ROWS else IMPOSSIBLE
    return Forged("", f"{name} has {much} rows instead of {size}", allowed)


@_recipe
def _wrong_shape(draft: Draft) -> Forged | None:
    name = draft.pick()
    if name is None:
        return None
    array = draft.array(name)
    shapes = [(1, *array.shape), (*array.shape, 1), (array.size,), (0, *array.shape[1:])]
    if array.ndim > 1:
        shapes += [array.shape[::-1], (array.shape[0], array.shape[1] + 1, *array.shape[2:])]
        shapes += [(array.shape[0], max(array.shape[1] - 1, 0), *array.shape[2:])]
    if array.size:
        shapes += [(), (1,)]
    shapes = [shape for shape in shapes if shape != array.shape]
    shape = draft.rng.choice(shapes)
    draft.put(name, np.resize(array, shape).astype(array.dtype))
    allowed = ANY if name in _FREE_ROWS else IMPOSSIBLE
    return Forged("", f"{name} has shape {shape} instead of {array.shape}", allowed)


@_recipe
def _wrong_dtype(draft: Draft) -> Forged | None:
    name = draft.pick()
    if name is None:
        return None
    array = draft.array(name)
    wide = ["<f4", "<f8", "<i8", "<i4", "<i2", "|i1", "|u1"]
    others = ["<f2", "<c16", "|b1", "|S8", "<U4", ">f8", ">i4", "<u8", ">f4"]
    found = draft.rng.choice([kind for kind in wide + others if kind != array.dtype.str])
    with np.errstate(all="ignore"):
        draft.put(name, array.astype(found))
    allowed = ANY if found in wide else IMPOSSIBLE
    return Forged("", f"{name} is of {found} instead of {array.dtype.str}", allowed)


@_recipe
def _other_order(draft: Draft) -> Forged | None:
    name = draft.pick()
    if name is None:
        return None
    array = draft.array(name)
    if array.ndim < 2:
        array = array.reshape(-1, 1)
    draft.put(name, np.asfortranarray(array))
    return Forged("", f"{name} in Fortran's order")


@_recipe
def _not_finite(draft: Draft) -> Forged | None:
    names = [name for name in draft.names if draft.manifest["arrays"][name]["dtype"][1] == "f"]
    if not names:
        return None
    name = draft.rng.choice(names)
    array = draft.array(name)
    if not array.size:
        return None
    value = draft.rng.choice([np.nan, np.inf, -np.inf])
    where = _somewhere(array, draft.rng)
    array[where] = value
    draft.put(name, array)
    return Forged("", f"{name}: {value} {_many(where)}", IMPOSSIBLE)


@_recipe
def _odd_numbers(draft: Draft) -> Forged | None:
    name = draft.pick()
    if name is None:
        return None
    array = draft.array(name)
    if not array.size:
        return None
    where, allowed = _somewhere(array, draft.rng), ANY
    if array.dtype.kind == "f":
        values = [5e-324, 1e-40, 1e300, 3e38, -1.0, -1e300, 0.0, 1.0, 1e18]
        value = draft.rng.choice(values)
        if value < 0 and any(part in name for part in _NEVER_NEGATIVE):
            allowed = IMPOSSIBLE
    else:
        ends = np.iinfo(array.dtype) if array.dtype.kind in "iu" else np.iinfo(np.uint8)
        value = draft.rng.choice([ends.max, ends.min, -2 if ends.min else 7, 100, 1000, 0])
        if array.dtype.kind == "b":
            value = True
        if name.startswith(_INDEX) and value not in (0, -2 if ends.min else 7):
            allowed = IMPOSSIBLE
    with np.errstate(all="ignore"):
        array[where] = np.array(value).astype(array.dtype)
    draft.put(name, array)
    return Forged("", f"{name}: {value} {_many(where)}", allowed)


def _somewhere(array: np.ndarray, rng: random.Random) -> Any:
    """Return the index of one number, or of all."""
    if rng.random() < 0.3:
        return ...
    return np.unravel_index(rng.randrange(array.size), array.shape)


def _many(where: Any) -> str:
    return "everywhere" if where is ... else f"at {tuple(int(i) for i in where)}"


@_recipe
def _out_of_range(draft: Draft) -> Forged | None:
    """Replace an index by one beyond the array that it points into."""
    name = draft.pick(*_INDEX, "basis", "opening", "done", "iteration")
    if name is None:
        return None
    array = draft.array(name)
    if array.dtype.kind not in "iu":
        return None
    ends = np.iinfo(array.dtype)
    value = draft.rng.choice([ends.max, ends.min, int(array.max()) + 1, int(array.max()) + 5000])
    where = _somewhere(array, draft.rng)
    array[where] = min(value, ends.max)
    draft.put(name, array)
    allowed = IMPOSSIBLE if name.startswith(_INDEX) and value != ends.min else ANY
    return Forged("", f"{name}: {value} {_many(where)}", allowed)


@_recipe
def _swapped_players(draft: Draft) -> Forged | None:
    names = [name for name in draft.names if name.endswith("0") and name[:-1] + "1" in draft.names]
    if not names:
        return None
    name = draft.rng.choice(names)
    other = name[:-1] + "1"
    first, second = draft.array(name), draft.array(other)
    draft.put(name, second)
    draft.put(other, first)
    return Forged("", f"{name} and {other} changed about")


@_recipe
def _swapped_arrays(draft: Draft) -> Forged | None:
    if len(draft.names) < 2:
        return None
    name, other = draft.rng.sample(draft.names, 2)
    first, second = draft.array(name), draft.array(other)
    draft.put(name, second)
    draft.put(other, first)
    is_same = first.shape == second.shape and first.dtype == second.dtype
    free = name in _FREE_ROWS or other in _FREE_ROWS
    allowed = ANY if is_same or free else IMPOSSIBLE
    return Forged("", f"{name} and {other} changed about", allowed)


@_recipe
def _array_of_another(draft: Draft) -> Forged | None:
    """Replace an array by one of the same name from another folder."""
    for folder in draft.rng.sample(draft.others, len(draft.others)):
        manifest = json.loads((folder / MANIFEST).read_bytes())
        names = sorted(set(manifest["arrays"]) & set(draft.names))
        if names:
            name = draft.rng.choice(names)
            draft.put(name, np.load(folder / manifest["arrays"][name]["file"]))
            return Forged("", f"{name} of {folder.parent.name}/{folder.name}")
    return None


@_recipe
def _missing_array(draft: Draft) -> Forged | None:
    name = draft.pick()
    if name is None:
        return None
    if draft.rng.random() < 0.5:
        draft.path(name).unlink()
    del draft.manifest["arrays"][name]
    return Forged("", f"without {name}", IMPOSSIBLE)


@_recipe
def _extra_array(draft: Draft) -> Forged | None:
    name = draft.rng.choice(["extra", "state.extra", "plan2", "round9.0", "state.", "buckets9"])
    draft.put(name, np.arange(draft.rng.choice([0, 1, 1000]), dtype=np.float64))
    return Forged("", f"with {name}", IMPOSSIBLE)


@_recipe
def _one_file_twice(draft: Draft) -> Forged | None:
    if len(draft.names) < 2:
        return None
    name, other = draft.rng.sample(draft.names, 2)
    draft.manifest["arrays"][name] = dict(draft.manifest["arrays"][other])
    return Forged("", f"{name} is the file of {other}")


# --- array files ----------------------------------------------------------------------------------


class _Touch:
    """A pickle that creates a file when it is loaded."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return (Path.touch, (self.path,))


def _header(text: str, version: int = 1, padding: int = 64) -> bytes:
    """Return a header of an array file with any text."""
    length = len(text) + 1
    width = 2 if version == 1 else 4
    total = 8 + width + length
    spaces = -total % padding
    content = (text + " " * spaces + "\n").encode("utf-8")
    magic = b"\x93NUMPY" + bytes([version, 0])
    return magic + len(content).to_bytes(width, "little") + content


@_recipe
def _odd_header(draft: Draft) -> Forged | None:
    """Write a header that differs from NumPy's."""
    name = draft.pick()
    if name is None:
        return None
    array = draft.array(name)
    data = array.tobytes()
    text = f"{{'descr': {array.dtype.str!r}, 'fortran_order': False, 'shape': {array.shape}, }}"
    headers = {
        "version 2": _header(text, version=2),
        "version 3": _header(text, version=3),
        "version 9": _header(text, version=9),
        "more padding": _header(text + " " * 128),
        "huge header": _header(text + " " * 60_000),
        "no padding": _header(text, padding=1),
        "another key": _header(text.replace("}", "'more': 1, }")),
        "keys in another order": _header(
            f"{{'shape': {array.shape}, 'fortran_order': False, 'descr': {array.dtype.str!r}, }}"
        ),
        "fortran_order 1": _header(text.replace("False", "1")),
        "shape of a list": _header(text.replace(str(array.shape), str(list(array.shape)))),
        "deep nesting": _header("[" * 5000 + text + "]" * 5000),
        "a call": _header(text.replace("False", "__import__('os').getpid()")),
        "no dictionary": _header("1"),
        "not closed": _header(text[:-4]),
        "null bytes": _header(text + "\0" * 20),
        "descr of a record": _header(
            text.replace(repr(array.dtype.str), f"[('x', {array.dtype.str!r})]")
        ),
    }
    what = draft.rng.choice(sorted(headers))
    draft.put_bytes(name, headers[what] + data)
    return Forged("", f"{name}: {what}", FORBIDDEN)


@_recipe
def _pickled_array(draft: Draft) -> Forged | None:
    name = draft.pick()
    if name is None:
        return None
    touch = pickle.dumps(_Touch(draft.outside / "ran"))
    shape = tuple(draft.manifest["arrays"][name]["shape"])
    text = f"{{'descr': '|O', 'fortran_order': False, 'shape': {shape}, }}"
    content = draft.rng.choice([_header(text) + touch, touch])
    dtype = draft.rng.choice([None, "|O", "|S8"])
    draft.put_bytes(name, content, dtype)
    return Forged("", f"{name} is a pickle, dtype {dtype}", FORBIDDEN)


@_recipe
def _wrong_size(draft: Draft) -> Forged | None:
    name = draft.pick()
    if name is None:
        return None
    content = draft.path(name).read_bytes()
    more = draft.rng.choice([-1, -8, -len(content), -(len(content) // 2), 1, 8, 100_000])
    new = content[:more] if more < 0 else content + bytes(more)
    if more <= -len(content):
        new = b""
    draft.put_bytes(name, new)
    return Forged("", f"{name}: {len(new)} bytes instead of {len(content)}", FORBIDDEN)


# --- what a manifest says -------------------------------------------------------------------------


def _leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Return paths to everything below a JSON value."""
    if path:
        yield path
    if isinstance(value, dict):
        for name, part in value.items():
            yield from _leaves(part, (*path, name))
    elif isinstance(value, list):
        for number, part in enumerate(value[:20]):
            yield from _leaves(part, (*path, number))


def _at(manifest: dict[str, Any], path: tuple[Any, ...]) -> Any:
    found: Any = manifest
    for part in path:
        found = found[part]
    return found


def _set(manifest: dict[str, Any], path: tuple[Any, ...], value: Any) -> None:
    _at(manifest, path[:-1])[path[-1]] = value


def _settings(draft: Draft) -> list[tuple[Any, ...]]:
    """Return paths to the settings of the artefact, without its arrays."""
    names = ("configuration", "info", "timings", "seed", "parents")
    rest = {name: draft.manifest[name] for name in names}
    return list(_leaves(rest))


def _nested(depth: int) -> Any:
    found: Any = 0
    for _ in range(depth):
        found = [found]
    return found


def _strange(rng: random.Random, value: Any) -> tuple[Any, str]:
    """Return a value of another type or size, and whether a writer could have written it.

    Numbers and texts of the right type may be another valid setting.
    """
    choices: list[tuple[Any, str]] = [
        (None, "null"), ([], "[]"), ({}, "{}"), (True, "true"), ("text", "a text"), ("", '""'),
        (-1, "-1"), (0, "0"), (1.5, "1.5"), (2**63, "2^63"), (10**30, "10^30"),
        (-(10**400), "-10^400"), (1e300, "1e300"), ("9" * 5000, "5,000 digits"),
        ("x" * 1_000_000, "a million letters"), (_nested(100), "100 brackets"),
        (_nested(900), "900 brackets"), ("../../../etc/passwd", "a path"),
        ("\ud800", "half a pair"),
        (["a", 1, None], "a list"), ({"a": {"b": []}}, "a dictionary"), ("nan", "'nan'"),
    ]  # fmt: skip
    found, words = rng.choice(choices)
    same = isinstance(found, str) and isinstance(value, str)
    numbers = (int, float)
    is_number = isinstance(found, numbers) and isinstance(value, numbers)
    same = same or (is_number and not isinstance(found, bool)) or value is None or found is None
    return found, words if same else f"{words} "  # a space marks what no writer writes


@_recipe
def _strange_setting(draft: Draft) -> Forged | None:
    path = draft.rng.choice(_settings(draft))
    value, words = _strange(draft.rng, _at(draft.manifest, path))
    _set(draft.manifest, path, value)
    allowed = IMPOSSIBLE if words.endswith(" ") else ANY
    if path[0] in ("timings", "parents"):
        allowed = ANY
    return Forged("", f"{_name(path)} is {words.strip()}", allowed)


_recipe_again = _strange_setting  # listed twice, because this recipe has the most cases
FORGERIES["strange setting again"] = _recipe_again


@_recipe
def _number_altered(draft: Draft) -> Forged | None:
    """Change a number of the configuration, of the certificate or of another section."""
    paths = [
        path
        for path in _settings(draft)
        if isinstance(_at(draft.manifest, path), int | float)
        and not isinstance(_at(draft.manifest, path), bool)
    ]
    if not paths:
        return None
    path = draft.rng.choice(paths)
    old = _at(draft.manifest, path)
    new = draft.rng.choice([old + 1, -old, 2 * old, 0, 10**9, old + 1e-3, 1e-300])
    _set(draft.manifest, path, new)
    return Forged("", f"{_name(path)} is {new} instead of {old}")


@_recipe
def _setting_removed(draft: Draft) -> Forged | None:
    paths = [path for path in _settings(draft) if isinstance(path[-1], str) and len(path) > 1]
    if not paths:
        return None
    path = draft.rng.choice(paths)
    del _at(draft.manifest, path[:-1])[path[-1]]
    return Forged("", f"without {_name(path)}")


@_recipe
def _setting_added(draft: Draft) -> Forged | None:
    name = draft.rng.choice(["configuration", "info", "parents", "timings"])
    where = [draft.manifest[name]]
    where += [part for part in draft.manifest[name].values() if isinstance(part, dict)]
    key = draft.rng.choice(["extra", "unfinished", "done", "sample", "flops", "__class__", "self"])
    value, words = _strange(draft.rng, None)
    draft.rng.choice(where)[key] = value
    return Forged("", f"{name} with {key}: {words.strip()}")


@_recipe
def _other_method(draft: Draft) -> Forged | None:
    paths = [
        path
        for path in _settings(draft)
        if path[-1] in ("method", "bits", "update", "recipe", "dtype", "symmetry", "leaves")
    ]
    if not paths:
        return None
    path = draft.rng.choice(paths)
    values = {
        "bits": [16, 32, 8, 64], "update": ["regret", "exponential", "no"],
        "recipe": ["percentile", "lossless", "strength-potential", "no"],
        "dtype": ["float32", "float64", "float16", "object"],
        "symmetry": ["cards", "suits", "ranks", "no"], "leaves": ["dense", "sorted", "no"],
    }  # fmt: skip
    methods = ["cfr+", "dcfr", "cfr", "pcfr+", "egt", "lp", "mccfr", "pcs", "double-oracle",
               "range-of-skill", "unknown", _ESCAPES]  # fmt: skip
    old = _at(draft.manifest, path)
    new = draft.rng.choice([v for v in values.get(path[-1], methods) if v != old])
    _set(draft.manifest, path, new)
    return Forged("", f"{_name(path)} is {new!r} instead of {old!r}")


@_recipe
def _other_game(draft: Draft) -> Forged | None:
    """Use the configuration of another artefact, or rules with other numbers."""
    texts = [
        path
        for path in _settings(draft)
        if isinstance(_at(draft.manifest, path), str) and "GAMEDEF" in _at(draft.manifest, path)
    ]
    if texts and draft.rng.random() < 0.7:
        path = draft.rng.choice(texts)
        text = _at(draft.manifest, path)
        lines = text.splitlines()
        places = [i for i, line in enumerate(lines) if "=" in line]
        place = draft.rng.choice(places)
        name, _, numbers = lines[place].partition("=")
        new = draft.rng.choice(
            ["0", "-1", "99", "999999999999", numbers + numbers, "", "x", "9" * 5000, "1 1", "2",
             "3 3 3 3", "4", _ESCAPES]
        )  # fmt: skip
        lines[place] = f"{name}= {new}"
        _set(draft.manifest, path, "\n".join(lines))
        return Forged("", f"{_name(path)}: {name.strip()} = {new[:20]!r}")
    if not draft.others:
        return None
    folder = draft.rng.choice(draft.others)
    other = json.loads((folder / MANIFEST).read_bytes())
    draft.manifest["configuration"] = other["configuration"]
    return Forged("", f"configuration of {folder.parent.name}/{folder.name}")


@_recipe
def _huge_game(draft: Draft) -> Forged | None:
    """Use rules or bets of a game that is too large for any machine."""
    paths = [path for path in _settings(draft) if isinstance(_at(draft.manifest, path), str)]
    rules = [path for path in paths if "GAMEDEF" in _at(draft.manifest, path)]
    if not rules:
        return None
    path = draft.rng.choice(rules)
    text = _at(draft.manifest, path)
    for name, number in (("numSuits", 4), ("numRanks", 13)):
        text = re.sub(rf"{name} *= *[0-9]+", f"{name} = {number}", text)
    if draft.rng.random() < 0.5:  # full hold'em
        text = re.sub(r"(numHoleCards *= *)[0-9]+", r"\g<1>2", text)
        text = re.sub(r"(numBoardCards *= *0 )[0-9]+", r"\g<1>3", text)
    _set(draft.manifest, path, text)
    bets = draft.rng.random() < 0.5
    if bets:
        sizes = ",".join(f"{n}%" for n in range(20, 60))
        for path in _settings(draft):
            if path[-1] in ("bets", "raises"):
                _set(draft.manifest, path, sizes)
    # A spot on the last street may be the same with more cards: few hands are held.
    return Forged("", f"rules of 52 cards{', 40 bet sizes' if bets else ''}")


@_recipe
def _escape_sequences(draft: Draft) -> Forged | None:
    """Put control characters into a text that may be printed."""
    paths = [path for path in _settings(draft) if isinstance(_at(draft.manifest, path), str)]
    names = [("kind",), ("package_version",), ("written",), ("version",), ("format",)]
    path = draft.rng.choice(paths + names if paths else names)
    _set(draft.manifest, path, f"{_at(draft.manifest, path)}{_ESCAPES}")
    return Forged("", f"escape sequences in {_name(path)}", as_text=True)


@_recipe
def _escapes_in_names(draft: Draft) -> Forged | None:
    """Put control characters into the name of an array, of a setting or of a unit."""
    which = draft.rng.randrange(3)
    if which == 0:
        name = draft.pick()
        if name is None:
            return None
        arrays = draft.manifest["arrays"]
        arrays[name + _ESCAPES] = arrays.pop(name)
        return Forged("", f"escape sequences in the name of {name}", as_text=True)
    section = draft.manifest[draft.rng.choice(["configuration", "info", "timings", "parents"])]
    section[_ESCAPES] = _ESCAPES
    if which == 2:
        for path in _settings(draft):
            if path[-1] in ("unit", "name", "strategy", "method", "identity"):
                _set(draft.manifest, path, _ESCAPES)
    return Forged("", "escape sequences in the name of a setting", as_text=True)


@_recipe
def _other_kind(draft: Draft) -> Forged | None:
    kinds = ["solution", "spot", "abstraction", "joint", "ends", "strategy", "transitions",
             "level training", "decision training", "real-game response", "none", ""]  # fmt: skip
    kind = draft.rng.choice([kind for kind in kinds if kind != draft.manifest["kind"]])
    draft.manifest["kind"] = kind
    return Forged("", f"kind {kind!r}", IMPOSSIBLE)


@_recipe
def _odd_entry(draft: Draft) -> Forged | None:
    """Change what the manifest states about an array: file name, shape or type."""
    name = draft.pick()
    if name is None:
        return None
    entry = draft.manifest["arrays"][name]
    files = ["../outside-000001.npy", "/etc/passwd", "a/../b-000001.npy", "", ".", "manifest.json",
             "lock", "x-000001.npy\n", "x-1.npy", "X" * 300 + "-000001.npy", None, 7,
             f"../{draft.folder.name}/{entry['file']}", entry["file"].upper()]  # fmt: skip
    shapes = [[2**62], [-1], [True], [1.5], ["1"], [[1]], [2**32, 2**32], [10**30], {}, None, 3,
              [0, 2**62], [1] * 70, [2**40], [*entry["shape"][::-1], 1]]  # fmt: skip
    dtypes = ["|O8", "O", "<f8 ", "<V8", "float64", "<M8[s]", "<f99", "<i3", "<f0", "<U0", "|S0",
              "<S9999", None, 8, ["<f8"], "<f16", "<c32", ">f8", "=f8"]  # fmt: skip
    digests = ["", "0" * 63, entry["sha256"].upper(), None, "z" * 64]
    choices = {"file": files, "shape": shapes, "dtype": dtypes, "sha256": digests}
    which = draft.rng.choice(sorted(choices))
    value = draft.rng.choice(choices[which])
    entry[which] = value
    return Forged("", f"{name}: {which} {str(value)[:60]!r}", IMPOSSIBLE)


@_recipe
def _odd_blocks(draft: Draft) -> Forged | None:
    """Change checksums of blocks, or add some to an artefact without blocks."""
    name = draft.pick()
    if name is None:
        return None
    entry = draft.manifest["arrays"][name]
    old = entry.get("blocks", [])
    zero = "0" * 64
    new = draft.rng.choice([[], [zero], [zero] * 1000, [*old, zero], old[:-1], old[::-1], "x", {}])
    if new == entry.get("blocks"):
        new = [zero]
    entry["blocks"] = new
    return Forged("", f"{name}: {len(new)} blocks instead of {len(old)}", IMPOSSIBLE)


@_recipe
def _array_named_oddly(draft: Draft) -> Forged | None:
    name = draft.pick()
    if name is None:
        return None
    new = draft.rng.choice(["../up", "", "a/b", ".", "x" * 1000, "plan0\n", "state.", "é", "-"])
    draft.manifest["arrays"][new] = draft.manifest["arrays"].pop(name)
    return Forged("", f"{name} is called {new[:20]!r}", IMPOSSIBLE)


@_recipe
def _other_generation(draft: Draft) -> Forged | None:
    value = draft.rng.choice([0, -1, 10**6, 10**12, 10**30, True, 1.0, "2", None, 999_999])
    draft.manifest["generation"] = value
    return Forged("", f"generation {value!r}")


@_recipe
def _odd_version(draft: Draft) -> Forged | None:
    field = draft.rng.choice(["version", "format", "package_version", "written"])
    value = draft.rng.choice([0, 2, 99, -1, 1.0, True, None, "1", [1], "x" * 100_000])
    draft.manifest[field] = value
    return Forged("", f"{field} {str(value)[:20]!r}")


@_recipe
def _field_replaced(draft: Draft) -> Forged | None:
    """Replace a whole section of the manifest."""
    field = draft.rng.choice(sorted(draft.manifest))
    value, words = _strange(draft.rng, None)
    if draft.rng.random() < 0.3:
        del draft.manifest[field]
        words = "missing"
    else:
        draft.manifest[field] = value
    return Forged("", f"{field} is {words.strip()}")


def _name(path: tuple[Any, ...]) -> str:
    return ".".join(map(str, path))


# --- files ----------------------------------------------------------------------------------------


def _link(path: Path, target: Path | str) -> None:
    with contextlib.suppress(OSError):
        path.unlink()
    path.symlink_to(target)


def _special(draft: Draft, path: Path, what: str) -> str:
    """Replace a plain file by something else; return what it is now."""
    content = path.read_bytes() if path.is_file() else b""
    if path.exists():
        path.unlink()
    if what == "link out":
        target = draft.outside / "copy"
        target.write_bytes(content)
        _link(path, target)
    elif what == "relative link out":
        target = draft.outside / "copy"
        target.write_bytes(content)
        _link(path, os.path.relpath(target, path.parent))
    elif what == "link to itself":
        _link(path, path.name)
    elif what == "dangling link":
        _link(path, draft.outside / "nowhere")
    elif what == "link to a canary":
        _link(path, draft.outside / "canary")
    elif what == "link to zeros":
        _link(path, "/dev/zero")
    elif what == "link to the terminal":
        _link(path, "/dev/tty")
    elif what == "fifo":
        os.mkfifo(path)
    elif what == "device":
        try:
            os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 5))
        except OSError:
            _link(path, "/dev/zero")
    elif what == "folder":
        path.mkdir()
    elif what == "unreadable":
        path.write_bytes(content)
        path.chmod(0)
    elif what == "huge":
        with open(path, "wb") as stream:
            stream.write(content)
            stream.truncate(2**36)
    return what


_SPECIAL = ("link out", "relative link out", "link to itself", "dangling link", "link to a canary",
            "link to zeros", "fifo", "device", "folder", "huge")  # fmt: skip


@_recipe
def _special_array(draft: Draft) -> Forged | None:
    name = draft.pick()
    if name is None:
        return None
    what = _special(draft, draft.path(name), draft.rng.choice(_SPECIAL))
    return Forged("", f"{name}: {what}", FORBIDDEN)


@_recipe
def _special_manifest(draft: Draft) -> Forged | None:
    draft.sign()
    what = _special(draft, draft.folder / MANIFEST, draft.rng.choice(_SPECIAL))
    return Forged("", f"manifest: {what}", FORBIDDEN)


@_recipe
def _special_lock(draft: Draft) -> Forged | None:
    what = draft.rng.choice([*_SPECIAL[:-1], "link to the terminal"])
    _special(draft, draft.folder / LOCK, what)
    return Forged("", f"lock: {what}", needs_writer=True)


@_recipe
def _odd_lock(draft: Draft) -> Forged | None:
    text = draft.rng.choice(
        [b"", b"equilibrist artefact, last written by process 1\n", b"mine", b"\0" * 1000,
         _ESCAPES.encode(), b"equilibrist artefact, last written by process " + b"9" * 5000]
    )  # fmt: skip
    (draft.folder / LOCK).write_bytes(text)
    return Forged("", f"lock: {text[:30]!r}", needs_writer=True)


@_recipe
def _lock_that_names_files(draft: Draft) -> Forged | None:
    """Write a lock that lists files for the next write to remove."""
    canary = draft.outside / "canary"
    own = [draft.manifest["arrays"][name]["file"] for name in draft.names]
    names = [str(canary), os.path.relpath(canary, draft.folder), "outside-000001.npy", "x/../lock",
             "manifest.json", *draft.rng.sample(own, min(2, len(own)))]  # fmt: skip
    names = draft.rng.sample(names, 3)
    _link(draft.folder / "outside-000001.npy", draft.outside / "outside-000001.npy")
    text = "equilibrist artefact, last written by process          1\nsince 1.000 for one write\n"
    text += "".join(f"file {name}\n" for name in sorted(names))
    end = hashlib.sha256(text.encode()).hexdigest()[:16]
    (draft.folder / LOCK).write_text(f"{text}end {end}\n")
    return Forged("", f"lock that names {', '.join(names)}", needs_writer=True)


@_recipe
def _planted_leftover(draft: Draft) -> Forged | None:
    """Add a file that looks like the leftover of an unfinished write."""
    number = draft.manifest["generation"] + draft.rng.choice([0, 1, 1, 1])
    array = draft.pick() or "x"
    name = draft.rng.choice(
        ["manifest.json.new", f"{array}-{number:06d}.npy", "mine-000001.npy", "owner", "x.npy"]
    )
    path = draft.folder / name
    if path.exists():
        return None
    what = _special(draft, path, draft.rng.choice(_SPECIAL[3:-1]))
    return Forged("", f"{name}: {what}", needs_writer=True)


@_recipe
def _odd_manifest_file(draft: Draft) -> Forged | None:
    """Change the bytes of the manifest, with a matching checksum of its JSON."""
    draft.sign()
    path = draft.folder / MANIFEST
    text = path.read_text()
    contents: dict[str, bytes] = {
        "byte order mark": b"\xef\xbb\xbf" + text.encode(),
        "utf-16": text.encode("utf-16"),
        "32 MB of spaces": text.encode() + b" " * 2**25,
        "two objects": text.encode() * 2,
        "deep nesting": b"[" * 200_000,
        "deep objects": b'{"a":' * 100_000,
        "empty": b"",
        "null": b"null",
        "list": b"[]",
        "NaN": text.replace('"info": {', '"info": {"x": NaN,', 1).encode(),
        "infinite": text.replace('"info": {', '"info": {"x": 1e999,', 1).encode(),
        "many digits": text.replace('"info": {', '"info": {"x": ' + "9" * 9000 + ",", 1).encode(),
        "same name twice": text.replace('"kind"', '"kind": "x", "kind"', 1).encode(),
        "zeros": b"\0" * 4096,
        "not utf-8": text.encode().replace(b"equilibrist", b"equilibris\xff", 1),
        "lone half of a pair": text.replace('"written": "', '"written": "\\ud800', 1).encode(),
    }
    what = draft.rng.choice(sorted(contents))
    path.write_bytes(contents[what])
    return Forged("", f"manifest: {what}")


_TABLES_MAGIC = b"equilibrist tables 1\n"


def read_tables(path: Path) -> tuple[dict[str, Any], list[bytes]]:
    """Return the header and the contents of a file of tables of a split game."""
    content = path.read_bytes()
    start = len(_TABLES_MAGIC)
    size, _ = struct.unpack_from("<II", content, start)
    start += 8
    header, place, parts = json.loads(content[start : start + size]), start + size, []
    for *_, length, _ in header["parts"]:
        parts.append(content[place : place + length])
        place += length
    return header, parts


def write_tables(path: Path, header: Any, parts: list[bytes]) -> None:
    """Write a file of tables with a matching checksum of its header."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    lengths = struct.pack("<II", len(text), zlib.crc32(text))
    _write(path, _TABLES_MAGIC + lengths + text + b"".join(parts))


@_recipe
def _odd_tables(draft: Draft) -> Forged | None:
    """Alter the tables of a subgame, with matching checksums."""
    files = sorted(draft.folder.glob("subgames/*.tables"))
    if not files:
        return None
    rng, path = draft.rng, draft.rng.choice(files)
    header, parts = read_tables(path)
    number = rng.randrange(len(parts))
    name, dtype, shape, *_ = header["parts"][number]
    array = np.frombuffer(parts[number], dtype).reshape(shape).copy()
    what = rng.choice(
        ["longer", "shorter", "negative", "huge", "other dtype", "other shape", "missing", "twice",
         "run", "epoch", "codec", "not finite", "header", "objects", "size"]
    )  # fmt: skip
    allowed = FORBIDDEN
    if what in ("longer", "shorter"):
        array = np.concatenate([array, array[:1]]) if what == "longer" else array[:-1]
    elif what in ("negative", "huge"):
        array = np.full_like(array, -1 if what == "negative" else 10_000)
        allowed = ANY
    elif what == "not finite":
        array = array * np.nan if array.dtype.kind == "f" else array + 1
        allowed = ANY
    elif what == "other dtype":
        array = array.astype("<f4" if array.dtype != np.float32 else "<i2")
    elif what == "other shape":
        array = array[None]
    elif what in ("run", "epoch", "codec"):
        odd = {"run": ["other", 7, None, _ESCAPES], "epoch": [-1, 10**30, 1.5, "1", 99],
               "codec": ["zstd", "gzip", None, ["raw"]]}  # fmt: skip
        header[what] = rng.choice(odd[what])
    parts[number] = array.tobytes()
    entry = [name, array.dtype.str, list(array.shape), len(parts[number]),
             zlib.crc32(parts[number])]  # fmt: skip
    header["parts"][number] = entry
    if what == "missing":
        del header["parts"][number], parts[number]
    elif what == "twice":
        header["parts"].append(entry)
        parts.append(parts[number])
    elif what == "objects":
        entry[1] = rng.choice(["|O", "|V8", "<U8", ">f8", "<c16", "x", "", None, 8])
    elif what == "size":
        entry[3] = rng.choice([-1, 2**62, 0, "8", None])
    forged = header
    if what == "header":
        texts = [b"", b"[]", b"null", b"[" * 60_000, b"{", b"\xff" * 9, b'{"parts": 3}']
        forged = rng.choice(texts)
    write_tables(path, forged, parts)
    return Forged("", f"subgames/{path.name}: {name}: {what}", allowed)


SIGNED_BY_THEMSELVES = ("special manifest", "odd manifest file")


def forge(draft: Draft, number: int) -> Forged:
    """Apply a forgery, the next one that applies to this folder, and sign the manifest."""
    names = list(FORGERIES)
    for step in range(len(names)):
        name = names[(number + step) % len(names)]
        found = FORGERIES[name](draft)
        if found is not None:
            found.recipe = name.removesuffix(" again")
            if name not in SIGNED_BY_THEMSELVES:
                draft.sign()
            return found
    raise AssertionError("no forgery applies")


# --- damage ---------------------------------------------------------------------------------------


def damage(draft: Draft) -> Forged:
    """Damage one file as a bad disk, a bad copy or a careless user would."""
    rng, folder = draft.rng, draft.folder
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    path = rng.choice(files)
    if rng.random() < 0.15:
        path = folder / MANIFEST
    content = bytearray(path.read_bytes())
    size = len(content)
    what = rng.choice(
        ["bit", "bit", "bit", "bits", "zeros", "random bytes", "cut", "appended", "deleted",
         "swapped", "of another", "block repeated", "emptied"]
    )  # fmt: skip
    words = f"{path.name}: {what}"
    if what == "deleted":
        path.unlink()
        return Forged(what, words)
    if what == "swapped":
        other = rng.choice(files)
        mine, theirs = path.read_bytes(), other.read_bytes()
        _write(path, theirs)
        _write(other, mine)
        return Forged(what, f"{path.name} and {other.name} swapped")
    if what == "of another":
        theirs = [p for other in draft.others for p in other.rglob("*") if p.is_file()]
        same = [p for p in theirs if _stem(p) == _stem(path)]
        if same:
            source = rng.choice(sorted(same))
            _write(path, source.read_bytes())
            return Forged(what, f"{path.name} of {source.parent.parent.name}")
        what = "bit"
    if what == "emptied" or not size:
        _write(path, b"")
        return Forged("emptied", words)
    start = rng.randrange(size)
    length = min(rng.choice([1, 8, 64, 512, 4096]), size - start)
    if what in ("bit", "bits"):
        for _ in range(1 if what == "bit" else rng.randint(2, 50)):
            content[rng.randrange(size)] ^= 1 << rng.randrange(8)
    elif what == "zeros":
        content[start : start + length] = bytes(length)
    elif what == "random bytes":
        content[start : start + length] = rng.randbytes(length)
    elif what == "cut":
        del content[start:]
    elif what == "appended":
        content += rng.randbytes(length)
    elif what == "block repeated":
        content[start:start] = content[start : start + length]
    _write(path, bytes(content))
    return Forged(what, words)


def _write(path: Path, content: bytes) -> None:
    path.unlink(missing_ok=True)  # large files of a copy are links to the genuine ones
    path.write_bytes(content)


def _stem(path: Path) -> str:
    return path.name.rpartition("-")[0] or path.name

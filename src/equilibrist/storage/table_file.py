"""Tables in one compressed file, for runs that keep more tables than fit into memory.

A file has a header in JSON and the numbers of each table, compressed and with a checksum. It names
the *run* that it belongs to and its *epoch*, the step of the run after which it was written. It is
written under another name and renamed, so that a kill leaves the old file or the new one.

Checksums find damage. A stranger can write matching ones, so every entry of the header is checked
too, and a table is decompressed to the length that its entry states and no further.

Compression by zstd needs the package zstandard; it takes more time than the sweeps whose tables it
shrinks to two thirds (docs/decisions/0011), so files are raw unless a writer asks for it.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import struct
import zlib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equilibrist.errors import InvalidValueError, StorageError
from equilibrist.storage.array_file import damaged
from equilibrist.storage.regular_file import open_regular

_LEVEL = 1  # of zstd
_MAGIC = b"equilibrist tables 1\n"
_LENGTHS = struct.Struct("<II")  # bytes of the header, and its checksum
_MOST_HEADER = 1 << 16
_PART = ".part"
_DTYPES = ("<f8", "<f4", "<i2", "<i8")  # of tables
_MOST_BYTES = 1 << 40  # of a table
RAW, ZSTD = CODECS = ("raw", "zstd")


class _Part(NamedTuple):
    """Entry of a table in the header."""

    name: str
    dtype: str
    shape: list[int]
    size: int  # bytes in the file
    checksum: int


class TableFile(NamedTuple):
    """Contents of a file: its run, its epoch, and the tables that were asked for."""

    run: str
    epoch: int
    tables: dict[str, NDArray[Any]]


def write_tables(
    path: Path, run: str, epoch: int, tables: Mapping[str, NDArray[Any]], codec: str = RAW
) -> int:
    """Write tables to a file, replacing an older one atomically; return its bytes.

    The folder is created if missing. Raises `StorageError` if the disk is full or the folder cannot
    be written; the older file stays.
    """
    parts, contents = [], []
    for name, table in tables.items():
        content = _encode(codec, np.ascontiguousarray(table))
        contents.append(content)
        parts.append((name, table.dtype.str, list(table.shape), len(content), zlib.crc32(content)))
    header = json.dumps({"run": run, "epoch": epoch, "codec": codec, "parts": parts}).encode()
    new = path.with_name(path.name + _PART)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(new, "wb") as stream:
            stream.write(_MAGIC + _LENGTHS.pack(len(header), zlib.crc32(header)) + header)
            for content in contents:
                stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
            size = stream.tell()
        os.replace(new, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            new.unlink()
        reason = error.strerror or str(error)
        raise StorageError(
            f"cannot write {path}: {reason}; the tables of the step before are unchanged",
            value=str(path),
        ) from None
    return size


def read_tables(path: Path, names: Collection[str] | None = None) -> TableFile | None:
    """Read a file and some of its tables (default: all); None if there is no file.

    Raises `StorageError`, naming the file, if it is damaged or lacks one of these tables.
    """
    try:
        with os.fdopen(open_regular(path), "rb") as stream:
            return _read(path, stream, names)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise damaged(path, f"cannot be read: {error.strerror or error}") from None


def _read(path: Path, stream: BinaryIO, names: Collection[str] | None) -> TableFile:
    header = _header(path, stream)
    parts, codec = _parts(path, header), header["codec"]
    start, found = stream.tell(), {}
    end = start + sum(part.size for part in parts)
    if os.fstat(stream.fileno()).st_size != end:
        raise damaged(path, f"is damaged: it does not have the {end} bytes that its header states")
    for part in parts:
        if names is None or part.name in names:
            stream.seek(start)
            content = stream.read(part.size)
            if len(content) != part.size or zlib.crc32(content) != part.checksum:
                raise damaged(
                    path, f"is damaged: the checksum of its table {part.name} does not match"
                )
            found[part.name] = _decode(path, codec, content, part)
        start += part.size
    for name in names or ():
        if name not in found:
            raise damaged(path, f"lacks the table {name}")
    return TableFile(header["run"], header["epoch"], found)


def _parts(path: Path, header: dict[str, Any]) -> list[_Part]:
    """Return the entries of the tables; raise `StorageError` if one is none that we write."""
    is_fine = isinstance(header.get("run"), str) and _is_whole(header.get("epoch"))
    entries = header.get("parts")
    if is_fine and isinstance(entries, list) and all(map(_is_part, entries)):
        parts = [_Part(*entry) for entry in entries]
        if len({part.name for part in parts}) == len(parts):
            return parts
    raise damaged(path, "has a header that is not one of a file of tables")


def _is_part(entry: Any) -> bool:
    if not isinstance(entry, list) or len(entry) != len(_Part._fields):
        return False
    name, dtype, shape, size, checksum = entry
    if not isinstance(name, str) or dtype not in _DTYPES or not isinstance(shape, list):
        return False
    return all(map(_is_whole, (*shape, size, checksum))) and _bytes_of(dtype, shape) < _MOST_BYTES


def _is_whole(number: Any) -> bool:
    return type(number) is int and 0 <= number < _MOST_BYTES


def _bytes_of(dtype: str, shape: list[int]) -> int:
    return math.prod(shape) * np.dtype(dtype).itemsize


def _header(path: Path, stream: BinaryIO) -> dict[str, Any]:
    """Read the header, a JSON object with a known compression, and check its checksum."""
    if stream.read(len(_MAGIC)) != _MAGIC:
        raise damaged(path, "is not a file of tables of this version")
    lengths = stream.read(_LENGTHS.size)
    size, checksum = _LENGTHS.unpack(lengths) if len(lengths) == _LENGTHS.size else (0, 1)
    content = stream.read(min(size, _MOST_HEADER))
    if zlib.crc32(content) != checksum:
        raise damaged(path, "is damaged: the checksum of its header does not match")
    try:
        header = json.loads(content)
    except (ValueError, RecursionError):
        header = None
    if not isinstance(header, dict) or header.get("codec") not in CODECS:
        raise damaged(path, "has a header without a known compression")
    return header


def check_codec(codec: str) -> None:
    """Raise `InvalidValueError` for an unknown compression or one whose package is missing."""
    if codec not in CODECS:
        raise InvalidValueError(
            f"the compression must be {' or '.join(CODECS)}, not {codec!r}", value=codec
        )
    if codec == ZSTD:
        _zstandard()


def _encode(codec: str, table: NDArray[Any]) -> bytes:
    content = table.tobytes()
    return content if codec == RAW else _zstandard().ZstdCompressor(_LEVEL).compress(content)


def _decode(path: Path, codec: str, content: bytes, part: _Part) -> NDArray[Any]:
    """Return a table from its bytes in the file; raise `StorageError` if they are too many."""
    size = _bytes_of(part.dtype, part.shape)
    if codec == ZSTD:
        package = _zstandard()
        try:
            with package.ZstdDecompressor().stream_reader(content) as stream:
                content = stream.read(size + 1)
        except package.ZstdError as error:
            raise damaged(path, f"cannot be decompressed: {error}") from None
    if len(content) != size:
        raise damaged(path, f"holds a table {part.name} of another size than its header states")
    return np.frombuffer(bytearray(content), part.dtype).reshape(part.shape)


def _zstandard() -> Any:
    """Import the package of zstd."""
    try:
        import zstandard
    except ImportError:
        raise InvalidValueError(
            "the compression zstd needs the package zstandard: pip install 'equilibrist[cluster]'"
        ) from None
    return zstandard

"""One array in one `.npy` file: written with its checksums, and opened only if they match.

The header of a file is never parsed: it must equal the one that NumPy writes for the type and shape
in the manifest. A file is checked completely when it is opened, or, if that would take seconds,
block by block as it is read. Checksums detect damage, not forgery: anyone who can write to the
folder can write a matching manifest.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import math
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal, TypeAlias

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from equilibrist.errors import InvalidValueError, SolverError, StorageError
from equilibrist.storage.regular_file import open_regular

AnyArray: TypeAlias = NDArray[Any]
Report: TypeAlias = Callable[[int], None]  # receives the number of bytes read or written
Order: TypeAlias = Literal["C", "F"]
_ORDERS: tuple[Order, ...] = ("C", "F")

ARRAY_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")
FILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}-[0-9]{6,12}\.npy")
BLOCK_BYTES = 1 << 24  # each block of a large file has its own checksum
LARGE_BYTES = 1 << 28  # a file with more bytes is large
_DTYPE = re.compile(r"[<>|][biufcSU][0-9]{1,4}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_KINDS = "biufcSU"  # booleans, numbers and texts of fixed length; never objects
_MOST_AXES = 8
_TOGETHER = 1 << 20  # numbers checked together
_MOST_BYTES = 1 << 46  # maximum size of an array
_CHUNK = 1 << 20  # bytes read at a time
_START = b"\x93NUMPY\x01\x00"
_MOST_HEADER = 1 << 12  # bytes
_MOST_PADDING = 2 * npy.ARRAY_ALIGN  # bytes; NumPy aligns, and may leave room for 21 digits


@dataclass(frozen=True)
class ArrayFile:
    """A manifest's entry for one array."""

    file: str  # name within the folder
    dtype: str  # NumPy's notation, such as <f8
    shape: tuple[int, ...]
    sha256: str  # of the entire file, 64 hexadecimal digits
    blocks: tuple[str, ...] = ()  # SHA-256 of every BLOCK_BYTES of a large file

    @classmethod
    def from_json(cls, entry: object) -> ArrayFile:
        """Return the entry of a JSON object from `to_json`; raise `ValueError` if it is invalid."""
        needed = {"file", "dtype", "shape", "sha256"}
        if not isinstance(entry, Mapping) or set(entry) - {"blocks"} != needed:
            raise ValueError("an array needs exactly file, dtype, shape and sha256")
        blocks = entry.get("blocks", [])
        if not isinstance(blocks, list):
            raise ValueError("the blocks of an array must be a list of checksums")
        texts = ((entry["file"], FILE_NAME), (entry["dtype"], _DTYPE), (entry["sha256"], _SHA256))
        for text, pattern in (*texts, *((block, _SHA256) for block in blocks)):
            if not isinstance(text, str) or not pattern.fullmatch(text):
                raise ValueError(f"{_short(text)} is not a file name, dtype or checksum")
        shape = entry["shape"]
        if not isinstance(shape, list) or any(type(n) is not int or n < 0 for n in shape):
            raise ValueError(f"{_short(shape)} is not a shape")
        found = cls(entry["file"], entry["dtype"], tuple(shape), entry["sha256"], tuple(blocks))
        found._check_size()
        return found

    def _check_size(self) -> None:
        try:
            dtype = np.dtype(self.dtype)
        except TypeError:
            dtype = np.dtype(object)
        if dtype.str != self.dtype or dtype.itemsize == 0:
            raise ValueError(f"{self.dtype!r} is not a dtype")
        # An axis of length 0 must not hide other axes that are too long.
        most = math.prod(max(n, 1) for n in self.shape) * dtype.itemsize
        if len(self.shape) > _MOST_AXES or most > _MOST_BYTES:
            raise ValueError(f"{_short(list(self.shape))} is a shape too large for an array")

    def to_json(self) -> dict[str, object]:
        """Return the entry as a dictionary for JSON."""
        entry: dict[str, object] = {
            "file": self.file, "dtype": self.dtype, "shape": list(self.shape), "sha256": self.sha256
        }  # fmt: skip
        return entry | ({"blocks": list(self.blocks)} if self.blocks else {})

    @property
    def num_bytes(self) -> int:
        """Return the size of the numbers in bytes, without the header."""
        return math.prod(self.shape) * np.dtype(self.dtype).itemsize


class BlockwiseArray:
    """A large array on disk whose blocks are checked when they are first read.

    It has the shape and type of an array and returns parts of its first axis as read-only maps;
    `np.array` reads all of it.
    """

    def __init__(self, path: Path, entry: ArrayFile, array: AnyArray, whole: NDArray[np.uint8]):
        self.shape, self.dtype = array.shape, array.dtype
        self.check: Callable[[AnyArray], None] | None = None  # checks the values of a part
        self._path, self._entry = path, entry
        self._array, self._whole = array, whole
        self._is_checked = np.zeros(len(entry.blocks), np.bool_)

    def __len__(self) -> int:
        return len(self._array)

    def __getitem__(self, place: int | slice) -> AnyArray:
        """Return a part of the first axis; raise `StorageError` if one of its blocks is altered."""
        part: AnyArray = self._array[place]
        if part.size:
            first, behind = np.lib.array_utils.byte_bounds(part)
            start = np.lib.array_utils.byte_bounds(self._whole)[0]
            self._check_blocks((first - start) // BLOCK_BYTES, (behind - start - 1) // BLOCK_BYTES)
        if self.check is not None:
            self.check(part)
        return part

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> AnyArray:
        return np.array(self[:], dtype, copy=copy)

    def _check_blocks(self, first: int, last: int) -> None:
        for number in range(first, last + 1):
            if self._is_checked[number]:
                continue
            block = self._whole[number * BLOCK_BYTES : (number + 1) * BLOCK_BYTES]
            if hashlib.sha256(block.data).hexdigest() != self._entry.blocks[number]:
                raise altered(self._path)
            self._is_checked[number] = True


def check_array(name: str, array: object) -> AnyArray:
    """Return the array, contiguous; raise `InvalidValueError` if a file cannot store it."""
    if not ARRAY_NAME.fullmatch(name):
        raise InvalidValueError(
            f"{name[:60]!r} is not an array name; use letters, digits, '_', '-' and '.'", value=name
        )
    if not isinstance(array, np.ndarray) or array.dtype.kind not in _KINDS:
        what = array.dtype if isinstance(array, np.ndarray) else type(array).__name__
        raise InvalidValueError(
            f"array {name} has type {what}; only numbers, booleans and short texts can be stored",
            value=name,
        )
    plain = array.view(np.ndarray)
    return plain if plain.flags.forc else np.asarray(plain, order="C")


def _ignore(num_bytes: int) -> None:
    """Receive a number of bytes and do nothing."""


def write_array(folder: Path, file: str, array: AnyArray, report: Report = _ignore) -> ArrayFile:
    """Write an array to a new file and wait until it is on disk; return its entry."""
    path = folder / file
    with open(path, "xb") as stream:
        out = _Hashed(stream, report)
        npy.write_array(out, array, version=(1, 0), allow_pickle=False)
        stream.flush()
        os.fsync(stream.fileno())
        size = stream.tell()
    blocks = out.block_digests() if size > LARGE_BYTES else ()
    return ArrayFile(file, array.dtype.str, array.shape, out.digest.hexdigest(), blocks)


def load_array(folder: Path, entry: ArrayFile, report: Report = _ignore) -> AnyArray:
    """Read the array of a file into memory; raise `StorageError` unless its checksum matches."""
    path = folder / entry.file
    with _opened(path) as stream:
        header, order = _check_header(path, stream, entry)
        digest = hashlib.sha256(header)
        try:
            array: AnyArray = np.empty(entry.shape, entry.dtype, order)
        except MemoryError:
            raise damaged(path, f"has {entry.num_bytes:,} bytes, more than fit in memory") from None
        content = array.reshape(-1, order=order).view(np.uint8).data
        for start in range(0, len(content), BLOCK_BYTES):
            block = content[start : start + BLOCK_BYTES]
            if stream.readinto(block) != len(block):
                raise altered(path)
            digest.update(block)
            report(len(block))
    if digest.hexdigest() != entry.sha256:
        raise altered(path)
    return array


def map_array(
    folder: Path, entry: ArrayFile, *, is_blockwise: bool = False, report: Report = _ignore
) -> AnyArray | BlockwiseArray:
    """Map the array of a file read-only; raise `StorageError` unless its checksum matches.

    With `is_blockwise`, a large array is returned unread: its checksums are compared as it is read.
    """
    path = folder / entry.file
    with _opened(path) as stream:
        header, order = _check_header(path, stream, entry)
        try:
            whole = np.memmap(stream, np.uint8, mode="r").view(np.ndarray)
        except (ValueError, OverflowError):
            raise damaged(path, "is too large to be mapped into memory") from None
        array = whole[len(header) :].view(entry.dtype).reshape(entry.shape, order=order)
        is_large = len(whole) > LARGE_BYTES and len(entry.blocks) == -(-len(whole) // BLOCK_BYTES)
        if is_blockwise and order == "C" and is_large:
            return BlockwiseArray(path, entry, array, whole)
        stream.seek(0)
        if _digest_of(stream, report) != entry.sha256:
            raise altered(path)
    return array


def _digest_of(stream: io.BufferedReader, report: Report) -> str:
    """Return the SHA-256 of a stream from its position on; report each chunk of it."""
    digest = hashlib.sha256()
    while chunk := stream.read(_CHUNK):
        digest.update(chunk)
        report(len(chunk))
    return digest.hexdigest()


def verify_file(folder: Path, entry: ArrayFile) -> None:
    """Read a file and compare its checksum; raise `StorageError` if it differs."""
    path = folder / entry.file
    with _opened(path) as stream:
        if hashlib.file_digest(stream, "sha256").hexdigest() != entry.sha256:
            raise altered(path)


def check_finite(what: str, array: AnyArray, *, may_be_infinite: bool = False) -> None:
    """Raise `SolverError` if an array to be written holds NaN, or infinity unless allowed."""
    if array.dtype.kind not in "fc":
        return
    for block in blocks_of(array):
        fine = ~np.isnan(block) if may_be_infinite else np.isfinite(block)
        if not fine.all():
            raise SolverError(
                f"the array {what} holds a number that is not finite, so nothing was written",
                value=what,
            )


def blocks_of(array: AnyArray) -> Iterator[AnyArray]:
    """Yield the numbers of an array in blocks of about a million, without copying the array."""
    if array.dtype.kind not in "biufc" or array.size == 0:
        return
    flat = array.reshape(-1, order="F" if array.flags.f_contiguous else "C")
    for start in range(0, len(flat), _TOGETHER):
        yield flat[start : start + _TOGETHER]


def damaged(path: Path, fault: str) -> StorageError:
    """Return the error for a damaged file or folder; `fault` completes the sentence."""
    return StorageError(f"{path} {fault}", value=str(path))


def altered(path: Path) -> StorageError:
    """Return the error for a file whose checksum is wrong."""
    return damaged(path, "was altered: its checksum differs from the manifest's")


class _Hashed:
    """A file opened for writing that computes the checksums of what is written."""

    def __init__(self, stream: BinaryIO, report: Report) -> None:
        self.stream, self.report = stream, report
        self.digest = hashlib.sha256()
        self._blocks = [hashlib.sha256()]
        self._room = BLOCK_BYTES  # bytes that still fit in the last block

    def write(self, content: bytes) -> int:
        self.digest.update(content)
        start = 0
        while start < len(content):
            if self._room == 0:
                self._blocks.append(hashlib.sha256())
                self._room = BLOCK_BYTES
            part = memoryview(content)[start : start + self._room]
            self._blocks[-1].update(part)
            start, self._room = start + len(part), self._room - len(part)
        self.report(len(content))
        return self.stream.write(content)

    def block_digests(self) -> tuple[str, ...]:
        return tuple(block.hexdigest() for block in self._blocks)


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[io.BufferedReader]:
    """Open a regular file for reading; raise `StorageError` if it cannot be read."""
    try:
        with os.fdopen(open_regular(path), "rb") as stream:
            yield stream
    except FileNotFoundError:
        raise damaged(path, "is missing") from None
    except OSError as error:
        raise damaged(path, f"cannot be read: {error.strerror or error}") from None


def _check_header(path: Path, stream: io.BufferedReader, entry: ArrayFile) -> tuple[bytes, Order]:
    """Return a file's header and axis order; raise `StorageError` if they differ from `entry`."""
    start = stream.read(len(_START) + 2)
    length = int.from_bytes(start[len(_START) :], "little")
    if start[: len(_START)] != _START or len(start) != len(_START) + 2 or length > _MOST_HEADER:
        raise damaged(path, "does not start like an array file: it is altered or cut off")
    text = stream.read(length)
    order = next((o for o in _ORDERS if _is_header(text, _header_text(entry, o))), None)
    if order is None or (len(start) + length) % npy.ARRAY_ALIGN or len(text) != length:
        raise damaged(
            path,
            f"does not start like an array of {entry.dtype} {list(entry.shape)}, as its manifest "
            "states: it is altered or cut off",
        )
    right = len(start) + length + entry.num_bytes
    size = os.fstat(stream.fileno()).st_size
    if size != right:
        raise damaged(path, f"has {size:,} bytes instead of {right:,}: it is altered or cut off")
    return start + text, order


def _header_text(entry: ArrayFile, order: Order) -> bytes:
    """Return NumPy's header text for a type and shape, without trailing spaces."""
    out = io.BytesIO()
    header = {"descr": entry.dtype, "fortran_order": order == "F", "shape": entry.shape}
    npy.write_array_header_1_0(out, header)
    return out.getvalue()[len(_START) + 2 :].rstrip()


def _is_header(text: bytes, wanted: bytes) -> bool:
    """Return whether a header equals `wanted`; trailing spaces depend on NumPy's version."""
    rest = text[len(wanted) :]
    is_padding = rest.endswith(b"\n") and not rest[:-1].strip(b" ")
    return text.startswith(wanted) and is_padding and len(rest) <= _MOST_PADDING


def _short(value: object) -> str:
    text = ascii(value)
    return text if len(text) <= 60 else f"{text[:57]}..."

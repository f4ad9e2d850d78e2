"""One array in one `.npy` file: written with its checksum, opened by memory map."""

from __future__ import annotations

import hashlib
import math
import os
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from equilibrist.errors import InvalidValueError, StorageError

AnyArray: TypeAlias = NDArray[Any]

ARRAY_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")
FILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}-[0-9]{6,12}\.npy")
_DTYPE = re.compile(r"[<>|][biufcSU][0-9]{1,4}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_KINDS = "biufcSU"  # booleans, numbers and texts of fixed length; never objects


@dataclass(frozen=True)
class ArrayFile:
    """What a manifest says of one array."""

    file: str  # name within the folder
    dtype: str  # NumPy's, such as <f8
    shape: tuple[int, ...]
    sha256: str  # of the whole file, 64 hexadecimal digits

    @classmethod
    def from_json(cls, entry: object) -> ArrayFile:
        """The inverse of `to_json`; `ValueError` for anything else, such as a path out of here."""
        if not isinstance(entry, Mapping) or set(entry) != {"file", "dtype", "shape", "sha256"}:
            raise ValueError("an array is a file, dtype, shape and sha256")
        texts = ((entry["file"], FILE_NAME), (entry["dtype"], _DTYPE), (entry["sha256"], _SHA256))
        for text, pattern in texts:
            if not isinstance(text, str) or not pattern.fullmatch(text):
                raise ValueError(f"{text!r} is no file name, dtype or checksum")
        shape = entry["shape"]
        if not isinstance(shape, list) or any(type(n) is not int or n < 0 for n in shape):
            raise ValueError(f"{shape!r} is no shape")
        return cls(entry["file"], entry["dtype"], tuple(shape), entry["sha256"])

    def to_json(self) -> dict[str, object]:
        """A dictionary that JSON can hold."""
        return asdict(self) | {"shape": list(self.shape)}


def check_array(name: str, array: object) -> AnyArray:
    """The array itself, C or Fortran contiguous; `InvalidValueError` where no file can hold it."""
    if not ARRAY_NAME.fullmatch(name):
        raise InvalidValueError(
            f"{name[:60]!r} cannot name an array; use letters, digits, '_', '-' and '.'", value=name
        )
    if not isinstance(array, np.ndarray) or array.dtype.kind not in _KINDS:
        what = array.dtype if isinstance(array, np.ndarray) else type(array).__name__
        raise InvalidValueError(
            f"array {name} is of {what}; arrays of numbers, booleans or short texts can be stored",
            value=name,
        )
    plain = array.view(np.ndarray)
    return plain if plain.flags.forc else np.asarray(plain, order="C")


def write_array(folder: Path, file: str, array: AnyArray) -> ArrayFile:
    """Write an array to a new file and wait until it is on the disk."""
    path = folder / file
    with open(path, "xb") as stream:
        out = _Hashed(stream)
        npy.write_array(out, array, version=(1, 0), allow_pickle=False)
        stream.flush()
        os.fsync(stream.fileno())
    return ArrayFile(file, array.dtype.str, array.shape, out.digest.hexdigest())


def map_array(folder: Path, entry: ArrayFile) -> tuple[AnyArray, NDArray[np.uint8]]:
    """The array of a file, read-only and not yet read, and the bytes [file size] it is a view of.

    Size and header are checked, the checksum is not.
    """
    path = folder / entry.file
    try:
        with open(path, "rb") as stream:
            offset, order = _check_header(path, stream, entry)
            whole = np.memmap(stream, np.uint8, mode="r").view(np.ndarray)
    except FileNotFoundError:
        raise damaged(path, "is missing") from None
    except OSError as error:
        raise damaged(path, f"cannot be read: {error.strerror or error}") from None
    return whole[offset:].view(entry.dtype).reshape(entry.shape, order=order), whole


def digest_file(path: Path) -> str:
    """SHA-256 of a file, read block by block: 64 hexadecimal digits."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def damaged(path: Path, fault: str) -> StorageError:
    """The error for a file that is not what it was when it was written."""
    return StorageError(f"{path} {fault}", value=str(path))


class _Hashed:
    """A file opened for writing that takes the checksum of what passes."""

    def __init__(self, stream: BinaryIO) -> None:
        self.stream = stream
        self.digest = hashlib.sha256()

    def write(self, block: bytes) -> int:
        self.digest.update(block)
        return self.stream.write(block)


def _check_header(path: Path, stream: BinaryIO, entry: ArrayFile) -> tuple[int, Any]:
    """Where the numbers begin, bytes, and the order of the axes; complains about what differs."""
    try:
        if npy.read_magic(stream) != (1, 0):
            raise ValueError
        shape, is_fortran, dtype = npy.read_array_header_1_0(stream)
    except ValueError:
        raise damaged(path, "does not begin like an array file: it is altered or cut") from None
    if shape != entry.shape or dtype.str != entry.dtype:
        raise damaged(
            path,
            f"holds {dtype.str} {list(shape)}, but its manifest says "
            f"{entry.dtype} {list(entry.shape)}",
        )
    offset = stream.tell()
    right = offset + math.prod(shape) * dtype.itemsize
    size = os.fstat(stream.fileno()).st_size
    if size != right:
        raise damaged(path, f"has {size:,} bytes instead of {right:,}: it is altered or cut")
    return offset, "F" if is_fortran else "C"

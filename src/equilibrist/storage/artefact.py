"""An artefact is a folder of `manifest.json` and arrays, memory-mapped `.npy` files.

The manifest states what the artefact is (kind, configuration, parents, seed), how it was made
(package version, timings), and the file, dtype, shape and SHA-256 of each array. It is the commit
point: a write puts arrays under new names (`regret-000017.npy`, 17 is the generation), waits until
they are on disk, replaces `manifest.json` by rename, and only then removes the old arrays. A
process killed at any instruction leaves the old artefact or the new one; array files that it leaves
behind are named in `lock`, and the next write removes them. All other files are left alone.
Readers need no lock: the maps of removed files stay valid.

`lock` prevents two simultaneous writers (see `ownership`). It stays in the folder.
"""

from __future__ import annotations

import contextlib
import datetime
import errno
import os
from collections.abc import Collection, Mapping
from dataclasses import KW_ONLY, dataclass, field, fields
from pathlib import Path
from types import MappingProxyType
from typing import Any, NoReturn

from equilibrist import stopping
from equilibrist.errors import StorageError
from equilibrist.phases import phase
from equilibrist.storage.array_file import (
    FILE_NAME,
    AnyArray,
    ArrayFile,
    BlockwiseArray,
    check_array,
    check_finite,
    damaged,
    load_array,
    map_array,
    verify_file,
    write_array,
)
from equilibrist.storage.manifest import (
    FIELDS,
    FORMAT,
    MANIFEST,
    VERSION,
    digest,
    files_of,
    identity,
    manifest_text,
    plain_json,
    plain_text,
    read_manifest,
    stored_files,
)
from equilibrist.storage.memory import available_bytes, gigabytes
from equilibrist.storage.ownership import LOCK, Writing, locked_for_writing, read_lock
from equilibrist.version import __version__

_NEW_MANIFEST = "manifest.json.new"
_EFFECTIVE = os.access in os.supports_effective_ids  # check the effective user, if possible


@dataclass(frozen=True, eq=False)
class Header:
    """What a writer states about an artefact: what it is, and how it was made."""

    kind: str
    _: KW_ONLY
    configuration: Mapping[str, Any]
    # Hash of each artefact this one was made from, by role.
    parents: Mapping[str, str] = field(default_factory=dict)
    seed: int | None = None
    timings: Mapping[str, float] = field(default_factory=dict)  # seconds
    info: Mapping[str, Any] = field(default_factory=dict)  # further data from the writer


@dataclass(frozen=True, eq=False, kw_only=True)
class Identity(Header):
    """The contents of an artefact's manifest; its arrays are neither opened nor checked."""

    folder: Path
    package_version: str  # version that wrote it
    written: str  # date and time, UTC
    generation: int  # number of writes to the folder, from 1
    files: Mapping[str, ArrayFile]  # entry of each array
    hash: str  # of content and configuration, without names and times; children refer to it


@dataclass(frozen=True, eq=False, kw_only=True)
class Artefact(Identity):
    """An opened artefact; `arrays` are read-only maps, or copies in memory on request."""

    arrays: Mapping[str, AnyArray]  # complete, with matching checksums
    large: Mapping[str, BlockwiseArray]  # checked as they are read; empty unless requested

    def verify(self) -> None:
        """Read every array again and compare checksums; raise `StorageError` for a wrong file.

        Arrays that were replaced after the artefact was opened are not checked.
        """
        for name, entry in self.files.items():
            try:
                verify_file(self.folder, entry)
            except StorageError:
                if stored_files(self.folder).get(name) == entry:
                    raise


def read_identity(folder: str | Path, kind: str | None = None) -> Identity:
    """Return the contents of an artefact's manifest, without opening its arrays.

    Raises `StorageError`, naming the file, unless it is the manifest of an artefact of `kind`.
    """
    folder = Path(folder)
    return Identity(**_fields(folder, _read_kind(folder, kind)))


def open_artefact(
    folder: str | Path,
    kind: str | None = None,
    *,
    in_memory: bool = False,
    blockwise: bool = False,
) -> Artefact:
    """Open an artefact and compare the checksums of its arrays, which reads them all.

    `blockwise` leaves large arrays unread: they are in `Artefact.large`, and their blocks are
    checked as they are read. Raises `StorageError`, naming the file, unless the folder holds a
    complete artefact of `kind`.
    """
    folder = Path(folder)
    while True:
        manifest = _read_kind(folder, kind)
        try:
            return _open_arrays(folder, manifest, in_memory, blockwise)
        except StorageError:
            # A writer may have replaced the artefact in the meantime; if so, open the new one.
            if read_manifest(folder)["sha256"] == manifest["sha256"]:
                raise


def write_artefact(
    folder: str | Path,
    header: Header,
    arrays: Mapping[str, AnyArray],
    *,
    keep: Collection[str] = (),
    may_be_infinite: Collection[str] = (),
) -> str:
    """Write an artefact, atomically replacing one of the same kind; return its hash.

    Stored arrays named in `keep` stay and are not written again. Raises `InvalidValueError` for
    values that an artefact cannot hold (arrays of objects), `SolverError` if a number is NaN, or
    infinite unless its array is in `may_be_infinite`, and `StorageError` if the folder holds
    something else, is in use or cannot be written. After an error the old artefact is unchanged.
    """
    folder, kind = Path(folder), header.kind
    checked = {name: check_array(name, array) for name, array in arrays.items()}
    for name, array in checked.items():
        check_finite(
            f"{name} of the {kind} for {folder}", array, may_be_infinite=name in may_be_infinite
        )
    manifest = _stamped(header)
    try:
        check_target(folder, kind)
        with locked_for_writing(folder) as writing:
            check_target(folder, kind)  # again, now that no other process can write
            return _replace(folder, manifest, checked, keep, writing)
    except OSError as error:
        _cannot_write(folder, error)


def _stamped(header: Header) -> dict[str, Any]:
    """Return the fields of a manifest as JSON, with package version and time added."""
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    stamp = {"format": FORMAT, "version": VERSION, "package_version": __version__, "written": now}
    stated = {each.name: getattr(header, each.name) for each in fields(Header)}
    return plain_json(stamp | stated)


def _replace(
    folder: Path,
    manifest: dict[str, Any],
    arrays: dict[str, AnyArray],
    keep: Collection[str],
    writing: Writing,
) -> str:
    """Write arrays under new names, then the manifest, then remove files that it does not name."""
    old = read_manifest(folder) if os.path.lexists(folder / MANIFEST) else None
    there = {} if old is None else files_of(folder, old)
    old_files = {entry.file for entry in there.values()}
    _sweep(folder, writing.files - old_files)
    generation = _free_generation(folder, arrays, 1 if old is None else old["generation"] + 1)
    new_files = {name: _file_name(name, generation) for name in arrays}
    ours = old_files.union(new_files.values())
    writing.announce(ours)
    size = sum(array.nbytes for array in arrays.values())
    try:
        files = {name: entry for name, entry in there.items() if name in keep}
        with phase(f"writing {_short_path(folder)}, {gigabytes(size)}", total=size) as work:
            for name, array in arrays.items():
                files[name] = write_array(folder, new_files[name], array, work.advance)
        manifest["generation"] = generation
        manifest["arrays"] = {name: entry.to_json() for name, entry in files.items()}
        manifest["sha256"] = digest(manifest)
        with open(folder / _NEW_MANIFEST, "x", encoding="utf-8") as stream:
            stream.write(manifest_text(folder, manifest))
            stream.flush()
            os.fsync(stream.fileno())
        sync_folder(folder)
        os.replace(folder / _NEW_MANIFEST, folder / MANIFEST)
        sync_folder(folder)
        if old is None:
            sync_folder(folder.resolve().parent)
    except BaseException:
        # Keep the arrays of the current manifest, old or new, and the old arrays.
        with contextlib.suppress(OSError, StorageError):
            now = {entry.file for entry in stored_files(folder).values()}
            _sweep(folder, ours - old_files - now)
        raise
    with contextlib.suppress(OSError):  # the new artefact is complete; the next write cleans up
        stays = {entry.file for entry in files.values()}
        _sweep(folder, ours - stays)
        writing.conclude(stays)
    return identity(manifest)


def _file_name(name: str, generation: int) -> str:
    return f"{name}-{generation:06d}.npy"


def _free_generation(folder: Path, arrays: Mapping[str, AnyArray], generation: int) -> int:
    """Return the next generation with free file names, so that foreign files stay."""
    while any(os.path.lexists(folder / _file_name(name, generation)) for name in arrays):
        generation += 1
    return generation


def _sweep(folder: Path, names: Collection[str]) -> None:
    """Remove these array files, and a manifest whose write did not finish."""
    for name in (_NEW_MANIFEST, *filter(FILE_NAME.fullmatch, names)):
        (folder / name).unlink(missing_ok=True)


def check_target(folder: Path, kind: str) -> None:
    """Raise `StorageError` unless the folder is writable and empty or holds such an artefact."""
    nearest = next(path for path in (folder, *folder.absolute().parents) if os.path.exists(path))
    if nearest.is_dir() and not os.access(nearest, os.W_OK | os.X_OK, effective_ids=_EFFECTIVE):
        denied = PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(nearest))
        _cannot_write(folder, denied)
    if os.path.lexists(folder / MANIFEST):
        found = read_manifest(folder)["kind"]
        if found != kind:
            raise StorageError(
                f"{folder} holds {_a(plain_text(found))}, which {_a(kind)} does not overwrite; "
                "choose another folder",
                value=str(folder),
            )
        return
    try:
        names = set(os.listdir(folder))
    except FileNotFoundError:
        return
    except OSError as error:
        _cannot_write(folder, error)
    foreign = names - {LOCK, _NEW_MANIFEST} - _leftovers(folder, names)
    if foreign or (names and read_lock(folder) is None):
        raise StorageError(
            f"{folder} exists and is not an artefact (it holds "
            f"{plain_text(min(foreign or names))}); choose another folder",
            value=str(folder),
        )


def _leftovers(folder: Path, names: Collection[str]) -> set[str]:
    """Return the names of files left in a folder by a first write that did not finish."""
    lock = read_lock(folder)
    if lock is None:
        return set()
    if lock.is_exact:
        return {name for name in names if name in lock.names}
    return {name for name in names if FILE_NAME.fullmatch(name)}  # as earlier versions named them


def _read_kind(folder: Path, kind: str | None) -> dict[str, Any]:
    """Return the manifest of an artefact; raise `StorageError` if it is not of `kind`."""
    manifest = read_manifest(folder)
    if kind is not None and manifest["kind"] != kind:
        raise damaged(
            folder / MANIFEST,
            f"describes {_a(plain_text(manifest['kind']))}, but {_a(kind)} is wanted",
        )
    return manifest


def _fields(folder: Path, manifest: dict[str, Any]) -> dict[str, Any]:
    fields = {field: manifest[field] for field in FIELDS if field != "arrays"}
    files = MappingProxyType(files_of(folder, manifest))
    return fields | {"folder": folder, "files": files, "hash": identity(manifest)}


def _open_arrays(
    folder: Path, manifest: dict[str, Any], in_memory: bool, blockwise: bool
) -> Artefact:
    fields = _fields(folder, manifest)
    if in_memory:
        _check_memory(folder, sum(entry.num_bytes for entry in fields["files"].values()))
    arrays: dict[str, AnyArray] = {}
    large: dict[str, BlockwiseArray] = {}
    size = sum(entry.num_bytes for entry in fields["files"].values())
    was_stopped = stopping.is_requested()  # then these arrays are needed all the same

    def report(num_bytes: int) -> None:
        reading.advance(num_bytes)
        if not was_stopped:
            stopping.check()

    with phase(f"reading {_short_path(folder)}, {gigabytes(size)}", total=size) as reading:
        for name, entry in fields["files"].items():
            found = (
                load_array(folder, entry, report)
                if in_memory
                else map_array(folder, entry, is_blockwise=blockwise, report=report)
            )
            if isinstance(found, BlockwiseArray):
                large[name] = found
            else:
                arrays[name] = found
    return Artefact(**fields, arrays=MappingProxyType(arrays), large=MappingProxyType(large))


def _check_memory(folder: Path, needed: int) -> None:
    """Raise `StorageError` for arrays larger than memory, which would get the process killed."""
    free = available_bytes()
    if needed > free:
        raise damaged(
            folder,
            f"holds arrays of {gigabytes(needed)}, but only {gigabytes(free)} of memory are free",
        )


def sync_folder(folder: Path) -> None:
    """Wait until the file names in a folder are on disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _cannot_write(folder: Path, error: OSError) -> NoReturn:
    reason = error.strerror or str(error)
    raise StorageError(
        f"cannot write {error.filename or folder}: {reason}; existing files are unchanged",
        value=str(folder),
    ) from None


def _a(kind: str) -> str:
    """Return a kind of artefact with its article."""
    return f"{'an' if kind.startswith(tuple('aeiou')) else 'a'} {kind}"


def _short_path(folder: Path) -> str:
    """Return the last two names of a path, safe to print.

    Example:
        >>> _short_path(Path("/home/ann/bots/smallbot/solution"))
        'smallbot/solution'
    """
    return plain_text("/".join(folder.parts[-2:]), 60)

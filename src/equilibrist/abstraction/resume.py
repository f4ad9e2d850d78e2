"""Finished parts of an abstraction, stored in its folder until the abstraction is complete.

Each finished round is written into the folder of the abstraction, and so are the clusters of each
bucket of an unfinished round: an artefact of the same kind, marked as unfinished, which contains
the request. A resumed run gives the same abstraction, with the same hash, as an uninterrupted run:
a round depends only on the earlier rounds, the numbers and the seed. Strengths are not stored.
Hold'em's take five seconds to compute, no longer than writing, reading and checking 700 MB takes.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from equilibrist import stopping
from equilibrist.abstraction.buckets import (
    KIND,
    UNFINISHED,
    check_blocked,
    parents_rule,
    read_streets,
    table_rule,
)
from equilibrist.errors import StorageError
from equilibrist.games.rules import GameRules, rules_text
from equilibrist.storage.array_file import damaged
from equilibrist.storage.artefact import Artefact, Header, open_artefact, write_artefact
from equilibrist.storage.checkpoint import CheckpointClock, check_same_run
from equilibrist.storage.manifest import MANIFEST
from equilibrist.storage.schema import ArrayRule, Fields, check_arrays

Part: TypeAlias = tuple[NDArray[Any], ...]

_STORED = "stored"  # key in the artefact's info: names of the arrays of complete parts
_ON_THE_WAY = re.compile(r"group[0-9]+|pass[0-9]+-[0-9]+")  # names of clusters of one bucket
_WORDS = {"buckets": "number of buckets", "flops": "choice of flops"}


class Keep(Protocol):
    """Protocol of a store for finished parts, by name."""

    def load(self, name: str) -> Part | None:
        """Return a part that was stored or added, or None."""

    def store(self, name: str, part: Part) -> None:
        """Store a part, and delete the intermediate parts that were added for it."""

    def add(self, name: str, part: Part) -> None:
        """Store an intermediate part of a larger one, now or soon."""


def load_or_compute(
    keep: Keep | None,
    name: str,
    work: Callable[[], Part],
    *,
    whole: bool = True,
    fits: Callable[[Part], bool] = lambda part: True,
    seconds: float | None = None,
) -> Part:
    """Load a stored part, or compute it with `work` and store it.

    What is not `whole` is on the way to a larger part; `seconds` is how long `work` takes, if that
    is known. `StorageError` if a kept part does not fit; `Stopped` between parts if asked to stop.
    """
    stopping.check()
    found = None if keep is None else _fitting(keep, name, fits)
    if found is None:
        stopping.expect("round" if whole else "bucket", seconds)
        found = work()
        if keep is not None:
            (keep.store if whole else keep.add)(name, found)
        stopping.check()
    return found


def load_or_compute_series(
    keep: Keep | None,
    name: str,
    work: Callable[[int], Iterable[Part]],
    fits: Callable[[int, Part], bool] = lambda number, part: True,
) -> Iterator[Part]:
    """Yield the intermediate parts of a larger one in order: stored parts, then those of `work`.

    `work` computes all parts from a number on. Raises `StorageError` if a stored part does not fit,
    and `Stopped` between parts on a stop request.
    """
    done = 0
    while keep is not None:
        found = _fitting(keep, f"{name}{done}", partial(fits, done))
        if found is None:
            break
        yield found
        done += 1
    start = time.perf_counter()
    stopping.expect("bucket")
    for number, part in enumerate(work(done), start=done):
        if keep is not None:
            keep.add(f"{name}{number}", part)
        stopping.check()
        now = time.perf_counter()
        stopping.expect("bucket", now - start)  # the next takes about as long
        start = now
        yield part


def _fitting(keep: Keep, name: str, fits: Callable[[Part], bool]) -> Part | None:
    found = keep.load(name)
    if found is not None and not fits(found):
        raise StorageError(
            f"the stored part {name} does not fit this abstraction; start again in another folder",
            value=name,
        )
    return found


def request(
    rules: GameRules,
    recipe: str,
    numbers: list[int] | None,
    seed: int,
    flops: Sequence[str] = (),
) -> dict[str, object]:
    """Return the request of an abstraction; parts can be reused only for the same request."""
    found = {"game": rules_text(rules), "recipe": recipe, "buckets": numbers, "seed": seed}
    return found | ({"flops": list(flops)} if flops else {})


@dataclass(eq=False)
class UnfinishedFolder:
    """A store of finished parts in the folder of an unfinished abstraction."""

    folder: Path
    wanted: dict[str, object]  # the `request`
    _parts: dict[str, Part] = field(default_factory=dict)  # parts in the folder when opened
    _stored: set[str] = field(default_factory=set)  # names of arrays of complete parts
    _added: set[str] = field(default_factory=set)  # names of arrays of intermediate parts
    _waiting: dict[str, NDArray[Any]] = field(default_factory=dict)  # arrays to be written soon
    _clock: CheckpointClock = field(default_factory=CheckpointClock)  # for writing these

    @staticmethod
    def open(folder: Path, wanted: dict[str, object]) -> UnfinishedFolder:
        """Open the parts in a folder; verify their checksums and that the request is the same."""
        artefact = open_artefact(folder, KIND, in_memory=True)
        requested = artefact.configuration.get(UNFINISHED)
        if requested is None:
            raise StorageError(f"{folder} is complete: nothing is left to do", value=str(folder))
        fields = Fields.configuration(artefact).part(UNFINISHED)
        check_same_run(folder, _named(requested), _named(dict.fromkeys(requested) | wanted))
        _check_parts(artefact, fields)
        parts: dict[str, Part] = {}
        for name in sorted(artefact.arrays):
            part = name.rpartition(".")[0]
            parts[part] = (*parts.get(part, ()), artefact.arrays[name])
        stored = set(Fields.info(artefact).texts(_STORED)) & set(artefact.arrays)
        added = set(artefact.arrays) - stored
        return UnfinishedFolder(folder, wanted, parts, stored, added)

    def load(self, name: str) -> Part | None:
        """Return a part that was in the folder when opened and not deleted since, or None."""
        return self._parts.get(name)

    def store(self, name: str, part: Part) -> None:
        """Write a part immediately; earlier parts are not written again."""
        arrays = _arrays(name, part)
        for other in {added.rpartition(".")[0] for added in self._added}:
            self._parts.pop(other, None)
        self._added, self._waiting = set(), {}
        self._stored |= set(arrays)
        self._write(arrays)

    def add(self, name: str, part: Part) -> None:
        """Queue a part; write the queue when this costs little time, or on a stop request."""
        self._waiting |= _arrays(name, part)
        if self._clock.is_due() or stopping.is_requested():
            self._added |= set(self._waiting)
            with self._clock.writing():
                self._write(self._waiting)
            self._waiting = {}

    def _write(self, arrays: dict[str, NDArray[Any]]) -> None:
        unfinished, stored = {UNFINISHED: self.wanted}, {_STORED: sorted(self._stored)}
        header = Header(KIND, configuration=unfinished, info=stored)
        write_artefact(self.folder, header, arrays, keep=self._stored | self._added)


def _check_parts(artefact: Artefact, fields: Fields) -> None:
    """Raise `StorageError` if the parts are not arrays of tables, clusters or intervals.

    Recipes also check that clusters fit their points (`load_or_compute`).
    """
    streets = read_streets(fields)
    rules: dict[str, ArrayRule] = {}
    before = 1
    for r in range(len(streets) - 1):
        above = artefact.files.get(f"round{r + 1}.1")
        if above is not None and len(above.shape) == 1:  # a table of buckets
            number = above.shape[0]
            rules[f"round{r + 1}.1"] = parents_rule(number, before)
        elif (numbers := fields.optional("buckets", fields.wholes)) is not None:  # of classes
            number = numbers[r]
        else:
            continue
        rules[f"round{r + 1}.0"] = replace(table_rule(streets, r, number), is_optional=True)
        before = number
    rules["last.0"] = ArrayRule("int32", (before + 1,), low=0, is_ascending=True, is_optional=True)
    rules["last.1"] = ArrayRule("int64", (None,), is_optional=True)
    for name, entry in artefact.files.items():
        part, _, place = name.rpartition(".")
        if _ON_THE_WAY.fullmatch(part) and place in ("0", "1") and name not in rules:
            dtype, axes = np.dtype(entry.dtype), len(entry.shape)
            whole = dtype.kind in "iu" and axes in (1, 2)
            if whole or (dtype == np.float64 and axes == 1):
                low = 0 if whole else None
                rules[name] = ArrayRule(dtype.name, (None,) * axes, low=low)
    check_arrays(artefact, rules)
    for r in range(len(streets) - 1):
        if f"round{r + 1}.0" in artefact.arrays:
            check_blocked(artefact, f"round{r + 1}.0", streets, r)
    if ("last.0" in artefact.arrays) != ("last.1" in artefact.arrays):
        raise damaged(artefact.folder / MANIFEST, "has half of the last round")
    if "last.0" in artefact.arrays:
        first, lower = artefact.arrays["last.0"], artefact.arrays["last.1"]
        if first[0] != 0 or first[-1] != len(lower) or (np.diff(first) < 1).any():
            raise damaged(artefact.folder / MANIFEST, "describes buckets that are not nested")


def _named(request: Mapping[str, object]) -> dict[str, object]:
    """Return a request with the names that messages use."""
    return {_WORDS.get(name, name): value for name, value in request.items()}


def _arrays(name: str, part: Part) -> dict[str, NDArray[Any]]:
    return {f"{name}.{i}": array for i, array in enumerate(part)}

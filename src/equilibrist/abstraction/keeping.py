"""Finished parts of an abstraction, kept in its folder until the whole is there.

Each round that has been divided is written down where the abstraction will be, and on the way to it
the clusters of each bucket: an artefact of the same kind, marked as unfinished, which says what was
asked for. Whoever goes on from it gets the abstraction, and the hash, of a run that was never
stopped: a round depends on the rounds before it, the numbers and the seed alone. Strengths are not
kept. Hold'em's take five seconds to compute, no longer than 700 MB take to write, read and check.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from equilibrist.abstraction.buckets import KIND, UNFINISHED
from equilibrist.errors import InvalidValueError, StorageError
from equilibrist.games.rules import GameRules, rules_text
from equilibrist.storage import stopping
from equilibrist.storage.artefact import open_artefact, write_artefact

Part: TypeAlias = tuple[NDArray[Any], ...]

_STORED = "stored"  # in what is said of the artefact: arrays of whole parts
_SHARE = 0.05  # of the time since the last that writing parts of parts may take
_WORDS = {"buckets": "number of buckets", "flops": "choice of flops"}


class Keep(Protocol):
    """A place for finished parts, by name."""

    def load(self, name: str) -> Part | None:
        """A part that was stored or added, None if it was not."""

    def store(self, name: str, part: Part) -> None:
        """Keep a part from now on, and forget those that were added on the way to it."""

    def add(self, name: str, part: Part) -> None:
        """Keep a part on the way to a larger one, if not at once then soon."""


def kept(keep: Keep | None, name: str, work: Callable[[], Part], *, whole: bool = True) -> Part:
    """A part as it was kept, or else as `work` makes it, from now on kept.

    What is not `whole` is on the way to a larger part. Raises `Stopped` between parts if asked to.
    """
    stopping.check()
    found = None if keep is None else keep.load(name)
    if found is None:
        found = work()
        if keep is not None:
            (keep.store if whole else keep.add)(name, found)
        stopping.check()
    return found


def kept_series(
    keep: Keep | None, name: str, work: Callable[[int], Iterable[Part]]
) -> Iterator[Part]:
    """Parts on the way to a larger one, in order: those that are kept, then those of `work`.

    `work` makes all parts from a number on. Raises `Stopped` between parts if asked to.
    """
    done = 0
    while keep is not None and (found := keep.load(f"{name}{done}")) is not None:
        yield found
        done += 1
    for number, part in enumerate(work(done), start=done):
        if keep is not None:
            keep.add(f"{name}{number}", part)
        stopping.check()
        yield part


def request(
    rules: GameRules,
    recipe: str,
    numbers: list[int] | None,
    seed: int,
    flops: Sequence[str] = (),
) -> dict[str, object]:
    """What an abstraction was asked to be: parts of one are no use to another."""
    found = {"game": rules_text(rules), "recipe": recipe, "buckets": numbers, "seed": seed}
    return found | ({"flops": list(flops)} if flops else {})


@dataclass(eq=False)
class UnfinishedFolder:
    """Parts kept in the folder of the abstraction to be."""

    folder: Path
    wanted: dict[str, object]  # `request`
    _parts: dict[str, Part] = field(default_factory=dict)  # those that were there
    _stored: set[str] = field(default_factory=set)  # names of arrays in the folder that stay
    _added: set[str] = field(default_factory=set)  # those on the way to the next part
    _waiting: dict[str, NDArray[Any]] = field(default_factory=dict)  # to be written soon
    _written: float = field(default_factory=time.perf_counter)  # when, the last time
    _cost: float = 0.0  # seconds that it took

    @staticmethod
    def open(folder: Path, wanted: dict[str, object]) -> UnfinishedFolder:
        """The parts in a folder, checksums verified; refused unless they are of what is wanted."""
        artefact = open_artefact(folder, KIND)
        begun = artefact.configuration.get(UNFINISHED)
        if begun is None:
            raise StorageError(f"{folder} is complete: nothing is left to do", value=str(folder))
        for what in begun | wanted:
            if begun.get(what) != (value := wanted.get(what)):
                raise InvalidValueError(
                    f"{folder} was begun with another {_WORDS.get(what, what)}; resume with the "
                    "same, or choose another folder",
                    value=value,
                )
        artefact.verify()
        parts: dict[str, Part] = {}
        for name in sorted(artefact.arrays):
            part = name.rpartition(".")[0]
            parts[part] = (*parts.get(part, ()), np.array(artefact.arrays[name]))
        stored = {name for name in artefact.arrays if name in artefact.info[_STORED]}
        added = set(artefact.arrays) - stored
        return UnfinishedFolder(folder, wanted, parts, stored, added)

    def load(self, name: str) -> Part | None:
        """A part that was in the folder when it was opened, and was not forgotten since."""
        return self._parts.get(name)

    def store(self, name: str, part: Part) -> None:
        """Write a part at once; those before it are not written again."""
        arrays = _arrays(name, part)
        for other in {added.rpartition(".")[0] for added in self._added}:
            self._parts.pop(other, None)
        self._added, self._waiting = set(), {}
        self._stored |= set(arrays)
        self._write(arrays)

    def add(self, name: str, part: Part) -> None:
        """Write a part with others when that takes little of the time since, or when stopping."""
        self._waiting |= _arrays(name, part)
        start = time.perf_counter()
        if (start - self._written) * _SHARE > self._cost or stopping.is_requested():
            self._added |= set(self._waiting)
            self._write(self._waiting)
            self._waiting, self._written = {}, time.perf_counter()
            self._cost = self._written - start

    def _write(self, arrays: dict[str, NDArray[Any]]) -> None:
        write_artefact(
            self.folder,
            KIND,
            arrays,
            configuration={UNFINISHED: self.wanted},
            info={_STORED: sorted(self._stored)},
            keep=self._stored | self._added,
        )


def _arrays(name: str, part: Part) -> dict[str, NDArray[Any]]:
    return {f"{name}.{i}": array for i, array in enumerate(part)}

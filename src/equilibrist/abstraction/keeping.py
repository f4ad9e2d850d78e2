"""Finished parts of an abstraction, kept in its folder until the whole is there.

Each round that has been divided is written down where the abstraction will be: an artefact of the
same kind, marked as unfinished, which says what was asked for. Whoever goes on from it gets the
abstraction, and the hash, of a run that was never stopped: a round depends on the rounds before it,
the numbers and the seed alone. Strengths are not kept. Hold'em's take five seconds to compute, no
longer than 700 MB take to write, to read and to check.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from equilibrist.abstraction.buckets import KIND, UNFINISHED
from equilibrist.errors import InvalidValueError, StorageError
from equilibrist.games.rules import GameRules, rules_text
from equilibrist.storage.artefact import open_artefact, write_artefact

Part: TypeAlias = tuple[NDArray[Any], ...]

_WORDS = {"buckets": "number of buckets"}


class Keep(Protocol):
    """A place for finished parts, by name."""

    def load(self, name: str) -> Part | None:
        """A part that was stored, None if it was not."""

    def store(self, name: str, part: Part) -> None:
        """Keep a part from now on."""


def kept(keep: Keep | None, name: str, work: Callable[[], Part]) -> Part:
    """A part as it was kept, or else as `work` makes it, from now on kept."""
    found = None if keep is None else keep.load(name)
    if found is None:
        found = work()
        if keep is not None:
            keep.store(name, found)
    return found


def request(
    rules: GameRules, recipe: str, numbers: list[int] | None, seed: int
) -> dict[str, object]:
    """What an abstraction was asked to be: parts of one are no use to another."""
    return {"game": rules_text(rules), "recipe": recipe, "buckets": numbers, "seed": seed}


@dataclass(frozen=True, eq=False)
class UnfinishedFolder:
    """Parts kept in the folder of the abstraction to be."""

    folder: Path
    wanted: dict[str, object]  # `request`
    _parts: dict[str, list[NDArray[Any]]] = field(default_factory=dict)

    @staticmethod
    def open(folder: Path, wanted: dict[str, object]) -> UnfinishedFolder:
        """The parts in a folder, checksums verified; refused unless they are of what is wanted."""
        artefact = open_artefact(folder, KIND)
        begun = artefact.configuration.get(UNFINISHED)
        if begun is None:
            raise StorageError(f"{folder} is complete: nothing is left to do", value=str(folder))
        for what, value in wanted.items():
            if begun.get(what) != value:
                raise InvalidValueError(
                    f"{folder} was begun with another {_WORDS.get(what, what)}; resume with the "
                    "same, or choose another folder",
                    value=value,
                )
        artefact.verify()
        parts: dict[str, list[NDArray[Any]]] = {}
        for name in sorted(artefact.arrays):
            parts.setdefault(name.partition(".")[0], []).append(np.array(artefact.arrays[name]))
        return UnfinishedFolder(folder, wanted, parts)

    def load(self, name: str) -> Part | None:
        """A part that was in the folder when it was opened."""
        found = self._parts.get(name)
        return None if found is None else tuple(found)

    def store(self, name: str, part: Part) -> None:
        """Write a part; those that are there are not written again."""
        arrays = {f"{name}.{i}": array for i, array in enumerate(part)}
        write_artefact(self.folder, KIND, arrays, configuration={UNFINISHED: self.wanted}, add=True)

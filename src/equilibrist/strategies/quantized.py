"""Strategies for play only: probabilities of 16 bits, memory-mapped from the disk.

A solution stores plans and the state that its method resumes from, 24 bytes per number. Play needs
only the behaviour: for each seat one array in the layout of its treeplex, in which a probability p
is an integer near 65,535 p and the probabilities of a decision sum to 65,535. With three actions
the error of a probability is at most 1.5 / 65,535. SmallBot's exploitability changes by less than
0.0001 mbb/g, so that the solution's certificate also holds for the strategy; with eight bits it
would change by 0.02 mbb/g.

Opening a strategy computes nothing and needs no joint counts, only the folder of the buckets.

A strategy may be glued from several solutions (`composition`); it then has columns of its own
before the first board cards.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from equilibrist.abstraction.buckets import Abstraction
from equilibrist.errors import InvalidValueError, StorageError
from equilibrist.games.betting_tree import BettingTree
from equilibrist.kernels.array_structs import Treeplex
from equilibrist.kernels.cpu.sequence_form import normalize
from equilibrist.kernels.treeplex import block, boards
from equilibrist.models.bucketed import bucket_tree
from equilibrist.models.game import Floats
from equilibrist.storage.array_file import damaged
from equilibrist.storage.artefact import Header, open_artefact, write_artefact
from equilibrist.storage.manifest import MANIFEST
from equilibrist.storage.schema import ArrayRule, Fields, check_arrays
from equilibrist.strategies.composition import GluedBuckets
from equilibrist.strategies.description import (
    BucketDescription,
    read_description,
    write_description,
)
from equilibrist.strategies.solution import Solution

KIND = "strategy"
ABSTRACTION: Final = "abstraction"  # among a strategy's parents; the others are solutions
_ARRAYS = {
    "chances0": ArrayRule("uint16", (None,)),
    "chances1": ArrayRule("uint16", (None,)),
    "opening": ArrayRule("int16", (None,), low=-1, is_optional=True),
}
SURE: Final = 65_535  # a probability of 1
RoundedProbabilities = NDArray[np.uint16]


@dataclass(frozen=True, eq=False)
class CompactStrategy:
    """Rounded behaviour of both seats of a bucket game."""

    game: BucketDescription
    probabilities: tuple[RoundedProbabilities, RoundedProbabilities]  # [L of each player]
    solutions: Mapping[str, str]  # hashes of what was rounded, by folder: one, unless it is glued
    opening: NDArray[np.int16] | None = None  # [H] column of every hand in the first round

    @classmethod
    def of(cls, solution: Solution, made_of: Mapping[str, str]) -> CompactStrategy:
        """Round the strategy of a solution; `made_of` is its folder's name and its hash."""
        game = solution.game
        if not isinstance(game, BucketDescription):
            raise InvalidValueError(f"{game.name} is not a game of buckets", value=game.name)
        buckets = game.open_abstraction()
        betting = game.betting(buckets.rules)
        first, second = (
            _of_plan(bucket_tree(betting, player, buckets), plan)
            for player, plan in enumerate(solution.plans)
        )
        return cls(game, (first, second), made_of)

    def save(self, folder: str | Path) -> str:
        """Write the strategy, replacing an existing one; return the artefact's hash."""
        arrays: dict[str, NDArray[Any]] = {
            "chances0": self.probabilities[0],
            "chances1": self.probabilities[1],
        }
        if self.opening is not None:
            arrays["opening"] = self.opening
        header = Header(
            KIND,
            configuration={"game": write_description(self.game, Path(folder))},
            parents={ABSTRACTION: self.game.hashes[0], **self.solutions},
        )
        return write_artefact(folder, header, arrays)

    @classmethod
    def open(cls, folder: str | Path) -> CompactStrategy:
        """Open a stored strategy and compare its checksums; its arrays are read-only maps."""
        artefact = open_artefact(folder, KIND)
        game = read_description(Fields.configuration(artefact).part("game"), Path(folder))
        if not isinstance(game, BucketDescription):
            raise damaged(artefact.folder / MANIFEST, "does not describe a strategy of buckets")
        check_arrays(artefact, _ARRAYS)
        probabilities = artefact.arrays["chances0"], artefact.arrays["chances1"]
        solutions = {k: v for k, v in artefact.parents.items() if k != ABSTRACTION}
        return cls(game, probabilities, solutions, artefact.arrays.get("opening"))


def open_buckets(
    found: Solution | CompactStrategy,
) -> tuple[BettingTree, Abstraction | GluedBuckets]:
    """Open the betting and the buckets of a stored strategy or solution of a game of buckets.

    Raises `StorageError` if the folder of the buckets is gone or holds others, or if the numbers do
    not fit them: kernels check neither.
    """
    game = found.game
    assert isinstance(game, BucketDescription)
    abstraction = game.open_abstraction()
    betting = game.betting(abstraction.rules)
    buckets: Abstraction | GluedBuckets = abstraction
    if isinstance(found, CompactStrategy) and found.opening is not None:
        columns = np.full(abstraction.streets.num_hands, -1, np.int16)
        columns[abstraction.streets.in_deck] = 0
        if not np.array_equal(np.minimum(found.opening, 0), columns):
            raise _unfit(game, "its opening has no column for some hand")
        buckets = GluedBuckets(found.opening, abstraction)
    elif game.priors is not None:  # its classes forget the buckets of the first round
        buckets = GluedBuckets(np.zeros(abstraction.streets.num_hands, np.int16), abstraction)
    stored = found.probabilities if isinstance(found, CompactStrategy) else found.plans
    for player, numbers in enumerate(stored):
        tree = bucket_tree(betting, player, buckets)
        if len(numbers) != int(tree.block_start[-1]):
            raise _unfit(
                game,
                f"player {player}'s plan has {len(numbers):,} numbers, but plans of these buckets "
                f"have {int(tree.block_start[-1]):,}",
            )
        if isinstance(found, CompactStrategy) and not _sums_to_one(tree, numbers):
            raise _unfit(game, f"player {player}'s probabilities of some decision do not sum to 1")
    return betting, buckets


def _unfit(game: BucketDescription, why: str) -> StorageError:
    return StorageError(
        f"the strategy does not fit {game.name}: {why}; it was made for another game",
        value=game.name,
    )


def _sums_to_one(tree: Treeplex, probabilities: NDArray[Any]) -> bool:
    """Return whether the probabilities of every decision, in units of 1/65,535, sum to 1."""
    for r in range(len(tree.num_sequences)):
        decisions = range(int(tree.decision_start[r]), int(tree.decision_start[r + 1]))
        for board in boards(tree, r):
            whole = block(tree, r, board, probabilities)
            for d in decisions:
                first, size = int(tree.decision_first[d]), int(tree.decision_size[d])
                if (whole[first : first + size].sum(axis=0, dtype=np.int64) != SURE).any():
                    return False
    return True


def _of_plan(tree: Treeplex, plan: Floats) -> RoundedProbabilities:
    """Return the rounded behaviour of a plan [L]; uniform where the plan is zero."""
    behaviour = np.empty_like(plan)
    normalize(tree, plan, behaviour)
    return rounded(tree, behaviour)


def rounded(tree: Treeplex, behaviour: Floats) -> RoundedProbabilities:
    """Round behaviour [L] to 65,535ths.

    The most probable action of a decision gets the remainder of its 65,535.
    """
    out: NDArray[Any] = np.full(len(behaviour), SURE, np.uint16)
    for r in range(len(tree.num_sequences)):
        decisions = range(int(tree.decision_start[r]), int(tree.decision_start[r + 1]))
        for board in boards(tree, r):
            probabilities, whole = block(tree, r, board, behaviour), block(tree, r, board, out)
            for d in decisions:
                first, size = int(tree.decision_first[d]), int(tree.decision_size[d])
                whole[first : first + size] = _in_parts(probabilities[first : first + size])
    return out


def _in_parts(probabilities: Floats) -> NDArray[np.int64]:
    """Round probabilities [A, S] to integers that sum to 65,535 in every state."""
    parts = np.rint(probabilities * np.float64(SURE)).astype(np.int64)
    rest = SURE - parts.sum(axis=0)
    parts[parts.argmax(axis=0), np.arange(parts.shape[1])] += rest
    return parts

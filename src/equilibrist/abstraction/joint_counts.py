"""Joint counts: how often pairs of last buckets occur together and which wins (J and W).

`wins[s, t]` counts the deals (an ordered board and a hand for each player) in which player 0 is in
last bucket s, player 1 in t, and player 0 wins; `ties` and `losses` likewise. Over all boards they
sum to 55,627,620,048,000 in hold'em, GS3's nine-card roll-out. Buckets are nested, so the counts of
earlier streets are sums over children.

A sample of boards gives the same matrices with a sampling error. Boards are drawn at equal
distances along their canonical order, in which boards with the same earlier streets are neighbours:
every flop and nearly every turn is represented in proportion (systematic, hence stratified,
sampling).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from equilibrist import stopping
from equilibrist.abstraction.bucket_tree import BucketTree
from equilibrist.abstraction.buckets import Abstraction
from equilibrist.abstraction.forecast import NUM_GROUPS, TILED, cell_bytes
from equilibrist.abstraction.joint_counts_by_board import (
    NUM_BLOCKS,
    Counts,
    Matrices,
    all_links,
    count_boards,
    last_street,
    links_of,
)
from equilibrist.abstraction.joint_counts_by_tile import can_be_tiled, count_tiles
from equilibrist.abstraction.streets import Streets
from equilibrist.errors import InvalidValueError, StorageError
from equilibrist.phases import phase
from equilibrist.storage.array_file import damaged
from equilibrist.storage.artefact import Artefact, Header, open_artefact, write_artefact
from equilibrist.storage.checkpoint import CheckpointClock, check_same_run
from equilibrist.storage.manifest import MANIFEST
from equilibrist.storage.memory import available_bytes, check_fits
from equilibrist.storage.schema import ArrayRule, Fields, check_arrays

KIND = "joint"
_PARTS = "wins", "ties", "losses"
_BLOCKS_OF_GROUP = 8  # blocks of boards of each group of a sample
_BOARDS_TOGETHER = 256  # boards whose hands are counted between two checks for a stop
_LEAST = -1e-9  # smallest count: products of zero probabilities may be rounded below zero


@dataclass(frozen=True, eq=False)
class Joint:
    """Counts of deals by both players' last buckets, [K0, K1] each: wins, ties and losses."""

    wins: Counts
    ties: Counts
    losses: Counts
    distance: float | None = None  # of a sample: estimated ½ ‖ΔJ‖₁, J scaled to sum 1; None: exact
    sample: tuple[int, int] | None = None  # number of sampled boards and seed, if known
    flops: tuple[str, ...] = ()  # flops to which the count is restricted; empty: all

    @property
    def met(self) -> NDArray[np.float64]:
        """Number of deals in which two buckets occur together: J times `total`."""
        found = np.add(self.wins, self.ties, dtype=np.float64)
        return np.add(found, self.losses, out=found)

    @property
    def won(self) -> NDArray[np.float64]:
        """Wins minus losses of the row's bucket against the column's: W times `total`."""
        return np.subtract(self.wins, self.losses, dtype=np.float64)

    def rows(self, rows: slice) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return some rows of `met` and `won`."""
        part = Joint(self.wins[rows], self.ties[rows], self.losses[rows])
        return part.met, part.won

    @property
    def total(self) -> float:
        """Number of deals counted."""
        parts = (self.wins, self.ties, self.losses)
        return float(sum(part.sum(dtype=np.float64) for part in parts))

    def transposed(self) -> Joint:
        """Return the counts with the players exchanged (transposed)."""
        parts = self.losses.T, self.ties.T, self.wins.T
        return Joint(*parts, self.distance, self.sample, self.flops)

    def check(self, first: BucketTree, other: BucketTree) -> None:
        """Raise `InvalidValueError` if the shape is not that of the two sides' last buckets."""
        if self.wins.shape != (first.num_buckets[-1], other.num_buckets[-1]):
            raise InvalidValueError(
                f"counts of {self.wins.shape} buckets do not fit {first.num_buckets[-1]} and "
                f"{other.num_buckets[-1]} buckets",
                value=self.wins.shape,
            )

    def save(self, folder: str | Path, parents: Mapping[str, str]) -> str:
        """Write the counts as an artefact; `parents` are the hashes of the abstractions."""
        arrays = {"wins": self.wins, "ties": self.ties}
        if not np.shares_memory(self.wins, self.losses):
            arrays["losses"] = self.losses
        settings: dict[str, Any] = {"distance": self.distance}
        if self.sample is not None:
            settings["sample"] = self.sample
        if self.flops:
            settings["flops"] = self.flops
        return write_artefact(folder, Header(KIND, configuration=settings, parents=parents), arrays)

    @staticmethod
    def open(folder: str | Path) -> Joint:
        """Open stored counts; raise `StorageError` if the counting is not finished."""
        artefact = open_artefact(folder, KIND)
        arrays, fields = artefact.arrays, Fields.configuration(artefact)
        if "done" in artefact.configuration:
            raise StorageError(
                f"{folder} contains unfinished counts; continue with `equilibrist joint --resume`",
                value=str(folder),
            )
        _check_counts(artefact)
        distance = fields.optional("distance", lambda name: fields.number(name, 0))
        losses = arrays["losses"] if "losses" in arrays else arrays["wins"].T
        sample = None
        if "sample" in fields:
            found = fields.wholes("sample", 0)
            if len(found) != 2:
                raise fields.error("sample", "a number of boards and a seed")
            sample = found[0], found[1]
        flops = fields.texts("flops") if "flops" in fields else ()
        return Joint(arrays["wins"], arrays["ties"], losses, distance, sample, flops)


def _check_counts(artefact: Artefact) -> None:
    """Raise `StorageError` if an artefact has no valid counts; missing losses are wins.T."""
    is_square = "losses" not in artefact.files
    shape = ("rows", "rows" if is_square else "columns")
    counts = ArrayRule(("float64", "uint32", "uint64"), shape, low=_LEAST)
    rules = dict.fromkeys(_PARTS, counts)
    if is_square:
        del rules["losses"]
    check_arrays(artefact, rules)
    dtypes = {entry.dtype for entry in artefact.files.values()}
    if len(dtypes) > 1 or 0 in artefact.files["wins"].shape:
        raise damaged(artefact.folder / MANIFEST, "has counts of different types or no counts")
    if "done" not in artefact.configuration and not any(
        part.any() for part in artefact.arrays.values()
    ):
        raise damaged(artefact.folder / MANIFEST, "has counts that are all zero")


@dataclass
class Progress:
    """The counts so far: the contents of a checkpoint of `joint`."""

    wins: Counts
    ties: Counts
    done: int = 0  # number of blocks of boards counted
    losses: Counts | None = None  # None: both players have the same buckets, losses are wins.T

    @property
    def matrices(self) -> Matrices:
        """The matrices of wins, ties and, if stored, losses."""
        both = [self.wins, self.ties]
        return both if self.losses is None else [*both, self.losses]

    def save(self, folder: str | Path, parents: Mapping[str, str]) -> str:
        """Write the counts so far into the folder of the final counts."""
        arrays = dict(zip(_PARTS, self.matrices, strict=False))
        settings = {"distance": None, "done": self.done}
        return write_artefact(folder, Header(KIND, configuration=settings, parents=parents), arrays)

    @staticmethod
    def open(folder: str | Path, parents: Mapping[str, str]) -> Progress:
        """Open a checkpoint of the same abstractions; raise `StorageError` if it is complete."""
        artefact = open_artefact(folder, KIND, in_memory=True)
        check_same_buckets(folder, artefact.parents, parents)
        if "done" not in artefact.configuration:
            raise StorageError(f"{folder} is complete: nothing is left to do", value=str(folder))
        _check_counts(artefact)
        arrays, done = artefact.arrays, Fields.configuration(artefact).whole("done", 0, NUM_BLOCKS)
        return Progress(arrays["wins"], arrays["ties"], done, arrays.get("losses"))

    def check(self, first: BucketTree, other: BucketTree, *, is_tiled: bool) -> None:
        """Raise `InvalidValueError` if `joint` cannot continue from these counts."""
        shape, has_losses = (first.num_buckets[-1], other.num_buckets[-1]), other is not first
        kinds = "u" if is_tiled else "f"
        if (self.losses is not None) != has_losses or any(
            part.shape != shape or part.dtype.kind not in kinds for part in self.matrices
        ):
            raise InvalidValueError(
                f"these counts are {self.wins.dtype} {list(self.wins.shape)}; counts of these "
                f"buckets must be {'whole numbers' if is_tiled else 'float64'} {list(shape)}",
                value=self.wins.shape,
            )


def check_same_buckets(
    folder: str | Path, stored: Mapping[str, str], wanted: Mapping[str, str]
) -> None:
    """Raise `StorageError` unless a folder's counts are of the wanted buckets, given by hashes."""
    check_same_run(folder, {"set of buckets": dict(stored)}, {"set of buckets": dict(wanted)})


@dataclass
class Keeper:
    """A `watch` for `joint` that writes checkpoints and reports the fraction done."""

    folder: Path
    parents: Mapping[str, str]
    report: Callable[[float], None]
    _clock: CheckpointClock = field(default_factory=CheckpointClock)
    _block: float = field(default_factory=time.perf_counter)  # start time of the current block

    def __call__(self, progress: Progress, share: float) -> None:
        """Process the counts so far; on a stop request, write them and raise `Stopped`."""
        self.report(share)
        if share == 1:
            return
        taken = time.perf_counter() - self._block
        if self._clock.is_due() or stopping.is_requested():
            with self._clock.writing():
                progress.save(self.folder, self.parents)
        stopping.check()
        stopping.expect("block of boards", taken + self._clock.cost)
        self._block = time.perf_counter()


def joint(
    first: Abstraction,
    second: Abstraction | None = None,
    *,
    boards: NDArray[np.int64] | None = None,
    so_far: Progress | None = None,
    watch: Callable[[Progress, float], None] | None = None,
) -> Joint:
    """Compute exact counts for two players with one abstraction, or with two of the same game.

    With `boards`, only deals onto these boards of the second-to-last street are counted. `watch` is
    called with the counts and the fraction done after every block of boards; a later call with
    these counts as `so_far` continues from there.

    Example:
        >>> from equilibrist.abstraction.features import Strengths
        >>> from equilibrist.abstraction.recipes.percentile import percentile
        >>> from equilibrist.games.catalog import get_game
        >>> buckets = percentile(Strengths.of(Streets.of(get_game("leduc"))), [3, 6])
        >>> joint(buckets).total  # 6 · 5 hands on 4 boards
        120.0
    """
    other = second or first
    _check_same_game(first, other)

    def report(matrices: Matrices, done: int) -> None:
        if watch is not None:
            wins, ties, *rest = matrices
            watch(Progress(wins, ties, done, rest[0] if rest else None), done / NUM_BLOCKS)

    known = None if so_far is None else (so_far.matrices, so_far.done)
    sizes = first.num_buckets[-1], other.num_buckets[-1]
    threads, sides = numba.get_num_threads(), 1 if other is first else 2
    is_tiled = min(sizes) > TILED and can_be_tiled(first, other)
    if so_far is not None:
        so_far.check(first, other, is_tiled=is_tiled)
    if is_tiled:
        if so_far is None:
            _check_memory(first, other, cell_bytes(threads, is_tiled=True, sides=sides))
        found = count_tiles(first, other, boards=boards, so_far=known, watch=report)
    else:
        _check_memory(first, other, cell_bytes(threads))
        links = all_links(first.streets, boards)
        found = count_boards(first, other, links, so_far=known, watch=report)
    return _joint(found)


def _joint(matrices: Matrices) -> Joint:
    """Build a `Joint` from wins, ties and losses; missing losses are the transposed wins."""
    wins, ties, *rest = matrices
    return Joint(wins, ties, rest[0] if rest else wins.T)


def sampled_joint(
    first: Abstraction, second: Abstraction | None = None, *, num_boards: int, seed: int = 0
) -> Joint:
    """Compute counts over a sample of ordered boards, with an estimate of their error."""
    other = second or first
    _check_same_game(first, other)
    _check_memory(first, other, cell_bytes(numba.get_num_threads(), is_sampled=True))
    groups: list[Joint] = []
    what = f"counting deals on {num_boards:,} boards"
    with phase(what, total=NUM_GROUPS * _BLOCKS_OF_GROUP) as work:

        def watch(matrices: Matrices, done: int) -> None:
            stopping.check()
            work.update(len(groups) * _BLOCKS_OF_GROUP + done)

        for deals in sampled_deals(first.streets, num_boards, seed):
            links = links_of(first.streets, deals, np.ones(len(first.streets[-2].boards)))
            counted = count_boards(first, other, links, watch=watch, blocks=_BLOCKS_OF_GROUP)
            groups.append(_joint(counted))
    wins, ties, losses = (
        np.sum([getattr(group, part) for group in groups], axis=0) for part in _PARTS
    )
    shares = np.stack([group.met / group.total for group in groups])
    error = shares.std(axis=0, ddof=1) / np.sqrt(len(groups))  # standard error of each cell
    # For a normal error, the mean of |ΔJ| is √(2/π) times its standard error.
    distance = float(np.sqrt(2 / np.pi) * error.sum() / 2)
    return Joint(wins, ties, losses, distance, (num_boards, seed))


def sampled_alike(counts: Joint, first: Abstraction, second: Abstraction) -> Joint:
    """Count the deals of a sample of boards again, with other buckets; no error is estimated.

    `counts` are those of `sampled_joint`, which tell the sample.
    """
    _check_same_game(first, second)
    assert counts.sample is not None
    _check_memory(first, second, cell_bytes(numba.get_num_threads()))
    num_boards, seed = counts.sample
    shape = first.num_buckets[-1], second.num_buckets[-1]
    sums: Matrices = [np.zeros(shape) for _ in range(2 if second is first else 3)]
    weights = np.ones(len(first.streets[-2].boards))
    with phase(f"counting deals on {num_boards:,} boards", total=NUM_GROUPS) as work:
        for done, deals in enumerate(sampled_deals(first.streets, num_boards, seed)):
            stopping.check()
            work.update(done)
            links = links_of(first.streets, deals, weights)
            sums = count_boards(first, second, links, so_far=(sums, 0), blocks=1)
    return replace(_joint(sums), sample=counts.sample)


def marginals(found: Abstraction) -> tuple[Counts, Counts, Counts]:
    """Return, for each last bucket, its number of deals, sum of values and sum of squares: [K].

    The values are hand strengths, except in a lossless abstraction. A deal is a board and one hand.
    """
    from equilibrist.kernels.cpu.rollout import sum_intervals

    streets, out = found.streets, np.zeros((3, found.num_buckets[-1]))
    labels, values, cuts = last_street(found)
    if len(streets) == 1:
        child = np.arange(len(streets[0].boards), dtype=np.int32)[:, None]
        links = child, np.zeros_like(child, np.uint8), streets[0].multiplicity
    else:
        links = streets[-2].child, streets[-2].renaming, streets[-2].multiplicity
    number = len(links[0])
    with phase("hands in each bucket of the last round", total=number, unit="boards") as work:
        for start in range(0, number, _BOARDS_TOGETHER):
            stopping.check()
            some = slice(start, start + _BOARDS_TOGETHER)
            part = links[0][some], links[1][some], links[2][some]
            sum_intervals(values, part, streets.renamed, labels[some], cuts, out)
            work.update(start)
    return out[0], out[1], out[2]


def sampled_deals(streets: Streets, num_boards: int, seed: int) -> Iterator[NDArray[np.int64]]:
    """Draw deals onto the second-to-last boards by probability, in `NUM_GROUPS` samples."""
    if len(streets) == 1 or num_boards < NUM_GROUPS:
        raise InvalidValueError(
            f"a sample needs at least {NUM_GROUPS} boards and a game of at least two rounds",
            value=num_boards,
        )
    random, before = np.random.default_rng(seed), streets[-2]
    num_deals = before.child.shape[1]
    upto = np.cumsum(before.multiplicity) * num_deals
    size = num_boards // NUM_GROUPS
    for _ in range(NUM_GROUPS):
        points = np.floor((np.arange(size) + random.random()) * upto[-1] / size).astype(np.int64)
        board = np.searchsorted(upto, points, side="right")
        yield board * num_deals + random.permutation(num_deals)[points % num_deals]


def _check_same_game(first: Abstraction, other: Abstraction) -> None:
    if other.rules != first.rules or other.streets.ordered != first.streets.ordered:
        raise InvalidValueError(
            f"the players' buckets are of different games, {first.rules.name} and "
            f"{other.rules.name}",
            value=other.rules.name,
        )


def _check_memory(first: Abstraction, other: Abstraction, bytes_of_cell: int) -> None:
    """Raise `InvalidValueError` if the matrices do not fit into memory."""
    shape = first.num_buckets[-1], other.num_buckets[-1]
    what = f"counts of {shape[0]:,} by {shape[1]:,} buckets need"
    needed, advice = shape[0] * shape[1] * bytes_of_cell, "use fewer buckets in the last round"
    check_fits(what, needed, available_bytes(), advice)

"""Fixed-strategy iteration: EctomynX's training of levels.

A cycle plays N hands with both strategies fixed. The profit of a hand is credited to its last
choice, times 0.8 to the choice before, and so on to the first; at each choice all levels between
the one played and the one intended are credited equally. A player that has not acted, because the
other folded first, has made no choice and learns nothing. Then every weight is multiplied by

    exp(rate · profit per visit)

and the weights of each group are scaled to sum to 1 again. Weights start as the report prints them,
or at random. What it calls strategy cleaning, which sets weights below a threshold to zero, was a
suggestion for later and is off by default.

Hands are numbered through all cycles and draw their random words by their number; profits are whole
numbers of 1/125 chip. So a run is the same with any number of threads, and a killed run that is
resumed reaches the same weights.

Source: EctomynX, "Pokerbots Strategy Report", IV; cleaning: V. Its "normalizing constant", our
`rate`, is not printed. It updates the levels in between "to varying degrees", which are not printed
either, and does not say what happens to players that have not acted: both are decided here.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from dataclasses import fields as fields_of
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from equilibrist import stopping
from equilibrist.errors import InvalidValueError
from equilibrist.papers.ectomynx.betting_lines import BB, BU
from equilibrist.papers.ectomynx.level_game import level_game
from equilibrist.papers.ectomynx.level_weights import (
    from_largest,
    normalise,
    num_weights,
    random_start,
    report_start,
)
from equilibrist.stopping import Stopped
from equilibrist.storage.array_file import damaged
from equilibrist.storage.artefact import Header, open_artefact, write_artefact
from equilibrist.storage.checkpoint import CheckpointClock, check_same_run
from equilibrist.storage.schema import ArrayRule, Fields, check_arrays

KIND = "level training"
VERSION = 2

_BLOCK = 1 << 22  # hands between two calls of `watch`
_MOST_LANES = 16  # copies of the sums, one per thread
_MATCH_DEALS = 1 << 20
_FIRST_SAVE = 1.0  # estimated seconds of the first checkpoint

CYCLES = ArrayRule("float64", (None, 4))  # stored form of cycles
_MOST_SUM = 2**61  # largest sum of profits or visits of a cycle

S = TypeVar("S")
Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True)
class FixedStrategy:
    """Hyper-parameters of the training."""

    hands: int = 10**9  # per cycle
    rate: float = 0.05  # a chip of profit per visit multiplies a weight by exp(rate)
    start: str = "report"  # or "random"
    cleaning: float = 0.0  # weights below this become zero after a cycle
    seed: int = 0

    def __post_init__(self) -> None:
        if self.start not in ("report", "random"):
            raise InvalidValueError(
                f"weights start from report or random, not {self.start!r}", value=self.start
            )
        if self.hands < 1 or not 0 <= self.cleaning < 1:
            raise InvalidValueError(
                f"a cycle needs at least one hand and cleaning must be from 0 to 1, "
                f"not {self.hands} and {self.cleaning}",
                value=(self.hands, self.cleaning),
            )
        check_rate(self.rate)


def check_rate(rate: float) -> None:
    """Raise `InvalidValueError` unless a learning rate is positive and finite."""
    if not (math.isfinite(rate) and rate > 0):
        raise InvalidValueError(f"a rate must be above zero and finite, not {rate}", value=rate)


@dataclass(frozen=True)
class Cycle:
    """Summary of a finished cycle."""

    number: int  # from 1
    mean_change: float  # mean absolute change of a weight
    win_rate: float  # against the previous strategy, chips per hand
    standard_error: float


@dataclass(eq=False)
class Training:
    """State of a run: weights, and the profits of the unfinished cycle's hands."""

    weights: Floats  # [2, W] by seat
    sums: Ints  # [2, W, 2] profits in 1/125 chip and visits
    hands_done: int = 0  # of the unfinished cycle
    cycles: list[Cycle] = field(default_factory=list)

    @classmethod
    def begin(cls, settings: FixedStrategy) -> Training:
        """Return the run before the first hand."""
        if settings.start == "report":
            seats = [report_start(seat) for seat in (BB, BU)]
        else:
            seats = [random_start(seat, settings.seed) for seat in (BB, BU)]
        return cls(np.array(seats), np.zeros((2, num_weights(), 2), np.int64))


Watch: TypeAlias = Callable[[Training], None]


def train(
    settings: FixedStrategy,
    cycles: int,
    *,
    out: Path | None = None,
    resume: bool = False,
    watch: Watch | None = None,
) -> Training:
    """Train until the run has `cycles` cycles; `watch` is called after every block and cycle.

    If `out` is given, the run is saved to this folder periodically and after every cycle; `resume`
    continues the run stored there. If a stop is requested, the run is saved and `Stopped` raised.
    """
    run = load_training(out, settings) if out and resume else Training.begin(settings)
    keep = CheckpointSaver(None if out is None else lambda: save_training(out, settings, run))
    work = CycleWork(lambda: play_block(settings, run), lambda: finish_cycle(settings, run))
    play_cycles(run, work, settings.hands, cycles, keep, watch)
    return run


class CycleRun(Protocol):
    """A run of cycles of hands, of either way of training."""

    hands_done: int  # of the unfinished cycle
    cycles: list[Cycle]


class CycleWork(NamedTuple):
    """Steps of a training: a block of hands, and the end of a cycle."""

    play: Callable[[], None]
    finish: Callable[[], None]


_Run = TypeVar("_Run", bound=CycleRun)


def play_cycles(
    run: _Run,
    work: CycleWork,
    hands: int,
    cycles: int,
    keep: CheckpointSaver,
    watch: Callable[[_Run], None] | None,
) -> None:
    """Play cycles of `hands` hands until the run has `cycles` of them, with checkpoints."""
    while len(run.cycles) < cycles:
        while run.hands_done < hands:
            keep.check_stop(run)
            work.play()
            if watch is not None:
                watch(run)
            keep(is_due=run.hands_done == hands)
        keep.check_stop(run)
        work.finish()
        keep(is_due=True)
        if watch is not None:
            watch(run)


def needed_bytes(threads: int) -> int:
    """Return the approximate memory of a training: old and new weights, and sums per thread.

    Example:
        >>> round(needed_bytes(2) / 1e9, 1)
        0.3
    """
    return 2 * 8 * num_weights() * (4 + 2 * (1 + min(threads, _MOST_LANES)))


def play_block(settings: FixedStrategy, run: Training) -> None:
    """Play the next block of hands of a cycle."""
    import numba

    from equilibrist.papers.ectomynx.kernels.fixed_strategy import play_cycle

    count = min(_BLOCK, settings.hands - run.hands_done)
    first = len(run.cycles) * settings.hands + run.hands_done
    lanes = min(numba.get_num_threads(), _MOST_LANES)
    # The first lane adds to the sums themselves.
    sums = run.sums[None] if lanes == 1 else np.zeros((lanes, *run.sums.shape), np.int64)
    numbers = key_of(settings.seed, 0), first, first + count
    play_cycle(*level_game(), *run.weights, numbers, sums)
    if lanes > 1:
        run.sums += sums.sum(axis=0)
    run.hands_done += count


def finish_cycle(settings: FixedStrategy, run: Training) -> None:
    """Update all weights by the profits, and play the new strategy against the old one."""
    before = run.weights.copy()
    run.weights = updated(before, run.sums, settings.rate, settings.cleaning)
    number = len(run.cycles) + 1
    won, error = head_to_head(run.weights, before, seed=settings.seed, stream=number)
    change = float(np.abs(run.weights - before).mean())
    run.cycles.append(Cycle(number, change, won, error))
    run.sums[:] = 0
    run.hands_done = 0


def updated(weights: Floats, sums: Ints, rate: float, cleaning: float = 0.0) -> Floats:
    """Return the weights [2, W] after a cycle with profits and visits `sums` [2, W, 2].

    Slots without visits change only by the normalisation of their group.
    """
    from equilibrist.papers.ectomynx.kernels.fixed_strategy import PROFIT, UNIT, VISITS

    visits = np.maximum(sums[..., VISITS], 1)
    exponents = rate * sums[..., PROFIT] / (UNIT * visits)
    exponents[weights == 0] = -np.inf
    weights = weights.copy()
    for seat in (BB, BU):
        from_largest(exponents[seat], seat)
        weights[seat] *= np.exp(exponents[seat])
        normalise(weights[seat], seat)
        if cleaning:
            weights[seat][weights[seat] < cleaning] = 0
            normalise(weights[seat], seat)
    return weights


def head_to_head(
    first: Floats, second: Floats, *, deals: int = _MATCH_DEALS, seed: int = 0, stream: int = 0
) -> tuple[float, float]:
    """Return the chips per hand that weights [2, W] `first` win from `second`, and the error.

    The match is in duplicate; the error is the standard error.
    """
    from equilibrist.papers.ectomynx.kernels.fixed_strategy import play_match

    sums = np.zeros((_MOST_LANES, 2), np.int64)
    play_match(*level_game(), first, second, (key_of(seed, 1 + stream), 0, deals), sums)
    return won_per_hand(sums, deals)


def won_per_hand(sums: Ints, deals: int) -> tuple[float, float]:
    """Return the mean and standard error per hand of `sums` [lanes, 2].

    The sums are the chips won in deals of two hands each, and their squares.
    """
    total, squares = sums.sum(axis=0).tolist()
    mean = total / deals
    spread = max(squares / deals - mean**2, 0.0) / max(deals - 1, 1)
    return mean / 2, float(np.sqrt(spread)) / 2


def key_of(seed: int, stream: int) -> np.uint64:
    """Return the random key of a run's hands (stream 0) or of the match after a cycle."""
    words = np.random.SeedSequence([seed, stream]).generate_state(1, np.uint64)
    return np.uint64(words[0])


# --- on disk --------------------------------------------------------------------------------------


class CheckpointSaver:
    """Saver of a run: calls `save` when a cycle ends or when a checkpoint is due."""

    def __init__(self, save: Callable[[], None] | None) -> None:
        self._save = save
        self._clock = CheckpointClock(cost=_FIRST_SAVE)
        self._block = time.perf_counter()
        self._is_saved = False

    def __call__(self, *, is_due: bool) -> None:
        """Save the run if `is_due`, or if the last checkpoint is long enough ago."""
        self._is_saved = False
        if self._save is not None and (is_due or self._clock.is_due()):
            with self._clock.writing():
                self._save()
            self._is_saved = True

    def check_stop(self, run: object) -> None:
        """Save the run and raise `Stopped` with it if a stop is requested; call between blocks."""
        now = time.perf_counter()
        if stopping.is_requested():
            if not self._is_saved:
                self(is_due=True)
            raise Stopped(partial=run)
        stopping.expect("block of hands", now - self._block + self._clock.cost)
        self._block = now


def save_training(out: Path, settings: FixedStrategy, run: Training) -> None:
    """Write a run; the folder always holds either the old or the new run."""
    header = Header(
        KIND,
        configuration={"version": VERSION, **asdict(settings)},
        info={"hands_done": run.hands_done},
        seed=settings.seed,
    )
    arrays = {"weights": run.weights, "sums": run.sums, "cycles": cycles_array(run.cycles)}
    write_artefact(out, header, arrays)


def load_training(folder: Path, settings: FixedStrategy | None = None) -> Training:
    """Load a run; raise `StorageError` unless it has this version and these settings."""
    stored = open_artefact(folder, KIND, in_memory=True)
    wanted = {"version": VERSION, **(asdict(settings) if settings else {})}
    check_same_run(folder, stored.configuration, wanted)
    fields, slots = Fields.configuration(stored), num_weights()
    made_by = read_settings(fields, FixedStrategy)
    rules = {
        "weights": ArrayRule("float64", (2, slots), low=0, high=1),
        "sums": ArrayRule("int64", (2, slots, 2), low=-_MOST_SUM, high=_MOST_SUM),
        "cycles": CYCLES,
    }
    check_arrays(stored, rules)
    weights, sums = stored.arrays["weights"], stored.arrays["sums"]
    for seat in (BB, BU):
        normalised = weights[seat].copy()
        normalise(normalised, seat)
        if not np.allclose(normalised, weights[seat], rtol=0, atol=1e-6):
            raise damaged(
                folder / stored.files["weights"].file, "has weights of a group that do not sum to 1"
            )
    hands_done = Fields.info(stored).whole("hands_done", 0, made_by.hands)
    return Training(weights, sums, hands_done, cycles_of(stored.arrays["cycles"]))


def read_settings(fields: Fields, kind: type[S]) -> S:
    """Read stored hyper-parameters; raise `StorageError` if they are invalid."""
    readers: dict[type, Callable[[str], Any]] = {
        int: fields.whole, float: fields.number, str: fields.text
    }  # fmt: skip
    found = {each.name: readers[type(each.default)](each.name) for each in fields_of(kind)}  # type: ignore[arg-type]
    try:
        return kind(**found)
    except InvalidValueError as error:
        raise fields.error("hands", f"part of settings that train ({error})") from None


def cycles_array(cycles: Sequence[Cycle]) -> Floats:
    """Return cycles in their stored form: [cycles, 4]."""
    return np.array([list(asdict(cycle).values()) for cycle in cycles]).reshape(-1, 4)


def cycles_of(rows: Floats) -> list[Cycle]:
    """Return the cycles of stored rows."""
    return [Cycle(int(number), *rest) for number, *rest in rows.tolist()]

"""Training of a player that decides action by action: regret minimisation on EctomynX's states.

Hands are walked in blocks with both strategies fixed, once for each seat (external sampling; swaps
are decisions too). Strategies are proportional to scores, which change after each block by one of
two rules:

    regret        regret matching+: scores are sums of regrets, at least zero; the final strategy is
                  the average strategy, in which block t has weight t
    exponential   based on the report's rule: scores times exp(rate · regret per visit), without its
                  factor 0.8; if all actions are legal at all visits, regrets and profits give the
                  same result, as they differ by the same amount for all actions; the final strategy
                  is the last one

Strategy cleaning, which sets probabilities below a threshold to zero, was suggested by the report
and is on.

Hands are numbered through all cycles and draw their random words by their number, and sums within a
block are whole numbers: a run is the same with any number of threads, and a killed run that is
resumed reaches the same strategy.

Source: EctomynX, "Pokerbots Strategy Report", IV and V; Lanctot et al., "Monte Carlo Sampling for
Regret Minimization in Extensive Games" (2009); Tammelin, "Solving Large Imperfect Information Games
Using CFR+" (2014).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from equilibrist.errors import InvalidValueError
from equilibrist.papers.ectomynx.decision_game import (
    NUM_ACTIONS,
    by_rule,
    decision_game,
    even,
    num_rows,
)
from equilibrist.papers.ectomynx.level_training import (
    CYCLES,
    CheckpointSaver,
    Cycle,
    CycleWork,
    check_rate,
    cycles_array,
    cycles_of,
    key_of,
    play_cycles,
    read_settings,
    won_per_hand,
)
from equilibrist.storage.artefact import Header, open_artefact, write_artefact
from equilibrist.storage.checkpoint import check_same_run
from equilibrist.storage.schema import ArrayRule, Fields, check_arrays

KIND = "decision training"
VERSION = 2

_MOST_LANES = 8  # copies of the sums, one per thread
_MATCH_DEALS = 1 << 18

Floats: TypeAlias = NDArray[np.float32]


@dataclass(frozen=True)
class Decisions:
    """Hyper-parameters of the training."""

    hands: int = 2_000_000  # per cycle
    block: int = 1 << 15  # hands between two changes of the strategies
    update: str = "regret"  # or "exponential"
    rate: float = 0.05  # exponential: a chip per visit multiplies a score by exp(rate)
    cleaning: float = 0.005  # probabilities below this become zero
    seed: int = 0

    def __post_init__(self) -> None:
        if self.update not in ("regret", "exponential"):
            raise InvalidValueError(
                f"strategies are updated by regret or exponential, not {self.update!r}",
                value=self.update,
            )
        if min(self.hands, self.block) < 1 or not 0 <= self.cleaning < 1 / NUM_ACTIONS:
            raise InvalidValueError(
                f"a cycle and a block need at least one hand and cleaning must be from 0 to a "
                f"quarter, not {self.hands}, {self.block} and {self.cleaning}",
                value=(self.hands, self.block, self.cleaning),
            )
        check_rate(self.rate)


@dataclass(eq=False)
class DecisionTraining:
    """State of a run: scores, averages, and the strategy at the end of the last cycle."""

    scores: Floats  # [R, 4]
    average: Floats  # [R, 4] sums of probabilities, with larger weights for later blocks
    before: Floats  # [R, 4] strategy at the end of the last cycle
    hands_done: int = 0  # of the unfinished cycle
    blocks: int = 0  # of all cycles
    cycles: list[Cycle] = field(default_factory=list)

    @classmethod
    def begin(cls, settings: Decisions) -> DecisionTraining:
        """Return the run before the first hand: always call, or with exponential, uniform."""
        scores, average = np.zeros((2, num_rows(), NUM_ACTIONS), np.float32)
        if settings.update == "exponential":
            scores = even()
        run = cls(scores, average, average)
        run.before = strategy_of_run(settings, run)
        return run


Watch: TypeAlias = Callable[[DecisionTraining], None]


def train(
    settings: Decisions,
    cycles: int,
    *,
    out: Path | None = None,
    resume: bool = False,
    watch: Watch | None = None,
) -> DecisionTraining:
    """Train until the run has `cycles` cycles, with the options of `level_training.train`."""
    run = load_training(out, settings) if out and resume else DecisionTraining.begin(settings)
    keep = CheckpointSaver(None if out is None else lambda: save_training(out, settings, run))
    sums = Sums.empty()
    work = CycleWork(lambda: walk_block(settings, run, sums), lambda: finish_cycle(settings, run))
    play_cycles(run, work, settings.hands, cycles, keep, watch)
    return run


@dataclass(eq=False)
class Sums:
    """Sums over the walks of a block, one copy per thread; zero between blocks."""

    gains: NDArray[np.int64]  # [lanes, R, 4]
    chosen: NDArray[np.int64]  # [lanes, R, 4]
    visits: NDArray[np.int64]  # [lanes, R]

    @classmethod
    def empty(cls) -> Sums:
        """Return zero sums for the threads in use."""
        import numba

        lanes, rows = min(numba.get_num_threads(), _MOST_LANES), num_rows()
        gains, chosen = np.zeros((2, lanes, rows, NUM_ACTIONS), np.int64)
        return cls(gains, chosen, np.zeros((lanes, rows), np.int64))


def needed_bytes(threads: int) -> int:
    """Return the approximate memory of a training: four strategies, and sums per thread.

    Example:
        >>> round(needed_bytes(2) / 1e9, 1)
        0.8
    """
    sums = 8 * (2 * NUM_ACTIONS + 1) * min(threads, _MOST_LANES)
    return num_rows() * (sums + 4 * 4 * NUM_ACTIONS)


def walk_block(settings: Decisions, run: DecisionTraining, sums: Sums) -> None:
    """Walk the next block of hands of a cycle and update the scores."""
    from equilibrist.papers.ectomynx.kernels import decisions

    count = min(settings.block, settings.hands - run.hands_done)
    first = len(run.cycles) * settings.hands + run.hands_done
    numbers = key_of(settings.seed, 0), first, first + count
    parts = sums.gains, sums.chosen, sums.visits
    decisions.walk_hands(*decision_game(), run.scores, numbers, parts)
    run.blocks += 1
    if settings.update == "regret":
        decisions.match_regrets(
            run.scores, run.average, sums.gains, sums.chosen, sums.visits, float(run.blocks)
        )
    else:
        decisions.multiply_scores(
            run.scores, sums.gains, sums.chosen, sums.visits, settings.rate, settings.cleaning
        )
    run.hands_done += count


def finish_cycle(settings: Decisions, run: DecisionTraining) -> None:
    """Play the current strategy against that of the previous cycle and record the cycle."""
    strategy, number = strategy_of_run(settings, run), len(run.cycles) + 1
    won, error = head_to_head(strategy, run.before, seed=settings.seed, stream=number)
    change = float(np.abs(strategy - run.before).mean())
    run.cycles.append(Cycle(number, change, won, error))
    run.before, run.hands_done = strategy, 0


def strategy_of_run(settings: Decisions, run: DecisionTraining) -> Floats:
    """Return the probabilities [R, 4] of a run's strategy, after cleaning.

    Rows that the opponent's actions never led to have scores but no average, so they play by their
    scores. Rows that no walk visited call, or swap by the rule.
    """
    probabilities = by_rule().copy()
    for found in (run.scores, run.average):
        total = found.sum(axis=1, keepdims=True)
        np.divide(found, total, out=probabilities, where=total > 0)
    probabilities[probabilities < settings.cleaning] = 0
    return np.asarray(probabilities / probabilities.sum(axis=1, keepdims=True), np.float32)


def head_to_head(
    first: Floats, second: Floats, *, deals: int | None = None, seed: int = 0, stream: int = 0
) -> tuple[float, float]:
    """Return the chips per hand that strategy [R, 4] `first` wins from `second`, and its error.

    The match is in duplicate; the error is the standard error.
    """
    from equilibrist.papers.ectomynx.kernels.decision_matches import play_deals

    deals = deals or _MATCH_DEALS
    sums = np.zeros((_MOST_LANES, 2), np.int64)
    play_deals(*decision_game(), first, second, (key_of(seed, 1 + stream), 0, deals), sums)
    return won_per_hand(sums, deals)


# --- on disk --------------------------------------------------------------------------------------


def save_training(out: Path, settings: Decisions, run: DecisionTraining) -> None:
    """Write a run; the folder always holds either the old or the new run."""
    arrays = {"scores": run.scores, "average": run.average, "before": run.before}
    header = Header(
        KIND,
        configuration={"version": VERSION, **asdict(settings)},
        info={"hands_done": run.hands_done, "blocks": run.blocks},
        seed=settings.seed,
    )
    write_artefact(out, header, {**arrays, "cycles": cycles_array(run.cycles)})


def load_training(folder: Path, settings: Decisions | None = None) -> DecisionTraining:
    """Load a run; raise `StorageError` unless it has this version and these settings."""
    return _load(folder, settings)[1]


def _load(folder: Path, settings: Decisions | None) -> tuple[Decisions, DecisionTraining]:
    stored = open_artefact(folder, KIND, in_memory=True)
    wanted = {"version": VERSION, **(asdict(settings) if settings else {})}
    check_same_run(folder, stored.configuration, wanted)
    made_by, info = read_settings(Fields.configuration(stored), Decisions), Fields.info(stored)
    table = ArrayRule("float32", by_rule().shape, low=0)
    check_arrays(stored, {"scores": table, "average": table, "before": table, "cycles": CYCLES})
    scores, average, before = (stored.arrays[name] for name in ("scores", "average", "before"))
    hands_done, blocks = info.whole("hands_done", 0, made_by.hands), info.whole("blocks")
    cycles = cycles_of(stored.arrays["cycles"])
    return made_by, DecisionTraining(scores, average, before, hands_done, blocks, cycles)


def load_strategy(folder: Path) -> Floats:
    """Load the probabilities [R, 4] of the run in a folder."""
    return strategy_of_run(*_load(folder, None))

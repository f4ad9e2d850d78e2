"""Training of a player that decides action by action: regret minimisation on EctomynX's states.

Hands are walked in blocks with both strategies fixed, once for each seat (external sampling; swaps
are decisions too). After a block the scores that strategies are proportional to change, by one of
two rules:

    regret        regret matching+: scores are sums of regrets, none below zero; what is played in
                  the end is the average strategy, in which block t counts t times
    exponential   after the report's: scores times exp(rate · regret per visit), without its factor
                  0.8; where all actions are legal at all visits a regret is as good as the profit,
                  from which it differs by the same for all; played as they end

Strategy cleaning, chances below a threshold becoming none, was the report's wish and is on.

Hands are counted through all cycles and draw their random words by their number, and sums within a
block are whole numbers: a run is the same with any number of threads, and one that was killed goes
on to the same strategy.

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
    Cycle,
    Keeper,
    check_rate,
    check_same,
    cycles_array,
    cycles_of,
    key_of,
    read_settings,
    won_per_hand,
)
from equilibrist.storage.artefact import open_artefact, write_artefact
from equilibrist.storage.schema import ArrayRule, Fields, check_arrays

KIND = "decision training"
VERSION = 2

_MOST_LANES = 8  # copies of the sums, one a thread
_MATCH_DEALS = 1 << 18

Floats: TypeAlias = NDArray[np.float32]


@dataclass(frozen=True)
class Decisions:
    """How to train: hyper-parameters only."""

    hands: int = 2_000_000  # of a cycle
    block: int = 1 << 15  # hands between two changes of the strategies
    update: str = "regret"  # or "exponential"
    rate: float = 0.05  # exponential: a chip per visit multiplies a score by exp(rate)
    cleaning: float = 0.005  # chances below are none
    seed: int = 0

    def __post_init__(self) -> None:
        if self.update not in ("regret", "exponential"):
            raise InvalidValueError(
                f"strategies are updated by regret or exponential, not {self.update!r}",
                value=self.update,
            )
        if min(self.hands, self.block) < 1 or not 0 <= self.cleaning < 1 / NUM_ACTIONS:
            raise InvalidValueError(
                f"a cycle and a block have at least one hand and cleaning is from 0 to a quarter, "
                f"not {self.hands}, {self.block} and {self.cleaning}",
                value=(self.hands, self.block, self.cleaning),
            )
        check_rate(self.rate)


@dataclass(eq=False)
class DecisionTraining:
    """A run: scores and averages, and the strategy that the last cycle ended with."""

    scores: Floats  # [R, 4]
    average: Floats  # [R, 4] sums of chances, later blocks counting more
    before: Floats  # [R, 4]
    hands_done: int = 0  # of the unfinished cycle
    blocks: int = 0  # of all cycles
    cycles: list[Cycle] = field(default_factory=list)

    @classmethod
    def begin(cls, settings: Decisions) -> DecisionTraining:
        """The run before the first hand: calls everything, swaps by the rule; or is even."""
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
    """Train for so many cycles in all, as `fixed_strategy.train` does."""
    run = load_training(out, settings) if out and resume else DecisionTraining.begin(settings)
    keep = Keeper(None if out is None else lambda: save_training(out, settings, run))
    sums = Sums.empty()
    while len(run.cycles) < cycles:
        while run.hands_done < settings.hands:
            keep.stop_if_asked(run)
            walk_block(settings, run, sums)
            if watch is not None:
                watch(run)
            keep(is_due=False)
        keep.stop_if_asked(run)
        finish_cycle(settings, run)
        keep(is_due=True)
        if watch is not None:
            watch(run)
    return run


@dataclass(eq=False)
class Sums:
    """What the walks of a block add up, a copy for each thread; zero between blocks."""

    gains: NDArray[np.int64]  # [lanes, R, 4]
    chosen: NDArray[np.int64]  # [lanes, R, 4]
    visits: NDArray[np.int64]  # [lanes, R]

    @classmethod
    def empty(cls) -> Sums:
        """Sums for as many threads as there are."""
        import numba

        lanes, rows = min(numba.get_num_threads(), _MOST_LANES), num_rows()
        gains, chosen = np.zeros((2, lanes, rows, NUM_ACTIONS), np.int64)
        return cls(gains, chosen, np.zeros((lanes, rows), np.int64))


def needed_bytes(threads: int) -> int:
    """Memory of a training, about: four strategies, and the sums of each thread.

    Example:
        >>> round(needed_bytes(2) / 1e9, 1)
        0.8
    """
    sums = 8 * (2 * NUM_ACTIONS + 1) * min(threads, _MOST_LANES)
    return num_rows() * (sums + 4 * 4 * NUM_ACTIONS)


def walk_block(settings: Decisions, run: DecisionTraining, sums: Sums) -> None:
    """Walk the next hands of a cycle and change the scores by them."""
    from equilibrist.papers.ectomynx.kernels import decisions

    count = min(settings.block, settings.hands - run.hands_done)
    first = len(run.cycles) * settings.hands + run.hands_done
    decisions.walk_hands(
        *decision_game(), run.scores, key_of(settings.seed, 0), first, first + count,
        sums.gains, sums.chosen, sums.visits,
    )  # fmt: skip
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
    """Play the strategy of now against that of the cycle before."""
    strategy, number = strategy_of_run(settings, run), len(run.cycles) + 1
    won, error = head_to_head(strategy, run.before, seed=settings.seed, stream=number)
    change = float(np.abs(strategy - run.before).mean())
    run.cycles.append(Cycle(number, change, won, error))
    run.before, run.hands_done = strategy, 0


def strategy_of_run(settings: Decisions, run: DecisionTraining) -> Floats:
    """Chances [R, 4] that a run has come to, cleaned.

    Rows that the other's play never led to have scores, but no average: they play by their scores.
    Rows that no walk met call, or swap by the rule.
    """
    chances = by_rule().copy()
    for found in (run.scores, run.average):
        total = found.sum(axis=1, keepdims=True)
        np.divide(found, total, out=chances, where=total > 0)
    chances[chances < settings.cleaning] = 0
    return np.asarray(chances / chances.sum(axis=1, keepdims=True), np.float32)


def head_to_head(
    first: Floats, second: Floats, *, deals: int | None = None, seed: int = 0, stream: int = 0
) -> tuple[float, float]:
    """Chips a hand that chances [R, 4] win from others, and the standard error, in duplicate."""
    from equilibrist.papers.ectomynx.kernels.decision_matches import play_deals

    deals = deals or _MATCH_DEALS
    sums = np.zeros((_MOST_LANES, 2), np.int64)
    play_deals(*decision_game(), first, second, key_of(seed, 1 + stream), 0, deals, sums)
    return won_per_hand(sums, deals)


# --- on disk --------------------------------------------------------------------------------------


def save_training(out: Path, settings: Decisions, run: DecisionTraining) -> None:
    """Write a run; the folder holds the old one or the new one, never half."""
    arrays = {"scores": run.scores, "average": run.average, "before": run.before}
    write_artefact(
        out,
        KIND,
        {**arrays, "cycles": cycles_array(run.cycles)},
        configuration={"version": VERSION, **asdict(settings)},
        info={"hands_done": run.hands_done, "blocks": run.blocks},
        seed=settings.seed,
    )


def load_training(folder: Path, settings: Decisions | None = None) -> DecisionTraining:
    """The run in a folder; `StorageError` unless it is of this version and these settings."""
    return _load(folder, settings)[1]


def _load(folder: Path, settings: Decisions | None) -> tuple[Decisions, DecisionTraining]:
    stored = open_artefact(folder, KIND, in_memory=True)
    wanted = {"version": VERSION, **(asdict(settings) if settings else {})}
    check_same(folder, stored.configuration, wanted)
    made_by, info = read_settings(Fields.configuration(stored), Decisions), Fields.info(stored)
    table = ArrayRule("float32", by_rule().shape, low=0)
    check_arrays(stored, {"scores": table, "average": table, "before": table, "cycles": CYCLES})
    scores, average, before = (stored.arrays[name] for name in ("scores", "average", "before"))
    hands_done, blocks = info.whole("hands_done", 0, made_by.hands), info.whole("blocks")
    cycles = cycles_of(stored.arrays["cycles"])
    return made_by, DecisionTraining(scores, average, before, hands_done, blocks, cycles)


def load_strategy(folder: Path) -> Floats:
    """The chances [R, 4] of the run in a folder."""
    return strategy_of_run(*_load(folder, None))

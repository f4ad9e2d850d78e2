"""`equilibrist train` of bots that learn by playing hands against themselves."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from equilibrist.cli.options import emit, most_threads, prepare_kernels

if TYPE_CHECKING:
    from equilibrist.bots.registry import SelfTaught
    from equilibrist.papers.ectomynx.decision_training import Decisions, DecisionTraining
    from equilibrist.papers.ectomynx.level_training import Cycle, FixedStrategy, Training

    Settings: TypeAlias = FixedStrategy | Decisions
    Run: TypeAlias = Training | DecisionTraining

_PATIENCE = 10.0  # seconds between two lines within a cycle
_NORMAL_95 = 1.959964  # standard errors on either side of a 95 % interval


class Wishes(NamedTuple):
    """What the command line asks of a training; None where it is the bot's own."""

    cycles: int | None = None
    hands: int | None = None
    rate: float | None = None
    cleaning: float | None = None
    update: str | None = None


def method_of(bot: SelfTaught) -> tuple[Any, Any, tuple[str, ...]]:
    """The module that trains a bot, its settings, and the kernels that it runs."""
    from equilibrist.papers.ectomynx import decision_training, level_training

    if bot.method == "levels":
        kernels = "fixed_strategy.play_cycle", "fixed_strategy.play_match"
        return level_training, level_training.FixedStrategy, kernels
    kernels = "decisions.walk_hands", "decision_matches.play_deals"
    return decision_training, decision_training.Decisions, kernels


def train(
    bot: SelfTaught,
    out: Path | None,
    wishes: Wishes,
    *,
    json: bool,
    seed: int,
    threads: int | None,
) -> None:
    """Play cycles of hands and say how each went; a run that is there goes on."""
    from equilibrist.errors import InvalidValueError
    from equilibrist.storage.artefact import check_target
    from equilibrist.storage.ownership import owned

    method = method_of(bot)[0]
    settings, folder = _settings(bot, wishes, seed), out or bot.folder
    cycles = bot.cycles if wishes.cycles is None else wishes.cycles
    if cycles < 1:
        raise InvalidValueError(f"--cycles is one or more, not {cycles}", value=cycles)
    check_target(folder, method.KIND)
    with owned(folder):
        run, watch = _train(bot, method, settings, folder, cycles, threads)
    rows = [_cycle_json(cycle, watch.big_blind) for cycle in run.cycles]
    data = {
        "bot": bot.name,
        "game": bot.game,
        "hands": _hands(settings, run),
        "cycles": rows,
        "hands_per_second": watch.speed,
        "seconds": watch.seconds,
        "out": str(folder),
    }
    name = bot.name if out is None else f"{bot.name}:{folder}"
    lines = [_cycle_text(cycle, watch.big_blind) for cycle in run.cycles]
    lines.append(f"play against it: equilibrist play {name} --game {bot.game}")
    emit(data, "\n".join(lines), as_json=json)


def _train(
    bot: SelfTaught, method: Any, settings: Settings, folder: Path, cycles: int, threads: int | None
) -> tuple[Run, _Watch]:
    """Play the cycles that are left of the run in a folder."""
    from equilibrist.cli.interrupts import leave
    from equilibrist.cli.progress import duration
    from equilibrist.games.catalog import load_game
    from equilibrist.storage.manifest import MANIFEST
    from equilibrist.storage.memory import gigabytes
    from equilibrist.storage.stopping import Stopped

    is_there = (folder / MANIFEST).exists()
    earlier = method.load_training(folder, settings) if is_there else None
    left = cycles * settings.hands - (_hands(settings, earlier) if earlier else 0)
    cores = threads or most_threads()
    print(
        f"{bot.name}: {cycles} cycles of {settings.hands:,} hands, {max(left, 0):,} to play, about "
        f"{duration(left / bot.speed / cores)} with {cores} threads and "
        f"{gigabytes(method.needed_bytes(cores))} of memory",
        file=sys.stderr,
    )
    prepare_kernels(threads, *method_of(bot)[2])
    watch = _Watch(settings, cycles, load_game(bot.game).big_blind, earlier)
    try:
        return method.train(settings, cycles, out=folder, resume=is_there, watch=watch), watch
    except Stopped as stopped:
        hands = _hands(settings, stopped.partial)
        leave(f"stopped after {hands:,} hands, saved in {folder}; the same command goes on")


def _settings(bot: SelfTaught, wishes: Wishes, seed: int) -> Settings:
    from equilibrist.errors import InvalidValueError

    given = {name: value for name, value in wishes._asdict().items() if value is not None}
    given.pop("cycles", None)
    if bot.method == "levels" and "update" in given:
        raise InvalidValueError(
            f"{bot.name} has one update, the exponential; --update is for ectomynx-frc",
            value=given["update"],
        )
    make = method_of(bot)[1]
    found: Settings = make(**{"hands": bot.hands, "cleaning": bot.cleaning, "seed": seed} | given)
    if "rate" in given and getattr(found, "update", "") == "regret":
        raise InvalidValueError(
            "regrets are added as they are; --rate is for --update exponential",
            value=given["rate"],
        )
    return found


def _hands(settings: Settings, run: Run) -> int:
    """Hands of a run so far."""
    return len(run.cycles) * settings.hands + run.hands_done


class _Watch:
    """Says on stderr how a training stands: after every cycle, and within long ones."""

    def __init__(
        self, settings: Settings, cycles: int, big_blind: int, earlier: Run | None
    ) -> None:
        self.settings, self.cycles, self.big_blind = settings, cycles, big_blind
        self._begun = _hands(settings, earlier) if earlier else 0
        self._told = len(earlier.cycles) if earlier else 0
        self._played = self._begun
        self._start = self._spoken = time.perf_counter()
        self.seconds = 0.0

    @property
    def speed(self) -> float | None:
        """Hands a second, evaluation among them; None before there were any."""
        played = self._played - self._begun
        return played / self.seconds if played and self.seconds else None

    def __call__(self, run: Run) -> None:
        """Take note of a block of hands or a cycle."""
        from equilibrist.cli.progress import duration

        now = time.perf_counter()
        self.seconds, self._played = now - self._start, _hands(self.settings, run)
        if len(run.cycles) > self._told:
            self._told = len(run.cycles)
            speed = f"; {self.speed:,.0f} hands/s" if self.speed else ""  # none but before a kill
            self._say(_cycle_text(run.cycles[-1], self.big_blind) + speed)
        elif now - self._spoken > _PATIENCE and self.speed:
            left = self.cycles * self.settings.hands - self._played
            self._say(
                f"cycle {len(run.cycles) + 1}: {run.hands_done:,} hands, {self.speed:,.0f} "
                f"hands/s, about {duration(left / self.speed)} left"
            )

    def _say(self, text: str) -> None:
        self._spoken = time.perf_counter()
        print(text, file=sys.stderr, flush=True)


def _cycle_json(cycle: Cycle, big_blind: int) -> dict[str, Any]:
    """A cycle with what it won from the strategy before, in thousandths of a big blind a hand."""
    won, error = (1000 * x / big_blind for x in (cycle.win_rate, cycle.standard_error))
    return {
        "cycle": cycle.number,
        "mean_change": cycle.mean_change,
        "win_rate": won,
        "unit": "mbb/g",
        "standard_error": error,
        "ci95": [won - _NORMAL_95 * error, won + _NORMAL_95 * error],
    }


def _cycle_text(cycle: Cycle, big_blind: int) -> str:
    row = _cycle_json(cycle, big_blind)
    return (
        f"cycle {cycle.number}: chances changed by {cycle.mean_change:.2g} on average, wins "
        f"{row['win_rate']:.1f} ± {_NORMAL_95 * row['standard_error']:.1f} mbb/g (95 %) from the "
        "strategy before"
    )

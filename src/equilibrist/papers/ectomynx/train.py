"""Training of EctomynX's bots: cycles of hands against themselves, changed after each."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

from equilibrist.bots.bot import SelfTaughtBot
from equilibrist.bots.listing import num_bytes
from equilibrist.bots.train import TrainedBot, TrainingOptions, TrainingReport
from equilibrist.errors import InvalidValueError, StorageError
from equilibrist.papers.ectomynx import decision_training, level_training
from equilibrist.papers.ectomynx.decision_training import Decisions, DecisionTraining
from equilibrist.papers.ectomynx.level_training import FixedStrategy, Training
from equilibrist.storage.artefact import check_target, read_identity
from equilibrist.storage.manifest import MANIFEST
from equilibrist.storage.ownership import owned
from equilibrist.storage.threads import most_threads

Settings: TypeAlias = FixedStrategy | Decisions
CycleRun: TypeAlias = Training | DecisionTraining

_METHODS: dict[str, tuple[ModuleType, Any]] = {
    "levels": (level_training, FixedStrategy),
    "decisions": (decision_training, Decisions),
}


@dataclass(frozen=True)
class TrainingPlan:
    """Plan of a training: its settings, its cycles, and the run that it continues."""

    bot: SelfTaughtBot
    settings: Settings
    cycles: int
    earlier: CycleRun | None
    threads: int
    needed_bytes: int

    @property
    def hands_left(self) -> int:
        """Return the number of hands that are still to be played."""
        done = num_hands(self.settings, self.earlier) if self.earlier else 0
        return max(0, self.cycles * self.settings.hands - done)


@dataclass(frozen=True, eq=False)
class TaughtBot(TrainedBot):
    """The result of a training by cycles of hands."""

    bot: SelfTaughtBot
    settings: Settings
    run: CycleRun


def run_status(bot: SelfTaughtBot, folder: Path) -> dict[str, Any]:
    """Return the fields of a bot's row in the list that its run decides."""
    if not (folder / MANIFEST).exists():
        return {"trained": False, "state": "not trained"}
    row: dict[str, Any] = {"trained": True, "state": "begun"}
    row |= {"folder": str(folder), "bytes": num_bytes(folder), "problem": None}
    try:
        _METHODS[bot.method][0].load_training(folder)
        stored = read_identity(folder)
        cycles = stored.files["cycles"].shape[0]
        row |= {"cycles": cycles, "hands": stored.configuration["hands"]}
        row["state"] = "trained" if cycles else "begun"
    except StorageError as error:
        row["problem"] = str(error)
    return row


def num_hands(settings: Settings, run: CycleRun) -> int:
    """Return the number of hands of a run so far."""
    return len(run.cycles) * settings.hands + run.hands_done


def train(
    bot: SelfTaughtBot, folder: Path, options: TrainingOptions, report: TrainingReport
) -> TaughtBot:
    """Play the cycles that are left; `report.cycle` receives the plan, then the run block by block.

    `Stopped` carries the run so far as `partial`, and what is stored is whole.
    """
    method = _METHODS[bot.method][0]
    settings = _settings(bot, options)
    cycles = bot.cycles if options.cycles is None else options.cycles
    if cycles < 1:
        raise InvalidValueError(f"the number of cycles is at least 1, not {cycles}", value=cycles)
    check_target(folder, method.KIND)
    with owned(folder):
        is_there = (folder / MANIFEST).exists()
        earlier = method.load_training(folder, settings) if is_there else None
        threads = options.threads or most_threads()
        report.cycle(
            TrainingPlan(bot, settings, cycles, earlier, threads, method.needed_bytes(threads))
        )
        report.prepare(bot)
        run = method.train(settings, cycles, out=folder, resume=is_there, watch=report.cycle)
    return TaughtBot(bot, folder, settings, run)


def _settings(bot: SelfTaughtBot, options: TrainingOptions) -> Settings:
    """Return the settings of a bot's training, the bot's own where no option is given."""
    fields = ("hands", "rate", "cleaning", "update")
    given = {name: getattr(options, name) for name in fields}
    given = {name: value for name, value in given.items() if value is not None}
    if bot.method == "levels" and "update" in given:
        raise InvalidValueError(
            f"{bot.name} has one update, the exponential; only ectomynx-frc has a choice",
            value=given["update"],
        )
    own = {"hands": bot.hands, "cleaning": bot.cleaning, "seed": options.seed}
    found: Settings = _METHODS[bot.method][1](**own | given)
    if "rate" in given and getattr(found, "update", "") == "regret":
        raise InvalidValueError(
            "regrets are added as they are; only the exponential update has a rate",
            value=given["rate"],
        )
    return found

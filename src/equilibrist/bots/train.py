"""The one way to train a bot: `train` runs its steps and returns what came of them.

The command line, the demo, notebooks and pages call this function; each gives it a report that
shows progress in its own way. Every step goes on from what the folder holds, so a training that
was stopped or killed goes on with the same call, and a finished one has nothing left to do.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from equilibrist.abstraction import buckets as abstraction
from equilibrist.abstraction import joint_counts
from equilibrist.bots import training
from equilibrist.bots.registry import (
    BUCKETS,
    COUNTS,
    ENDS,
    SELF_TAUGHT,
    Bot,
    GluedBot,
    SelfTaught,
    get_bot,
    is_current,
)
from equilibrist.bots.training import Needs, Prepared
from equilibrist.catalogue import load_object
from equilibrist.errors import InvalidValueError
from equilibrist.games.catalog import load_game
from equilibrist.models import endings
from equilibrist.models.game import SequenceGame
from equilibrist.solving.solve import Outcome, Run, check_budget
from equilibrist.solving.solver import Solver
from equilibrist.storage import stopping
from equilibrist.storage.artefact import check_target
from equilibrist.storage.ownership import owned
from equilibrist.storage.threads import most_threads
from equilibrist.strategies import quantized, solution


@dataclass(frozen=True)
class TrainingOptions:
    """What a training may be asked for; None stands for the bot's own setting."""

    target: float | None = None  # exploitability in mbb/g at which a bot of buckets is done
    seconds: float | None = None  # maximum time of solving, for each model
    seed: int = 0
    threads: int | None = None
    force: bool = False  # train even if the forecast exceeds memory
    cycles: int | None = None  # the rest is for bots that play against themselves
    hands: int | None = None  # of a cycle
    rate: float | None = None
    cleaning: float | None = None
    update: str | None = None


class TrainingReport:
    """Receives what a training has to say; this one is silent, others override its methods."""

    def forecast(self, bot: Bot, needs: Needs) -> None:
        """Receive what each step will need, before any work and before memory is checked."""

    def prepare(self, bot: Bot | SelfTaught) -> None:
        """Be told that computing starts; kernels may have to be compiled."""

    def say(self, text: str) -> None:
        """Receive the name of a step that starts, or a remark."""

    def progress(self, what: str) -> Callable[[float], None]:
        """Return a function that receives the share of a step that is done, from 0 to 1."""
        return lambda share: None

    @contextlib.contextmanager
    def solving(
        self, game: SequenceGame, solver: Solver, target: float, seconds: float | None, bot: Bot
    ) -> Iterator[Callable[[Run], None] | None]:
        """Return a context whose value, if any, receives the run as it proceeds."""
        yield None

    def cycle(self, run: Any) -> None:
        """Receive the run of a bot that plays against itself, now and then."""


@dataclass(frozen=True, eq=False)
class SolvedModel:
    """A model of a bot that was solved, to its target or as far as it went."""

    name: str  # its folder within the bot's
    game: SequenceGame
    solver: Solver
    run: Run
    folder: Path | None

    @property
    def is_interrupted(self) -> bool:
        """Return whether solving was stopped before its end."""
        return self.run.outcome is Outcome.INTERRUPTED


@dataclass(frozen=True, eq=False)
class TrainedBot:
    """What a training came to."""

    bot: Bot
    folder: Path
    models: tuple[SolvedModel, ...]  # one, except for bots that are glued from several

    @property
    def is_interrupted(self) -> bool:
        """Return whether the training was stopped before its end."""
        return self.models[-1].is_interrupted

    @property
    def is_playable(self) -> bool:
        """Return whether the bot can play: all models of a glued bot must be there."""
        return not isinstance(self.bot, GluedBot) or is_current(self.folder / self.bot.strategy)

    @property
    def player(self) -> str:
        """Return the name by which commands and `make_player` know it."""
        if self.folder == self.bot.folder:
            return self.bot.name
        if self.bot.last_round is None:
            return f"solution:{self.folder / self.bot.strategy}"
        return f"{self.bot.name}:from={self.folder / self.bot.solution}"


_CYCLE_FIELDS = ("cycles", "hands", "rate", "cleaning", "update")
_DEFAULTS = TrainingOptions()
_SILENT = TrainingReport()


def train(
    name: str,
    folder: Path | None = None,
    *,
    options: TrainingOptions = _DEFAULTS,
    report: TrainingReport = _SILENT,
) -> Any:
    """Train a bot in a folder, by default its own below `bots/`, or go on with it.

    Returns a `TrainedBot`, or for a bot that plays against itself what its own trainer returns.
    Raises `InvalidValueError` before any work if memory cannot hold what a step needs.
    """
    if name in SELF_TAUGHT:
        taught = SELF_TAUGHT[name]
        _refuse(name, options, ("target", "seconds", "force"), "learns in cycles of hands")
        return load_object(taught.trainer)(taught, folder or taught.folder, options, report)
    bot = get_bot(name)
    _refuse(name, options, _CYCLE_FIELDS, "is solved to a target")
    if options.target is not None:
        bot = replace(bot, target=options.target)
    return _train_buckets(bot, folder or bot.folder, options, report)


def _refuse(name: str, options: TrainingOptions, fields: tuple[str, ...], why: str) -> None:
    """Raise `InvalidValueError` for options that this kind of bot does not have."""
    for field in fields:
        if getattr(options, field) not in (None, False):
            raise InvalidValueError(f"{name} {why} and has no option {field}", value=field)


def _train_buckets(
    bot: Bot, folder: Path, options: TrainingOptions, report: TrainingReport
) -> TrainedBot:
    """Train a bot of buckets: buckets, joint counts, endings, solution, strategy."""
    check_budget(target=bot.target, seconds=options.seconds)
    for part, kind in _kinds(bot).items():
        check_target(folder / part, kind)
    rules = load_game(bot.game)
    needs = training.needs(bot, rules, folder, options.threads or most_threads())
    report.forecast(bot, needs)
    if not options.force:
        needs.check(bot.name)
    report.prepare(bot)
    seed = options.seed
    buckets = training.make_buckets(
        rules, bot.recipe, bot.buckets, folder, seed=seed, say=report.say
    )
    if needs.counts is not None:
        report.say("counting deals")
    training.count_deals(bot, folder, buckets, seed=seed, tell=report.progress("counting deals"))
    solve_models = load_object(bot.solve_models)
    return TrainedBot(bot, folder, tuple(solve_models(bot, folder, options, report)))


def _kinds(bot: Bot) -> dict[str, str]:
    """Return the kind of artefact of each folder of a bot."""
    return {
        BUCKETS: abstraction.KIND,
        COUNTS: joint_counts.KIND,
        ENDS: endings.KIND,
        bot.solution: solution.KIND,
        bot.strategy: quantized.KIND,
    }


def solve_whole_game(
    bot: Bot, folder: Path, options: TrainingOptions, report: TrainingReport
) -> list[SolvedModel]:
    """Solve the one game of a bot and store what it plays from."""
    tell = report.progress("playing out what the first phase leaves")
    with owned(folder / bot.solution):
        prepared = training.prepare(bot, folder, seed=options.seed, tell=tell)
        solved = solve_model(bot.solution, bot, prepared, options, report)
        training.keep_strategy(bot, folder)
    return [solved]


def solve_model(
    name: str, bot: Bot, prepared: Prepared, options: TrainingOptions, report: TrainingReport
) -> SolvedModel:
    """Solve one game of a bot to the bot's target, or until the time is over."""
    game, solver, store, _ = prepared
    target = training.target_chips(bot, game)
    with report.solving(game, solver, target, options.seconds, bot) as watch:
        run = training.run(
            bot, prepared, target=target, seconds=options.seconds, seed=options.seed, watch=watch
        )
    if not run.state["iteration"]:
        stopping.check()  # nothing is solved that could be played
    return SolvedModel(name, game, solver, run, store.out)

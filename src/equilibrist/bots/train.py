"""Trains a bot: `train` runs all its steps and returns the result.

The command line, the demo, notebooks and pages call this function; each gives it a report that
shows progress in its own way. Every step continues from the contents of the folder, so the same
call continues a training that was stopped or killed, and a finished one has nothing left to do.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from equilibrist import stopping
from equilibrist.abstraction import buckets as abstraction
from equilibrist.abstraction import joint_counts
from equilibrist.bots import training
from equilibrist.bots.bot import BUCKETS, COUNTS, ENDS, Bot, BucketBot, RealGameBot, is_current
from equilibrist.bots.registry import BOTS
from equilibrist.bots.training import Needs, Prepared
from equilibrist.catalogue import load_object
from equilibrist.errors import InvalidValueError
from equilibrist.evaluation.real_game.response import check_game
from equilibrist.games.catalog import load_game
from equilibrist.models import endings
from equilibrist.models.game import SequenceGame
from equilibrist.solving.cfr import CFR
from equilibrist.solving.devices import choose_device
from equilibrist.solving.methods import get_method
from equilibrist.solving.solve import Budget, Outcome, Run
from equilibrist.solving.solver import Solver
from equilibrist.solving.target import MBB, Target
from equilibrist.storage.artefact import check_target
from equilibrist.storage.ownership import owned
from equilibrist.storage.threads import most_threads
from equilibrist.strategies import quantized, solution


@dataclass(frozen=True)
class TrainingOptions:
    """Options of a training; None stands for the bot's own setting."""

    target: str | float | None = None  # exploitability: "5mbb", "0.05chips", or a number of mbb/g
    seconds: float | None = None  # maximum time of solving, for each model
    seed: int = 0
    threads: int | None = None
    force: bool = False  # train even if the forecast exceeds memory
    device: str = "cpu"  # where the model is solved: cpu, gpu, or auto: a GPU if possible
    stop: str | None = None  # "real-game": keep what is least exploitable in the real game
    cycles: int | None = None  # this and all below: for bots that play against themselves
    hands: int | None = None  # per cycle
    rate: float | None = None
    cleaning: float | None = None
    update: str | None = None


class TrainingReport:
    """Receives the progress of a training; this one is silent, subclasses override its methods."""

    def forecast(self, bot: BucketBot, needs: Needs) -> None:
        """Receive the forecast of each step, before any work and before memory is checked."""

    def prepare(self, bot: Bot) -> None:
        """Prepare for the computation, which may have to compile kernels."""

    def say(self, text: str) -> None:
        """Receive the name of a step that starts, or a remark."""

    def progress(self, what: str) -> Callable[[float], None]:
        """Return a function that receives the share of a step that is done, from 0 to 1."""
        return lambda share: None

    @contextlib.contextmanager
    def solving(
        self, game: SequenceGame, solver: Solver, budget: Budget, bot: BucketBot
    ) -> Iterator[Callable[[Run], None] | None]:
        """Return a context whose value, if any, receives the run as it proceeds."""
        yield None

    def cycle(self, run: Any) -> None:
        """Receive the run of a bot that plays against itself, from time to time."""


@dataclass(frozen=True, eq=False)
class SolvedModel:
    """A solved model of a bot, or a partly solved one if training was stopped."""

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
    """The result of a training, of whatever kind."""

    bot: Bot
    folder: Path

    @property
    def is_interrupted(self) -> bool:
        """Return whether the training was stopped before its end."""
        return False

    @property
    def is_playable(self) -> bool:
        """Return whether the bot can play."""
        return True

    @property
    def player(self) -> str:
        """Return the name of the bot for commands and `make_player`."""
        is_own = self.folder == self.bot.folder
        return self.bot.name if is_own else f"{self.bot.name}:{self.folder}"


@dataclass(frozen=True, eq=False)
class TrainedBuckets(TrainedBot):
    """The result of the training of a bot of buckets."""

    bot: BucketBot
    models: tuple[SolvedModel, ...]  # one, or several for a glued bot

    @property
    def is_interrupted(self) -> bool:
        """Return whether the training was stopped before its end."""
        return self.models[-1].is_interrupted

    @property
    def is_playable(self) -> bool:
        """Return whether the bot can play; a glued bot needs all its models."""
        return not self.bot.is_glued or is_current(self.folder / self.bot.strategy)

    @property
    def player(self) -> str:
        """Return the name of the bot for commands and `make_player`."""
        is_own = getattr(BOTS.get(self.bot.name), "solution", None) == self.bot.solution
        if self.folder == self.bot.folder and is_own:
            return self.bot.name
        if self.bot.last_round is None:
            return f"solution:{self.folder / self.bot.strategy}"
        return f"{self.bot.name}:from={self.folder / self.bot.solution}"


_DEFAULTS = TrainingOptions()
# Of a training that stops by the real game: it ends when it no longer improves.
_UNREACHED, _MOST_ITERATIONS, _MEASURED = 1e-3, 10_000, 20
_SILENT = TrainingReport()
_ALWAYS_TAKEN = {"seed", "threads"}


def train(
    name: str,
    folder: Path | None = None,
    *,
    options: TrainingOptions = _DEFAULTS,
    report: TrainingReport = _SILENT,
) -> Any:
    """Train a bot, or continue its training, in a folder (default: its own below `bots/`).

    Returns the result of the bot's trainer: a `TrainedBot`, for bots of buckets `TrainedBuckets`.
    Raises `InvalidValueError` before any work if a step needs more memory than there is.
    """
    bot = BOTS[name]
    for field in foreign_options(bot, options):
        raise InvalidValueError(f"{name} {bot.way} and has no option {field}", value=field)
    return load_object(bot.trainer)(bot, folder or bot.folder, options, report)


def foreign_options(bot: Bot, options: TrainingOptions) -> list[str]:
    """Return the names of the given options that a bot does not take.

    Example:
        >>> foreign_options(BOTS["smallbot"], TrainingOptions(seconds=9, hands=1000))
        ['hands']
    """
    taken = {*_ALWAYS_TAKEN, *bot.options}
    return [
        field.name
        for field in fields(options)
        if field.name not in taken and getattr(options, field.name) != field.default
    ]


def train_buckets(
    bot: BucketBot, folder: Path, options: TrainingOptions, report: TrainingReport
) -> TrainedBuckets:
    """Train a bot of buckets: buckets, joint counts, endings, solution, strategy."""
    if options.stop is not None:
        bot = stopped_by(bot, options.stop)
    if options.target is not None:
        bot = replace(bot, target=_mbb(bot, options.target))
    Budget(target=bot.target, seconds=options.seconds).check()
    for part, kind in _kinds(bot).items():
        check_target(folder / part, kind)
    rules = load_game(bot.game)
    force = options.force
    device = choose_device(
        options.device, lambda: training.check_gpu(bot, rules, folder, force=force)
    )
    options = replace(options, device=device.name)
    threads = options.threads or most_threads()
    needs = training.needs(bot, rules, folder, threads, device.name)
    report.forecast(bot, needs)
    if not force:
        needs.check(bot.name)
    report.prepare(bot)
    if device.name == "gpu" or device.why:
        report.say(device.text)
    with owned(folder):  # also between its parts, which it owns one by one
        seed = options.seed
        buckets = training.make_buckets(
            rules, bot.recipe, bot.buckets, folder, seed=seed, say=report.say
        )
        if needs.counts is not None:
            report.say("counting deals")
        progress = report.progress("counting deals")
        training.count_deals(bot, folder, buckets, seed=seed, progress=progress)
        solve_models = load_object(bot.solve_models)
        return TrainedBuckets(bot, folder, tuple(solve_models(bot, folder, options, report)))


def stopped_by(bot: BucketBot, measure: str) -> RealGameBot:
    """Return a bot whose training keeps the best strategy by a measure; only `real-game` is known.

    Its solution and its strategy have names of their own beside those of the bot.

    Example:
        >>> from equilibrist.bots.registry import get_bucket_bot
        >>> stopped_by(get_bucket_bot("smallbot"), "real-game").strategy
        'strategy-real-game'
    """
    if measure != "real-game":
        raise InvalidValueError(f"training stops by real-game, not by {measure!r}", value=measure)
    if isinstance(bot, RealGameBot):
        return bot
    if bot.last_round is not None:
        raise InvalidValueError(
            f"{bot.name} solves its last rounds during play, so it stores no strategy that can be "
            "measured in the real game",
            value=bot.name,
        )
    check_game(load_game(bot.game))
    variant_of_cfr(bot)
    own = {field.name for field in fields(RealGameBot)}
    settings = {field.name: getattr(bot, field.name) for field in fields(bot) if field.name in own}
    settings |= {
        "solution": f"{bot.solution}-real-game",
        "evaluate_every": None,
        "target": _UNREACHED,
        "solve_models": RealGameBot.solve_models,
    }
    return RealGameBot(**settings, iterations=_MOST_ITERATIONS, measured=_MEASURED, patience=2)


def variant_of_cfr(bot: BucketBot) -> CFR:
    """Return the method of a bot that the real game can stop; raise `InvalidValueError` else."""
    method = get_method(bot.method, bot.dtype)
    if not isinstance(method, CFR):
        raise InvalidValueError(
            f"{bot.name} is solved by {bot.method}; only variants of cfr can be stopped by the "
            "real game",
            value=bot.method,
        )
    return method


def _mbb(bot: BucketBot, to: str | float) -> float:
    """Return the target of a bot in mbb/g, in which bots state theirs."""
    target = Target.parse(to, bare=MBB)
    if target.unit == MBB:
        return target.number
    rules = load_game(bot.game)
    return target.of_game(bot.name, rules).chips * 1000 / rules.big_blind


def _kinds(bot: BucketBot) -> dict[str, str]:
    """Return the kind of artefact in each folder of a bot."""
    return {
        BUCKETS: abstraction.KIND,
        COUNTS: joint_counts.KIND,
        ENDS: endings.KIND,
        bot.solution: solution.KIND,
        bot.strategy: quantized.KIND,
    }


def solve_whole_game(
    bot: BucketBot, folder: Path, options: TrainingOptions, report: TrainingReport
) -> list[SolvedModel]:
    """Solve the game of a bot that has a single model, and store its strategy."""
    progress = report.progress("computing the values at the end of the first phase")
    with owned(folder / bot.solution):
        prepared = training.prepare(
            bot, folder, seed=options.seed, device=options.device, progress=progress
        )
        solved = solve_model(bot.solution, bot, prepared, options, report)
        training.save_strategy(bot, folder)
    return [solved]


def solve_model(
    name: str, bot: BucketBot, prepared: Prepared, options: TrainingOptions, report: TrainingReport
) -> SolvedModel:
    """Solve one game of a bot to the bot's target or to the time limit."""
    game, solver, store, _ = prepared
    budget = training.budget_of(bot, game, options.seconds)
    with report.solving(game, solver, budget, bot) as watch:
        run = training.run(prepared, budget, seed=options.seed, watch=watch)
    if not run.state["iteration"]:
        stopping.check()  # without an iteration there is no strategy to play
    return SolvedModel(name, game, solver, run, store.out)

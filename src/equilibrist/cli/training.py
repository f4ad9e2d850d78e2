"""Shows the progress of a training on the command line."""

from __future__ import annotations

import contextlib
import functools
import sys
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from equilibrist.bots import training
from equilibrist.bots.bot import Bot, BucketBot, RealGameBot
from equilibrist.bots.train import TrainedBot, TrainedBuckets, TrainingReport
from equilibrist.cli import runs
from equilibrist.cli.heartbeat import announce, duration
from equilibrist.cli.options import Remaining, prepare_kernels
from equilibrist.cli.progress import shown
from equilibrist.games.catalog import load_game
from equilibrist.models.game import SequenceGame
from equilibrist.papers.ectomynx.train import CycleRun, TaughtBot, TrainingPlan, num_hands
from equilibrist.solving.solve import Budget, Run
from equilibrist.solving.solver import Solver
from equilibrist.storage.memory import gigabytes

if TYPE_CHECKING:
    from equilibrist.bots.training import Needs
    from equilibrist.papers.ectomynx.level_training import Cycle

_PATIENCE = 10.0  # minimum seconds between two lines within a cycle
_NORMAL_95 = 1.959964  # standard errors on either side of a 95 % interval


class TerminalReport(TrainingReport):
    """Prints the progress of a training on stderr, with a panel on terminals while it solves."""

    def __init__(self, *, plain: bool, threads: int | None) -> None:
        self._plain, self._threads = plain, threads
        self.cycles: CycleLines | None = None

    def forecast(self, bot: BucketBot, needs: Needs) -> None:
        """Print what each step will need."""
        print(f"{bot.name}: about {bot.training_time}", file=sys.stderr)
        for step, needed in needs._asdict().items():
            print(f"  {step}: {'already done' if needed is None else needed}", file=sys.stderr)

    def prepare(self, bot: Bot) -> None:
        """Set the number of threads; print a line if kernels must be compiled."""
        prepare_kernels(self._threads, *bot.kernels)

    def say(self, text: str) -> None:
        """Print the name of a step, which becomes the current phase."""
        announce(text)

    def progress(self, what: str) -> Callable[[float], None]:
        """Return a function that makes a step the current phase when it is first called."""
        begun: list[Remaining] = []

        def update(share: float) -> None:
            if not begun:
                begun.append(Remaining(what))
            begun[0](share)

        return update

    @contextlib.contextmanager
    def solving(
        self, game: SequenceGame, solver: Solver, budget: Budget, bot: BucketBot
    ) -> Iterator[Callable[[Run], None] | None]:
        """Show the run in a panel, or as lines."""
        hint, goal = "Ctrl-C stops and saves", training.goal(bot, game)
        with shown(game.name, hint, plain=self._plain, goal=goal) as view:
            view.begin(solver.name, budget)
            yield view

    def cycle(self, run: TrainingPlan | CycleRun) -> None:
        """Print the plan of a training, then its cycles."""
        if isinstance(run, TrainingPlan):
            self.cycles = CycleLines(run)
        elif self.cycles is not None:
            self.cycles(run)


class CycleLines:
    """Prints the progress of cycles of hands on stderr: after every cycle, and within long ones."""

    def __init__(self, plan: TrainingPlan) -> None:
        self.settings, self.num_cycles = plan.settings, plan.cycles
        self.big_blind = load_game(plan.bot.game).big_blind
        self._first = num_hands(plan.settings, plan.earlier) if plan.earlier else 0
        self._printed = len(plan.earlier.cycles) if plan.earlier else 0
        self._played = self._first
        self._start = self._last_print = time.perf_counter()
        self.seconds = 0.0
        print(
            f"{plan.bot.name}: {plan.cycles} cycles of {plan.settings.hands:,} hands, "
            f"{plan.hands_left:,} to play, about "
            f"{duration(plan.hands_left / plan.bot.speed / plan.threads)} with {plan.threads} "
            f"threads and {gigabytes(plan.needed_bytes)} of memory",
            file=sys.stderr,
        )

    @property
    def speed(self) -> float | None:
        """Return the hands per second, evaluation included; None before the first hand."""
        played = self._played - self._first
        return played / self.seconds if played and self.seconds else None

    def __call__(self, run: CycleRun) -> None:
        """Print a line if a cycle ended or the last line is old."""
        now = time.perf_counter()
        self.seconds, self._played = now - self._start, num_hands(self.settings, run)
        if len(run.cycles) > self._printed:
            self._printed = len(run.cycles)
            # A resumed run whose cycle was complete before the kill has no speed yet.
            speed = f"; {self.speed:,.0f} hands/s" if self.speed else ""
            self._print(cycle_text(run.cycles[-1], self.big_blind) + speed)
        elif now - self._last_print > _PATIENCE and self.speed:
            left = self.num_cycles * self.settings.hands - self._played
            self._print(
                f"cycle {len(run.cycles) + 1}: {run.hands_done:,} hands, {self.speed:,.0f} "
                f"hands/s, about {duration(left / self.speed)} left"
            )

    def _print(self, text: str) -> None:
        self._last_print = time.perf_counter()
        print(text, file=sys.stderr, flush=True)


def cycle_json(cycle: Cycle, big_blind: int) -> dict[str, Any]:
    """Return a cycle as JSON, with its win rate against the previous strategy in mbb/g."""
    won, error = (1000 * x / big_blind for x in (cycle.win_rate, cycle.standard_error))
    return {
        "cycle": cycle.number,
        "mean_change": cycle.mean_change,
        "win_rate": won,
        "unit": "mbb/g",
        "standard_error": error,
        "ci95": [won - _NORMAL_95 * error, won + _NORMAL_95 * error],
    }


def cycle_text(cycle: Cycle, big_blind: int) -> str:
    """Return a cycle in one sentence."""
    row = cycle_json(cycle, big_blind)
    return (
        f"cycle {cycle.number}: probabilities changed by {cycle.mean_change:.2g} on average, wins "
        f"{row['win_rate']:.1f} ± {_NORMAL_95 * row['standard_error']:.1f} mbb/g (95 %) from the "
        "previous strategy"
    )


@functools.singledispatch
def training_result(trained: TrainedBot, report: TerminalReport) -> tuple[dict[str, Any], str]:
    """Return the result of a training as JSON and as text."""
    data = {"bot": trained.bot.name, "game": trained.bot.game, "out": str(trained.folder)}
    return data, f"play against it: equilibrist play {trained.player} --game {trained.bot.game}"


@training_result.register
def _(trained: TrainedBuckets, report: TerminalReport) -> tuple[dict[str, Any], str]:
    bot = trained.bot
    data: dict[str, Any] = {"bot": bot.name, "boards": bot.boards}
    goals = [training.goal(bot, m.game) for m in trained.models]
    pairs = list(zip(trained.models, goals, strict=True))
    results = [runs.result(m.game, m.solver, m.run, m.folder, goal) for m, goal in pairs]
    words = [runs.result_text(m.game, m.solver, m.run, goal) for m, goal in pairs]
    if bot.is_glued:
        names = [model.name for model in trained.models]
        data["models"] = [{"model": n} | r for n, r in zip(names, results, strict=True)]
        words = [f"{name}: {text}" for name, text in zip(names, words, strict=True)]
    else:
        data |= results[0]
    ending = "run the same command to continue"
    if trained.is_playable:
        ending = f"play against it: equilibrist play {trained.player}"
    return data, "\n".join([*words, _scope(bot), ending])


def _scope(bot: BucketBot) -> str:
    """Return a sentence on the scope of a bot's exploitability: its model and its deals."""
    if isinstance(bot, RealGameBot):
        return (
            f"exploitability is estimated in the real game on {bot.measured} flops, always the "
            f"same; `equilibrist exploit {bot.name} --real-game` computes it on all flops"
        )
    deals = "all deals" if bot.boards is None else f"the deals of {bot.boards:,} sampled boards"
    where = "each model" if bot.is_glued else "its own buckets"
    return f"exploitability is measured within {where} over {deals}, not in the real game"


@training_result.register
def _(trained: TaughtBot, report: TerminalReport) -> tuple[dict[str, Any], str]:
    lines, bot = report.cycles, trained.bot
    assert lines is not None
    data = {
        "bot": bot.name,
        "game": bot.game,
        "hands": num_hands(trained.settings, trained.run),
        "cycles": [cycle_json(cycle, lines.big_blind) for cycle in trained.run.cycles],
        "hands_per_second": lines.speed,
        "seconds": lines.seconds,
        "out": str(trained.folder),
    }
    words = [cycle_text(cycle, lines.big_blind) for cycle in trained.run.cycles]
    words.append(f"play against it: equilibrist play {trained.player} --game {bot.game}")
    return data, "\n".join(words)

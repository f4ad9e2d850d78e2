"""Training of bots of buckets that is measured, or also done, in limit hold'em itself.

By CFR-BR a bot is trained against best responses in the real game. By other methods it is trained
within its buckets, and stopped when it no longer gets better in the real game. The run is stored in
a folder of its own, `training-…`, from which it resumes; the best plans that were measured become
the bot's solution.

Stored regrets and averages have 16 bits, 8 of them precision. The run itself is rounded to them
after each measurement, and stored only there (`KeepsBest.schedule`): a run that was stopped and
resumed any number of times has the numbers of one that was not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equilibrist import stopping
from equilibrist.abstraction.buckets import Abstraction
from equilibrist.bots import training
from equilibrist.bots.bot import BUCKETS, COUNTS, BucketBot, RealGameBot
from equilibrist.bots.train import SolvedModel, TrainingOptions, TrainingReport, variant_of_cfr
from equilibrist.catalogue import load_object
from equilibrist.evaluation.real_game.gradient import FlopEngine
from equilibrist.evaluation.real_game.measure import RealGameMeasure
from equilibrist.evaluation.real_game.opponent import FlopOpponent
from equilibrist.kernels.gpu.memory import download
from equilibrist.models.game import SequenceGame
from equilibrist.phases import phase
from equilibrist.solving.best_measured import KeepsBest
from equilibrist.solving.best_response import evaluate
from equilibrist.solving.cfr_br import CFRBR
from equilibrist.solving.discounting import DISCOUNTED
from equilibrist.solving.short_state import is_rounded, match_regrets, rounded, set_array, widened
from equilibrist.solving.solve import Budget, Outcome, Row, Run, solve
from equilibrist.solving.solver import State
from equilibrist.storage.artefact import Header, open_artefact, read_identity, write_artefact
from equilibrist.storage.checkpoint import another_run, check_same_run
from equilibrist.storage.manifest import MANIFEST
from equilibrist.storage.ownership import owned
from equilibrist.storage.schema import ArrayRule, Fields, check_arrays
from equilibrist.storage.threads import most_threads
from equilibrist.strategies.description import BucketDescription
from equilibrist.strategies.evaluation import Evaluation
from equilibrist.strategies.solution import TRACE_COLUMNS, Solution

KIND = "real-game training"
_TREMBLE = 1e-3
_ON_GPU = "equilibrist.evaluation.real_game.batched_gradients:batched_gradients"


def solve_against_real_game(
    bot: BucketBot, folder: Path, options: TrainingOptions, report: TrainingReport
) -> list[SolvedModel]:
    """Train a bot by measurements in the real game, and store its best strategy."""
    assert isinstance(bot, RealGameBot)
    menu = bot.menu
    description = BucketDescription.of(folder / BUCKETS, folder / COUNTS, menu)
    game, buckets = description.build().on(options.device), description.open_abstraction()
    budget = Budget(
        bot.iterations, training.target_chips(bot, game), options.seconds, bot.evaluate_every
    )
    solver = solver_of(bot, game, buckets, options, budget)
    store = TrainingFolder(folder / bot.training, bot, game, description, options.seed, solver)
    with owned(folder / bot.training), owned(folder / bot.solution):
        earlier = store.resume()
        seconds = _forecast(solver, game, bot, earlier, report)
        solver = replace(solver, evaluation_seconds=seconds)
        with report.solving(game, solver, budget, bot) as watch:
            run = solve(
                game, solver, budget, seed=options.seed, run=earlier, watch=store.watched(watch),
                save=store.save,
            )  # fmt: skip
        if run.outcome is Outcome.INTERRUPTED:
            report.say(store.kept())
        if not run.state["measured"][0]:
            stopping.check()  # without a measurement there is no strategy to play
        _end(run, game, solver, budget)
        save_solution(bot, folder / bot.solution, description, (game.on("cpu"), solver, run))
        training.save_strategy(bot, folder)
    return [SolvedModel(bot.solution, game, solver, run, folder / bot.solution)]


def _end(run: Run, game: SequenceGame, solver: KeepsBest, budget: Budget) -> None:
    """Let the run end with the exploitability of what is stored, which is not always the latest.

    A run whose time was up before its first measurement has only that of its buckets until now.
    """
    found = solver.measured(game, run.state)
    if run.outcome is Outcome.TARGET_REACHED and not budget.is_met(found):
        run.outcome = Outcome.BUDGET_SPENT
    run.trace.append(Row(int(run.state["iteration"]), run.seconds, found))


def _forecast(
    solver: KeepsBest, game: SequenceGame, bot: RealGameBot, run: Run | None, report: TrainingReport
) -> float:
    """Measure some work, say how long the rest will take; return the seconds of a measurement."""
    opponent = solver.measure
    left = bot.iterations - (0 if run is None else int(run.state["iteration"]))
    if not isinstance(opponent, FlopOpponent) or left <= 0:
        return 0.0
    with phase("measuring the time of an iteration"):
        first, second = (game.realize(p, game.uniform(p, bot.dtype)) for p in (0, 1))
        step, measurement = opponent.seconds((first, second))
    measurement *= 1 + solver.with_current
    whole = left * step + left / (bot.evaluate_every or left) * measurement
    report.say(
        f"an iteration on {bot.flops} flops takes about {step:.2g} s, a measurement on "
        f"{bot.measured} flops {measurement:.2g} s; {left:,} iterations are left, about "
        f"{whole / 60:.2g} min"
    )
    return measurement


def solver_of(
    bot: RealGameBot,
    game: SequenceGame,
    buckets: Abstraction,
    options: TrainingOptions,
    schedule: Budget,
) -> KeepsBest:
    """Return the bot's method, measured in the real game on the device of the game."""
    assert game.betting is not None
    threads = options.threads or most_threads()
    if bot.method != "cfr-br":
        method = variant_of_cfr(bot)
        measure = RealGameMeasure(game.betting, buckets, bot.measured, threads, game.backend)
        return KeepsBest(method, measure, bot.patience, schedule)
    opponent = FlopOpponent(
        game.betting,
        buckets,
        bot.flops,
        seed=options.seed,
        engines=_engines(game, buckets),
        measured=bot.measured,
        threads=threads,
    )
    solver = CFRBR(opponent, DISCOUNTED, tremble=_TREMBLE, dtype=bot.dtype)
    return KeepsBest(solver, opponent, bot.patience, schedule, bot.measures_current)


def _engines(game: SequenceGame, buckets: Abstraction) -> tuple[FlopEngine, FlopEngine] | None:
    """Return what responds on the device of a game; None: the CPU's default."""
    if game.backend != "gpu":
        return None
    on_gpu: tuple[FlopEngine, FlopEngine] = load_object(_ON_GPU)(game.betting, buckets)
    return on_gpu


def save_solution(
    bot: RealGameBot,
    out: Path,
    description: BucketDescription,
    trained: tuple[SequenceGame, KeepsBest, Run],
) -> None:
    """Write the best plans so far, with their certificate within the buckets."""
    game, solver, run = trained
    state: State = {name: download(array) for name, array in run.state.items()}
    plans = solver.plans(game, state)
    Solution(
        game=description,
        plans=plans,
        method=solver.name,
        iterations=int(state["iteration"]),
        seconds=run.seconds,
        certificate=evaluate(game, plans),
        trace=np.zeros((0, len(TRACE_COLUMNS))),
        settings={"dtype": bot.dtype},
    ).save(out)


# --- checkpoints ----------------------------------------------------------------------------------


@dataclass(eq=False)
class TrainingFolder:
    """Folder that a training resumes from."""

    out: Path
    bot: RealGameBot
    game: SequenceGame
    description: BucketDescription
    seed: int
    solver: KeepsBest
    saved: int = 0  # iteration that this process wrote last

    @property
    def settings(self) -> dict[str, Any]:
        """Return what must be the same when a run continues."""
        return {
            "method": self.bot.method,
            "raises": self.bot.max_raises,
            "flops": self.bot.flops,
            "measured flops": self.bot.measured,
            "evaluate every": self.bot.evaluate_every,
            "seed": self.seed,
        }

    def save(self, run: Run) -> None:
        """Write a run after a measurement, replacing its earlier state; elsewhere do nothing."""
        run.check_whole()
        iteration = int(run.state["iteration"])
        if not self.solver.is_scheduled(iteration) or iteration == self.saved:
            return
        state = {name: download(array) for name, array in run.state.items()}
        arrays = {
            name: rounded(array) if is_rounded(name) else array
            for name, array in state.items()
            if _is_stored(name)
        }
        header = Header(
            KIND,
            configuration=self.settings,
            info={"iterations": iteration},
            parents={"abstraction": self.description.hashes[0]},
            timings={"seconds": run.seconds},
        )
        trace = {"trace": run.trace_array()}
        write_artefact(self.out, header, arrays | trace, may_be_infinite=("gains",))
        self.saved = iteration

    def watched(self, watch: Callable[[Run], None] | None) -> Callable[[Run], None]:
        """Return a watcher of a run that writes each measurement, and calls another one.

        Between measurements a run cannot be stored, so none is left out to save time.
        """

        def save_and_watch(run: Run) -> None:
            self.save(run)
            if watch is not None:
                watch(run)

        return save_and_watch

    def kept(self) -> str:
        """Return a sentence on what a run can resume from."""
        every = self.bot.evaluate_every
        if not (self.out / MANIFEST).exists():
            when = "" if every is None else f": it saves every {every} iterations"
            return f"{self.bot.name} has saved nothing yet{when}"
        done = Fields.info(read_identity(self.out, KIND)).whole("iterations", 0)
        return f"{self.bot.name} continues from iteration {done:,}, saved in {self.out}"

    def resume(self) -> Run | None:
        """Open the run in the folder, if there is one; raise an error if it is another."""
        if not (self.out / MANIFEST).exists():
            return None
        there, own = read_identity(self.out, KIND), self.description.hashes[0]
        if there.parents.get("abstraction") != own:
            raise another_run(self.out, "set of buckets")
        check_same_run(self.out, there.configuration, self.settings)
        artefact = open_artefact(self.out, KIND, in_memory=True)
        state = self.solver.init(self.game, self.seed)
        stored = {name: array for name, array in state.items() if _is_stored(name)}
        check_arrays(
            artefact, {name: _rule(name, array) for name, array in stored.items()} | _TRACE
        )
        for name, array in stored.items():
            found = artefact.arrays[name]
            set_array(array, widened(found) if is_rounded(name) else found)
        state["iteration"] += Fields.info(artefact).whole("iterations", 0)
        match_regrets(self.game, state)
        rows = [
            Row(int(t), seconds, Evaluation(value, (one, two), "chips"))
            for t, seconds, _, one, two, value in artefact.arrays["trace"].tolist()
        ]
        seconds = Fields.timings(artefact).number("seconds", 0)
        return Run(state, rows, seconds, is_checked=True)


_TRACE = {"trace": ArrayRule("float64", (None, 6))}


def _is_stored(name: str) -> bool:
    """Return whether an array of a state is stored; the others follow from these."""
    return not name.startswith(("plan", "behaviour", "iteration"))


def _rule(name: str, array: NDArray[Any]) -> ArrayRule:
    """Return the rule for a stored array of a state."""
    dtype = "uint16" if is_rounded(name) else array.dtype.name
    return ArrayRule(dtype, array.shape, may_be_infinite=name == "gains")

"""The steps of a training: buckets, counts, ends, solution and strategy, in this order.

Each step continues from the contents of its folder, so repeating the same calls continues a
training that was killed, and a finished step has nothing left to do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np

from equilibrist.abstraction import joint_counts, resume
from equilibrist.abstraction.buckets import UNFINISHED, Abstraction
from equilibrist.abstraction.forecast import (
    AbstractionForecast,
    CountsForecast,
    counts_forecast,
    forecast,
)
from equilibrist.abstraction.recipes import build, num_buckets
from equilibrist.bots.bot import BUCKETS, COUNTS, ENDS, BucketBot, is_current
from equilibrist.errors import StorageError
from equilibrist.games.bet_menu import BetMenu
from equilibrist.games.betting_tree import BettingTree
from equilibrist.games.rules import GameRules
from equilibrist.models import endings
from equilibrist.models.game import SequenceGame
from equilibrist.solving.devices import check_runs_on_gpu
from equilibrist.solving.forecast import SolvingForecast, bucket_forecast
from equilibrist.solving.leaf_values import play_out
from equilibrist.solving.methods import get_method
from equilibrist.solving.solution_run import Store
from equilibrist.solving.solve import Budget, Run, solve
from equilibrist.solving.solver import DependsOnTarget, Solver
from equilibrist.solving.target import MBB, Goal, Target
from equilibrist.storage.artefact import read_identity
from equilibrist.storage.checkpoint import check_same_run
from equilibrist.storage.manifest import MANIFEST
from equilibrist.storage.ownership import owned
from equilibrist.strategies.description import BucketDescription, Description, ModelRounds
from equilibrist.strategies.quantized import CompactStrategy, open_buckets
from equilibrist.strategies.solution import Solution

_IDENTITY = 12  # digits of a hash in a folder's name
# A game, its method, the store of its runs, and the stored run, if any.
Prepared: TypeAlias = tuple[SequenceGame, Solver, Store, Run | None]


class Needs(NamedTuple):
    """Forecasts of the steps of a training; None for buckets and counts that are finished."""

    buckets: AbstractionForecast | None
    counts: CountsForecast | None
    solution: SolvingForecast

    def check(self, name: str) -> None:
        """Raise `InvalidValueError`, with the size that would fit, if a step exceeds memory."""
        for step in self:
            if step is not None:
                step.check(name)


def needs(
    bot: BucketBot, rules: GameRules, folder: Path, threads: int, device: str = "cpu"
) -> Needs:
    """Return the forecasts of the steps that a bot in a folder still needs.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> from equilibrist.bots.registry import get_bucket_bot
        >>> found = needs(get_bucket_bot("smallbot"), get_game("holdem-limit"), Path("nowhere"), 2)
        >>> [round(step.bytes / 1e6) for step in found]
        [1739, 753, 148]
    """
    menu, first = bot.menu, int(bot.is_glued)
    betting = BettingTree.build(rules, menu, first_round=first, last_round=bot.last_round)
    buckets = num_buckets(bot.recipe, bot.buckets)
    played = buckets[first : betting.last_round + 1]
    if first:  # later models forget the first buckets
        played = tuple(number // buckets[0] for number in played)
    itemsize = np.dtype(bot.dtype).itemsize
    return Needs(
        None if _is_whole(folder / BUCKETS) else forecast(rules, bot.recipe, threads),
        None
        if _is_whole(folder / COUNTS)
        else counts_forecast(rules, buckets[-1], bot.boards, threads),
        bucket_forecast(betting, played, itemsize, threads, [bot.method], device),
    )


def _is_whole(folder: Path) -> bool:
    """Return whether a folder holds finished buckets or counts."""
    if not (folder / MANIFEST).exists():
        return False
    return not {UNFINISHED, "done"} & read_identity(folder).configuration.keys()


def check_gpu(bot: BucketBot, rules: GameRules, folder: Path, *, force: bool = False) -> None:
    """Raise an error if a GPU cannot solve a bot's game, or has too little memory."""
    solver = get_method(bot.method, bot.dtype)
    if isinstance(solver, DependsOnTarget):
        solver = solver.for_target(bot.target, bot.dtype)
    check_runs_on_gpu(solver)
    if not force:
        needs(bot, rules, folder, 1, "gpu").solution.check(bot.name)


def make_buckets(
    rules: GameRules,
    recipe: str,
    numbers: Sequence[int],
    folder: Path,
    *,
    seed: int = 0,
    say: Callable[[str], None] | None = None,
) -> Abstraction:
    """Return the buckets in a folder, opened or computed."""
    out = folder / BUCKETS
    wanted = resume.request(rules, recipe, list(numbers), seed)
    if _is_whole(out):
        found = Abstraction.open(out)
        check_same_run(
            out,
            {"recipe": found.recipe, "buckets": found.num_buckets, "game": found.rules},
            {"recipe": recipe, "buckets": num_buckets(recipe, numbers), "game": rules},
        )
        return found
    unfinished = resume.UnfinishedFolder
    with owned(out):
        if _is_whole(out):  # computed by another process in the meantime
            return make_buckets(rules, recipe, numbers, folder, seed=seed, say=say)
        is_there = (out / MANIFEST).exists()
        keep = unfinished.open(out, wanted) if is_there else unfinished(out, wanted)
        found = build(recipe, rules, list(numbers), seed=seed, keep=keep, progress=say)
        found.save(out)
    return found


def count_deals(
    bot: BucketBot,
    folder: Path,
    buckets: Abstraction,
    *,
    seed: int = 0,
    progress: Callable[[float], None] = lambda share: None,
) -> joint_counts.Joint:
    """Return the joint counts of a bot's buckets, opened or computed.

    `progress` receives the share that is done.
    """
    out, parents = folder / COUNTS, {"first": read_identity(folder / BUCKETS).hash}
    return _counted(out, parents, buckets, boards=bot.boards, seed=seed, progress=progress)


def _check_sample(folder: Path, found: joint_counts.Joint, boards: int | None, seed: int) -> None:
    """Raise `StorageError` if counts are of other deals than those requested."""
    wanted = None if boards is None else (boards, seed)
    if found.sample != wanted or (found.distance is None) != (wanted is None):
        raise StorageError(
            f"{folder} holds counts of {_deals(found.sample, found.distance is None)}, not of "
            f"{_deals(wanted, wanted is None)}; remove it and the solutions beside it, or train "
            "in another folder",
            value=str(folder),
        )


def _deals(sample: tuple[int, int] | None, is_exact: bool) -> str:
    if sample is None:
        return "all deals" if is_exact else "a sample of boards"
    return f"a sample of {sample[0]:,} boards with seed {sample[1]}"


def finer_counts(
    buckets: Abstraction,
    identity: str,
    numbers: Sequence[int],
    folder: Path,
    *,
    boards: int | None = None,
    seed: int = 0,
    say: Callable[[str], None] | None = None,
    progress: Callable[[float], None] = lambda share: None,
) -> tuple[joint_counts.Joint, Abstraction]:
    """Return joint counts of buckets with finer ones of the same recipe, and the finer buckets.

    Both are opened or computed, on all boards or a sample of `boards`. `identity` is the hash of
    the buckets; counts of other buckets are stored beside these.
    """
    finer = make_buckets(buckets.rules, buckets.recipe, numbers, folder, seed=seed, say=say)
    parents = {"first": identity, "second": read_identity(folder / BUCKETS).hash}
    out = folder / f"{COUNTS}-{identity[:_IDENTITY]}{'' if boards is None else f'-{boards}'}"
    found = _counted(out, parents, buckets, finer, boards=boards, seed=seed, progress=progress)
    return found, finer


def make_ends(
    bot: BucketBot,
    folder: Path,
    menu: BetMenu,
    progress: Callable[[float], None] = lambda share: None,
) -> Path:
    """Return the folder of the values at the end of a bot's first phase, computed if missing."""
    assert bot.last_round is not None
    out = folder / ENDS
    parents = {
        "abstraction": read_identity(folder / BUCKETS).hash,
        "joint": read_identity(folder / COUNTS).hash,
    }
    if (out / MANIFEST).exists():
        there = read_identity(out, endings.KIND)
        wanted = {"max_raises": bot.max_raises, "last_round": bot.last_round}
        made_from = "set of buckets or counts"
        check_same_run(out, {made_from: there.parents}, {made_from: parents})
        check_same_run(out, there.configuration, wanted)
        return out
    buckets, counts = Abstraction.open(folder / BUCKETS), joint_counts.Joint.open(folder / COUNTS)
    with owned(out):
        found = play_out(buckets, counts, menu, bot.last_round, dtype=bot.dtype, report=progress)
        found.save(out, parents, max_raises=bot.max_raises, last_round=bot.last_round)
    return out


def _counted(
    out: Path,
    parents: dict[str, str],
    first: Abstraction,
    second: Abstraction | None = None,
    *,
    boards: int | None = None,
    seed: int,
    progress: Callable[[float], None],
) -> joint_counts.Joint:
    """Return the joint counts in a folder, opened, continued or computed from the start."""
    if (out / MANIFEST).exists():
        there = read_identity(out, joint_counts.KIND)
        joint_counts.check_same_buckets(out, there.parents, parents)
        if _is_whole(out):
            found = joint_counts.Joint.open(out)
            _check_sample(out, found, boards, seed)
            return found
    with owned(out):
        if _is_whole(out):  # computed by another process in the meantime
            return _counted(
                out, parents, first, second, boards=boards, seed=seed, progress=progress
            )
        so_far = joint_counts.Progress.open(out, parents) if (out / MANIFEST).exists() else None
        if boards is None:
            keeper = joint_counts.Keeper(out, parents, progress)
            found = joint_counts.joint(first, second, so_far=so_far, watch=keeper)
        else:
            found = joint_counts.sampled_joint(first, second, num_boards=boards, seed=seed)
        found.save(out, parents)
    return found


def prepare(
    bot: BucketBot,
    folder: Path,
    *,
    seed: int = 0,
    device: str = "cpu",
    progress: Callable[[float], None] = lambda share: None,
) -> Prepared:
    """Return the bot's game, its method, the store of its runs, and the stored run, if any.

    The game is on the device cpu or gpu. `progress` receives the share that is done of the values
    at the end of the first phase.
    """
    menu = bot.menu
    ends = None if bot.last_round is None else make_ends(bot, folder, menu, progress)
    rounds = ModelRounds(last=bot.last_round, ends=ends)
    description = BucketDescription.of(folder / BUCKETS, folder / COUNTS, menu, rounds)
    return open_or_start(bot, folder / bot.solution, description, seed, device=device)


def open_or_start(
    bot: BucketBot,
    out: Path,
    description: Description,
    seed: int,
    *,
    afresh: bool = False,
    device: str = "cpu",
) -> Prepared:
    """Return a described game, the bot's method, the store of its runs, and the stored run.

    The game is on the device cpu or gpu. With `afresh` a stored run is ignored, and solving starts
    again.
    """
    game = description.build().on(device)
    solver = _method(bot, game)
    store = Store(out, game, description, solver, seed, bot.dtype)
    if afresh or not (out / MANIFEST).exists():
        return game, solver, store, None
    run = store.resume()
    if isinstance(solver, DependsOnTarget):
        run.state["finished"] = np.array(False)  # it was finished for the earlier target only
    return game, solver, store, run


def target_chips(bot: BucketBot, game: SequenceGame) -> float:
    """Return the target exploitability of a bot in chips."""
    return goal(bot, game).chips


def goal(bot: BucketBot, game: SequenceGame) -> Goal:
    """Return the target of a bot: in mbb/g, and in chips of its game."""
    assert game.rules is not None
    return Goal(Target(bot.target, MBB), bot.target * game.rules.big_blind / 1000)


def budget_of(bot: BucketBot, game: SequenceGame, seconds: float | None = None) -> Budget:
    """Return the budget of a bot: its target in chips, or a time limit if that comes first."""
    return Budget(target=target_chips(bot, game), seconds=seconds, every=bot.evaluate_every)


def run(
    prepared: Prepared,
    budget: Budget,
    *,
    seed: int = 0,
    watch: Callable[[Run], None] | None = None,
) -> Run:
    """Solve the game from `prepare` or `open_or_start`, or continue its run."""
    game, solver, store, earlier = prepared
    return solve(game, solver, budget, seed=seed, run=earlier, watch=watch, save=store.save)


def save_strategy(bot: BucketBot, folder: Path) -> None:
    """Write the strategy of a bot's solution, unless it is there or the bot does not use one.

    A strategy that is damaged or was made from another solution is written again.
    """
    strategy, solution = folder / bot.strategy, folder / bot.solution
    if bot.last_round is None and not (is_current(strategy) and _is_playable(strategy)):
        made_of = {solution.name: read_identity(solution).hash}
        CompactStrategy.of(Solution.load(solution), made_of).save(strategy)


def _is_playable(strategy: Path) -> bool:
    """Return whether a stored strategy can be opened and fits its buckets."""
    try:
        open_buckets(CompactStrategy.open(strategy))
    except StorageError:
        return False
    return True


def _method(bot: BucketBot, game: SequenceGame) -> Solver:
    """Return the bot's method, set up for its target if the method depends on it."""
    found = get_method(bot.method, bot.dtype)
    if not isinstance(found, DependsOnTarget):
        return found
    return found.for_target(target_chips(bot, game), bot.dtype)

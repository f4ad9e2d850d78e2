"""How a bot of the papers is made: buckets, counts, solution, one after the other.

Each step goes on from what its folder holds, so a training that was killed is trained again with
the same words, and one that is whole has nothing left to do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from equilibrist.abstraction import joint, keeping
from equilibrist.abstraction.buckets import UNFINISHED, Abstraction
from equilibrist.abstraction.recipes import build
from equilibrist.errors import StorageError
from equilibrist.games.bet_menu import BetMenu
from equilibrist.games.rules import GameRules
from equilibrist.models.game import SequenceGame
from equilibrist.solving.methods import get_method
from equilibrist.solving.range_of_skill import RangeOfSkill
from equilibrist.solving.solve import Run
from equilibrist.solving.solver import Solver
from equilibrist.solving.store import Store
from equilibrist.storage.artefact import open_artefact
from equilibrist.storage.manifest import MANIFEST
from equilibrist.strategies.bots import BUCKETS, COUNTS, Bot
from equilibrist.strategies.description import BucketDescription

_SHARE = 0.1  # of what a response won that the next may be off
_IDENTITY = 12  # digits of a hash in a folder's name


def make_buckets(
    rules: GameRules,
    recipe: str,
    numbers: Sequence[int],
    folder: Path,
    *,
    seed: int = 0,
    say: Callable[[str], None] | None = None,
) -> Abstraction:
    """The buckets in a folder, made or opened."""
    out = folder / BUCKETS
    wanted = keeping.request(rules, recipe, list(numbers), seed)
    is_there = (out / MANIFEST).exists()
    if is_there and UNFINISHED not in open_artefact(out).configuration:
        found = Abstraction.open(out)
        if (found.recipe, found.num_buckets, found.rules) != (recipe, tuple(numbers), rules):
            raise StorageError(
                f"{out} holds other buckets than {recipe} {'-'.join(map(str, numbers))}",
                value=str(out),
            )
        return found
    begun = keeping.UnfinishedFolder
    keep = begun.open(out, wanted) if is_there else begun(out, wanted)
    found = build(recipe, rules, list(numbers), seed=seed, keep=keep, progress=say)
    found.save(out)
    return found


def count_deals(
    bot: Bot,
    folder: Path,
    buckets: Abstraction,
    *,
    seed: int = 0,
    tell: Callable[[float], None] = lambda share: None,
) -> joint.Joint:
    """How the bot's buckets meet, counted or opened; `tell` hears the share that is done."""
    parents = {"first": open_artefact(folder / BUCKETS).hash}
    return _counted(folder / COUNTS, parents, buckets, boards=bot.boards, seed=seed, tell=tell)


def finer_counts(
    buckets: Abstraction,
    identity: str,
    numbers: Sequence[int],
    folder: Path,
    *,
    boards: int | None = None,
    seed: int = 0,
    say: Callable[[str], None] | None = None,
    tell: Callable[[float], None] = lambda share: None,
) -> tuple[joint.Joint, Abstraction]:
    """How buckets meet finer ones of the same recipe, on some or all boards; made or opened.

    `identity` is the hash of the buckets; counts of others are kept beside these.
    """
    finer = make_buckets(buckets.rules, buckets.recipe, numbers, folder, seed=seed, say=say)
    parents = {"first": identity, "second": open_artefact(folder / BUCKETS).hash}
    out = folder / f"{COUNTS}-{identity[:_IDENTITY]}{'' if boards is None else '-sample'}"
    found = _counted(out, parents, buckets, finer, boards=boards, seed=seed, tell=tell)
    return found, finer


def _counted(
    out: Path,
    parents: dict[str, str],
    first: Abstraction,
    second: Abstraction | None = None,
    *,
    boards: int | None = None,
    seed: int,
    tell: Callable[[float], None],
) -> joint.Joint:
    """The counts in a folder, made, ended or opened; of a sample if `boards` are given."""
    so_far = None
    if (out / MANIFEST).exists():
        there = open_artefact(out, joint.KIND)
        if there.parents != parents:
            raise StorageError(f"{out} counts other buckets than these", value=str(out))
        if "done" not in there.configuration:
            return joint.Joint.open(out)
        so_far = joint.Progress.open(out, parents)
    if boards is None:
        keeper = joint.Keeper(out, parents, tell)
        found = joint.joint(first, second, so_far=so_far, watch=keeper)
    else:
        found = joint.sampled_joint(first, second, num_boards=boards, seed=seed)
    found.save(out, parents)
    return found


def prepare(
    bot: Bot, folder: Path, *, seed: int = 0
) -> tuple[SequenceGame, Solver, Store, Run | None]:
    """The bot's game and method, where its runs are kept, and the run that is there, if any."""
    menu = BetMenu.parse(None, None, bot.max_raises)
    description = BucketDescription.of(folder / BUCKETS, folder / COUNTS, menu)
    game = description.build()
    solver = _method(bot, game)
    store = Store(folder / bot.solution, game, description, solver, seed, bot.dtype)
    is_there = (folder / bot.solution / MANIFEST).exists()
    return game, solver, store, store.resume() if is_there else None


def _method(bot: Bot, game: SequenceGame) -> Solver:
    """The bot's method; the range of skill by CFR+, to no more than half of the bot's target."""
    found = get_method(bot.method, bot.dtype)
    if not isinstance(found, RangeOfSkill):
        return found
    assert game.rules is not None
    epsilon = bot.target * game.rules.big_blind / 1000  # chips
    return replace(found, epsilon=epsilon, method="cfr+", accuracy=epsilon / 2, share=_SHARE)

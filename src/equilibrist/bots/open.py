"""Opens any strategy by its name: a mix, a bot, or a folder of a solution, strategy or spot."""

from __future__ import annotations

import difflib
import os
from pathlib import Path

import numpy as np

from equilibrist.bots.bot import SOLUTION, STRATEGY, is_current
from equilibrist.bots.registry import BOTS
from equilibrist.errors import InvalidValueError, ParseError, StorageError
from equilibrist.games.betting_tree import BettingTree
from equilibrist.games.catalog import get_game
from equilibrist.games.rules import GameRules, rules_text
from equilibrist.kernels.cpu.sequence_form import normalize
from equilibrist.models.bucketed import bucket_tree
from equilibrist.models.game import Floats
from equilibrist.solving import split_run, spot_run
from equilibrist.solving.split_run import SplitRun
from equilibrist.solving.spot_run import SolvedSpot
from equilibrist.storage.artefact import read_identity
from equilibrist.storage.manifest import MANIFEST
from equilibrist.strategies import quantized, solution
from equilibrist.strategies.description import BucketDescription
from equilibrist.strategies.played import (
    BucketColumns,
    FixedMix,
    IdentifiedStrategy,
    Mix,
    RealStrategy,
    TableStrategy,
)
from equilibrist.strategies.quantized import SURE, CompactStrategy, open_buckets
from equilibrist.strategies.solution import Solution, game_of

MIXES: dict[str, Mix | None] = {
    "always-fold": (1.0, 0.0, 0.0),
    "always-call": (0.0, 1.0, 0.0),
    "always-raise": (0.0, 0.0, 1.0),
    "uniform": None,  # all actions equally likely
}


def is_mix(text: str) -> bool:
    """Return whether a text names a strategy that ignores its cards."""
    return text in MIXES or text.startswith("mix:")


def open_strategy(text: str, rules: GameRules | None = None) -> IdentifiedStrategy:
    """Return the strategy that a text names: a mix, a bot, or a folder.

    Mixes are `always-fold`, `always-call`, `always-raise`, `mix:0.1,0.6,0.3` and `uniform`; a
    folder, also written `solution:DIR`, holds a solution, a strategy, a spot, or a bot. A mix
    plays by `rules`, by default those of limit hold'em; other strategies store their rules.

    Example:
        >>> open_strategy("mix:0.1,0.6,0.3").strategy.mix
        (0.1, 0.6, 0.3)
    """
    if is_mix(text):
        return _open_mix(text, rules or get_game("holdem-limit"))
    folder = _folder_of(text)
    stored = read_identity(folder)
    checked: tuple[str, ...] = ("checksums", "schema")
    strategy: RealStrategy
    if stored.kind == spot_run.KIND:
        solved = SolvedSpot.open(folder)
        strategy = solved.answers()
        if not solved.is_checked_whole:
            checked = ("checksums of the blocks that were read", "schema")
    elif stored.kind == split_run.KIND:
        strategy = SplitRun.open(folder).strategy()
        checked = ("checksums of the tables that are read", "schema")
    elif stored.kind == quantized.KIND:
        strategy = table_of(CompactStrategy.open(folder))
    elif stored.kind == solution.KIND:
        strategy = table_of(Solution.load(folder, in_memory=True))
    else:
        raise StorageError(
            f"{folder} holds a {stored.kind}, which cannot be played; give a solution, a strategy "
            "or a spot",
            value=str(folder),
        )
    own = strategy.tree.rules
    if rules is not None and rules_text(own) != rules_text(rules):
        raise InvalidValueError(
            f"{text} is a strategy for {own.name}, not for {rules.name}", value=text
        )
    return IdentifiedStrategy(text, strategy, stored.hash, checked)


def open_stored(text: str) -> Solution | CompactStrategy:
    """Return the stored solution or strategy of a bot or folder, by the names of `open_strategy`.

    Raises `StorageError` for a folder that holds anything else.
    """
    folder = _folder_of(text)
    kind = read_identity(folder).kind
    if kind == quantized.KIND:
        return CompactStrategy.open(folder)
    if kind != solution.KIND:
        raise StorageError(
            f"{folder} holds a {kind}; give a solution or a strategy", value=str(folder)
        )
    return Solution.load(folder, in_memory=True)


def table_of(found: Solution | CompactStrategy) -> TableStrategy:
    """Return a stored strategy as a table; in a limit game of buckets, with all raises."""
    game = found.game
    if not isinstance(game, BucketDescription):
        assert isinstance(found, Solution)
        return TableStrategy.of_game(game_of(found), _exact_plans(found))
    known, buckets = open_buckets(found)
    trees = bucket_tree(known, 0, buckets), bucket_tree(known, 1, buckets)
    real = known
    if buckets.rules.is_limit:
        real = BettingTree.build(
            buckets.rules, first_round=game.first_round, last_round=game.last_round, pot=game.pot
        )
    columns = BucketColumns(buckets)
    if isinstance(found, CompactStrategy):
        return TableStrategy(real, known, trees, found.probabilities, columns, SURE)
    behaviour: list[Floats] = []
    for tree, plan in zip(trees, _exact_plans(found), strict=True):
        behaviour.append(np.empty(len(plan)))
        normalize(tree, plan, behaviour[-1])
    return TableStrategy(real, known, trees, (behaviour[0], behaviour[1]), columns)


def _exact_plans(found: Solution) -> tuple[Floats, Floats]:
    first, second = (np.asarray(plan, np.float64) for plan in found.plans)
    return first, second


def _folder_of(text: str) -> Path:
    """Return the folder of a bot, or of a path; raise `StorageError` if it holds nothing."""
    if text in BOTS:
        return BOTS[text].stored_strategy()
    path = Path(text.removeprefix("solution:"))
    for part in ("", STRATEGY, SOLUTION):  # a bot's folder has both
        # Unlike Path.exists, os.path.exists accepts names of any length.
        if os.path.exists(path / part / MANIFEST) and (part != STRATEGY or is_current(path / part)):
            return path / part
    bots = [bot.name for bot in BOTS.values() if bot.strategies]
    nearest = difflib.get_close_matches(text, [*bots, *MIXES], n=1, cutoff=0.7)
    hint = f"; did you mean {nearest[0]}" if nearest else ""
    raise StorageError(
        f"{text[:60]} is not a strategy: give a bot ({', '.join(bots)}), a folder with a "
        "solution, strategy or spot, or a mix such as always-call, uniform or mix:0.1,0.6,0.3"
        f"{hint}",
        value=text,
    )


def _open_mix(text: str, rules: GameRules) -> IdentifiedStrategy:
    mix = MIXES[text] if text in MIXES else _parse_mix(text)
    if not rules.is_limit:
        raise InvalidValueError(
            f"{rules.name} is not a limit game; a mix needs the rules of a limit game",
            value=rules.name,
        )
    name = "uniform" if mix is None else str(mix)
    strategy = FixedMix(BettingTree.build(rules), mix)
    return IdentifiedStrategy(text, strategy, f"{name} {rules_text(rules)}")


def _parse_mix(text: str) -> Mix:
    words = text.removeprefix("mix:").split(",")
    try:
        fold, call, raise_ = map(float, words)
    except ValueError:
        fold = call = raise_ = -1.0
    if min(fold, call, raise_) < 0 or abs(fold + call + raise_ - 1) > 1e-9:
        raise ParseError(
            f"{text[:40]} is not a mix; write the probabilities of fold, call and raise, which sum "
            "to 1, such as mix:0.1,0.6,0.3",
            value=text,
        )
    return fold, call, raise_

"""Opens a strategy of the real game by its name: a mix, a bot or a folder."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from equilibrist.bots.registry import BOTS, strategy_of
from equilibrist.errors import InvalidValueError, ParseError, StorageError
from equilibrist.games.betting_tree import BettingTree
from equilibrist.games.catalog import get_game
from equilibrist.games.rules import GameRules, rules_text
from equilibrist.kernels.cpu.sequence_form import normalize
from equilibrist.models.bucketed import bucket_tree
from equilibrist.models.game import Floats
from equilibrist.storage.artefact import read_identity
from equilibrist.storage.manifest import MANIFEST
from equilibrist.strategies import quantized, solution
from equilibrist.strategies.description import BucketDescription
from equilibrist.strategies.played import (
    BucketColumns,
    FixedMix,
    IdentifiedStrategy,
    Mix,
    TableStrategy,
)
from equilibrist.strategies.quantized import SURE, CompactStrategy, open_buckets
from equilibrist.strategies.solution import Solution

MIXES: dict[str, Mix] = {
    "always-fold": (1.0, 0.0, 0.0),
    "always-call": (0.0, 1.0, 0.0),
    "always-raise": (0.0, 0.0, 1.0),
}


def open_strategy(text: str, rules: GameRules | None = None) -> IdentifiedStrategy:
    """Return the strategy of a mix (`always-call`, `mix:0.1,0.6,0.3`), a bot or a folder.

    A mix plays by `rules`, by default those of limit hold'em; other strategies store their rules.

    Example:
        >>> open_strategy("mix:0.1,0.6,0.3").strategy.mix
        (0.1, 0.6, 0.3)
    """
    mix = MIXES.get(text) or (_parse_mix(text) if text.startswith("mix:") else None)
    if mix is not None:
        rules = rules or get_game("holdem-limit")
        if not rules.is_limit:
            raise InvalidValueError(
                f"{rules.name} is not a limit game; a mix needs the rules of a limit game",
                value=rules.name,
            )
        strategy = FixedMix(BettingTree.build(rules), mix)
        return IdentifiedStrategy(text, strategy, f"{mix} {rules_text(rules)}")
    folder = strategy_of(text) if text in BOTS else Path(text)
    if not os.path.exists(folder / MANIFEST):  # unlike Path.exists, accepts names of any length
        raise StorageError(
            f"{text[:60]} is not a strategy: give a bot ({', '.join(BOTS)}), a folder with a "
            "solution or strategy, or a mix such as always-call or mix:0.1,0.6,0.3",
            value=text,
        )
    stored = read_identity(folder)
    if stored.kind not in (quantized.KIND, solution.KIND):
        raise StorageError(
            f"{folder} holds a {stored.kind}, which cannot be played; give a solution or a "
            "strategy",
            value=str(folder),
        )
    found = (
        CompactStrategy.open(folder)
        if stored.kind == quantized.KIND
        else Solution.load(folder, in_memory=True)
    )
    table = table_of(found, text)
    if rules is not None and rules_text(table.tree.rules) != rules_text(rules):
        raise InvalidValueError(
            f"{text} is a strategy for {table.tree.rules.name}, not for {rules.name}", value=text
        )
    return IdentifiedStrategy(text, table, stored.hash)


def table_of(found: Solution | CompactStrategy, name: str) -> TableStrategy:
    """Return a stored strategy of buckets as a strategy of the game with all raises."""
    game = found.game
    if not isinstance(game, BucketDescription):
        raise InvalidValueError(
            f"{name} is a solution of {game.name} itself, not of buckets: `equilibrist exploit "
            f"{name}` without --real-game evaluates it in the real game",
            value=name,
        )
    if game.last_round is not None or game.first_round > 0:
        raise InvalidValueError(
            f"{name} is a strategy of some rounds only; give one of all rounds", value=name
        )
    known, buckets = open_buckets(found)
    trees = bucket_tree(known, 0, buckets), bucket_tree(known, 1, buckets)
    behaviour: list[Floats] = []
    for player, tree in enumerate(trees):
        if isinstance(found, CompactStrategy):
            behaviour.append(found.probabilities[player] / np.float64(SURE))
            continue
        behaviour.append(np.empty(len(found.plans[player])))
        normalize(tree, np.asarray(found.plans[player], np.float64), behaviour[-1])
    real = BettingTree.build(buckets.rules)
    return TableStrategy(real, known, trees, (behaviour[0], behaviour[1]), BucketColumns(buckets))


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

"""Composition of PsOpti's players: models of different rounds, solved one by one, then glued.

Each model is a solution in the bot's folder with its own proof: `preflop` is the opening, if it is
solved at all; `postflop-…` is named by the small bets in its pot, or by the betting that leads to
it. Models named by betting use the beliefs about both players' hands that the opening's solution
gives; the others assume that all hands are equally likely (Billings et al. 2003, "Composition of
preflop and postflop models").
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equilibrist.abstraction.buckets import Abstraction
from equilibrist.abstraction.conditioning import Priors
from equilibrist.bots.bot import BUCKETS, COUNTS, GluedBot
from equilibrist.bots.train import SolvedModel, TrainingOptions, TrainingReport, solve_model
from equilibrist.bots.training import open_or_start
from equilibrist.games.betting_tree import BettingTree
from equilibrist.games.catalog import get_game
from equilibrist.kernels.treeplex import block
from equilibrist.models.bucketed import bucket_tree
from equilibrist.models.exact import exact_game
from equilibrist.models.game import Floats, SequenceGame
from equilibrist.models.treeplex import player_rows
from equilibrist.storage.artefact import read_identity
from equilibrist.storage.manifest import MANIFEST
from equilibrist.storage.ownership import owned
from equilibrist.strategies.composition import GluedBuckets, Part, glue, openings
from equilibrist.strategies.description import (
    BucketDescription,
    Description,
    GameDescription,
    ModelRounds,
    same_game,
)
from equilibrist.strategies.quantized import CompactStrategy, rounded
from equilibrist.strategies.solution import Solution, game_of, read_summary

OPENING = "preflop"
_LATER = "postflop-"
ReportNote = Callable[[str], None]


class Model(NamedTuple):
    """One model to solve."""

    name: str  # of its folder
    description: Description
    bot: GluedBot  # with the method for this model


def models(bot: GluedBot, folder: Path, report: ReportNote = print) -> Iterator[Model]:
    """Yield the models to solve, in order.

    A model that needs the opening's beliefs is described when it is requested: the opening's
    solution must exist by then. `report` receives a note where beliefs cannot be computed.
    """
    if bot.opening == "selby":
        game = GameDescription.of(exact_game(get_game("preflop-holdem")))
        yield Model(OPENING, game, replace(bot, method="lp"))
    elif bot.opening == "model":
        last = _betting(bot, folder).last_round - 1
        model = _described(bot, folder, ModelRounds(last=last))
        yield Model(OPENING, model, bot)
    small_bet = _betting(bot, folder).rules.raise_sizes[0]
    uniform = (1.0,) * bot.buckets[0]
    for pot in bot.pots:
        chips = pot * small_bet
        rounds = ModelRounds(first=1, pot=chips)
        model = _described(bot, folder, rounds, (uniform, uniform))
        yield Model(f"{_LATER}{pot}", model, bot)
    if bot.pots:
        return
    opening = Solution.load(folder / OPENING)
    solved, betting = game_of(opening), _betting(bot, folder)
    for node in openings(betting):
        name, pot = betting.name(node)[:-1], int(betting.spent[node].sum())
        priors = beliefs(solved, opening.plans, name, report)
        model = _described(bot, folder, ModelRounds(first=1, pot=pot), priors)
        yield Model(_LATER + name, model, bot)


def solve_models(
    bot: GluedBot, folder: Path, options: TrainingOptions, report: TrainingReport
) -> list[SolvedModel]:
    """Solve the models of a bot one after the other, then glue them into what it plays from.

    The list ends with the first model that is interrupted.
    """
    found: list[SolvedModel] = []
    for model in models(bot, folder, report.say):
        report.say(model.name)
        out = folder / model.name
        with owned(out):
            afresh = has_other_beliefs(out, model.description)
            prepared = open_or_start(model.bot, out, model.description, options.seed, afresh=afresh)
            found.append(solve_model(model.name, model.bot, prepared, options, report))
        if found[-1].is_interrupted:
            return found
    save_glued(bot, folder, report.say)
    return found


def has_other_beliefs(out: Path, description: Description) -> bool:
    """Return whether a folder holds a solution of this model with other beliefs about the hands.

    This happens if the opening has been solved further since.
    """
    if not (out / MANIFEST).exists() or not isinstance(description, BucketDescription):
        return False
    there = read_summary(out).game
    if not isinstance(there, BucketDescription) or there.priors == description.priors:
        return False
    return same_game(replace(there, priors=description.priors), description)


def save_glued(bot: GluedBot, folder: Path, report: ReportNote = print) -> None:
    """Glue the solved models and write the strategy; `report` receives pots played as others."""
    betting, buckets = _betting(bot, folder), Abstraction.open(folder / BUCKETS)
    opening, columns = _opening(bot, folder, buckets, betting)
    parts: dict[str, Part] = {}
    later: dict[int, Part] = {}
    for node in openings(betting):
        name = _model_for(bot, betting, node, report)
        if name not in parts:
            solution = Solution.load(folder / name)
            parts[name] = Part.of(game_of(solution), solution.plans)
        later[node] = parts[name]
    glued = glue(betting, columns, opening, later)
    names = [*([] if bot.opening == "call" else [OPENING]), *parts]
    first, second = (
        rounded(bucket_tree(betting, player, columns), probabilities)
        for player, probabilities in enumerate(glued)
    )
    CompactStrategy(
        _described(bot, folder, ModelRounds()),
        (first, second),
        {name: read_identity(folder / name).hash for name in names},
        columns.opening,
    ).save(folder / bot.strategy)


def _model_for(bot: GluedBot, betting: BettingTree, node: int, report: ReportNote) -> str:
    """Return the name of the later model that continues from a node: its own or the nearest pot."""
    name, bets = betting.name(node)[:-1], betting.spent[node].sum() / betting.rules.raise_sizes[0]
    if not bot.pots:
        return _LATER + name
    nearest = min(bot.pots, key=lambda pot: abs(pot - bets))
    if nearest != bets:
        report(f"after {name} the pot is {bets:g} bets: played as a pot of {nearest}")
    return f"{_LATER}{nearest}"


def _opening(
    bot: GluedBot, folder: Path, buckets: Abstraction, betting: BettingTree
) -> tuple[Part, GluedBuckets]:
    """Return the strategy of the first round and the columns of the whole strategy."""
    if bot.opening == "call":
        opening = np.full(buckets.streets.num_hands, -1, np.int16)
        opening[buckets.streets.in_deck] = 0
        columns = GluedBuckets(opening, buckets)
        return _calls(betting, columns), columns
    solution = Solution.load(folder / OPENING)
    game = game_of(solution)
    table: NDArray[np.int16] = (
        buckets.tables[0][0] if game.states is None else game.states.state_of_hand[0][0]
    )
    return Part.of(game, solution.plans), GluedBuckets(table.astype(np.int16), buckets)


def _calls(betting: BettingTree, columns: GluedBuckets) -> Part:
    """Return a part that always calls in the first round."""
    first, second = (bucket_tree(betting, player, columns) for player in (0, 1))
    behaviour = []
    for player, tree in enumerate((first, second)):
        rows, probabilities = player_rows(betting, player), np.ones(int(tree.block_start[-1]))
        for node in np.flatnonzero((rows.decision >= 0) & (betting.round == 0)).tolist():
            for child in betting.children(node):
                is_call = betting.step(child) == "c"
                block(tree, 0, 0, probabilities)[rows.row[child]] = float(is_call)
        behaviour.append(probabilities)
    return Part(betting, (first, second), (behaviour[0], behaviour[1]))


def beliefs(
    game: SequenceGame, plans: tuple[Floats, Floats], name: str, report: ReportNote = print
) -> Priors:
    """Return each player's probability to play the first round as `name`, by bucket: x and y.

    They come from `plans` of a bucket `game`. If a player never plays so, any hand is assumed, and
    `report` receives a note.
    """
    assert game.betting is not None
    node = game.betting.parse(name)
    found = []
    for player, plan in enumerate(plans):
        row = player_rows(game.betting, player).row[node]
        weights = np.asarray(block(game.trees[player], 0, 0, plan)[row], np.float64)
        if not weights.any():
            report(f"player {player} never plays {name}: any hand is assumed there")
            weights = np.ones_like(weights)
        found.append(tuple(weights.tolist()))
    return found[0], found[1]


def _described(
    bot: GluedBot, folder: Path, rounds: ModelRounds, priors: Priors | None = None
) -> BucketDescription:
    menu = bot.menu
    return BucketDescription.of(folder / BUCKETS, folder / COUNTS, menu, rounds, priors)


def _betting(bot: GluedBot, folder: Path) -> BettingTree:
    menu = bot.menu
    return BettingTree.build(Abstraction.open(folder / BUCKETS).rules, menu)

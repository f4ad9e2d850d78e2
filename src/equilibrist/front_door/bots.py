"""Bots that are trained, and how exploitable strategies are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from equilibrist.bots.open import open_strategy
from equilibrist.bots.train import TrainedBot, TrainedBuckets, TrainingOptions
from equilibrist.bots.train import train as train_bot
from equilibrist.errors import InvalidValueError
from equilibrist.evaluation.real_game import run as responding
from equilibrist.evaluation.real_game.response import is_holdem
from equilibrist.front_door.games import SolvedGame
from equilibrist.solving.best_response import evaluate
from equilibrist.storage.threads import most_threads


def train(bot: str, folder: str | Path | None = None, **options: Any) -> TrainedBot:
    """Train a bot, or continue its training; `options` are those of `TrainingOptions`."""
    place = None if folder is None else Path(folder)
    return train_bot(bot, place, options=TrainingOptions(**options))


def exploitability(
    strategy: str | TrainedBot | SolvedGame,
    *,
    real_game: bool = False,
    flops: int | None = None,
    seed: int = 0,
    threads: int | None = None,
    device: str = "cpu",
) -> float:
    """Return the exploitability of a strategy: in its own game, or in limit hold'em itself.

    A solved game and a trained bot have the exploitability in their own model, in its unit. With
    `real_game` the best opponent knows all cards and all raises, and the result is in mbb/g; with
    `flops` it is an estimate from a stratified sample. `device` is cpu, gpu or auto.
    """
    if not real_game:
        return _own_exploitability(strategy)
    if isinstance(strategy, SolvedGame):
        raise InvalidValueError("a solved game is its own real game: leave real_game out")
    if isinstance(strategy, TrainedBot):
        strategy = strategy.player.removeprefix("solution:")
    named = open_strategy(strategy)
    rules = named.strategy.tree.rules
    if not is_holdem(rules):
        return responding.reference_exploited(named).exploitability
    responses = responding.responses_to(named)
    run = responding.open_or_start(named, responses, None)
    chosen = responding.stratified(run.flops, flops, seed)
    _, gpu = responding.on_device(device, responses)
    responding.run_flops(run, responses, chosen, threads=threads or most_threads(), engine=gpu)
    return responding.exploited(run, responses).exploitability


def _own_exploitability(strategy: str | TrainedBot | SolvedGame) -> float:
    """Return the exploitability of a strategy in the game that it was computed in."""
    if isinstance(strategy, SolvedGame):
        return evaluate(strategy.game, strategy.plans).exploitability
    if isinstance(strategy, TrainedBuckets):
        return max(model.run.evaluation.exploitability for model in strategy.models)
    if isinstance(strategy, TrainedBot):
        name = strategy.bot.name
        raise InvalidValueError(f"{name} has no model of its own to be measured in", value=name)
    raise InvalidValueError(
        "a name is measured in the real game: add real_game=True", value=strategy
    )

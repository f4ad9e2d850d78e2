"""The tables of GS3: its win rates in matches, and the value of finer buckets.

Gilpin, Sandholm and Sørensen, "Potential-Aware Automated Abstraction of Sequential Games, and
Holistic Equilibrium Analysis of Texas Hold'em Poker" (AAAI 2007). Table 1: small bets per hand that
GS3 wins from static players. Table 2: small bets per hand that it wins from Vexbot in 20 matches of
100,000 hands, over all hands and over the last tenth, when Vexbot has learned; there matches, not
hands, are independent. Its conclusion also asks for an experiment: finer buckets against a smaller
gap, with equal solving time.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from equilibrist import stopping
from equilibrist.bots import training
from equilibrist.bots.bot import SOLUTION, BucketBot
from equilibrist.bots.registry import get_bucket_bot
from equilibrist.evaluation.statistics import Estimate
from equilibrist.games.catalog import load_game
from equilibrist.games.rules import GameRules
from equilibrist.papers.rows import PaperRow, ReportProgress, match_row
from equilibrist.play.match import MatchSettings, play_matches
from equilibrist.players.catalog import make_player
from equilibrist.solving.solve import Budget, Run
from equilibrist.storage.ownership import owned

# Table 1: GS3's win rates, sb/h.
STATIC = {
    "Always Call": 0.532,
    "Always Raise": 0.442,
    "BluffBot": 0.148,
    "GS2": 0.222,
    "Hyperborean-Bankroll": 0.099,
    "Hyperborean-Series": 0.071,
    "Monash-BPP": 0.669,
    "Sparbot": 0.033,
    "Teddy": 0.419,
}
STAND_INS = {
    "Always Call": "always-call",
    "Always Raise": "always-raise",
    "GS2": "gs2:iterations=10",
    "Monash-BPP": "monash",
    "Sparbot": "psopti2",  # Sparbot is based on it
    "Teddy": "teddy",
}
TWO_PHASE_SHARE = 20  # divisor of the number of hands against a player that solves during play
# Table 2: the mean and the share of hands it is taken over.
VEXBOT = {"all hands": (0.142, 1.0), "the last tenth": (0.147, 0.1)}
# Numbers of buckets that the experiment of the conclusion compares, from coarse to fine.
SIZES = ((5, 20, 80, 320), (6, 36, 216, 1296), (8, 64, 512, 4096))


def static_rows(
    rules: GameRules,
    bot: str,
    hands: int,
    seed: int,
    report: ReportProgress,
    without: tuple[str, ...] = (),
) -> Iterator[PaperRow]:
    """Yield Table 1 for the opponents we have; `without` names players to leave out."""
    for opponent, paper in STATIC.items():
        name, other = f"{bot} – {opponent}", STAND_INS.get(opponent)
        if other is None:
            yield PaperRow("1", name, paper, None)
        elif other.partition(":")[0] in without:
            yield PaperRow("1", name, paper, None, missing="not trained")
        else:
            played = hands if ":" not in other else max(4, hands // TWO_PHASE_SHARE // 2 * 2)
            row = PaperRow("1", name, paper)
            yield match_row(row, rules, (bot, other), played, seed, report)


def vexbot_rows(
    rules: GameRules, bot: str, matches: int, hands: int, seed: int, report: ReportProgress
) -> Iterator[PaperRow]:
    """Yield Table 2: matches against Vexbot, which starts each match with nothing learned."""
    name = f"{bot} – Vexbot"
    pair = make_player(bot, rules), make_player("vexbot", rules)
    settings = MatchSettings(hands=hands, matches=matches, seed=seed, runner="views")
    played = play_matches(rules, pair, settings, lambda share: report(name, share))
    for what, (paper, share) in VEXBOT.items():
        rates = np.array([match.rate(share) for match in played]) / rules.raise_sizes[0]
        found = Estimate.of_sample(rates)
        yield PaperRow(
            "2",
            f"{name}, {what}",
            paper,
            found.mean,
            ci95=found.ci95,
            hands=matches * max(1, round(share * hands)),
        )


def finer_rows(
    sizes: Sequence[tuple[int, ...]],
    folder: Path,
    seconds: float,
    hands: int,
    seed: int,
    report: ReportProgress,
) -> Iterator[PaperRow]:
    """Compare finer buckets with a smaller gap: bots of several sizes, solved for equal time.

    Yields the exploitability of each bot among its own buckets, and the win rate of the finer bot
    of each pair in a duplicate match. Bots are stored in `folder` and reused if they exist.
    """
    made = [_sized(size, seconds) for size in sizes]
    rules = load_game(made[0].game)
    for bot in made:
        gap = _trained(bot, folder / bot.name, seconds, report) / rules.raise_sizes[0]
        yield PaperRow("finer", f"{bot.name}, exploitability among its buckets", None, gap)
    players = [f"solution:{folder / bot.name / bot.strategy}" for bot in made]
    for fine in range(1, len(made)):
        for coarse in range(fine):
            row = PaperRow("finer", f"{made[fine].name} – {made[coarse].name}")
            pair = players[fine], players[coarse]
            yield match_row(row, rules, pair, hands, seed, report)


def _sized(size: tuple[int, ...], seconds: float) -> BucketBot:
    """Return GS3 with the given numbers of buckets and seconds of solving, on sampled boards."""
    name = "-".join(map(str, size))
    solution = f"{SOLUTION}-{seconds:g}s"
    return dataclasses.replace(
        get_bucket_bot("gs3-small"),
        name=name,
        buckets=size,
        solution=solution,
        evaluate_every=None,
    )


def _trained(bot: BucketBot, folder: Path, seconds: float, report: ReportProgress) -> float:
    """Train a bot for some seconds and return its exploitability among its buckets, in chips."""

    def watch(run: Run) -> None:
        report(f"solving {bot.name}", min(1.0, run.seconds / seconds))

    with owned(folder), owned(folder / bot.solution):
        report(f"buckets of {bot.name}", 0.0)
        buckets = training.make_buckets(load_game(bot.game), bot.recipe, bot.buckets, folder)
        report(f"counting deals of {bot.name}", 0.0)
        training.count_deals(bot, folder, buckets)
        prepared = training.prepare(bot, folder)
        run = prepared[-1]
        if run is None or run.seconds < seconds:
            budget = Budget(seconds=seconds, every=bot.evaluate_every)
            run = training.run(prepared, budget, watch=watch)
            stopping.check()
            training.save_strategy(bot, folder)
    return run.evaluation.exploitability

"""GS3: what it wins at the table, and what finer buckets are worth.

Gilpin, Sandholm and Sørensen, "Potential-Aware Automated Abstraction of Sequential Games, and
Holistic Equilibrium Analysis of Texas Hold'em Poker" (AAAI 2007). Table 1: small bets a hand that
GS3 wins from static players. Table 2: from Vexbot in 20 matches of 100,000 hands, over all hands
and over the last tenth, where it has learned; matches, not hands, are independent there. And the
experiment its conclusion asks for: finer buckets against a smaller gap, at equal time.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from equilibrist.evaluation.statistics import Estimate
from equilibrist.games.catalog import load_game
from equilibrist.games.rules import GameRules
from equilibrist.papers.rows import PaperRow, Tell, match_row
from equilibrist.play.match import play_matches
from equilibrist.players.catalog import make_player
from equilibrist.solving import training
from equilibrist.solving.solve import Run
from equilibrist.storage import stopping
from equilibrist.storage.ownership import owned
from equilibrist.strategies.bots import BOTS, SOLUTION, Bot

# Table 1: what GS3 wins, sb/h.
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
    "Sparbot": "psopti2",  # which it was made of
    "Teddy": "teddy",
}
TWO_PHASE_SHARE = 20  # of which one is played against a player who thinks at the table
# Table 2: the mean over all hands, and over the last tenth.
VEXBOT = {"all hands": (0.142, 1.0), "the last tenth": (0.147, 0.1)}
# From coarse to fine: what the experiment of the conclusion compares.
SIZES = ((5, 20, 80, 320), (6, 36, 216, 1296), (8, 64, 512, 4096))


def static_rows(
    rules: GameRules, bot: str, hands: int, seed: int, tell: Tell, without: tuple[str, ...] = ()
) -> Iterator[PaperRow]:
    """Table 1 with the opponents there are; `without` are names of players to leave out."""
    for opponent, paper in STATIC.items():
        name, other = f"{bot} – {opponent}", STAND_INS.get(opponent)
        if other is None:
            yield PaperRow("1", name, paper, None)
        elif other.partition(":")[0] in without:
            yield PaperRow("1", name, paper, None, missing="not trained")
        else:
            played = hands if ":" not in other else max(4, hands // TWO_PHASE_SHARE // 2 * 2)
            yield match_row("1", name, paper, rules, (bot, other), played, seed, tell)


def vexbot_rows(
    rules: GameRules, bot: str, matches: int, hands: int, seed: int, tell: Tell
) -> Iterator[PaperRow]:
    """Table 2: matches against the learner, each beginning with nothing learned."""
    name = f"{bot} – Vexbot"
    pair = make_player(bot, rules), make_player("vexbot", rules)
    played = play_matches(
        rules, pair, matches, hands, seed=seed, watch=lambda share: tell(name, share)
    )
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
    tell: Tell,
) -> Iterator[PaperRow]:
    """Finer buckets against a smaller gap: bots of some sizes, solved equally long.

    Their exploitability among their own buckets, and what the finer of each two wins from the
    other in a duplicate match. Bots are kept in `folder` and used again if they are there.
    """
    made = [_sized(size, seconds) for size in sizes]
    rules = load_game(made[0].game)
    for bot in made:
        gap = _trained(bot, folder / bot.name, seconds, tell) / rules.raise_sizes[0]
        yield PaperRow("finer", f"{bot.name}, exploitability among its buckets", None, gap)
    players = [f"solution:{folder / bot.name / bot.strategy}" for bot in made]
    for fine in range(1, len(made)):
        for coarse in range(fine):
            name = f"{made[fine].name} – {made[coarse].name}"
            pair = players[fine], players[coarse]
            yield match_row("finer", name, None, rules, pair, hands, seed, tell)


def _sized(size: tuple[int, ...], seconds: float) -> Bot:
    """GS3 with so many buckets, from a sample of boards, solved for so long."""
    name = "-".join(map(str, size))
    solution = f"{SOLUTION}-{seconds:g}s"
    return dataclasses.replace(
        BOTS["gs3-small"], name=name, buckets=size, solution=solution, looks=None
    )


def _trained(bot: Bot, folder: Path, seconds: float, tell: Tell) -> float:
    """Make a bot, solve it so long, and say how exploitable it is among its buckets, in chips."""

    def watch(run: Run) -> None:
        tell(f"solving {bot.name}", min(1.0, run.seconds / seconds))

    with owned(folder), owned(folder / bot.solution):
        tell(f"buckets of {bot.name}", 0.0)
        buckets = training.make_buckets(load_game(bot.game), bot.recipe, bot.buckets, folder)
        tell(f"counting deals of {bot.name}", 0.0)
        training.count_deals(bot, folder, buckets)
        prepared = training.prepare(bot, folder)
        run = prepared[-1]
        if run is None or run.seconds < seconds:
            run = training.run(bot, prepared, seconds=seconds, watch=watch)
            stopping.check()
            training.keep_strategy(bot, folder)
    return run.evaluation.exploitability

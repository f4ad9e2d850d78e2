"""How large is a trained bot, how fast does it open, and how many hands per second does it play?

The bot is opened from its solution, as every solution can be, and from its strategy of 16 bits,
which is what it plays from. Correctness first: what is rounded must be as exploitable as what was
proved, within 0.05 mbb/g, and must win the same from always-call. A bot that is glued from models
has a strategy alone. A decision is timed as a person at the table meets it, on views of hands.

Run: python benchmarks/bench_bots.py [--bot smallbot] [--hands 1000000]; a bot that is not there
is trained.
"""

from __future__ import annotations

import argparse
import functools
import subprocess
import sys
from pathlib import Path

import numpy as np
from harness import Report, best_seconds

from equilibrist.bots.bot import BucketBot
from equilibrist.bots.registry import get_bucket_bot
from equilibrist.cli.bots import train
from equilibrist.evaluation.statistics import unit_chips
from equilibrist.games.action import Action
from equilibrist.games.catalog import get_game
from equilibrist.play.compiled_match import TableMatch
from equilibrist.play.match import play_match
from equilibrist.players.catalog import make_player
from equilibrist.players.player import Player, View
from equilibrist.solving.best_response import evaluate
from equilibrist.strategies.quantized import SURE, CompactStrategy
from equilibrist.strategies.solution import Solution, game_of

RULES = get_game("holdem-limit")
DECIDED = 2_000  # hands whose decisions are timed one by one


def change(bot: BucketBot) -> float:
    """Return by how much rounding changes the exploitability, mbb/g."""
    solution = Solution.load(bot.folder / bot.solution)
    found = CompactStrategy.open(bot.folder / bot.strategy)
    game = game_of(solution)
    first, second = (game.realize(p, found.probabilities[p] / np.float64(SURE)) for p in (0, 1))
    chips = evaluate(game, (first, second)).exploitability - solution.certificate.exploitability
    return abs(chips) / unit_chips(RULES)["mbb/g"]


def sit_down(folder: Path) -> TableMatch:
    """Open a bot at a table with always-call and play its first hands."""
    pair = make_player(f"solution:{folder}", RULES), make_player("always-call", RULES)
    match = TableMatch.of(RULES, pair)
    assert match is not None
    match.play(2, seed=0)
    return match


class Watched(Player):
    """A player whose views are recorded."""

    def __init__(self, player: Player) -> None:
        self.player, self.name, self.views = player, player.name, []

    def act(self, view: View) -> Action:
        """Act as the player does."""
        self.views.append(view)
        return self.player.act(view)

    def reset(self, seed: int) -> None:
        """Reset the player."""
        self.player.reset(seed)


def decision_seconds(folder: Path) -> float:
    """Return the mean seconds per decision of a bot in some hands with always-call."""
    player = Watched(make_player(f"solution:{folder}", RULES))
    pair = player, make_player("always-call", RULES)
    play_match(RULES, pair, DECIDED, seed=1, runner="views")

    def decide() -> None:
        for view in player.views:
            player.player.act(view)

    return best_seconds(decide) / len(player.views)


def in_its_own_process(folder: Path, hands: int) -> None:
    """Time a match as a command: Python starts, opens the bot, plays and ends."""
    words = ["match", f"solution:{folder}", "always-call", "--hands", str(hands)]
    code = "from equilibrist.cli import main; main()"
    subprocess.run([sys.executable, "-c", code, *words], check=True, capture_output=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bot", default="smallbot-quick")
    parser.add_argument("--hands", type=int, default=1_000_000)
    given = parser.parse_args()
    bot = get_bucket_bot(given.bot)
    folder, forms = bot.folder, (bot.solution, bot.strategy)
    if bot.is_glued:
        forms = (bot.strategy,)
    if not (folder / bot.strategy).exists():
        train(given.bot)

    report = Report(f"{given.bot}: what it plays from", header="")
    if not bot.is_glued:
        rounding = change(bot)
        assert rounding < 0.05, rounding
        won = [sit_down(folder / part).play(given.hands, seed=1)[0] for part in forms]
        assert (won[0] != won[1]).mean() < 1e-3
        report.figure("exploitability changed by rounding", rounding, "mbb/g")
    for part in forms:
        size = sum(path.stat().st_size for path in (folder / part).iterdir())
        report.figure(f"{part}: size", size / 1e6, "MB")
        player = functools.partial(make_player, f"solution:{folder / part}", RULES)
        report.figure(f"{part}: opened", best_seconds(player), "s")
        report.figure(f"{part}: a decision", 1e3 * decision_seconds(folder / part), "ms")
        play = functools.partial(sit_down(folder / part).play, given.hands, seed=1)
        report.figure(f"{part}: against always-call", given.hands / best_seconds(play), "hands/s")
        command = functools.partial(in_its_own_process, folder / part, given.hands)
        seconds = best_seconds(command)
        report.figure(f"{part}: the same as a command", given.hands / seconds, "hands/s")


if __name__ == "__main__":
    main()

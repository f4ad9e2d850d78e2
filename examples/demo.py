"""Train a limit hold'em bot in minutes, prove its exploitability and play matches.

The bot is SmallBot2298 of "A New Algorithm for Generating Equilibria in Massive Zero-Sum Games"
(Zinkevich, Bowling and Burch 2007), except that the deals of its buckets are counted on a sample of
boards. Every step is a command of `equilibrist`, called here as a function.

Run: make demo, or python examples/demo.py; a second run continues from the results of the first.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from equilibrist.bots.registry import solution_of
from equilibrist.cli.arena import match
from equilibrist.cli.bots import train
from equilibrist.cli.options import table
from equilibrist.evaluation.statistics import unit_chips
from equilibrist.games.catalog import get_game
from equilibrist.strategies.solution import Solution

BOT = "smallbot-quick"
HANDS = {"always-call": 1_000_000, "always-raise": 1_000_000, "poki": 6_000}


def main() -> None:
    """Train the bot, print exploitability against time, and play matches."""
    start = time.perf_counter()
    begin(f"Training {BOT}: buckets, joint counts, strategy")
    train(BOT)

    begin("Exploitability against seconds of solving, within the buckets and boards of the sample")
    trace = Solution.load(solution_of(BOT)).trace
    chips = unit_chips(get_game("holdem-limit"))["mbb/g"]
    rows = [
        (round(seconds, 1), int(iteration), round(found / chips, 2))
        for iteration, seconds, found, *_ in trace.tolist()
    ]
    print(table(rows, header=("seconds", "iterations", "mbb/g")))

    for opponent, hands in HANDS.items():
        begin(f"Duplicate hands against {opponent}")
        match(BOT, opponent, hands=hands, duplicate=True)

    command = os.path.relpath(Path(sys.executable).with_name("equilibrist"))
    begin(f"All in {time.perf_counter() - start:.0f} s. What next:")
    print(f"play against it        {command} play {BOT}")
    print(f"recompute its proof    {command} exploit {solution_of(BOT)}")
    print(f"train on all deals     {command} train smallbot")


def begin(title: str) -> None:
    """Print the title of a part."""
    print(f"\n{title}", flush=True)


if __name__ == "__main__":
    main()

"""How fast is the rest of a hand solved at the table?

Correctness first: with hands apart and with hands that differ by suits as one, uniform play must be
worth the same. Then building a subgame and CFR+ on it, for full ranges on turns with and without
suits to exchange and on a river: limit hold'em with three raises per round.

Run: python benchmarks/bench_subgame.py [--iterations 50]
"""

from __future__ import annotations

import argparse

import numpy as np
from harness import Report, best_seconds

from equilibrist.cards.card import parse_cards
from equilibrist.games.bet_menu import BetMenu
from equilibrist.games.catalog import get_game
from equilibrist.models.card_states import Symmetry
from equilibrist.models.subgame import Subgame, subgame
from equilibrist.solving.best_response import evaluate
from equilibrist.solving.cfr import CFR

RULES, MENU = get_game("holdem-limit"), BetMenu(max_raises=(3, 3, 3, 3))
BOARDS = {"turn, no suits alike": "AsKs7h2d", "turn, two alike": "AsKs7h2h", "river": "AsKs7h2d9c"}


def spot(board: str, symmetry: Symmetry | None = None) -> Subgame:
    ranges = np.ones(1326), np.ones(1326)
    return subgame(RULES, parse_cards(board), ranges, MENU, pot=40, symmetry=symmetry)


def uniform_value(found: Subgame) -> float:
    game = found.game
    return evaluate(
        game, (game.realize(0, game.uniform(0)), game.realize(1, game.uniform(1)))
    ).value


def main() -> None:
    parser = argparse.ArgumentParser(description="Subgames at the table.")
    parser.add_argument("--iterations", type=int, default=50, help="timed iterations of CFR+")
    iterations = parser.parse_args().iterations
    merged, apart = (uniform_value(spot("AsKs7h2h", s)) for s in ("suits", "cards"))
    assert abs(merged - apart) < 1e-9
    report, solver = Report("subgames of limit hold'em", ""), CFR(dtype="float32")
    for name, board in BOARDS.items():
        report.figure(f"{name}: build", best_seconds(lambda board=board: spot(board)), "s")
        game = spot(board).game
        state = solver.init(game)
        seconds = best_seconds(lambda: solver.step(game, state, iterations))  # noqa: B023
        report.figure(f"{name}: iterations", iterations / seconds, "/s")
        size = sum(array.nbytes for array in state.values())
        size += sum(array.nbytes for array in (*game.pairs, *game.trees[0]))
        report.figure(f"{name}: arrays", size / 1e6, "MB")


if __name__ == "__main__":
    main()

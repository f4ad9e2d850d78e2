"""How much does a portfolio of counter-strategies win from weak players, and lose to strong ones?

It plays a field of ten, one of which changes its strategy in the middle of a match, and one of
which exploits the responses of the portfolio. All are known strategies, so given the weights of a
hand its expected result is known: the only chance left is what the portfolio happened to learn.

Correctness first: the checks of `bench_counter`; and neither the estimated nor the exact mean of
what was lost against the anchor may be above the stated bound.

Run: python benchmarks/bench_portfolio.py [--hands 2000] [--matches 4] [--rows DIR]
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from bench_counter import Bench, check, interval, player, show
from harness import Report

from equilibrist.front_door.counters import Opponent, compute
from equilibrist.play.match import MatchSettings, run_match
from equilibrist.players.catalog import make_player
from equilibrist.players.player import Player, View
from equilibrist.players.portfolio import Portfolio
from equilibrist.solving.counter import Method, Model
from equilibrist.storage.manifest import MANIFEST
from equilibrist.strategies.solution import Solution

WEAK = (
    "always-raise", "always-call", "uniform", "mix:0.3,0.5,0.2", "mix:0.6,0.35,0.05",
    "mix:0,0.7,0.3", "mix:0.1,0.3,0.6",
)  # fmt: skip


class Switching(Player):
    """A player that changes from one strategy to another in the middle of a match."""

    name = "switching"

    def __init__(self, players: tuple[Player, Player], hands: int) -> None:
        self.players, self.half = players, hands // 2

    def reset(self, seed: int) -> None:
        """Reset both players."""
        for one in self.players:
            one.reset(seed)

    def act(self, view: View) -> Any:
        """Act as the first player, in the second half as the other."""
        return self.players[view.state.hand_number >= self.half].act(view)


class Recorded(Portfolio):
    """A portfolio that keeps the weights of every hand, from which its expectation is exact."""

    def reset(self, seed: int) -> None:
        """Forget all hands, also those that were kept."""
        super().reset(seed)
        self.kept: list[tuple[Any, int]] = []  # weights and seat of each hand

    def observe(self, result: Any) -> None:
        """Keep the weights that played the hand, then learn from it."""
        self.kept.append((self.weights, result.view.player))
        super().observe(result)


def portfolio(bench: Bench, report: Report, seeds: int) -> None:
    """Print what a portfolio and its anchor win from a field of ten, first and last tenth too.

    Given the weights of a hand, what it wins is known, so the only chance that is left is what the
    portfolio happened to learn.
    """
    hands, rules = bench.hands, bench.rules
    members = [bench.equilibrium()] + [
        str(bench.response(target, Method("rnr", 0.9)))
        for target in ("always-raise", "always-call", "mix:0.3,0.5,0.2", "mix:0.6,0.35,0.05")
    ]
    lines = []
    for other in ("strongest", "switching", "coarse", *WEAK):
        names = [bench.name(other)]
        if other == "strongest":
            names = [str(_strongest(bench, members[1:]))]
        if other == "switching":
            names = ["always-call", "mix:0.6,0.35,0.05"]
        worth = np.array([
            [[plan @ won for plan, won in zip(bench.plans(member), bench.won(name), strict=True)]
             for member in members] for name in names
        ])  # fmt: skip

        def played(seed: int, names: Sequence[str] = names, worth: Any = worth) -> dict[str, Any]:
            own = Recorded(rules, [make_player(player(name), rules) for name in members])
            others = [make_player(player(name), rules) for name in names]
            against = Switching((others[0], others[1]), hands) if len(others) > 1 else others[0]
            run_match(rules, (own, against), MatchSettings(hands=hands, seed=seed))
            part = np.arange(hands) * len(names) // hands  # which of the opponents played
            seat = np.array([seat for _, seat in own.kept])
            weights = np.array([weights for weights, _ in own.kept])
            wins = (weights * worth[part, :, seat]).sum(axis=1)
            anchor, tenth = worth[part, 0, seat], hands // 10
            return {"win": wins.mean(), "first": wins[:tenth].mean(), "last": wins[-tenth:].mean(),
                    "anchor": anchor.mean(), "lost": (anchor - wins).sum(),
                    "stopped": own.is_stopped, "cost": own.cost, "bound": own.bound()}  # fmt: skip

        rows = [
            bench.rows.get(["exact portfolio", other, hands, seed], lambda seed=seed: played(seed))
            for seed in range(seeds)
        ]
        every = {key: [float(row[key]) for row in rows] for key in rows[0]}
        assert max(every["cost"]) <= rows[0]["bound"]
        assert np.mean(every["lost"]) <= rows[0]["bound"], (other, np.mean(every["lost"]))
        shown = [f"{np.mean(every[key]):.3f} ± {interval(every[key]):.1g}"
                 for key in ("win", "first", "last")]  # fmt: skip
        lost = f"{np.mean(every['lost']):.0f} ± {interval(every['lost']):.0f}"
        stopped = str(round(sum(every["stopped"])))
        lines.append([other, f"{np.mean(every['anchor']):.3f}", *shown, lost, stopped])
        report.line(f"{bench.game}, {other}", {"anchor": np.mean(every["anchor"]),
                    "portfolio": np.mean(every["win"])}, "chips")  # fmt: skip
    header = ["opponent", "anchor wins", "portfolio wins", "first tenth", "last tenth",
              f"lost to the anchor in {hands:,} hands", f"stopped, of {seeds}"]  # fmt: skip
    bound = Portfolio(rules, [make_player(player(name), rules) for name in members]).bound()
    show(f"portfolio of five in {bench.game}, chips per hand; bound {bound:g} chips", header, lines)


def _strongest(bench: Bench, responses: Sequence[str]) -> Path:
    """Return a strategy that exploits the mean of responses, and can be exploited little."""
    folder = bench.folder / "strongest"
    if not (folder / MANIFEST).exists():
        plans = [Solution.load(response).plans for response in responses]
        game = bench.arena.game
        mixed = tuple(np.mean([plan[s] for plan in plans], axis=0) for s in (0, 1))
        model = Model((game.behaviour(0, mixed[0]), game.behaviour(1, mixed[1])))
        found = Opponent("responses", model)
        compute(bench.arena, found, Method("rnr", 0.9), bench.budget, folder)
    return folder


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--game", default="leduc", help="leduc, or a bot such as smallbot-quick")
    parser.add_argument("--hands", type=int, default=2000, help="of each match")
    parser.add_argument("--matches", type=int, default=4, help="with each of the field")
    default = Path(tempfile.gettempdir()) / "equilibrist-counter"
    parser.add_argument("--rows", type=Path, default=default, help="folder of figures so far")
    given = parser.parse_args()
    check()
    bench = Bench(given.game, given.rows, given.hands)
    portfolio(bench, Report("portfolio", header=""), given.matches)


if __name__ == "__main__":
    main()

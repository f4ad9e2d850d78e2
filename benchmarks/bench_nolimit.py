"""What does re-solving at the table do to a no-limit bot's exploitability from there on?

Hands are dealt and both seats play the stored strategy until the turn or river opens. There
the opponent's best response is computed, exactly, on the actual board, with all hands that it can
hold: against the stored strategy with every hand playing like its bucket, and against the solution
of the gadget game with the same bets. A row is the mean over these openings of what the opponent
wins by it, per cent of the pot, with its standard error, weighing its hands by chance (any hand) or
by its own stored strategy (its range). Correctness first: by the gadget no hand may win more than
before, up to the gap of the solution.

Run: python benchmarks/bench_nolimit.py [--bot nolimit-quick] [--decisions 20] [--iterations 100]
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import islice

import numpy as np
from harness import Report

from equilibrist.bots.registry import BOTS
from equilibrist.cards.hand import hand_table
from equilibrist.games.betting_tree import BettingTree
from equilibrist.games.dealing import Dealer
from equilibrist.games.state import HandState
from equilibrist.models.subgame import compatible
from equilibrist.players.bucket_strategy import BucketStrategy
from equilibrist.players.player import View
from equilibrist.players.resolving_player import ResolvingPlayer
from equilibrist.players.strategy_player import StrategyPlayer, open_tree_strategy
from equilibrist.solving.best_response import evaluate
from equilibrist.solving.resolving import Profile, resolving_game, solve_by_cfr


def openings(player: StrategyPlayer, r: int, seed: int) -> Iterator[View]:
    """Yield the first decision of round `r` of each hand that gets there by the strategy."""
    rules = player.strategy.tree.rules
    for number, deal in enumerate(Dealer(rules, seed)):
        player.reset(number)
        state = HandState.start(rules, deal, number)
        while state.actor is not None and state.betting.round < r:
            state = state.apply(player.act(View.of(state, state.actor)))
        if state.actor is not None:
            yield View.of(state, state.actor)


def measured(strategy: BucketStrategy, view: View, iterations: int) -> list[float]:
    """Return what the opponent wins before and after: any hand, then its range, in % of the pot."""
    opponent, pot = 1 - view.player, view.betting.pot / 100
    known = ResolvingPlayer(strategy, view.rules, "resolve", is_safe=False).stored(view)
    assert known is not None
    start = known.profile.subgame.betting.start
    betting = BettingTree.build(view.rules, strategy.tree.menu, start=start, runs_out=True)
    found = resolving_game(known.profile, view.player, 0, betting, view.board)
    solved = Profile(found, solve_by_cfr(found, iterations))
    before, after = (one.worth(opponent, 0, view.board) for one in (known.profile, solved))
    own, theirs = (known.profile.reach(seat, 0, view.board) for seat in (view.player, opponent))
    chance = np.where(before != 0, compatible(hand_table(), own), 0.0)
    chance /= chance.sum()
    gap = evaluate(found.game, solved.plans).nash_conv
    assert chance @ np.maximum(after - before, 0) <= gap + 0.01 * view.betting.pot
    held = chance * theirs / (chance @ theirs)
    return [shares @ values / pot for shares in (chance, held) for values in (before, after)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bot", default="nolimit-quick")
    parser.add_argument("--decisions", type=int, default=20)
    parser.add_argument("--iterations", type=int, default=100)
    options = parser.parse_args()
    strategy = open_tree_strategy(str(BOTS[options.bot].stored_strategy()))
    assert isinstance(strategy, BucketStrategy)
    player = StrategyPlayer(strategy, strategy.tree.rules, options.bot)
    columns = "any hand", "solved", "its range", "solved"
    header = "".join(f"{name:>12}" for name in columns) + "   and standard errors"
    report = Report(f"{options.bot}: what the opponent wins, % of the pot", header)
    for name, r in (("river", 3), ("turn", 2)):
        views = islice(openings(player, r, seed=1), options.decisions)
        found = np.array([measured(strategy, view, options.iterations) for view in views])
        error = found.std(axis=0, ddof=1) / np.sqrt(len(found))
        both = zip(("any", "any solved", "range", "range solved"), found.mean(axis=0), strict=True)
        report.line(name, {key: float(value) for key, value in both}, "% of the pot")
        print(f"{'':<42}{''.join(f'{own:12.2g}' for own in error)}")


if __name__ == "__main__":
    main()

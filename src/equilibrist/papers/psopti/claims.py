"""Matches of PsOpti's three players, and tests of its claims about reductions.

Billings, Burch, Davidson, Holte, Schaeffer, Schauenberg and Szafron, "Approximating Game-Theoretic
Optimal Strategies for Full-scale Poker" (IJCAI 2003). The digits of its tables are lost, so rows of
matches have no published number. Its claims are measured here on 3-round postflop models with a pot
of two bets and uniform beliefs:

- three bets per round suffice, two do not: measured by the winnings of a best response with four
  bets against a strategy with fewer, and by the difference of first bets from the model with four;
- one bucket for draws is better than using all buckets for strength, and most bluffs are draws;
- merging turn and river into one round changes the strategy;
- beliefs from a preflop model are better than uniform ones: psopti2 against psopti1, which also
  differ in opening and buckets.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from equilibrist import stopping
from equilibrist.abstraction.bucket_tree import BucketTree, sums_over_children
from equilibrist.abstraction.buckets import Abstraction
from equilibrist.abstraction.conditioning import LaterClasses
from equilibrist.abstraction.features import Strengths
from equilibrist.abstraction.joint_counts import Joint, sampled_joint
from equilibrist.abstraction.potential import potentials
from equilibrist.abstraction.recipes.strength_potential import ClassCuts, strength_potential
from equilibrist.abstraction.streets import Streets
from equilibrist.games.bet_menu import BetMenu
from equilibrist.games.rules import GameRules
from equilibrist.kernels.treeplex import block
from equilibrist.models.bucketed import bucket_game
from equilibrist.models.endings import Showdown
from equilibrist.models.game import Floats, SequenceGame
from equilibrist.models.treeplex import player_rows
from equilibrist.papers.rows import PaperRow, ReportProgress, match_row
from equilibrist.solving.cfr import CFR
from equilibrist.solving.refined_response import refined_responses
from equilibrist.solving.solve import Budget, solve
from equilibrist.strategies.evaluation import Evaluation

PLAYERS = "psopti2", "psopti1", "psopti0"
OTHERS = "poki", "anti-poki", "aadapti", "always-call", "always-raise"  # opponents in its Table 1
LATER = "smallbot", "gs3-small"  # later programs
POSTFLOP = "poki", "aadapti"  # opponents in postflop hold'em
POT = 2  # small bets
_MOST = 4  # bets per round that the rules allow
# Numbers of buckets on flop, turn and river, and the strength below which a hand may be a draw;
# with 0 there are no draws.
WITH_DRAWS, ALL_STRENGTH = "6 buckets, one of draws", "6 buckets, all of strength"
KINDS = {
    "5 buckets, one of draws": ((5, 5, 5), 0.5),
    ALL_STRENGTH: ((7, 7, 6), 0.0),  # the bucket of draws is there, but empty
    WITH_DRAWS: ((6, 6, 6), 0.5),
    "7 buckets, one of draws": ((7, 7, 7), 0.5),
    "6, 7 and 8 buckets, one of draws": ((6, 7, 8), 0.5),
}
_FINER = 10, 10, 10  # numbers of buckets of the best responses to these
_TARGET = 0.0005  # target exploitability of models, sb/h
_ITERATIONS = 20_000  # at most


# --- matches --------------------------------------------------------------------------------------


def match_rows(
    rules: GameRules,
    hands: int,
    seed: int,
    report: ReportProgress,
    without: Sequence[str] = (),
) -> Iterator[PaperRow]:
    """Yield Table 1: every PsOpti against the next ones and all others; then postflop hold'em."""
    ours = [name for name in PLAYERS if name not in without]
    others = [*OTHERS, *(name for name in LATER if name not in without)]
    pairs = [*itertools.combinations(ours, 2), *itertools.product(ours, others)]
    for pair in pairs:
        yield match_row(PaperRow("1", " – ".join(pair)), rules, pair, hands, seed, report)
    for other in POSTFLOP if "psopti0" in ours else ():
        row = PaperRow("postflop", f"psopti0 – {other}, both calling before the flop")
        pair = "psopti0", other
        yield match_row(row, rules, pair, hands, seed, report, agreed_rounds=1)


# --- models ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Solved:
    """A solved model: its strategy and the proof of its exploitability."""

    game: SequenceGame
    plans: tuple[Floats, Floats]
    proof: Evaluation
    buckets: BucketTree

    @staticmethod
    def of(game: SequenceGame, buckets: BucketTree) -> Solved:
        """Solve a model by CFR+ to an exploitability of 0.0005 sb/h."""
        solver, small_bet = CFR(), buckets.rules.raise_sizes[0]
        run = solve(game, solver, Budget(target=_TARGET * small_bet, iterations=_ITERATIONS))
        stopping.check()
        return Solved(game, solver.plans(game, run.state), run.evaluation, buckets)

    @property
    def small_bet(self) -> float:
        """Size of a small bet in chips."""
        return float(self.buckets.rules.raise_sizes[0])

    @property
    def dealer(self) -> float:
        """Value of the strategy to the dealer, player 1, in sb/h."""
        return -self.proof.value / self.small_bet

    @cached_property
    def first_bets(self) -> NDArray[np.float64]:
        """Probability to bet first, and to bet after a check, by bucket: [2, K]."""
        tree = self.game.betting
        assert tree is not None
        found = []
        first = int(tree.player[0])
        for player, node in ((first, 0), (1 - first, tree.child(0, "c"))):
            assert node is not None
            bet = tree.child(node, "r")
            behaviour = self.game.behaviour(player, np.asarray(self.plans[player], np.float64))
            row = player_rows(tree, player).row[bet]
            found.append(block(self.game.trees[player], 0, 0, behaviour)[row])
        return np.array(found)


def postflop(buckets: BucketTree, counts: Joint, bets: int = 3, pot: int | None = None) -> Solved:
    """Solve the model of the rounds from the flop on; `pot` is in chips, default: two bets."""
    menu, chips = _menu(bets), pot or POT * buckets.rules.raise_sizes[0]
    return Solved.of(bucket_game(buckets, counts, menu, first_round=1, pot=chips), buckets)


def preflop(buckets: BucketTree, counts: Joint, num_rounds: int, bet: float = 0.0) -> Solved:
    """Solve the model of the first rounds; then each adds `bet` chips and cards decide."""
    last, menu = num_rounds - 1, _menu(3)
    ending = Showdown.of(counts, buckets, last, bet=bet)
    return Solved.of(bucket_game(buckets, counts, menu, last_round=last, ending=ending), buckets)


def merged(buckets: BucketTree, counts: Joint) -> tuple[BucketTree, Joint]:
    """Return the buckets and counts of the game whose last two rounds are merged into one.

    The class of the last round remains; that of the round before is forgotten.
    """
    rules, numbers = buckets.rules, buckets.num_buckets
    before, kept = numbers[-3], numbers[-1] // numbers[-2]
    shape = before, numbers[-2] // before, kept

    def summed(part: NDArray[np.float64]) -> NDArray[np.float64]:
        found = part.astype(np.float64).reshape(*shape, *shape).sum(axis=(1, 4))
        return found.reshape(before * kept, before * kept)

    fewer = replace(
        rules,
        name=f"{rules.name}, last rounds merged",
        num_board_cards=(*rules.num_board_cards[:-2], sum(rules.num_board_cards[-2:])),
        raise_sizes=rules.raise_sizes[:-1],
        max_raises=rules.max_raises[:-1],
        first_players=rules.first_players[:-1],
        discards=rules.discards[:-1],
    )
    parents = np.repeat(np.arange(before, dtype=np.int32), kept)
    nested = LaterClasses(fewer, (*buckets.parents[:-2], parents))
    wins, ties, losses = (summed(part) for part in (counts.wins, counts.ties, counts.losses))
    return nested, Joint(wins, ties, losses, counts.distance, counts.sample)


# --- claims ---------------------------------------------------------------------------------------


def bets_rows(buckets: BucketTree, counts: Joint) -> Iterator[PaperRow]:
    """Yield the results with two, three and four bets per round."""
    found = {bets: postflop(buckets, counts, bets) for bets in (2, 3, _MOST)}
    probabilities = first_probabilities(buckets, counts)
    for bets, model in found.items():
        name = f"{bets} bets per round"
        yield _row("bets", f"{name}: dealer wins", model.dealer)
        won = _exploited(model, counts, None, _menu(_MOST))
        yield _row("bets", f"{name}: a best response with {_MOST} wins", won)
        if bets < _MOST:
            change = bets_change(model, found[_MOST], probabilities)
            yield _share("bets", f"{name}: first bets differ from those with {_MOST}", change)


def buckets_rows(
    rules: GameRules, boards: int, seed: int, report: ReportProgress
) -> Iterator[PaperRow]:
    """Yield the results with several numbers of buckets, with and without one for draws.

    Joint counts are taken over a sample of boards.
    """
    strengths = Strengths.of(Streets.of(rules))
    known = potentials(strengths.streets)
    finer = strength_potential(strengths, (1, *_FINER), known=known)
    menu = _menu(3)
    made: dict[str, Abstraction] = {}
    found: dict[str, Solved] = {}
    for name, (numbers, low) in KINDS.items():
        report(f"a model of {name}", 0.0)
        own = made[name] = strength_potential(
            strengths, (1, *numbers), ClassCuts(low=low), known=known
        )
        counts = sampled_joint(own, num_boards=boards, seed=seed)
        model = found[name] = postflop(own, counts)
        yield _row("buckets", f"{name}: dealer wins", model.dealer)
        met = sampled_joint(own, finer, num_boards=boards, seed=seed)
        won = _exploited(model, met, finer, menu)
        yield _row("buckets", f"{name}: a best response with {_FINER[0]} wins", won)
        if name == WITH_DRAWS:
            share = bluff_share(model, first_probabilities(own, counts))
            yield _share("buckets", f"{name}: share of draws in first bets with weak hands", share)
            weakest, draws = model.first_bets.mean(axis=0)[[0, -1]].tolist()
            yield _share("buckets", f"{name}: first bets with a draw", draws)
            yield _share("buckets", f"{name}: first bets with the weakest class", weakest)
    met = sampled_joint(made[WITH_DRAWS], made[ALL_STRENGTH], num_boards=boards, seed=seed)
    won = between(found[WITH_DRAWS], found[ALL_STRENGTH], met)
    yield _row("buckets", f"{WITH_DRAWS} – {ALL_STRENGTH}", won)


def merged_rows(buckets: BucketTree, counts: Joint) -> Iterator[PaperRow]:
    """Yield the results with turn and river as one round."""
    apart, one = postflop(buckets, counts), postflop(*merged(buckets, counts))
    yield _row("merged", "turn and river apart: dealer wins", apart.dealer)
    yield _row("merged", "merged: dealer wins", one.dealer)
    change = bets_change(apart, one, first_probabilities(buckets, counts))
    yield _share("merged", "merged: first bets on the flop differ", change)


def preflop_models(buckets: BucketTree, counts: Joint) -> dict[str, Solved]:
    """Solve preflop models of one, two and three rounds, and return them by name.

    A fourth model has three rounds and assumes one bet in the missing round.
    """
    big_bet = buckets.rules.raise_sizes[-1]
    return {
        f"rounds 1 to {rounds}{', then a bet' if bet else ''}": preflop(
            buckets, counts, rounds, bet
        )
        for rounds, bet in ((1, 0), (2, 0), (3, 0), (3, big_bet))
    }


def preflop_rows(
    buckets: BucketTree, counts: Joint, models: Mapping[str, Solved]
) -> Iterator[PaperRow]:
    """Yield the values of `preflop_models` and the differences of their first raises."""
    probabilities = sums_over_children(counts.met / counts.total, buckets, buckets)[0].sum(axis=1)
    for name, model in models.items():
        yield _row("preflop", f"{name}: dealer wins", model.dealer)
        change = bets_change(model, models["rounds 1 to 3"], probabilities)
        yield _share("preflop", f"{name}: first raises differ from those of 1 to 3", change)


def between(one: Solved, other: Solved, counts: Joint) -> float:
    """Return the win rate of one postflop strategy against another, over both seats, in sb/h.

    `counts` are the joint counts of the first strategy's buckets with the second's.
    """
    assert one.game.betting is not None
    menu, pot = one.game.betting.menu, int(one.game.betting.spent[0].sum())
    won = 0.0
    for first, second, met, sign in (
        (one, other, counts, 1),
        (other, one, counts.transposed(), -1),
    ):
        game = bucket_game(first.buckets, met, menu, second=second.buckets, first_round=1, pot=pot)
        plans = first.plans[0], second.plans[1]
        won += sign * float(plans[0] @ game.gradient(0, np.asarray(plans[1]))) / 2
    return won / one.small_bet


def bluff_share(model: Solved, probabilities: NDArray[np.float64], num_weak: int = 2) -> float:
    """Return the share of draws, the last bucket, in first bets of draws and weakest classes."""
    bets = model.first_bets.mean(axis=0) * probabilities
    return float(bets[-1] / (bets[-1] + bets[:num_weak].sum()))


def first_probabilities(buckets: BucketTree, counts: Joint) -> NDArray[np.float64]:
    """Return the probability of every bucket of the second round: [K]."""
    met = sums_over_children(counts.met / counts.total, buckets, buckets)
    found: NDArray[np.float64] = met[1].sum(axis=1)
    return found


def bets_change(one: Solved, other: Solved, probabilities: NDArray[np.float64]) -> float:
    """Return the mean difference of the probabilities to bet first, over seats and hands."""
    return float((np.abs(one.first_bets - other.first_bets).mean(axis=0) * probabilities).sum())


def _exploited(model: Solved, counts: Joint, finer: BucketTree | None, menu: BetMenu) -> float:
    won = refined_responses(model.game, model.plans, model.buckets, counts, finer, menu)
    return sum(won) / 2 / model.small_bet


def _menu(bets: int) -> BetMenu:
    """Return the menu with `bets` bets per round; before the flop at most three raises."""
    return BetMenu(max_raises=(min(bets, 3), bets))


def _row(table: str, name: str, ours: float) -> PaperRow:
    return PaperRow(table, name, None, ours)


def _share(table: str, name: str, ours: float) -> PaperRow:
    return PaperRow(table, name, None, 100 * ours, unit="%")

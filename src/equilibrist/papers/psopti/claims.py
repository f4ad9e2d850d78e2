"""PsOpti: matches of its three players, and its claims about reductions, one by one.

Billings, Burch, Davidson, Holte, Schaeffer, Schauenberg and Szafron, "Approximating Game-Theoretic
Optimal Strategies for Full-scale Poker" (IJCAI 2003). The digits of its tables are lost, so rows of
matches have none beside them. Its claims, and what is measured here, on 3-round postflop models
with a pot of two bets and uniform beliefs:

- three bets a round suffice, two do not: what a best response with four wins from a strategy that
  knows fewer, and how far its first bets are from those of the model with four;
- one bucket for draws is better than all for strength, and most bluffs are taken from it;
- turn and river merged into one round change the strategy;
- beliefs from a preflop model are better than none: psopti2 against psopti1, which differ in
  opening and buckets too.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from equilibrist.abstraction.bucket_tree import Nested, sums_over_children
from equilibrist.abstraction.buckets import Abstraction
from equilibrist.abstraction.conditioning import LaterClasses
from equilibrist.abstraction.features import Strengths
from equilibrist.abstraction.joint_counts import Joint, sampled_joint
from equilibrist.abstraction.potential import potentials
from equilibrist.abstraction.recipes.strength_potential import strength_potential
from equilibrist.abstraction.streets import Streets
from equilibrist.games.bet_menu import BetMenu
from equilibrist.games.rules import GameRules
from equilibrist.kernels.reference.sequence_form import block
from equilibrist.models.bucketed import bucket_game
from equilibrist.models.endings import Showdown
from equilibrist.models.game import Floats, SequenceGame
from equilibrist.models.treeplex import player_rows
from equilibrist.papers.rows import PaperRow, Tell, match_row
from equilibrist.solving.cfr import CFR
from equilibrist.solving.refined_response import wide_responses
from equilibrist.solving.solve import solve
from equilibrist.storage import stopping
from equilibrist.strategies.evaluation import Evaluation

PLAYERS = "psopti2", "psopti1", "psopti0"
OTHERS = "poki", "anti-poki", "aadapti", "always-call", "always-raise"  # of its Table 1
LATER = "smallbot", "gs3-small"  # programs that came after it
POSTFLOP = "poki", "aadapti"  # met in postflop hold'em
POT = 2  # small bets
_MOST = 4  # bets a round that the rules allow
# Buckets on flop, turn and river, and what is low in strength among draws: 0, and nothing is.
WITH_DRAWS, ALL_STRENGTH = "6 buckets, one of draws", "6 buckets, all of strength"
KINDS = {
    "5 buckets, one of draws": ((5, 5, 5), 0.5),
    ALL_STRENGTH: ((7, 7, 6), 0.0),  # the bucket of draws is there, but empty
    WITH_DRAWS: ((6, 6, 6), 0.5),
    "7 buckets, one of draws": ((7, 7, 7), 0.5),
    "6, 7 and 8 buckets, one of draws": ((6, 7, 8), 0.5),
}
_FINER = 10, 10, 10  # of the best responses to these
_TARGET = 0.0005  # sb/h of exploitability, to which models are solved
_ITERATIONS = 20_000  # at most


# --- matches --------------------------------------------------------------------------------------


def match_rows(
    rules: GameRules,
    hands: int,
    seed: int,
    tell: Tell,
    without: Sequence[str] = (),
) -> Iterator[PaperRow]:
    """Table 1: every PsOpti against the next ones and all others; then postflop hold'em."""
    ours = [name for name in PLAYERS if name not in without]
    others = [*OTHERS, *(name for name in LATER if name not in without)]
    pairs = [*itertools.combinations(ours, 2), *itertools.product(ours, others)]
    for pair in pairs:
        yield match_row("1", " – ".join(pair), None, rules, pair, hands, seed, tell)
    for other in POSTFLOP if "psopti0" in ours else ():
        name, pair = f"psopti0 – {other}, both calling before the flop", ("psopti0", other)
        yield match_row("postflop", name, None, rules, pair, hands, seed, tell, agreed_rounds=1)


# --- models ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Solved:
    """A model with a strategy whose quality is proved."""

    game: SequenceGame
    plans: tuple[Floats, Floats]
    proof: Evaluation
    buckets: Nested

    @staticmethod
    def of(game: SequenceGame, buckets: Nested) -> Solved:
        """A model solved by CFR+ to 0.0005 sb/h."""
        solver, small_bet = CFR(), buckets.rules.raise_sizes[0]
        run = solve(game, solver, target=_TARGET * small_bet, iterations=_ITERATIONS)
        stopping.check()
        return Solved(game, solver.plans(game, run.state), run.evaluation, buckets)

    @property
    def small_bet(self) -> float:
        """Chips."""
        return float(self.buckets.rules.raise_sizes[0])

    @property
    def dealer(self) -> float:
        """What the dealer, player 1, wins by the strategy, sb/h."""
        return -self.proof.value / self.small_bet

    @cached_property
    def first_bets(self) -> NDArray[np.float64]:
        """Chance to bet first, and after a check, with each first bucket: [2, K]."""
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


def postflop(buckets: Nested, counts: Joint, bets: int = 3, pot: int | None = None) -> Solved:
    """The model of the rounds after the flop, solved; the pot is two bets or so many chips."""
    menu, chips = _menu(bets), pot or POT * buckets.rules.raise_sizes[0]
    return Solved.of(bucket_game(buckets, counts, menu, first_round=1, pot=chips), buckets)


def preflop(buckets: Nested, counts: Joint, num_rounds: int, bet: float = 0.0) -> Solved:
    """The model of the first rounds, then cards decide, after `bet` chips more of each player."""
    last, menu = num_rounds - 1, _menu(3)
    ending = Showdown.of(counts, buckets, last, bet=bet)
    return Solved.of(bucket_game(buckets, counts, menu, last_round=last, ending=ending), buckets)


def merged(buckets: Nested, counts: Joint) -> tuple[Nested, Joint]:
    """Buckets and counts of the game whose last two rounds are one, and so are their cards.

    The last of both classes is kept, the other forgotten.
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


def bets_rows(buckets: Nested, counts: Joint) -> Iterator[PaperRow]:
    """Two, three and four bets a round."""
    found = {bets: postflop(buckets, counts, bets) for bets in (2, 3, _MOST)}
    chances = first_chances(buckets, counts)
    for bets, model in found.items():
        name = f"{bets} bets a round"
        yield _row("bets", f"{name}: dealer wins", model.dealer)
        won = _exploited(model, counts, None, _menu(_MOST))
        yield _row("bets", f"{name}: a best response with {_MOST} wins", won)
        if bets < _MOST:
            change = bets_change(model, found[_MOST], chances)
            yield _share("bets", f"{name}: first bets differ from those with {_MOST}", change)


def buckets_rows(rules: GameRules, boards: int, seed: int, tell: Tell) -> Iterator[PaperRow]:
    """Fewer and more buckets, with and without one for draws, over a sample of boards."""
    strengths = Strengths.of(Streets.of(rules))
    known = potentials(strengths.streets)
    finer = strength_potential(strengths, (1, *_FINER), known=known)
    menu = _menu(3)
    made: dict[str, Abstraction] = {}
    found: dict[str, Solved] = {}
    for name, (numbers, low) in KINDS.items():
        tell(f"a model of {name}", 0.0)
        own = made[name] = strength_potential(strengths, (1, *numbers), low=low, known=known)
        counts = sampled_joint(own, num_boards=boards, seed=seed)
        model = found[name] = postflop(own, counts)
        yield _row("buckets", f"{name}: dealer wins", model.dealer)
        met = sampled_joint(own, finer, num_boards=boards, seed=seed)
        won = _exploited(model, met, finer, menu)
        yield _row("buckets", f"{name}: a best response with {_FINER[0]} wins", won)
        if name == WITH_DRAWS:
            share = bluff_share(model, first_chances(own, counts))
            yield _share("buckets", f"{name}: share of draws in first bets with weak hands", share)
            weakest, draws = model.first_bets.mean(axis=0)[[0, -1]].tolist()
            yield _share("buckets", f"{name}: first bets with a draw", draws)
            yield _share("buckets", f"{name}: first bets with the weakest class", weakest)
    met = sampled_joint(made[WITH_DRAWS], made[ALL_STRENGTH], num_boards=boards, seed=seed)
    won = between(found[WITH_DRAWS], found[ALL_STRENGTH], met)
    yield _row("buckets", f"{WITH_DRAWS} – {ALL_STRENGTH}", won)


def merged_rows(buckets: Nested, counts: Joint) -> Iterator[PaperRow]:
    """Turn and river as one round."""
    apart, one = postflop(buckets, counts), postflop(*merged(buckets, counts))
    yield _row("merged", "turn and river apart: dealer wins", apart.dealer)
    yield _row("merged", "merged: dealer wins", one.dealer)
    change = bets_change(apart, one, first_chances(buckets, counts))
    yield _share("merged", "merged: first bets on the flop differ", change)


def preflop_models(buckets: Nested, counts: Joint) -> dict[str, Solved]:
    """One, two and three rounds, and one bet assumed in the round that is missing, by name."""
    big_bet = buckets.rules.raise_sizes[-1]
    return {
        f"rounds 1 to {rounds}{', then a bet' if bet else ''}": preflop(
            buckets, counts, rounds, bet
        )
        for rounds, bet in ((1, 0), (2, 0), (3, 0), (3, big_bet))
    }


def preflop_rows(
    buckets: Nested, counts: Joint, models: Mapping[str, Solved]
) -> Iterator[PaperRow]:
    """What `preflop_models` are worth, and how their first raises differ."""
    chances = sums_over_children(counts.met / counts.total, buckets, buckets)[0].sum(axis=1)
    for name, model in models.items():
        yield _row("preflop", f"{name}: dealer wins", model.dealer)
        change = bets_change(model, models["rounds 1 to 3"], chances)
        yield _share("preflop", f"{name}: first raises differ from those of 1 to 3", change)


def between(one: Solved, other: Solved, counts: Joint) -> float:
    """What the first of two postflop strategies wins from the second, over both seats, sb/h.

    `counts` are those of the first's buckets with the second's.
    """
    assert one.game.betting is not None
    menu, pot = one.game.betting.menu, int(one.game.betting.spent[0].sum())
    won = 0.0
    for first, second, met, sign in ((one, other, counts, 1), (other, one, counts.turned(), -1)):
        game = bucket_game(first.buckets, met, menu, second=second.buckets, first_round=1, pot=pot)
        plans = first.plans[0], second.plans[1]
        won += sign * float(plans[0] @ game.gradient(0, np.asarray(plans[1]))) / 2
    return won / one.small_bet


def bluff_share(model: Solved, chances: NDArray[np.float64], num_weak: int = 2) -> float:
    """Share of the draws, the last bucket, in first bets of them and of the weakest classes."""
    bets = model.first_bets.mean(axis=0) * chances
    return float(bets[-1] / (bets[-1] + bets[:num_weak].sum()))


def first_chances(buckets: Nested, counts: Joint) -> NDArray[np.float64]:
    """Chance of every bucket of the round after the first: [K]."""
    met = sums_over_children(counts.met / counts.total, buckets, buckets)
    found: NDArray[np.float64] = met[1].sum(axis=1)
    return found


def bets_change(one: Solved, other: Solved, chances: NDArray[np.float64]) -> float:
    """Mean difference of the chances to bet first, over seats and hands."""
    return float((np.abs(one.first_bets - other.first_bets).mean(axis=0) * chances).sum())


def _exploited(model: Solved, counts: Joint, finer: Nested | None, menu: BetMenu) -> float:
    won = wide_responses(model.game, model.plans, model.buckets, counts, finer, menu)
    return sum(won) / 2 / model.small_bet


def _menu(bets: int) -> BetMenu:
    """So many bets a round; before the flop the blind is one, and three raises follow at most."""
    return BetMenu(max_raises=(min(bets, 3), bets))


def _row(table: str, name: str, ours: float) -> PaperRow:
    return PaperRow(table, name, None, ours)


def _share(table: str, name: str, ours: float) -> PaperRow:
    return PaperRow(table, name, None, 100 * ours, unit="%")

"""Spots with a rake compared with enumeration of all deals in plain Python, and with known sums."""

import dataclasses
import itertools
from collections import defaultdict

import numpy as np
import pytest

from equilibrist.cards.hand import hand_table
from equilibrist.cards.ranking import rank_hands
from equilibrist.errors import InvalidValueError
from equilibrist.games.betting_tree import NodeKind
from equilibrist.models.restricted import RestrictedGame
from equilibrist.models.spot import Chips, Spot
from equilibrist.solving.best_response import evaluate
from equilibrist.solving.excessive_gap import ExcessiveGap
from equilibrist.solving.lean_cfr import TableCFR
from equilibrist.solving.linear_program import LinearProgram
from equilibrist.solving.solve import Budget, solve
from equilibrist.strategies.evaluation import Evaluation, PotShares
from equilibrist.strategies.spot_report import Answers, WholePlans

RIVER, TURN = "Td9d6hQc2s", "Td9d6hQc"
OOP, IP = "AA,QJs,76s:0.5,AcQh", "KK,QTs,AQs:0.25,54s"


def river(rake="5%", cap=None, *, board=RIVER, oop=OOP, ip=IP, pot=60, stack=200, **options):
    menu = {"bets": "50%,a", "raises": "a"} | options
    return Spot.of(board, oop, ip, Chips(pot, stack, rake=rake, rake_cap=cap), **menu)


# --- a second implementation ----------------------------------------------------------------------


class Enumeration:
    """A spot as lists of deals, by the rules of betting and of the house; in chips."""

    def __init__(self, spot, rate, cap):
        self.spot, self.tree, self.rate, self.cap = spot, spot.betting, rate, cap
        hands, (first, second) = hand_table(), (own.weights for own in spot.ranges)
        self.deals = []  # hand of player 0, of player 1, runout, weight, sign of the showdown
        for i, j in itertools.product(np.flatnonzero(first), np.flatnonzero(second)):
            held = {*hands[i].tolist(), *hands[j].tolist(), *spot.cards}
            if len(held) < 4 + len(spot.cards):
                continue
            left = [card for card in range(52) if card not in held]
            for runout in itertools.combinations(left, 5 - len(spot.cards)):
                shown = [[*hands[h].tolist(), *spot.cards, *runout] for h in (i, j)]
                ranks = rank_hands(np.array(shown, np.uint8), "standard").astype(int)
                weight = float(first[i] * second[j])
                sign = int(np.sign(ranks[0] - ranks[1]))
                self.deals.append((int(i), int(j), runout, weight, sign))
        self.total = sum(deal[3] for deal in self.deals)

    def paid(self, node, sign):
        """Return what both players win at a leaf, uncalled bets returned and the rake taken."""
        spent = self.tree.spent[node].tolist()
        matched = min(spent)
        rake = min(self.rate * 2 * matched, self.cap)
        if self.tree.kind[node] == NodeKind.FOLD:
            loser = int(self.tree.player[node])
            return [-matched if p == loser else matched - rake for p in (0, 1)]
        if sign == 0:
            return [-rake / 2, -rake / 2]
        return [matched - rake if s > 0 else -matched for s in (sign, -sign)]

    def values(self, play):
        """Return what both players expect; `play(node, hand, runout)` gives probabilities."""

        def expected(node, deal):
            children = list(self.tree.children(node))
            if not children:
                return np.array(self.paid(node, deal[4]))
            if self.tree.kind[node] != NodeKind.DECISION:
                return expected(children[0], deal)
            probabilities = play(node, deal[int(self.tree.player[node])], deal[2])
            parts = [p * expected(c, deal) for p, c in zip(probabilities, children, strict=True)]
            return np.sum(parts, axis=0)

        return sum(deal[3] * expected(0, deal) for deal in self.deals) / self.total

    def best_response(self, play, player):
        """Return what a player expects who maximises with each hand on a river board."""
        by_hand = defaultdict(list)
        for deal in self.deals:
            by_hand[deal[player]].append(deal)

        def best(node, deals):
            children = list(self.tree.children(node))
            if not children:
                return sum(deal[3] * self.paid(node, deal[4])[player] for deal in deals)
            if int(self.tree.player[node]) == player:
                return max(best(child, deals) for child in children)
            found = 0.0
            for place, child in enumerate(children):
                reached = [
                    (*d[:3], d[3] * play(node, d[1 - player], d[2])[place], d[4]) for d in deals
                ]
                found += best(child, reached)
            return found

        return sum(best(0, deals) for deals in by_hand.values()) / self.total


def solved(spot, iterations):
    """Return the game of a spot, plans after some iterations, and how they play by hand."""
    found = spot.build()
    run = solve(found.game, TableCFR(), Budget(iterations=iterations))
    plans = TableCFR().plans(found.game, run.state)
    answers = Answers(spot, found, WholePlans(found.game, plans))
    known = {}

    def play(node, hand, runout):
        board = (*spot.cards, *(() if int(spot.betting.round[node]) < 3 else runout))
        key = node, board
        if key not in known:
            known[key] = answers.probabilities(node, board)
        return known[key][:, hand]

    return found.game, run, tuple(np.asarray(plan, np.float64) for plan in plans), play


@pytest.mark.parametrize(("rake", "cap"), [("5%", None), ("5%", 4), ("20%", "7chips")])
def test_values_and_best_responses_of_a_raked_river_are_those_of_enumerated_deals(rake, cap):
    spot = river(rake, cap)
    limit = float("inf") if cap is None else float(str(cap).removesuffix("chips"))
    plain = Enumeration(spot, float(rake[:-1]) / 100, limit)
    game, run, plans, play = solved(spot, 15)
    values = plain.values(play)
    best = [plain.best_response(play, player) for player in (0, 1)]
    exact = evaluate(game, plans)
    assert exact.value == pytest.approx(values[0], abs=1e-5)
    assert exact.rake == pytest.approx(-values.sum(), abs=1e-5)
    assert exact.best_response == pytest.approx(best, abs=1e-5)
    assert exact.exploitability == pytest.approx((sum(best) - values.sum()) / 2, abs=1e-5)
    # What is printed: the table solver's own evaluation, in float32.
    shares = PotShares(run.evaluation, spot.pot)
    assert shares.values == pytest.approx(30 + values, abs=1e-3)
    assert shares.gains == pytest.approx(np.array(best) - values, abs=1e-3)
    assert sum(shares.values) + run.evaluation.rake == pytest.approx(60, abs=1e-3)


def test_values_of_a_raked_turn_are_those_of_enumerated_deals():
    spot = river("5%", 6, board=TURN, oop="AhAs,QsJs", ip="KcKs,QhTh:0.5", bets="a")
    game, _, plans, play = solved(spot, 10)
    values = Enumeration(spot, 0.05, 6).values(play)
    found = evaluate(game, plans)
    assert found.value == pytest.approx(values[0], abs=1e-5)
    assert found.rake == pytest.approx(-values.sum(), abs=1e-5)


# --- known sums -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rake", "cap", "oop", "ip", "shares"),
    [
        ("5%", None, "AA", "KK", (57, 0)),  # 5 % of 60
        ("5%", 2, "AA", "KK", (58, 0)),
        ("5%", "2.5", "KK", "AA", (0, 57.5)),
        ("5%", None, "AcKs", "AdKh", (28.5, 28.5)),  # a tie: each pays half
    ],
)
def test_a_hand_that_is_checked_down_pays_the_rake_of_its_pot(rake, cap, oop, ip, shares):
    spot = river(rake, cap, oop=oop, ip=ip, bets="a").with_locks([": c=1", "c: c=1"])
    run = solve(spot.build().game, TableCFR(), Budget(iterations=1))
    found = PotShares(run.evaluation, 60)
    assert found.values == pytest.approx(shares, abs=1e-4)
    assert found.gains == pytest.approx((0, 0), abs=1e-4)
    assert run.evaluation.rake == pytest.approx(60 - sum(shares), abs=1e-4)


def test_an_uncalled_bet_is_not_raked():
    """Out of position bets all chips and in position folds: 10 % of the 60 matched, not of 260."""
    spot = river("10%", oop="AA", ip="KK", bets="a").with_locks([": r200=1", "r200: f=1"])
    run = solve(spot.build().game, TableCFR(), Budget(iterations=1))
    assert PotShares(run.evaluation, 60).values == pytest.approx((54, 0), abs=1e-4)


@pytest.mark.parametrize(("rake", "cap"), [(None, None), ("0%", None), ("5%", 0), ("5%", "0chips")])
def test_a_rake_or_cap_of_zero_is_no_rake(rake, cap):
    free, plain = river(rake, cap).build().game, river(None).build().game
    assert free.is_zero_sum
    for ours, theirs in zip(free.leaves, plain.leaves, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_numbers_go_to_those_without_a_rake_as_the_rake_goes_to_zero():
    free, _, plans, _ = solved(river(None), 20)
    little = river("0.0001%").build().game
    assert not little.is_zero_sum
    first, second = evaluate(free, plans), evaluate(little, plans)
    assert second.value == pytest.approx(first.value, abs=5e-4)
    assert second.best_response == pytest.approx(first.best_response, abs=5e-4)
    assert 0 < second.rake < 6e-4
    assert second.exploitability == pytest.approx(first.exploitability, abs=5e-4)


def test_a_raked_spot_is_solved_until_the_mean_of_both_gains_meets_the_target():
    spot = river("5%", 10)
    run = solve(spot.build().game, TableCFR(), Budget(target=0.03, iterations=20_000))
    assert run.outcome.name == "TARGET_REACHED"
    gains = PotShares(run.evaluation, 60).gains
    assert min(gains) >= -1e-4
    assert sum(gains) / 2 == pytest.approx(run.evaluation.exploitability)
    assert sum(gains) / 2 <= 0.03


# --- what supports no rake ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "use",
    [
        lambda game: LinearProgram().solve(game),
        lambda game: ExcessiveGap().init(game),
        lambda game: RestrictedGame(game, 0, game.realize(0, game.uniform(0))),
    ],
)
def test_methods_for_zero_sum_games_refuse_a_rake(use):
    with pytest.raises(InvalidValueError, match="has a rake, so it is not zero-sum; use cfr"):
        use(river().build().game)


@pytest.mark.parametrize(
    ("rake", "cap", "complaint"),
    [
        ("-5%", None, "from 0% to below 100%, such as 5%, not '-5%'"),
        ("100%", None, "below 100%"),
        ("150%", None, "below 100%"),
        ("5", None, "such as 5%, not '5'"),
        ("nan%", None, "such as 5%"),
        (0.05, None, "such as 5%, not 0.05"),
        (None, 3, "the cap of the rake, 3, needs a rake such as 5%"),
        ("5%", "3bb", "the cap of the rake, 3bb, is in big blinds, but other amounts are in chips"),
        ("5%", -1, "the cap of the rake must be an amount"),
        ("5%", "nan", "the cap of the rake must be an amount"),
        ("5%", float("inf"), "the cap of the rake must be an amount"),
    ],
)
def test_an_invalid_rake_is_refused(rake, cap, complaint):
    with pytest.raises(InvalidValueError, match=complaint):
        river(rake, cap)


def test_an_evaluation_counts_the_rake_as_lost_by_both():
    found = Evaluation(-1.0, (0.0, 0.5), "chips", rake=2.0)
    assert found.nash_conv == 2.5
    assert dataclasses.replace(found, rake=None).nash_conv == 0.5
    with pytest.raises(InvalidValueError, match="the rake is not a number"):
        dataclasses.replace(found, rake=float("nan"))

"""Tests of Range of Skill's tables on few cards, where every column has a second computation."""

import itertools

import numpy as np
import pytest

from equilibrist.abstraction.features import Strengths
from equilibrist.abstraction.joint_counts import joint, sampled_joint
from equilibrist.abstraction.recipes.percentile import percentile
from equilibrist.abstraction.streets import Streets
from equilibrist.games.bet_menu import BetMenu
from equilibrist.games.catalog import get_game
from equilibrist.models.bucketed import bucket_game
from equilibrist.papers.range_of_skill.solver import RangeOfSkill
from equilibrist.papers.range_of_skill.tables import (
    CROSS_TABLE,
    PUBLISHED,
    Column,
    column_rows,
    differences,
    match_rows,
    round_rows,
    table_column,
)
from equilibrist.play.match import play_match
from equilibrist.players.bucket_strategy import BucketStrategy
from equilibrist.players.strategy_player import StrategyPlayer
from equilibrist.solving.best_response import best_response, evaluate
from equilibrist.solving.cfr import CFR
from equilibrist.solving.solve import Budget, Run, solve
from equilibrist.strategies.raise_cap_rule import with_more_raises

CAPS = BetMenu.parse(None, None, "1 1")


@pytest.fixture(scope="module")
def bot():
    """Return Leduc in few buckets with one raise per round, nearly solved."""
    buckets = percentile(Strengths.of(Streets.of(get_game("leduc"))), [2, 4])
    game = bucket_game(buckets, joint(buckets), CAPS)
    solver = CFR()
    run = solve(game, solver, Budget(iterations=300))
    return game, solver.plans(game, run.state), buckets


def test_the_first_column_is_the_exploitability_of_the_own_game(bot):
    game, plans, buckets = bot
    column = table_column(game, plans, buckets, joint(buckets), has_all_raises=False)
    found = evaluate(game, plans)
    small_bet = get_game("leduc").raise_sizes[0]
    assert column.average * small_bet == pytest.approx(found.exploitability, abs=1e-12)
    assert (column.big_blind * small_bet, column.dealer * small_bet) == pytest.approx(
        found.best_response
    )


def test_finer_buckets_and_more_raises_win_at_least_as_much(bot):
    game, plans, buckets = bot
    finer = percentile(Strengths.of(Streets.of(get_game("leduc"))), [3, 6])
    won = {
        (is_finer, raises): table_column(
            game, plans, buckets, joint(buckets, finer) if is_finer else joint(buckets),
            finer if is_finer else None, has_all_raises=raises,
        )
        for is_finer in (False, True)
        for raises in (False, True)
    }  # fmt: skip
    for column, more in itertools.product(won, repeat=2):
        if more > column and all(a >= b for a, b in zip(more, column, strict=True)):
            assert won[more].dealer >= won[column].dealer - 1e-12
            assert won[more].big_blind >= won[column].big_blind - 1e-12
    assert won[True, True].average > won[False, False].average + 0.01


def test_equal_finer_buckets_change_nothing(bot):
    game, plans, buckets = bot
    counts = joint(buckets)
    own, same = (
        table_column(game, plans, buckets, counts, finer, has_all_raises=True)
        for finer in (None, buckets)
    )
    assert (own.dealer, own.big_blind) == (same.dealer, same.big_blind)


def test_the_gain_of_more_raises_is_won_at_the_table(bot):
    # The strategy meets its best response hand by hand, translated by `players.translation`.
    game, plans, buckets = bot
    rules = get_game("leduc")
    column = table_column(game, plans, buckets, joint(buckets), has_all_raises=True)
    wide = bucket_game(buckets, joint(buckets))
    answers = tuple(
        wide.realize(
            seat,
            best_response(
                wide,
                seat,
                wide.realize(1 - seat, with_more_raises(game, wide, 1 - seat, plans[1 - seat])),
            )[1],
        )
        for seat in (0, 1)
    )
    responder = StrategyPlayer(BucketStrategy(wide.betting, answers, buckets), rules, "R")
    owner = StrategyPlayer(BucketStrategy(game.betting, plans, buckets), rules, "O")
    won = play_match(rules, (responder, owner), 6_000, seed=3).results.rates / rules.raise_sizes[0]
    assert abs(won.mean() - column.average) < 4 * won.std() / np.sqrt(len(won))


def test_published_averages_are_those_of_the_seats_except_one():
    gaps = [abs((dealer + blind) / 2 - mean) for dealer, blind, mean in PUBLISHED.values()]
    assert max(gaps[:3]) < 1e-4
    assert gaps[3] == pytest.approx(0.0042)


@pytest.mark.parametrize(("name", "average"), [("BigBot2298", 0.336), ("Hyperborean", 0.280)])
def test_published_rows_of_the_cross_table_make_their_averages(name, average):
    wins = [
        (1 if one == name else -1) * rate
        for (one, other), (rate, _) in CROSS_TABLE.items()
        if name in (one, other)
    ]
    assert len(wins) == 4
    assert np.mean(wins) == pytest.approx(average, abs=5e-4)


def test_matches_are_played_where_there_is_a_stand_in():
    said = []
    rows = list(
        match_rows(
            get_game("holdem-limit"), "always-raise", 8, 0, lambda what, share: said.append(what)
        )
    )
    assert [row.name for row in rows if row.table == "2" and row.ours is not None] == [
        "BigBot2298 – Monash-BPP", "BigBot2298 – Teddy", "Monash-BPP – Teddy",
    ]  # fmt: skip
    assert len([row for row in rows if row.ours is None]) == 7
    folds = next(row for row in rows if row.name.endswith("always-fold"))
    assert (folds.ours, folds.ci95, folds.hands) == (0.75, (0.75, 0.75), 8)  # half of the blinds
    assert len(set(said)) == sum(row.ours is not None for row in rows)


def test_rounds_count_to_the_first_below_a_hundredth():
    trace = np.array([[1, 0.5, 4.0], [2, 1.0, 0.2], [3, 2.0, 0.09], [4, 3.0, 0.01]])
    *rounds, last = round_rows(trace, small_bet=10)
    assert [row.ours for row in rounds] == pytest.approx([0.4, 0.02, 0.009, 0.001])
    assert (last.paper, last.ours, last.unit) == (298, 3, "rounds")
    assert list(round_rows(trace[:2], small_bet=10))[-1].ours is None


def test_differences_are_to_the_averages_of_the_published_seats():
    columns = [Column(*key, *PUBLISHED[key][:2]) for key in PUBLISHED]
    notes = differences({"theirs": columns})
    assert "ours was stopped there too" in notes[0]
    assert "add +0.0159 to that, in the paper +0.0159" in notes[1]
    assert "0.0648" in notes[-1]
    assert "0.0690" in notes[-1]
    rows = [row for column in columns for row in column_rows("theirs", column)]
    assert len({row.name for row in rows}) == 12
    assert sum(abs(row.ours - row.paper) > 1e-4 for row in rows) == 1


@pytest.mark.slow
def test_rounds_on_the_full_deck_are_proved_and_resume_to_the_same_result():
    """SmallBot's game with 81 bucket sequences, eight rounds of the algorithm.

    With all 625: `equilibrist train smallbot-skill`.
    """
    buckets = percentile(Strengths.of(Streets.of(get_game("holdem-limit"))), [3, 9, 27, 81])
    counts = sampled_joint(buckets, num_boards=4_000)
    game = bucket_game(buckets, counts, BetMenu.parse(None, None, "2 3 3 3"))
    solver = RangeOfSkill(epsilon=0.1, method="cfr+", accuracy=0.05, share=0.1)
    stopped: list[Run] = []

    def save(run):
        if run.state["iteration"] == 3:
            stopped.append(Run({name: array.copy() for name, array in run.state.items()}))

    run = solve(game, solver, Budget(iterations=8, every=1), save=save, watch=save)
    epsilons = [row.evaluation.exploitability for row in run.trace]
    assert epsilons[-1] < 0.75 * epsilons[0]
    assert run.evaluation.exploitability == pytest.approx(float(run.state["exploitability"]))
    again = solve(game, solver, Budget(iterations=8, every=1), run=stopped[0])
    for name, array in run.state.items():
        np.testing.assert_array_equal(again.state[name], array)
    # The game value, by another method, is between the values that the mixture's seats guarantee.
    known = solve(game, CFR(), Budget(target=0.02))
    lowest, highest = -run.evaluation.best_response[0], run.evaluation.best_response[1]
    assert lowest - 0.02 <= known.evaluation.value <= highest + 0.02

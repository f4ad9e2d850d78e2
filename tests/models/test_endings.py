"""Games with rounds left out at the end, compared with the whole games they represent."""

from dataclasses import replace

import numpy as np
import pytest

from equilibrist.abstraction.joint_counts import joint
from equilibrist.abstraction.recipes import build
from equilibrist.errors import InvalidValueError
from equilibrist.games.bet_menu import BetMenu
from equilibrist.games.betting_tree import BettingTree
from equilibrist.games.catalog import get_game
from equilibrist.kernels.treeplex import block
from equilibrist.models.bucketed import bucket_game
from equilibrist.models.endings import PlayedOut, Showdown, end_nodes, value_of_play
from equilibrist.models.restricted import symmetrise
from equilibrist.models.treeplex import player_rows
from equilibrist.solving.best_response import evaluate
from equilibrist.solving.cfr import CFR
from equilibrist.solving.leaf_values import play_out
from equilibrist.solving.linear_program import LinearProgram
from equilibrist.solving.sampling import PublicChanceSampling
from equilibrist.solving.solve import Budget, solve

MENU = BetMenu()


def buckets_of(name):
    numbers = {"leduc": [3, 6], "rhode-island": [2, 4, 12]}[name]
    return build("percentile", get_game(name), numbers)


def random_plan(game, player, random):
    noise = random.random(game.lengths[player]) + 0.01
    return game.realize(player, game.behaviour(player, game.realize(player, noise)))


def fixed_ends(buckets, counts, last_round, random):
    """Return an ending of random strategies, with their game and plans by stake."""
    kept = BettingTree.build(buckets.rules, last_round=last_round)
    stakes = np.unique(end_nodes(kept)[1])
    plans, values = {}, []
    for stake in stakes.astype(int).tolist():
        rest = bucket_game(buckets, counts, first_round=last_round + 1, pot=2 * stake)
        plans[stake] = rest, [random_plan(rest, player, random) for player in (0, 1)]
        values.append(value_of_play(*plans[stake], buckets))
    return PlayedOut(stakes, np.stack(values)), plans


def continued(whole, small, player, plan, rest):
    """Return the plan of the whole game: early rounds by `plan`, later ones by fixed plans."""
    tree, kept = whole.trees[player], len(small.trees[player].num_sequences)
    behaviour = whole.uniform(player)
    own = small.behaviour(player, plan)
    behaviour[: len(own)] = own
    rows = player_rows(whole.betting, player)
    nodes = np.arange(len(whole.betting))
    for stake, (game, plans) in rest.items():
        fixed = game.behaviour(player, plans[player])
        theirs = player_rows(game.betting, player)
        # Nodes below an opening of the first missing round with this stake have names of `game`.
        for v in nodes[(whole.betting.round >= kept) & (rows.decision >= 0)]:
            path = list(whole.betting.path(int(v)))
            opening = next(u for u in path if whole.betting.round[u] == kept)
            if whole.betting.spent[opening].min() != stake:
                continue
            name = "".join(whole.betting.step(u) for u in path[path.index(opening) + 1 :])
            r = int(whole.betting.round[v])
            ours = block(tree, r, r, behaviour)
            known = block(game.trees[player], r - kept, r - kept, fixed)
            for child in whole.betting.children(int(v)):
                there = game.betting.parse(name + whole.betting.step(child))
                ours[rows.row[child]] = known[theirs.row[there]]
    return whole.realize(player, behaviour)


@pytest.mark.parametrize(("name", "last_round"), [("leduc", 0), ("rhode-island", 1)])
def test_fixed_play_of_the_missing_round_has_its_value_in_the_whole_game(name, last_round):
    random = np.random.default_rng(3)
    buckets = buckets_of(name)
    counts = joint(buckets)
    ending, rest = fixed_ends(buckets, counts, last_round, random)
    small = bucket_game(buckets, counts, last_round=last_round, ending=ending)
    whole = bucket_game(buckets, counts)
    for _ in range(3):
        plans = [random_plan(small, player, random) for player in (0, 1)]
        longer = [continued(whole, small, player, plans[player], rest) for player in (0, 1)]
        ours, truth = evaluate(small, tuple(plans)), evaluate(whole, tuple(longer))
        assert ours.value == pytest.approx(truth.value, abs=1e-9)


def test_two_missing_rounds_are_summed_to_the_buckets_of_the_last_round():
    random = np.random.default_rng(4)
    buckets = buckets_of("rhode-island")
    counts = joint(buckets)
    ending, rest = fixed_ends(buckets, counts, 0, random)
    small = bucket_game(buckets, counts, last_round=0, ending=ending)
    whole = bucket_game(buckets, counts)
    plans = [random_plan(small, player, random) for player in (0, 1)]
    longer = [continued(whole, small, player, plans[player], rest) for player in (0, 1)]
    truth = evaluate(whole, tuple(longer)).value
    assert evaluate(small, tuple(plans)).value == pytest.approx(truth, abs=1e-9)


def test_a_showdown_is_the_whole_game_without_bets_to_come():
    """Without raises in the missing round, both players can only check."""
    random = np.random.default_rng(5)
    buckets = buckets_of("leduc")
    counts = joint(buckets)
    small = bucket_game(buckets, counts, last_round=0, ending=Showdown.of(counts, buckets, 0))
    whole = bucket_game(buckets, counts, BetMenu(max_raises=(2, 0)))
    plans = [random_plan(small, player, random) for player in (0, 1)]
    longer = []
    for player, plan in enumerate(plans):
        behaviour = whole.uniform(player)  # a check is the only action
        behaviour[: len(plan)] = small.behaviour(player, plan)
        longer.append(whole.realize(player, behaviour))
    ours, truth = evaluate(small, tuple(plans)), evaluate(whole, tuple(longer))
    assert ours.value == pytest.approx(truth.value, abs=1e-12)
    assert ours.best_response == pytest.approx(truth.best_response, abs=1e-12)


def test_an_assumed_bet_raises_the_stake_of_every_end():
    buckets = buckets_of("leduc")
    counts = joint(buckets)
    plain, bet = (
        bucket_game(buckets, counts, last_round=0, ending=Showdown.of(counts, buckets, 0, bet=b))
        for b in (0, 4)
    )
    stakes = plain.expected[0].stake
    assert stakes.tolist() == [1, 3, 3, 5, 5]
    assert (bet.expected[0].stake - stakes).tolist() == [4] * 5
    # A hand that both check is worth 5 chips where it was worth 1.
    plan = random_plan(plain, 1, np.random.default_rng(8))
    row = player_rows(plain.betting, 0).row[plain.betting.parse("cc")]
    checked = [block(game.trees[0], 0, 0, game.gradient(0, plan))[row] for game in (plain, bet)]
    np.testing.assert_allclose(checked[1], 5 * checked[0], atol=1e-15)


@pytest.mark.parametrize("name", ["leduc", "rhode-island"])
def test_every_method_solves_a_truncated_game_to_the_same_value(name):
    buckets = buckets_of(name)
    counts = joint(buckets)
    last = buckets.rules.num_rounds - 2
    ending = play_out(buckets, counts, MENU, last, iterations=100, dtype="float64")
    game = bucket_game(buckets, counts, last_round=last, ending=ending)
    exact = LinearProgram().solve(game)
    budget = Budget(target=1e-4 * end_nodes(game.betting)[1].max(), iterations=20_000)
    run = solve(game, CFR(), budget)
    assert run.outcome.name == "TARGET_REACHED"
    assert run.evaluation.value == pytest.approx(exact.value, abs=2 * run.evaluation.nash_conv)


def test_gradients_of_the_products_are_those_of_single_leaves():
    random = np.random.default_rng(6)
    buckets = buckets_of("rhode-island")
    counts = joint(buckets)
    ending = play_out(buckets, counts, MENU, 1, iterations=5)
    game = bucket_game(buckets, counts, last_round=1, ending=ending)
    slow = replace(game, backend="reference")
    assert len(game.expected) > 2
    for player in (0, 1):
        plan = random_plan(game, 1 - player, random)
        np.testing.assert_allclose(
            game.gradient(player, plan), slow.gradient(player, plan), atol=1e-12
        )


def test_arguments_that_do_not_fit_a_truncated_game_are_refused():
    buckets = buckets_of("leduc")
    counts = joint(buckets)
    ending = play_out(buckets, counts, MENU, 0, iterations=1)
    with pytest.raises(InvalidValueError, match="later rounds are left out"):
        bucket_game(buckets, counts, last_round=0)
    with pytest.raises(InvalidValueError, match="later rounds are left out"):
        bucket_game(buckets, counts, ending=ending)
    with pytest.raises(InvalidValueError, match="a stake of 2; the stored stakes are 1, 3, 5"):
        ending(np.array([1.0, 2.0]))
    game = bucket_game(buckets, counts, last_round=0, ending=ending)
    with pytest.raises(InvalidValueError, match="use cfr\\+ or lp"):
        PublicChanceSampling().init(game)
    with pytest.raises(InvalidValueError, match="seats cannot be joined"):
        symmetrise(game)

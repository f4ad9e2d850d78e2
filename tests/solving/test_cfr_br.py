"""CFR-BR against the least exploitable strategies that linear programs find."""

import functools
from dataclasses import replace

import numpy as np
import pytest

from equilibrist.abstraction.joint_counts import joint
from equilibrist.abstraction.recipes import build
from equilibrist.errors import InvalidValueError
from equilibrist.games.catalog import get_game
from equilibrist.kernels.cpu.sequence_form import fold_up
from equilibrist.kernels.treeplex import root_value
from equilibrist.models.bucketed import bucket_game
from equilibrist.models.exact import exact_game
from equilibrist.models.game import BEST
from equilibrist.models.money import Rake
from equilibrist.models.one_sided import one_sided_games
from equilibrist.models.treeplex import raked
from equilibrist.solving.cfr import CFR
from equilibrist.solving.cfr_br import CFRBR, ModelOpponent
from equilibrist.solving.discounting import DISCOUNTED, LINEAR, PLUS
from equilibrist.solving.linear_program import LinearProgram

DECKS = {
    "leduc": (get_game("leduc"), [2, 2]),
    "rhode island with 9 cards": (
        replace(get_game("rhode-island"), num_ranks=3, num_suits=3, max_raises=(1, 1, 1)),
        [2, 4, 4],
    ),
    "two rounds with two cards": (
        replace(
            get_game("holdem-limit"),
            num_ranks=4,
            num_suits=2,
            raise_sizes=(10, 20),
            max_raises=(1, 1),
            first_players=(1, 0),
            num_board_cards=(0, 3),
            discards=(),
        ),
        [2, 4],
    ),
}
each_deck = pytest.mark.parametrize("deck", DECKS)
each_recipe = pytest.mark.parametrize("recipe", ["percentile", "expectation"])


@functools.cache
def prepared(deck: str, recipe: str):
    """Return the game of the buckets, both one-sided games and the least exploitability."""
    buckets = build(recipe, *DECKS[deck])
    games = one_sided_games(buckets)
    won = [
        LinearProgram().solve(game).certificate.best_response[1 - player]
        for player, game in enumerate(games)
    ]
    return bucket_game(buckets, joint(buckets)), games, sum(won) / 2


def exploitabilities(solver, opponent, game, steps):
    """Return the exploitability in the one-sided games after each number of further steps."""
    state, found = solver.init(game), []
    for number in steps:
        solver.step(game, state, number)
        found.append(opponent.evaluate(solver.plans(game, state)).exploitability)
    return found


@each_recipe
@each_deck
def test_it_converges_to_the_least_exploitable_strategy_and_not_below(deck, recipe):
    game, games, least = prepared(deck, recipe)
    opponent = ModelOpponent(games)
    solver = CFRBR(opponent, tremble=1e-3)
    found = exploitabilities(solver, opponent, game, (30, 170, 800))
    assert min(found) >= least - 1e-7
    assert found[0] > found[1] > found[2]
    assert found[2] - least <= 0.1 * least


@each_recipe
@each_deck
def test_plain_cfr_ends_above_it(deck, recipe):
    game, games, least = prepared(deck, recipe)
    found = exploitabilities(CFR(), ModelOpponent(games), game, (1000,))
    assert found[0] > 1.2 * least


@each_recipe
def test_plain_cfr_rises(recipe):
    game, games, _ = prepared("rhode island with 9 cards", recipe)
    found = exploitabilities(CFR(), ModelOpponent(games), game, (30, 70, 200))
    assert found[0] < found[1] < found[2]


@pytest.mark.parametrize("discounting", [PLUS, LINEAR, DISCOUNTED])
def test_an_opponent_with_a_trunk_leads_to_the_same_optimum(discounting):
    game, games, least = prepared("rhode island with 9 cards", "percentile")
    opponent = ModelOpponent(games, rounds=1)
    solver = CFRBR(opponent, discounting, tremble=1e-3)
    found = exploitabilities(solver, opponent, game, (1000,))
    assert least - 1e-7 <= found[0] <= 1.06 * least


def test_the_values_of_the_trunk_are_those_of_the_whole_best_response():
    """The best response within the trunk, to values of a trunk, is the whole best response."""
    game, games, _ = prepared("leduc", "percentile")
    opponent, whole = ModelOpponent(games, rounds=1), ModelOpponent(games)
    plans = tuple(game.realize(player, game.uniform(player)) for player in (0, 1))
    for player in (0, 1):
        trunk = opponent.trunk(1 - player)
        assert trunk is not None
        length = int(trunk.block_start[-1])
        _, values = opponent.answer(player, plans[player], np.full(length, 0.5), 1)
        fold_up(trunk, BEST, values, np.ones(length), values, np.zeros(3))
        won = whole.evaluate(plans).best_response[1 - player]
        assert root_value(trunk, values) == pytest.approx(won, rel=1e-12)


def test_iterations_have_numbers_of_their_own_for_draws():
    numbers = []

    class Numbered(ModelOpponent):
        def answer(self, player, plan, trunk, iteration):
            numbers.append(iteration)
            return super().answer(player, plan, trunk, iteration)

    game = exact_game(get_game("kuhn"))
    solver = CFRBR(Numbered((game, game)))
    state = solver.init(game)
    solver.step(game, state, 2)
    solver.step(game, state, 1)
    assert numbers == [1, 1, 2, 2, 3, 3]


def test_a_rake_is_refused():
    game = exact_game(get_game("kuhn"))
    taken = replace(game, leaves=raked(game.leaves, Rake(0.05, 1.0)))
    with pytest.raises(InvalidValueError, match="rake"):
        CFRBR().init(taken)

"""Games in which one player sees buckets and the other cards, compared with exact models."""

from dataclasses import replace

import numpy as np
import pytest

from equilibrist.abstraction.joint_counts import joint
from equilibrist.abstraction.recipes import build
from equilibrist.abstraction.recipes.lossless import lossless
from equilibrist.games.catalog import get_game
from equilibrist.models.bucketed import bucket_game, lift
from equilibrist.models.exact import exact_game
from equilibrist.models.one_sided import one_sided_games, with_ordered_boards
from equilibrist.solving.best_response import best_response
from equilibrist.solving.linear_program import LinearProgram

TWO_CARDS = replace(
    get_game("holdem-limit"),
    name="two rounds with two cards",
    num_ranks=4,
    num_suits=2,
    raise_sizes=(10, 20),
    max_raises=(1, 2),
    first_players=(1, 0),
    num_board_cards=(0, 3),
    discards=(),
)
GAMES = {"leduc": (get_game("leduc"), [2, 4]), "two cards": (TWO_CARDS, [2, 4])}


@pytest.mark.parametrize("name", GAMES)
def test_what_the_cards_win_from_buckets_is_what_the_exact_model_says(name):
    rules, numbers = GAMES[name]
    buckets = build("percentile", rules, numbers)
    exact, abstract = exact_game(rules, symmetry="cards"), bucket_game(buckets, joint(buckets))
    rng = np.random.default_rng(2)
    for player, game in enumerate(one_sided_games(buckets)):
        behaviour = game.behaviour(player, rng.random(game.lengths[player]))
        plan = game.realize(player, behaviour)
        found = best_response(game, 1 - player, plan)[0]
        lifted = exact.realize(player, lift(exact, abstract, buckets, player, plan))
        assert found == pytest.approx(best_response(exact, 1 - player, lifted)[0], rel=1e-10)


def test_buckets_with_ordered_boards_are_the_same():
    buckets = build("percentile", TWO_CARDS, [2, 4])
    ordered = with_ordered_boards(buckets)
    assert ordered.streets.ordered
    for board in buckets.streets.boards(1):
        cards = tuple(board.tolist())
        np.testing.assert_array_equal(buckets.buckets(cards), ordered.buckets(cards))
    assert with_ordered_boards(ordered) is ordered


def test_without_loss_the_game_is_the_exact_game():
    rules = get_game("leduc")
    for game in one_sided_games(lossless(rules)):
        assert LinearProgram().solve(game).value == pytest.approx(-0.085606424078, abs=1e-6)

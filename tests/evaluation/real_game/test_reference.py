"""Reference best response in the real game, compared with independent code for exact models."""

from dataclasses import replace

import numpy as np
import pytest

from equilibrist.evaluation.real_game.reference import reference_response
from equilibrist.games.betting_tree import BettingTree
from equilibrist.games.catalog import get_game
from equilibrist.models.exact import exact_game
from equilibrist.solving.best_response import evaluate
from equilibrist.strategies.played import FixedMix, TableStrategy

SMALL = {
    "leduc": get_game("leduc"),
    "rhode island with 12 cards": replace(
        get_game("rhode-island"), num_ranks=4, num_suits=3, max_raises=(1, 2, 1)
    ),
    "two rounds with two cards": replace(
        get_game("holdem-limit"),
        num_ranks=4,
        num_suits=2,
        raise_sizes=(10, 20),
        max_raises=(2, 2),
        first_players=(1, 0),
        num_board_cards=(0, 3),
        discards=(),
    ),
}


def random_plans(game, seed):
    rng = np.random.default_rng(seed)
    return tuple(
        game.realize(player, game.behaviour(player, rng.random(game.lengths[player])))
        for player in (0, 1)
    )


@pytest.mark.parametrize("name", SMALL)
def test_it_equals_the_best_response_in_the_exact_model(name):
    game = exact_game(SMALL[name])
    plans = random_plans(game, 3)
    proof = evaluate(game, plans)
    strategy = TableStrategy.of_game(game, plans)
    found = [reference_response(strategy, seat) for seat in (0, 1)]
    assert found == pytest.approx(proof.best_response, rel=1e-12)


def test_kuhn_against_uniform_play():
    # NashConv 11/12: best responses 1/2 and 5/12.
    game = exact_game(get_game("kuhn"))
    plans = tuple(game.realize(player, game.uniform(player)) for player in (0, 1))
    strategy = TableStrategy.of_game(game, plans)
    found = [reference_response(strategy, seat) for seat in (0, 1)]
    assert found == pytest.approx([1 / 2, 5 / 12])


def test_always_fold_loses_the_blind_of_its_seat():
    folds = FixedMix(BettingTree.build(SMALL["two rounds with two cards"]), (1.0, 0.0, 0.0))
    # The big blind is player 0's: as the responder, it wins the small one at once.
    assert [reference_response(folds, seat) for seat in (0, 1)] == pytest.approx([5.0, 10.0])

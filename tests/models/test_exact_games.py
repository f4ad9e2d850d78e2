import numpy as np
import pytest

from equilibrist.errors import InvalidValueError
from equilibrist.games.catalog import get_game
from equilibrist.models.exact import exact_game, matrix_game
from equilibrist.models.game import BEST

pytestmark = pytest.mark.kernels


def best_responses(game) -> list[float]:
    plans = [game.realize(player, game.uniform(player)) for player in (0, 1)]
    return [
        game.fold_up(player, BEST, game.gradient(player, plans[1 - player]), game.uniform(player))
        for player in (0, 1)
    ]


def test_uniform_kuhn_is_exploitable_by_eleven_twelfths():
    # OpenSpiel's value; best responses 1/2 and 5/12.
    assert best_responses(exact_game(get_game("kuhn"))) == pytest.approx([1 / 2, 5 / 12])


@pytest.mark.parametrize(("symmetry", "infosets"), [("ranks", 288), ("suits", 468), ("cards", 936)])
def test_uniform_leduc_has_the_published_best_responses_in_every_symmetry(symmetry, infosets):
    # NashConv 4.747222222222222 = 2.0875 + 2.6597222 (OpenSpiel).
    game = exact_game(get_game("leduc"), symmetry=symmetry)
    assert game.num_infosets == infosets
    assert best_responses(game) == pytest.approx([2.0875, 2.659722222222222], abs=1e-12)


def test_royal_rhode_island_has_its_published_number_of_actions():
    # Of all information sets, with suits kept apart: the size printed beside it in docs/gpu.md.
    game = exact_game(get_game("royal-rhode-island"), symmetry="cards")
    assert game.num_infoset_actions == 6_756_800


def test_behaviour_inverts_realize():
    game = exact_game(get_game("leduc"))
    rng = np.random.default_rng(0)
    behaviour = game.uniform(0) * (rng.random(game.lengths[0]) + 0.1)
    plan = game.realize(0, game.behaviour(0, game.realize(0, behaviour)))
    again = game.realize(0, game.behaviour(0, plan))
    np.testing.assert_allclose(again, plan, rtol=1e-12)


def test_gradients_of_both_players_are_one_bilinear_form():
    game = exact_game(get_game("leduc"))
    plans = [game.realize(player, game.uniform(player)) for player in (0, 1)]
    first = plans[0] @ game.gradient(0, plans[1])
    second = plans[1] @ game.gradient(1, plans[0])
    assert first == pytest.approx(-second, abs=1e-13)


def test_unsupported_games_are_refused():
    with pytest.raises(InvalidValueError, match="discards"):
        exact_game(get_game("discard-holdem"))
    with pytest.raises(InvalidValueError, match="suits matter"):
        exact_game(get_game("rhode-island"), symmetry="ranks")
    with pytest.raises(InvalidValueError, match="finite matrix"):
        matrix_game([1, 2])

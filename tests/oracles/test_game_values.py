"""Values of games against published numbers.

Every value is for the player that acts first in round one, in chips. Games of two rounds and
small decks are in `test_two_round_games.py`.
"""

from __future__ import annotations

import pytest

from equilibrist.games.catalog import get_game
from equilibrist.models.card_states import SYMMETRIES
from equilibrist.models.exact import exact_game
from equilibrist.solving.cfr import CFR
from equilibrist.solving.linear_program import METHODS, LinearProgram
from equilibrist.solving.solve import Budget, solve

# Kuhn (1950); Leduc: Southey et al. (2005) describe it, OpenSpiel's LP gives the digits.
KUHN_VALUE = -1 / 18
LEDUC_VALUE = -0.085606424078
# Limit hold'em before the flop (Selby 1999), three raises as in the ACPC, small bets a hand.
PREFLOP_VALUE = -0.0218976836
# Rhode Island hold'em: bounds that best responses of an independent solution proved.
RHODE_ISLAND_VALUE = (-0.657666, -0.655497)


@pytest.mark.parametrize("symmetry", SYMMETRIES)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("name", "value"), [("kuhn", KUHN_VALUE), ("leduc", LEDUC_VALUE)])
def test_toy_games_have_their_known_values(name, value, method, symmetry):
    game = exact_game(get_game(name), symmetry=symmetry)
    solution = LinearProgram(method).solve(game)
    assert solution.value == pytest.approx(value, abs=1e-9)
    assert solution.certificate.exploitability <= 1e-8


@pytest.mark.parametrize("leaves", ["dense", "sorted"])
@pytest.mark.parametrize("backend", ["cpu", "reference"])
def test_leaves_and_kernels_do_not_change_leducs_value(leaves, backend):
    game = exact_game(get_game("leduc"), leaves=leaves, backend=backend)
    assert LinearProgram().solve(game).value == pytest.approx(LEDUC_VALUE, abs=1e-11)


def test_player_zero_bets_the_queen_a_third_as_often_as_the_ace_in_kuhn():
    # Kuhn's family of equilibria: bet Q with α ≤ 1/3, K never, A with 3α; call with K: α + 1/3.
    plan, _ = LinearProgram().solve(exact_game(get_game("kuhn"))).plans
    queen, king, ace = plan[6:9]
    assert 0 <= queen <= 1 / 3
    assert king == pytest.approx(0, abs=1e-9)
    assert ace == pytest.approx(3 * queen, abs=1e-9)
    assert plan[13] == pytest.approx(queen + 1 / 3, abs=1e-9)


@pytest.mark.parametrize(
    "method", ["highs-simplex", *(pytest.param(m, marks=pytest.mark.slow) for m in METHODS[::2])]
)
def test_preflop_holdem_has_selbys_value(method):
    game = exact_game(get_game("preflop-holdem"))
    solution = LinearProgram(method).solve(game)
    small_bet = 10  # chips
    assert game.first_player == 1  # the dealer, who has the small blind
    assert solution.value / small_bet == pytest.approx(PREFLOP_VALUE, abs=1e-9)


@pytest.mark.slow
def test_rhode_island_is_solved_by_cfr_plus():
    game = exact_game(get_game("rhode-island"))
    found = solve(game, CFR(), Budget(iterations=4_000)).evaluation
    low, high = RHODE_ISLAND_VALUE
    assert low < found.value < high
    assert found.exploitability <= 0.01
    # What the best responses prove must not contradict the bounds.
    first, second = found.best_response
    assert low < first
    assert -second < high

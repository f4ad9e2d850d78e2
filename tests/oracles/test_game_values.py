"""Values of games, by linear programming, against published numbers and OpenSpiel's best responses.

Every value is for whoever acts first in round one, in chips.
"""

from __future__ import annotations

from dataclasses import replace

import pyspiel
import pytest
from open_spiel.python.policy import python_policy_to_pyspiel_policy

from equilibrist.games.catalog import get_game
from equilibrist.games.rules import GameRules
from equilibrist.models.build import exact_game
from equilibrist.models.card_states import SYMMETRIES
from equilibrist.solving.best_response import evaluate
from equilibrist.solving.linear_program import METHODS, LinearProgram
from equilibrist.strategies.openspiel import to_openspiel

# Kuhn (1950); Leduc: Southey et al. (2005) describe it, OpenSpiel's LP gives the digits.
KUHN_VALUE = -1 / 18
LEDUC_VALUE = -0.085606424078
# Limit hold'em before the flop (Selby 1999), three raises as in the ACPC, small bets a hand.
PREFLOP_VALUE = -0.0218976836


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


# --- small decks, two rounds, against OpenSpiel ---------------------------------------------------


def holdem(suits: int, ranks: int, board: int = 1, raises: tuple[int, int] = (1, 1)) -> GameRules:
    """Two rounds of limit hold'em: two hole cards, then some board cards."""
    return replace(
        get_game("holdem-limit"), name=f"holdem {suits}×{ranks}", num_suits=suits, num_ranks=ranks,
        raise_sizes=(10, 20), max_raises=raises, first_players=(1, 0), num_board_cards=(0, board),
        discards=(),
    )  # fmt: skip


SMALL = {
    "2×3": holdem(2, 3),
    "1×6": holdem(1, 6, raises=(1, 2)),
    "2×3 with two board cards": holdem(2, 3, board=2),
}
# OpenSpiel walks every ordered deal: seconds to minutes each.
LARGER = {
    "2×4": holdem(2, 4),
    "2×4 with two raises": holdem(2, 4, raises=(1, 2)),
    "3×3": holdem(3, 3),
    "2×5": holdem(2, 5),
}
GAMES = [
    *SMALL.items(),
    *(pytest.param(*item, marks=pytest.mark.slow, id=item[0]) for item in LARGER.items()),
]


def openspiels_nash_conv(game, plans) -> float:
    policy = to_openspiel(game, plans)
    return pyspiel.nash_conv(policy.game, python_policy_to_pyspiel_policy(policy))


@pytest.mark.parametrize(("name", "rules"), GAMES)
def test_solutions_of_small_decks_are_equilibria_to_openspiel(name, rules):
    game = exact_game(rules)
    solution = LinearProgram("clarabel").solve(game)
    theirs = openspiels_nash_conv(game, solution.plans)
    assert theirs == pytest.approx(solution.certificate.nash_conv, abs=1e-9)
    assert theirs <= 1e-5


@pytest.mark.parametrize(("name", "rules"), GAMES)
def test_uniform_play_of_small_decks_has_openspiels_nash_conv(name, rules):
    game = exact_game(rules)
    plans = (game.realize(0, game.uniform(0)), game.realize(1, game.uniform(1)))
    theirs = openspiels_nash_conv(game, plans)
    assert theirs == pytest.approx(evaluate(game, plans).nash_conv, abs=1e-9)
    assert theirs > 1


@pytest.mark.parametrize("rules", [holdem(2, 4), holdem(2, 3, board=2)], ids=["2×4", "2×3"])
def test_methods_and_symmetries_agree_on_small_decks(rules):
    values = [LinearProgram(method).solve(exact_game(rules)).value for method in METHODS]
    values.append(LinearProgram().solve(exact_game(rules, symmetry="cards")).value)
    assert values == pytest.approx(values[:1] * len(values), abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rules", "infosets", "value"),
    [
        # Values on which interior points of two libraries agree; the simplex method too for 3×5.
        (holdem(3, 5, raises=(2, 2)), 2_340, 0.7380087),
        (holdem(2, 6, raises=(2, 2)), 3_726, 0.7015448),
        (holdem(2, 4, board=3, raises=(3, 4)), 19_728, 0.2965086),
    ],
    ids=["3×5", "2×6", "2×4 with a flop"],
)
def test_larger_games_are_solved_to_their_tolerance(rules, infosets, value):
    game = exact_game(rules)
    assert game.num_infosets == infosets
    solution = LinearProgram("clarabel").solve(game)
    assert solution.value == pytest.approx(value, abs=1e-6)
    assert solution.certificate.exploitability <= 1e-5

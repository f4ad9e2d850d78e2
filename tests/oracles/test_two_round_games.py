"""Two rounds of hold'em with small decks: three methods and OpenSpiel agree.

PsOpti's authors studied such games with 8 cards (two suits of four ranks) to 24 (three of eight).
Blinds are 1 and 2 chips, bets 2 and 4; values are for the dealer, who acts first, in chips.
"""

from __future__ import annotations

import ctypes
import gc
import sys
from dataclasses import replace
from functools import cache

import pyspiel
import pytest
from open_spiel.python.policy import python_policy_to_pyspiel_policy

from equilibrist.games.catalog import get_game
from equilibrist.games.rules import GameRules
from equilibrist.models.exact import exact_game
from equilibrist.models.game import SequenceGame
from equilibrist.solving.best_response import evaluate
from equilibrist.solving.cfr import CFR
from equilibrist.solving.excessive_gap import ExcessiveGap
from equilibrist.solving.linear_program import METHODS, LinearProgram
from equilibrist.solving.solve import Budget, solve
from equilibrist.strategies.openspiel import to_openspiel

EXPLOITABILITY = 5e-5  # so that no value is further than 1e-4 from the game's
SOLVERS = {"lp": LinearProgram("clarabel"), "cfr+": CFR(), "egt": ExcessiveGap(centring=True)}


def holdem(suits: int, ranks: int, board: int = 1, raises: tuple[int, int] = (1, 1)) -> GameRules:
    """Two hole cards, a round of bets, some board cards, another round."""
    return replace(
        get_game("holdem-limit"), name=f"holdem {suits}×{ranks}", num_suits=suits, num_ranks=ranks,
        blinds=(2, 1), raise_sizes=(2, 4), max_raises=raises, first_players=(1, 0),
        num_board_cards=(0, board), discards=(),
    )  # fmt: skip


# Rules and information sets of both players, hands that differ by suits only counted once.
SOLVED = {
    "2×4": (holdem(2, 4), 472),
    "2×4 with a flop": (holdem(2, 4, board=3), 3_424),
    "2×5": (holdem(2, 5), 900),
    "3×4": (holdem(3, 4), 520),
}
SOLVED_SLOWLY = {
    "3×8": (holdem(3, 8), 3_600),
    "3×8 with two raises": (holdem(3, 8, raises=(2, 2)), 8_856),
    "2×5 with a flop": (holdem(2, 5, board=3), 15_220),
}
# OpenSpiel walks every ordered deal: seconds in some games, minutes in others.
WALKED = {
    "2×3": holdem(2, 3),
    "1×6": holdem(1, 6, raises=(1, 2)),
    "2×3 with two board cards": holdem(2, 3, board=2),
}
WALKED_SLOWLY = {
    "2×4": holdem(2, 4),
    "2×4 with two raises": holdem(2, 4, raises=(1, 2)),
    "2×4 with a flop": holdem(2, 4, board=3),
    "2×5": holdem(2, 5),
    "3×3": holdem(3, 3),
    "3×4": holdem(3, 4),
}


def fast_and_slow(fast: dict, slow: dict) -> list:
    """Values by name, the second ones marked slow."""
    marked = [pytest.param(value, id=name, marks=pytest.mark.slow) for name, value in slow.items()]
    return [pytest.param(value, id=name) for name, value in fast.items()] + marked


@pytest.fixture(autouse=True, scope="module")
def memory_is_returned():
    """Return the memory of these games to the system; the process keeps gigabytes otherwise."""
    yield
    solution.cache_clear()
    gc.collect()
    if sys.platform == "linux":
        ctypes.CDLL(None).malloc_trim(0)


@cache
def solution(rules: GameRules, method: str):
    """A game, a method's plans for it, and what best responses say of them."""
    game, solver = exact_game(rules), SOLVERS[method]
    run = solve(game, solver, Budget(target=EXPLOITABILITY, iterations=200_000))
    return game, solver.plans(game, run.state), run.evaluation


def openspiels_nash_conv(game: SequenceGame, plans) -> float:
    policy = to_openspiel(game, plans)
    return pyspiel.nash_conv(policy.game, python_policy_to_pyspiel_policy(policy))


@pytest.mark.parametrize("case", fast_and_slow(SOLVED, SOLVED_SLOWLY))
def test_three_methods_find_the_same_value_and_best_responses_prove_it(case):
    rules, infosets = case
    game, _, exact = solution(rules, "lp")
    assert game.num_infosets == infosets
    assert game.first_player == 1
    assert exact.exploitability <= 1e-6
    for method in SOLVERS:
        found = solution(rules, method)[2]
        assert found.exploitability <= EXPLOITABILITY
        assert found.value == pytest.approx(exact.value, abs=1e-4)
        # What best responses win against any of the plans encloses the value.
        first, second = found.best_response
        assert -first - 1e-6 <= exact.value <= second + 1e-6


@pytest.mark.parametrize("method", SOLVERS)
@pytest.mark.parametrize("rules", fast_and_slow(WALKED, WALKED_SLOWLY))
def test_solutions_have_openspiels_nash_conv(rules, method):
    game, plans, found = solution(rules, method)
    theirs = openspiels_nash_conv(game, plans)
    assert theirs == pytest.approx(found.nash_conv, abs=1e-9)
    assert theirs <= 2 * EXPLOITABILITY


@pytest.mark.parametrize("rules", fast_and_slow(WALKED, WALKED_SLOWLY))
def test_uniform_play_has_openspiels_nash_conv(rules):
    game = exact_game(rules)
    plans = (game.realize(0, game.uniform(0)), game.realize(1, game.uniform(1)))
    theirs = openspiels_nash_conv(game, plans)
    assert theirs == pytest.approx(evaluate(game, plans).nash_conv, abs=1e-9)
    assert theirs > 0.2


@pytest.mark.parametrize("rules", [holdem(2, 4), holdem(2, 3, board=2)], ids=["2×4", "2×3"])
def test_linear_programs_and_symmetries_agree(rules):
    values = [LinearProgram(method).solve(exact_game(rules)).value for method in METHODS]
    values.append(LinearProgram().solve(exact_game(rules, symmetry="cards")).value)
    assert values == pytest.approx(values[:1] * len(values), abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rules", "infosets", "value"),
    [
        # Values on which interior points of two libraries agree; the simplex method too for 3×5.
        (holdem(3, 5, raises=(2, 2)), 2_340, 0.14760174),
        (holdem(2, 6, raises=(2, 2)), 3_726, 0.14030896),
        (holdem(2, 4, board=3, raises=(3, 4)), 19_728, 0.05930172),
    ],
    ids=["3×5", "2×6", "2×4 with a flop"],
)
def test_games_with_more_raises_have_their_known_values(rules, infosets, value):
    game = exact_game(rules)
    assert game.num_infosets == infosets
    solved = LinearProgram("clarabel").solve(game)
    assert solved.value == pytest.approx(value, abs=1e-6)
    assert solved.certificate.exploitability <= 1e-5

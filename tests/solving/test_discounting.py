"""Discounting compared with the recurrences of the papers, written down plainly."""

import math

import numpy as np
import pytest

from equilibrist.models.exact import matrix_game
from equilibrist.solving.cfr import CFR_VARIANTS
from equilibrist.solving.discounting import DISCOUNTED_PLUS, PLUS, RISING
from equilibrist.solving.lean_cfr import DEFAULT_METHOD, TABLE_METHODS
from equilibrist.solving.methods import METHODS

PAYOFF = np.random.default_rng(5).normal(size=(5, 4))
# By method: exponents after iteration t of positive and negative regrets, and of the average.
EXPONENTS = {
    "dcfr": (lambda _: 1.5, lambda _: 0.0, 2),  # Brown, Sandholm 2019
    "dcfr+": (lambda _: 1.5, lambda _: -math.inf, 4),  # Xu et al. 2024
    "log-dcfr+": (lambda t: 0.75 + 0.15 * math.log2(t), lambda _: -math.inf, 4),
}


def paper_average(method, iterations):
    """Return the average strategies of a matrix game by the recurrences of the papers.

    Old regrets are discounted before the new ones are added, by their own sign, and the old average
    is discounted by ((t − 1) / t)^γ, where our schedules discount afterwards and raise weights.
    """
    alpha, beta, gamma = EXPONENTS[method]
    played = [np.full(size, 1 / size) for size in PAYOFF.shape]
    regrets, averages = ([np.zeros(size) for size in PAYOFF.shape] for _ in range(2))
    for t in range(1, iterations + 1):
        for player in (0, 1):
            values = PAYOFF @ played[1] if player == 0 else -PAYOFF.T @ played[0]
            old = regrets[player]
            if t > 1:
                powers = (t - 1.0) ** alpha(t - 1), (t - 1.0) ** beta(t - 1)
                up, down = powers[0] / (powers[0] + 1), powers[1] / (powers[1] + 1)
                old = np.where(old > 0, up * old, down * old)
            regrets[player] = old + values - played[player] @ values
            if math.isinf(beta(t)):
                regrets[player] = np.maximum(regrets[player], 0)
            averages[player] = ((t - 1) / t) ** gamma * averages[player] + played[player]
            positive = np.maximum(regrets[player], 0)
            total = positive.sum()
            played[player] = (
                positive / total if total > 0 else np.full(len(positive), 1 / len(positive))
            )
    return [average / average.sum() for average in averages]


@pytest.mark.parametrize("iterations", [1, 2, 3, 100])
@pytest.mark.parametrize("method", EXPONENTS)
def test_the_average_is_that_of_the_paper(method, iterations):
    game, solver = matrix_game(PAYOFF.tolist()), CFR_VARIANTS[method]
    state = solver.init(game)
    solver.step(game, state, iterations)
    for plan, expected in zip(
        solver.plans(game, state), paper_average(method, iterations), strict=True
    ):
        np.testing.assert_allclose(plan[1:], expected, atol=1e-10)


def test_the_exponent_rises_from_linear_cfr_towards_cfr_plus():
    """α is 0.75 + 0.15 log₂ t: 0.75, 1.05, 1.5 and 2.25 after 1, 4, 32 and 1024 iterations."""
    for t, alpha in ((1, 0.75), (4, 1.05), (32, 1.5), (1024, 2.25)):
        assert RISING.factors(t) == (pytest.approx(t**alpha / (t**alpha + 1), abs=1e-15), 0)
    assert RISING.factors(10**6) == PLUS.factors(10**6) == (1, 0)  # in float64


def test_a_schedule_depends_on_the_iteration_only():
    for method in TABLE_METHODS.values():
        whole = method.method.discounting.schedule(0, 500, 0.0)
        parts = [method.method.discounting.schedule(*part, 0.0) for part in ((0, 7), (7, 493))]
        np.testing.assert_array_equal(whole, np.concatenate(parts))


def test_the_sum_of_weights_stays_in_the_range_that_counts_for_ten_million_iterations():
    """Sums count between 2^-75 and 2^90 (kernels/decision_rules.py)."""
    for discounting in (DISCOUNTED_PLUS, RISING):
        assert 2.0**-75 < 2.0**-40 < discounting.weight(1)
        most = 10_000_000
        assert most * discounting.weight(most) / (discounting.gamma + 1) < 2.0**90


def test_every_method_of_spots_is_a_method_of_games():
    assert set(TABLE_METHODS) <= set(METHODS)
    assert TABLE_METHODS[DEFAULT_METHOD].name == DEFAULT_METHOD == "log-dcfr+"

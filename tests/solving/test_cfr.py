import math
from dataclasses import replace

import numpy as np
import pytest

from equilibrist.games.catalog import get_game
from equilibrist.models.exact import exact_game, matrix_game
from equilibrist.models.game import SequenceGame
from equilibrist.papers.cfr_plus.claims import regret_bound, regret_sum
from equilibrist.solving.best_response import evaluate
from equilibrist.solving.cfr import CFR, CFR_VARIANTS
from equilibrist.solving.discounting import DISCOUNTED, LINEAR, PLUS, VANILLA
from equilibrist.solving.solve import Budget, solve


@pytest.fixture(scope="module")
def kuhn() -> SequenceGame:
    return exact_game(get_game("kuhn"))


@pytest.fixture(scope="module")
def leduc() -> SequenceGame:
    return exact_game(get_game("leduc"))


def check_sweeps(game, solver, steps, tolerance):
    by_steps = replace(game, backend="reference")
    fused, plain = solver.init(game), solver.init(by_steps)
    solver.step(game, fused, steps)
    solver.step(by_steps, plain, steps)
    for name, array in fused.items():
        np.testing.assert_allclose(array, plain[name], atol=tolerance, err_msg=name)


@pytest.mark.parametrize("solver", CFR_VARIANTS.values(), ids=CFR_VARIANTS)
def test_the_fused_sweeps_equal_the_steps_they_fuse(leduc, solver):
    check_sweeps(leduc, solver, steps=7, tolerance=1e-12)


def test_the_sweeps_of_all_threads_equal_the_steps_they_fuse(leduc, monkeypatch):
    monkeypatch.setattr("equilibrist.models.game.PARALLEL_BOARDS", 1)
    monkeypatch.setattr("equilibrist.models.game.PARALLEL_LENGTH", 1)
    for solver in CFR_VARIANTS.values():  # few steps, as regrets near zero magnify rounding
        check_sweeps(leduc, replace(solver, dtype="float32"), steps=3, tolerance=1e-4)


@pytest.mark.parametrize(("method", "slope"), [("cfr", -0.5), ("cfr+", -1.0), ("dcfr", -1.0)])
def test_the_measured_rate_is_at_least_the_declared_one(method, slope, leduc):
    """CFR is bounded by T^-1/2; CFR+ and DCFR have the same bound and do better in practice."""
    run = solve(leduc, CFR_VARIANTS[method], Budget(iterations=5_000))
    rows = [row for row in run.trace if row.iteration >= 50]
    t = np.log([row.iteration for row in rows])
    gap = np.log([row.evaluation.nash_conv for row in rows])
    assert np.polyfit(t, gap, 1)[0] <= slope + 0.05


def test_the_regret_bound_of_equation_7_is_never_violated(kuhn, leduc):
    for game in (kuhn, leduc):
        solver = CFR(VANILLA)
        state = solver.init(game)
        for t in range(1, 200):
            solver.step(game, state, 1)
            assert regret_sum(game, state) <= regret_bound(game, t)


def test_the_current_strategy_of_cfr_plus_converges_and_that_of_cfr_does_not(leduc):
    def current(solver: CFR) -> float:
        state = solver.init(leduc)
        solver.step(leduc, state, 5_000)
        return evaluate(leduc, replace(solver, current=True).plans(leduc, state)).exploitability

    assert current(CFR(PLUS)) < 0.02
    assert current(CFR(VANILLA)) > 0.1


def test_cfr_plus_forgets_a_disaster_late_and_linear_cfr_soon():
    """Solve one decision with payoffs 0, 1 and −1,000,000 (Brown and Sandholm 2019).

    CFR+ plays the second action purely in iteration 471,407, linear CFR in about the 971st.
    """
    game = matrix_game([[0.0], [1.0], [-1e6]])

    def plays_purely(solver: CFR, state) -> bool:
        return bool(state["behaviour0"][2] == 1)

    plus, state = CFR(PLUS), CFR(PLUS).init(game)
    plus.step(game, state, 471_407 - 2)
    assert not plays_purely(plus, state)  # what iteration 471,406 plays
    plus.step(game, state, 1)
    assert plays_purely(plus, state)  # what iteration 471,407 plays
    linear, state = CFR(LINEAR), CFR(LINEAR).init(game)
    iteration = 1
    while not plays_purely(linear, state):
        linear.step(game, state, 1)
        iteration += 1
    assert abs(iteration - 971) <= 2


def test_discounting_takes_its_limits_exactly():
    assert PLUS.factors(1) == (1.0, 0.0)
    assert VANILLA.factors(10**9) == (1.0, 1.0)
    assert DISCOUNTED.factors(1) == (0.5, 0.5)
    schedule = LINEAR.schedule(4, 2, 0.0)
    assert schedule.tolist() == [[5 / 6, 5 / 6, 0, 5], [6 / 7, 6 / 7, 0, 6]]
    assert math.isinf(PLUS.alpha)

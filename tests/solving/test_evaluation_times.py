"""Times of evaluation: where a run is expected to meet its target, also if it was stopped."""

import itertools
from typing import NamedTuple

import pytest

from equilibrist.models.spot import Chips, Spot
from equilibrist.solving.evaluation_times import Expected
from equilibrist.solving.lean_cfr import TableCFR
from equilibrist.solving.solve import Budget, Outcome, solve
from equilibrist.solving.spot_run import spot_budget


class Row(NamedTuple):
    iteration: int
    exploitability: float


def run(times, level):
    """Return the evaluations of a run whose exploitability after t iterations is `level(t)`."""
    rows = []
    while not rows or rows[-1].exploitability > times.target:
        now = times.next(rows[-1].iteration if rows else 0, rows)
        assert not rows or now > rows[-1].iteration
        rows.append(Row(now, level(now)))
    return rows


@pytest.mark.parametrize("power", [0.3, 1.0, 1.4, 2.0])
@pytest.mark.parametrize("needed", [3, 90, 1000])
@pytest.mark.parametrize("cost", [2.0, 40.0])
def test_few_evaluations_and_iterations_are_wasted(power, needed, cost):
    rows = run(Expected(1.0, cost), lambda t: (needed / t) ** power)
    last = rows[-1].iteration
    # The next evaluation is at the least distance, or 20 iterations from the start.
    assert last <= max(20, needed + 1 + (cost * needed / 8) ** 0.5)
    assert len(rows) <= 16


def test_a_flat_curve_is_evaluated_ever_more_rarely():
    times, rows = Expected(1.0, 2.0), []
    for _ in range(8):
        now = times.next(rows[-1].iteration if rows else 0, rows)
        rows.append(Row(now, 5.0))
    steps = [after.iteration - row.iteration for row, after in itertools.pairwise(rows)]
    assert all(later > earlier for earlier, later in itertools.pairwise(steps))


def test_evaluations_where_a_run_was_stopped_do_not_count():
    times = Expected(1.0, 2.0)
    whole = run(times, lambda t: 100 / t)
    for stopped in range(1, whole[-1].iteration):
        before = [row for row in whole if row.iteration <= stopped]
        extra = [*before, Row(stopped, 0.5)] if stopped not in dict(before) else before
        after = next(row.iteration for row in whole if row.iteration > stopped)
        assert times.next(stopped, extra) == after
        assert times.counts(stopped, extra) == (stopped in dict(before))


def test_a_run_with_another_target_goes_on_from_all_its_evaluations():
    rows = [Row(t, 100 / t) for t in (30, 60, 90)]
    assert Expected(1.0, 2.0).counts(90, rows)
    assert 90 < Expected(1.0, 2.0).next(90, rows) <= 225


def test_a_spot_that_is_stopped_ends_where_one_that_is_not_stopped_ends():
    spot = Spot.of("Td9d6hQc2s", "QQ+,76s", "88-22,AQ", Chips(200, 900), bets="60%,a")
    built, solver = spot.build(), TableCFR()
    budget = spot_budget(Budget(target=0.1), built)
    whole = solve(built.game, solver, budget)
    assert whole.outcome is Outcome.TARGET_REACHED
    part = solve(built.game, solver, spot_budget(Budget(target=0.1, iterations=33), built))
    assert [row.iteration for row in part.trace] == [20, 33]
    resumed = solve(built.game, solver, budget, run=part)
    assert resumed.trace[-1].iteration == whole.trace[-1].iteration
    assert resumed.evaluation == whole.evaluation

"""Responses for both seats: how far from optimal they are, how they end, and what continues."""

import numpy as np
import pytest

from equilibrist.errors import EquilibristError, InvalidValueError
from equilibrist.games.catalog import get_game
from equilibrist.models.exact import exact_game
from equilibrist.models.observed import Observed
from equilibrist.solving.best_response import best_response
from equilibrist.solving.counter import Method, Model, ResponseStore, Seats, respond
from equilibrist.solving.linear_program import LinearProgram
from equilibrist.solving.restricted_nash import RestrictedNash
from equilibrist.solving.solve import Budget, Outcome
from equilibrist.strategies.description import GameDescription

LEDUC = exact_game(get_game("leduc"))


def random_model(seed):
    rng, behaviour = np.random.default_rng(seed), []
    for player in (0, 1):
        rows = LEDUC.uniform(player) * rng.random(LEDUC.lengths[player]) ** 2
        behaviour.append(LEDUC.behaviour(player, LEDUC.realize(player, rows)))
    return Model((behaviour[0], behaviour[1]))


def worth(model, seat, plan, p):
    """Return p times what a plan wins from the model, less 1 − p times what it can lose."""
    lost = best_response(LEDUC, 1 - seat, plan)[0]
    return p * float(plan @ model.wins(LEDUC, seat)) - (1 - p) * lost


def test_the_gap_bounds_how_far_each_response_is_from_optimal():
    model, p = random_model(3), 0.6
    for iterations in (3, 30):
        seats = Seats(LEDUC, model, Method("rnr", p))
        respond(seats, Budget(iterations=iterations))
        short, gains = [], []
        for seat, plan in enumerate(seats.plans):
            game = RestrictedNash.against(LEDUC, 1 - seat, model.wins(LEDUC, seat), p)
            best = LinearProgram().solve(game).plans[seat]
            short.append(worth(model, seat, best, p) - worth(model, seat, plan, p))
            gains.append(sum(seats.runs[seat].evaluation.best_response))
        assert 0 < np.mean(short) <= seats.gap
        assert seats.gap == pytest.approx(np.mean(gains))
    assert Seats(LEDUC, model, Method("rnr", p)).gap is None


def test_a_gap_needs_both_seats_and_a_best_response_has_none():
    model = random_model(1)
    seats = Seats(LEDUC, model, Method("rnr", 0.5))
    respond(seats, Budget(iterations=2))
    seats.runs[1] = None
    assert seats.gap is None
    best = Seats(LEDUC, model, Method("fbr", 0.3))
    assert respond(best, Budget(iterations=2)) is Outcome.FINISHED
    assert (best.gap, best.method.p) == (0.0, 1.0)
    for seat, won in enumerate(best.winnings(model)):
        theirs = LEDUC.realize(1 - seat, model.behaviour[1 - seat])
        assert won == pytest.approx(best_response(LEDUC, seat, theirs)[0])


def test_a_response_reaches_its_target_only_in_both_seats():
    """The second seat's game is easy: the target of the first is one that never decides."""
    seats = Seats(LEDUC, random_model(2), Method("rnr", 0.5))
    respond(seats, Budget(iterations=40))
    first, second = (run.evaluation.exploitability for run in seats.runs)
    between = (first + second) / 2
    again = Seats(LEDUC, random_model(2), Method("rnr", 0.5))
    outcome = respond(again, Budget(iterations=40, target=between))
    assert {run.outcome for run in again.runs} == {Outcome.TARGET_REACHED, Outcome.BUDGET_SPENT}
    assert outcome is Outcome.BUDGET_SPENT


def test_a_model_of_winnings_gives_the_response_to_the_behaviour():
    model = random_model(4)
    only = Model(None, winnings=(model.wins(LEDUC, 0), model.wins(LEDUC, 1)))
    plans = []
    for known in (model, only):
        for method in (Method("rnr", 0.7), Method("rnr", 1), Method("fbr")):
            seats = Seats(LEDUC, known, method)
            respond(seats, Budget(iterations=20))
            plans.append(seats.plans)
    for one, two in zip(plans[:3], plans[3:], strict=True):
        np.testing.assert_array_equal(np.concatenate(one), np.concatenate(two))
    with pytest.raises(InvalidValueError, match=r"observe it for some hands .* or use rnr"):
        respond(Seats(LEDUC, only, Method("dbr", 0.5)), Budget(iterations=1))


@pytest.mark.parametrize("bad", [np.ones(3), np.full(LEDUC.lengths[0], np.nan)])
def test_bad_winnings_are_refused(bad):
    with pytest.raises(InvalidValueError, match="the winnings"):
        RestrictedNash.against(LEDUC, 1, bad, 0.5)


def test_more_budget_continues_a_response_that_has_spent_its_budget(tmp_path):
    model, description = random_model(5), GameDescription.of(LEDUC)
    target = {"target": "x", "hands": None, "model": "y"}

    def run(folder, iterations):
        seats = Seats(LEDUC, model, Method("rnr", 0.5))
        store = ResponseStore(tmp_path / folder, description, target)
        assert not store.open(seats)
        respond(seats, Budget(iterations=iterations), save=store.save)
        return seats

    run("parts", 7)
    parts, once = run("parts", 20), run("once", 20)
    for one, two in zip(parts.plans, once.plans, strict=True):
        np.testing.assert_array_equal(one, two)


def test_a_data_biased_response_trusts_what_was_seen_only():
    seen = tuple(Observed(player, np.zeros(LEDUC.lengths[player]), 0) for player in (0, 1))
    model = Model(random_model(6).behaviour, seen)
    game = Method("dbr", 0.9, "1-step").game(LEDUC, model, 0)
    assert game.share.max() == 0
    with pytest.raises(EquilibristError, match="is not a confidence"):
        Method("dbr", 0.9, f"{'9' * 400}-curve")

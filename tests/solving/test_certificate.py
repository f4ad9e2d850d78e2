"""Forged folders, with valid checksums but numbers that do not follow from their arrays."""

import copy
import shutil

import numpy as np
import pytest

from equilibrist.errors import EquilibristError
from equilibrist.games.catalog import get_game
from equilibrist.games.rules import rules_text
from equilibrist.models.exact import exact_game
from equilibrist.models.spot import Chips, Spot
from equilibrist.solving.certificate import EXACT, PLAN, check
from equilibrist.solving.linear_program import largest_payoff
from equilibrist.solving.methods import get_method
from equilibrist.solving.solution_run import Store
from equilibrist.solving.solve import Budget, solve
from equilibrist.solving.spot_run import SolvedSpot, solver
from equilibrist.storage.artefact import Header, open_artefact, write_artefact
from equilibrist.strategies.description import GameDescription

PAYOFF = 13  # the most chips that a hand of Leduc can win


@pytest.fixture(scope="module")
def solution(tmp_path_factory):
    out = tmp_path_factory.mktemp("solution") / "leduc"
    game, by = exact_game(get_game("leduc")), get_method("cfr+")
    store = Store(out, game, GameDescription.of(game), by, 0, "float64")
    solve(game, by, Budget(iterations=20), save=store.save)
    assert largest_payoff(game) == PAYOFF
    return out


@pytest.fixture(scope="module")
def spot(tmp_path_factory):
    out = tmp_path_factory.mktemp("spot") / "river"
    given = Spot.of("Td9d6hQc2s", "AA,76s", "KK,QJs", Chips(pot=200, stack=400), bets="50%,a")
    by = solver("cfr+", 32)
    SolvedSpot(given, by, solve(given.build().game, by, Budget(iterations=20))).save(out)
    return out


def forged(folder, tmp_path, change):
    """Write a copy of the folder with a change and valid checksums."""
    out = tmp_path / "forged"
    shutil.copytree(folder, out)
    stored = open_artefact(folder)
    parts = {
        "arrays": {name: np.array(array) for name, array in stored.arrays.items()},
        "configuration": copy.deepcopy(stored.configuration),
        "info": copy.deepcopy(stored.info),
        "timings": dict(stored.timings),
    }
    change(**parts)
    arrays = parts.pop("arrays")
    write_artefact(
        out, Header(stored.kind, seed=stored.seed, parents=stored.parents, **parts), arrays
    )
    return out


def stated(name, number, place=None):
    """Change a number of the certificate and of the trace's last row, as a careful forger would."""
    columns = {"best_response": (3, 4), "value": (5, 5)}

    def change(arrays, info, **_):
        certificate = info["certificate"]
        if place is None:
            certificate[name] += number
        else:
            certificate[name][place] += number
        certificate["exploitability"] = sum(certificate["best_response"]) / 2
        arrays["trace"][-1, columns[name][place or 0]] += number
        arrays["trace"][-1, 2] = certificate["exploitability"]

    return change


def array(name, change):
    def apply(arrays, **_):
        arrays[name] = change(arrays[name])

    return apply


def entry(*path, value):
    """Change an entry of the info or configuration."""

    def apply(**parts):
        place = parts
        for name in path[:-1]:
            place = place[name]
        place[path[-1]] = value

    return apply


def swap_plans(arrays, **_):
    arrays["plan0"], arrays["plan1"] = arrays["plan1"], arrays["plan0"]


def swap_players(arrays, **_):
    """Swap both plans and both sides of the method's own arrays."""
    swap_plans(arrays)
    for part in ("behaviour", "plan", "regret", "average"):
        first, second = f"state.{part}0", f"state.{part}1"
        arrays[first], arrays[second] = arrays[second], arrays[first]


def other_rules(configuration, **_):
    """Change the size of raises: plans have the same length, and the name is the same."""
    text = rules_text(get_game("leduc"))
    assert "raiseSize = 2 4" in text
    configuration["game"]["rules"] = text.replace("raiseSize = 2 4", "raiseSize = 2 2")


def negative(plan):
    """Return a plan that meets its constraints: what one action loses another gains."""
    plan = plan.copy()
    plan[3], plan[6] = plan[3] + 2, plan[6] - 2
    return plan


def longer(trace):
    return np.vstack([trace[:-1], trace[-2:]])


SMALL = 2 * EXACT * PAYOFF  # just too much

FORGERIES = {
    "value": (stated("value", SMALL), "the value is"),
    "best response 0": (stated("best_response", SMALL, 0), "player 0's best response is"),
    "best response 1": (stated("best_response", -0.5, 1), "player 1's best response is"),
    "both best responses, same exploitability": (
        lambda **parts: [
            stated("best_response", number, player)(**parts)
            for player, number in enumerate((0.01, -0.01))
        ],
        "player 0's best response is",
    ),
    "exploitability": (
        entry("info", "certificate", "exploitability", value=1e-9),
        "is not the mean of the stated best responses",
    ),
    "unit": (entry("info", "certificate", "unit", value="mbb/g"), "the unit is chips, not 'mbb/g'"),
    "iterations": (entry("info", "iterations", value=20_000), "number of iterations of its arrays"),
    "seconds": (entry("timings", "seconds", value=1e6), "the trace ends after"),
    "plan scaled": (array("plan0", lambda plan: 0.5 * plan), "miss the constraints"),
    "plan nearly a plan": (array("plan1", lambda plan: plan + 2 * PLAN), "miss the constraints"),
    "plan negative": (array("plan0", negative), "player 0's plan holds negative numbers"),
    "plan another": (
        array("plan1", lambda plan: np.ones(len(plan)) * (np.arange(len(plan)) < 0) + plan[::-1]),
        "miss the constraints",
    ),
    "plans swapped": (swap_plans, "player 0's plan is not the one"),
    "players swapped": (swap_players, "the value is"),
    "rules": (other_rules, "the rules are not those of leduc"),
    "trace ends otherwise": (
        array("trace", lambda trace: trace * [1, 1, 0.5, 0.5, 0.5, 1]),
        "the last row of the trace is not the certificate",
    ),
    "trace repeats": (array("trace", longer), "the iterations of the trace do not increase"),
    "trace is too short": (array("trace", lambda trace: trace[:-1]), "last iteration of the trace"),
    "trace contradicts itself": (
        array("trace", lambda trace: trace * np.where(np.arange(6) == 2, 0.5, 1)),
        "not the mean of its best responses",
    ),
    "clock goes back": (
        array("trace", lambda trace: trace * np.where(np.arange(6) == 1, -1, 1)),
        "the seconds of the trace decrease",
    ),
    "state": (
        array("state.average0", lambda table: np.ones_like(table)),
        "player 0's plan is not the one that the method's own arrays give",
    ),
    "method": (entry("configuration", "method", value="magic"), "no method is called 'magic'"),
}


def test_an_honest_solution_matches(solution):
    proof = check(solution)
    assert proof.matches
    assert not proof.faults
    assert proof.found == proof.stated


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_solution_does_not_match(solution, tmp_path, name):
    change, fault = FORGERIES[name]
    folder = forged(solution, tmp_path, change)
    open_artefact(folder).verify()  # checksums do not find it
    proof = check(folder)
    assert not proof.matches
    assert any(fault in each for each in proof.faults), proof.faults


def state_and_trace(iteration):
    def change(arrays, info, **_):
        info["iterations"] = iteration
        arrays["trace"][-1, 0] = iteration

    return change


def trace_and_info(column, number):
    """Change the last row and the exploitability beside it."""

    def change(arrays, info, **_):
        row = arrays["trace"][-1]
        row[column] += number
        row[2] = info["exploitability"] = row[3:5].mean()

    return change


SPOT_FORGERIES = {
    "value": (trace_and_info(5, 0.01), "the value is"),
    "best response 0": (trace_and_info(3, -0.5), "player 0's best response is"),
    "best response 1": (trace_and_info(4, -0.5), "player 1's best response is"),
    "exploitability": (
        entry("info", "exploitability", value=1e-9),
        "is not the mean of the stated best responses",
    ),
    "unit": (entry("info", "unit", value="mbb/g"), "the unit is chips, not 'mbb/g'"),
    "iterations": (state_and_trace(20_000), "number of iterations of its arrays"),
    "average": (
        array("state.last_average0", lambda table: np.ones_like(table)),
        "player 1's best response is",
    ),
    "negative average": (
        array("state.last_average1", lambda table: table - 1),
        "last_average1 holds negative numbers",
    ),
    "pot": (entry("configuration", "spot", "pot", value=190), "the value is"),
    "range": (entry("configuration", "spot", "oop", value="AA,T9s"), "the value is"),
    "trace": (array("trace", longer), "the iterations of the trace do not increase"),
}


def test_an_honest_spot_matches(spot):
    assert check(spot).faults == ()


def test_a_spot_with_large_tables_matches_too(tmp_path, monkeypatch):
    monkeypatch.setattr("equilibrist.storage.array_file.LARGE_BYTES", 300)
    monkeypatch.setattr("equilibrist.storage.array_file.BLOCK_BYTES", 128)
    given = Spot.of(
        "Td9d6hQc2s", "AA,76s,T9s", "KK,QJs,99", Chips(pot=200, stack=400), bets="50%,a"
    )
    by = solver("cfr+", 32)
    SolvedSpot(given, by, solve(given.build().game, by, Budget(iterations=5))).save(
        tmp_path / "river"
    )
    assert open_artefact(tmp_path / "river", blockwise=True).large
    assert check(tmp_path / "river").faults == ()


@pytest.mark.parametrize("name", SPOT_FORGERIES)
def test_a_forged_spot_does_not_match(spot, tmp_path, name):
    change, fault = SPOT_FORGERIES[name]
    proof = check(forged(spot, tmp_path, change))
    assert not proof.matches
    assert any(fault in each for each in proof.faults), proof.faults


@pytest.fixture(scope="module")
def raked(tmp_path_factory):
    out = tmp_path_factory.mktemp("raked") / "river"
    chips = Chips("10bb", "20bb,30bb", rake="5%", rake_cap="0.8bb")
    given = Spot.of("Td9d6hQc2s", "AA,76s", "KK,QJs", chips, bets="50%,a")
    by = solver("cfr+", 32)
    SolvedSpot(given, by, solve(given.build().game, by, Budget(iterations=20))).save(out)
    return out


RAKED_FORGERIES = {
    "rake": (entry("configuration", "spot", "rake", value="4%"), "the expected rake is"),
    "cap": (entry("configuration", "spot", "rake_cap", value="0.6bb"), "the expected rake is"),
    "unit": (entry("configuration", "spot", "chips_per_unit", value=50), "the value is"),
    "exploitability": (entry("info", "exploitability", value=0.0), "is not the mean of"),
    "trace": (array("trace", lambda trace: trace + np.eye(7)[6]), "the expected rake is"),
    "mean": (array("trace", lambda trace: trace + np.eye(7)[2]), "not the certificate"),
}


def test_an_honest_spot_with_a_rake_in_big_blinds_matches(raked):
    proof = check(raked)
    assert proof.faults == ()
    assert (proof.found.unit, proof.pot) == ("bb", 10)
    assert 0.5 <= proof.found.rake <= 0.8  # 5 % of at least 10 bb
    opened = SolvedSpot.open(raked)
    assert opened.shares.gains == proof.shares.gains
    assert opened.spot.stacks == (2000, 3000)


@pytest.mark.parametrize("name", RAKED_FORGERIES)
def test_a_forged_rake_does_not_match(raked, tmp_path, name):
    change, fault = RAKED_FORGERIES[name]
    proof = check(forged(raked, tmp_path, change))
    assert not proof.matches
    assert any(fault in each for each in proof.faults), proof.faults


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (entry("configuration", "spot", "rake", value=None), "needs a rake such as 5%"),
        (entry("configuration", "spot", "rake", value=7), "that is not a text"),
        (entry("configuration", "spot", "unit", value="euro"), "the unit must be chips or bb"),
        (entry("configuration", "spot", "chips_per_unit", value=0), "a whole number from 1"),
        (entry("configuration", "spot", "behind", value=[1, "x"]), "a list of whole numbers"),
        (entry("configuration", "spot", "behind", value=[1, 2]), "must be that of the rules"),
        (array("trace", lambda trace: trace[:, :6]), "is wanted"),
    ],
)
def test_a_folder_with_impossible_money_is_refused(raked, tmp_path, change, complaint):
    with pytest.raises(EquilibristError, match=complaint):
        check(forged(raked, tmp_path, change))


def test_a_folder_of_an_earlier_version_has_chips_and_no_rake(spot, tmp_path):
    def without(configuration, **_):
        for name in ("unit", "chips_per_unit", "behind", "rake", "rake_cap"):
            del configuration["spot"][name]

    folder = forged(spot, tmp_path, without)
    assert check(folder).faults == ()
    assert SolvedSpot.open(folder).spot == SolvedSpot.open(spot).spot


def test_a_folder_whose_numbers_are_not_finite_proves_nothing(solution, tmp_path, monkeypatch):
    monkeypatch.setattr("equilibrist.storage.artefact.check_finite", lambda *_, **__: None)
    folder = forged(solution, tmp_path, array("plan0", lambda plan: plan * np.nan))
    with pytest.raises(EquilibristError):
        check(folder)

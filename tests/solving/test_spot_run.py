"""Folders of spots whose suits are merged by some renamings, and those of earlier versions."""

import copy
import json
from dataclasses import replace

import numpy as np
import pytest

from equilibrist.errors import StorageError
from equilibrist.models.spot import Chips, Spot
from equilibrist.solving.forecast import count_states, spot_forecast
from equilibrist.solving.lean_cfr import table_lengths, with_all_states
from equilibrist.solving.solve import Budget
from equilibrist.solving.spot_run import SolvedSpot, solve_spot, solver
from equilibrist.storage.artefact import Header, open_artefact, write_artefact

BY = solver("cfr+", 32)


def spot(oop="AhKh,QQ,87s"):
    """Return a river of one suit on which AhKh leaves the swap of clubs and diamonds."""
    return Spot.of("Ts9s6s3s2s", oop, "JJ,AQ", Chips(pot=200, stack=100), bets="a")


def solved(folder, symmetry=None, iterations=20, given=None):
    """Solve and save a spot; with `cards` the folder is as earlier versions wrote it."""
    given = given or spot()
    built = given.build(symmetry)
    if symmetry == "cards":
        built = replace(built, game=replace(built.game, held=None))
    return solve_spot(given, BY, built, Budget(iterations=iterations), out=folder)


def configuration(folder):
    return json.loads((folder / "manifest.json").read_text())["configuration"]


def test_the_renamings_of_suits_are_stored_and_checked(tmp_path):
    done = solved(tmp_path / "spot")
    assert configuration(tmp_path / "spot")["renamings"] == ["cdhs", "dchs"]
    found = SolvedSpot.open(tmp_path / "spot")
    assert found.subgame.states.group == done.subgame.states.group
    one, other = (own.answers().at() for own in (done, found))
    np.testing.assert_array_equal(one.probabilities, other.probabilities)


@pytest.mark.parametrize("oop", ["QQ,87s", "AhKh,AdKd:0.5,QQ"])
def test_nothing_is_stored_where_all_suits_or_none_are_merged(tmp_path, oop):
    solved(tmp_path / "spot", given=spot(oop))
    assert set(configuration(tmp_path / "spot")) == {"spot", "method", "bits", "hands"}


def test_each_seat_has_its_own_hands_and_a_run_goes_on_where_both_have_the_same(tmp_path):
    """On the GPU both seats have the same hands; here the CPU plays its tables."""
    spots, by = spot("QQ,87s"), solver("log-dcfr+", 32)
    built = spots.build()
    first = solve_spot(spots, by, built, Budget(iterations=20), out=tmp_path / "spot")
    found = SolvedSpot.open(tmp_path / "spot", for_resume=True)
    assert [len(found.run.state[f"last_regret{p}"]) for p in (0, 1)] == table_lengths(built.game)
    whole = replace(built, game=replace(built.game, held=None))
    for bits in (32, 16):
        by = solver("log-dcfr+", bits)
        state = by.init(built.game)
        by.step(built.game, state, 20)
        more = with_all_states(built.game, state)
        assert len(more["last_regret0"]) > len(state["last_regret0"])
        one, other = by.evaluate(built.game, state), by.evaluate(whole.game, more)
        assert one.value == pytest.approx(other.value, abs=1e-4)
        assert one.best_response == pytest.approx(other.best_response, abs=1e-4)
    assert one.value == pytest.approx(first.run.evaluation.value, abs=0.5)


def test_a_folder_of_an_earlier_version_opens_and_continues_with_the_same_numbers(tmp_path):
    old, whole = tmp_path / "old", tmp_path / "whole"
    solved(old, "cards", 20)
    solved(whole, "cards", 40)
    found = SolvedSpot.open(old, for_resume=True)
    assert found.subgame.states.symmetry == "cards"
    solve_spot(spot(), BY, found.subgame, Budget(iterations=40), run=found.run, out=old)
    assert "renamings" not in configuration(old)
    again, wanted = (SolvedSpot.open(folder, for_resume=True) for folder in (old, whole))
    assert again.run.state.keys() == wanted.run.state.keys()
    for name, array in wanted.run.state.items():
        np.testing.assert_array_equal(again.run.state[name], array)
    assert "hands" not in configuration(old)
    counts = None, count_states(found.subgame.states)
    forecasts = [spot_forecast(spot(), num_states=number) for number in counts]
    assert forecasts[0].actions < forecasts[1].actions


@pytest.mark.parametrize("names", [["cdhs"], ["cdhs", "chds"], ["cdhs", "dchs", "x"], "cdhs", [1]])
def test_renamings_that_do_not_leave_the_spot_alone_are_refused(tmp_path, names):
    solved(tmp_path / "spot")
    stored = open_artefact(tmp_path / "spot")
    parts = copy.deepcopy(stored.configuration) | {"renamings": names}
    header = Header(stored.kind, configuration=parts, info=stored.info, timings=stored.timings)
    arrays = {name: np.array(array) for name, array in stored.arrays.items()}
    write_artefact(tmp_path / "spot", header, arrays)
    with pytest.raises(StorageError, match="renamings"):
        SolvedSpot.open(tmp_path / "spot")

"""Solutions: saved with their certificate, loaded with their game."""

import dataclasses
import json
import os

import numpy as np
import pytest

from equilibrist.errors import InvalidValueError, SolverError, StorageError
from equilibrist.games.bet_menu import BetMenu
from equilibrist.games.catalog import get_game
from equilibrist.models.exact import exact_game, matrix_game
from equilibrist.storage.artefact import Header, open_artefact, write_artefact
from equilibrist.storage.schema import Fields
from equilibrist.strategies.description import (
    GameDescription,
    read_description,
    write_description,
)
from equilibrist.strategies.evaluation import Evaluation
from equilibrist.strategies.solution import (
    Solution,
    game_of,
    plan_error,
)


def uniform_plans(game):
    return tuple(game.realize(player, game.uniform(player)) for player in (0, 1))


def uniform_solution(game, **changes):
    solution = Solution(
        game=GameDescription.of(game),
        plans=uniform_plans(game),
        method="uniform",
        iterations=3,
        seconds=0.25,
        certificate=Evaluation(0.125, (0.5, 0.25), "chips"),
        trace=np.arange(12.0).reshape(2, 6),
        seed=11,
        settings={"power": 2.0},
        state={"iteration": np.array(3), "regret0": np.arange(4.0)},
    )
    return dataclasses.replace(solution, **changes)


@pytest.fixture(scope="module")
def leduc():
    return exact_game(get_game("leduc"))


def test_a_solution_comes_back_as_it_was_saved(tmp_path, leduc):
    solution = uniform_solution(leduc)
    solution.save(tmp_path)
    for loaded in (Solution.load(tmp_path), Solution.load(tmp_path, in_memory=True)):
        for name in ("game", "method", "iterations", "seconds", "certificate", "seed", "settings"):
            assert getattr(loaded, name) == getattr(solution, name)
        for mine, theirs in zip(solution.plans, loaded.plans, strict=True):
            np.testing.assert_array_equal(mine, theirs)
            assert mine.dtype == theirs.dtype
        np.testing.assert_array_equal(loaded.trace, solution.trace)
        assert set(loaded.state) == {"iteration", "regret0"}
        assert loaded.state["iteration"] == 3


def test_the_manifest_states_the_certificate_for_people(tmp_path, leduc):
    uniform_solution(leduc).save(tmp_path)
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert manifest["kind"] == "solution"
    assert manifest["seed"] == 11
    assert manifest["timings"] == {"seconds": 0.25}
    assert manifest["info"]["certificate"] == {
        "value": 0.125,
        "best_response": [0.5, 0.25],
        "unit": "chips",
        "exploitability": 0.375,
    }
    assert "GAMEDEF" in manifest["configuration"]["game"]["rules"]


@pytest.mark.parametrize("symmetry", ["ranks", "suits", "cards"])
def test_the_game_is_built_again_from_the_folder_alone(tmp_path, symmetry):
    game = exact_game(get_game("leduc"), BetMenu(max_raises=(2, 1)), symmetry=symmetry)
    uniform_solution(game).save(tmp_path)
    again = game_of(Solution.load(tmp_path))
    assert (again.name, again.unit, again.lengths) == (game.name, game.unit, game.lengths)
    for mine, theirs in zip(
        (*game.leaves, *game.pairs), (*again.leaves, *again.pairs), strict=True
    ):
        np.testing.assert_array_equal(mine, theirs)
    for player in (0, 1):
        for mine, theirs in zip(game.trees[player], again.trees[player], strict=True):
            np.testing.assert_array_equal(mine, theirs)


def test_leaves_chosen_by_hand_are_remembered():
    game = exact_game(get_game("leduc"), leaves="sorted")
    assert GameDescription.of(game).build().pairs.is_sorted


@pytest.mark.parametrize("more", [{}, {"donks": "- / 5c", "merge": "10%", "force_all_in": "20%"}])
def test_bet_menus_come_back(tmp_path, more):
    rules = dataclasses.replace(
        get_game("leduc"), name="no-limit", betting="nolimit", stacks=(20, 20), raise_sizes=()
    )
    menu = BetMenu.parse(bets="37.5%,a / 3c | a", raises="2.5x,a", **more)
    game = exact_game(rules, menu)
    uniform_solution(game).save(tmp_path)
    again = Solution.load(tmp_path).game.build()
    assert again.betting.menu == game.betting.menu == menu
    np.testing.assert_array_equal(again.betting.spent, game.betting.spent)


def test_raise_caps_above_the_games_in_old_folders_mean_the_games():
    game = exact_game(get_game("leduc"))
    old = dataclasses.replace(GameDescription.of(game), max_raises="4")
    np.testing.assert_array_equal(old.build().betting.spent, game.betting.spent)


def test_kernels_take_the_maps_of_a_loaded_solution(tmp_path, leduc):
    uniform_solution(leduc).save(tmp_path)
    loaded = Solution.load(tmp_path)
    np.testing.assert_array_equal(
        leduc.gradient(0, loaded.plans[1]), leduc.gradient(0, uniform_plans(leduc)[1])
    )


def test_plans_of_another_game_are_refused(leduc):
    plans = uniform_plans(exact_game(get_game("kuhn")))
    with pytest.raises(InvalidValueError, match=r"player 0's plan has .* made for another game"):
        game_of(uniform_solution(leduc, plans=plans))


def test_games_that_cannot_be_stored_as_text_are_refused(leduc):
    with pytest.raises(InvalidValueError, match="was not built from rules"):
        GameDescription.of(matrix_game([[1, -1], [-1, 1]]))
    locked = leduc.trees[0]._replace(locked=np.ones_like(leduc.trees[0].locked))
    with pytest.raises(InvalidValueError, match="has locked decisions"):
        GameDescription.of(dataclasses.replace(leduc, trees=(locked, leduc.trees[1])))


def test_arrays_of_wrong_shape_are_refused(leduc):
    first, second = uniform_plans(leduc)
    with pytest.raises(InvalidValueError, match="player 1's plan is float64"):
        uniform_solution(leduc, plans=(first, second[None]))
    with pytest.raises(InvalidValueError, match="player 0's plan is int64"):
        uniform_solution(leduc, plans=(first.astype(int), second))
    with pytest.raises(InvalidValueError, match="the trace has shape"):
        uniform_solution(leduc, trace=np.zeros(3))
    uniform_solution(leduc, trace=np.zeros((0, 3)))


def test_an_altered_plan_is_refused_by_name(tmp_path, leduc):
    uniform_solution(leduc).save(tmp_path)
    path = tmp_path / open_artefact(tmp_path).files["plan1"].file
    content = bytearray(path.read_bytes())
    content[-3] ^= 1
    path.write_bytes(content)
    with pytest.raises(StorageError, match=r"plan1-000001\.npy was altered"):
        Solution.load(tmp_path)
    os.truncate(path, 500)
    with pytest.raises(StorageError, match=r"plan1-000001\.npy has 500 bytes"):
        Solution.load(tmp_path)


def test_an_artefact_that_is_not_a_solution_is_refused(tmp_path):
    write_artefact(tmp_path / "a", Header("match", configuration={}), {})
    with pytest.raises(StorageError, match=r"manifest\.json describes a match"):
        Solution.load(tmp_path / "a")
    write_artefact(tmp_path / "b", Header("solution", configuration={"game": {}}), {})
    with pytest.raises(StorageError, match=r"manifest\.json has info\.certificate that is no"):
        Solution.load(tmp_path / "b")


def test_a_certificate_that_is_not_a_number_is_refused(tmp_path, leduc):
    with pytest.raises(InvalidValueError, match="the value is not a number"):
        Evaluation(float("nan"), (0.0, 0.0), "chips")
    broken = Evaluation(0.0, (0.0, 0.0), "chips")
    object.__setattr__(broken, "best_response", (0.0, float("inf")))
    with pytest.raises(SolverError, match=r"info\.certificate\..* came out as inf"):
        uniform_solution(leduc, certificate=broken).save(tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_only_realization_plans_have_no_plan_error(leduc):
    plan = uniform_plans(leduc)[0]
    assert plan_error(leduc, 0, plan) < 1e-12
    assert plan_error(leduc, 0, plan.astype(np.float32)) < 1e-6
    assert plan_error(leduc, 0, 2 * plan) > 0.5
    assert plan_error(leduc, 0, -plan) > 0.5
    assert plan_error(leduc, 0, np.where(plan == 1, np.nan, plan)) == np.inf


def test_long_bet_menus_are_read_back(tmp_path):
    sizes = ",".join(f"{percent}%" for percent in range(20, 320))
    written = GameDescription(
        name="nl", rules="GAMEDEF", bets=sizes, raises=None, max_raises=None,
        symmetry="suits", leaves="dense",
    )  # fmt: skip
    fields = Fields(tmp_path, "game", write_description(written, tmp_path))
    assert read_description(fields, tmp_path) == written

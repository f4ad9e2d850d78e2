"""Games of buckets from the command line: counted, solved, resumed, proved and played."""

import shutil

import pytest

from equilibrist.abstraction.joint_counts import joint
from equilibrist.abstraction.recipes.lossless import lossless
from equilibrist.games.catalog import get_game
from equilibrist.storage.artefact import open_artefact
from equilibrist.strategies.solution import Solution


@pytest.fixture(scope="module")
def buckets(tmp_path_factory):
    """Folders of the buckets of Leduc, which keep all that matters, and of their counts."""
    folder = tmp_path_factory.mktemp("buckets")
    found = lossless(get_game("leduc"))
    identity = found.save(folder / "buckets")
    joint(found).save(folder / "counts", {"first": identity})
    return folder


def solve(answer, folder, out, *options):
    return answer("solve", folder / "buckets", "--joint", folder / "counts", "--out", out, *options)


def test_lossless_buckets_have_the_value_of_the_game(answer, buckets, tmp_path):
    solved = solve(answer, buckets, tmp_path / "s", "--method", "lp")
    assert solved["value"] == pytest.approx(-0.085606424078, abs=1e-9)
    checked = answer("exploit", tmp_path / "s")
    assert checked["matches"]
    table = answer("show", tmp_path / "s", "--node", "cc/r")
    assert table["hands"][0] == "bucket 0"
    assert [sum(probabilities) for probabilities in table["probabilities"]] == pytest.approx(
        [1] * len(table["hands"])
    )


def test_a_solution_of_buckets_plays(answer, buckets, tmp_path):
    solve(answer, buckets, tmp_path / "s", "--iterations", 300)
    match = answer(
        "match", f"solution:{tmp_path / 's'}", "uniform", "--game", "leduc", "--hands", 20_000
    )
    assert match["runner"] == "tables"
    assert match["win_rate"] > 0
    assert match["p_value"] < 0.001


def test_fewer_raises_are_another_game(answer, buckets, tmp_path):
    solved = solve(answer, buckets, tmp_path / "s", "--method", "lp", "--max-raises", "1 1")
    exact = answer("solve", "leduc", "--method", "lp", "--max-raises", "1 1")
    assert solved["value"] == pytest.approx(exact["value"], abs=1e-9)


def test_raises_that_the_game_does_not_allow_are_refused(run, buckets, tmp_path):
    model = buckets / "buckets", "--joint", buckets / "counts", "--out", tmp_path / "s"
    result = run("solve", *model, "--max-raises", "3")
    assert result.returncode == 2
    assert "3 raises in round 1 is above the 2 of leduc" in result.stderr


def test_a_resumed_run_has_the_numbers_of_one_never_stopped(answer, buckets, tmp_path):
    solve(answer, buckets, tmp_path / "once", "--iterations", 60)
    solve(answer, buckets, tmp_path / "twice", "--iterations", 25)
    solve(answer, buckets, tmp_path / "twice", "--iterations", 60, "--resume")
    first, second = Solution.load(tmp_path / "once"), Solution.load(tmp_path / "twice")
    assert all((first.state[name] == second.state[name]).all() for name in first.state)


def test_a_folder_of_all_three_can_be_moved_but_not_changed(answer, run, buckets, tmp_path):
    there, here = tmp_path / "there", tmp_path / "here"
    shutil.copytree(buckets, there)
    solve(answer, there, there / "solution", "--iterations", 20)
    there.rename(here)
    assert answer("exploit", here / "solution")["matches"]
    identity = open_artefact(here / "buckets").hash
    joint(lossless(get_game("leduc"))).save(here / "counts", {"first": identity, "again": ""})
    failed = run("exploit", here / "solution")
    assert failed.returncode == 2
    assert "counts has changed since leduc in buckets" in failed.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("{0}/buckets",), "add --joint"),
        (("{0}/counts", "--joint", "{0}/counts"), "a joint, but an abstraction is wanted"),
        (("{0}/buckets", "--joint", "{0}/buckets"), "an abstraction, but a joint is wanted"),
        (("{0}/buckets", "--joint", "{0}/counts", "--symmetry", "suits"), "no symmetry"),
        (("{0}/buckets", "--joint", "{0}/nowhere"), "nowhere"),
    ],
)
def test_wrong_folders_give_one_sentence(run, buckets, arguments, words):
    failed = run("solve", *(text.format(buckets) for text in arguments))
    assert failed.returncode == 2
    assert words in failed.stderr
    assert len(failed.stderr.strip().splitlines()) == 1

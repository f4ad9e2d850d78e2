"""Models of some rounds and of chosen flops from the command line, against exact subgames."""

import numpy as np
import pytest

from equilibrist.abstraction.buckets import Abstraction
from equilibrist.abstraction.joint_counts import Joint, joint
from equilibrist.abstraction.recipes import build
from equilibrist.abstraction.recipes.lossless import lossless
from equilibrist.cards.card import parse_cards
from equilibrist.games.catalog import get_game
from equilibrist.games.rules import GameRules
from equilibrist.models.bucketed import bucket_game
from equilibrist.models.endings import Showdown
from equilibrist.models.subgame import subgame
from equilibrist.papers.psopti.transitions import compare, transitions
from equilibrist.solving.linear_program import LinearProgram

SMALL = GameRules(
    name="small", betting="limit", blinds=(1, 1), raise_sizes=(2, 2, 4), max_raises=(1, 1, 1),
    num_suits=2, num_ranks=4, num_hole_cards=2, num_board_cards=(0, 2, 1),
)  # fmt: skip
FLOP = "KsAs"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Buckets that keep all that matters, and ones that do not."""
    folder = tmp_path_factory.mktemp("partial")
    lossless(SMALL).save(folder / "lossless")
    classes = build("strength-potential", SMALL, [2, 3, 2])
    joint(classes).save(folder / "counts", {"first": classes.save(folder / "classes")})
    return folder


def test_a_model_of_one_flop_is_the_exact_game_from_that_flop_on(answer, folder, tmp_path):
    counted = answer("joint", folder / "lossless", "--flops", FLOP, "--out", tmp_path / "counts")
    assert counted["flops"] == [FLOP]
    assert not counted["exact"]
    assert counted["total"] == 2 * 6 * 5 * 4 / 2 * 3  # both flops of the class, turns, two hands
    solved = answer(
        "solve", folder / "lossless", "--joint", tmp_path / "counts", "--rounds", "2-3",
        "--pot", 8, "--method", "lp", "--out", tmp_path / "solution",
    )  # fmt: skip
    everyone = np.ones(1326), np.ones(1326)
    exact = subgame(SMALL, parse_cards(FLOP), everyone, pot=8)
    assert solved["value"] == pytest.approx(LinearProgram().solve(exact.game).value, abs=1e-9)
    assert answer("exploit", tmp_path / "solution")["matches"]


def test_flops_are_drawn_by_seed(answer, folder, tmp_path):
    drawn = [
        answer("joint", folder / "classes", "--flops", 4, "--seed", seed, "--out", tmp_path / out)
        for seed, out in ((1, "a"), (1, "b"), (2, "c"))
    ]
    assert drawn[0]["flops"] == drawn[1]["flops"] != drawn[2]["flops"]
    assert len({*drawn[0]["flops"]}) == 4
    assert Joint.open(tmp_path / "a").flops == tuple(drawn[0]["flops"])


def test_all_flops_drawn_are_all_deals(answer, folder, tmp_path):
    classes = len(build("lossless", SMALL).streets[1].boards)
    answer("joint", folder / "classes", "--flops", classes, "--out", tmp_path / "all")
    ours, exact = Joint.open(tmp_path / "all"), Joint.open(folder / "counts")
    np.testing.assert_array_equal(ours.wins, exact.wins)


def test_a_network_is_solved_as_the_game_that_it_makes(answer, folder, tmp_path):
    found = answer(
        "transitions", folder / "classes", folder / "counts", "--product", tmp_path / "product"
    )
    classes, exact = build("strength-potential", SMALL, [2, 3, 2]), Joint.open(folder / "counts")
    ours = Joint.open(tmp_path / "product")
    lost = np.abs(ours.met / ours.total - exact.met / exact.total).sum() / 2
    assert lost == pytest.approx(found["distances"][-1], abs=1e-12)
    lost = np.abs(ours.won / ours.total - exact.won / exact.total).sum() / 2
    assert lost == pytest.approx(found["showdown_distance"], abs=1e-12)
    assert lost > 0.01
    solved = answer(
        "solve", folder / "classes", "--joint", tmp_path / "product", "--method", "lp",
        "--rounds", "2-3", "--pot", 8,
    )  # fmt: skip
    model = bucket_game(classes, ours, first_round=1, pot=8)
    assert solved["value"] == pytest.approx(LinearProgram().solve(model).value, abs=1e-9)
    assert compare(transitions(classes, ours), classes, ours).showdown < 1e-12  # nothing is left


def test_rounds_left_out_at_the_end_add_a_bet(answer, folder):
    classes, counts = build("strength-potential", SMALL, [2, 3, 2]), Joint.open(folder / "counts")
    for bet in (0, 4):
        solved = answer(
            "solve", folder / "classes", "--joint", folder / "counts", "--method", "lp",
            "--rounds", "1-2", "--last-bet", bet,
        )  # fmt: skip
        ending = Showdown.of(counts, classes, 1, bet=bet)
        model = bucket_game(classes, counts, last_round=1, ending=ending)
        assert solved["value"] == pytest.approx(LinearProgram().solve(model).value, abs=1e-9)


def test_classes_may_be_cut_over_flops(answer, tmp_path):
    answer(
        "abstract", "strength-potential", "--buckets", "1,3,3", "--game", "rhode-island",
        "--flops", "As,Kd", "--out", tmp_path / "cut",
    )  # fmt: skip
    rules, flops = get_game("rhode-island"), [parse_cards("As"), parse_cards("Kd")]
    cut, whole = Abstraction.open(tmp_path / "cut"), build("strength-potential", rules, [1, 3, 3])
    ours = build("strength-potential", rules, [1, 3, 3], flops=flops)
    assert cut.configuration["flops"] == ["As", "Kd"]
    np.testing.assert_array_equal(cut.tables[1], ours.tables[1])
    assert (cut.tables[1] != whole.tables[1]).any()


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (("solve", "{0}/classes", "--rounds", "4-2"), "not 4 to 2"),
        (("solve", "{0}/classes", "--rounds", "2-4"), "are 1 to 3"),
        (("solve", "{0}/classes", "--rounds", "some"), "'some' does not name rounds"),
        (("solve", "{0}/classes", "--rounds", "9" * 5000), "does not name rounds"),
        (("solve", "{0}/classes", "--rounds", "2-3", "--pot", "7"), "cannot share a pot of 7"),
        (("solve", "{0}/classes", "--pot", "8"), "leave out --pot"),
        (("solve", "{0}/classes", "--last-bet", "4"), "rounds are left out at the end"),
        (("joint", "{0}/classes", "--flops", "0"), "not 0"),
        (("joint", "{0}/classes", "--flops", "9" * 5000), "not 9999"),
        (("joint", "{0}/classes", "--flops", "9999"), "not 9999"),
        (("joint", "{0}/classes", "--flops", "As"), "not 1"),
        (("joint", "{0}/classes", "--flops", "AsKs,AsKsQs"), "boards of one street"),
        (("joint", "{0}/classes", "--flops", "2s3s"), "outside the deck"),
        (("joint", "{0}/classes", "--flops", "3", "--boards", "100"), "not both"),
        (("joint", "{0}/classes", "--flops", "3", "--resume"), "only when all deals are counted"),
        (("abstract", "percentile", "--flops", "3", "--buckets", "3,9"), "not percentile"),
        (
            ("abstract", "strength-potential", "--buckets", "200,3,3,3"),
            "200 buckets in round 1 are more than the 169 classes of hands",
        ),
    ],
    ids=lambda value: " ".join(value)[-40:],
)
def test_wrong_input_gives_one_sentence(run, folder, tmp_path, command, words):
    more = ("--joint", folder / "counts") if command[0] == "solve" else ("--out", tmp_path / "out")
    failed = run(*(text.format(folder) for text in command), *more)
    assert failed.returncode == 2
    assert words in failed.stderr
    assert len(failed.stderr.strip().splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_what_has_no_joint_is_solved_whole_and_a_part_plays_nothing(answer, run, folder, tmp_path):
    assert "add --joint" in run("solve", "leduc", "--rounds", "2-2").stderr
    assert get_game("leduc").num_rounds == 2
    answer(
        "solve", folder / "classes", "--joint", folder / "counts", "--rounds", "2-3",
        "--pot", 8, "--iterations", 2, "--out", tmp_path / "part",
    )  # fmt: skip
    failed = run("match", f"solution:{tmp_path / 'part'}", "always-call", "--hands", 4)
    assert failed.returncode == 2
    assert "cannot play by itself" in failed.stderr

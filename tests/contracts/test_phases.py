"""Work that can take longer than two seconds declares what it does, and counts it if it can."""

import numpy as np
import pytest

from equilibrist.abstraction.buckets import Abstraction
from equilibrist.abstraction.flop_subsets import flop_counts
from equilibrist.abstraction.joint_counts import joint, marginals, sampled_joint
from equilibrist.abstraction.recipes import build
from equilibrist.cards.card import parse_cards
from equilibrist.cards.equity import equity
from equilibrist.games.betting_tree import BettingTree
from equilibrist.games.catalog import get_game
from equilibrist.models.bucketed import bucket_game
from equilibrist.models.exact import exact_game
from equilibrist.models.spot import Chips, Spot
from equilibrist.papers.psopti.transitions import compare, transitions
from equilibrist.papers.range_of_skill.tables import table_column
from equilibrist.phases import heard_phases, under_way
from equilibrist.solving.certificate import check
from equilibrist.solving.cfr import CFR
from equilibrist.solving.exchange import ImportedStrategy, export_solution
from equilibrist.solving.forecast import spot_forecast
from equilibrist.solving.linear_program import LinearProgram
from equilibrist.solving.solution_run import Store
from equilibrist.solving.solve import Budget, solve
from equilibrist.stopping import Stopped, on_signals
from equilibrist.storage.artefact import Header, open_artefact, write_artefact
from equilibrist.strategies.description import GameDescription


@pytest.fixture
def phases_of():
    """Runs a function and returns its phases by their texts, without compilations."""

    def phases_of(work) -> dict:
        heard = []
        with heard_phases(heard.append):
            work()
        assert under_way() == ()
        return {each.text: each for each in heard if "compiling" not in each.text}

    return phases_of


@pytest.fixture(scope="module")
def coarse():
    return build("percentile", get_game("rhode-island"), [3, 6, 12])


@pytest.fixture(scope="module")
def leduc(tmp_path_factory):
    """The folder of a solution of Leduc hold'em."""
    game, folder = exact_game(get_game("leduc")), tmp_path_factory.mktemp("leduc") / "solution"
    described = GameDescription.of(game)
    run = solve(game, CFR(), Budget(iterations=5))
    Store(folder, game, described, CFR(), 0, "float64").save(run)
    return folder


def counted(found, text) -> tuple[float, float]:
    """Return how much of a phase was done at its end, and its total."""
    return found[text].done, found[text].total


@pytest.mark.parametrize("in_memory", [True, False])
def test_folders_are_written_and_read_byte_by_byte(phases_of, tmp_path, in_memory):
    arrays = {"one": np.arange(500_000.0), "two": np.ones((3, 2), np.int16)}
    header, folder = Header("specimen", configuration={}), tmp_path / "it"
    found = phases_of(lambda: write_artefact(folder, header, arrays))
    text = f"{tmp_path.name}/it, 3.8 MiB"
    done, total = counted(found, f"writing {text}")
    assert total <= done <= total + 1000  # the files have headers
    found = phases_of(lambda: open_artefact(folder, in_memory=in_memory))
    done, total = counted(found, f"reading {text}")
    assert total == 4_000_012
    assert total <= done <= total + 1000


def test_reading_a_folder_stops_on_request(tmp_path):
    write_artefact(tmp_path / "it", Header("specimen", configuration={}), {"one": np.arange(9.0)})
    with on_signals(lambda text: None) as stop:
        with heard_phases(lambda each: stop.request()), pytest.raises(Stopped):
            open_artefact(tmp_path / "it")
        # What is read after the request is needed to end the work.
        assert len(open_artefact(tmp_path / "it").arrays["one"]) == 9


def test_betting_trees_are_built_round_by_round(phases_of):
    found = phases_of(lambda: BettingTree.build(get_game("leduc")))
    assert [*found] == [f"building the betting tree of leduc, round {r}" for r in (1, 2)]


def test_an_exact_game_is_built_in_a_phase(phases_of):
    found = phases_of(lambda: exact_game(get_game("leduc")))
    assert "building the game: cards, states and betting" in found


def test_a_spot_is_counted_and_built_in_phases(phases_of):
    spot = Spot.of("Td9d6hQc2s", "AA,76s", "KK", Chips(200, 200), bets="a")
    assert "counting boards and hands" in phases_of(lambda: spot_forecast(spot))
    assert "building the game: boards, hands and betting" in phases_of(spot.build)


def test_a_run_counts_its_iterations_and_names_its_evaluations(phases_of):
    game = exact_game(get_game("kuhn"))
    found = phases_of(lambda: solve(game, CFR(), Budget(iterations=70)))
    assert [*found] == ["preparing cfr+", "computing best responses", "solving by cfr+"]
    assert counted(found, "solving by cfr+") == (70, 70)


def test_a_linear_program_is_a_phase(phases_of):
    found = phases_of(lambda: LinearProgram().solve(exact_game(get_game("kuhn"))))
    assert "writing the linear program" in found
    assert any(text.startswith("solving the linear program of ") for text in found)


def test_a_certificate_is_recomputed_in_phases(phases_of, leduc):
    found = phases_of(lambda: check(leduc))
    for text in ("checking the strategies", "computing best responses"):
        assert text in found


def test_files_of_other_programs_are_written_and_read_in_phases(phases_of, leduc, tmp_path):
    path = tmp_path / "leduc.json"
    found = phases_of(lambda: export_solution(leduc, path))
    assert "writing 288 information sets as openspiel" in found
    found = phases_of(lambda: ImportedStrategy.read(path, exact_game(get_game("leduc"))))
    assert "reading a strategy of 288 information sets" in found


def test_boards_of_an_equity_are_counted(phases_of):
    found = phases_of(lambda: equity("AhKh", "QsQd", parse_cards("2c3c4c")))
    done, total = counted(found, "playing all boards")
    assert done == total > 0
    assert "listing boards up to suits" in found


def test_opening_buckets_checks_them_in_phases(phases_of, coarse, tmp_path):
    coarse.save(tmp_path / "buckets")
    found = phases_of(lambda: Abstraction.open(tmp_path / "buckets"))
    assert "checking the range of every number" in found
    for r in (1, 2, 3):
        assert f"checking the buckets of round {r}" in found


def test_the_hands_of_last_buckets_are_counted_by_boards(phases_of, coarse, monkeypatch):
    whole = marginals(coarse)
    monkeypatch.setattr("equilibrist.abstraction.joint_counts._BOARDS_TOGETHER", 7)
    parts = []
    found = phases_of(lambda: parts.extend(marginals(coarse)))
    done, total = counted(found, "hands in each bucket of the last round")
    assert 0 < total - done <= 7
    for one, other in zip(whole, parts, strict=True):
        np.testing.assert_array_equal(one, other)


def test_sampled_counts_are_counted_by_blocks(phases_of, coarse):
    found = phases_of(lambda: sampled_joint(coarse, num_boards=40))
    done, total = counted(found, "counting deals on 40 boards")
    assert done == total > 8


def test_counts_on_flops_are_counted_by_blocks(phases_of, coarse):
    found = phases_of(lambda: flop_counts(coarse, [parse_cards("As")]))
    ((done, total),) = [counted(found, text) for text in found if text.startswith("counting deals")]
    assert done == total == 1


def test_transitions_are_computed_and_compared_in_phases(phases_of, coarse):
    counts = joint(coarse)
    found = phases_of(lambda: compare(transitions(coarse, counts), coarse, counts))
    assert "computing transition probabilities" in found
    assert "comparing their products with the joint counts" in found


def test_a_column_of_range_of_skill_is_a_phase(phases_of):
    own = build("percentile", get_game("leduc"), [3, 3])
    counts = joint(own)
    game = bucket_game(own, counts)
    plans = game.realize(0, game.uniform(0)), game.realize(1, game.uniform(1))
    found = phases_of(lambda: table_column(game, plans, own, counts, has_all_raises=True))
    for text in (
        "best responses in both seats",
        "building the game of buckets",
        "computing a best response",
    ):
        assert text in found
